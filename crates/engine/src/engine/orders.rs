//! [`Engine`]: orders to a flow's sender, which a driver gives between events.
//!
//! An order takes effect at the current simulated time, and the sender sends at once the segments that the order
//! permits. A run with the same orders at the same simulated times therefore has the same results.

use super::Engine;
use crate::flow::{FlowSide, Traffic};
use lasthop_tcp::sender::congestion::Steer;
use lasthop_wire::FlowId;

impl Engine {
    /// Whether the source of a flow takes orders ([`Engine::steer`]): its congestion control is set from outside. False
    /// for flows without TCP endpoints, for connections that are not created yet, and for released connections.
    pub fn takes_orders(&self, flow: FlowId) -> bool {
        self.endpoints(flow).is_some_and(|(source, _)| source.takes_orders())
    }

    /// Sets cwnd or the pacing rate of a flow's source. Before the connection is open, the order is kept until then. Has
    /// no effect unless [`Engine::takes_orders`].
    pub fn steer(&mut self, flow: FlowId, order: &Steer) {
        let now = self.now;
        let Traffic::Tcp(connection) = &mut self.flows[flow.0 as usize].traffic else { return };
        connection.source.steer(now, order);
        if connection.source.is_open() {
            self.pump(flow, FlowSide::Source);
        }
    }
}

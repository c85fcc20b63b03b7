//! [`Engine`]: data of fed transfers, which a driver writes between events.
//!
//! Data takes effect at the current simulated time, and the source sends at once the packets that the connection permits.
//! A run with the same data at the same simulated times therefore has the same results.

use super::{Engine, RequestRefused};
use crate::application::Fed;
use crate::flow::{FlowSide, NoEndpoint, TcpConnection, Traffic};
use lasthop_wire::FlowId;

impl Engine {
    /// Adds `bytes` bytes, at least 1, to the data of a fed transfer ([`Application::fed`](crate::Application::fed)).
    /// Before the connection is open, the data is kept until then. All data of a flow has at most 1 PB.
    pub fn write(&mut self, flow: FlowId, bytes: u64) -> Result<(), RequestRefused> {
        if !self.open_fed(flow)?.write(bytes) {
            return Err(RequestRefused::Amount);
        }
        self.pass_fed_data(flow);
        Ok(())
    }

    pub(super) fn is_fed(&mut self, flow: FlowId) -> bool {
        self.fed_of(flow).is_some()
    }

    /// Ends the data of a fed transfer.
    pub(super) fn close_fed(&mut self, flow: FlowId) -> Result<(), RequestRefused> {
        self.open_fed(flow)?.close();
        self.pass_fed_data(flow);
        Ok(())
    }

    /// Returns the state of a fed transfer that accepts data now.
    fn open_fed(&mut self, flow: FlowId) -> Result<&mut Fed, RequestRefused> {
        let has_ended = self.flows.get(flow.0 as usize).is_some_and(|state| match &state.traffic {
            Traffic::Tcp(connection) => {
                connection.source.ended().is_some() || connection.destination.ended().is_some()
            }
            Traffic::NoEndpoint(NoEndpoint::Stack(stacks)) => stacks.failure.is_some(),
            Traffic::NoEndpoint(_) => false,
        });
        match self.fed_of(flow) {
            None => Err(RequestRefused::NotFed),
            Some(fed) if has_ended || fed.is_closed() => Err(RequestRefused::Ended),
            Some(fed) => Ok(fed),
        }
    }

    fn fed_of(&mut self, flow: FlowId) -> Option<&mut Fed> {
        self.application_mut(flow)?.fed_transfer()
    }

    /// Passes new data to the source, and sends the packets that the connection permits now. A stack accepts the data
    /// when the flow begins.
    fn pass_fed_data(&mut self, flow: FlowId) {
        let now = self.now;
        let is_open = match &mut self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => {
                let TcpConnection { source, destination, application, .. } = &mut **connection;
                if let Some(application) = application {
                    application.act(now, source, destination);
                }
                source.is_open()
            }
            Traffic::NoEndpoint(NoEndpoint::Stack(stacks)) if stacks.is_open => {
                return self.pump_stack(flow, FlowSide::Source);
            }
            Traffic::NoEndpoint(_) => false,
        };
        if is_open {
            self.pump(flow, FlowSide::Source);
        }
    }
}

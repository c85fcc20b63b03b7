//! [`Engine`]: connections that are created when they begin and released when they have ended.
//!
//! If a run has very many flows, only few flows are active at any time. Late creation and early release of connections
//! then save memory. Results do not change: a connection is released only when both ends have finished and none of its
//! packets is in flight.

use super::Engine;
use super::flow_state::FlowState;
use crate::flow::{FlowSide, NoEndpoint, Traffic};
use crate::pipe::Pipe;
use lasthop_base::Time;
use lasthop_net::LinkDirection;
use lasthop_tcp::rtt::RttEstimator;
use lasthop_tcp::{Counters, State};
use lasthop_wire::FlowId;

/// Largest number of packets on a flow's two routes that a release examines. If the routes hold more packets, the
/// release waits until this many further connections have ended. The packets are then examined once for all of these
/// connections.
const MAX_SEARCHED: usize = 4096;

/// Results of a released connection, that is, a connection that has ended and whose endpoints are no longer stored.
#[derive(Clone, Debug)]
pub struct ReleasedConnection {
    /// Counters of the source.
    pub source: Counters,
    /// Counters of the destination.
    pub destination: Counters,
    /// Payload bytes delivered in order: first at the destination, then at the source.
    pub delivered: [u64; 2],
    /// Round-trip estimate of the source.
    pub rtt: RttEstimator,
    /// Congestion window of the source, bytes.
    pub window: u64,
    /// Congestion window of the source, including its inflation during recovery, bytes.
    pub inflated: u64,
}

impl Engine {
    /// Creates all flows now and keeps them until the end of the run, so that a driver can inspect them. Call before
    /// the first event.
    pub fn keep_flows(&mut self) {
        self.keeps_flows = true;
        self.create_all();
    }

    /// Results of a released connection; `None` if the connection is not released.
    pub fn released(&self, flow: FlowId) -> Option<&ReleasedConnection> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::NoEndpoint(NoEndpoint::Released(results)) => Some(results),
            _ => None,
        }
    }

    pub(super) fn create_all(&mut self) {
        (0..self.flows.len()).for_each(|index| self.create(index));
    }

    /// Creates a connection at its start time, in the state that the connection would have if it had existed since time
    /// zero.
    #[inline(never)]
    pub(super) fn create(&mut self, index: usize) {
        let FlowState { traffic, has_loss_discrimination, .. } = &mut self.flows[index];
        if !matches!(traffic, Traffic::NoEndpoint(NoEndpoint::Deferred(_))) {
            return;
        }
        let nothing = Traffic::NoEndpoint(NoEndpoint::External);
        if let Traffic::NoEndpoint(NoEndpoint::Deferred(build)) = std::mem::replace(traffic, nothing) {
            let mut connection = build();
            match connection.opener() {
                FlowSide::Source => connection.destination.open(Time::ZERO),
                FlowSide::Destination => connection.source.open(Time::ZERO),
            }
            *has_loss_discrimination = connection.has_loss_discrimination;
            *traffic = Traffic::Tcp(Box::new(connection));
        }
    }

    /// Releases a connection if both ends are finished and none of its packets is in flight.
    #[cold]
    pub(super) fn release(&mut self, id: FlowId) {
        if !self.has_ended(id) {
            return;
        }
        let pipes = || self.pipes_of(id).map(|pipe| &pipe.in_flight);
        if pipes().map(|ring| ring.len()).sum::<usize>() > MAX_SEARCHED {
            self.ended.push(id);
            if self.ended.len() >= self.ended_kept + MAX_SEARCHED {
                self.release_ended();
            }
        } else if !pipes().any(|ring| ring.iter().any(|one| one.packet.flow == id)) {
            self.replace_by_results(id);
        }
    }

    /// Releases the connections of `ended` that have no packet in flight.
    fn release_ended(&mut self) {
        let links = self.pipes.iter().filter(|pipe| matches!(pipe.line, LinkDirection::Link(_)));
        let mut in_flight: Vec<FlowId> =
            links.flat_map(|pipe| pipe.in_flight.iter().map(|one| one.packet.flow)).collect();
        in_flight.sort_unstable();
        let mut ended = std::mem::take(&mut self.ended);
        ended.retain(|id| {
            let is_kept = in_flight.binary_search(id).is_ok();
            if !is_kept && self.has_ended(*id) {
                self.replace_by_results(*id);
            }
            is_kept
        });
        self.ended_kept = ended.len();
        self.ended = ended;
    }

    /// Pipes of both routes of a flow.
    fn pipes_of(&self, id: FlowId) -> impl Iterator<Item = &Pipe> {
        let directions = self.flows[id.0 as usize].directions;
        directions.into_iter().flat_map(|direction| {
            self.routes[direction.route() as usize].iter().map(|pipe| &self.pipes[pipe.0 as usize])
        })
    }

    /// Whether both ends are finished, and nothing but packets on pipes of the kind [`LinkDirection::Link`] can still
    /// reach either end.
    fn has_ended(&self, id: FlowId) -> bool {
        let FlowState { traffic, account, directions, .. } = &self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return false };
        let (source, destination) = (&connection.source, &connection.destination);
        let has_ended = destination.ended().is_some()
            && (source.ended().is_some() || source.state() == State::TimeWait)
            && account.is_complete()
            && connection.application.is_none();
        let is_kept = self.keeps_flows || self.observer.is_some() || !self.nodes.is_empty();
        let is_special =
            directions.iter().any(|direction| direction.needs_notices() || direction.has_host_pipe());
        has_ended
            && !is_kept
            && !is_special
            && !source.has_events()
            && !destination.has_events()
            && self.pipes_of(id).all(|pipe| matches!(pipe.line, LinkDirection::Link(_)))
    }

    fn replace_by_results(&mut self, id: FlowId) {
        let Traffic::Tcp(connection) = &self.flows[id.0 as usize].traffic else { return };
        let (source, destination) = (&connection.source, &connection.destination);
        let sender = source.sender();
        let results = ReleasedConnection {
            source: source.counters(),
            destination: destination.counters(),
            delivered: [destination.delivered(), source.delivered()],
            rtt: sender.rtt().clone(),
            window: sender.window(),
            inflated: sender.inflated_window(),
        };
        self.flows[id.0 as usize].traffic = Traffic::NoEndpoint(NoEndpoint::Released(Box::new(results)));
    }
}

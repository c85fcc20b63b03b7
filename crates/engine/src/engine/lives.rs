//! [`Engine`]: connections that are created when they begin and released when they are over.
//!
//! With very many flows, few are active at any time. Results do not change: a connection is released only when both
//! ends are idle and none of its packets is in flight.

use super::Engine;
use super::carried::Carried;
use crate::flow::{Side, Traffic, Unanswered};
use lasthop_base::Time;
use lasthop_net::LinkDirection;
use lasthop_tcp::rtt::RttEstimator;
use lasthop_tcp::{Counters, State};
use lasthop_wire::FlowId;

/// Search depth, packets: with more on a flow's route, release is retried when TIME-WAIT ends.
const MOST: usize = 4096;

/// Results of a released connection.
#[derive(Clone, Debug)]
pub struct Over {
    /// Counters of the source.
    pub source: Counters,
    /// Counters of the destination.
    pub destination: Counters,
    /// Payload bytes delivered in order at the destination and at the source.
    pub delivered: [u64; 2],
    /// Round-trip estimate of the source.
    pub rtt: RttEstimator,
    /// Congestion window of the source, bytes.
    pub window: u64,
    /// The same window with its inflation during recovery, bytes.
    pub inflated: u64,
}

impl Engine {
    /// Creates all flows now and keeps them to the end, for inspection during the run. Call before the first event.
    pub fn keep_flows(&mut self) {
        self.keeps_flows = true;
        self.make_all();
    }

    /// Results of a released connection; `None` if the connection is not released.
    pub fn over(&self, flow: FlowId) -> Option<&Over> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Unanswered(Unanswered::Over(over)) => Some(over),
            _ => None,
        }
    }

    pub(super) fn make_all(&mut self) {
        (0..self.flows.len()).for_each(|index| self.make(index));
    }

    /// Creates a deferred connection, with the state of a connection that existed from time zero.
    #[inline(never)]
    pub(super) fn make(&mut self, index: usize) {
        let Carried { traffic, judged, .. } = &mut self.flows[index];
        if !matches!(traffic, Traffic::Unanswered(Unanswered::Later(_))) {
            return;
        }
        let nothing = Traffic::Unanswered(Unanswered::External);
        if let Traffic::Unanswered(Unanswered::Later(make)) = std::mem::replace(traffic, nothing) {
            let mut connection = make();
            match connection.opener() {
                Side::Source => connection.destination.open(Time::ZERO),
                Side::Destination => connection.source.open(Time::ZERO),
            }
            *judged = connection.judged;
            *traffic = Traffic::Tcp(Box::new(connection));
        }
    }

    /// Releases a connection if both ends are finished and none of its packets is in flight.
    #[cold]
    pub(super) fn give_up(&mut self, id: FlowId) {
        let Carried { traffic, account, ways, .. } = &self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = traffic else { return };
        let (source, destination) = (&connection.source, &connection.destination);
        let is_over = destination.ended().is_some()
            && (source.ended().is_some() || source.state() == State::TimeWait)
            && account.is_complete()
            && connection.application.is_none();
        let is_watched = self.keeps_flows || self.observer.is_some() || !self.nodes.is_empty();
        let is_told = ways.iter().any(|way| way.is_told() || way.host().is_some());
        if !is_over || is_watched || is_told || source.has_events() || destination.has_events() {
            return;
        }
        let [there, back] = ways.map(|way| &self.routes[way.route() as usize]);
        let pipes = || there.iter().chain(back).map(|pipe| &self.pipes[pipe.0 as usize]);
        let is_known = pipes().all(|pipe| matches!(pipe.line, LinkDirection::Link(_)));
        if !is_known || pipes().map(|pipe| pipe.travelling.len()).sum::<usize>() > MOST {
            return;
        }
        if pipes().any(|pipe| pipe.travelling.iter().any(|one| one.packet.flow == id)) {
            return;
        }
        let sender = source.sender();
        let over = Over {
            source: source.counters(),
            destination: destination.counters(),
            delivered: [destination.delivered(), source.delivered()],
            rtt: sender.rtt().clone(),
            window: sender.window(),
            inflated: sender.inflated_window(),
        };
        self.flows[id.0 as usize].traffic = Traffic::Unanswered(Unanswered::Over(Box::new(over)));
    }
}

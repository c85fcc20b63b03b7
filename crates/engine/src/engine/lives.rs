//! A chapter of the engine: flows that are not made before they begin, and of which little is kept once they are over.
//!
//! Where there are very many, most of them are not alive at any time. What comes out is the same: a connection that is over
//! is given up only when neither end has anything to do and no packet of it is on its way.

use super::Engine;
use super::carried::Carried;
use crate::flow::{Side, Traffic, Unanswered};
use lasthop_base::Time;
use lasthop_net::Line;
use lasthop_tcp::rtt::RttEstimator;
use lasthop_tcp::{Counters, State};
use lasthop_wire::FlowId;

/// More packets than this on a flow's way are not looked through: it is tried again when TIME-WAIT ends.
const MOST: usize = 4096;

/// What is kept of a connection that is over.
#[derive(Clone, Debug)]
pub struct Over {
    /// The source's counters.
    pub source: Counters,
    /// The destination's.
    pub destination: Counters,
    /// Payload bytes received in order at the destination, and at the source.
    pub delivered: [u64; 2],
    /// The source's round trips.
    pub rtt: RttEstimator,
    /// The source's congestion window, bytes.
    pub window: u64,
    /// The same, inflated by what had left the network during recovery, bytes.
    pub inflated: u64,
}

impl Engine {
    /// Makes all flows now and keeps them to the end: for who looks at them in between. To be called before the first event.
    pub fn keep_flows(&mut self) {
        self.keeps_flows = true;
        self.make_all();
    }

    /// What is kept of a connection that is over, if it was given up.
    pub fn over(&self, flow: FlowId) -> Option<&Over> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Unanswered(Unanswered::Over(over)) => Some(over),
            _ => None,
        }
    }

    /// Makes all flows that are not there yet.
    pub(super) fn make_all(&mut self) {
        (0..self.flows.len()).for_each(|index| self.make(index));
    }

    /// Makes a flow that is not there yet, as if it had been from the beginning.
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

    /// An end has closed: if all is over, little is kept.
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
        let is_known = pipes().all(|pipe| matches!(pipe.line, Line::Link(_)));
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

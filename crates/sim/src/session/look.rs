//! Counts and state of flows and links between the steps of a session.

use super::{Session, id};
use crate::assemble::pipe_of;
use lasthop_base::{Duration, Time};
use lasthop_engine::PipeAccount;
use lasthop_scenario::{Hop, Traffic};
use lasthop_stack::Observed;
use lasthop_tcp::event::Counters;
use lasthop_wire::{Backlog, PerReason};

/// Counts of a flow since the last look, and its state now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FlowLook {
    /// Virtual time, s.
    pub time_s: f64,
    /// Time since the last look, s.
    pub span_s: f64,
    /// Payload delivered in order to the destination since the last look, bytes.
    pub delivered_bytes: u64,
    /// Payload newly acknowledged at the source since the last look, by SACK or cumulatively, bytes.
    pub acknowledged_bytes: u64,
    /// Counters of the source since the last look.
    pub source: Counters,
    /// Counters of the destination since the last look.
    pub destination: Counters,
    /// Bytes that the source has marked lost since the last look.
    pub marked_lost_bytes: u64,
    /// Number of RTT samples of the source since the last look.
    pub rtt_samples: u64,
    /// Mean of these RTT samples, s; `None` without samples.
    pub mean_rtt_s: Option<f64>,
    /// Smallest RTT sample of the whole connection, s.
    pub smallest_rtt_s: Option<f64>,
    /// Smoothed RTT, s.
    pub srtt_s: Option<f64>,
    /// Retransmission timeout, s.
    pub rto_s: f64,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Sender's estimate of the bytes in flight.
    pub in_flight_bytes: u64,
    /// Data that the source's application has written and that was not sent yet, bytes.
    pub unsent_bytes: u64,
    /// Packets of the source that were lost since the last look, by reason.
    pub lost: PerReason<u64>,
}

/// Counts of a direction of a link since the last look, and its state now.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LinkLook {
    /// Virtual time, s.
    pub time_s: f64,
    /// Time since the last look, s.
    pub span_s: f64,
    /// Bytes that entered the direction and were not lost, since the last look.
    pub carried_bytes: u64,
    /// Packets that were offered to the direction since the last look.
    pub offered: u64,
    /// Packets lost since the last look, by reason.
    pub lost: PerReason<u64>,
    /// Queue now: packets and bytes that wait.
    pub backlog: Backlog,
}

#[derive(Clone, Copy, Default)]
pub(super) struct FlowTotals {
    time: Time,
    delivered: u64,
    acknowledged: u64,
    source: Counters,
    destination: Counters,
    marked_lost: u64,
    rtts: (u64, Duration),
    lost: PerReason<u64>,
}

#[derive(Clone, Copy, Default)]
pub(super) struct LinkTotals {
    time: Time,
    account: PipeAccount,
}

impl Session {
    /// Returns the counts of a flow since the start of the run, and its state now. The next look ignores this look.
    pub fn total(&mut self, flow: usize) -> FlowLook {
        let last = std::mem::take(&mut self.flows[flow]);
        let look = self.look(flow);
        self.flows[flow] = last;
        look
    }

    /// Returns the counts of a direction since the start of the run, and its state now. The next look ignores this look.
    pub fn total_of_link(&mut self, hop: Hop) -> LinkLook {
        let pipe = pipe_of(hop.link, hop.is_down).0 as usize;
        let last = std::mem::take(&mut self.links[pipe]);
        let look = self.look_at_link(hop);
        self.links[pipe] = last;
        look
    }

    /// Returns the counts of a flow since the last look, and its state now.
    pub fn look(&mut self, flow: usize) -> FlowLook {
        let engine = self.run.engine();
        let time = engine.now();
        let Some((source, destination)) = engine.endpoints(id(flow)) else {
            return self.look_without_endpoints(flow);
        };
        let (sender, rtt) = (source.sender(), source.sender().rtt());
        let totals = FlowTotals {
            time,
            delivered: destination.delivered(),
            acknowledged: sender.scoreboard().una() + sender.scoreboard().sacked(),
            source: source.counters(),
            destination: destination.counters(),
            marked_lost: sender.scoreboard().lost_total(),
            rtts: rtt.total(),
            lost: engine.account(id(flow)).lost,
        };
        let before = self.flows[flow];
        let (samples, sum) =
            (totals.rtts.0 - before.rtts.0, totals.rtts.1.saturating_sub(before.rtts.1).as_secs());
        let look = FlowLook {
            time_s: time.as_secs(),
            span_s: time.since(before.time).as_secs(),
            delivered_bytes: totals.delivered - before.delivered,
            // A receiver may discard SACKed data, which lowers the sum (RFC 2018 §8).
            acknowledged_bytes: totals.acknowledged.saturating_sub(before.acknowledged),
            source: totals.source.since(&before.source),
            destination: totals.destination.since(&before.destination),
            marked_lost_bytes: totals.marked_lost - before.marked_lost,
            rtt_samples: samples,
            mean_rtt_s: (samples > 0).then(|| sum / samples as f64),
            smallest_rtt_s: rtt.smallest().map(|it| it.as_secs()),
            srtt_s: rtt.srtt().map(|it| it.as_secs()),
            rto_s: rtt.rto().as_secs(),
            cwnd_bytes: sender.window(),
            ssthresh_bytes: sender.ssthresh(),
            in_flight_bytes: sender.in_flight(),
            unsent_bytes: source.unsent(),
            lost: totals.lost.since(&before.lost),
        };
        self.flows[flow] = totals;
        look
    }

    /// Looks at a flow between stacks of other projects, or at a flow of datagrams. Only counts of delivered bytes and lost
    /// packets are known and, if the stack reports these values, cwnd and RTT.
    fn look_without_endpoints(&mut self, flow: usize) -> FlowLook {
        let engine = self.run.engine();
        let (time, account) = (engine.now(), engine.account(id(flow)));
        let (delivered, observed) = match (engine.stack_flow(id(flow)), &self.scenario.flows[flow].traffic) {
            (Some(stacks), _) => (stacks.delivered()[0], stacks.observe()),
            (None, Traffic::Datagrams { packet, .. }) => {
                (account.datagrams * u64::from(*packet), Observed::default())
            }
            (None, Traffic::Tcp { .. }) => (0, Observed::default()),
        };
        let totals = FlowTotals { time, delivered, lost: account.lost, ..FlowTotals::default() };
        let before = std::mem::replace(&mut self.flows[flow], totals);
        FlowLook {
            time_s: time.as_secs(),
            span_s: time.since(before.time).as_secs(),
            delivered_bytes: delivered - before.delivered,
            smallest_rtt_s: observed.min_rtt.map(|rtt| rtt.as_secs()),
            srtt_s: observed.srtt.map(|srtt| srtt.as_secs()),
            cwnd_bytes: observed.cwnd.unwrap_or(0),
            lost: account.lost.since(&before.lost),
            ..FlowLook::default()
        }
    }

    /// Returns the counts of a direction since the last look, and its state now. The backlog is exact on directions that
    /// change, and on all directions if the observation records time series.
    pub fn look_at_link(&mut self, hop: Hop) -> LinkLook {
        let pipe = pipe_of(hop.link, hop.is_down);
        let backlog = self.run.engine_mut().backlog(pipe);
        let totals = LinkTotals { time: self.now(), account: *self.run.engine().pipe_account(pipe) };
        let before = std::mem::replace(&mut self.links[pipe.0 as usize], totals);
        let account = totals.account.since(&before.account);
        LinkLook {
            time_s: totals.time.as_secs(),
            span_s: totals.time.since(before.time).as_secs(),
            carried_bytes: account.carried_bytes,
            offered: account.offered,
            lost: account.lost,
            backlog,
        }
    }
}

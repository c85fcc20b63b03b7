//! Results of a run.

use crate::applications;
use crate::idle_path::{IdlePath, IdlePaths};
use crate::link_metrics::LinkTraffic;
use crate::stuck::Stuck;
use crate::warm_up::RttTotal;
use lasthop_base::{Duration, Time};
use lasthop_engine::{ConcurrentShare, Engine, Exchange, FlowAccount, PipeAccount};
use lasthop_scenario::{Exchanges, Flow, Traffic, Transfer};
use lasthop_tcp::Counters;
use lasthop_tcp::rtt::RttEstimator;
use lasthop_tcp::sender::Limited;
use lasthop_wire::FlowId;

/// Results of one repetition.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Seed of the run.
    pub seed: u64,
    /// Length of the run without its warm-up, s.
    pub duration_s: f64,
    /// Length of the warm-up, s. The results exclude the warm-up.
    pub warmup_s: f64,
    /// Results of each flow, in the scenario's order.
    pub flows: Vec<FlowOutcome>,
    /// Results of each link, in the scenario's order.
    pub links: Vec<LinkOutcome>,
    /// Error of a stuck run, whose results are partial.
    pub stuck: Option<Stuck>,
}

/// Results of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowOutcome {
    /// The flow's name.
    pub name: String,
    /// Start time, s.
    pub began_s: f64,
    /// Time from the start to the completion, or to the run's end if the flow is not complete, s.
    pub active_s: f64,
    /// Time from the start to the run's end, s.
    pub limit_s: f64,
    /// Whether a stack of another project (QUIC) carries the flow. If so, metrics of TCP's endpoints are undefined.
    pub is_stack: bool,
    /// Failure that ended a QUIC flow: time, s, and reason.
    pub failure: Option<(f64, String)>,
    /// Whether the transfer is finite. A fed transfer is finite as soon as its data has ended.
    pub is_finite: bool,
    /// Size of a finite transfer, bytes; 0 otherwise.
    pub size_bytes: u64,
    /// Time of a finite transfer on the idle path, s (see [`TransferOutcome::idle_s`]); 0 otherwise.
    pub idle_s: f64,
    /// Requests that the destination sent, with their responses; `None` if the flow has no requests.
    pub exchanges: Option<Vec<ExchangeOutcome>>,
    /// Payload that the flow delivered while other TCP flows were active, and payload that equal shares would have
    /// delivered in that time, bytes.
    pub share: ConcurrentShare,
    /// Payload bytes delivered in order at the destination. For datagrams: payload of all datagrams that arrived,
    /// without copies.
    pub delivered_bytes: u64,
    /// Payload bytes of requests, delivered in order at the source.
    pub requested_bytes: u64,
    /// Counters of the source.
    pub source: Counters,
    /// Counters of the destination.
    pub destination: Counters,
    /// Losses, accuracy of loss discrimination, completion time and other totals.
    pub account: FlowAccount,
    /// Smoothed RTT at the end, s.
    pub srtt_s: Option<f64>,
    /// Number and sum of the RTT samples of the sender.
    pub rtt_total: RttTotal,
    /// Mean of the RTT samples of the sender, s.
    pub mean_rtt_s: Option<f64>,
    /// Smallest RTT sample, s.
    pub smallest_rtt_s: Option<f64>,
    /// Largest RTT sample, s.
    pub largest_rtt_s: Option<f64>,
    /// cwnd at the end, bytes.
    pub cwnd_bytes: u64,
    /// cwnd at the end, including its inflation during recovery, bytes.
    pub inflated_bytes: u64,
    /// Time during which each factor (cwnd, receive window, application) limited the source; `None` for datagrams and
    /// for stacks of other projects.
    pub limited: Option<Limited>,
}

/// A request and its response.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExchangeOutcome {
    /// Time of the request, s.
    pub requested_s: f64,
    /// Time from the request to the response's last byte, or to the run's end if the response is not complete, s.
    pub response_time_s: f64,
    /// Whether the response is complete.
    pub is_complete: bool,
    /// Size of the response, bytes.
    pub bytes: u64,
    /// Response time on the idle path, s (see [`TransferOutcome::idle_s`]).
    pub idle_s: f64,
}

/// Result of a finite transfer, or of a request with its response.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct TransferOutcome {
    /// Start of the transfer, or time of the request, s.
    pub began_s: f64,
    /// Time from the start to the last byte, or to the run's end if the transfer is not complete, s.
    pub took_s: f64,
    /// Whether the transfer is complete.
    pub is_complete: bool,
    /// Size of the transfer or response, bytes.
    pub bytes: u64,
    /// Shortest time of the transfer on the path, s: handshake, propagation, and transmission at the links' mean rates,
    /// without queueing, losses, slow start and other flows.
    pub idle_s: f64,
}

impl TransferOutcome {
    /// Returns the slowdown: the time taken, divided by [`TransferOutcome::idle_s`]. For an incomplete transfer, the
    /// result is a lower bound.
    pub fn slowdown(&self) -> f64 {
        self.took_s / self.idle_s.max(1e-9)
    }
}

/// Results of a link.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOutcome {
    /// The link's name.
    pub name: String,
    /// Totals of the direction from `from` to `to`.
    pub down: PipeAccount,
    /// Totals of the direction from `to` to `from`.
    pub up: PipeAccount,
    /// Traffic of both directions: first from `from` to `to` (down), then from `to` to `from` (up).
    pub traffic: [LinkTraffic; 2],
    /// RLC counters of both directions, in the order of `traffic`; `None` for a direction without RLC.
    pub rlc: [Option<lasthop_net::counters::RlcCounters>; 2],
}

impl FlowOutcome {
    pub(crate) fn of(
        flow: &Flow,
        id: FlowId,
        engine: &Engine,
        (seed, end): (u64, Time),
        paths: &IdlePaths<'_>,
    ) -> FlowOutcome {
        let fed_size = || engine.application(id).and_then(|it| it.fed_size());
        let size_bytes = applications::size_of(flow, seed).or_else(fed_size);
        let (is_finite, size_bytes) = (size_bytes.is_some(), size_bytes.unwrap_or(0));
        let requests = engine.application(id).and_then(|it| it.requests());
        let path = if is_finite || requests.is_some() { paths.of(id.0 as usize) } else { None };
        let account = engine.account(id);
        let active = account.completed.unwrap_or(end).since(engine.start(id)).as_secs();
        let mut outcome = FlowOutcome {
            name: flow.name.clone(),
            began_s: engine.start(id).as_secs(),
            active_s: active,
            limit_s: end.since(engine.start(id)).as_secs(),
            is_stack: false,
            failure: None,
            is_finite,
            size_bytes,
            idle_s: path.as_ref().filter(|_| is_finite).map_or(0.0, |path| path.transfer_s(size_bytes)),
            exchanges: path
                .and_then(|path| exchange_outcomes(&path, flow, requests?, (engine.start(id), end))),
            share: engine.share(id),
            delivered_bytes: 0,
            requested_bytes: 0,
            source: Counters::default(),
            destination: Counters::default(),
            account,
            srtt_s: None,
            rtt_total: (0, Duration::ZERO),
            mean_rtt_s: None,
            smallest_rtt_s: None,
            largest_rtt_s: None,
            cwnd_bytes: 0,
            inflated_bytes: 0,
            limited: None,
        };
        if let Some(released) = engine.released(id) {
            outcome.note_rtt(&released.rtt);
            [outcome.delivered_bytes, outcome.requested_bytes] = released.delivered;
            (outcome.source, outcome.destination) = (released.source, released.destination);
            (outcome.cwnd_bytes, outcome.inflated_bytes) = (released.window, released.inflated);
            outcome.limited = Some(account.limited);
        } else if let Some((source, destination)) = engine.endpoints(id) {
            outcome.delivered_bytes = destination.delivered();
            outcome.requested_bytes = source.delivered();
            outcome.source = source.counters();
            outcome.destination = destination.counters();
            outcome.note_rtt(source.sender().rtt());
            outcome.cwnd_bytes = source.sender().window();
            outcome.inflated_bytes = source.sender().inflated_window();
            outcome.limited = Some(match account.completed {
                Some(_) => account.limited,
                None => source.sender().limited(end),
            });
        } else if let Some(stacks) = engine.stack_flow(id) {
            [outcome.delivered_bytes, outcome.requested_bytes] = stacks.delivered();
            outcome.is_stack = true;
            outcome.failure = stacks.failure().map(|(at, reason)| (at.as_secs(), reason.to_owned()));
            let observed = stacks.observe();
            outcome.srtt_s = observed.srtt.map(|srtt| srtt.as_secs());
            outcome.smallest_rtt_s = observed.min_rtt.map(|rtt| rtt.as_secs());
            outcome.cwnd_bytes = observed.cwnd.unwrap_or(0);
        } else if let Traffic::Datagrams { packet, .. } = &flow.traffic {
            outcome.delivered_bytes = account.datagrams * u64::from(*packet);
        } else {
            // The flow has not begun, so its connection does not exist yet.
            outcome.limited = Some(Limited::default());
        }
        outcome
    }

    fn note_rtt(&mut self, rtt: &RttEstimator) {
        self.srtt_s = rtt.srtt().map(|srtt| srtt.as_secs());
        self.rtt_total = rtt.total();
        self.mean_rtt_s = rtt.mean().map(|mean| mean.as_secs());
        self.smallest_rtt_s = rtt.smallest().map(|smallest| smallest.as_secs());
        self.largest_rtt_s = rtt.largest().map(|largest| largest.as_secs());
    }

    /// Returns the flow's finite transfer, or each request with its response.
    pub fn transfers(&self) -> impl Iterator<Item = TransferOutcome> {
        let whole = (self.is_finite && self.exchanges.is_none()).then_some(TransferOutcome {
            began_s: self.began_s,
            took_s: self.active_s,
            is_complete: self.account.completed.is_some(),
            bytes: self.size_bytes,
            idle_s: self.idle_s,
        });
        let each = self.exchanges.iter().flatten().map(|it| TransferOutcome {
            began_s: it.requested_s,
            took_s: it.response_time_s,
            is_complete: it.is_complete,
            bytes: it.bytes,
            idle_s: it.idle_s,
        });
        whole.into_iter().chain(each)
    }

    /// Mean completion time of the [`FlowOutcome::transfers`], s. An incomplete transfer counts with its time until the
    /// run's end (restricted mean).
    pub fn restricted_s(&self) -> Option<f64> {
        let (sum, count) =
            self.transfers().fold((0.0, 0.0), |(sum, count), it| (sum + it.took_s, count + 1.0));
        (count > 0.0).then(|| sum / count)
    }

    /// Mean [slowdown](TransferOutcome::slowdown) of the [`FlowOutcome::transfers`]; `None` if the flow has no
    /// transfers, or if a transfer is incomplete.
    pub fn slowdown(&self) -> Option<f64> {
        let (sum, count) = self.transfers().try_fold((0.0, 0.0), |(sum, count), it| {
            it.is_complete.then(|| (sum + it.slowdown(), count + 1.0))
        })?;
        (count > 0.0).then(|| sum / count)
    }

    /// Quantile `share` (0 to 1) of the response times, s. An incomplete response counts as longer than every complete
    /// response. `None` if there are no requests, or if the quantile falls on an incomplete response.
    pub fn exchange_s(&self, share: f64) -> Option<f64> {
        let all = self.exchanges.as_ref()?;
        let mut times: Vec<f64> =
            all.iter().filter(|it| it.is_complete).map(|it| it.response_time_s).collect();
        times.sort_by(f64::total_cmp);
        let rank = (share * all.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).copied()
    }

    /// Payload delivered in order over the flow's active time, kbit/s.
    pub fn goodput_kbps(&self) -> f64 {
        if self.active_s > 0.0 { self.delivered_bytes as f64 * 8.0 / self.active_s / 1e3 } else { 0.0 }
    }

    /// Share of the active time in which cwnd limited the source, %.
    pub fn cwnd_limited_pct(&self) -> Option<f64> {
        self.limited_pct(|by| by.congestion)
    }

    /// Share of the active time in which the receive window limited the source, %.
    pub fn rwnd_limited_pct(&self) -> Option<f64> {
        self.limited_pct(|by| by.receiver)
    }

    /// Share of the active time in which the source had no data to send, %.
    pub fn app_limited_pct(&self) -> Option<f64> {
        self.limited_pct(|by| by.application)
    }

    fn limited_pct(&self, by: fn(&Limited) -> Duration) -> Option<f64> {
        let limited = self.limited.as_ref().filter(|_| self.active_s > 0.0)?;
        Some(100.0 * by(limited).as_secs() / self.active_s)
    }

    /// ACKs per second that the destination sent.
    pub fn ack_rate(&self) -> f64 {
        if self.active_s > 0.0 { self.destination.acks_sent as f64 / self.active_s } else { 0.0 }
    }
}

fn exchange_outcomes(
    path: &IdlePath,
    flow: &Flow,
    requests: &[Exchange],
    (start, end): (Time, Time),
) -> Option<Vec<ExchangeOutcome>> {
    let Traffic::Tcp { transfer, .. } = &flow.traffic else { return None };
    let (Transfer::Exchanges(Exchanges { request, .. }) | Transfer::OnDemand { request }) = transfer else {
        return None;
    };
    let first = requests.first().map(|it| it.requested);
    let handshake_s = |it: &Exchange| match transfer {
        // A request on demand waits for the rest of the handshake.
        Transfer::OnDemand { .. } => (path.round_trip_s() - it.requested.since(start).as_secs()).max(0.0),
        _ if Some(it.requested) == first => path.round_trip_s(),
        _ => 0.0,
    };
    let one = |it: &Exchange| ExchangeOutcome {
        requested_s: it.requested.as_secs(),
        response_time_s: it.response_time.unwrap_or_else(|| end.since(it.requested)).as_secs(),
        is_complete: it.response_time.is_some(),
        bytes: it.bytes,
        idle_s: path.exchange_s(*request, it.bytes, handshake_s(it)),
    };
    // Leaves out a request at the very end of the run, because no time remains to observe its response.
    Some(requests.iter().filter(|it| it.requested < end).map(one).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::assemble;
    use lasthop_scenario::Scenario;

    /// The path has 8 Mbit/s and an RTT of 100 ms, and headers have no bytes. A request of 100 bytes and a response of
    /// 5000 bytes must take 0.1 + 50 + 5 + 50 ms on an idle path. A request during the handshake must wait for the rest
    /// of the handshake of 100 ms.
    #[test]
    fn the_idle_time_of_a_request_on_demand_includes_the_rest_of_the_handshake() {
        let text = "duration = \"5 s\"\nheaders = \"none\"\n[link.l]\nfrom = \"server\"\nto = \"client\"\n\
                    rate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\n[flow.web]\nfrom = \"server\"\nto = \"client\"\n\
                    start = \"1 s\"\nrequest = \"100 bytes\"\nresponse = \"external\"\n";
        let scenario = Scenario::parse(text, "test").unwrap_or_else(|problem| panic!("{problem}"));
        let mut engine = assemble(&scenario, 1);
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        for millis in [1000, 1040, 2000] {
            engine.run_until(at(millis));
            assert_eq!(engine.ask(FlowId(0), 5000), Ok(()));
        }
        engine.run_until(at(5000));
        let (flow, paths) = (&scenario.flows[0], IdlePaths::new(&scenario));
        let outcome = FlowOutcome::of(flow, FlowId(0), &engine, (1, at(5000)), &paths);
        let exchanges = outcome.exchanges.unwrap_or_default();
        let expected = [0.2051, 0.06 + 0.1051, 0.1051];
        assert_eq!(exchanges.len(), expected.len());
        let is_right =
            |(it, idle_s): (&ExchangeOutcome, f64)| it.is_complete && (it.idle_s - idle_s).abs() < 1e-9;
        assert!(exchanges.iter().zip(expected).all(is_right), "{exchanges:?}");
    }

    /// An ordinary run makes no requests on demand, so the flow must have no exchange and no completion time.
    #[test]
    fn an_ordinary_run_has_no_requests_on_demand() {
        let mut draft = lasthop_scenario::Draft::load("rate=8Mbit/s,rtt=100ms,duration=5s").expect("a path");
        draft.set("request", "100 bytes").expect("a size");
        draft.set("response", "external").expect("a word");
        let flow = &crate::run(&draft.check().expect("a scenario"), 1).flows[0];
        assert_eq!((flow.exchanges.as_deref(), flow.delivered_bytes), (Some(&[][..]), 0));
        assert_eq!((flow.restricted_s(), flow.slowdown(), flow.exchange_s(0.5)), (None, None, None));
    }
}

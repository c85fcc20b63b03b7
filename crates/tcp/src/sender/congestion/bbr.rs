//! BBR version 1: packets are paced at the bandwidth that the path was seen to deliver, and twice the pipe is in flight at
//! most (draft-cardwell-iccrg-bbr-congestion-control-00).
//!
//! # The core
//! Nothing here knows policers (long-term sampling) or receivers that hold ACKs back (ACK aggregation): Linux's `tcp_bbr.c`
//! does. A sample taken in ProbeRTT counts as any other; it is never the largest.

use super::{AckEvent, Build, CongestionControl, LossEvent, Phase, RateSample, Recovered, SentEvent, Start};
use crate::sender::counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Rate, Stream, Time};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bbr",
        summary: "paced at the largest delivery rate of late, with twice the pipe in flight at most; losses are repaired, not answered",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        ..Info::PLAIN
    },
    build: &|_, start| Box::new(Bbr::new(start)),
};

/// BBRHighGain: 2/ln 2, the smallest gain that doubles the delivery rate in each round.
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Gains of ProbeBW, one after the other, each for a round-trip time.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Rounds for which a delivery rate counts (BtlBwFilterLen).
const ROUNDS: usize = 10;
/// How long the smallest RTT counts (RTpropFilterLen), and how long it is looked for anew (ProbeRTTDuration).
const RTT_COUNTS: Duration = Duration::from_secs(10);
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Segments that are always in flight (BBRMinPipeCwnd).
const FEWEST: u64 = 4;
/// A share of the rate that is left for queues to drain (BBRPacingMarginPercent).
const MARGIN: f64 = 0.01;
/// No more is ever useful: the largest window that a scaled field can advertise (RFC 7323 §2.3).
const LARGEST: u64 = 1 << 30;

/// The states of draft §4.3.
#[derive(Clone, Copy, PartialEq, Debug)]
enum State {
    Startup,
    Drain,
    ProbeBw {
        slot: usize,
        since: Time,
    },
    /// Until when, once little enough is in flight, and whether a round has gone by since.
    ProbeRtt {
        until: Option<Time>,
        round: u64,
    },
}

struct Bbr {
    mss: u64,
    initial_window: u64,
    random: Stream,
    cwnd: u64,
    /// Bytes per second at which packets leave; `None` before the first round-trip time.
    rate: Option<f64>,
    state: State,
    bandwidth: Bandwidth,
    rounds: Rounds,
    /// RTprop, and when it was measured.
    shortest: Option<(Duration, Time)>,
    pipe: FullPipe,
    /// cwnd before it was lowered for a repair or a ProbeRTT (prior_cwnd).
    prior: u64,
    phase: Phase,
    /// A recovery has begun of which no ACK has come yet.
    enters: bool,
    /// As much goes out as is delivered, until this round ends.
    conserves_in: Option<u64>,
}

/// The largest delivery rate of the last rounds: BtlBw.
#[derive(Default)]
struct Bandwidth {
    /// The largest of each round, bytes per second.
    of_rounds: [f64; ROUNDS],
    largest: f64,
}

impl Bandwidth {
    fn begin_round(&mut self, round: u64) {
        self.of_rounds[round as usize % ROUNDS] = 0.0;
    }

    fn add(&mut self, round: u64, sample: f64) {
        let place = &mut self.of_rounds[round as usize % ROUNDS];
        *place = place.max(sample);
        self.largest = self.of_rounds.iter().copied().fold(0.0, f64::max);
    }
}

/// A round ends when data is delivered that was sent in it.
#[derive(Default)]
struct Rounds {
    count: u64,
    ends_at: u64,
    /// All bytes delivered.
    total: u64,
}

impl Rounds {
    /// Takes a sample in; whether it begins a round.
    fn advance(&mut self, rate: &RateSample) -> bool {
        self.total = rate.total;
        let begins = rate.prior >= self.ends_at;
        if begins {
            self.ends_at = rate.total;
            self.count += 1;
        }
        begins
    }
}

/// Whether Startup has found the bandwidth: three rounds without a quarter more (draft §4.3.2.2).
#[derive(Default)]
struct FullPipe {
    seen: f64,
    flat_rounds: u32,
    is_full: bool,
}

impl FullPipe {
    fn look(&mut self, bandwidth: f64) {
        if self.is_full {
            return;
        }
        if bandwidth >= 1.25 * self.seen {
            (self.seen, self.flat_rounds) = (bandwidth, 0);
        } else {
            self.flat_rounds += 1;
            self.is_full = self.flat_rounds >= 3;
        }
    }
}

impl Bbr {
    fn new(start: Start) -> Bbr {
        Bbr {
            mss: start.mss,
            initial_window: start.window,
            random: start.random,
            cwnd: start.window,
            rate: None,
            state: State::Startup,
            bandwidth: Bandwidth::default(),
            rounds: Rounds::default(),
            shortest: None,
            pipe: FullPipe::default(),
            prior: 0,
            phase: Phase::Open,
            enters: false,
            conserves_in: None,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => HIGH_GAIN,
            State::Drain => 1.0 / HIGH_GAIN,
            State::ProbeBw { slot, .. } => CYCLE[slot],
            State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => HIGH_GAIN,
            State::ProbeBw { .. } => 2.0,
            State::ProbeRtt { .. } => 1.0,
        }
    }

    /// So many times the bandwidth-delay product, and three bundles of segments for what hosts hold back (BBRInflight).
    fn inflight(&self, gain: f64) -> u64 {
        match self.shortest {
            Some((rtt, _)) if self.bandwidth.largest > 0.0 => {
                (gain * self.bandwidth.largest * rtt.as_secs()) as u64 + 3 * self.quantum()
            }
            _ => self.initial_window,
        }
    }

    /// What leaves in one go: a segment, two, or a millisecond's worth (BBRSetSendQuantum). The pacer spaces single
    /// segments; the window leaves room for bundles all the same.
    fn quantum(&self) -> u64 {
        match self.rate.unwrap_or(0.0) {
            rate if rate < 1.2e6 / 8.0 => self.mss,
            rate if rate < 24e6 / 8.0 => 2 * self.mss,
            rate => ((rate / 1000.0) as u64).min(64_000),
        }
    }

    /// Startup never paces slower than before.
    fn set_rate(&mut self, gain: f64, srtt: Option<Duration>) {
        let wanted = match (self.bandwidth.largest, srtt) {
            (bandwidth, _) if bandwidth > 0.0 => (1.0 - MARGIN) * gain * bandwidth,
            (_, Some(srtt)) => HIGH_GAIN * self.initial_window as f64 / srtt.as_secs().max(0.001),
            _ => return,
        };
        if self.pipe.is_full || self.rate.is_none_or(|rate| wanted > rate) {
            self.rate = Some(wanted);
        }
    }

    fn probe_bandwidth(&mut self, now: Time) {
        // Any phase but the one that drains (BBREnterProbeBW): flows that share a queue shall not probe in step.
        let slot = [0, 2, 3, 4, 5, 6, 7][(self.random.draw() % 7) as usize];
        self.state = State::ProbeBw { slot, since: now };
    }

    fn on_sample(&mut self, rate: &RateSample) -> bool {
        let begins = self.rounds.advance(rate);
        if begins {
            self.bandwidth.begin_round(self.rounds.count);
        }
        let sample = rate.bytes_per_sec();
        if !rate.app_limited || sample >= self.bandwidth.largest {
            self.bandwidth.add(self.rounds.count, sample);
        }
        if begins && !rate.app_limited {
            self.pipe.look(self.bandwidth.largest);
        }
        begins
    }

    fn advance_state(&mut self, ack: &AckEvent) {
        let before = ack.in_flight + ack.delivered;
        match self.state {
            State::Startup if self.pipe.is_full => self.state = State::Drain,
            State::ProbeBw { slot, since } => {
                let has_passed = self.shortest.is_some_and(|(rtt, _)| ack.now.since(since) > rtt);
                let gain = CYCLE[slot];
                let is_over = if gain > 1.0 {
                    has_passed && (ack.lost > 0 || before >= self.inflight(gain))
                } else if gain < 1.0 {
                    has_passed || before <= self.inflight(1.0)
                } else {
                    has_passed
                };
                if is_over {
                    self.state = State::ProbeBw { slot: (slot + 1) % CYCLE.len(), since: ack.now };
                }
            }
            _ => {}
        }
        if self.state == State::Drain && ack.in_flight <= self.inflight(1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// The smallest RTT, and the time in which it is looked for anew (draft §4.3.5).
    fn advance_rtt(&mut self, ack: &AckEvent) {
        let expired = self.shortest.is_some_and(|(_, at)| ack.now.since(at) > RTT_COUNTS);
        if let Some(rtt) = ack.rtt
            && (expired || self.shortest.is_none_or(|(known, _)| rtt <= known))
        {
            self.shortest = Some((rtt, ack.now));
        }
        if expired && !matches!(self.state, State::ProbeRtt { .. }) {
            self.save_window();
            self.state = State::ProbeRtt { until: None, round: 0 };
        }
        let State::ProbeRtt { until, round } = self.state else { return };
        match until {
            None if ack.in_flight <= FEWEST * self.mss => {
                self.rounds.ends_at = self.rounds.total;
                let until = Some(ack.now + PROBE_RTT);
                self.state = State::ProbeRtt { until, round: self.rounds.count };
            }
            Some(until) if ack.now > until && self.rounds.count > round => {
                self.shortest = self.shortest.map(|(rtt, _)| (rtt, ack.now));
                self.restore_window();
                match self.pipe.is_full {
                    true => self.probe_bandwidth(ack.now),
                    false => self.state = State::Startup,
                }
            }
            _ => {}
        }
    }

    fn save_window(&mut self) {
        let is_whole = self.phase == Phase::Open && !matches!(self.state, State::ProbeRtt { .. });
        self.prior = if is_whole { self.cwnd } else { self.prior.max(self.cwnd) };
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    /// BBRSetCwnd.
    fn resize(&mut self, ack: &AckEvent) {
        if self.phase == Phase::Restart && ack.phase == Phase::Open {
            self.restore_window();
        }
        self.phase = ack.phase;
        self.cwnd = self.cwnd.saturating_sub(ack.lost).max(self.mss);
        if std::mem::take(&mut self.enters) {
            self.cwnd = ack.in_flight + ack.delivered.max(self.mss);
            self.rounds.ends_at = self.rounds.total;
            self.conserves_in = Some(self.rounds.count);
        }
        if ack.phase != Phase::Recovery || self.conserves_in.is_some_and(|round| self.rounds.count > round) {
            self.conserves_in = None;
        }
        let target = self.inflight(self.cwnd_gain());
        if self.conserves_in.is_some() {
            self.cwnd = self.cwnd.max(ack.in_flight + ack.delivered);
        } else if self.pipe.is_full {
            self.cwnd = (self.cwnd + ack.delivered).min(target);
        } else if self.cwnd < target || self.rounds.total < self.initial_window {
            self.cwnd += ack.delivered;
        }
        self.cwnd = self.cwnd.clamp(FEWEST * self.mss, LARGEST);
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(FEWEST * self.mss);
        }
    }
}

impl CongestionControl for Bbr {
    fn window(&self) -> u64 {
        self.cwnd
    }

    /// It knows none.
    fn ssthresh(&self) -> u64 {
        LARGEST
    }

    fn samples(&self) -> bool {
        true
    }

    fn conserves(&self) -> bool {
        true
    }

    fn on_sent(&mut self, sent: &SentEvent) {
        // After idle time at the bandwidth, whatever the phase (BBRHandleRestartFromIdle).
        if sent.in_flight == sent.bytes && matches!(self.state, State::ProbeBw { .. }) {
            self.set_rate(1.0, None);
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate.map(|rate| Rate::from_bps((8.0 * rate) as u64))
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        if let Some(rate) = ack.rate {
            self.on_sample(rate);
        }
        self.advance_state(ack);
        self.advance_rtt(ack);
        self.set_rate(self.pacing_gain(), ack.srtt);
        self.resize(ack);
    }

    fn on_loss(&mut self, _: &LossEvent) {
        self.save_window();
        self.enters = true;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, _: &LossEvent, _: bool) {
        self.save_window();
        self.phase = Phase::Restart;
        self.enters = false;
        self.cwnd = self.mss;
        self.pipe.seen = 0.0;
    }

    /// Marks say nothing to it.
    fn on_mark(&mut self, _: &LossEvent) {}

    /// The bandwidth that was seen still counts.
    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        self.conserves_in = None;
        // A tail probe repairs a loss without an ACK in between.
        self.enters = false;
        match recovered {
            Recovered::Probed { window } => self.cwnd = window,
            Recovered::Kept | Recovered::Revised { .. } => self.restore_window(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draft §4.3.2.2: three rounds in a row without a quarter more, and a quarter more begins anew.
    #[test]
    fn the_pipe_is_full_after_three_flat_rounds() {
        let mut pipe = FullPipe::default();
        let mut after = |bandwidth| {
            pipe.look(bandwidth);
            pipe.is_full
        };
        assert_eq!([100.0, 200.0, 240.0, 240.0, 250.0].map(&mut after), [false; 5]);
        assert_eq!([300.0, 312.0, 200.0].map(&mut after), [false, false, true]);
        // What was found stays found.
        assert!(after(1000.0));
    }

    /// The largest rate counts for ten rounds, its own included.
    #[test]
    fn a_rate_counts_for_ten_rounds() {
        let mut bandwidth = Bandwidth::default();
        bandwidth.add(0, 500.0);
        for round in 1..10 {
            bandwidth.begin_round(round);
            bandwidth.add(round, 100.0);
            assert_eq!(bandwidth.largest, 500.0, "{round}");
        }
        bandwidth.begin_round(10);
        bandwidth.add(10, 90.0);
        assert_eq!(bandwidth.largest, 100.0);
    }

    /// A recovery that is over before an ACK tells of it, as where a tail probe was the repair, leaves the window alone.
    #[test]
    fn what_is_repaired_at_once_costs_nothing() {
        let random = Stream::named(1, "sender");
        let mut bbr = Bbr::new(Start { window: 100_000, ssthresh: LARGEST, mss: 1000, random });
        let loss = LossEvent { now: Time::ZERO, flight: 10_000, window: 100_000, marked: false };
        bbr.on_loss(&loss);
        bbr.on_recovered(10_000, Recovered::Kept);
        let mut counting = (crate::sender::counting::DEFAULT.build)(&lasthop_base::Values::new());
        let ack = AckEvent { acked: 1000, delivered: 1000, in_flight: 10_000, ..AckEvent::default() };
        bbr.on_ack(&ack, &mut *counting);
        assert!(bbr.window() >= 100_000, "{}", bbr.window());
    }

    /// A round lasts until data arrives that was sent in it.
    #[test]
    fn rounds_are_counted_by_what_is_delivered() {
        let mut rounds = Rounds::default();
        let mut at = |prior, total| {
            rounds.advance(&RateSample {
                delivered: 1000,
                interval: Duration::from_millis(100),
                prior,
                total,
                app_limited: false,
            })
        };
        let begins = [(0, 1000), (0, 2000), (1000, 3000), (2000, 4000), (3000, 5000)];
        assert_eq!(begins.map(|(prior, total)| at(prior, total)), [true, false, true, false, true]);
    }
}

//! BBR version 1: packets are paced at the bandwidth that the path was seen to deliver, and twice the pipe is in flight at
//! most (draft-cardwell-iccrg-bbr-congestion-control-00), with what Linux 6.18 has beside the draft.
//!
//! * `model.rs`: the largest delivery rate, rounds, and when the pipe is full.
//! * `aggregation.rs`: ACKs that come in lumps.
//! * `long_term.rs`: policers.
//!
//! # Not the kernel's
//! The largest rate of ten rounds is exact; Linux keeps the three best samples (Nichols). Segments are paced one by one, so
//! that none waits below TCP: what Linux subtracts for those (packets in the queueing discipline) is nothing here. Whether an
//! RTT was taken of a delayed ACK is not known: where the smallest is out of date, any takes its place.

mod aggregation;
mod long_term;
mod model;

use super::{
    AckEvent, Build, CongestionControl, LossEvent, Nature, Phase, RateHooks, RateSample, Recovered,
    SentEvent, Start,
};
use crate::sender::counting::AckCounting;
use aggregation::Aggregation;
use lasthop_base::{Duration, Info, Mechanism, Rate, Stream, Time};
use long_term::LongTerm;
use model::{Bandwidth, FullPipe, Rounds};

/// See the file.
pub(super) const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bbr",
        summary: "paced at the largest delivery rate of late, with twice the pipe in flight at most; losses are repaired, not answered",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        linux_name: Some("bbr"),
        ..Info::PLAIN
    },
    build: &|_, start| Box::new(Bbr::new(start)),
};

/// BBRHighGain: 2/ln 2, the smallest gain that doubles the delivery rate in each round.
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Gains of ProbeBW, one after the other, each for a round-trip time.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// How long the smallest RTT counts (RTpropFilterLen), and how long it is looked for anew (ProbeRTTDuration).
const RTT_COUNTS: Duration = Duration::from_secs(10);
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Segments that are always in flight (BBRMinPipeCwnd).
const FEWEST: u64 = 4;
/// A share of the rate that is left for queues to drain (BBRPacingMarginPercent).
const MARGIN: f64 = 0.01;
/// The largest bundle, bytes: an IP packet's length with room for headers.
const LARGEST_QUANTUM: u64 = 65_000;
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
    aggregation: Aggregation,
    long_term: LongTerm,
    /// Bytes found lost so far.
    lost: u64,
    /// Data goes out again after a silence, and nothing of it has arrived yet: that was rest enough for the queue.
    restarts: bool,
    /// cwnd before it was lowered for a repair or a ProbeRTT (prior_cwnd).
    prior: u64,
    phase: Phase,
    /// A recovery has begun of which no ACK has come yet.
    enters: bool,
    /// As much goes out as is delivered, until this round ends.
    conserves_in: Option<u64>,
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
            aggregation: Aggregation::default(),
            long_term: LongTerm::default(),
            lost: 0,
            restarts: false,
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
            State::ProbeBw { .. } if self.long_term.holds => 1.0,
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

    /// The bandwidth that is used: a policer's rate, or the largest of late; bytes per second.
    fn bandwidth(&self) -> f64 {
        self.long_term.rate().unwrap_or(self.bandwidth.largest)
    }

    /// So many times the bandwidth-delay product (BBRInflight).
    fn inflight(&self, bandwidth: f64, gain: f64) -> u64 {
        self.quantized(self.product(bandwidth, gain))
    }

    fn product(&self, bandwidth: f64, gain: f64) -> u64 {
        match self.shortest {
            Some((rtt, _)) if self.bandwidth.largest > 0.0 => (gain * bandwidth * rtt.as_secs()) as u64,
            _ => self.initial_window,
        }
    }

    /// With three bundles for what hosts hold back, in even segments, so that a receiver that acknowledges every second one
    /// waits for none; two more where the gain shall be seen also in a small window.
    fn quantized(&self, window: u64) -> u64 {
        let pairs = (window + 3 * self.quantum()).div_ceil(2 * self.mss);
        let probes = matches!(self.state, State::ProbeBw { slot: 0, .. });
        2 * self.mss * (pairs + u64::from(probes))
    }

    /// What leaves in one go: a millisecond's worth, but a segment, or two above 1.2 Mbit/s (BBRSetSendQuantum). The pacer
    /// spaces single segments; the window leaves room for bundles all the same.
    fn quantum(&self) -> u64 {
        let rate = self.rate.unwrap_or(0.0);
        let fewest = if rate < 1.2e6 / 8.0 { 1 } else { 2 };
        let whole = ((rate / 1024.0) as u64).min(LARGEST_QUANTUM) / self.mss;
        whole.clamp(fewest, 127) * self.mss
    }

    /// Startup never paces slower than before.
    fn set_rate(&mut self, gain: f64, srtt: Option<Duration>) {
        let wanted = match (self.bandwidth(), srtt) {
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

    fn on_sample(&mut self, ack: &AckEvent, rate: &RateSample) {
        let begins = self.rounds.advance(rate);
        if begins {
            self.bandwidth.begin_round(self.rounds.count);
        }
        let probes = matches!(self.state, State::ProbeBw { .. });
        if self.long_term.on_sample(ack.now, rate, self.lost, begins, ack.lost > 0, probes) {
            self.probe_bandwidth(ack.now);
        }
        let sample = rate.bytes_per_sec();
        if !rate.app_limited || sample >= self.bandwidth.largest {
            self.bandwidth.add(self.rounds.count, sample);
        }
        let bandwidth = self.bandwidth();
        self.aggregation.on_ack(ack.now, ack.delivered, bandwidth, self.cwnd, self.mss, begins);
        self.advance_cycle(ack);
        if begins && !rate.app_limited {
            self.pipe.look(self.bandwidth.largest);
        }
    }

    /// The next phase of ProbeBW, if this one is over (BBRCheckCyclePhase).
    fn advance_cycle(&mut self, ack: &AckEvent) {
        let State::ProbeBw { slot, since } = self.state else { return };
        let before = ack.in_flight + ack.delivered + ack.lost;
        let has_passed = self.shortest.is_some_and(|(rtt, _)| ack.now.since(since) > rtt);
        let largest = self.bandwidth.largest;
        let is_over = match self.pacing_gain() {
            gain if gain > 1.0 => has_passed && (ack.lost > 0 || before >= self.inflight(largest, gain)),
            gain if gain < 1.0 => has_passed || before <= self.inflight(largest, 1.0),
            _ => has_passed,
        };
        if is_over {
            self.state = State::ProbeBw { slot: (slot + 1) % CYCLE.len(), since: ack.now };
        }
    }

    fn advance_state(&mut self, ack: &AckEvent) {
        if self.state == State::Startup && self.pipe.is_full {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.in_flight <= self.inflight(self.bandwidth.largest, 1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// The smallest RTT, and the time in which it is looked for anew (draft §4.3.5). Only a smaller one puts that off (netdev,
    /// November 2020, "only postpone PROBE_RTT if RTT is < current min_rtt estimate").
    fn advance_rtt(&mut self, ack: &AckEvent) {
        let expired = self.shortest.is_some_and(|(_, at)| ack.now.since(at) > RTT_COUNTS);
        let rtt = ack.rate.and_then(|rate| rate.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (expired || self.shortest.is_none_or(|(known, _)| rtt < known))
        {
            self.shortest = Some((rtt, ack.now));
        }
        if expired && !self.restarts && !matches!(self.state, State::ProbeRtt { .. }) {
            self.save_window();
            self.state = State::ProbeRtt { until: None, round: 0 };
        }
        if let State::ProbeRtt { until, round } = self.state {
            match until {
                None if ack.in_flight <= FEWEST * self.mss => {
                    self.rounds.ends_at = self.rounds.total;
                    let until = Some(ack.now + PROBE_RTT);
                    self.state = State::ProbeRtt { until, round: self.rounds.count };
                }
                Some(_) if self.rounds.count > round => self.end_probe_rtt(ack.now),
                _ => {}
            }
        }
        if ack.rate.is_some_and(|rate| rate.delivered > 0) {
            self.restarts = false;
        }
    }

    /// ProbeRTT is over if its time has passed (BBRCheckProbeRTTDone).
    fn end_probe_rtt(&mut self, now: Time) {
        let State::ProbeRtt { until: Some(until), .. } = self.state else { return };
        if now <= until {
            return;
        }
        self.shortest = self.shortest.map(|(rtt, _)| (rtt, now));
        self.restore_window();
        match self.pipe.is_full {
            true => self.probe_bandwidth(now),
            false => self.state = State::Startup,
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
        let bandwidth = self.bandwidth();
        // Lumps are allowed for once the pipe was full.
        let lumps = if self.pipe.is_full { self.aggregation.allowance(bandwidth) } else { 0 };
        let target = self.quantized(self.product(bandwidth, self.cwnd_gain()) + lumps);
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

    fn nature(&self) -> Nature {
        Nature { samples: true, conserves: true, ..Nature::DRAWS }
    }

    fn on_ack(&mut self, ack: &AckEvent, _: &mut dyn AckCounting) {
        self.lost += ack.lost;
        if let Some(rate) = ack.rate.filter(|rate| rate.reliable) {
            self.on_sample(ack, rate);
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

    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.save_window();
        self.phase = Phase::Restart;
        self.enters = false;
        self.cwnd = loss.spared + self.mss;
        self.pipe.look_again();
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
            Recovered::Kept => self.restore_window(),
            // Nothing was lost: neither the pipe nor a policer was seen.
            Recovered::Revised { .. } => {
                self.restore_window();
                self.pipe.look_again();
                self.long_term.start_anew();
            }
        }
    }
}

impl RateHooks for Bbr {
    fn holds_back(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        self.set_rate(HIGH_GAIN, rtt);
    }

    /// After a silence of the application: at the bandwidth, whatever the phase (BBRHandleRestartFromIdle).
    fn on_sent(&mut self, sent: &SentEvent) {
        if sent.in_flight > sent.bytes || !sent.limited {
            return;
        }
        self.restarts = true;
        self.aggregation.start_anew(sent.now);
        match self.state {
            State::ProbeBw { .. } => self.set_rate(1.0, None),
            State::ProbeRtt { .. } => self.end_probe_rtt(sent.now),
            _ => {}
        }
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.rate.map(|rate| Rate::from_bps((8.0 * rate) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bbr() -> Bbr {
        let random = Stream::named(1, "sender");
        Bbr::new(Start { window: 10_000, ssthresh: LARGEST, mss: 1000, selective: true, random })
    }

    /// Ten segments in the handshake's 100 ms, times the gain of Startup: 288,539 bytes per second.
    #[test]
    fn the_first_window_is_paced_by_the_handshake() {
        let mut bbr = bbr();
        bbr.on_open(Some(Duration::from_millis(100)));
        assert_eq!(bbr.pacing_rate(), Some(Rate::from_bps(8 * 288_539)));
    }

    /// 1 MB/s and 50 ms make 50 segments, and three bundles of two 56; of an odd number one more, and two more while the gain
    /// is above one.
    #[test]
    fn windows_are_even() {
        let mut bbr = bbr();
        bbr.shortest = Some((Duration::from_millis(50), Time::ZERO));
        bbr.bandwidth.add(0, 1e6);
        assert_eq!(bbr.rate, None, "bundles of a segment");
        assert_eq!(bbr.inflight(1e6, 1.0), 54_000);
        bbr.rate = Some(1e6);
        assert_eq!([1.0, 1.01].map(|gain| bbr.inflight(1e6, gain)), [56_000, 58_000]);
        bbr.state = State::ProbeBw { slot: 0, since: Time::ZERO };
        assert_eq!(bbr.inflight(1e6, 1.0), 58_000);
    }

    /// A recovery that is over before an ACK tells of it, as where a tail probe was the repair, leaves the window alone.
    #[test]
    fn what_is_repaired_at_once_costs_nothing() {
        let random = Stream::named(1, "sender");
        let mut bbr =
            Bbr::new(Start { window: 100_000, ssthresh: LARGEST, mss: 1000, selective: true, random });
        let loss = LossEvent { now: Time::ZERO, flight: 10_000, window: 100_000, ..LossEvent::default() };
        bbr.on_loss(&loss);
        bbr.on_recovered(10_000, Recovered::Kept);
        let mut counting = (crate::sender::counting::DEFAULT.build)(&lasthop_base::Values::new());
        let ack = AckEvent { acked: 1000, delivered: 1000, in_flight: 10_000, ..AckEvent::default() };
        bbr.on_ack(&ack, &mut *counting);
        assert!(bbr.window() >= 100_000, "{}", bbr.window());
    }
}

//! BBR version 1 (draft-cardwell-iccrg-bbr-congestion-control-00), with the additions of Linux 6.18. Paces at the
//! delivery rate of the path, and keeps at most two bandwidth-delay products in flight.
//!
//! # Differences from the kernel
//! The largest delivery rate of the last ten rounds is exact; Linux keeps only the three best samples (Nichols'
//! filter). The sender paces each segment separately, so no packets wait in a queueing discipline below TCP. RTT
//! samples of delayed ACKs are not recognised: any RTT sample replaces a smallest RTT that has expired.

mod aggregation;
mod long_term;
mod model;

use super::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, RateHooks, RateSample, Recovered,
    SentEvent, Start,
};
use crate::sender::ack_counting::AckCounting;
use aggregation::Aggregation;
use lasthop_base::{Duration, Info, Mechanism, Rate, Stream, Time};
use long_term::LongTerm;
use model::{Bandwidth, FullPipe, Rounds};

pub(super) const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bbr",
        summary: "BBRv1: paces at the largest recent delivery rate with at most two bandwidth-delay products in \
                  flight; losses cause no reduction",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        linux_name: Some("bbr"),
        ..Info::PLAIN
    },
    build: &|_, start| Box::new(Bbr::new(start)),
};

/// BBRHighGain, 2/ln 2: the smallest gain that doubles the delivery rate in each round.
const HIGH_GAIN: f64 = 2.885_390_081_777_927;
/// Pacing gains of the eight phases of ProbeBW. Each phase lasts one round-trip time.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// Time after which the smallest RTT expires (RTpropFilterLen).
const RTT_COUNTS: Duration = Duration::from_secs(10);
/// Shortest duration of ProbeRTT (ProbeRTTDuration).
const PROBE_RTT: Duration = Duration::from_millis(200);
/// Smallest window, segments (BBRMinPipeCwnd).
const FEWEST: u64 = 4;
/// Fraction by which the pacing rate stays below the bandwidth, so that queues drain (BBRPacingMarginPercent).
const MARGIN: f64 = 0.01;
/// Largest burst, bytes: the payload of the largest IP packet (64 KiB), rounded down.
const LARGEST_QUANTUM: u64 = 65_000;
/// Largest window that TCP can advertise, bytes (RFC 7323 §2.3).
const LARGEST: u64 = 1 << 30;

#[derive(Clone, Copy, PartialEq, Debug)]
enum BbrState {
    Startup,
    Drain,
    ProbeBw {
        slot: usize,
        since: Time,
    },
    /// ProbeRTT. `until` is set and `round` is valid as soon as at most [`FEWEST`] segments are in flight.
    ProbeRtt {
        /// Earliest end of ProbeRTT.
        until: Option<Time>,
        /// Round in which `until` was set.
        round: u64,
    },
}

struct Bbr {
    mss: u64,
    initial_window: u64,
    random: Stream,
    cwnd: u64,
    /// Pacing rate, bytes per second; `None` until an RTT or a bandwidth is known.
    rate: Option<f64>,
    state: BbrState,
    bandwidth: Bandwidth,
    rounds: Rounds,
    /// RTprop, the smallest RTT, with the time of its measurement.
    shortest: Option<(Duration, Time)>,
    pipe: FullPipe,
    aggregation: Aggregation,
    long_term: LongTerm,
    lost: u64,
    /// Whether sending restarted after an idle time, and no data has been delivered after the restart.
    is_idle_restart: bool,
    /// cwnd before a recovery or ProbeRTT, bytes (prior_cwnd).
    prior: u64,
    phase: LossPhase,
    /// Whether a recovery began after the last ACK was handled.
    has_entered_recovery: bool,
    /// Number of the round, if any, with packet conservation: one packet is sent for each delivered packet.
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
            state: BbrState::Startup,
            bandwidth: Bandwidth::default(),
            rounds: Rounds::default(),
            shortest: None,
            pipe: FullPipe::default(),
            aggregation: Aggregation::default(),
            long_term: LongTerm::default(),
            lost: 0,
            is_idle_restart: false,
            prior: 0,
            phase: LossPhase::Open,
            has_entered_recovery: false,
            conserves_in: None,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => HIGH_GAIN,
            BbrState::Drain => 1.0 / HIGH_GAIN,
            BbrState::ProbeBw { .. } if self.long_term.is_in_effect => 1.0,
            BbrState::ProbeBw { slot, .. } => CYCLE[slot],
            BbrState::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => HIGH_GAIN,
            BbrState::ProbeBw { .. } => 2.0,
            BbrState::ProbeRtt { .. } => 1.0,
        }
    }

    /// Bandwidth estimate in use, bytes per second: the policer's rate if a policer was detected, otherwise the largest
    /// recent delivery rate.
    fn bandwidth(&self) -> f64 {
        self.long_term.rate().unwrap_or(self.bandwidth.largest)
    }

    /// Bytes in flight for `gain` bandwidth-delay products, with an allowance for bursts (BBRInflight).
    fn inflight(&self, bandwidth: f64, gain: f64) -> u64 {
        self.quantized(self.product(bandwidth, gain))
    }

    fn product(&self, bandwidth: f64, gain: f64) -> u64 {
        match self.shortest {
            Some((rtt, _)) if self.bandwidth.largest > 0.0 => (gain * bandwidth * rtt.as_secs()) as u64,
            _ => self.initial_window,
        }
    }

    /// Adds three bursts to `window`, because segmentation offload sends bursts. Rounds the sum up to an even number of
    /// segments, for receivers that acknowledge every second segment. In the ProbeBW phase with gain 1.25, adds two
    /// segments, so that a small window grows, too.
    fn quantized(&self, window: u64) -> u64 {
        let pairs = (window + 3 * self.quantum()).div_ceil(2 * self.mss);
        let probes = matches!(self.state, BbrState::ProbeBw { slot: 0, .. });
        2 * self.mss * (pairs + u64::from(probes))
    }

    /// Size of a burst, bytes: the payload sent in 1/1024 s at the pacing rate (BBRSetSendQuantum). The minimum is one
    /// segment, or two segments if the pacing rate is at least 1.2 Mbit/s.
    fn quantum(&self) -> u64 {
        let rate = self.rate.unwrap_or(0.0);
        let fewest = if rate < 1.2e6 / 8.0 { 1 } else { 2 };
        let whole = ((rate / 1024.0) as u64).min(LARGEST_QUANTUM) / self.mss;
        whole.clamp(fewest, 127) * self.mss
    }

    /// Sets the pacing rate to `gain` times the bandwidth. The rate can fall only after the pipe was full.
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
        // The first phase is random, so that flows in the same queue do not probe at the same time. The draining phase
        // is never the first (BBREnterProbeBW).
        let slot = [0, 2, 3, 4, 5, 6, 7][(self.random.draw() % 7) as usize];
        self.state = BbrState::ProbeBw { slot, since: now };
    }

    fn on_sample(&mut self, ack: &AckEvent, rate: &RateSample) {
        let begins = self.rounds.advance(rate);
        if begins {
            self.bandwidth.begin_round(self.rounds.count);
        }
        let probes = matches!(self.state, BbrState::ProbeBw { .. });
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
            self.pipe.update(self.bandwidth.largest);
        }
    }

    /// Enters the next phase of ProbeBW if that phase is due (BBRCheckCyclePhase).
    fn advance_cycle(&mut self, ack: &AckEvent) {
        let BbrState::ProbeBw { slot, since } = self.state else { return };
        let before = ack.in_flight + ack.delivered + ack.lost;
        let has_passed = self.shortest.is_some_and(|(rtt, _)| ack.now.since(since) > rtt);
        let largest = self.bandwidth.largest;
        let is_over = match self.pacing_gain() {
            gain if gain > 1.0 => has_passed && (ack.lost > 0 || before >= self.inflight(largest, gain)),
            gain if gain < 1.0 => has_passed || before <= self.inflight(largest, 1.0),
            _ => has_passed,
        };
        if is_over {
            self.state = BbrState::ProbeBw { slot: (slot + 1) % CYCLE.len(), since: ack.now };
        }
    }

    fn advance_state(&mut self, ack: &AckEvent) {
        if self.state == BbrState::Startup && self.pipe.is_full {
            self.state = BbrState::Drain;
        }
        if self.state == BbrState::Drain && ack.in_flight <= self.inflight(self.bandwidth.largest, 1.0) {
            self.probe_bandwidth(ack.now);
        }
    }

    /// Updates the smallest RTT, and enters or leaves ProbeRTT (draft §4.3.5). Only a new smallest RTT postpones
    /// ProbeRTT (netdev, November 2020, "only postpone PROBE_RTT if RTT is < current min_rtt estimate").
    fn advance_rtt(&mut self, ack: &AckEvent) {
        let expired = self.shortest.is_some_and(|(_, at)| ack.now.since(at) > RTT_COUNTS);
        let rtt = ack.rate.and_then(|rate| rate.rtt).or(ack.rtt);
        if let Some(rtt) = rtt
            && (expired || self.shortest.is_none_or(|(known, _)| rtt < known))
        {
            self.shortest = Some((rtt, ack.now));
        }
        if expired && !self.is_idle_restart && !matches!(self.state, BbrState::ProbeRtt { .. }) {
            self.save_window();
            self.state = BbrState::ProbeRtt { until: None, round: 0 };
        }
        if let BbrState::ProbeRtt { until, round } = self.state {
            match until {
                None if ack.in_flight <= FEWEST * self.mss => {
                    self.rounds.ends_at = self.rounds.total;
                    let until = Some(ack.now + PROBE_RTT);
                    self.state = BbrState::ProbeRtt { until, round: self.rounds.count };
                }
                Some(_) if self.rounds.count > round => self.end_probe_rtt(ack.now),
                _ => {}
            }
        }
        if ack.rate.is_some_and(|rate| rate.delivered > 0) {
            self.is_idle_restart = false;
        }
    }

    /// Leaves ProbeRTT if the duration of ProbeRTT has passed (BBRCheckProbeRTTDone).
    fn end_probe_rtt(&mut self, now: Time) {
        let BbrState::ProbeRtt { until: Some(until), .. } = self.state else { return };
        if now <= until {
            return;
        }
        self.shortest = self.shortest.map(|(rtt, _)| (rtt, now));
        self.restore_window();
        if self.pipe.is_full {
            self.probe_bandwidth(now);
        } else {
            self.state = BbrState::Startup;
        }
    }

    fn save_window(&mut self) {
        let is_whole = self.phase == LossPhase::Open && !matches!(self.state, BbrState::ProbeRtt { .. });
        self.prior = if is_whole { self.cwnd } else { self.prior.max(self.cwnd) };
    }

    fn restore_window(&mut self) {
        self.cwnd = self.cwnd.max(self.prior);
    }

    /// Sets cwnd after an ACK (BBRSetCwnd).
    fn resize(&mut self, ack: &AckEvent) {
        if self.phase == LossPhase::Restart && ack.phase == LossPhase::Open {
            self.restore_window();
        }
        self.phase = ack.phase;
        self.cwnd = self.cwnd.saturating_sub(ack.lost).max(self.mss);
        if std::mem::take(&mut self.has_entered_recovery) {
            self.cwnd = ack.in_flight + ack.delivered.max(self.mss);
            self.rounds.ends_at = self.rounds.total;
            self.conserves_in = Some(self.rounds.count);
        }
        if ack.phase != LossPhase::Recovery
            || self.conserves_in.is_some_and(|round| self.rounds.count > round)
        {
            self.conserves_in = None;
        }
        let bandwidth = self.bandwidth();
        // The allowance for ACK aggregation applies only after the pipe was full for the first time.
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
        if matches!(self.state, BbrState::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(FEWEST * self.mss);
        }
    }
}

impl CongestionControl for Bbr {
    fn window(&self) -> u64 {
        self.cwnd
    }

    fn ssthresh(&self) -> u64 {
        LARGEST
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, conserves: true, ..Nature::DRAWS }
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
        self.has_entered_recovery = true;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.on_timeout(loss, true);
    }

    fn on_timeout(&mut self, loss: &LossEvent, _: bool) {
        self.save_window();
        self.phase = LossPhase::Restart;
        self.has_entered_recovery = false;
        self.cwnd = loss.still_in_flight + self.mss;
        self.pipe.reset();
    }

    fn on_mark(&mut self, _: &LossEvent) {}

    fn on_idle(&mut self, _: u64) {}

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, _: u64, recovered: Recovered) {
        self.conserves_in = None;
        // A tail loss probe can repair the loss, so that recovery ends before the control handles the next ACK.
        self.has_entered_recovery = false;
        match recovered {
            Recovered::Probed { window } => self.cwnd = window,
            Recovered::Kept => self.restore_window(),
            // The loss was spurious. Detection of a full pipe and of a policer restarts, because the loss misled the
            // detectors.
            Recovered::Revised { .. } => {
                self.restore_window();
                self.pipe.reset();
                self.long_term.start_anew();
            }
        }
    }
}

impl RateHooks for Bbr {
    fn holds_back(&self) -> bool {
        matches!(self.state, BbrState::ProbeRtt { .. })
    }

    fn on_open(&mut self, rtt: Option<Duration>) {
        self.set_rate(HIGH_GAIN, rtt);
    }

    /// Handles a restart from idle in any state (BBRHandleRestartFromIdle). In ProbeBW, the pacing gain becomes 1.
    fn on_sent(&mut self, sent: &SentEvent) {
        if sent.in_flight > sent.bytes || !sent.limited {
            return;
        }
        self.is_idle_restart = true;
        self.aggregation.start_anew(sent.now);
        match self.state {
            BbrState::ProbeBw { .. } => self.set_rate(1.0, None),
            BbrState::ProbeRtt { .. } => self.end_probe_rtt(sent.now),
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

    /// The handshake's RTT is 100 ms. The first pacing rate is ten segments per RTT, times Startup's gain: 288,539
    /// bytes per second.
    #[test]
    fn the_first_window_is_paced_by_the_handshake() {
        let mut bbr = bbr();
        bbr.on_open(Some(Duration::from_millis(100)));
        assert_eq!(bbr.pacing_rate(), Some(Rate::from_bps(8 * 288_539)));
    }

    /// The bandwidth-delay product is 1 MB/s x 50 ms = 50 segments. Three bursts of two segments raise this number to
    /// 56. An odd number of segments is rounded up. The ProbeBW phase with gain 1.25 adds two segments.
    #[test]
    fn windows_are_even() {
        let mut bbr = bbr();
        bbr.shortest = Some((Duration::from_millis(50), Time::ZERO));
        bbr.bandwidth.add(0, 1e6);
        assert_eq!(bbr.rate, None, "bursts of one segment");
        assert_eq!(bbr.inflight(1e6, 1.0), 54_000);
        bbr.rate = Some(1e6);
        assert_eq!([1.0, 1.01].map(|gain| bbr.inflight(1e6, gain)), [56_000, 58_000]);
        bbr.state = BbrState::ProbeBw { slot: 0, since: Time::ZERO };
        assert_eq!(bbr.inflight(1e6, 1.0), 58_000);
    }

    /// If a tail loss probe ends recovery before the control handles the next ACK, cwnd stays unchanged.
    #[test]
    fn what_is_repaired_at_once_costs_nothing() {
        let random = Stream::named(1, "sender");
        let mut bbr =
            Bbr::new(Start { window: 100_000, ssthresh: LARGEST, mss: 1000, selective: true, random });
        let loss = LossEvent { now: Time::ZERO, flight: 10_000, window: 100_000, ..LossEvent::default() };
        bbr.on_loss(&loss);
        bbr.on_recovered(10_000, Recovered::Kept);
        let mut ack_counting = (crate::sender::ack_counting::DEFAULT.build)(&lasthop_base::Values::new());
        let ack = AckEvent { acked: 1000, delivered: 1000, in_flight: 10_000, ..AckEvent::default() };
        bbr.on_ack(&ack, &mut *ack_counting);
        assert!(bbr.window() >= 100_000, "{}", bbr.window());
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// A path of 1 MB/s and 50 ms: 50 segments of 1000 bytes in flight, and 56 with three bursts of two segments.
    fn on_path() -> Bbr {
        let mut bbr = bbr();
        bbr.shortest = Some((Duration::from_millis(50), Time::ZERO));
        bbr.bandwidth.add(0, 1e6);
        bbr.rate = Some(1e6);
        bbr
    }

    fn probing(slot: usize) -> BbrState {
        BbrState::ProbeBw { slot, since: at(100) }
    }

    /// Draft §4.3: gains of 2/ln 2 in Startup, its inverse in Drain, and 1.25, 0.75 and six times 1 in ProbeBW. The
    /// window has twice the bandwidth-delay product in ProbeBW. A policer's rate is not probed.
    #[test]
    fn each_state_has_its_gains() {
        let mut bbr = bbr();
        let mut gains = |state| {
            bbr.state = state;
            (bbr.pacing_gain(), bbr.cwnd_gain())
        };
        let high = 2.0 / std::f64::consts::LN_2;
        let close = |(pacing, cwnd): (f64, f64), expected: (f64, f64)| {
            (pacing - expected.0).abs() < 1e-9 && (cwnd - expected.1).abs() < 1e-9
        };
        assert!(close(gains(BbrState::Startup), (high, high)));
        assert!(close(gains(BbrState::Drain), (1.0 / high, high)));
        let cycle = [0, 1, 2, 3, 4, 5, 6, 7].map(|slot| gains(probing(slot)));
        assert_eq!(cycle.map(|(pacing, _)| pacing), [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert!(cycle.iter().all(|(_, cwnd)| *cwnd == 2.0));
        assert_eq!(gains(BbrState::ProbeRtt { until: None, round: 0 }), (1.0, 1.0));
        bbr.long_term.is_in_effect = true;
        assert_eq!([0, 1, 2].map(|slot| (bbr.state = probing(slot), bbr.pacing_gain()).1), [1.0; 3]);
    }

    /// A burst has the bytes of 1/1024 s in whole segments: at least one segment, at least two segments from 1.2 Mbit/s
    /// on, and at most 65 segments of 1000 bytes (64 KiB).
    #[test]
    fn bursts_by_rate() {
        let mut bbr = bbr();
        let mut burst = |rate| {
            bbr.rate = rate;
            bbr.quantum()
        };
        assert_eq!([None, Some(149_999.0), Some(150_000.0)].map(&mut burst), [1000, 1000, 2000]);
        assert_eq!([Some(3_071_999.0), Some(3_072_000.0), Some(1e9)].map(&mut burst), [2000, 3000, 65_000]);
        bbr.mss = 100;
        assert_eq!(bbr.quantum(), 12_700, "at most 127 segments");
    }

    /// The pacing rate is 1 % below the gain times the bandwidth. Before the pipe is full, the rate only grows.
    #[test]
    fn the_rate_falls_only_after_the_pipe_was_full() {
        let mut bbr = on_path();
        bbr.set_rate(2.0, None);
        assert_eq!(bbr.rate, Some(1_980_000.0));
        bbr.set_rate(1.0, None);
        assert_eq!(bbr.rate, Some(1_980_000.0));
        bbr.pipe.is_full = true;
        bbr.set_rate(1.0, None);
        assert_eq!(bbr.rate, Some(990_000.0));
        // Without a bandwidth, the first window is sent in one RTT, times Startup's gain. An RTT below 1 ms counts as 1
        // ms.
        let mut unknown = self::bbr();
        unknown.set_rate(1.0, None);
        assert_eq!(unknown.rate, None);
        for (micros, expected) in [(100_000, HIGH_GAIN * 1e5), (100, HIGH_GAIN * 1e7)] {
            unknown.set_rate(1.0, Some(Duration::from_micros(micros)));
            assert!((unknown.rate.expect("a rate") / expected - 1.0).abs() < 1e-9);
        }
    }

    /// Without an RTT or a bandwidth, the product is the first window, 10 segments.
    #[test]
    fn the_first_window_replaces_an_unknown_product() {
        let mut bbr = bbr();
        assert_eq!(bbr.product(1e6, 2.0), 10_000);
        bbr.shortest = Some((Duration::from_millis(50), Time::ZERO));
        assert_eq!(bbr.product(1e6, 2.0), 10_000);
        bbr.bandwidth.add(0, 1e6);
        assert_eq!((bbr.product(1e6, 2.0), bbr.product(2e6, 0.5)), (100_000, 50_000));
    }

    /// ProbeBW begins in a random phase, but never in the draining phase (BBREnterProbeBW).
    #[test]
    fn the_first_phase_of_probing_is_random() {
        let mut bbr = bbr();
        let mut counts = [0; 8];
        for _ in 0..7000 {
            bbr.probe_bandwidth(at(5));
            let BbrState::ProbeBw { slot, since } = bbr.state else { panic!("ProbeBW") };
            assert_eq!(since, at(5));
            counts[slot] += 1;
        }
        // The bound is five standard errors, sqrt(1000 x 6 / 7) each.
        assert!(
            counts[1] == 0 && counts.iter().filter(|count| 1000_i32.abs_diff(**count) < 147).count() == 7
        );
    }

    /// BBRCheckCyclePhase: a phase lasts longer than the smallest RTT of 50 ms. The phase with gain 1.25 also needs a
    /// loss, or 1.25 products in flight (69 segments with bursts, rounded up to 70, and two segments for the phase). The
    /// phase with gain 0.75 ends early with at most one product in flight (56 segments).
    #[test]
    fn phases_of_probing_end() {
        let next = |slot, now, in_flight, lost| {
            let mut bbr = on_path();
            bbr.state = probing(slot);
            bbr.advance_cycle(&AckEvent {
                now: at(now),
                in_flight,
                delivered: 1000,
                lost,
                ..AckEvent::default()
            });
            let BbrState::ProbeBw { slot: after, since } = bbr.state else { panic!("ProbeBW") };
            assert_eq!(since, if after == slot { at(100) } else { at(now) });
            after
        };
        assert_eq!([next(2, 150, 0, 0), next(2, 151, 0, 0), next(7, 151, 0, 0)], [2, 3, 0]);
        assert_eq!([next(0, 151, 70_999, 0), next(0, 151, 71_000, 0), next(0, 150, 71_000, 0)], [0, 1, 0]);
        assert_eq!([next(0, 151, 0, 1), next(0, 150, 0, 1)], [1, 0]);
        assert_eq!([next(1, 101, 55_000, 0), next(1, 101, 55_001, 0), next(1, 151, 90_000, 0)], [2, 1, 2]);
        assert_eq!(
            [next(1, 101, 54_000, 1000), next(1, 101, 54_000, 1001)],
            [2, 1],
            "losses left the network"
        );
    }

    /// Startup ends when the pipe is full. Drain ends with one product in flight, 56 segments.
    #[test]
    fn startup_and_drain_end() {
        let mut bbr = on_path();
        let ack = |in_flight| AckEvent { now: at(200), in_flight, ..AckEvent::default() };
        bbr.advance_state(&ack(0));
        assert_eq!(bbr.state, BbrState::Startup);
        bbr.pipe.is_full = true;
        bbr.advance_state(&ack(56_001));
        assert_eq!(bbr.state, BbrState::Drain);
        bbr.advance_state(&ack(56_000));
        assert!(matches!(bbr.state, BbrState::ProbeBw { since, .. } if since == at(200)));
    }

    fn rtt(now: Time, millis: u64, in_flight: u64) -> AckEvent<'static> {
        AckEvent { now, rtt: Some(Duration::from_millis(millis)), in_flight, ..AckEvent::default() }
    }

    /// Draft §4.3.5: the smallest RTT expires after 10 s. An equal RTT does not postpone ProbeRTT. ProbeRTT lasts longer
    /// than 200 ms after at most four segments are in flight, and longer than a round.
    #[test]
    fn the_smallest_rtt_expires_and_is_probed() {
        let mut bbr = on_path();
        bbr.pipe.is_full = true;
        bbr.cwnd = 80_000;
        bbr.advance_rtt(&rtt(at(10), 40, 90_000));
        assert_eq!(bbr.shortest, Some((Duration::from_millis(40), at(10))));
        bbr.advance_rtt(&rtt(at(20), 40, 90_000));
        bbr.advance_rtt(&rtt(at(10_010), 45, 90_000));
        assert_eq!(bbr.shortest, Some((Duration::from_millis(40), at(10))));
        assert_eq!((bbr.state, bbr.holds_back()), (BbrState::Startup, false));
        bbr.advance_rtt(&rtt(at(10_011), 45, 4_001));
        assert_eq!(bbr.shortest, Some((Duration::from_millis(45), at(10_011))));
        assert_eq!((bbr.state, bbr.prior), (BbrState::ProbeRtt { until: None, round: 0 }, 80_000));
        assert!(bbr.holds_back());
        (bbr.rounds.total, bbr.rounds.count) = (500_000, 7);
        bbr.advance_rtt(&rtt(at(10_100), 45, 4_000));
        assert_eq!(bbr.state, BbrState::ProbeRtt { until: Some(at(10_300)), round: 7 });
        assert_eq!(bbr.rounds.ends_at, 500_000);
        bbr.advance_rtt(&rtt(at(10_301), 45, 4_000));
        assert!(bbr.holds_back(), "no round has ended");
        bbr.rounds.count = 8;
        bbr.cwnd = 4_000;
        bbr.advance_rtt(&rtt(at(10_300), 45, 4_000));
        assert!(bbr.holds_back(), "200 ms have not passed");
        bbr.advance_rtt(&rtt(at(10_301), 45, 4_000));
        assert!(matches!(bbr.state, BbrState::ProbeBw { .. }));
        assert_eq!((bbr.cwnd, bbr.shortest), (80_000, Some((Duration::from_millis(45), at(10_301)))));
    }

    /// After an idle time, the smallest RTT expires without ProbeRTT, because the idle path had no queue. The next
    /// delivered data ends the exception.
    #[test]
    fn an_idle_path_is_not_probed() {
        let mut bbr = on_path();
        let sent =
            SentEvent { now: at(9_000), bytes: 1000, in_flight: 1000, limited: true, ..SentEvent::default() };
        bbr.on_sent(&sent);
        assert!(bbr.is_idle_restart);
        bbr.advance_rtt(&rtt(at(10_100), 60, 1000));
        assert_eq!((bbr.state, bbr.is_idle_restart), (BbrState::Startup, true));
        let sample = sample(1000, 50, 0, 1000);
        bbr.advance_rtt(&AckEvent { rate: Some(&sample), ..rtt(at(10_101), 60, 1000) });
        assert!(!bbr.is_idle_restart);
        // Sending is no restart if other data is in flight, or if the sender is not limited by the application.
        for sent in [SentEvent { in_flight: 1001, ..sent }, SentEvent { limited: false, ..sent }] {
            let mut busy = on_path();
            busy.on_sent(&sent);
            assert!(!busy.is_idle_restart);
        }
        // In ProbeBW, a restart paces at the bandwidth, less 1 %.
        let mut probes = on_path();
        (probes.state, probes.pipe.is_full) = (probing(0), true);
        probes.on_sent(&sent);
        assert_eq!(probes.pacing_rate(), Some(Rate::from_bps(8 * 990_000)));
        // In ProbeRTT, a restart after the end leaves ProbeRTT. The pipe was not full, so Startup continues.
        let mut probes = on_path();
        (probes.state, probes.prior) = (BbrState::ProbeRtt { until: Some(at(8_999)), round: 0 }, 70_000);
        probes.on_sent(&sent);
        assert_eq!((probes.state, probes.cwnd), (BbrState::Startup, 70_000));
    }

    fn sample(delivered: u64, millis: u64, prior: u64, total: u64) -> RateSample {
        RateSample {
            delivered,
            interval: Duration::from_millis(millis),
            reliable: true,
            prior,
            total,
            app_limited: false,
            in_flight: 10_000,
            lost: 0,
            rtt: None,
        }
    }

    /// An application-limited sample counts only if the sample is at least the largest bandwidth (draft §4.1.1.3). A
    /// round that is not application-limited updates the detector of a full pipe.
    #[test]
    fn samples_limited_by_the_application() {
        for (delivered, largest) in [(49_999, 1e6), (50_000, 1e6), (60_000, 1.2e6)] {
            let mut bbr = on_path();
            let limited = RateSample { app_limited: true, ..sample(delivered, 50, 0, 100_000) };
            bbr.on_sample(&AckEvent { now: at(200), ..AckEvent::default() }, &limited);
            assert!((bbr.bandwidth.largest - largest).abs() < 1e-3, "{delivered}");
        }
        for (app_limited, is_full) in [(true, false), (false, true)] {
            let mut bbr = on_path();
            for round in 1..=4 {
                let full =
                    RateSample { app_limited, ..sample(50_000, 50, 100_000 * round, 100_000 * (round + 1)) };
                bbr.on_sample(&AckEvent { now: at(200 * round), ..AckEvent::default() }, &full);
            }
            assert_eq!(bbr.pipe.is_full, is_full);
        }
    }

    /// The window before a recovery or ProbeRTT is stored. A second reduction stores the larger window.
    #[test]
    fn the_window_before_a_reduction_is_stored() {
        let mut bbr = on_path();
        let mut stored = |phase, state, cwnd| {
            (bbr.phase, bbr.state, bbr.cwnd) = (phase, state, cwnd);
            bbr.save_window();
            bbr.prior
        };
        let probe_rtt = BbrState::ProbeRtt { until: None, round: 0 };
        assert_eq!(stored(LossPhase::Open, BbrState::Startup, 50_000), 50_000);
        assert_eq!(stored(LossPhase::Recovery, BbrState::Startup, 30_000), 50_000);
        assert_eq!(stored(LossPhase::Open, probe_rtt, 60_000), 60_000);
        assert_eq!(stored(LossPhase::Open, probe_rtt, 20_000), 60_000);
        assert_eq!(stored(LossPhase::Open, BbrState::Startup, 20_000), 20_000);
        bbr.restore_window();
        assert_eq!(bbr.cwnd, 20_000);
        bbr.cwnd = 30_000;
        bbr.restore_window();
        assert_eq!(bbr.cwnd, 30_000);
    }

    /// BBRSetCwnd: before the pipe is full, cwnd grows by the delivered bytes, up to 2.885 products and three bursts
    /// (144,269 + 6,000 bytes, rounded up to 152,000). After that, the target in ProbeBW is 106,000 bytes.
    #[test]
    fn the_window_grows_to_its_target() {
        let resized = |bbr: &mut Bbr, cwnd, delivered, lost| {
            (bbr.cwnd, bbr.rounds.total) = (cwnd, 1_000_000);
            bbr.resize(&AckEvent { delivered, lost, in_flight: 10_000, ..AckEvent::default() });
            bbr.cwnd
        };
        let mut bbr = on_path();
        assert_eq!(resized(&mut bbr, 50_000, 3000, 0), 53_000);
        assert_eq!(resized(&mut bbr, 151_999, 3000, 0), 154_999);
        assert_eq!(resized(&mut bbr, 152_000, 3000, 0), 152_000);
        assert_eq!(resized(&mut bbr, 50_000, 3000, 2000), 51_000, "lost bytes reduce cwnd");
        assert_eq!(resized(&mut bbr, 500, 0, 400), 4_000, "at least four segments");
        bbr.rounds.total = 9_999;
        bbr.cwnd = 500_000;
        bbr.resize(&AckEvent { delivered: 1000, ..AckEvent::default() });
        assert_eq!(bbr.cwnd, 501_000, "the first window has not been delivered");
        (bbr.pipe.is_full, bbr.state) = (true, probing(2));
        assert_eq!(resized(&mut bbr, 50_000, 3000, 0), 53_000);
        assert_eq!(resized(&mut bbr, 105_000, 3000, 0), 106_000);
        assert_eq!(resized(&mut bbr, 500_000, 3000, 0), 106_000);
        bbr.state = BbrState::ProbeRtt { until: None, round: 0 };
        assert_eq!(resized(&mut bbr, 50_000, 3000, 0), 4_000);
    }

    /// A recovery begins with a round of packet conservation: the window is the data in flight and the delivered data,
    /// or one segment if no data was delivered. After the round, or after the recovery, the window grows as usual.
    #[test]
    fn a_recovery_begins_with_packet_conservation() {
        let mut bbr = on_path();
        (bbr.cwnd, bbr.rounds.total, bbr.rounds.count) = (100_000, 1_000_000, 5);
        bbr.on_loss(&LossEvent::default());
        assert_eq!(bbr.prior, 100_000);
        let ack =
            |in_flight, delivered, phase| AckEvent { in_flight, delivered, phase, ..AckEvent::default() };
        bbr.resize(&ack(60_000, 0, LossPhase::Recovery));
        assert_eq!((bbr.cwnd, bbr.rounds.ends_at, bbr.conserves_in), (61_000, 1_000_000, Some(5)));
        bbr.resize(&ack(58_000, 2000, LossPhase::Recovery));
        assert_eq!(bbr.cwnd, 61_000);
        bbr.resize(&ack(60_000, 2000, LossPhase::Recovery));
        assert_eq!(bbr.cwnd, 62_000);
        bbr.rounds.count = 6;
        bbr.resize(&ack(40_000, 2000, LossPhase::Recovery));
        assert_eq!((bbr.cwnd, bbr.conserves_in), (64_000, None));
        bbr.conserves_in = Some(6);
        bbr.resize(&ack(40_000, 2000, LossPhase::Open));
        assert_eq!((bbr.cwnd, bbr.conserves_in), (66_000, None));
        bbr.on_recovered(0, Recovered::Kept);
        assert_eq!(bbr.cwnd, 100_000);
    }

    /// A timeout sets cwnd to the data in flight and one segment, and restarts the search for a full pipe. The ACK that
    /// ends the timeout's recovery restores cwnd.
    #[test]
    fn a_timeout_ends_with_the_former_window() {
        let mut bbr = on_path();
        bbr.cwnd = 100_000;
        bbr.pipe.update(1e6);
        bbr.on_restart(&LossEvent { still_in_flight: 7000, ..LossEvent::default() });
        assert_eq!((bbr.window(), bbr.phase, bbr.prior), (8000, LossPhase::Restart, 100_000));
        [1.0, 1.0, 1.0].into_iter().for_each(|bandwidth| bbr.pipe.update(bandwidth));
        assert!(!bbr.pipe.is_full, "the first of three rounds is a new reference");
        bbr.rounds.total = 1_000_000;
        bbr.resize(&AckEvent { delivered: 1000, phase: LossPhase::Restart, ..AckEvent::default() });
        assert_eq!(bbr.cwnd, 9000);
        bbr.resize(&AckEvent { delivered: 1000, phase: LossPhase::Open, ..AckEvent::default() });
        assert_eq!(bbr.cwnd, 101_000);
    }

    /// A spurious loss restores cwnd and restarts the detectors of a full pipe and of a policer. A probe's loss sets cwnd
    /// to the given window.
    #[test]
    fn ends_of_a_recovery() {
        let mut bbr = on_path();
        (bbr.prior, bbr.cwnd, bbr.long_term.is_in_effect) = (90_000, 20_000, true);
        (bbr.has_entered_recovery, bbr.conserves_in) = (true, Some(3));
        bbr.on_recovered(0, Recovered::Probed { window: 33_000 });
        assert_eq!((bbr.cwnd, bbr.has_entered_recovery, bbr.conserves_in), (33_000, false, None));
        assert!(bbr.long_term.is_in_effect);
        let level = super::super::Level { window: 1, ssthresh: 1 };
        bbr.on_recovered(0, Recovered::Revised { from: level, to: level });
        assert_eq!((bbr.cwnd, bbr.long_term.is_in_effect), (90_000, false));
        bbr.on_segment(500);
        assert_eq!((bbr.mss, bbr.ssthresh()), (500, 1 << 30));
    }
}

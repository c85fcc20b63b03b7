//! Slow start and congestion avoidance (RFC 5681 §3.1): the congestion control of Tahoe, Reno, NewReno and SACK.

use super::{
    AckEvent, Build, CongestionControl, Level, LossEvent, LossPhase, Nature, RateHooks, Recovered, Start,
};
use crate::sender::ack_counting::{AckCounting, Regime};
use lasthop_base::{Info, Mechanism, Parameter, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "reno",
        summary: "slow start, additive increase by one segment per RTT, halving at a loss",
        source: "RFC 5681 §3.1",
        parameters: &[
            Parameter {
                name: "halve",
                unit: Unit::Word(&["flight", "window", "cwnd"]),
                default: Some("flight"),
                doc: "quantity halved for ssthresh: FlightSize (RFC 5681 Eq. 4), min(cwnd, awnd) (koga §2.1.6), cwnd \
                      in whole segments (Linux)",
            },
            Parameter {
                name: "slow_start_at_ssthresh",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "slow start at cwnd = ssthresh (koga §2.1.3; RFC 5681 leaves the case open)",
            },
            Parameter {
                name: "exit",
                unit: Unit::Word(&["ssthresh", "flight"]),
                default: Some("ssthresh"),
                doc: "cwnd after recovery: ssthresh, or min(ssthresh, flight + 1 segment) (RFC 6582 §3.2 step 3)",
            },
        ],
        linux_name: Some("reno"),
        quic_name: Some("new_reno"),
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Reno::new(values, &start)),
};

/// Slow start and congestion avoidance, with building blocks for [variants](super::Variant).
pub struct Reno {
    /// cwnd, bytes. Fractions are kept, because avoidance adds MSS^2/cwnd per ACK.
    cwnd: f64,
    ssthresh: u64,
    mss: u64,
    /// Bytes of credit that have not yet raised cwnd. Always 0 unless the ACK counting collects credit.
    collected: u64,
    halved: HalvedQuantity,
    slow_start_at_ssthresh: bool,
    exits_to_flight: bool,
}

/// Quantity that a loss halves to obtain ssthresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HalvedQuantity {
    Flight,
    /// min(cwnd, advertised window), bytes.
    Window,
    /// cwnd, in whole segments.
    Cwnd,
}

/// Largest window that TCP can advertise, bytes (RFC 7323 §2.3).
const LARGEST: f64 = (1u64 << 30) as f64;

/// Converts `bytes`, less than 2^63, to floating point. The detour through a signed number saves instructions.
fn real(bytes: u64) -> f64 {
    bytes as i64 as f64
}

impl Reno {
    /// Returns Reno with default parameters, for controls that change some of the reactions.
    pub fn plain(start: &Start) -> Reno {
        Reno::new(&MECHANISM.info.defaults(), start)
    }

    /// Sets ssthresh to `bytes`, but to at least two segments.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(2 * self.mss);
        self.collected = 0;
    }

    /// Lowers cwnd to ssthresh, if cwnd is larger.
    pub fn cap_at_ssthresh(&mut self) {
        self.cwnd = self.cwnd.min(self.ssthresh as f64);
    }

    /// Returns cwnd with its fraction, bytes.
    pub fn exact_cwnd(&self) -> f64 {
        self.cwnd
    }

    /// Whether cwnd is the largest window that TCP can advertise.
    pub fn is_full(&self) -> bool {
        self.cwnd >= LARGEST
    }

    /// Sets cwnd to `bytes`, but to at most the largest window that TCP can advertise.
    pub fn set_cwnd(&mut self, bytes: f64) {
        self.cwnd = bytes.min(LARGEST);
    }

    /// Grows cwnd like [`CongestionControl::on_ack`], but congestion avoidance adds `segments` segments, not one, for a
    /// cwnd of credited bytes. cwnd grows by fractions of a segment, even if the ACK counting collects credit.
    pub fn on_ack_adding(&mut self, segments: f64, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if self.in_slow_start() || !self.may_grow(ack) {
            return self.on_ack(ack, ack_counting);
        }
        let credit = ack_counting.credit(ack, self.mss, Regime::Avoidance);
        self.set_cwnd(self.cwnd + segments * real(self.mss) * real(credit) / self.cwnd);
    }

    /// Whether the ACK may raise cwnd.
    pub fn may_grow(&self, ack: &AckEvent) -> bool {
        ack.acked > 0 && !ack.held && ack.phase != LossPhase::Recovery && !self.is_full()
    }

    /// Reacts to a loss or a mark: sets ssthresh to `share` times FlightSize or cwnd, whichever is smaller, and limits
    /// cwnd to ssthresh.
    pub fn keep(&mut self, share: f64, loss: &LossEvent) {
        self.set_ssthresh((share * loss.flight.min(self.window()) as f64) as u64);
        self.cap_at_ssthresh();
    }

    /// Handles a timeout like [`CongestionControl::on_timeout`], but ssthresh is `share` times FlightSize or cwnd,
    /// whichever is smaller.
    pub fn time_out_keeping(&mut self, share: f64, loss: &LossEvent, first: bool) {
        if first {
            self.set_ssthresh((share * loss.flight.min(self.window()) as f64) as u64);
        }
        self.restart_with_in_flight(loss.still_in_flight);
    }

    /// Sets cwnd to one segment.
    pub fn restart(&mut self) {
        self.restart_with_in_flight(0);
    }

    /// Sets cwnd to one segment plus the `still_in_flight` bytes of [`LossEvent::still_in_flight`].
    pub fn restart_with_in_flight(&mut self, still_in_flight: u64) {
        self.collected = 0;
        self.cwnd = (self.mss + still_in_flight) as f64;
    }

    fn new(values: &Values, start: &Start) -> Reno {
        Reno {
            cwnd: start.window as f64,
            ssthresh: start.ssthresh,
            mss: start.mss,
            collected: 0,
            halved: match values.word("halve") {
                "window" => HalvedQuantity::Window,
                "cwnd" => HalvedQuantity::Cwnd,
                _ => HalvedQuantity::Flight,
            },
            slow_start_at_ssthresh: values.flag("slow_start_at_ssthresh"),
            exits_to_flight: values.word("exit") == "flight",
        }
    }

    /// Whether the sender is in slow start: cwnd is below ssthresh. If `slow_start_at_ssthresh` is set,
    /// cwnd may also equal ssthresh.
    pub fn in_slow_start(&self) -> bool {
        let ssthresh = real(self.ssthresh.min(1 << 62));
        self.cwnd < ssthresh || (self.slow_start_at_ssthresh && self.cwnd == ssthresh)
    }

    fn halved_quantity(&self, loss: &LossEvent) -> u64 {
        match self.halved {
            HalvedQuantity::Flight => loss.flight,
            HalvedQuantity::Window => loss.window,
            HalvedQuantity::Cwnd => self.window(),
        }
    }

    /// Sets ssthresh to half of `whole` (RFC 5681 Eq. 4), but to at least two segments and at most cwnd. The upper
    /// limit is necessary because FlightSize can far exceed a lowered cwnd, and a loss must not raise cwnd.
    fn halve(&mut self, whole: u64) {
        let half = match self.halved {
            HalvedQuantity::Cwnd => whole / self.mss / 2 * self.mss,
            _ => whole / 2,
        };
        self.set_ssthresh(half.min(self.window()));
    }

    /// Sets ssthresh to half of `whole` or half of cwnd, whichever is smaller.
    ///
    /// FlightSize includes data that SACK has reported and data marked lost; cwnd does not include these data. A
    /// timeout in recovery means that a retransmission was lost. Such a timeout lowers ssthresh again (RFC 5681 §4.3),
    /// but half of FlightSize could exceed ssthresh.
    fn halve_the_less(&mut self, whole: u64) {
        self.halve(whole.min(self.window()));
    }
}

impl CongestionControl for Reno {
    fn window(&self) -> u64 {
        self.cwnd as u64
    }

    fn ssthresh(&self) -> u64 {
        self.ssthresh
    }

    fn nature(&self) -> Nature {
        Nature::FIXED
    }

    #[inline(always)]
    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        if ack.acked == 0 || ack.held || ack.phase == LossPhase::Recovery || self.is_full() {
            return;
        }
        let is_slow_start = self.in_slow_start();
        let regime = match (is_slow_start, ack.phase) {
            (false, _) => Regime::Avoidance,
            (true, LossPhase::Restart) => Regime::AfterTimeout,
            (true, _) => Regime::SlowStart,
        };
        let credit = ack_counting.credit(ack, self.mss, regime);
        if is_slow_start && !ack_counting.collects() {
            self.cwnd += real(credit);
        } else if is_slow_start {
            // Credit that would raise cwnd beyond ssthresh counts in congestion avoidance (as in Linux). At cwnd =
            // ssthresh, slow start adds at most a segment (RFC 5681 §3.1).
            let room = self.ssthresh.saturating_sub(self.window());
            let taken = credit.min(if room > 0 { room } else { self.mss });
            self.cwnd += taken as f64;
            self.collected = (self.collected + credit - taken).min(self.window());
        } else if ack_counting.collects() {
            self.collected += credit;
            if credit > 0 && self.collected >= self.window() {
                self.collected -= self.window();
                self.cwnd += self.mss as f64;
            }
        } else {
            self.cwnd += real(self.mss) * real(credit) / self.cwnd;
        }
    }

    /// Halves cwnd, but to at least two segments, the smallest ssthresh.
    fn on_loss(&mut self, loss: &LossEvent) {
        self.halve(self.halved_quantity(loss));
        self.cwnd = self.ssthresh as f64;
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.halve(self.halved_quantity(loss));
        self.cwnd = self.mss as f64;
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        // A second timeout of the same segment does not lower ssthresh further (RFC 5681 §3.1).
        if first {
            self.halve_the_less(self.halved_quantity(loss));
        }
        self.restart_with_in_flight(loss.still_in_flight);
    }

    /// Halves cwnd at a mark (RFC 3168 §6.1.2), even if more than cwnd is outstanding.
    fn on_mark(&mut self, loss: &LossEvent) {
        self.halve_the_less(self.halved_quantity(loss));
        self.cap_at_ssthresh();
    }

    fn leave_slow_start(&mut self) {
        self.set_ssthresh(self.window());
    }

    fn on_idle(&mut self, window: u64) {
        self.collected = 0;
        self.cwnd = self.cwnd.min(window as f64);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_reordered(&mut self, to: Level) {
        if to.window < self.window() {
            let before = self.window();
            self.cwnd = to.window.max(self.mss) as f64;
            self.set_ssthresh(to.ssthresh.max(before));
        }
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        let window = match recovered {
            Recovered::Revised { to, .. } => {
                self.ssthresh = to.ssthresh;
                to.window
            }
            Recovered::Probed { window } => window,
            Recovered::Kept if self.exits_to_flight => self.ssthresh.min(flight.max(self.mss) + self.mss),
            Recovered::Kept => self.ssthresh,
        };
        self.cwnd = window as f64;
    }
}

impl RateHooks for Reno {}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Time, Value};

    /// Returns cwnd and ssthresh in segments after `act`. Before `act`, cwnd is `cwnd` segments, and `flight` segments
    /// are outstanding.
    fn after(halve: &'static str, flight: u64, cwnd: u64, act: fn(&mut Reno, &LossEvent)) -> (u64, u64) {
        let mut values = MECHANISM.info.defaults();
        values.set("halve", Value::Word(halve));
        let mut reno = Reno::new(
            &values,
            &Start {
                window: cwnd * 1000,
                ssthresh: 1 << 30,
                mss: 1000,
                selective: true,
                random: lasthop_base::Stream::named(1, "sender"),
            },
        );
        let (flight, window) = (flight * 1000, cwnd * 1000);
        act(&mut reno, &LossEvent { now: Time::ZERO, flight, window, ..LossEvent::default() });
        (reno.window() / 1000, reno.ssthresh() / 1000)
    }

    /// RFC 5681 §3.1 Eq. 4, §4.3: ssthresh never exceeds cwnd. After a timeout or a mark, ssthresh is at most half of
    /// cwnd.
    #[test]
    fn no_reaction_raises_the_window() {
        for (flight, cwnd, loss, twice) in
            [(12, 20, 6, 6), (20, 20, 10, 10), (30, 20, 15, 10), (60, 20, 20, 10)]
        {
            for halve in ["flight", "window"] {
                let by_window = cwnd / 2;
                let of = |by_flight| if halve == "flight" { by_flight } else { by_window };
                let on_loss = after(halve, flight, cwnd, |reno, event| reno.on_loss(event));
                assert_eq!(on_loss, (of(loss), of(loss)), "{halve} {flight}");
                let on_restart = after(halve, flight, cwnd, |reno, event| reno.on_restart(event));
                assert_eq!(on_restart, (1, of(loss)), "{halve} {flight}");
                let on_timeout = after(halve, flight, cwnd, |reno, event| reno.on_timeout(event, true));
                assert_eq!(on_timeout, (1, of(twice)), "{halve} {flight}");
                let on_mark = after(halve, flight, cwnd, |reno, event| reno.on_mark(event));
                assert_eq!(on_mark, (of(twice), of(twice)), "{halve} {flight}");
            }
        }
    }
}

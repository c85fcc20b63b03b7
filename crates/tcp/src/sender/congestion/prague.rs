//! TCP Prague: cwnd falls in proportion to the share of marked packets
//! (draft-briscoe-iccrg-prague-congestion-control-04).
//!
//! alpha is a moving average, over round trips, of the share of marked bytes. Marks reduce cwnd by the share alpha/2,
//! at most once per round trip. Unmarked bytes raise cwnd with each ACK. If the RTT is below 25 ms, cwnd grows and
//! falls at the pace of a path of 25 ms, so that flows with a short RTT take no more than their share. The sender paces
//! packets. At a loss, or without AccECN feedback, the control acts like Reno.
//!
//! # Not modelled
//! * Windows below two segments. Linux uses smaller segments and a lower pacing rate.
//! * Linux's variation of the pacing rate by 3 % in each round trip.
//! * Bursts that the sending host causes.
//! * Detection of a bottleneck that marks as in RFC 3168 and serves other flows in the same queue.
//!
//! # Sources
//! The sources are the parts of the draft that other documents quote. For the rest, the sources are descriptions of
//! Linux's tcp_prague and of udp_prague.

use super::{
    AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, RateHooks, Recovered, Reno, Start,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Rate, Time, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "prague",
        summary: "L4S: reduces cwnd by half the share of marked packets once per RTT; paced; Reno at a loss",
        source: "draft-briscoe-iccrg-prague-congestion-control-04; RFC 9331 §4",
        parameters: &[
            Parameter {
                name: "gain",
                unit: Unit::Number(0.001, 1.0),
                default: Some("0.0625"),
                doc: "g: weight of the last round trip in alpha (1/16)",
            },
            Parameter {
                name: "rtt_floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(1)),
                default: Some("25 ms"),
                doc: "lower bound of the RTT in the pace of cwnd changes (RTT independence, §2.4.4); \"0 s\": no bound",
            },
            Parameter {
                name: "floor_after",
                unit: Unit::Count(0, 1_000_000),
                default: Some("4"),
                doc: "round trips after slow start before rtt_floor applies (Linux: 4)",
            },
        ],
        scalable: true,
        only_if: &[OnlyIf { parameters: &["floor_after"], other: "rtt_floor", is: Is::Not("0 s") }],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Prague::new(values, &start)),
};

struct Prague {
    reno: Reno,
    mss: u64,
    gain: f64,
    rtt_floor: Duration,
    floor_after: u64,
    alpha: f64,
    /// Whether the peer has ever reported a mark, which shows that a router marks.
    is_marked: bool,
    round: AlphaRound,
    rounds: u64,
    /// Time of the last reduction caused by a mark.
    reduced_at: Option<Time>,
    /// Value of `delivered` at which the round trip of the last reduction ends.
    reduced_until: u64,
    delivered: u64,
    srtt: Option<Duration>,
}

/// Round trip measured in delivered bytes: the round trip ends when the bytes in flight at its start are delivered.
#[derive(Clone, Copy, Debug, Default)]
struct AlphaRound {
    begun_at: Time,
    until: u64,
    delivered: u64,
    marked: u64,
}

/// Smallest cwnd after a mark, segments (draft §2.4). RFC 3168 §6.1.2 allows one segment.
const LEAST: u64 = 2;

impl Prague {
    fn new(values: &Values, start: &Start) -> Prague {
        Prague {
            reno: Reno::plain(start),
            mss: start.mss,
            gain: values.number("gain"),
            rtt_floor: values.duration("rtt_floor"),
            floor_after: values.count("floor_after"),
            alpha: 1.0,
            is_marked: false,
            round: AlphaRound::default(),
            rounds: 0,
            reduced_at: None,
            reduced_until: 0,
            delivered: 0,
            srtt: None,
        }
    }

    /// Returns the RTT that determines the pace of cwnd changes (draft §2.4.4).
    fn pace(&self, srtt: Duration) -> Duration {
        if self.rounds >= self.floor_after { srtt.max(self.rtt_floor) } else { srtt }
    }

    /// Adds the bytes of an ACK to alpha's round trip, and updates alpha at the end of that round trip (draft §2.4).
    fn measure(&mut self, ack: &AckEvent, srtt: Duration) {
        self.delivered += ack.delivered;
        self.round.delivered += ack.delivered;
        self.round.marked += ack.marked;
        let is_over =
            self.delivered >= self.round.until && ack.now.since(self.round.begun_at) >= self.pace(srtt);
        if !is_over || self.round.delivered == 0 {
            return;
        }
        // alpha stays 1 until the first mark, so that the first mark halves cwnd.
        if self.is_marked {
            let share = (self.round.marked as f64 / self.round.delivered as f64).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
        }
        if !self.reno.in_slow_start() {
            self.rounds += 1;
        }
        let until = self.delivered + ack.in_flight;
        self.round = AlphaRound { begun_at: ack.now, until, delivered: 0, marked: 0 };
    }

    /// Adds a segment per round trip of unmarked bytes, or less if the RTT is below the RTT floor (draft §2.4, §2.4.4).
    fn increase(&mut self, ack: &AckEvent, srtt: Duration, ack_counting: &mut dyn AckCounting) {
        let unmarked = ack.delivered.saturating_sub(ack.marked);
        if self.reno.in_slow_start() && !self.is_marked {
            return self.reno.on_ack(ack, ack_counting);
        }
        if unmarked == 0 || self.reno.is_full() {
            return;
        }
        let ratio = srtt.as_secs() / self.pace(srtt).as_secs().max(1e-9);
        let cwnd = self.reno.exact_cwnd();
        self.reno.set_cwnd(cwnd + ratio * ratio * self.mss as f64 * unmarked as f64 / cwnd);
    }

    /// Reduces cwnd by the share alpha/2 if the ACK reports marks. Two reductions are at least a round trip and the RTT
    /// floor apart (draft §2.4).
    fn decrease(&mut self, ack: &AckEvent, srtt: Duration) {
        let goes_on = self.delivered < self.reduced_until
            || self.reduced_at.is_some_and(|at| ack.now.since(at) < self.pace(srtt));
        if ack.marked == 0 || (self.is_marked && goes_on) {
            return;
        }
        self.is_marked = true;
        let least = (LEAST * self.mss) as f64;
        let window = (self.reno.exact_cwnd() * (1.0 - self.alpha / 2.0)).max(least);
        self.reno.set_ssthresh(window as u64);
        self.reno.set_cwnd(window);
        self.reduced_at = Some(ack.now);
        self.reduced_until = self.delivered + ack.in_flight;
    }
}

impl CongestionControl for Prague {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, is_scalable: true, sends_ect1: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.srtt = ack.srtt;
        let Some(srtt) = ack.srtt else { return self.reno.on_ack(ack, ack_counting) };
        self.measure(ack, srtt);
        if ack.phase == LossPhase::Recovery {
            return;
        }
        if ack.phase == LossPhase::Restart {
            return self.reno.on_ack(ack, ack_counting);
        }
        if !ack.held {
            self.increase(ack, srtt, ack_counting);
        }
        self.decrease(ack, srtt);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        self.reno.on_loss(loss);
    }

    fn on_restart(&mut self, loss: &LossEvent) {
        self.reno.on_restart(loss);
    }

    fn on_timeout(&mut self, loss: &LossEvent, first: bool) {
        self.reno.on_timeout(loss, first);
    }

    /// Handles a classic ECN echo (RFC 3168). The sender calls this function only if the peer gives no
    /// AccECN feedback.
    fn on_mark(&mut self, loss: &LossEvent) {
        self.reno.on_mark(loss);
    }

    fn leave_slow_start(&mut self) {
        self.reno.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.reno.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
        self.reno.on_segment(mss);
    }

    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        self.reno.on_recovered(flight, recovered);
    }
}

impl RateHooks for Prague {
    /// Returns a pacing rate of one cwnd per RTT. In slow start, the rate is two cwnd per RTT, because cwnd doubles in
    /// an RTT (draft §2.4, as Linux).
    fn pacing_rate(&self) -> Option<Rate> {
        let srtt = self.srtt.filter(|srtt| *srtt > Duration::ZERO)?;
        let doubles = self.reno.window() < self.reno.ssthresh() / 2;
        let bytes = self.reno.exact_cwnd() * if doubles { 2.0 } else { 1.0 };
        Some(Rate::from_bps((8.0 * bytes / srtt.as_secs()).max(1.0) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::ack_counting;
    use lasthop_base::Stream;

    const MSS: u64 = 1000;
    const MS: Duration = Duration::from_millis(1);

    fn prague(window: u64) -> Prague {
        let random = Stream::named(1, "sender");
        let start = Start { window: window * MSS, ssthresh: 1 << 30, mss: MSS, selective: true, random };
        let mut prague = Prague::new(&MECHANISM.info.defaults(), &start);
        prague.reno.set_ssthresh(window * MSS);
        prague
    }

    /// Simulates a round trip of `rtt` with one ACK per segment. `marked` selects the marked segments by number.
    fn round(prague: &mut Prague, now: &mut Time, rtt: Duration, marked: impl Fn(u64) -> bool) {
        let mut ack_counting = (ack_counting::DEFAULT.build)(&ack_counting::DEFAULT.info.defaults());
        let segments = (prague.window() / MSS).max(1);
        for number in 0..segments {
            *now += rtt.divided_by(segments);
            let ack = AckEvent {
                now: *now,
                acked: MSS,
                segments: 1,
                delivered: MSS,
                marked: if marked(number) { MSS } else { 0 },
                srtt: Some(rtt),
                in_flight: (segments - 1) * MSS,
                ..AckEvent::default()
            };
            prague.on_ack(&ack, &mut *ack_counting);
        }
    }

    /// alpha begins at 1, so that the first mark halves cwnd. The first mark also ends slow start. The following 39
    /// segments add two segments. alpha then follows the share of marks with gain 1/16 (draft §2.4), so that n unmarked
    /// rounds multiply alpha by (15/16)^n.
    #[test]
    fn alpha_is_a_moving_average() {
        let (mut prague, mut now) = (prague(40), Time::ZERO);
        let rtt = MS * 50;
        round(&mut prague, &mut now, rtt, |number| number == 0);
        assert!(prague.window() >= 20 * MSS && prague.window() <= 22 * MSS, "{}", prague.window());
        let before = prague.alpha;
        for _ in 0..10 {
            round(&mut prague, &mut now, rtt, |_| false);
        }
        let expected = before * f64::powi(15.0 / 16.0, 10);
        assert!((prague.alpha / expected - 1.0).abs() < 0.08, "{} {expected}", prague.alpha);
    }

    /// If the share p of the packets is marked, growth equals reduction at W = 2 (1 - p) / p (draft §2.4; scalable law
    /// of RFC 9331).
    #[test]
    fn the_window_is_inverse_to_the_share_of_marks() {
        for (every, rtt) in [(10u64, 50), (20, 50), (10, 100)] {
            let (mut prague, mut now) = (prague(30), Time::ZERO);
            let (mut sum, mut count) = (0.0, 0.0);
            let seen = std::cell::Cell::new(0u64);
            for number in 0..4000 {
                round(&mut prague, &mut now, MS * rtt, |_| {
                    seen.set(seen.get() + 1);
                    seen.get().is_multiple_of(every)
                });
                if number >= 1000 {
                    sum += prague.window() as f64 / MSS as f64;
                    count += 1.0;
                }
            }
            let p = 1.0 / every as f64;
            let expected = 2.0 * (1.0 - p) / p;
            let mean = sum / count;
            assert!((mean / expected - 1.0).abs() < 0.1, "every {every}: {mean} {expected}");
        }
    }

    /// Marks reduce cwnd at most once per round trip (draft §2.4). The round trip lasts until the data in flight at the
    /// last reduction is delivered.
    #[test]
    fn marks_lower_the_window_once_in_a_round_trip() {
        let (mut prague, rtt) = (prague(40), MS * 50);
        let mut ack_counting = (ack_counting::DEFAULT.build)(&ack_counting::DEFAULT.info.defaults());
        let mut marked = |now: Time| {
            let ack = AckEvent {
                now,
                acked: MSS,
                segments: 1,
                delivered: MSS,
                marked: MSS,
                srtt: Some(rtt),
                in_flight: 2 * MSS,
                ..AckEvent::default()
            };
            prague.on_ack(&ack, &mut *ack_counting);
            prague.window() / MSS
        };
        let first = Time::ZERO + MS * 100;
        assert_eq!(marked(first), 20, "alpha begins at 1");
        assert_eq!(marked(first + rtt - Duration::from_nanos(1)), 20);
        assert_eq!(marked(first + rtt), 10);
    }

    /// At an RTT of 5 ms, cwnd grows at the pace of a path of 25 ms (draft §2.4.4): (5/25)^2 of a segment per round
    /// trip.
    #[test]
    fn short_paths_grow_as_longer_ones() {
        let (mut prague, mut now) = (prague(50), Time::ZERO);
        prague.is_marked = true;
        prague.rounds = 4;
        let before = prague.reno.exact_cwnd();
        for _ in 0..200 {
            round(&mut prague, &mut now, MS * 5, |_| false);
        }
        let grown = (prague.reno.exact_cwnd() - before) / MSS as f64;
        assert!((grown - 200.0 * 0.04).abs() < 0.5, "{grown}");
    }

    #[test]
    fn two_segments_are_left() {
        let (mut prague, mut now) = (prague(10), Time::ZERO);
        for _ in 0..100 {
            round(&mut prague, &mut now, MS * 50, |_| true);
        }
        assert_eq!(prague.window(), 2 * MSS);
    }
}

//! H-TCP: growth of cwnd depends on the time since the last loss, and the reduction at a loss depends on the range of
//! RTTs.
//!
//! Δ is the time since the last loss, seconds. A round trip adds `2 (1 - β) f(Δ)` segments. In the first second, f = 1.
//! Later, f = `1 + 10 (Δ - 1) + ((Δ - 1) / 2)²`. RTT scaling multiplies f by RTTmin / 100 ms, limited to 0.1 … 2, but f
//! stays at least 1.
//!
//! A loss reduces cwnd to the share `β = RTTmin / RTTmax`, limited to 0.5 … 0.8. If the throughput differs by more than
//! 20 % from the throughput before the previous loss, β is 0.5.
//!
//! At each loss, the distance between RTTmax and RTTmin shrinks by 5 %, as in Linux. Our choice: the throughput before
//! a loss is FlightSize divided by the smoothed RTT. Linux averages the throughput over round trips.

use super::{AckEvent, Build, CongestionControl, LossEvent, LossPhase, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "htcp",
        summary: "grows faster with the time since the last loss; a loss keeps RTTmin / RTTmax of the window",
        source: "Leith and Shorten, PFLDnet 2004; draft-leith-tcp-htcp-06 (from descriptions and Linux's module)",
        parameters: &[
            Parameter {
                name: "rtt_scaling",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "multiply the growth per round trip by RTTmin / 100 ms: RTT-independent growth per second",
            },
            Parameter {
                name: "bandwidth_switch",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "halve the window if the throughput has changed by more than 20 %",
            },
        ],
        linux_name: Some("htcp"),
        ..Info::PLAIN
    },
    build: &|values, start| {
        let [scales, switches] = ["rtt_scaling", "bandwidth_switch"].map(|name| values.flag(name));
        let (smallest, largest) = (None, Duration::ZERO);
        let (since, srtt, throughput, keeps) = (Time::ZERO, None, 0.0, 0.5);
        OnReno::boxed(&start, HTcp { scales, switches, smallest, largest, since, srtt, throughput, keeps })
    },
};

/// Largest step of RTTmax: an RTT sample that exceeds RTTmax by more than this time does not change RTTmax.
const LARGEST_STEP: Duration = Duration::from_millis(20);
/// RTTmin up to which β is always 0.5.
const SHORTEST: Duration = Duration::from_millis(10);

struct HTcp {
    scales: bool,
    switches: bool,
    smallest: Option<Duration>,
    largest: Duration,
    /// Start of Δ: time of the last loss, or of the last ACK during recovery or after a timeout.
    since: Time,
    srtt: Option<Duration>,
    /// Throughput before the last loss, bytes per second; 0 before the first loss.
    throughput: f64,
    /// β: share of cwnd that remains after a loss.
    keeps: f64,
}

impl HTcp {
    fn measure(&mut self, ack: &AckEvent) {
        self.srtt = ack.srtt;
        let Some(rtt) = ack.rtt else { return };
        let smallest = self.smallest.map_or(rtt, |smallest| smallest.min(rtt));
        self.smallest = Some(smallest);
        if ack.phase == LossPhase::Open {
            self.largest = self.largest.max(smallest);
            if rtt > self.largest && rtt <= self.largest + LARGEST_STEP {
                self.largest = rtt;
            }
        }
    }

    fn segments(&self, now: Time) -> f64 {
        let late = now.since(self.since).as_secs() - 1.0;
        let mut factor = if late > 0.0 { 1.0 + 10.0 * late + (late / 2.0) * (late / 2.0) } else { 1.0 };
        if let (true, Some(rtt)) = (self.scales, self.smallest) {
            factor = (factor * (rtt.as_secs() / 0.1).clamp(0.1, 2.0)).max(1.0);
        }
        2.0 * (1.0 - self.keeps) * factor
    }

    /// Updates the throughput, β and RTTmax at a loss. Returns β.
    fn update(&mut self, reno: &Reno, loss: &LossEvent) -> f64 {
        let srtt = self.srtt.map_or(1.0, |srtt| srtt.as_secs().max(1e-9));
        let (throughput, before) = (loss.flight.min(reno.window()) as f64 / srtt, self.throughput);
        self.throughput = throughput;
        let has_changed = (throughput - before).abs() > 0.2 * before;
        let range = self.smallest.filter(|smallest| *smallest > SHORTEST && self.largest >= *smallest);
        self.keeps = match range {
            Some(smallest) if before > 0.0 && !(self.switches && has_changed) => {
                (smallest.as_secs() / self.largest.as_secs()).clamp(0.5, 0.8)
            }
            _ => 0.5,
        };
        if let Some(smallest) = self.smallest.filter(|smallest| self.largest > *smallest) {
            let faded = 0.95 * (self.largest.as_secs() - smallest.as_secs());
            self.largest = smallest + Duration::from_secs_f64(faded);
        }
        self.since = loss.now;
        self.keeps
    }
}

impl Variant for HTcp {
    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.measure(ack);
        if ack.phase != LossPhase::Open {
            self.since = ack.now;
        }
        reno.on_ack_adding(self.segments(ack.now), ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        let share = self.update(reno, loss);
        reno.keep(share, loss);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_loss(reno, loss);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        let share = if first { self.update(reno, loss) } else { self.keeps };
        reno.time_out_keeping(share, loss, first);
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// Without a loss, β is 0.5, so that 2 (1 - β) is 1. In the first second, a round trip adds one segment. At 3 s, f
    /// is `1 + 20 + 1 = 22`, and at 5 s, f is `1 + 40 + 4 = 45`. At an RTTmin of 100 ms, RTT scaling multiplies by 1.
    #[test]
    fn growth_depends_on_the_time_since_the_loss() {
        let mut path = Rounds::of(&MECHANISM, 1000);
        let mut before = 1000.0;
        for round in 1..=50 {
            let now = path.round(100.0);
            let grown = now - before;
            let time = f64::from(round) * 0.1 - 0.05;
            let late = (time - 1.0).max(0.0);
            let expected = 1.0 + 10.0 * late + late * late / 4.0;
            assert!((grown - expected).abs() < 0.08 * expected + 0.3, "{time}: {grown} for {expected}");
            before = now;
        }
    }

    /// β is RTTmin / RTTmax, limited to 0.5 … 0.8: 100 / 125 = 0.8 and 100 / 150 = 0.67. RTTmax grows by at most 20 ms
    /// per sample. The first loss halves cwnd, because no earlier throughput is known.
    #[test]
    fn the_reduction_is_the_range_of_round_trips() {
        for (largest, share) in [(110.0, 0.8), (125.0, 0.8), (150.0, 100.0 / 150.0), (250.0, 0.5)] {
            let mut path = Rounds::of(&MECHANISM, 1000);
            for rtt in [100.0, 118.0, 136.0, 154.0, 172.0, 190.0, 208.0, 226.0, 244.0, 250.0] {
                path.round(f64::min(rtt, largest));
            }
            let first = path.segments();
            assert!((path.lose() / first - 0.5).abs() < 0.01);
            while path.segments() < first {
                path.round(largest);
            }
            let second = path.segments();
            let kept = path.lose() / second;
            assert!((kept - share).abs() < 0.03, "{largest}: {kept}");
        }
    }

    const FIELDS: HTcp = HTcp {
        scales: false,
        switches: false,
        smallest: None,
        largest: Duration::ZERO,
        since: Time::ZERO,
        srtt: None,
        throughput: 0.0,
        keeps: 0.5,
    };

    fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    /// H-TCP's draft: α = 2 (1 - β) f with f = 1 + 10 (Δ - 1) + ((Δ - 1) / 2)^2 after the first second. RTT scaling
    /// multiplies f by RTTmin / 100 ms, between 0.1 and 2, and f is at least 1.
    #[test]
    fn growth_by_beta_and_round_trip() {
        let at = |millis| Time::ZERO + ms(millis);
        let close =
            |value: f64, expected: f64| assert!((value - expected).abs() < 1e-9, "{value} {expected}");
        let htcp = FIELDS;
        for (millis, expected) in [(0, 1.0), (1000, 1.0), (2000, 11.25), (3000, 22.0), (5000, 45.0)] {
            close(htcp.segments(at(millis)), expected);
        }
        close(HTcp { keeps: 0.8, ..FIELDS }.segments(at(3000)), 8.8);
        close(HTcp { since: at(1000), ..FIELDS }.segments(at(4000)), 22.0);
        for (rtt, expected) in [(50, 11.0), (100, 22.0), (150, 33.0), (400, 44.0), (5, 2.2)] {
            close(HTcp { scales: true, smallest: Some(ms(rtt)), ..FIELDS }.segments(at(3000)), expected);
            close(HTcp { smallest: Some(ms(rtt)), ..FIELDS }.segments(at(3000)), 22.0);
        }
        close(HTcp { scales: true, smallest: Some(ms(50)), ..FIELDS }.segments(at(500)), 1.0);
    }

    /// RTTmin is the smallest sample. RTTmax follows larger samples by at most 20 ms each, and only outside of recovery.
    #[test]
    fn the_range_of_round_trips_is_measured() {
        let mut htcp = FIELDS;
        let mut measure = |rtt, phase| {
            htcp.measure(&AckEvent { rtt: Some(ms(rtt)), srtt: Some(ms(77)), phase, ..AckEvent::default() });
            (htcp.smallest, htcp.largest)
        };
        assert_eq!(measure(100, LossPhase::Recovery), (Some(ms(100)), Duration::ZERO));
        assert_eq!(measure(100, LossPhase::Open), (Some(ms(100)), ms(100)));
        assert_eq!(measure(120, LossPhase::Open), (Some(ms(100)), ms(120)));
        assert_eq!(measure(141, LossPhase::Open), (Some(ms(100)), ms(120)));
        assert_eq!(measure(130, LossPhase::Recovery), (Some(ms(100)), ms(120)));
        assert_eq!(measure(90, LossPhase::Open), (Some(ms(90)), ms(120)));
        htcp.measure(&AckEvent::default());
        assert_eq!((htcp.srtt, htcp.smallest), (None, Some(ms(90))));
    }

    /// β is RTTmin / RTTmax between 0.5 and 0.8. β is 0.5 before the first throughput, up to an RTTmin of 10 ms, and with
    /// the switch if the throughput changes by more than 20 %. The flight of 100 segments in 0.1 s is 1 MB/s. RTTmax
    /// fades by 5 % of the range.
    #[test]
    fn beta_by_range_and_throughput() {
        let beta = |smallest, largest, throughput, switches| {
            let (srtt, smallest) = (Some(ms(100)), Some(ms(smallest)));
            let mut htcp = HTcp { smallest, largest: ms(largest), throughput, switches, srtt, ..FIELDS };
            let reno = Reno::plain(&Rounds::start(200, 2));
            let now = Time::ZERO + ms(7000);
            let share = htcp.update(&reno, &LossEvent { now, flight: 100_000, ..LossEvent::default() });
            assert!((htcp.throughput - 1e6).abs() < 1e-3);
            assert_eq!((htcp.since, htcp.keeps), (now, share));
            // Rounded to millionths, because the RTTs have no exact binary fractions.
            ((share * 1e6).round() / 1e6, htcp.largest)
        };
        assert_eq!(beta(150, 200, 1e6, true), (0.75, Duration::from_micros(197_500)));
        assert_eq!([beta(100, 110, 1e6, true).0, beta(100, 300, 1e6, true).0], [0.8, 0.5]);
        assert_eq!(beta(150, 200, 0.0, true).0, 0.5);
        assert_eq!([beta(10, 13, 1e6, true).0, beta(12, 16, 1e6, true).0], [0.5, 0.75]);
        assert_eq!([beta(150, 200, 1.3e6, true).0, beta(150, 200, 0.7e6, true).0], [0.5, 0.5]);
        assert_eq!([beta(150, 200, 1.2e6, true).0, beta(150, 200, 0.9e6, true).0], [0.75, 0.75]);
        assert_eq!([beta(150, 200, 1.3e6, false).0, beta(150, 200, 0.0, false).0], [0.75, 0.5]);
        assert_eq!(beta(150, 150, 1e6, true), (0.8, ms(150)));
        // The window limits the throughput: 50 segments in 0.1 s.
        let mut htcp = HTcp { srtt: Some(ms(100)), ..FIELDS };
        htcp.update(
            &Reno::plain(&Rounds::start(50, 2)),
            &LossEvent { flight: 100_000, ..LossEvent::default() },
        );
        assert!((htcp.throughput - 5e5).abs() < 1e-3);
        assert_eq!(htcp.keeps, 0.5);
    }
}

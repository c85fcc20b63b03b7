//! Lateness and losses of packets, and the validity of the measurement.

use super::End;
use hdrhistogram::Histogram;
use lasthop_base::{Duration, Time};
use lasthop_wire::{LossReason, PerReason};

/// Counters of one receiving end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct EndCounters {
    /// Packets sent towards this end, delivered or lost.
    pub offered: u64,
    /// Packets delivered.
    pub delivered: u64,
    /// Bytes delivered, headers included.
    pub delivered_bytes: u64,
    /// Bytes of TCP streams that this end has acknowledged.
    pub acknowledged_bytes: u64,
    /// TCP packets with payload sent towards this end, delivered or lost.
    pub stream_packets: u64,
    /// Packets lost on the way to this end, by reason.
    pub lost: PerReason<u64>,
    /// Packets that the kernel refused to accept at this end.
    pub refused: u64,
    /// Duplicates of packets to this end that links created. `offered` does not include these duplicates.
    pub duplicated: u64,
    /// Packets delivered with a flipped bit; also part of `delivered`.
    pub damaged: u64,
}

/// Measurements of an emulation.
#[derive(Clone, Debug)]
pub struct Measurements {
    /// Counters of the server and of the client.
    pub counters: [EndCounters; 2],
    /// Entry time of the first packet, and entry time of the last packet.
    pub active: Option<[Time; 2]>,
    /// Lateness of each packet: the time in ns from the packet's due time to its delivery, including the delay of its
    /// entry.
    lateness: Histogram<u64>,
    /// Time in ns from the kernel's hand-over of each packet to the packet's entry into the engine.
    entry: Histogram<u64>,
    bound: Duration,
    /// End of the last late period. A late period lasts from the due time of a late packet until its delivery.
    late_until: Time,
    /// Total duration of the late periods; overlapping periods count once.
    late_for: Duration,
}

/// Percentiles of the lateness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lateness {
    /// Median.
    pub p50: Duration,
    /// 99th percentile.
    pub p99: Duration,
    /// Maximum.
    pub max: Duration,
}

impl Lateness {
    fn of(histogram: &Histogram<u64>) -> Lateness {
        let at = |quantile| Duration::from_nanos(histogram.value_at_quantile(quantile));
        Lateness { p50: at(0.5), p99: at(0.99), max: Duration::from_nanos(histogram.max()) }
    }
}

/// Bounds within which an emulation's measurements are valid.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// Lateness above which a packet counts as late.
    pub late: Duration,
    /// Percentage of packets that may be late.
    pub share_pct: f64,
    /// Number of packets that may be late regardless of the percentage.
    pub few: u64,
    /// Percentage of the time from the first to the last packet that may belong to late periods.
    pub time_pct: f64,
    /// Upper bound of the largest lateness.
    pub max: Duration,
}

impl Bounds {
    /// Default bounds. At most 1 % of packets, or two packets, may be more than 1 ms late, for at most 5 % of the time.
    /// No packet may be more than 50 ms late.
    pub const USUAL: Bounds = Bounds {
        late: Duration::from_millis(1),
        share_pct: 1.0,
        few: 2,
        time_pct: 5.0,
        max: Duration::from_millis(50),
    };
}

/// Largest lateness that the histogram records: one minute.
const LONGEST_NANOS: u64 = 60_000_000_000;

impl Default for Measurements {
    fn default() -> Measurements {
        Measurements::with_bounds(&Bounds::USUAL)
    }
}

impl Measurements {
    /// Creates empty measurements with these bounds.
    pub fn with_bounds(bounds: &Bounds) -> Measurements {
        // The histogram has two significant digits and accepts these constant bounds.
        let histogram = Histogram::new_with_bounds(1, LONGEST_NANOS, 2).or_else(|_| Histogram::new(2));
        let Ok(lateness) = histogram else { unreachable!("two significant digits are allowed") };
        Measurements {
            counters: [EndCounters::default(); 2],
            active: None,
            entry: lateness.clone(),
            lateness,
            bound: bounds.late,
            late_until: Time::ZERO,
            late_for: Duration::ZERO,
        }
    }

    /// Records a packet that joined the path with a delay of `late` after the kernel's hand-over.
    pub(crate) fn enter(&mut self, now: Time, from: End, late: Duration) {
        self.entry.saturating_record(late.as_nanos().max(1));
        let to = if from == End::Server { End::Client } else { End::Server };
        self.counters[to as usize].offered += 1;
        let first = self.active.map_or(now, |[first, _]| first);
        self.active = Some([first, now]);
    }

    /// Records the delivery of a packet that was due at `due`. `is_accepted` is true if the kernel accepted the packet.
    pub(crate) fn deliver(&mut self, due: Time, now: Time, at: End, bytes: usize, is_accepted: bool) {
        let counters = &mut self.counters[at as usize];
        if is_accepted {
            counters.delivered += 1;
            counters.delivered_bytes += bytes as u64;
        } else {
            counters.refused += 1;
        }
        let late = now.since(due);
        self.lateness.saturating_record(late.as_nanos().max(1));
        if late > self.bound {
            self.late_for += now.since(due.max(self.late_until));
            self.late_until = self.late_until.max(now);
        }
    }

    pub(crate) fn lose(&mut self, forward: bool, reason: LossReason) {
        let to = if forward { End::Client } else { End::Server };
        self.counters[to as usize].lost[reason] += 1;
    }

    pub(crate) fn copy(&mut self, forward: bool) {
        let to = if forward { End::Client } else { End::Server };
        self.counters[to as usize].duplicated += 1;
    }

    pub(crate) fn damage(&mut self, at: End) {
        self.counters[at as usize].damaged += 1;
    }

    pub(crate) fn acknowledge(&mut self, at: End, bytes: u64) {
        self.counters[at as usize].acknowledged_bytes += bytes;
    }

    pub(crate) fn offer_stream(&mut self, to: End) {
        self.counters[to as usize].stream_packets += 1;
    }

    /// Lateness of deliveries, including the delay of the packets' entries.
    pub fn lateness(&self) -> Lateness {
        Lateness::of(&self.lateness)
    }

    /// Delay between the kernel's hand-over and the packets' entries into the engine.
    pub fn entry(&self) -> Lateness {
        Lateness::of(&self.entry)
    }

    /// Time from the first packet to the last.
    pub fn active(&self) -> Duration {
        self.active.map_or(Duration::ZERO, |[first, last]| last.since(first))
    }

    /// Rate in kbit/s at which this end has acknowledged stream bytes, over the time [`Measurements::active`]. `None`
    /// if no TCP payload was sent to this end: acknowledgements of other protocols are not parsed.
    pub fn goodput_kbps(&self, to: End) -> Option<f64> {
        let (seconds, counters) = (self.active().as_secs(), &self.counters[to as usize]);
        let bits = counters.acknowledged_bytes as f64 * 8.0;
        (counters.stream_packets > 0).then(|| if seconds > 0.0 { bits / seconds / 1e3 } else { 0.0 })
    }

    /// Returns reasons to distrust the measurements; empty if valid. `lost_in_devices` is the number of packets dropped
    /// because a device's ring was full.
    pub fn complaints(&self, bounds: &Bounds, lost_in_devices: u64) -> Vec<String> {
        let lateness = self.lateness();
        let micros = |span: Duration| span.as_nanos() / 1000;
        let mut complaints = Vec::new();
        let packets = self.lateness.len();
        let late = packets - self.lateness.count_between(0, bounds.late.as_nanos()).min(packets);
        let bound = micros(bounds.late);
        if late > bounds.few && late as f64 * 100.0 > bounds.share_pct * packets as f64 {
            complaints.push(format!(
                "{late} of {packets} packets were delivered more than {bound} us late ({} % are allowed)",
                bounds.share_pct
            ));
        }
        let (active, late_for) = (self.active().as_secs(), self.late_for.as_secs());
        if active > 0.0 && late_for * 100.0 > bounds.time_pct * active {
            complaints.push(format!(
                "packets were more than {bound} us late for {:.1} % of the time ({} % are allowed)",
                100.0 * late_for / active,
                bounds.time_pct
            ));
        }
        if lateness.max > bounds.max {
            let (found, bound) = (micros(lateness.max), micros(bounds.max));
            complaints.push(format!("a packet was delivered {found} us late ({bound} us are allowed)"));
        }
        let refused: u64 = self.counters.iter().map(|end| end.refused).sum();
        if lost_in_devices + refused > 0 {
            complaints.push(format!("{} packets were lost in the TUN devices", lost_in_devices + refused));
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measurements(lateness_micros: &[u64]) -> Measurements {
        let mut measurements = Measurements::default();
        for late in lateness_micros {
            let due = Time::from_nanos(1_000_000);
            measurements.deliver(due, due + Duration::from_micros(*late), End::Client, 1500, true);
        }
        measurements
    }

    #[test]
    fn percentiles_are_those_of_the_packets() {
        let lateness = measurements(&(1..=1000).collect::<Vec<u64>>()).lateness();
        for (found, expected) in [(lateness.p50, 500), (lateness.p99, 990), (lateness.max, 1000)] {
            let micros = found.as_nanos() as f64 / 1e3;
            assert!((micros / f64::from(expected) - 1.0).abs() < 0.01, "{micros} us, {expected} expected");
        }
    }

    #[test]
    fn a_run_is_valid_within_the_bounds_only() {
        let on_time = measurements(&[100; 200]);
        assert_eq!(on_time.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        assert!(on_time.complaints(&Bounds::USUAL, 3)[0].starts_with("3 packets were lost"));
        let late = measurements(&[[100; 97].as_slice(), &[2000; 3]].concat());
        assert!(late.complaints(&Bounds::USUAL, 0)[0].starts_with("3 of 100 packets"));
        let stalled = measurements(&[[100; 999].as_slice(), &[60_000]].concat());
        assert!(stalled.complaints(&Bounds::USUAL, 0)[0].contains("60"));
        // The bound `few` allows one late packet of four, but late periods must also stay below the allowed share of
        // the time.
        let mut short = measurements(&[100, 100, 100, 1300]);
        short.active = Some([Time::ZERO, Time::from_nanos(100_000_000)]);
        assert_eq!(short.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        short.active = Some([Time::ZERO, Time::from_nanos(20_000_000)]);
        assert!(short.complaints(&Bounds::USUAL, 0)[0].contains("6.5 % of the time"));
        // If packets wait for each other, their late periods overlap and count once: 30 packets are late for 2 ms of
        // 100 ms.
        let mut together = measurements(&[[100; 5000].as_slice(), &[2000; 30]].concat());
        together.active = Some([Time::ZERO, Time::from_nanos(100_000_000)]);
        assert_eq!(together.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        let mut refused = measurements(&[]);
        refused.deliver(Time::ZERO, Time::ZERO, End::Server, 40, false);
        assert_eq!(refused.complaints(&Bounds::USUAL, 0).len(), 1);
    }
}

//! How late packets were, what was lost, and whether that may be trusted.

use super::End;
use hdrhistogram::Histogram;
use lasthop_base::{Duration, Time};
use lasthop_wire::{LossReason, PerReason};

/// What has arrived at one end.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Packets on their way to this end, whatever became of them.
    pub offered: u64,
    /// Packets that arrived.
    pub delivered: u64,
    /// Their bytes, headers included.
    pub delivered_bytes: u64,
    /// Bytes of streams that this end has acknowledged.
    pub acknowledged_bytes: u64,
    /// TCP packets with payload on their way to this end, whatever became of them.
    pub stream_packets: u64,
    /// Packets lost on the way to this end.
    pub lost: PerReason<u64>,
    /// Packets that the kernel did not take at this end.
    pub refused: u64,
    /// Copies that links made of packets on their way to this end; not among `offered`.
    pub copied: u64,
    /// Packets that were given to this end with a bit turned over; among `delivered`, too.
    pub damaged: u64,
}

/// What was measured.
#[derive(Clone, Debug)]
pub struct Measured {
    /// At the server, at the client.
    pub tallies: [Tally; 2],
    /// The first and the last packet to enter.
    pub active: Option<[Time; 2]>,
    /// Of each packet, how long after it was due we had delivered it, that it joined too late included, ns.
    lateness: Histogram<u64>,
    /// Of each packet, how long after the kernel had handed it over it joined the path, ns.
    entry: Histogram<u64>,
    /// Packets that are later than this are late.
    bound: Duration,
    /// Until when late packets have been late, and for how long in all: packets that wait together count once.
    late_until: Time,
    late_for: Duration,
}

/// Percentiles of the lateness.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Lateness {
    /// Half of all packets were no later.
    pub p50: Duration,
    /// 99 of 100 packets were no later.
    pub p99: Duration,
    /// The latest.
    pub max: Duration,
}

impl Lateness {
    fn of(histogram: &Histogram<u64>) -> Lateness {
        let at = |quantile| Duration::from_nanos(histogram.value_at_quantile(quantile));
        Lateness { p50: at(0.5), p99: at(0.99), max: Duration::from_nanos(histogram.max()) }
    }
}

/// Within these a run is valid.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Bounds {
    /// A packet that is later than this is late.
    pub late: Duration,
    /// So many percent of the packets may be late …
    pub share_pct: f64,
    /// … and so few always: less is no share.
    pub few: u64,
    /// So many percent of the time from the first packet to the last may pass while packets are late.
    pub time_pct: f64,
    /// Of the largest lateness.
    pub max: Duration,
}

impl Bounds {
    /// A millisecond for 99 of 100 packets, or for all but two; 5 % of the time; 50 ms for all; no packet lost in a device.
    pub const USUAL: Bounds = Bounds {
        late: Duration::from_millis(1),
        share_pct: 1.0,
        few: 2,
        time_pct: 5.0,
        max: Duration::from_millis(50),
    };
}

/// The largest lateness that is told apart: a minute.
const LONGEST_NANOS: u64 = 60_000_000_000;

impl Default for Measured {
    fn default() -> Measured {
        Measured::judged_by(&Bounds::USUAL)
    }
}

impl Measured {
    /// Nothing yet; to be judged by these bounds.
    pub fn judged_by(bounds: &Bounds) -> Measured {
        // Two digits; the bounds are constants that the histogram accepts.
        let histogram = Histogram::new_with_bounds(1, LONGEST_NANOS, 2).or_else(|_| Histogram::new(2));
        let Ok(lateness) = histogram else { unreachable!("two significant digits are allowed") };
        Measured {
            tallies: [Tally::default(); 2],
            active: None,
            entry: lateness.clone(),
            lateness,
            bound: bounds.late,
            late_until: Time::ZERO,
            late_for: Duration::ZERO,
        }
    }

    /// A packet joined `late` after the kernel had handed it over.
    pub(crate) fn enter(&mut self, now: Time, from: End, late: Duration) {
        self.entry.saturating_record(late.as_nanos().max(1));
        let to = if from == End::Server { End::Client } else { End::Server };
        self.tallies[to as usize].offered += 1;
        let first = self.active.map_or(now, |[first, _]| first);
        self.active = Some([first, now]);
    }

    /// A packet was delivered that was due then.
    pub(crate) fn deliver(&mut self, due: Time, now: Time, at: End, bytes: usize, taken: bool) {
        let tally = &mut self.tallies[at as usize];
        match taken {
            true => {
                tally.delivered += 1;
                tally.delivered_bytes += bytes as u64;
            }
            false => tally.refused += 1,
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
        self.tallies[to as usize].lost[reason] += 1;
    }

    pub(crate) fn copy(&mut self, forward: bool) {
        let to = if forward { End::Client } else { End::Server };
        self.tallies[to as usize].copied += 1;
    }

    pub(crate) fn damage(&mut self, at: End) {
        self.tallies[at as usize].damaged += 1;
    }

    pub(crate) fn acknowledge(&mut self, at: End, bytes: u64) {
        self.tallies[at as usize].acknowledged_bytes += bytes;
    }

    /// A TCP packet with payload is on its way to an end.
    pub(crate) fn offer_stream(&mut self, to: End) {
        self.tallies[to as usize].stream_packets += 1;
    }

    /// How late packets were delivered, that they joined too late included.
    pub fn lateness(&self) -> Lateness {
        Lateness::of(&self.lateness)
    }

    /// How late they joined after the kernel had handed them over.
    pub fn entry(&self) -> Lateness {
        Lateness::of(&self.entry)
    }

    /// From the first packet to the last one.
    pub fn active(&self) -> Duration {
        self.active.map_or(Duration::ZERO, |[first, last]| last.since(first))
    }

    /// Bytes of streams acknowledged by this end, over [`Measured::active`]; kbit/s. `None` if no TCP payload was sent to
    /// this end: datagrams are not acknowledged in a way that the path could read.
    pub fn goodput_kbps(&self, to: End) -> Option<f64> {
        let (seconds, tally) = (self.active().as_secs(), &self.tallies[to as usize]);
        let bits = tally.acknowledged_bytes as f64 * 8.0;
        (tally.stream_packets > 0).then(|| if seconds > 0.0 { bits / seconds / 1e3 } else { 0.0 })
    }

    /// Why the run may not be trusted; empty if it may. `lost_in_devices`: packets that the kernel could not put into
    /// the devices' rings.
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
        let refused: u64 = self.tallies.iter().map(|tally| tally.refused).sum();
        if lost_in_devices + refused > 0 {
            complaints.push(format!("{} packets were lost in the TUN devices", lost_in_devices + refused));
        }
        complaints
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(lateness_micros: &[u64]) -> Measured {
        let mut measured = Measured::default();
        for late in lateness_micros {
            let due = Time::from_nanos(1_000_000);
            measured.deliver(due, due + Duration::from_micros(*late), End::Client, 1500, true);
        }
        measured
    }

    #[test]
    fn percentiles_are_those_of_the_packets() {
        let lateness = measured(&(1..=1000).collect::<Vec<u64>>()).lateness();
        for (found, expected) in [(lateness.p50, 500), (lateness.p99, 990), (lateness.max, 1000)] {
            let micros = found.as_nanos() as f64 / 1e3;
            assert!((micros / f64::from(expected) - 1.0).abs() < 0.01, "{micros} us, {expected} expected");
        }
    }

    #[test]
    fn a_run_is_valid_within_the_bounds_only() {
        let on_time = measured(&[100; 200]);
        assert_eq!(on_time.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        assert!(on_time.complaints(&Bounds::USUAL, 3)[0].starts_with("3 packets were lost"));
        let late = measured(&[[100; 97].as_slice(), &[2000; 3]].concat());
        assert!(late.complaints(&Bounds::USUAL, 0)[0].starts_with("3 of 100 packets"));
        let stalled = measured(&[[100; 999].as_slice(), &[60_000]].concat());
        assert!(stalled.complaints(&Bounds::USUAL, 0)[0].contains("60"));
        // One of four packets of a short command is no share; by time it counts.
        let mut short = measured(&[100, 100, 100, 1300]);
        short.active = Some([Time::ZERO, Time::from_nanos(100_000_000)]);
        assert_eq!(short.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        short.active = Some([Time::ZERO, Time::from_nanos(20_000_000)]);
        assert!(short.complaints(&Bounds::USUAL, 0)[0].contains("6.5 % of the time"));
        // Packets that wait for each other are late together: 30 for 2 ms, of 100 ms.
        let mut together = measured(&[[100; 5000].as_slice(), &[2000; 30]].concat());
        together.active = Some([Time::ZERO, Time::from_nanos(100_000_000)]);
        assert_eq!(together.complaints(&Bounds::USUAL, 0), Vec::<String>::new());
        let mut refused = measured(&[]);
        refused.deliver(Time::ZERO, Time::ZERO, End::Server, 40, false);
        assert_eq!(refused.complaints(&Bounds::USUAL, 0).len(), 1);
    }
}

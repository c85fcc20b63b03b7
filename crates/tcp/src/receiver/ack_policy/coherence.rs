//! Congestion coherence for a mobile receiver (Liu and Jain, HICSS 2003). The rule assumes that routers mark packets
//! before they drop packets, and that congestion lasts longer than one packet. If packets near a hole are marked, the
//! hole indicates congestion, and duplicate ACKs are sent at once. If these packets are unmarked, the hole indicates a
//! wireless loss, and duplicate ACKs wait for a link layer repair. For a mobile sender, use the `loss_discrimination`
//! mechanism `coherence`.
//!
//! # Our choices
//! The implementation follows abstracts and memory, not the full paper. A mark is near a hole if one of the `before`
//! packets before the hole or one of the `behind` packets after the hole carries the mark. Duplicate ACKs wait at most
//! `limit`, because the receiver cannot observe the link's repair time. Every segment in order is acknowledged at once.
//! If the bottleneck does not mark packets, every loss counts as wireless.

use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "coherence",
        summary: "immediate ACKs; duplicate ACKs for a hole among unmarked packets wait for a link layer repair",
        source: "Liu and Jain, HICSS 2003 (abstracts; rule from memory)",
        parameters: &[
            Parameter {
                name: "before",
                unit: Unit::Count(0, 1000),
                default: Some("1"),
                doc: "packets before the hole checked for marks",
            },
            Parameter {
                name: "behind",
                unit: Unit::Count(1, 1000),
                default: Some("1"),
                doc: "packets after the hole checked for marks",
            },
            Parameter {
                name: "limit",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("100 ms"),
                doc: "longest wait of the first duplicate ACK",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Coherence {
            before: values.count("before"),
            behind: values.count("behind"),
            limit: values.duration("limit"),
            unmarked: u64::MAX,
            duplicates: 0,
            congested: false,
            held: 0,
            acks_due: 1,
        })
    },
};

struct Coherence {
    before: u64,
    behind: u64,
    limit: Duration,
    /// Number of unmarked packets received in order since the last marked packet.
    unmarked: u64,
    /// Number of packets after the hole that have arrived so far.
    duplicates: u64,
    /// Whether duplicate ACKs for the hole are sent at once, because a mark was near the hole or the wait for a repair
    /// has expired.
    congested: bool,
    held: u32,
    acks_due: u32,
}

impl AckPolicy for Coherence {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        self.acks_due = 1;
        if arrival.unacknowledged > 0 {
            (self.duplicates, self.held) = (0, 0);
            self.unmarked = if arrival.marked { 0 } else { self.unmarked.saturating_add(1) };
            return AckTime::Now;
        }
        if !arrival.repeated {
            self.duplicates += 1;
            if self.duplicates == 1 {
                self.congested = self.unmarked < self.before;
            }
            self.congested |= arrival.marked && self.duplicates <= self.behind;
            if !self.congested && !arrival.marked && self.limit > Duration::ZERO {
                self.held += 1;
                return AckTime::After(self.limit);
            }
        }
        self.acks_due = 1 + std::mem::take(&mut self.held);
        AckTime::Now
    }

    fn holds(&self) -> bool {
        true
    }

    fn release(&mut self) -> u32 {
        match std::mem::take(&mut self.held) {
            0 => self.acks_due,
            held => {
                // The wait has expired without a repair, so further duplicate ACKs for this hole are sent at once.
                self.congested = true;
                held
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn in_order(marked: bool) -> DataArrival {
        DataArrival { marked, ..DataArrival::plain(Time::ZERO, 1000) }
    }

    fn behind(marked: bool) -> DataArrival {
        DataArrival { unacknowledged: 0, urgent: true, ..in_order(marked) }
    }

    #[test]
    fn a_mark_beside_the_hole_says_congestion() {
        let waits = AckTime::After(Duration::from_millis(100));
        for (before, after, first, second) in [
            (false, false, waits, waits),
            (true, false, AckTime::Now, AckTime::Now),
            (false, true, AckTime::Now, AckTime::Now),
        ] {
            let mut ack_policy = (MECHANISM.build)(&MECHANISM.info.defaults());
            ack_policy.on_data(&in_order(before));
            assert_eq!(ack_policy.on_data(&behind(after)), first, "{before} {after}");
            assert_eq!(ack_policy.on_data(&behind(false)), second, "{before} {after}");
        }
    }

    /// With `before = 2`, a mark two packets before the hole is near the hole; a mark three packets before the hole is
    /// not.
    #[test]
    fn a_mark_is_near_within_so_many_packets() {
        let waits = AckTime::After(Duration::from_millis(100));
        let mut values = MECHANISM.info.defaults();
        values.set("before", lasthop_base::Value::Count(2));
        for (unmarked, first) in [(0, AckTime::Now), (1, AckTime::Now), (2, waits), (3, waits)] {
            let mut ack_policy = (MECHANISM.build)(&values);
            ack_policy.on_data(&in_order(true));
            (0..unmarked).for_each(|_| _ = ack_policy.on_data(&in_order(false)));
            assert_eq!(ack_policy.on_data(&behind(false)), first, "{unmarked}");
        }
    }

    #[test]
    fn what_waits_leaves_with_a_later_mark_or_when_its_time_is_over() {
        let mut ack_policy = (MECHANISM.build)(&MECHANISM.info.defaults());
        ack_policy.on_data(&in_order(false));
        (0..3).for_each(|_| _ = ack_policy.on_data(&behind(false)));
        assert_eq!((ack_policy.on_data(&behind(true)), ack_policy.release()), (AckTime::Now, 4));
        (0..2).for_each(|_| _ = ack_policy.on_data(&behind(false)));
        assert_eq!(ack_policy.release(), 2);
        assert_eq!(ack_policy.on_data(&behind(false)), AckTime::Now, "one wait per hole");
    }
}

//! Delayed duplicate ACKs (Mehta and Vaidya, TR 1997; Vaidya, Mehta, Perkins and Montenegro, WCMC 2(1) 2002). The third
//! and later duplicate ACKs wait for a repair by the link layer. If the hole is filled within `wait`, the waiting ACKs
//! are discarded; otherwise all of them are sent at once. The base station need not understand TCP, but its link must
//! deliver packets out of order during a repair.
//!
//! # Our choices
//! The implementation follows the abstract and memory, not the full paper. The parameter `wait` should slightly exceed
//! the duration of a repair; the default fits three retransmissions on the link of the hasegawa study. A marked or
//! duplicate data segment releases the held ACKs. With SACK, all released ACKs carry the same, current SACK blocks. Not
//! modelled: link layer reports that identify the holes (ELNR, koga §2.1.8).

use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dupack_delay",
        summary: "immediate ACKs; the third and later duplicate ACKs wait for a link layer repair",
        source: "Mehta and Vaidya 1997; Vaidya et al., WCMC 2(1) 2002 (abstract; rule from memory)",
        parameters: &[
            Parameter {
                name: "wait",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("20 ms"),
                doc: "longest wait of the first held duplicate ACK",
            },
            Parameter {
                name: "from",
                unit: Unit::Count(1, 1000),
                default: Some("3"),
                doc: "number of the first duplicate ACK that waits",
            },
            Parameter {
                name: "every",
                unit: Unit::Count(1, 64),
                default: Some("1"),
                doc: "full segments in order per ACK (2: delayed ACKs)",
            },
            Parameter {
                name: "after",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("40 ms"),
                doc: "delayed ACK timer if every is above 1",
            },
        ],
        only_if: &[OnlyIf { parameters: &["after"], other: "every", is: Is::Not("1") }],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(DupackDelay {
            wait: values.duration("wait"),
            from: values.count("from") as u32,
            every: values.count("every"),
            after: values.duration("after"),
            duplicates: 0,
            held: 0,
            acks_due: 1,
        })
    },
};

struct DupackDelay {
    wait: Duration,
    from: u32,
    every: u64,
    after: Duration,
    /// Number of duplicate ACKs, sent or held, since the cumulative ACK last advanced.
    duplicates: u32,
    held: u32,
    acks_due: u32,
}

impl AckPolicy for DupackDelay {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        self.acks_due = 1;
        if arrival.unacknowledged > 0 {
            // The hole is filled, so the held duplicate ACKs are discarded.
            (self.duplicates, self.held) = (0, 0);
            return if arrival.urgent || arrival.unacknowledged >= self.every * arrival.segment {
                AckTime::Now
            } else {
                AckTime::After(self.after)
            };
        }
        if arrival.repeated || arrival.marked {
            self.acks_due = 1 + std::mem::take(&mut self.held);
            return AckTime::Now;
        }
        self.duplicates += 1;
        if self.duplicates < self.from || self.wait == Duration::ZERO {
            return AckTime::Now;
        }
        self.held += 1;
        AckTime::After(self.wait)
    }

    fn holds(&self) -> bool {
        true
    }

    fn release(&mut self) -> u32 {
        match std::mem::take(&mut self.held) {
            0 => self.acks_due,
            held => held,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Time;

    fn duplicate() -> DataArrival {
        DataArrival { unacknowledged: 0, urgent: true, ..DataArrival::plain(Time::ZERO, 1000) }
    }

    fn ack_policy() -> Box<dyn AckPolicy> {
        (MECHANISM.build)(&MECHANISM.info.defaults())
    }

    #[test]
    fn two_go_at_once_and_the_others_wait_until_their_time() {
        let mut ack_policy = ack_policy();
        let wait = AckTime::After(Duration::from_millis(20));
        let times: Vec<AckTime> = (0..5).map(|_| ack_policy.on_data(&duplicate())).collect();
        assert_eq!(times, [AckTime::Now, AckTime::Now, wait, wait, wait]);
        assert_eq!(ack_policy.release(), 3, "the timer expired");
    }

    #[test]
    fn a_hole_that_closes_in_time_is_never_told() {
        let mut ack_policy = ack_policy();
        (0..5).for_each(|_| _ = ack_policy.on_data(&duplicate()));
        let closes =
            DataArrival { unacknowledged: 6000, urgent: true, ..DataArrival::plain(Time::ZERO, 1000) };
        assert_eq!((ack_policy.on_data(&closes), ack_policy.release()), (AckTime::Now, 1));
        assert_eq!(ack_policy.on_data(&duplicate()), AckTime::Now, "a new ACK resets the count");
    }

    #[test]
    fn what_is_to_be_told_takes_with_it_what_waits() {
        let mut ack_policy = ack_policy();
        (0..4).for_each(|_| _ = ack_policy.on_data(&duplicate()));
        assert_eq!(ack_policy.on_data(&DataArrival { marked: true, ..duplicate() }), AckTime::Now);
        assert_eq!(ack_policy.release(), 3);
    }
}

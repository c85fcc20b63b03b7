//! Loses the packets with the given numbers, so that the loss pattern is the same for every sender.

use super::{Build, Channel, Reception, Transmission};
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "scripted",
        summary: "loses exactly the packets with the given numbers",
        source: "ns-2's ErrorModel/List; Fall and Floyd 1996 §6",
        parameters: &[Parameter {
            name: "packets",
            unit: Unit::Counts,
            default: Some("14"),
            doc: "numbers of the packets to lose, ascending; 0 is the first packet over the air",
        }],
        ..Info::PLAIN
    },
    build: &|values, _| {
        Box::new(Scripted { lost: values.counts("packets").iter().copied().collect(), next: 0 })
    },
};

struct Scripted {
    /// Numbers of the packets that will still be lost, in ascending order.
    lost: VecDeque<u64>,
    next: u64,
}

impl Channel for Scripted {
    /// Loses a packet if its number is in the list. Numbers count first transmissions only, and retransmissions by the
    /// link layer always arrive.
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        if transmission.attempt > 0 {
            return Reception::Intact;
        }
        let number = self.next;
        self.next += 1;
        if self.lost.front() == Some(&number) {
            self.lost.pop_front();
            return Reception::Lost;
        }
        Reception::Intact
    }

    fn draws(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel::ALL;
    use lasthop_base::{Choice, Stream, Time};
    use lasthop_wire::Priority;

    #[test]
    fn exactly_the_named_packets_are_lost_and_their_repeats_arrive() {
        let mut choice = Choice::named(ALL, "scripted");
        let value = Unit::Counts.parse("0, 2,3").expect("a list");
        choice.values.set("packets", value);
        let mut channel = (choice.build)(&choice.values, Stream::named(1, "air"));
        let (start, end, priority) = (Time::ZERO, Time::ZERO, Priority::NORMAL);
        let mut lost = Vec::new();
        for number in 0..10 {
            if channel.transmit(&Transmission { start, end, bytes: 1000, priority, attempt: 0 })
                == Reception::Lost
            {
                lost.push(number);
                let again = Transmission { start, end, bytes: 1000, priority, attempt: 1 };
                assert_eq!(channel.transmit(&again), Reception::Intact);
            }
        }
        assert_eq!(lost, [0, 2, 3]);
    }
}

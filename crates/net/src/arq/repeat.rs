//! ARQ with a bounded number of retransmissions, each after a fixed delay (hasegawa §4.1). The paper does not define
//! the delay of later retransmissions or the order of delivery; the parameter `mode` offers all interpretations.

use super::{Arq, ArqOutcome, Build, LinkLayer};
use crate::channel::{Channel, Reception, Transmission};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "repeat",
        summary: "bounded number of retransmissions of a lost packet",
        source: "hasegawa §4.1",
        parameters: &[
            Parameter {
                name: "transmissions",
                unit: Unit::Count(1, 1000),
                default: Some("4"),
                doc: "transmissions per packet, the first included; then the packet is discarded",
            },
            Parameter {
                name: "delay",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(10)),
                default: Some("6.16 ms"),
                doc: "delay of a retransmission (default: the link's round trip plus 1040 bytes at 2 Mbit/s)",
            },
            Parameter {
                name: "mode",
                unit: Unit::Word(&["once", "per_repeat", "overtaking", "stop_and_wait"]),
                default: Some("once"),
                doc: "once: one delay for all retransmissions of a packet; per_repeat: one per retransmission; \
                      overtaking: as per_repeat, but later packets may overtake; stop_and_wait: as per_repeat, \
                      but the link is blocked meanwhile",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        LinkLayer::per_packet(Repeat {
            transmissions: values.count("transmissions") as u32,
            delay: values.duration("delay"),
            mode: match values.word("mode") {
                "once" => Mode::Once,
                "per_repeat" => Mode::PerRepeat,
                "overtaking" => Mode::Overtaking,
                _ => Mode::StopAndWait,
            },
        })
    },
};

struct Repeat {
    transmissions: u32,
    delay: Duration,
    mode: Mode,
}

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Once,
    PerRepeat,
    Overtaking,
    StopAndWait,
}

impl Arq for Repeat {
    fn retransmit(&mut self, transmission: &Transmission, channel: &mut dyn Channel) -> ArqOutcome {
        let mut attempt = 0;
        let is_delivered = loop {
            if attempt + 1 == self.transmissions {
                break false;
            }
            attempt += 1;
            let later = self.delay * u64::from(attempt);
            let repeat = Transmission {
                start: transmission.start + later,
                end: transmission.end + later,
                attempt,
                ..*transmission
            };
            if channel.transmit(&repeat) == Reception::Intact {
                break true;
            }
        };
        let delay = match self.mode {
            Mode::Once => self.delay * u64::from(attempt.min(1)),
            _ => self.delay * u64::from(attempt),
        };
        let occupancy = if self.mode == Mode::StopAndWait { delay } else { Duration::ZERO };
        ArqOutcome { is_delivered, occupancy, delay, attempts: attempt + 1 }
    }

    fn keeps_order(&self) -> bool {
        self.mode != Mode::Overtaking
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Losing, MS, at};
    use lasthop_base::Time;
    use lasthop_wire::Priority;

    fn repeat(transmissions: u32, mode: Mode) -> Repeat {
        Repeat { transmissions, delay: MS * 6, mode }
    }

    const FIRST: Transmission = Transmission {
        start: Time::ZERO,
        end: Time::from_nanos(1),
        bytes: 1000,
        priority: Priority::LOW,
        attempt: 0,
    };

    /// The third transmission arrives, after two delays of 6 ms. With `once`, the retransmissions together take one
    /// delay. With `stop_and_wait`, the retransmissions occupy the link.
    #[test]
    fn delays_and_occupancies_of_each_mode() {
        for (mode, delay, occupancy) in [
            (Mode::Once, 6, 0),
            (Mode::PerRepeat, 12, 0),
            (Mode::Overtaking, 12, 0),
            (Mode::StopAndWait, 12, 12),
        ] {
            let mut channel = Losing::new(&[0]);
            let outcome = repeat(4, mode).retransmit(&FIRST, &mut channel);
            let (delay, occupancy) = (MS * delay, MS * occupancy);
            assert_eq!(outcome, ArqOutcome { is_delivered: true, occupancy, delay, attempts: 3 });
            let seen: Vec<_> = channel.seen.iter().map(|it| (it.start, it.end, it.attempt)).collect();
            let end = |millis| at(millis) + Duration::from_nanos(1);
            assert_eq!(seen, [(at(6), end(6), 1), (at(12), end(12), 2)]);
            assert!(channel.seen.iter().all(|it| (it.bytes, it.priority) == (1000, Priority::LOW)));
        }
    }

    /// A packet is given up after its last transmission. With one transmission, the loss costs no time.
    #[test]
    fn packets_are_given_up() {
        let of = |transmissions, mode| {
            let mut channel = Losing::new(&[0, 1, 2, 3, 4]);
            let outcome = repeat(transmissions, mode).retransmit(&FIRST, &mut channel);
            (outcome.is_delivered, outcome.attempts, outcome.delay, channel.seen.len())
        };
        assert_eq!(of(3, Mode::PerRepeat), (false, 3, MS * 12, 2));
        assert_eq!(of(3, Mode::Once), (false, 3, MS * 6, 2));
        assert_eq!(of(1, Mode::Once), (false, 1, Duration::ZERO, 0));
        assert_eq!(of(1, Mode::StopAndWait), (false, 1, Duration::ZERO, 0));
    }

    /// Two or three of the transmissions that end at 10, 16 and 22 ms failed. Each failure is known 6 ms after the
    /// end of the transmission.
    #[test]
    fn failures_are_spread_over_the_delay() {
        for (is_delivered, failed) in [(true, 2), (false, 3)] {
            let outcome = ArqOutcome { is_delivered, occupancy: Duration::ZERO, delay: MS * 12, attempts: 3 };
            let failures = outcome.failures(at(10));
            assert_eq!((failures.before, failures.failed, failures.since), (0, failed, at(10)));
            assert_eq!(failures.apart, MS * 6);
            let known = [0, 1, 2, 3, 4].map(|number| failures.at(number));
            let last = (!is_delivered).then_some(at(28));
            assert_eq!(known, [None, Some(at(16)), Some(at(22)), last, None]);
        }
        let single = ArqOutcome { is_delivered: false, occupancy: Duration::ZERO, delay: MS, attempts: 1 };
        assert_eq!(single.failures(at(10)).apart, MS);
        // Failures 3 and 4 are reported. The transmission of failure 3 ended at 10 ms.
        let later = crate::TransmissionFailures { before: 2, failed: 2, since: at(10), apart: MS };
        let known = [1, 2, 3, 4, 5].map(|number| later.at(number));
        assert_eq!(known, [None, None, Some(at(11)), Some(at(12)), None]);
    }
}

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

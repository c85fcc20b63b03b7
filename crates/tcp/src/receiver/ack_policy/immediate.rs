//! Immediate ACKs: every data segment is acknowledged at once.

use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "immediate",
        summary: "acknowledges every segment on arrival",
        source: "RFC 9293 §3.8.6.3; the papers' receiver",
        ..Info::PLAIN
    },
    build: &|_| Box::new(Immediate),
};

struct Immediate;

impl AckPolicy for Immediate {
    fn on_data(&mut self, _: &DataArrival) -> AckTime {
        AckTime::Now
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

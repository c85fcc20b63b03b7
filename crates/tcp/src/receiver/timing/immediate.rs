//! No delayed ACKs: every segment is acknowledged at once.

use super::{AckTiming, Arrival, Build, When};
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "immediate",
        summary: "every segment is acknowledged when it arrives",
        source: "RFC 9293 §3.8.6.3; the papers' receiver",
        ..Info::PLAIN
    },
    build: &|_| Box::new(Immediate),
};

struct Immediate;

impl AckTiming for Immediate {
    fn on_data(&mut self, _: &Arrival) -> When {
        When::Now
    }

    fn is_immediate(&self) -> bool {
        true
    }
}

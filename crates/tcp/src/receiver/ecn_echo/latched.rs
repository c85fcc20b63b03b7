//! ECE until CWR (RFC 3168 §6.1.3): after a mark, every ACK carries ECE until a segment with CWR arrives from the
//! sender.

use super::{Build, MarkEcho};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "latched",
        summary: "every ACK after a mark carries ECE until the sender answers with CWR",
        source: "RFC 3168 §6.1.3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Latched { echoes: false }),
};

struct Latched {
    echoes: bool,
}

impl MarkEcho for Latched {
    fn on_data(&mut self, marked: bool) -> bool {
        self.echoes |= marked;
        self.echoes
    }

    fn on_reduced(&mut self) -> bool {
        self.echoes = false;
        false
    }
}

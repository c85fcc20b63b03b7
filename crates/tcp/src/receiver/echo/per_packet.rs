//! ECE per packet: each packet's mark in its own ACK, so that a duplicate ACK tells the state of the queue that its
//! packet has passed.
//!
//! A marked packet is acknowledged at once, whatever the timing; an ACK that a packet without a mark was waiting for
//! goes out with it and carries the echo for both.

use super::{Build, MarkEcho};
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "per_packet",
        summary: "an ACK echoes the mark of the packet that it answers",
        source: "saad §3.B; Xu, Tian, Ansari 2004 (TCP-Jersey)",
        ..Info::PLAIN
    },
    build: &|_| Box::new(PerPacket { echoes: false }),
};

struct PerPacket {
    echoes: bool,
}

impl MarkEcho for PerPacket {
    fn on_data(&mut self, marked: bool) -> bool {
        self.echoes = marked;
        marked
    }

    fn on_reduced(&mut self) -> bool {
        // CWR means nothing here: the packet's own mark, told next, decides.
        self.echoes
    }
}

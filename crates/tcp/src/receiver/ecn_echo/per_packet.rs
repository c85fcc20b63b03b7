//! ECE per packet: each ACK echoes its own packet's mark, so a duplicate ACK reports the queue passed by that packet.
//!
//! A marked packet is acknowledged at once under any ACK policy; its ACK covers earlier unmarked packets, too.

use super::{Build, MarkEcho};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "per_packet",
        summary: "each ACK echoes the mark of its own packet",
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
        // CWR has no effect: the next packet's mark decides.
        self.echoes
    }
}

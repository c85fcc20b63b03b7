//! ECE per packet: each ACK echoes the mark of the packet that caused the ACK. A duplicate ACK thus also reports
//! whether its packet was marked.
//!
//! A marked packet is acknowledged at once under any ACK policy. The ACK of a marked packet may also cover earlier
//! unmarked packets.

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
        // CWR has no effect, because the mark of the next packet determines the next echo.
        self.echoes
    }
}

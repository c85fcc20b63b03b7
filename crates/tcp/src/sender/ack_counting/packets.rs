//! Credit for whole acknowledged segments, as in older Linux. A partly acknowledged segment counts when the rest of it
//! is acknowledged. A segment that SACK reported earlier does not count when the cumulative ACK covers it.

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "packets",
        summary: "credits the whole segments completed by the ACK (Linux)",
        source: "Linux tcp_slow_start, tcp_cong_avoid_ai; hasegawa §2.3 (Linux 2.2 and later)",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Packets),
};

struct Packets;

impl AckCounting for Packets {
    fn credit(&mut self, ack: &AckEvent, mss: u64, _: Regime) -> u64 {
        u64::from(ack.segments) * mss
    }

    fn collects(&self) -> bool {
        true
    }
}

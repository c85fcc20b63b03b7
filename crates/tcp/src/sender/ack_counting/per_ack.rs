//! Credit of one segment for each new ACK (RFC 2581). The papers about ACK splitting assume such a sender.

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "per_ack",
        summary: "credits one segment per new ACK, regardless of its bytes",
        source: "RFC 2581 §3.1; hasegawa §2.3",
        ..Info::PLAIN
    },
    build: &|_| Box::new(PerAck),
};

struct PerAck;

impl AckCounting for PerAck {
    fn credit(&mut self, _: &AckEvent, mss: u64, _: Regime) -> u64 {
        mss
    }
}

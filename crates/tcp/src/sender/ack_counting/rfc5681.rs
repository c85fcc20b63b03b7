//! Byte counting in slow start and ACK counting in avoidance (RFC 5681 §3.1, Eq. 2 and 3).

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "rfc5681",
        summary: "adds min(N, SMSS) for N acknowledged bytes in slow start, counts ACKs in avoidance",
        source: "RFC 5681 §3.1, Eq. 2 and 3",
        ..Info::PLAIN
    },
    build: &|_| Box::new(Rfc5681),
};

struct Rfc5681;

impl AckCounting for Rfc5681 {
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64 {
        match regime {
            Regime::SlowStart | Regime::AfterTimeout => ack.acked.min(mss),
            Regime::Avoidance => mss,
        }
    }
}

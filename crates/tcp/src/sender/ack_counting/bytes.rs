//! Appropriate byte counting (RFC 3465): cwnd grows by the bytes acknowledged, so that ACK splitting by the receiver
//! has no effect.

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bytes",
        summary: "credits the bytes acknowledged, at most L segments in slow start (ABC)",
        source: "RFC 3465 §2",
        parameters: &[Parameter {
            name: "limit",
            unit: Unit::Count(1, 2),
            default: Some("2"),
            doc: "L: largest growth for one ACK in slow start, segments; 1 after a timeout (RFC 3465 §2.2, §2.3)",
        }],
        ..Info::PLAIN
    },
    build: &|values| Box::new(ByteCounting { limit: values.count("limit") }),
};

struct ByteCounting {
    limit: u64,
}

impl AckCounting for ByteCounting {
    fn credit(&mut self, ack: &AckEvent, mss: u64, regime: Regime) -> u64 {
        match regime {
            Regime::SlowStart => ack.acked.min(self.limit * mss),
            Regime::AfterTimeout => ack.acked.min(mss),
            Regime::Avoidance => ack.acked,
        }
    }

    fn collects(&self) -> bool {
        true
    }
}

//! Whole segments delivered, as Linux counts since it knows what each ACK delivers: those that the ACK completes, and with
//! them those that its SACK blocks report; also by the ACK that ends a recovery.

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "delivered",
        summary: "an ACK is worth the whole segments it delivers, SACK's included, also at a recovery's end (Linux)",
        source: "Linux since 4.6 (netdev, 2016: tcp_cong_control); docs/validation.md",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Delivered),
};

struct Delivered;

impl AckCounting for Delivered {
    fn credit(&mut self, ack: &AckEvent, mss: u64, _: Regime) -> u64 {
        u64::from(ack.segments) * mss + ack.reported
    }

    fn collects(&self) -> bool {
        true
    }

    fn counts_end(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ACK that completes two segments and reports a third is worth three.
    #[test]
    fn what_sack_reports_counts() {
        let ack =
            AckEvent { acked: 5000, segments: 2, delivered: 3000, reported: 1000, ..AckEvent::default() };
        assert_eq!(Delivered.credit(&ack, 1000, Regime::Avoidance), 3000);
        assert!(Delivered.counts_end());
    }
}

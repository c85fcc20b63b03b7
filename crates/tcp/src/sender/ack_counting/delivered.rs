//! ACK counting by delivered segments, as in Linux. An ACK earns credit for the growth of cwnd. The credit covers each
//! segment that the ACK acknowledges completely or newly SACKs. The ACK that ends a recovery also earns credit.

use super::{AckCounting, Build, Regime};
use crate::sender::congestion::AckEvent;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "delivered",
        summary: "credits cwnd growth with each segment acknowledged or SACKed, also by a recovery's last ACK (Linux)",
        source: "Linux since 4.6 (netdev, 2016: tcp_cong_control); docs/development/validation/linux.md",
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

    #[test]
    fn what_sack_reports_counts() {
        let ack =
            AckEvent { acked: 5000, segments: 2, delivered: 3000, reported: 1000, ..AckEvent::default() };
        assert_eq!(Delivered.credit(&ack, 1000, Regime::Avoidance), 3000);
        assert!(Delivered.counts_end());
    }
}

//! ECN echo on the three duplicate ACKs (Ramani and Karandikar, ICPWC 2000). huang §2: "if a sender receives three
//! duplicate ACKs with the CE (Congestion Experienced) bit set, the sender infers that a segment loss due to congestion
//! has occurred". Without an echo the loss counts as corruption, so the segment is retransmitted and cwnd stays.
//!
//! # Our choices
//! Source: the sentence above and the abstract, not the paper itself. If a recovery begins with fewer than three
//! duplicate ACKs, the loss is congestion only if each of these ACKs has an echo. Marks always reduce cwnd (RFC 3168).
//! A timeout counts as congestion.
//!
//! # Limits
//! If the bottleneck drops without marking, congestion losses count as corruption. The receiver sends ECE until CWR
//! arrives, so a corruption in this round trip counts as congestion.

use super::{AckHint, Build, Cause, LossDiscriminator};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ecn",
        summary: "treats a loss as congestion if the three duplicate ACKs echo a mark, else as corruption, which keeps \
                  the window",
        source: "Ramani and Karandikar, ICPWC 2000, as described in huang §2 and the abstract",
        parameters: &[Parameter {
            name: "duplicates",
            unit: Unit::Count(1, 3),
            default: Some("3"),
            doc: "duplicate ACKs with an echo required for congestion (huang §2: three)",
        }],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Ecn { needed: values.count("duplicates") as u32, duplicates: 0, marked: 0 }))
    },
};

struct Ecn {
    needed: u32,
    /// Number of duplicate ACKs since the last new ACK.
    duplicates: u32,
    /// Number of duplicate ACKs since the last new ACK that echo a mark.
    marked: u32,
}

impl LossDiscriminator for Ecn {
    fn on_ack(&mut self, ack: &AckHint) -> bool {
        if ack.advanced {
            (self.duplicates, self.marked) = (0, 0);
        }
        self.duplicates += u32::from(ack.duplicate);
        self.marked += u32::from(ack.duplicate && ack.marked);
        false
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        Some(if self.marked >= self.needed.min(self.duplicates) {
            Cause::Congestion
        } else {
            Cause::Wireless
        })
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Time, Value};
    use lasthop_wire::LossHint;

    fn verdict(needed: u64, marks: &[bool]) -> Option<Cause> {
        let mut values = MECHANISM.info.defaults();
        values.set("duplicates", Value::Count(needed));
        let mut discriminator = (MECHANISM.build)(&values).expect("a discriminator");
        let ack = |advanced, marked| AckHint {
            now: Time::ZERO,
            una: 1001,
            advanced,
            duplicate: !advanced,
            hint: LossHint::None,
            marked,
        };
        discriminator.on_ack(&ack(false, true));
        discriminator.on_ack(&ack(true, true));
        marks.iter().for_each(|marked| {
            discriminator.on_ack(&ack(false, *marked));
        });
        discriminator.on_loss(Range { start: 1001, end: 2001 })
    }

    #[test]
    fn three_echoes_are_congestion() {
        assert_eq!(verdict(3, &[true; 3]), Some(Cause::Congestion));
        assert_eq!(verdict(3, &[false, true, true]), Some(Cause::Wireless));
        assert_eq!(verdict(3, &[false; 3]), Some(Cause::Wireless));
        assert_eq!(verdict(1, &[false, false, true]), Some(Cause::Congestion));
        // If recovery begins at the first duplicate ACK, the echo on this ACK alone means congestion.
        assert_eq!(verdict(3, &[true]), Some(Cause::Congestion));
    }
}

//! Explicit loss notification, sender side: ACKs state the cause of a loss, wireless or congestion (middlebox `eln`).
//!
//! Balakrishnan and Katz (GLOBECOM 1998): a base station sets a bit in ACKs to a mobile sender if the loss was
//! wireless. The first duplicate ACK with the bit triggers the retransmission, and cwnd stays (ns-2's `tcp-eln`). In
//! huang §2 the bit means congestion (ACK_ELN, Ding and Jamalipour 2001), and losses without the bit are wireless. This
//! second meaning is unsafe: if ACKs are lost or no node sets the bit, congestion counts as wireless.
//!
//! # Our choices
//! If duplicate ACKs state different causes, the loss counts as congestion. A timeout also counts as congestion. The
//! sender's usual recovery repairs the loss, and cwnd does not grow meanwhile.

use super::{AckHint, Build, Cause, LossDiscriminator};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use lasthop_wire::LossHint;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "eln",
        summary: "uses the cause of a loss that ACKs state (ELN); keeps the window after a wireless loss",
        source: "Balakrishnan and Katz, GLOBECOM 1998; ns-2 tcp-eln; huang §2 (opposite meaning of the hint: ours)",
        parameters: &[
            Parameter {
                name: "threshold",
                unit: Unit::Count(1, 100),
                default: Some("1"),
                doc: "number of duplicate ACKs with the hint that trigger the retransmission; with 3 or more, the \
                      duplicate ACK threshold of recovery applies",
            },
            Parameter {
                name: "says",
                unit: Unit::Word(&["wireless", "congestion"]),
                default: Some("wireless"),
                doc: "meaning of the hint; with `congestion`, duplicate ACKs without a hint mean a wireless loss",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Eln {
            threshold: values.count("threshold") as u32,
            silence_is_air: values.word("says") == "congestion",
            hints: HintCount::default(),
        }))
    },
};

struct Eln {
    threshold: u32,
    silence_is_air: bool,
    hints: HintCount,
}

#[derive(Clone, Copy, Default)]
struct HintCount {
    wireless: u32,
    congestion: u32,
    nothing: u32,
}

impl LossDiscriminator for Eln {
    fn on_ack(&mut self, ack: &AckHint) -> bool {
        if ack.advanced {
            self.hints = HintCount::default();
        }
        if !ack.duplicate {
            return false;
        }
        match ack.hint {
            LossHint::Wireless => self.hints.wireless += 1,
            LossHint::Congestion => self.hints.congestion += 1,
            LossHint::None => self.hints.nothing += 1,
        }
        let HintCount { wireless, congestion, nothing } = self.hints;
        !self.silence_is_air && wireless == self.threshold && congestion + nothing == 0
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        let HintCount { wireless, congestion, nothing } = self.hints;
        let is_air =
            if self.silence_is_air { congestion == 0 } else { wireless > 0 && congestion + nothing == 0 };
        Some(if is_air { Cause::Wireless } else { Cause::Congestion })
    }

    fn discriminates_each_loss(&self) -> bool {
        true
    }
}

//! Explicit loss notification, the sender's half: an ACK says of the loss that it tells of whether the air or congestion was to
//! blame. Somebody on the way has put that there: the middlebox `eln`, in either polarity.
//!
//! Balakrishnan and Katz (GLOBECOM 1998) have the mobile send and the base station set a bit: the first duplicate with it
//! brings the retransmission, and the window stays (ns-2's `tcp-eln`). The opposite polarity, a bit that says congestion, is
//! what huang §2 describes (ACK_ELN, Ding and Jamalipour 2001): what is not marked is the air's. That is unsafe where ACKs are
//! lost or nobody marks.
//!
//! # What is ours
//! A loss that some duplicates call the air's and others congestion is congestion. The recovery that repairs is the
//! sender's own: its window does not grow meanwhile. A timeout is congestion, whatever was said.

use super::{Build, Cause, Heard, LossJudge};
use crate::ranges::Range;
use lasthop_base::{Info, Mechanism, Parameter, Unit};
use lasthop_wire::LossHint;

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "eln",
        summary: "what ACKs say: a loss on the air is repaired, and the window stays",
        source: "Balakrishnan and Katz, GLOBECOM 1998; ns-2 tcp-eln; huang §2 (the other polarity, our construction)",
        parameters: &[
            Parameter {
                name: "threshold",
                unit: Unit::Count(1, 100),
                default: Some("1"),
                doc: "duplicate with the hint that brings the retransmission; from the third on the recovery's own count does",
            },
            Parameter {
                name: "says",
                unit: Unit::Word(&["wireless", "congestion"]),
                default: Some("wireless"),
                doc: "what the hint says; with `congestion`, three duplicates without one are a loss on the air",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Some(Box::new(Eln {
            threshold: values.count("threshold") as u32,
            silence_is_air: values.word("says") == "congestion",
            heard: Count::default(),
        }))
    },
};

struct Eln {
    threshold: u32,
    silence_is_air: bool,
    heard: Count,
}

/// What the duplicates of the last new ACK have said.
#[derive(Clone, Copy, Default)]
struct Count {
    wireless: u32,
    congestion: u32,
    nothing: u32,
}

impl LossJudge for Eln {
    fn on_ack(&mut self, heard: &Heard) -> bool {
        if heard.advanced {
            self.heard = Count::default();
        }
        if !heard.duplicate {
            return false;
        }
        match heard.hint {
            LossHint::Wireless => self.heard.wireless += 1,
            LossHint::Congestion => self.heard.congestion += 1,
            LossHint::None => self.heard.nothing += 1,
        }
        let Count { wireless, congestion, nothing } = self.heard;
        !self.silence_is_air && wireless == self.threshold && congestion + nothing == 0
    }

    fn on_loss(&mut self, _: Range) -> Option<Cause> {
        let Count { wireless, congestion, nothing } = self.heard;
        let is_air = match self.silence_is_air {
            true => congestion == 0,
            false => wireless > 0 && congestion + nothing == 0,
        };
        Some(if is_air { Cause::Wireless } else { Cause::Congestion })
    }

    fn judges_losses(&self) -> bool {
        true
    }
}

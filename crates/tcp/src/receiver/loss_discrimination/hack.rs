//! HACK, receiver side: the receiver reports each damaged segment with an intact header in an ACK that does not count
//! as a duplicate (Balan, Lee, Kumar, Jacob, Seah and Ananda, INFOCOM 2001; Computer Networks 39, 2002). The sender
//! side is the sender's `loss_discrimination` mechanism `hack`.
//!
//! # Our choices
//! The implementation follows an abstract and an excerpt of a thesis, not the full paper. The option kind (253,
//! experimental) and the option length (8 bytes) are our choices. The header checksum, 4 bytes of every data segment,
//! is not modelled. Links deliver damaged packets only with ARQ `none` or `repeat`; with any other ARQ, the program
//! prints a note. Only the channels `bit_error` and `iid` model whether the header was damaged; other channels lose the
//! whole packet.

use super::{Build, Cause, Gap, LossDiscriminator, Observation};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism, Parameter, Stream, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hack",
        summary: "reports damaged segments with an intact header to the sender; no discrimination",
        source: "Balan et al., INFOCOM 2001 (abstract; rules partly from memory)",
        parameters: &[Parameter {
            name: "copies",
            unit: Unit::Count(1, 64),
            default: Some("1"),
            doc: "ACKs that report the same damaged segment",
        }],
        ..Info::PLAIN
    },
    build: &|values| Box::new(Hack { copies: values.count("copies") as u32 }),
};

struct Hack {
    copies: u32,
}

impl LossDiscriminator for Hack {
    fn observe(&mut self, _: &Observation) {}

    fn discriminate(&mut self, _: &Gap, _: &PathEstimate, _: &mut Stream) -> Cause {
        Cause::Congestion
    }

    fn damage_report_copies(&self) -> u32 {
        self.copies
    }

    fn discriminates(&self) -> bool {
        false
    }

    fn draws(&self) -> bool {
        false
    }
}

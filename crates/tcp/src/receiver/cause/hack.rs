//! HACK, the receiver's half: a segment that arrived damaged with a sound header is told to the sender by an ACK of its own,
//! which is no duplicate (Balan, Lee, Kumar, Jacob, Seah and Ananda, INFOCOM 2001; Computer Networks 39, 2002). The sender's
//! half is its judge of the same name.
//!
//! # What is ours
//! The paper was not at hand: an abstract and an excerpt of a thesis were. The option's kind (253, for experiments) and its 8
//! bytes are ours. The checksum of the header, which takes 4 bytes of every data segment, is not charged. Links hand up
//! damaged packets only if their ARQ is `none` or `repeat` (else a note says so), whatever queue they have, and only the channels `bit_error` and `iid` know whether a header
//! was hit: to others a lost packet is gone.

use super::{Build, Cause, Gap, LossCause, Observation};
use crate::receiver::estimate::PathEstimate;
use lasthop_base::{Info, Mechanism, Parameter, Stream, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "hack",
        summary: "judges nothing, but tells the sender of segments that arrived damaged with a sound header",
        source: "Balan et al., INFOCOM 2001 (abstract; rules partly from memory)",
        parameters: &[Parameter {
            name: "copies",
            unit: Unit::Count(1, 64),
            default: Some("1"),
            doc: "ACKs that tell of the same damaged segment",
        }],
        ..Info::PLAIN
    },
    build: &|values| Box::new(Hack { copies: values.count("copies") as u32 }),
};

struct Hack {
    copies: u32,
}

impl LossCause for Hack {
    fn observe(&mut self, _: &Observation) {}

    fn judge(&mut self, _: &Gap, _: &PathEstimate, _: &mut Stream) -> Cause {
        Cause::Congestion
    }

    fn tells_damage(&self) -> u32 {
        self.copies
    }

    fn judges(&self) -> bool {
        false
    }

    fn draws(&self) -> bool {
        false
    }
}

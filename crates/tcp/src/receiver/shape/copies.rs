//! ACK duplication: several identical acknowledgements, so that one survives the radio link (miyoshi).
//!
//! # A fixed number
//! The estimate of the loss rate and the choice of the number from it are in `by_loss.rs`.

use super::{AckShape, Build, Due, Pieces, Shape};
use crate::receiver::estimate::PathEstimate;
use lasthop_base::{Info, Live, Mechanism, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "copies",
        summary: "the same ACK several times, so that one survives",
        source: "miyoshi §2.2",
        parameters: &[Parameter {
            name: "count",
            unit: Unit::Count(1, 64),
            default: Some("2"),
            doc: "identical ACKs per acknowledgement",
        }],
        live: Some(Live { word: "copies", parameter: "count", usual: Some("2"), unjudged: None }),
        ..Info::PLAIN
    },
    build: &|values| Box::new(Copies { count: values.count("count") as u32 }),
};

struct Copies {
    count: u32,
}

impl AckShape for Copies {
    fn shape(&mut self, _: &Due, _: &PathEstimate) -> Shape {
        Shape::Copies(self.count)
    }

    fn pieces(&self) -> Option<Pieces> {
        Some(Pieces { count: self.count, are_copies: true })
    }
}

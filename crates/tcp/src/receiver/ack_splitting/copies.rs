//! ACK duplication: a fixed number of identical ACKs, so that one survives the radio link (miyoshi). `by_loss`
//! duplicates only at a high loss rate.

use super::{AckSplitting, Build, Due, Pieces, Shape};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Live, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "copies",
        summary: "several identical ACKs, so that one survives",
        source: "miyoshi §2.2",
        parameters: &[Parameter {
            name: "count",
            unit: Unit::Count(1, 64),
            default: Some("2"),
            doc: "identical ACKs per ACK due",
        }],
        live: Some(Live { word: "copies", parameter: "count", usual: Some("2"), unjudged: None }),
        ..Info::PLAIN
    },
    build: &|values| Box::new(Copies { count: values.count("count") as u32 }),
};

struct Copies {
    count: u32,
}

impl AckSplitting for Copies {
    fn split(&mut self, _: &Due, _: &PathEstimate) -> Shape {
        Shape::Copies(self.count)
    }

    fn pieces(&self) -> Option<Pieces> {
        Some(Pieces { count: self.count, are_copies: true })
    }
}

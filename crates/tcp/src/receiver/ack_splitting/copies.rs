//! ACK duplication: a fixed number of identical ACKs, so that at least one of them is not lost on the radio link
//! (miyoshi). The mechanism `by_loss` duplicates ACKs only at a high loss rate.

use super::{AckForm, AckSplitting, Build, DueAck, FixedSplit};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Live, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "copies",
        summary: "sends several identical ACKs, so that at least one arrives",
        source: "miyoshi §2.2",
        parameters: &[Parameter {
            name: "count",
            unit: Unit::Count(1, 64),
            default: Some("2"),
            doc: "number of identical ACKs for each ACK due",
        }],
        live: Some(Live {
            word: "copies",
            parameter: "count",
            usual: Some("2"),
            without_discrimination: None,
        }),
        ..Info::PLAIN
    },
    build: &|values| Box::new(Copies { count: values.count("count") as u32 }),
};

struct Copies {
    count: u32,
}

impl AckSplitting for Copies {
    fn split(&mut self, _: &DueAck, _: &PathEstimate) -> AckForm {
        AckForm::Copies(self.count)
    }

    fn pieces(&self) -> Option<FixedSplit> {
        Some(FixedSplit { count: self.count, are_copies: true })
    }
}

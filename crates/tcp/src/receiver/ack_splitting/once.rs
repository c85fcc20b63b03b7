//! A single ACK for each ACK that is due.

use super::{AckForm, AckSplitting, Build, DueAck, FixedSplit};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "once",
        summary: "sends one ACK for each ACK due, without splitting",
        source: "RFC 9293 §3.8.6.3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Once),
};

struct Once;

impl AckSplitting for Once {
    fn split(&mut self, _: &DueAck, _: &PathEstimate) -> AckForm {
        AckForm::Single
    }

    fn pieces(&self) -> Option<FixedSplit> {
        Some(FixedSplit { count: 1, are_copies: false })
    }

    fn is_single(&self) -> bool {
        true
    }
}

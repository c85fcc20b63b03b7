//! No discrimination: every loss counts as congestion.

use super::{Build, Cause, Gap, LossDiscriminator, Observation};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism, Stream};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "always",
        summary: "treats every loss as congestion",
        source: "RFC 5681 §3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| Box::new(Always),
};

struct Always;

impl LossDiscriminator for Always {
    fn observe(&mut self, _: &Observation) {}

    fn discriminate(&mut self, _: &Gap, _: &PathEstimate, _: &mut Stream) -> Cause {
        Cause::Congestion
    }

    fn discriminates(&self) -> bool {
        false
    }

    fn draws(&self) -> bool {
        false
    }
}

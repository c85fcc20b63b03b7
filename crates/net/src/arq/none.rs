//! No ARQ.

use super::{Arq, ArqOutcome, Build, LinkLayer};
use crate::channel::{Channel, Transmission};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "none",
        summary: "no retransmission: losses over the air are final",
        source: "RFC 3819 §8",
        ..Info::PLAIN
    },
    build: &|_| LinkLayer::per_packet(NoArq),
};

struct NoArq;

impl Arq for NoArq {
    fn retransmit(&mut self, _: &Transmission, _: &mut dyn Channel) -> ArqOutcome {
        ArqOutcome { is_delivered: false, ..ArqOutcome::FIRST_TRY }
    }

    fn retransmits(&self) -> bool {
        false
    }
}

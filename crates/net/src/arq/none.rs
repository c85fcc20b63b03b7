//! No ARQ: what the channel destroys is lost.

use super::{Arq, Build, Carried, LinkLayer};
use crate::channel::{Air, Channel};
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "none",
        summary: "no repeats: what the channel destroys is lost",
        source: "RFC 3819 §8",
        ..Info::PLAIN
    },
    build: &|_| LinkLayer::repeat(NoArq),
};

struct NoArq;

impl Arq for NoArq {
    fn repeat(&mut self, _: &Air, _: &mut dyn Channel) -> Carried {
        Carried { delivered: false, ..Carried::AT_ONCE }
    }

    fn retransmits(&self) -> bool {
        false
    }
}

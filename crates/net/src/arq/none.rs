//! No ARQ: what the channel destroys is lost.

use super::{Arq, Build, Carried, LinkLayer};
use crate::channel::{Air, Channel, Reception};
use lasthop_base::{Duration, Info, Mechanism};

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
    fn carry(&mut self, air: &Air, channel: &mut dyn Channel) -> Carried {
        let delivered = channel.transmit(air) == Reception::Intact;
        Carried { delivered, holds: Duration::ZERO, late: Duration::ZERO, attempts: 1 }
    }
}

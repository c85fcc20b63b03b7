//! No jitter.

use super::{Build, Jitter};
use lasthop_base::{Duration, Info, Mechanism, Time};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "none",
        summary: "no jitter: packets arrive after the propagation delay",
        source: "a wire",
        ..Info::PLAIN
    },
    build: &|_, _| Box::new(NoJitter),
};

struct NoJitter;

impl Jitter for NoJitter {
    fn delay(&mut self, _: Time) -> Duration {
        Duration::ZERO
    }

    fn is_none(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

//! A lossless channel.

use super::{Build, Channel, Reception, Transmission};
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info { name: "none", summary: "no losses", source: "a wire", ..Info::PLAIN },
    build: &|_, _| Box::new(Perfect),
};

struct Perfect;

impl Channel for Perfect {
    fn transmit(&mut self, _: &Transmission) -> Reception {
        Reception::Intact
    }

    fn loss_probability(&self) -> Option<f64> {
        Some(0.0)
    }

    fn accepts_loss(&self) -> bool {
        false
    }

    fn is_perfect(&self) -> bool {
        true
    }

    fn draws(&self) -> bool {
        false
    }
}

//! What does the link layer do when a transmission is lost?

mod none;
mod repeat;

use crate::channel::{Air, Channel};
use lasthop_base::{Duration, Mechanism, Values};

/// How a packet got through, or did not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Carried {
    /// Whether it was delivered in the end.
    pub delivered: bool,
    /// How long the link stays occupied after the first transmission.
    pub holds: Duration,
    /// How much later than the first transmission it was delivered, or given up.
    pub late: Duration,
    /// Transmissions in all.
    pub attempts: u32,
}

/// A link-layer repeat scheme.
pub trait Arq: Send {
    /// Carries a packet whose first transmission is `air` over the channel.
    fn carry(&mut self, air: &Air, channel: &mut dyn Channel) -> Carried;

    /// Whether a packet waits for earlier ones that are being repeated.
    fn keeps_order(&self) -> bool {
        true
    }
}

/// How an ARQ is built.
pub type Build = fn(&Values) -> Box<dyn Arq>;

/// All ARQs.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, repeat::MECHANISM];

//! Jitter, a random delay in addition to the propagation delay.

mod none;
mod random;

use lasthop_base::{Duration, Mechanism, Stream, Time, Values};

/// Model of jitter, which determines an additional delay for each packet.
pub trait Jitter: Send {
    /// Returns the additional delay of a packet. `now` is the end of the packet's transmission. For a link layer such
    /// as RLC, `now` is the arrival time without jitter.
    fn delay(&mut self, now: Time) -> Duration;

    /// Whether packets may overtake earlier packets. If false, packets wait for earlier packets.
    fn reorders(&self) -> bool {
        false
    }

    /// Whether the delay is always zero. If true, the link does not call [`Jitter::delay`].
    fn is_none(&self) -> bool {
        false
    }

    /// Whether the jitter draws random numbers, so that repetitions may differ. The default is true.
    fn draws(&self) -> bool {
        true
    }
}

/// Function that builds a model of jitter.
pub type Build = dyn Fn(&Values, Stream) -> Box<dyn Jitter> + Send + Sync;

/// All models of jitter.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, random::MECHANISM];

/// The default: no jitter.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

//! Jitter: by how much later does a packet arrive than the propagation delay says?

mod none;
mod random;

use lasthop_base::{Duration, Mechanism, Stream, Time, Values};

/// Makes packets late, each by a time of its own.
pub trait Jitter: Send {
    /// By how much the packet that left at `now` is late.
    fn late(&mut self, now: Time) -> Duration;

    /// Whether later packets may overtake it; else they wait until it is there.
    fn reorders(&self) -> bool {
        false
    }

    /// Whether nothing is ever late: the link then skips the question.
    fn is_none(&self) -> bool {
        false
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// How it is built.
pub type Build = dyn Fn(&Values, Stream) -> Box<dyn Jitter> + Send + Sync;

/// All of them.
pub const ALL: &[Mechanism<Build>] = &[none::MECHANISM, random::MECHANISM];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

//! The channel: does a transmission arrive intact?

mod bit_error;
mod fading;
mod iid;
mod none;
mod planned;
mod scripted;
mod two_state;

pub(crate) use planned::Planned;

use crate::change::{Change, Fixed};
use lasthop_base::{Mechanism, Stream, Time, Value, Values};
use lasthop_wire::Priority;

/// One transmission on the air.
#[derive(Clone, Copy, Debug)]
pub struct Air {
    /// Its first bit leaves.
    pub start: Time,
    /// Its last bit leaves.
    pub end: Time,
    /// Its length, bytes.
    pub bytes: u32,
    /// The packet's priority, which a channel may shield.
    pub priority: Priority,
    /// 0 for the first transmission of a packet, 1 for its first repeat …
    pub attempt: u32,
}

/// What becomes of it at the other end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// It arrived intact.
    Intact,
    /// It was destroyed.
    Lost,
}

/// A channel, with its random stream.
///
/// A packet takes one draw however often it is repeated, from which its repeats derive theirs, so that what becomes of the
/// n-th packet's first transmission depends on the seed and on n (or on time) alone.
pub trait Channel: Send {
    /// Sends on the air; `start` never decreases from one first transmission to the next.
    fn transmit(&mut self, air: &Air) -> Reception;

    /// Whether the first `header` bytes of the transmission that was destroyed last arrived sound, so that its receiver can
    /// read whose it was. A channel that does not know how much of a packet it destroys says no.
    fn spares_header(&self, air: &Air, header: u32) -> bool {
        let _ = (air, header);
        false
    }

    /// The probability with which each transmission is lost, if it is the same for all of them.
    fn share(&self) -> Option<f64> {
        None
    }

    /// Sets it, where there is one.
    fn set_share(&mut self, share: f64) {
        let _ = share;
    }

    /// Whether nothing is ever lost: the link then skips the question.
    fn is_perfect(&self) -> bool {
        false
    }

    /// Whether it draws random numbers, so that repetitions may differ. Whoever does not has to say so.
    fn draws(&self) -> bool {
        true
    }
}

/// How a channel is built.
pub type Build = dyn Fn(&Values, Stream) -> Box<dyn Channel> + Send + Sync;

/// A channel that loses nothing, whose [share](Channel::share) may be set.
pub(crate) fn settable(random: Stream) -> Box<dyn Channel> {
    (iid::MECHANISM.build)(&iid::MECHANISM.info.defaults().with("loss", Value::Number(0.0)), random)
}

/// Why a change of the share that is lost is not possible; `None` if it is, or is not asked for.
pub(crate) fn refuses(channel: &dyn Channel, change: &Change) -> Option<Fixed> {
    (change.loss.is_some() && channel.share().is_none())
        .then_some(Fixed("its channel does not lose each packet with the same probability"))
}

/// All channels.
pub const ALL: &[Mechanism<Build>] = &[
    none::MECHANISM,
    iid::MECHANISM,
    bit_error::MECHANISM,
    two_state::MECHANISM,
    fading::MECHANISM,
    scripted::MECHANISM,
];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// One draw per packet, and what repeats derive from it.
struct PacketDraws {
    stream: Stream,
    draw: u64,
}

impl PacketDraws {
    fn new(stream: Stream) -> PacketDraws {
        PacketDraws { stream, draw: 0 }
    }

    /// True with the probability that `threshold` stands for.
    fn happens(&mut self, attempt: u32, threshold: Threshold) -> bool {
        if attempt == 0 {
            self.draw = self.stream.draw();
        }
        lasthop_base::random::derive(self.draw, attempt) < threshold.0
    }

    /// Whether this threshold is below the draw of an attempt.
    fn spares(&self, attempt: u32, threshold: Threshold) -> bool {
        lasthop_base::random::derive(self.draw, attempt) >= threshold.0
    }
}

/// A probability as a bound on 64 random bits.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Threshold(u64);

impl Threshold {
    fn of(probability: f64) -> Threshold {
        // 2^64 as a float; the cast saturates, so that 1 is (all but) certain.
        Threshold((probability.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64)
    }
}

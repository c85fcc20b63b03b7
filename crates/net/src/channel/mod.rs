//! Channels: models that decide which transmissions over the air are lost.

mod bit_error;
mod fading;
mod iid;
mod none;
mod planned;
mod replaceable;
mod scripted;
mod two_state;

pub(crate) use planned::PlannedLosses;
use replaceable::Replaceable;

use crate::change::{ChangeRefused, LinkChange};
use lasthop_base::{Mechanism, Stream, Time, Value, Values};
use lasthop_wire::Priority;

/// A transmission over the air.
#[derive(Clone, Copy, Debug)]
pub struct Transmission {
    /// Time of the first bit.
    pub start: Time,
    /// Time of the last bit.
    pub end: Time,
    /// Length, bytes.
    pub bytes: u32,
    /// The packet's priority. A channel may protect packets of low priority.
    pub priority: Priority,
    /// Number of earlier transmissions of the packet.
    pub attempt: u32,
}

/// Outcome of a transmission.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reception {
    /// The packet arrives undamaged.
    Intact,
    /// The packet is lost.
    Lost,
}

/// A channel with its random stream.
///
/// Each packet takes one draw from the stream, and its retransmissions derive their draws from that draw. The outcome
/// of the n-th packet's first transmission therefore depends only on the seed and on n. For a channel whose state
/// changes with time, the outcome depends only on the seed and on the time.
pub trait Channel: Send {
    /// Decides the outcome of a transmission. The `start` of first transmissions never decreases.
    fn transmit(&mut self, transmission: &Transmission) -> Reception;

    /// Whether the first `header` bytes of the last lost transmission arrived intact; false if unknown.
    fn has_intact_header(&self, transmission: &Transmission, header: u32) -> bool {
        let _ = (transmission, header);
        false
    }

    /// Loss probability, if each transmission is lost independently with a constant probability.
    fn loss_probability(&self) -> Option<f64> {
        None
    }

    /// Whether [`Channel::set_loss_probability`] has an effect.
    fn accepts_loss(&self) -> bool {
        self.loss_probability().is_some()
    }

    /// Sets the loss probability: later transmissions are lost independently with this probability. Has no effect
    /// unless [`Channel::accepts_loss`] is true.
    fn set_loss_probability(&mut self, share: f64) {
        let _ = share;
    }

    /// Whether the channel loses nothing, so that [`Channel::transmit`] need not be called.
    fn is_perfect(&self) -> bool {
        false
    }

    /// Whether the channel draws random numbers, so that repetitions may differ. The default is true.
    fn draws(&self) -> bool {
        true
    }
}

/// Function that builds a channel.
pub type Build = dyn Fn(&Values, Stream) -> Box<dyn Channel> + Send + Sync;

/// Returns a channel that behaves like `channel` and whose loss probability can be set. `random` is a copy of the
/// channel's stream.
pub(crate) fn with_settable_loss(channel: Box<dyn Channel>, random: Stream) -> Box<dyn Channel> {
    if channel.is_perfect() {
        constant_loss(0.0, random)
    } else if channel.accepts_loss() {
        channel
    } else {
        Box::new(Replaceable::new(channel, random))
    }
}

fn constant_loss(share: f64, random: Stream) -> Box<dyn Channel> {
    (iid::MECHANISM.build)(&iid::MECHANISM.info.defaults().with("loss", Value::Number(share)), random)
}

/// Returns the reason why the loss probability cannot change as requested, or `None` if the change is possible.
pub(crate) fn refusal(channel: &dyn Channel, change: &LinkChange) -> Option<ChangeRefused> {
    let share = change.loss?;
    if !(0.0..=1.0).contains(&share) {
        return Some(ChangeRefused("its loss probability must be from 0 to 1"));
    }
    (!channel.accepts_loss()).then_some(ChangeRefused(
        "it was not built for changes, and its channel has no loss probability that can be set",
    ))
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

/// The default: a lossless channel.
pub const DEFAULT: Mechanism<Build> = none::MECHANISM;

/// The random draws of a channel: one draw per packet, from which the draws for its retransmissions are derived.
struct PacketDraws {
    stream: Stream,
    draw: u64,
}

impl PacketDraws {
    fn new(stream: Stream) -> PacketDraws {
        PacketDraws { stream, draw: 0 }
    }

    fn happens(&mut self, attempt: u32, threshold: Threshold) -> bool {
        if attempt == 0 {
            self.draw = self.stream.draw();
        }
        lasthop_base::random::derive(self.draw, attempt) < threshold.0
    }

    /// Returns the opposite of `happens` for a draw that was already taken: true if the draw is at or above the
    /// threshold.
    fn spares(&self, attempt: u32, threshold: Threshold) -> bool {
        lasthop_base::random::derive(self.draw, attempt) >= threshold.0
    }
}

/// A probability, stored as a bound: an event happens if a random 64-bit number is below this bound.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Threshold(u64);

impl Threshold {
    fn of(probability: f64) -> Threshold {
        // The factor is 2^64. The cast saturates, so an event of probability 1 fails to happen once in 2^64 draws.
        Threshold((probability.clamp(0.0, 1.0) * 18_446_744_073_709_551_616.0) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of a probability p is p x 2^64, limited to 64 bits.
    #[test]
    fn thresholds_are_shares_of_64_bits() {
        let bounds = [-1.0, 0.0, 0.25, 0.5, 1.0, 2.0].map(|share| Threshold::of(share).0);
        assert_eq!(bounds, [0, 0, 1 << 62, 1 << 63, u64::MAX, u64::MAX]);
    }

    /// A packet has one draw. Each attempt has its own outcome, and asking twice gives the same outcome. `spares` is the
    /// opposite of `happens`.
    #[test]
    fn attempts_derive_from_one_draw() {
        let mut draws = PacketDraws::new(Stream::named(1, "air"));
        let half = Threshold::of(0.5);
        let (mut first, mut differ) = (0, 0);
        for _ in 0..1000 {
            let outcomes = [0, 1, 2].map(|attempt| draws.happens(attempt, half));
            assert_eq!([1, 2].map(|attempt| draws.happens(attempt, half)), outcomes[1..]);
            assert_eq!([0, 1, 2].map(|attempt| !draws.spares(attempt, half)), outcomes);
            first += u32::from(outcomes[0]);
            differ += u32::from(outcomes[0] != outcomes[1]);
        }
        // The bound is five standard errors, sqrt(1000) / 2 each.
        assert!(first.abs_diff(500) < 80 && differ.abs_diff(500) < 80, "{first} {differ}");
        assert!(!draws.happens(0, Threshold::of(0.0)) && draws.spares(0, Threshold::of(0.0)));
    }
}

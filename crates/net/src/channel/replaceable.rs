//! A channel of any kind that independent losses can replace at run time.

use super::{Channel, Reception, Transmission, constant_loss};
use lasthop_base::Stream;

pub(super) struct Replaceable {
    channel: Box<dyn Channel>,
    random: Stream,
}

impl Replaceable {
    /// Wraps `channel`. The replacement draws from its own stream, which is derived from a copy of the channel's
    /// stream.
    pub(super) fn new(channel: Box<dyn Channel>, mut random: Stream) -> Replaceable {
        Replaceable { channel, random: Stream::named(random.draw(), "replacement") }
    }
}

impl Channel for Replaceable {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        self.channel.transmit(transmission)
    }

    fn has_intact_header(&self, transmission: &Transmission, header: u32) -> bool {
        self.channel.has_intact_header(transmission, header)
    }

    fn loss_probability(&self) -> Option<f64> {
        self.channel.loss_probability()
    }

    fn accepts_loss(&self) -> bool {
        true
    }

    fn set_loss_probability(&mut self, share: f64) {
        if self.channel.accepts_loss() {
            self.channel.set_loss_probability(share);
        } else {
            self.channel = constant_loss(share, self.random.clone());
        }
    }

    fn is_perfect(&self) -> bool {
        self.channel.is_perfect()
    }

    fn draws(&self) -> bool {
        self.channel.draws()
    }
}

#[cfg(test)]
mod tests {
    use super::super::two_state;
    use super::*;
    use lasthop_base::{Duration, Time, Value};
    use lasthop_wire::Priority;

    fn channel() -> Box<dyn Channel> {
        let values = two_state::MECHANISM.info.defaults().with("mean_loss", Value::Number(0.3));
        (two_state::MECHANISM.build)(&values, Stream::named(1, "channel"))
    }

    fn transmission(millis: u64) -> Transmission {
        let start = Time::ZERO + Duration::from_millis(millis);
        let end = start + Duration::from_micros(100);
        Transmission { start, end, bytes: 1000, priority: Priority::NORMAL, attempt: 0 }
    }

    /// Before the replacement, the channel must lose the same packets as the channel alone. A probability of 1 must
    /// lose every later packet, and a probability of 0 none.
    #[test]
    fn independent_losses_replace_a_channel_with_states() {
        let mut alone = channel();
        let mut one = Replaceable::new(channel(), Stream::named(1, "channel"));
        for millis in 0..1000 {
            assert_eq!(one.transmit(&transmission(millis)), alone.transmit(&transmission(millis)));
        }
        assert_eq!((one.loss_probability(), one.accepts_loss(), alone.accepts_loss()), (None, true, false));
        for (share, expected) in [(1.0, Reception::Lost), (0.0, Reception::Intact)] {
            one.set_loss_probability(share);
            assert_eq!(one.loss_probability(), Some(share));
            assert!((1000..2000).all(|millis| one.transmit(&transmission(millis)) == expected));
        }
    }
}

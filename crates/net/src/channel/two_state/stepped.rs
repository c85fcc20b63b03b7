//! The two-state channel with `meets = "step"`. Its Markov chain steps once per packet time, also while the link is
//! idle. A step of length `step` leaves a state of mean length m with probability 1 - exp(-step/m). The lengths of
//! states are then geometric and at least one step. Every bad period therefore destroys at least one packet of a
//! saturated link.

use super::{Channel, PacketDraws, Reception, Threshold, Transmission, is_shielded};
use lasthop_base::{Stream, Values};

pub(super) struct Stepped {
    states: Stream,
    draws: PacketDraws,
    step_nanos: u64,
    good: f64,
    bad: f64,
    loss_bad: Threshold,
    loss_good: Threshold,
    shields_tags: bool,
    is_bad: bool,
    until: u64,
}

impl Stepped {
    pub(super) fn new(values: &Values, mut stream: Stream) -> Stepped {
        let draws = PacketDraws::new(Stream::named(stream.draw(), "losses"));
        let step = values.duration("step");
        let mut channel = Stepped {
            states: stream,
            draws,
            step_nanos: step.as_nanos().max(1),
            good: values.duration("good").as_secs() / step.as_secs(),
            bad: values.duration("bad").as_secs() / step.as_secs(),
            loss_bad: Threshold::of(values.number("loss_bad")),
            loss_good: Threshold::of(values.number("loss_good")),
            shields_tags: values.flag("shields_tags"),
            is_bad: true,
            until: 0,
        };
        channel.change_state();
        channel
    }

    fn change_state(&mut self) {
        self.is_bad = !self.is_bad;
        let mean = if self.is_bad { self.bad } else { self.good };
        // An exponential length, rounded up to whole steps, has a geometric distribution: each step leaves the state
        // with probability 1 - exp(-1 / mean).
        let stay = libm::floor(self.states.exponential(mean));
        self.until = self.until.saturating_add(stay as u64).saturating_add(1);
    }

    fn is_bad_at(&mut self, step: u64) -> bool {
        while self.until <= step {
            self.change_state();
        }
        self.is_bad
    }
}

impl Channel for Stepped {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        // The state at the step in which the transmission starts applies. If the chain is already past that step, the
        // chain's current state applies.
        let loss = if self.is_bad_at(transmission.start.as_nanos() / self.step_nanos) {
            self.loss_bad
        } else {
            self.loss_good
        };
        let destroyed = self.draws.happens(transmission.attempt, loss);
        if destroyed && !is_shielded(self.shields_tags, transmission) {
            Reception::Lost
        } else {
            Reception::Intact
        }
    }
}

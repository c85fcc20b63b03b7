//! Planned losses in addition to another channel's losses, for example a burst at a handover.

use super::{Channel, PacketDraws, Reception, Threshold, Transmission};
use crate::steps::{PacketShare, PlanCursor, Steps};
use lasthop_base::{Duration, Stream};

pub(crate) struct PlannedLosses {
    inner: Box<dyn Channel>,
    losses: PlanCursor<PacketShare>,
    draws: PacketDraws,
}

impl PlannedLosses {
    pub(crate) fn new(inner: Box<dyn Channel>, losses: Steps<PacketShare>, random: Stream) -> PlannedLosses {
        PlannedLosses { inner, losses: PlanCursor::new(losses), draws: PacketDraws::new(random) }
    }
}

impl Channel for PlannedLosses {
    /// Applies the loss probability that the plan has at the time of the last bit.
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        let inner = self.inner.transmit(transmission);
        let share = self.losses.at(transmission.end - Duration::from_nanos(1)).0;
        if self.draws.happens(transmission.attempt, Threshold::of(share)) { Reception::Lost } else { inner }
    }

    /// Returns the inner channel's loss probability, without planned losses.
    fn loss_probability(&self) -> Option<f64> {
        self.inner.loss_probability()
    }

    fn accepts_loss(&self) -> bool {
        self.inner.accepts_loss()
    }

    /// Sets the inner channel's loss probability. Planned losses continue in addition.
    fn set_loss_probability(&mut self, share: f64) {
        self.inner.set_loss_probability(share);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DEFAULT, iid};
    use super::*;
    use lasthop_base::{Time, Value};
    use lasthop_wire::Priority;

    /// In the planned burst, the channel loses a tenth of all packets, and the plan loses half of the packets that the
    /// channel delivers. The total loss must be 0.1 + 0.9 * 0.5. The plan must not change which packets the channel
    /// itself loses.
    #[test]
    fn losses_by_plan_come_on_top() {
        let transmission = |at: u64| {
            let start = Time::ZERO + Duration::from_millis(at);
            Transmission {
                start,
                end: start + Duration::from_millis(1),
                bytes: 1000,
                priority: Priority::NORMAL,
                attempt: 0,
            }
        };
        let plain = || {
            let values = iid::MECHANISM.info.defaults().with("loss", Value::Number(0.1));
            (iid::MECHANISM.build)(&values, Stream::named(1, "channel"))
        };
        let plan = || Steps::parse("0 for 900 ms, 50 % for 100 ms").expect("a plan");
        let mut both = PlannedLosses::new(plain(), plan(), Stream::named(1, "plan"));
        let mut alone = plain();
        let (mut quiet, mut burst) = (0, 0);
        for at in 0..200_000 {
            let (one, other) = (both.transmit(&transmission(at)), alone.transmit(&transmission(at)));
            if at % 1000 < 900 {
                assert_eq!(one, other);
                quiet += u32::from(one == Reception::Lost);
            } else {
                assert!(one == Reception::Lost || other == Reception::Intact);
                burst += u32::from(one == Reception::Lost);
            }
        }
        let is_near = |count: u32, of: f64, share: f64| {
            (f64::from(count) / of - share).abs() < 5.0 * (share * (1.0 - share) / of).sqrt()
        };
        assert!(is_near(quiet, 180_000.0, 0.1) && is_near(burst, 20_000.0, 0.55), "{quiet} {burst}");
        let wire = (DEFAULT.build)(&DEFAULT.info.defaults(), Stream::named(1, "channel"));
        assert!(!PlannedLosses::new(wire, plan(), Stream::named(1, "plan")).is_perfect());
    }
}

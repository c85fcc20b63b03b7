//! Planned rate changes of pipes.

use crate::pipe::PipeId;
use lasthop_base::{Rate, Time};
use lasthop_net::service::Service;

/// Pipes whose planned rates are reported to a middlebox or a receiver.
#[derive(Default)]
pub(super) struct Plans(Vec<PlannedPipe>);

struct PlannedPipe {
    pipe: PipeId,
    service: Service,
    /// Time of the next rate change; zero until the first rate is reported.
    due: Time,
}

/// A change of a pipe's rate: `rate` applies until the time `until`, and `next` after that time.
pub(super) struct RateChange {
    pub(super) pipe: PipeId,
    pub(super) rate: Rate,
    pub(super) until: Time,
    pub(super) next: Rate,
}

impl Plans {
    /// Adds a pipe. The first rate of the pipe is reported at time zero.
    pub(super) fn add(&mut self, pipe: PipeId, service: &Service) {
        self.0.push(PlannedPipe { pipe, service: service.clone(), due: Time::ZERO });
    }

    /// Replaces the plan of a pipe by a constant rate, which is reported at the time `due`. Returns false if the pipe has
    /// no plan.
    pub(super) fn replace(&mut self, pipe: PipeId, rate: Rate, due: Time) -> bool {
        let planned = self.0.iter_mut().find(|one| one.pipe == pipe);
        planned.map(|one| (one.service, one.due) = (Service::Rate(rate), due)).is_some()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the rate change of the pipe with this index, if a change is due at `now`.
    pub(super) fn poll_change(&mut self, index: usize, now: Time) -> Option<RateChange> {
        let PlannedPipe { pipe, service, due } = self.0.get_mut(index).filter(|one| one.due <= now)?;
        let (rate, until) = (service.rate_at(now), service.change_after(now));
        let next = if until < Time::NEVER { service.rate_at(until) } else { rate };
        *due = until;
        Some(RateChange { pipe: *pipe, rate, until, next })
    }

    pub(super) fn due(&self) -> Time {
        self.0.iter().map(|one| one.due).min().unwrap_or(Time::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_that_never_changes_has_one_turn() {
        let mut plans = Plans::default();
        let rate = Rate::from_bps(9600);
        plans.add(PipeId(2), &Service::Rate(rate));
        assert_eq!(plans.due(), Time::ZERO);
        let RateChange { pipe, rate: now, until, next } =
            plans.poll_change(0, Time::ZERO).expect("the first rate");
        assert_eq!((pipe, now, until, next), (PipeId(2), rate, Time::NEVER, rate));
        assert!(
            plans.poll_change(0, Time::from_nanos(7)).is_none() && plans.poll_change(1, Time::ZERO).is_none()
        );
        assert_eq!(plans.due(), Time::NEVER);
    }

    /// A new rate must be reported at the time of its change. A pipe without a plan has nothing to report.
    #[test]
    fn a_new_rate_replaces_a_plan() {
        let mut plans = Plans::default();
        plans.add(PipeId(2), &Service::Rate(Rate::from_bps(9600)));
        plans.poll_change(0, Time::ZERO);
        let (rate, now) = (Rate::from_bps(4800), Time::from_nanos(5));
        assert!(plans.replace(PipeId(2), rate, now) && !plans.replace(PipeId(3), rate, now));
        assert_eq!(plans.due(), now);
        assert!(plans.poll_change(0, now).is_some_and(|change| change.rate == rate));
    }
}

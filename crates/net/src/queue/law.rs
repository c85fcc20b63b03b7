//! CoDel's control law (RFC 8289 §5), used for one queue of all packets (CoDel) and for each flow's queue (FQ-CoDel).

use super::Dropped;
use super::fifo::Front;
use crate::admission::mark;
use lasthop_base::{Duration, Parameter, Time, Unit, Values};
use lasthop_wire::{LossReason, Packet};

const MS: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_secs(100);

pub(super) const TARGET: Parameter = Parameter {
    name: "target",
    unit: Unit::Duration(Duration::from_micros(1), LONGEST),
    default: Some("5 ms"),
    doc: "acceptable standing delay",
};

pub(super) const INTERVAL: Parameter = Parameter {
    name: "interval",
    unit: Unit::Duration(MS, LONGEST),
    default: Some("100 ms"),
    doc: "time above target before the first drop: about the longest round trip",
};

pub(super) const MTU: Parameter = Parameter {
    name: "mtu",
    unit: Unit::Bytes(1, 65_535),
    default: Some("1500 bytes"),
    doc: "no packet is dropped while at most this many bytes wait behind it",
};

pub(super) const MARKS: Parameter = Parameter {
    name: "marks",
    unit: Unit::Flag,
    default: Some("true"),
    doc: "marks ECN-capable packets instead of dropping them",
};

/// Parameters of CoDel, shared by all queues of a discipline.
pub(super) struct CoDelParameters {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    pub(super) mtu: u64,
    pub(super) marks: bool,
}

impl CoDelParameters {
    pub(super) fn new(values: &Values) -> CoDelParameters {
        CoDelParameters {
            target: values.duration(TARGET.name),
            interval: values.duration(INTERVAL.name),
            mtu: values.bytes(MTU.name),
            marks: values.flag(MARKS.name),
        }
    }
}

#[derive(Clone, Default)]
pub(super) struct ControlLaw {
    /// End of the interval that began when the delay exceeded the target. `None` while the delay is below the target.
    first_above: Option<Time>,
    is_dropping: bool,
    /// Time of the next drop. Outside the dropping state, time for which the last drop was planned.
    drops_at: Time,
    /// Number of drops in this dropping state.
    count: u64,
    /// Value of `count` at the beginning of this dropping state.
    last_count: u64,
}

/// A dequeued packet, and whether the delay has exceeded the target for a whole interval, so that CoDel may drop.
type Leaving = (Option<Packet>, bool);

struct DequeueContext<'a, F> {
    parameters: &'a CoDelParameters,
    now: Time,
    front: &'a mut F,
    dropped: &'a mut Dropped,
}

impl ControlLaw {
    pub(super) fn dequeue<F: Front>(
        &mut self,
        parameters: &CoDelParameters,
        now: Time,
        front: &mut F,
        dropped: &mut Dropped,
    ) -> Option<Packet> {
        let mut context = DequeueContext { parameters, now, front, dropped };
        let (packet, is_late) = self.pop_head(&mut context);
        match (self.is_dropping, is_late) {
            (true, _) => self.continue_dropping((packet, is_late), &mut context),
            (false, true) => self.start_dropping(packet, &mut context),
            (false, false) => packet,
        }
    }

    /// Implements `dodequeue` of RFC 8289 §5.6.
    fn pop_head<F: Front>(&mut self, context: &mut DequeueContext<'_, F>) -> Leaving {
        let Some((arrived_at, packet)) = context.front.pop() else {
            self.first_above = None;
            return (None, false);
        };
        if context.now.since(arrived_at) < context.parameters.target
            || context.front.bytes() <= context.parameters.mtu
        {
            self.first_above = None;
            return (Some(packet), false);
        }
        let above = *self.first_above.get_or_insert(context.now + context.parameters.interval);
        (Some(packet), context.now >= above)
    }

    /// Implements the control law of RFC 8289 §5.3: returns the time of the next drop after a drop at `from`.
    fn next_after(&self, from: Time, parameters: &CoDelParameters) -> Time {
        from + Duration::from_secs_f64(parameters.interval.as_secs() / libm::sqrt(self.count as f64))
    }

    /// Marks the packet if possible. Otherwise drops the packet and dequeues the next packet.
    fn mark_or_drop<F: Front>(
        &mut self,
        packet: Option<Packet>,
        context: &mut DequeueContext<'_, F>,
    ) -> Leaving {
        let Some(mut packet) = packet else { return (None, false) };
        if context.parameters.marks && mark(&mut packet) {
            return (Some(packet), true);
        }
        context.dropped.push((packet, LossReason::EarlyDrop));
        self.pop_head(context)
    }

    /// Implements the part of `dequeue` for the dropping state (RFC 8289 §5.5).
    fn continue_dropping<F: Front>(
        &mut self,
        (mut packet, mut is_late): Leaving,
        context: &mut DequeueContext<'_, F>,
    ) -> Option<Packet> {
        self.is_dropping = is_late;
        // With a large backlog, several drops may be due in the same call.
        while self.is_dropping && context.now >= self.drops_at {
            self.count += 1;
            let before = context.dropped.len();
            (packet, is_late) = self.mark_or_drop(packet, context);
            self.is_dropping = is_late;
            if is_late {
                self.drops_at = self.next_after(self.drops_at, context.parameters);
            }
            if context.dropped.len() == before {
                break;
            }
        }
        packet
    }

    /// Implements the part of `dequeue` that starts the dropping state (RFC 8289 §5.5).
    fn start_dropping<F: Front>(
        &mut self,
        packet: Option<Packet>,
        context: &mut DequeueContext<'_, F>,
    ) -> Option<Packet> {
        let (packet, _) = self.mark_or_drop(packet, context);
        self.is_dropping = true;
        // If the last planned drop is less than 16 intervals ago, the count starts with the number of drops in the last
        // dropping state. Otherwise the count starts with one.
        let more = self.count - self.last_count;
        let is_soon = context.now.since(self.drops_at) < context.parameters.interval * 16;
        self.count = if more > 1 && is_soon { more } else { 1 };
        self.drops_at = self.next_after(context.now, context.parameters);
        self.last_count = self.count;
        packet
    }

    #[cfg(test)]
    pub(super) fn last_count(&self) -> u64 {
        self.last_count
    }
}

//! COBALT combines BLUE with a drop schedule like CoDel's. When the delay becomes small, COBALT lowers its drop rate
//! gradually (Palmei et al., LANMAN 2019; Linux's sch_cake).

use crate::admission::mark;
use lasthop_base::{Duration, Stream, Time};
use lasthop_wire::Packet;

/// BLUE's increment of the drop probability, applied at most once per `target` while the memory limit is exceeded.
const MORE: f64 = 1.0 / 256.0;
/// BLUE's decrement of the drop probability, applied at most once per `target` while the queue is empty.
const LESS: f64 = 1.0 / 4096.0;

pub(super) struct CobaltParameters {
    pub(super) target: Duration,
    pub(super) interval: Duration,
    /// Transmission time of a full-size packet at the shaper's rate; zero without a shaper.
    pub(super) mtu_time: Duration,
    pub(super) marks: bool,
}

#[derive(Clone, Default)]
pub(super) struct Cobalt {
    is_dropping: bool,
    count: u64,
    /// Time of the next drop. If `count` is zero, the time one interval after the last dequeue.
    drops_at: Time,
    /// BLUE's drop probability.
    probability: f64,
    /// Time of the last change of BLUE's drop probability.
    changed_at: Time,
}

impl Cobalt {
    /// Returns whether to drop the packet at the head of the queue. If the packet can be marked instead, marks the
    /// packet and returns false. `arrived_at` is the packet's arrival time, and `bulk` is the number of flows in the
    /// list of old flows.
    pub(super) fn should_drop(
        &mut self,
        parameters: &CobaltParameters,
        now: Time,
        arrived_at: Time,
        packet: &mut Packet,
        bulk: u32,
        random: &mut Stream,
    ) -> bool {
        let waited = now.since(arrived_at);
        // A delay is always acceptable up to the transmission time of two packets of each flow, and of at least four
        // packets in total.
        let spared = parameters.mtu_time * (2 * u64::from(bulk)).max(4);
        let mut is_due = self.count > 0 && now >= self.drops_at;
        let mut is_late = now > self.drops_at;
        if waited > parameters.target && waited > spared {
            if !self.is_dropping {
                self.is_dropping = true;
                self.drops_at = self.next_after(now, parameters);
            }
            self.count = self.count.max(1);
        } else {
            self.is_dropping = false;
        }
        let mut drops = false;
        if is_due && self.is_dropping {
            drops = !(parameters.marks && mark(packet));
            self.count += 1;
            self.drops_at = self.next_after(self.drops_at, parameters);
            is_late = now > self.drops_at;
        } else {
            // While the delay is small, the count decreases by one for each drop that would have been due.
            while is_due {
                self.count -= 1;
                self.drops_at = self.next_after(self.drops_at, parameters);
                is_late = now > self.drops_at;
                is_due = self.count > 0 && now >= self.drops_at;
            }
        }
        if self.probability > 0.0 && random.uniform() < self.probability {
            drops = true;
        }
        if self.count == 0 {
            self.drops_at = now + parameters.interval;
        } else if is_late && !drops {
            self.drops_at = now;
        }
        drops
    }

    pub(super) fn on_full(&mut self, parameters: &CobaltParameters, now: Time) {
        if now.since(self.changed_at) > parameters.target {
            self.probability = (self.probability + MORE).min(1.0);
            self.changed_at = now;
        }
        self.is_dropping = true;
        self.drops_at = now;
        self.count = self.count.max(1);
    }

    pub(super) fn on_empty(&mut self, parameters: &CobaltParameters, now: Time) {
        if self.probability > 0.0 && now.since(self.changed_at) > parameters.target {
            self.probability = (self.probability - LESS).max(0.0);
            self.changed_at = now;
        }
        self.is_dropping = false;
        if self.count > 0 && now >= self.drops_at {
            self.count -= 1;
            self.drops_at = self.next_after(self.drops_at, parameters);
        }
    }

    fn next_after(&self, from: Time, parameters: &CobaltParameters) -> Time {
        from + Duration::from_secs_f64(parameters.interval.as_secs() / libm::sqrt(self.count.max(1) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{at, packet};
    use super::*;
    use lasthop_wire::Ecn;

    const PARAMETERS: CobaltParameters = CobaltParameters {
        target: Duration::from_millis(5),
        interval: Duration::from_millis(100),
        mtu_time: Duration::ZERO,
        marks: true,
    };

    /// Dequeues a packet every millisecond. Each packet has waited for `waited` ms. Returns the times in ms of drops
    /// and marks.
    fn dropped_at(cobalt: &mut Cobalt, from: u64, until: u64, waited: u64, ecn: Ecn) -> Vec<u64> {
        let mut random = Stream::named(1, "cobalt");
        let mut is_dropped = |now: &u64| {
            let mut packet = packet(*now, 0, ecn);
            let drops =
                cobalt.should_drop(&PARAMETERS, at(*now), at(now - waited), &mut packet, 1, &mut random);
            drops || packet.ecn == Ecn::Ce
        };
        (from..until).filter(|now| is_dropped(now)).collect()
    }

    /// CoDel's schedule (RFC 8289 §5.3): the first drop or mark must follow after one interval of excess delay. The
    /// gaps between later drops and marks must be interval / sqrt(count). The count includes the first drop or mark, so
    /// the first gap uses a count of 2.
    #[test]
    fn the_schedule_is_codels() {
        let mut expected = vec![200u64];
        let mut next = 200.0;
        for count in 2..=8 {
            next += 100.0 / f64::from(count).sqrt();
            expected.push(f64::ceil(next) as u64);
        }
        for ecn in [Ecn::NotEct, Ecn::Ect0] {
            let mut cobalt = Cobalt::default();
            assert!(dropped_at(&mut cobalt, 99, 100, 0, ecn).is_empty());
            assert_eq!(dropped_at(&mut cobalt, 100, expected[7] + 1, 50, ecn), expected);
        }
        assert!(dropped_at(&mut Cobalt::default(), 100, 1000, 5, Ecn::NotEct).is_empty());
    }

    /// If the delay becomes small, COBALT's count must decrease step by step, at the intervals of the schedule. CoDel
    /// would instead leave its dropping state at once.
    #[test]
    fn it_slows_down_as_it_came() {
        let mut cobalt = Cobalt::default();
        dropped_at(&mut cobalt, 100, 500, 50, Ecn::NotEct);
        let count = cobalt.count;
        assert!(count >= 6, "{count}");
        assert!(dropped_at(&mut cobalt, 500, 600, 1, Ecn::NotEct).is_empty());
        assert!((1..count).contains(&cobalt.count), "{}", cobalt.count);
        dropped_at(&mut cobalt, 600, 1200, 1, Ecn::NotEct);
        assert_eq!(cobalt.count, 0);
    }

    /// BLUE's drop probability must grow by 1/256 per target while the queue is full, and shrink by 1/4096 per target
    /// while the queue is empty. BLUE drops packets even if they are ECN-capable.
    #[test]
    fn blue_counts_what_the_schedule_cannot() {
        let mut cobalt = Cobalt::default();
        (1..=64).for_each(|n| cobalt.on_full(&PARAMETERS, at(6 * n)));
        cobalt.on_full(&PARAMETERS, at(6 * 64 + 1));
        assert!((cobalt.probability - 0.25).abs() < 1e-12);
        let mut random = Stream::named(2, "blue");
        let mut drops = |_: &u64| {
            cobalt.count = 0;
            cobalt.should_drop(&PARAMETERS, at(400), at(400), &mut packet(0, 0, Ecn::Ect0), 1, &mut random)
        };
        let share = (0..10_000).filter(|number| drops(number)).count() as f64 / 1e4;
        assert!((share - 0.25).abs() < 4.0 * (0.1875f64 / 1e4).sqrt(), "{share}");
        (0..1024).for_each(|n| cobalt.on_empty(&PARAMETERS, at(1000 + 6 * n)));
        assert_eq!(cobalt.probability, 0.0);
    }

    /// An empty queue lowers the count by one per interval / sqrt(count), and BLUE's probability by 1/4096 once per
    /// target of 5 ms.
    #[test]
    fn an_empty_queue_lowers_count_and_probability() {
        let mut cobalt = Cobalt { count: 3, drops_at: at(100), is_dropping: true, ..Cobalt::default() };
        cobalt.on_empty(&PARAMETERS, at(99));
        assert_eq!((cobalt.count, cobalt.drops_at, cobalt.is_dropping), (3, at(100), false));
        cobalt.on_empty(&PARAMETERS, at(100));
        let next = at(100) + Duration::from_secs_f64(0.1 / 2f64.sqrt());
        assert_eq!((cobalt.count, cobalt.drops_at), (2, next));
        for (millis, expected) in [(105, 0.5), (106, 0.5 - 1.0 / 4096.0)] {
            let mut cobalt = Cobalt { probability: 0.5, changed_at: at(100), ..Cobalt::default() };
            cobalt.on_empty(&PARAMETERS, at(millis));
            assert_eq!(cobalt.probability, expected);
        }
    }

    /// A full queue begins to drop at once, and raises BLUE's probability by 1/256 once per target of 5 ms, up to 1.
    #[test]
    fn a_full_queue_drops_at_once() {
        for (millis, probability, expected) in [(105, 0.5, 0.5), (106, 0.5, 0.50390625), (106, 0.999, 1.0)] {
            let mut cobalt = Cobalt { probability, changed_at: at(100), ..Cobalt::default() };
            cobalt.on_full(&PARAMETERS, at(millis));
            assert_eq!(cobalt.probability, expected);
            assert_eq!((cobalt.count, cobalt.drops_at, cobalt.is_dropping), (1, at(millis), true));
        }
        let mut cobalt = Cobalt { count: 7, ..Cobalt::default() };
        cobalt.on_full(&PARAMETERS, at(1));
        assert_eq!(cobalt.count, 7);
    }

    /// With 1 ms per packet, a delay is acceptable up to 2 ms for each flow with a queue, and up to at least 4 ms (and to
    /// the target of 3 ms).
    #[test]
    fn delays_of_a_few_packets_are_acceptable() {
        let target = Duration::from_millis(3);
        let parameters = CobaltParameters { mtu_time: Duration::from_millis(1), target, ..PARAMETERS };
        let is_late = |bulk, waited: u64| {
            let (mut cobalt, mut random) = (Cobalt::default(), Stream::named(1, "cobalt"));
            let mut packet = packet(0, 0, Ecn::NotEct);
            cobalt.should_drop(&parameters, at(100), at(100 - waited), &mut packet, bulk, &mut random);
            cobalt.is_dropping
        };
        assert_eq!([is_late(1, 4), is_late(1, 5), is_late(0, 5)], [false, true, true]);
        assert_eq!([is_late(10, 20), is_late(10, 21)], [false, true]);
        let parameters = PARAMETERS;
        let mut cobalt = Cobalt::default();
        let mut random = Stream::named(1, "cobalt");
        cobalt.should_drop(&parameters, at(100), at(95), &mut packet(0, 0, Ecn::NotEct), 1, &mut random);
        assert!(!cobalt.is_dropping, "the target of 5 ms is not exceeded");
    }
}

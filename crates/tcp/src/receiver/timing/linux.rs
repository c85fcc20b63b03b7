//! Delayed ACKs as Linux has them: every second segment, or after 40 ms and more; but every segment at the start of a
//! connection, behind something that arrived twice or a long silence, and while the window grows, so that the sender's slow
//! start is not slowed down (Sarolahti and Kuznetsov, "Congestion control in Linux TCP", USENIX 2002).

use super::{AckTiming, Arrival, Build, When};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "linux",
        summary: "every second segment or a timer of 40 to 200 ms; every segment at first and while the window grows",
        source: "Sarolahti, Kuznetsov: Congestion control in Linux TCP, USENIX 2002, §4; tcp(7), TCP_QUICKACK",
        parameters: &[
            Parameter {
                name: "quick",
                unit: Unit::Count(0, 1000),
                default: Some("16"),
                doc: "so many ACKs leave at once at the start, and behind what arrived twice or a silence",
            },
            Parameter {
                name: "shortest",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("40 ms"),
                doc: "how long an ACK waits for a second segment where segments come close together",
            },
            Parameter {
                name: "longest",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("200 ms"),
                doc: "how long at most; silence beyond it makes the next ACKs quick",
            },
        ],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| {
        let (quick, shortest) = (values.count("quick"), values.duration("shortest"));
        let longest = values.duration("longest").max(shortest);
        Box::new(Linux { quick, left: quick, shortest, longest, wait: shortest, last: None })
    },
};

struct Linux {
    quick: u64,
    /// ACKs that are still to leave at once.
    left: u64,
    shortest: Duration,
    longest: Duration,
    /// How long an ACK waits now: it follows the time between segments.
    wait: Duration,
    last: Option<Time>,
}

impl Linux {
    /// Half of what it was and the time between two segments, from `shortest` to `longest`.
    fn follow(&mut self, now: Time) {
        let Some(gap) = self.last.replace(now).map(|last| now.since(last)) else { return };
        if gap > self.longest {
            // The sender has been waiting for something.
            self.left = self.quick;
        } else {
            let half = self.wait.divided_by(2);
            self.wait = (half + gap.max(self.shortest.divided_by(2))).min(self.longest);
        }
    }
}

impl AckTiming for Linux {
    fn on_data(&mut self, arrival: &Arrival) -> When {
        self.follow(arrival.now);
        if arrival.repeated {
            self.left = self.quick;
        }
        let is_quick = self.left > 0 || arrival.grows;
        if arrival.urgent || is_quick || arrival.unacknowledged >= 2 * arrival.segment {
            self.left = self.left.saturating_sub(1);
            return When::Now;
        }
        When::After(self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn timing() -> Box<dyn AckTiming> {
        (MECHANISM.build)(&MECHANISM.info.defaults())
    }

    /// A segment that comes `gap` after the last one; nothing else is unacknowledged.
    fn arrive(timing: &mut dyn AckTiming, now: &mut Time, gap: Duration, change: fn(&mut Arrival)) -> When {
        *now += gap;
        let mut arrival = Arrival { unacknowledged: 1000, ..Arrival::plain(*now, 1000) };
        change(&mut arrival);
        timing.on_data(&arrival)
    }

    /// The first sixteen are acknowledged one by one, then one in two.
    #[test]
    fn the_first_acks_are_quick() {
        let (mut timing, mut now) = (timing(), Time::ZERO);
        for _ in 0..16 {
            assert_eq!(arrive(&mut *timing, &mut now, MS, |_| {}), When::Now);
        }
        assert_eq!(arrive(&mut *timing, &mut now, MS, |_| {}), When::After(MS * 40));
        assert_eq!(arrive(&mut *timing, &mut now, MS, |it| it.unacknowledged = 2000), When::Now);
    }

    /// What arrived twice, or came after a long silence, begins quick ACKs anew.
    #[test]
    fn a_copy_and_a_silence_make_acks_quick_again() {
        for (gap, change) in
            [(1, (|it| it.repeated = true) as fn(&mut Arrival)), (300, |_| {}), (1, |it| it.grows = true)]
        {
            let (mut timing, mut now) = (timing(), Time::ZERO);
            for _ in 0..17 {
                arrive(&mut *timing, &mut now, MS, |_| {});
            }
            assert_eq!(arrive(&mut *timing, &mut now, MS * gap, change), When::Now, "{gap}");
        }
    }

    /// Segments 100 ms apart: the wait goes to twice that, and is bounded by 200 ms; close together it is 40 ms.
    #[test]
    fn the_wait_follows_the_time_between_segments() {
        let (mut timing, mut now) = (timing(), Time::ZERO);
        let mut last = When::Now;
        for _ in 0..40 {
            last = arrive(&mut *timing, &mut now, MS * 150, |_| {});
        }
        assert_eq!(last, When::After(MS * 200));
        for _ in 0..40 {
            last = arrive(&mut *timing, &mut now, MS * 5, |_| {});
        }
        let When::After(wait) = last else { panic!("at once") };
        assert!(wait.abs_diff(MS * 40) < MS, "{wait}");
    }
}

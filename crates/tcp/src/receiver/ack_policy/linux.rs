//! Linux's delayed ACKs: an ACK for every second segment, or after 40 to 200 ms. Quick ACKs are not delayed, so that
//! the sender's slow start stays fast. Quick ACKs are sent at the start of a connection, after duplicate data or a long
//! silence, and while the window grows (Sarolahti and Kuznetsov, "Congestion control in Linux TCP", USENIX 2002).

use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};

pub(super) const QUICK: Parameter = Parameter {
    name: "quick",
    unit: Unit::Count(0, 1000),
    default: Some("16"),
    doc: "number of quick ACKs at the start, and after duplicate data or a silence",
};

pub(super) const SHORTEST: Parameter = Parameter {
    name: "shortest",
    unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
    default: Some("40 ms"),
    doc: "shortest delayed ACK timer, with closely spaced segments",
};

pub(super) const LONGEST: Parameter = Parameter {
    name: "longest",
    unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
    default: Some("200 ms"),
    doc: "longest delayed ACK timer; a longer silence restarts quick ACKs",
};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "linux",
        summary: "an ACK for every second segment or after 40 to 200 ms; quick ACKs at first and while the window \
                  grows",
        source: "Sarolahti, Kuznetsov: Congestion control in Linux TCP, USENIX 2002, §4; tcp(7), TCP_QUICKACK",
        parameters: &[QUICK, SHORTEST, LONGEST],
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|values| Box::new(Linux::new(values)),
};

pub(super) struct Linux {
    quick: u64,
    left: u64,
    shortest: Duration,
    longest: Duration,
    /// Current delay of a delayed ACK, adapted to the time between segments.
    wait: Duration,
    last: Option<Time>,
}

impl Linux {
    pub(super) fn new(values: &Values) -> Linux {
        let (quick, shortest) = (values.count("quick"), values.duration("shortest"));
        let longest = values.duration("longest").max(shortest);
        Linux { quick, left: quick, shortest, longest, wait: shortest, last: None }
    }

    /// Adapts `wait` to the time since the last segment. The new `wait` is half of the old `wait` plus this time,
    /// limited to `shortest` … `longest`. A time above `longest` restarts the quick ACKs instead.
    fn follow(&mut self, now: Time) {
        let Some(gap) = self.last.replace(now).map(|last| now.since(last)) else { return };
        if gap > self.longest {
            self.left = self.quick;
        } else {
            let half = self.wait.divided_by(2);
            self.wait = (half + gap.max(self.shortest.divided_by(2))).min(self.longest);
        }
    }
}

impl AckPolicy for Linux {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        self.follow(arrival.now);
        if arrival.repeated {
            self.left = self.quick;
        }
        let is_quick = self.left > 0 || arrival.grows;
        if arrival.urgent || is_quick || arrival.unacknowledged >= 2 * arrival.segment {
            self.left = self.left.saturating_sub(1);
            return AckTime::Now;
        }
        AckTime::After(self.wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn ack_policy() -> Box<dyn AckPolicy> {
        (MECHANISM.build)(&MECHANISM.info.defaults())
    }

    /// Delivers a segment `gap` after the last segment, without other unacknowledged data.
    fn arrive(
        ack_policy: &mut dyn AckPolicy,
        now: &mut Time,
        gap: Duration,
        change: fn(&mut DataArrival),
    ) -> AckTime {
        *now += gap;
        let mut arrival = DataArrival { unacknowledged: 1000, ..DataArrival::plain(*now, 1000) };
        change(&mut arrival);
        ack_policy.on_data(&arrival)
    }

    /// After sixteen quick ACKs, one ACK acknowledges two segments.
    #[test]
    fn the_first_acks_are_quick() {
        let (mut ack_policy, mut now) = (ack_policy(), Time::ZERO);
        for _ in 0..16 {
            assert_eq!(arrive(&mut *ack_policy, &mut now, MS, |_| {}), AckTime::Now);
        }
        assert_eq!(arrive(&mut *ack_policy, &mut now, MS, |_| {}), AckTime::After(MS * 40));
        assert_eq!(arrive(&mut *ack_policy, &mut now, MS, |it| it.unacknowledged = 2000), AckTime::Now);
    }

    #[test]
    fn a_copy_and_a_silence_make_acks_quick_again() {
        for (gap, change) in
            [(1, (|it| it.repeated = true) as fn(&mut DataArrival)), (300, |_| {}), (1, |it| it.grows = true)]
        {
            let (mut ack_policy, mut now) = (ack_policy(), Time::ZERO);
            for _ in 0..17 {
                arrive(&mut *ack_policy, &mut now, MS, |_| {});
            }
            assert_eq!(arrive(&mut *ack_policy, &mut now, MS * gap, change), AckTime::Now, "{gap}");
        }
    }

    /// Segments 150 ms apart raise the delay of ACKs to the upper bound, 200 ms. Segments 5 ms apart reduce the delay
    /// to 40 ms.
    #[test]
    fn the_wait_follows_the_time_between_segments() {
        let (mut ack_policy, mut now) = (ack_policy(), Time::ZERO);
        let mut last = AckTime::Now;
        for _ in 0..40 {
            last = arrive(&mut *ack_policy, &mut now, MS * 150, |_| {});
        }
        assert_eq!(last, AckTime::After(MS * 200));
        for _ in 0..40 {
            last = arrive(&mut *ack_policy, &mut now, MS * 5, |_| {});
        }
        let AckTime::After(wait) = last else { panic!("at once") };
        assert!(wait.abs_diff(MS * 40) < MS, "{wait}");
    }
}

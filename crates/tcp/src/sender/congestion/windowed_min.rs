//! Filter for the smallest sample in a sliding window of time, in constant memory.

use lasthop_base::{Duration, Time};

/// Filter for the smallest sample (Kathleen Nichols' filter, as in Linux's `win_minmax`). When the smallest sample
/// expires, the filter continues with the smallest sample of about the last three quarters of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowedMin {
    /// Three samples with their times: the smallest of the window, the smallest after the first sample, and the
    /// smallest after the second sample.
    best: [(Time, Duration); 3],
}

impl WindowedMin {
    pub(super) fn new() -> WindowedMin {
        WindowedMin { best: [(Time::ZERO, Duration::MAX); 3] }
    }

    /// Returns the smallest sample; `Duration::MAX` before the first sample.
    pub(super) fn get(&self) -> Duration {
        self.best[0].1
    }

    /// Adds a sample. `span`: length of the window.
    pub(super) fn record(&mut self, now: Time, sample: Duration, span: Duration) {
        let new = (now, sample);
        if sample <= self.best[0].1 || now.since(self.best[2].0) > span {
            self.best = [new; 3];
            return;
        }
        if sample <= self.best[1].1 {
            (self.best[1], self.best[2]) = (new, new);
        } else if sample <= self.best[2].1 {
            self.best[2] = new;
        }
        self.expire(new, span);
    }

    fn expire(&mut self, new: (Time, Duration), span: Duration) {
        let age = |one: (Time, Duration)| new.0.since(one.0);
        if age(self.best[0]) > span {
            self.best = [self.best[1], self.best[2], new];
            if age(self.best[0]) > span {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].0 == self.best[0].0 && age(self.best[1]) > span.divided_by(4) {
            (self.best[1], self.best[2]) = (new, new);
        } else if self.best[2].0 == self.best[1].0 && age(self.best[2]) > span.divided_by(2) {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The result is always one of the samples in the window.
        #[test]
        fn the_result_is_a_sample_of_the_window(samples in prop::collection::vec((0..30u64, 1..1000u64), 1..200)) {
            let (span, mut now, mut filter) = (Duration::from_millis(100), Time::ZERO, WindowedMin::new());
            let mut seen: Vec<(Time, Duration)> = Vec::new();
            for (later, sample) in samples {
                now += Duration::from_millis(later);
                seen.push((now, Duration::from_millis(sample)));
                filter.record(now, Duration::from_millis(sample), span);
                let window = seen.iter().filter(|(at, _)| now.since(*at) <= span).map(|(_, sample)| *sample);
                prop_assert!(window.clone().any(|sample| sample == filter.get()));
                prop_assert!(filter.get() >= window.min().unwrap_or_default());
            }
        }
    }

    #[test]
    fn a_smallest_sample_expires_after_the_window() {
        let (span, mut filter) = (Duration::from_millis(100), WindowedMin::new());
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        filter.record(at(0), Duration::from_millis(10), span);
        for millis in (10..=100).step_by(10) {
            filter.record(at(millis), Duration::from_millis(50), span);
            assert_eq!(filter.get(), Duration::from_millis(10), "{millis}");
        }
        filter.record(at(110), Duration::from_millis(60), span);
        assert_eq!(filter.get(), Duration::from_millis(50));
    }

    /// Linux's `minmax_subwin_update`: the second sample is renewed after a quarter of the window, and the third after a
    /// half, if they are as old as their predecessors. An expired sample is replaced by its successor.
    #[test]
    fn samples_of_parts_of_the_window() {
        let (ms, mut filter) = (Duration::from_millis, WindowedMin::new());
        let at = |millis| Time::ZERO + ms(millis);
        let mut record = |now, sample| {
            filter.record(at(now), ms(sample), ms(100));
            filter.best.map(|(at, sample)| (at.since(Time::ZERO).as_millis(), sample.as_millis()))
        };
        assert_eq!(record(0, 10), [(0.0, 10.0); 3]);
        assert_eq!(record(25, 50), [(0.0, 10.0); 3]);
        assert_eq!(record(26, 50), [(0.0, 10.0), (26.0, 50.0), (26.0, 50.0)]);
        assert_eq!(record(30, 50), [(0.0, 10.0), (30.0, 50.0), (30.0, 50.0)]);
        assert_eq!(record(80, 60), [(0.0, 10.0), (30.0, 50.0), (30.0, 50.0)]);
        assert_eq!(record(81, 60), [(0.0, 10.0), (30.0, 50.0), (81.0, 60.0)]);
        assert_eq!(record(90, 55), [(0.0, 10.0), (30.0, 50.0), (90.0, 55.0)]);
        assert_eq!(record(100, 70), [(0.0, 10.0), (30.0, 50.0), (90.0, 55.0)]);
        assert_eq!(record(101, 70), [(30.0, 50.0), (90.0, 55.0), (101.0, 70.0)]);
        assert_eq!(
            record(191, 80),
            [(101.0, 70.0), (191.0, 80.0), (191.0, 80.0)],
            "two samples have expired"
        );
        assert_eq!(record(291, 90)[0], (191.0, 80.0));
        assert_eq!(record(392, 95), [(392.0, 95.0); 3], "all samples have expired");
        assert_eq!(record(393, 95), [(393.0, 95.0); 3], "an equal sample is newer");
    }
}

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
}

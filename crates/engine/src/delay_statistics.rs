//! Delay statistics of a pipe: a histogram whose size does not depend on the length of the run.
//!
//! A class is a bin of the histogram, 1/32 of an octave wide (log-linear, as in HdrHistogram). Percentiles are
//! therefore exact to 1.6 % and 16 ns. To find a value's class, the value is converted to a 32-bit float. The float's
//! exponent and the first five bits of its fraction give the class.

use lasthop_base::Duration;

/// Largest delay that is recorded, ns (146 years). Longer delays are clamped to this value.
const MAX_NANOS: u64 = 1 << 62;
/// Offset in ns added to each delay, so that every recorded value is at least 2^10. Class 0 begins at this value.
const MIN_NANOS: u64 = 1 << 10;
/// Number of low-order bits of the float's 23-bit fraction that do not affect the class. The other 5 bits do.
const CLASS_SHIFT: u32 = 23 - 5;
/// High-order bits of [`MIN_NANOS`] as a 32-bit float: the exponent bias 127 plus the exponent 10, followed by five
/// fraction bits. Class 0 has these bits.
const FIRST_CLASS: u32 = (127 + 10) << 5;
/// Number of classes, enough for all 64-bit numbers; a power of two.
const CLASSES: usize = 2048;
/// Classes added at once when the histogram grows: 8 octaves, a power of two.
const CLASSES_PER_GROWTH: usize = 256;

/// Statistics of the time that packets spend on a pipe in addition to the propagation delay: queueing, transmission,
/// and link-layer retransmissions.
#[derive(Clone, Debug)]
pub struct DelayStatistics {
    /// [`MIN_NANOS`] minus the propagation delay, ns. The recorded value is the sum of this number and a packet's time
    /// on the pipe.
    offset: i64,
    /// Lower 64 bits of the sum in ns of all recorded values, each of which includes [`MIN_NANOS`].
    sum: u64,
    /// Upper 64 bits of the sum of all recorded values.
    sum_above: u64,
    /// Number of packets in each class, up to the largest class needed.
    counts: Vec<u64>,
}

impl DelayStatistics {
    /// Creates empty statistics of a pipe with this propagation delay.
    pub fn new(propagation: Duration) -> DelayStatistics {
        DelayStatistics {
            offset: MIN_NANOS as i64 - propagation.as_nanos() as i64,
            sum: 0,
            sum_above: 0,
            counts: Vec::new(),
        }
    }

    /// Records a packet's time on the pipe. `time` includes the propagation delay.
    pub(crate) fn record(&mut self, time: Duration) {
        let mut nanos = (time.as_nanos() as i64).wrapping_add(self.offset);
        if nanos < MIN_NANOS as i64 {
            nanos = self.out_of_range(time);
        }
        let (sum, carries) = self.sum.overflowing_add(nanos as u64);
        self.sum = sum;
        if carries {
            self.sum_above += 1;
        }
        let class = class(nanos);
        match self.counts.get_mut(class) {
            Some(count) => *count += 1,
            None => self.grow(class),
        }
    }

    /// Clamps a negative or very long delay to the nearest valid delay.
    #[cold]
    fn out_of_range(&self, time: Duration) -> i64 {
        let nanos = i128::from(time.as_nanos()) + i128::from(self.offset);
        nanos.clamp(i128::from(MIN_NANOS), i128::from(MAX_NANOS)) as i64
    }

    /// Adds classes up to at least `class`, and counts one delay in the new class `class`.
    #[cold]
    fn grow(&mut self, class: usize) {
        self.counts.resize((class | (CLASSES_PER_GROWTH - 1)) + 1, 0);
        self.counts[class] = 1;
    }

    /// Clears the statistics, for example at the end of a warm-up.
    pub fn clear(&mut self) {
        (self.sum, self.sum_above) = (0, 0);
        self.counts.fill(0);
    }

    /// Number of recorded packets.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Exact mean of the delays in s; `None` without packets.
    pub fn mean_s(&self) -> Option<f64> {
        let count = self.count();
        let sum = (u128::from(self.sum_above) << 64) + u128::from(self.sum)
            - u128::from(MIN_NANOS) * u128::from(count);
        (count > 0).then(|| sum as f64 / 1e9 / count as f64)
    }

    /// Quantiles of the delays in s, by nearest rank. Each value is the middle of the class in which the quantile lies.
    /// `None` without packets.
    pub fn quantiles_s<const SHARES: usize>(&self, shares: [f64; SHARES]) -> Option<[f64; SHARES]> {
        let count = self.count();
        let of = |share: f64| {
            let rank = ((share * count as f64).ceil() as u64).clamp(1, count);
            let mut below = 0;
            let reaches = |count: &u64| {
                below += count;
                below >= rank
            };
            let at = self.counts.iter().position(reaches).unwrap_or_default();
            let middle = f64::midpoint(lowest(at), lowest(at + 1)) - MIN_NANOS as f64;
            middle / 1e9
        };
        (count > 0).then(|| shares.map(of))
    }
}

/// Returns the class of a delay. `nanos` is the delay in ns plus the offset [`MIN_NANOS`].
fn class(nanos: i64) -> usize {
    let beginning = (nanos as f32).to_bits() >> CLASS_SHIFT;
    beginning.wrapping_sub(FIRST_CLASS) as usize & (CLASSES - 1)
}

fn lowest(class: usize) -> f64 {
    f64::from(f32::from_bits((class as u32 + FIRST_CLASS) << CLASS_SHIFT))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other_and_hold_what_they_say() {
        assert_eq!((lowest(0), class(MIN_NANOS as i64)), (1024.0, 0));
        for number in 0..(40 << 5) {
            let (low, next) = (lowest(number), lowest(number + 1));
            assert!(next > low && next / low < 1.0 + 1.0 / 31.9, "class {number}: {low} to {next}");
            assert_eq!((class(low as i64), class(next as i64)), (number, number + 1));
            // The test value lies at 0.99 of the class's width, because a value closer to the upper bound may round to
            // the next class.
            assert_eq!(class(((next - low) * 0.99 + low) as i64), number);
        }
    }

    /// Compares the statistics with a sorted list of all delays. The mean must be exact, and percentiles must agree
    /// within half a class.
    #[test]
    fn percentiles_are_those_of_all_times() {
        let mut random = lasthop_base::Stream::named(5, "waits");
        let propagation = Duration::from_millis(40);
        let mut delays = DelayStatistics::new(propagation);
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..20_000 {
            let delay = Duration::from_secs_f64(random.exponential(0.02));
            delays.record(propagation + delay);
            all.push(delay.as_secs());
        }
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / 20_000.0;
        assert!((delays.mean_s().unwrap() - mean).abs() < 1e-9);
        assert_eq!(delays.count(), 20_000);
        for (is, at) in
            delays.quantiles_s([0.5, 0.95, 0.99]).unwrap().into_iter().zip([9_999, 18_999, 19_799])
        {
            let true_one: f64 = all[at];
            assert!((is / true_one - 1.0).abs() < 1.0 / 63.0, "{at}: {is}, not {true_one}");
        }
        delays.clear();
        assert_eq!((delays.count(), delays.mean_s(), delays.quantiles_s([0.5])), (0, None, None));
    }

    /// The delays of 2,000,000 packets, 10,000 s each, sum to 2e19 ns, which does not fit in 64 bits. The mean must
    /// still be exact.
    #[test]
    fn neither_a_wait_nor_their_sum_overflows() {
        let mut delays = DelayStatistics::new(Duration::from_millis(40));
        for _ in 0..2_000_000 {
            delays.record(Duration::from_secs(10_000) + Duration::from_millis(40));
        }
        assert_eq!(delays.mean_s(), Some(10_000.0));
        let [median] = delays.quantiles_s([0.5]).unwrap();
        assert!((median / 10_000.0 - 1.0).abs() < 1.0 / 63.0, "{median}");
        let mut delays = DelayStatistics::new(Duration::ZERO);
        delays.record(Duration::MAX);
        assert!(delays.mean_s().unwrap() > 1e9);
    }
}

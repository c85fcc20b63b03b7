//! How long packets took on a pipe: a histogram of fixed size, whatever the length of a run.
//!
//! Classes are 1/32 of an octave wide from 33 us on, 1.024 us below: a percentile is within 1.6 % of the true one, or half
//! a microsecond (log-linear classes, as HdrHistogram's).

use lasthop_base::{Duration, Time};

/// Nanoseconds of a unit, as a shift: 1.024 us, so that 32 bits last for 73 minutes.
const UNIT: u32 = 10;
/// Classes of an octave, as a shift.
const FINE: u32 = 5;
/// For every number of 32 bits.
const CLASSES: usize = (32 - FINE as usize + 1) << FINE;

/// Times on a pipe less its propagation delay: in the queue, in transmission and in the link layer's repeats.
#[derive(Clone, Debug)]
pub struct Waits {
    propagation: Duration,
    sum: u128,
    counts: Box<[u64; CLASSES]>,
}

impl Waits {
    /// None yet, on a pipe with this propagation delay.
    pub fn new(propagation: Duration) -> Waits {
        Waits { propagation, sum: 0, counts: Box::new([0; CLASSES]) }
    }

    /// A packet took so long to the pipe's other end.
    #[inline]
    pub(crate) fn note(&mut self, took: Duration) {
        let nanos = took.saturating_sub(self.propagation).as_nanos();
        self.sum += u128::from(nanos);
        if let Some(count) = self.counts.get_mut(class(nanos >> UNIT)) {
            *count += 1;
        }
    }

    /// Forgets what was, as at the end of a warm-up.
    pub fn clear(&mut self) {
        self.sum = 0;
        self.counts.fill(0);
    }

    /// How many packets.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Their mean, s, exactly; `None` without any.
    pub fn mean_s(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum as f64 / 1e9 / count as f64)
    }

    /// The time that this share of them did not exceed (the nearest rank), s: the middle of its class.
    pub fn quantile_s(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut below = 0;
        let at = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        let (low, width) = bounds(at);
        Some((low as f64 + width as f64 / 2.0) * f64::from(1 << UNIT) / 1e9)
    }
}

/// The class of a number of units; what does not fit 32 bits is in the last one.
#[inline]
fn class(units: u64) -> usize {
    let units = units.min(u64::from(u32::MAX)) as u32;
    let octave = (units | (1 << FINE)).ilog2() - FINE;
    ((octave << FINE) + (units >> octave)) as usize
}

/// The smallest number of a class, and how many it has.
fn bounds(class: usize) -> (u64, u64) {
    let octave = (class >> FINE).saturating_sub(1);
    let within = class - (octave << FINE);
    ((within as u64) << octave, 1 << octave)
}

/// A time in units, by which a packet that waits in an element remembers when it joined.
#[inline]
pub(crate) fn stamp(now: Time) -> u32 {
    (now.as_nanos() >> UNIT) as u32
}

/// From a stamp to a time.
#[inline]
pub(crate) fn since(stamped: u32, at: Time) -> Duration {
    Duration::from_nanos(u64::from(stamp(at).wrapping_sub(stamped)) << UNIT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_follow_each_other_and_hold_what_they_say() {
        let mut expected = 0;
        for class_number in 0..CLASSES {
            let (low, width) = bounds(class_number);
            assert_eq!(low, expected, "class {class_number}");
            assert_eq!((class(low), class(low + width - 1)), (class_number, class_number));
            expected = low + width;
        }
        assert_eq!(expected, 1 << 32);
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    /// Against all times, sorted: means exactly, percentiles within half a class.
    #[test]
    fn percentiles_are_those_of_all_times() {
        let mut random = lasthop_base::Stream::named(5, "waits");
        let propagation = Duration::from_millis(40);
        let mut waits = Waits::new(propagation);
        let mut all: Vec<f64> = Vec::new();
        for _ in 0..20_000 {
            let wait = Duration::from_secs_f64(random.exponential(0.02));
            waits.note(propagation + wait);
            all.push(wait.as_secs());
        }
        all.sort_by(f64::total_cmp);
        let mean = all.iter().sum::<f64>() / 20_000.0;
        assert!((waits.mean_s().unwrap() - mean).abs() < 1e-9);
        assert_eq!(waits.count(), 20_000);
        for (share, at) in [(0.5, 9_999), (0.95, 18_999), (0.99, 19_799)] {
            let (is, true_one) = (waits.quantile_s(share).unwrap(), all[at]);
            assert!((is / true_one - 1.0).abs() < 1.0 / 63.0, "{share}: {is}, not {true_one}");
        }
        waits.clear();
        assert_eq!((waits.count(), waits.mean_s(), waits.quantile_s(0.5)), (0, None, None));
    }

    #[test]
    fn stamps_outlive_their_32_bits() {
        for secs in [0, 4397, 4398, 1_000_000] {
            let (joined, arrived) = (Time::ZERO + Duration::from_secs(secs), Duration::from_millis(1500));
            let took = since(stamp(joined), joined + arrived);
            assert!(took.abs_diff(arrived) <= Duration::from_nanos(1024), "{took}");
        }
    }
}

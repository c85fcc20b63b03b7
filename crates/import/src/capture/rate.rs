//! Estimates a link's rate as the highest rate at which many bytes arrived evenly.

use std::collections::VecDeque;

/// Length of long packet trains, segments. Long trains measure the rate of a busy link.
const LONG: f64 = 16.0;
/// Length of short packet trains, segments. Short trains measure the rate of a link that is seldom busy.
const SHORT: f64 = 3.0;
/// Number of classes of the rate histogram per factor of e (2.718). The scale of the histogram is logarithmic.
const PER_FOLD: f64 = 200.0;
/// Lower bound of the first class, bit/s.
const MIN_RATE: f64 = 1000.0;
/// Half the width of a peak of the histogram, in classes. A peak has 6 classes, which together span 3 % of the rate.
const NEAR: usize = 3;
/// Smallest share of the bytes that must arrive at a rate before the rate is accepted as the link's rate.
const SHARE: f64 = 0.05;
/// Smallest share of the bytes that must arrive in long trains at the rate or faster if the link is to count as busy.
const BUSY: f64 = 0.5;

#[derive(Debug)]
pub(crate) struct RateEstimator {
    bytes: f64,
    long: TrainRates,
    short: TrainRates,
    tenths: Vec<f32>,
}

/// Longest time for which the rate is stored, in tenths of a second: one day.
const MAX_TENTHS: usize = 864_000;

#[derive(Debug)]
struct TrainRates {
    length: f64,
    /// Pairs of a recent arrival time, s, and the total number of bytes that had arrived by then.
    recent: VecDeque<(f64, f64)>,
    /// Number of bytes for each class of rates.
    classes: Vec<f64>,
}

impl RateEstimator {
    pub(crate) fn new(segment: u32) -> RateEstimator {
        let train_rates = |times: f64| TrainRates {
            length: times * f64::from(segment.max(1)),
            recent: VecDeque::new(),
            classes: Vec::new(),
        };
        RateEstimator { bytes: 0.0, long: train_rates(LONG), short: train_rates(SHORT), tenths: Vec::new() }
    }

    pub(crate) fn push(&mut self, at: f64, bytes: f64) {
        if bytes <= 0.0 {
            return;
        }
        self.bytes += bytes;
        let tenth = (at * 10.0).max(0.0) as usize;
        if tenth < MAX_TENTHS {
            if tenth >= self.tenths.len() {
                self.tenths.resize(tenth + 1, 0.0);
            }
            self.tenths[tenth] += bytes as f32;
        }
        self.long.push(at, self.bytes, bytes);
        self.short.push(at, self.bytes, bytes);
    }

    /// Returns two values:
    /// * the highest rate in bit/s at which a twentieth of the bytes arrived;
    /// * the share of the bytes that arrived at this rate or faster.
    pub(crate) fn rate(&self) -> Option<(f64, f64)> {
        let long = self.long.rate();
        match long {
            Some((_, share)) if share >= BUSY => long,
            _ => self.short.rate().map(|(rate, _)| (rate, self.long.share_from(0.95 * rate))).or(long),
        }
    }

    pub(crate) fn tenths(&self) -> &[f32] {
        &self.tenths
    }
}

fn class_of(rate: f64) -> usize {
    (libm::log((rate / MIN_RATE).clamp(1.0, 1e10)) * PER_FOLD) as usize
}

impl TrainRates {
    fn push(&mut self, at: f64, all: f64, bytes: f64) {
        // Bytes with the same arrival time form one entry.
        match self.recent.back_mut() {
            Some(last) if last.0 == at => last.1 = all,
            _ => self.recent.push_back((at, all)),
        }
        while self.recent.get(1).is_some_and(|second| all - second.1 >= self.length) {
            self.recent.pop_front();
        }
        if let Some((begun, before)) = self.recent.front().copied()
            && all - before >= self.length
            && at > begun
        {
            let class = class_of((all - before) * 8.0 / (at - begun));
            if class >= self.classes.len() {
                self.classes.resize(class + 1, 0.0);
            }
            self.classes[class] += bytes;
        }
    }

    fn share_from(&self, rate: f64) -> f64 {
        let total: f64 = self.classes.iter().sum();
        let above: f64 = self.classes.iter().skip(class_of(rate)).sum();
        if total > 0.0 { above / total } else { 0.0 }
    }

    fn rate(&self) -> Option<(f64, f64)> {
        let total: f64 = self.classes.iter().sum();
        if total <= 0.0 {
            return None;
        }
        let middle = |from: usize, to: usize| {
            let weight: f64 = self.classes[from..to].iter().sum();
            let sum: f64 = (from..to).map(|at| self.classes[at] * (at as f64 + 0.5)).sum();
            MIN_RATE * libm::exp(sum / weight / PER_FOLD)
        };
        let (mut above, mut best) = (0.0, None);
        for top in (0..self.classes.len()).rev() {
            let from = (top + 1).saturating_sub(2 * NEAR);
            let here: f64 = self.classes[from..=top].iter().sum();
            if here >= SHARE * total {
                best = Some((from, top + 1, (above + here) / total));
                break;
            }
            above += self.classes[top];
        }
        let (mut from, mut to, share) = match best {
            Some(best) => best,
            None => {
                // If no class is a clear peak, the result is the highest rate for which a twentieth of the bytes
                // arrived at this rate or faster.
                let mut above = 0.0;
                let at = (0..self.classes.len()).rev().find(|at| {
                    above += self.classes[*at];
                    above >= SHARE * total
                })?;
                return Some((middle(at, at + 1), SHARE));
            }
        };
        let weight = |from: usize, to: usize| self.classes[from..to].iter().sum::<f64>();
        while from > 0 && weight(from - 1, to - 1) > weight(from, to) {
            (from, to) = (from - 1, to - 1);
        }
        Some((middle(from, to), share))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_trains_is_found_among_pauses_and_lumps() {
        // Trains of 20 packets of 1500 bytes at 12 Mbit/s (1 ms each), every 100 ms, with an occasional burst.
        let mut passed = RateEstimator::new(1500);
        for train in 0..100 {
            for packet in 0..20 {
                passed.push(f64::from(train) * 0.1 + f64::from(packet) * 0.001, 1500.0);
            }
            if train % 20 == 0 {
                passed.push(f64::from(train) * 0.1 + 0.0191, 15_000.0);
            }
        }
        let (rate, share) = passed.rate().unwrap();
        assert!((rate / 12e6 - 1.0).abs() < 0.03, "{rate}");
        // In a train of 20 packets, only the last three or four packets follow 16 others, so only these packets give a
        // sample.
        assert!(share > 0.1 && share < 0.5, "{share}");
    }
}

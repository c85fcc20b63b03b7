//! Numbers measured in one repetition of a candidate.

use super::scenarios::FlowRole;
use lasthop_sim::{Outcome, Samples};

/// Reported percentiles, %.
pub const PERCENTILES: [f64; 3] = [50.0, 95.0, 99.0];

/// Numbers measured in one repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepetitionMeasures {
    /// Goodput of the user's flows in the run in which short transfers share the path, kbit/s. The goodput covers the
    /// whole run.
    pub goodput_kbps: f64,
    /// Percentiles of the smoothed RTT of the user's flows, ms. The RTT is sampled at equal intervals. `None` if the
    /// run has no sample.
    pub rtt_ms: Option<[f64; 3]>,
    /// Percentiles of the duration of short transfers, s. For an unfinished transfer, the duration ends with the run.
    /// `None` if the run has no short transfer.
    pub short_s: Option<[f64; 3]>,
    /// Goodput of the neighbour in the run in which the neighbour shares the path with the user's flows, kbit/s. The
    /// neighbour is a flow without the candidate's changes.
    pub neighbour_kbps: f64,
}

impl RepetitionMeasures {
    pub(super) fn of(
        short: &Outcome,
        samples: &Samples,
        neighbour: &Outcome,
        role_of: impl Fn(&str) -> FlowRole,
    ) -> RepetitionMeasures {
        let is = |place: usize, wanted: FlowRole| {
            short.flows.get(place).is_some_and(|it| role_of(&it.name) == wanted)
        };
        let times: Vec<f64> = short
            .flows
            .iter()
            .filter(|flow| role_of(&flow.name) == FlowRole::Short)
            .map(|flow| flow.active_s)
            .collect();
        let rtts: Vec<f64> = samples
            .flows
            .iter()
            .filter(|sample| is(sample.flow, FlowRole::Own) && sample.time.as_secs() >= short.warmup_s)
            .filter_map(|sample| sample.srtt_ms)
            .collect();
        RepetitionMeasures {
            goodput_kbps: goodput(short, |name| role_of(name) == FlowRole::Own),
            rtt_ms: percentiles(rtts),
            short_s: percentiles(times),
            neighbour_kbps: goodput(neighbour, |name| role_of(name) == FlowRole::Neighbour),
        }
    }

    /// Returns the gain over `base`: the logarithm of the geometric mean of the ratios that `aim` selects. Each ratio
    /// compares one number of `self` with the same number of `base`. A ratio above 1 is an improvement.
    pub fn score(&self, base: &RepetitionMeasures, aim: Aim) -> f64 {
        let short = |it: &RepetitionMeasures| it.short_s.map_or(1.0, |[_, p95, _]| p95);
        let goodput = (self.goodput_kbps, base.goodput_kbps);
        let sooner = (short(base), short(self));
        let neighbour = (self.neighbour_kbps, base.neighbour_kbps);
        let ratios = match aim {
            Aim::All => vec![goodput, sooner, neighbour],
            Aim::Goodput => vec![goodput],
            Aim::Short => vec![sooner],
        };
        let log = |(one, other): &(f64, f64)| libm::log(one.max(LEAST) / other.max(LEAST));
        ratios.iter().map(log).sum::<f64>() / ratios.len() as f64
    }
}

/// Ranking criterion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Aim {
    /// Geometric mean of three gains: goodput, speed-up of short transfers (95th percentile), and the neighbour's
    /// goodput.
    #[default]
    All,
    /// Gain in goodput.
    Goodput,
    /// Speed-up of short transfers: ratio of the 95th percentiles of their durations.
    Short,
}

impl Aim {
    /// Returns a description of the score in words.
    pub const fn words(self) -> &'static str {
        match self {
            Aim::All => {
                "the geometric mean of three gains: goodput, speed-up of short transfers (95th percentile), and goodput \
                 of a neighbour without the change"
            }
            Aim::Goodput => "the gain in goodput",
            Aim::Short => "the speed-up of short transfers (95th percentile)",
        }
    }
}

/// Lower bound of rates, kbit/s, and of durations, s. The bound keeps the logarithm of a ratio finite, even for a flow
/// that delivers nothing.
const LEAST: f64 = 1e-3;

fn goodput(outcome: &Outcome, is_meant: impl Fn(&str) -> bool) -> f64 {
    let flows = outcome.flows.iter().filter(|flow| is_meant(&flow.name));
    let bytes: u64 = flows.map(|flow| flow.delivered_bytes).sum();
    if outcome.duration_s > 0.0 { bytes as f64 * 8.0 / outcome.duration_s / 1e3 } else { 0.0 }
}

fn percentiles(mut values: Vec<f64>) -> Option<[f64; 3]> {
    if values.is_empty() {
        return None;
    }
    values.sort_by(f64::total_cmp);
    let last = values.len() - 1;
    let rank = |percent: f64| libm::ceil(percent / 100.0 * values.len() as f64) as usize;
    Some(PERCENTILES.map(|percent| values[rank(percent).saturating_sub(1).min(last)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(percentiles(hundred), Some([50.0, 95.0, 99.0]));
        assert_eq!(percentiles(vec![7.0]), Some([7.0; 3]));
        assert_eq!(percentiles(Vec::new()), None);
    }

    #[test]
    fn twice_the_goodput_at_half_a_neighbour_is_no_gain() {
        let base = RepetitionMeasures {
            goodput_kbps: 100.0,
            rtt_ms: None,
            short_s: Some([1.0; 3]),
            neighbour_kbps: 50.0,
        };
        let greedy = RepetitionMeasures { goodput_kbps: 200.0, neighbour_kbps: 25.0, ..base };
        assert!(greedy.score(&base, Aim::All).abs() < 1e-12);
        let prompt = RepetitionMeasures { short_s: Some([0.1, 0.125, 0.2]), ..base };
        assert!(
            (prompt.score(&base, Aim::All) - libm::log(2.0)).abs() < 1e-12,
            "a speed-up of 8 gives a factor of 2 in the geometric mean of three ratios"
        );
        assert_eq!(prompt.score(&base, Aim::Goodput), 0.0);
        assert!((prompt.score(&base, Aim::Short) - libm::log(8.0)).abs() < 1e-12);
        assert!(RepetitionMeasures { goodput_kbps: 0.0, ..base }.score(&base, Aim::All).is_finite());
    }
}

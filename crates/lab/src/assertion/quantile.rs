//! Percentiles of the values within one repetition, such as `p95(rtt)`.

use crate::runs::classes::is_named;
use crate::runs::completion::Completion;
use lasthop_base::Time;
use lasthop_sim::{Outcome, Samples};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Quantile {
    of: SampledQuantity,
    /// Percentile, above 0 and below 100.
    percent: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SampledQuantity {
    /// Smoothed RTT at the sender, ms, sampled at equal intervals (scenario key `sample`).
    Rtt,
    /// Smoothed RTT minus the flow's smallest RTT in the run, ms. The difference is the delay from queues and link
    /// retransmissions.
    QueueDelay,
    /// Duration of finite transfers, s. A transfer that the end of the run cuts off is censored: only a lower bound of
    /// its duration is known.
    Completion,
}

pub(super) const NAMES: [&str; 3] = ["rtt", "queue_delay", "completion"];

impl Quantile {
    /// Parses `p95(rtt)`, with or without a unit suffix.
    pub(super) fn parse(text: &str) -> Option<Quantile> {
        let (percent, rest) = text.strip_prefix('p')?.split_once('(')?;
        let percent: f64 =
            percent.trim().parse().ok().filter(|percent| *percent > 0.0 && *percent < 100.0)?;
        let of = match rest.trim().strip_suffix(')')?.trim() {
            "rtt" => SampledQuantity::Rtt,
            "queue_delay" => SampledQuantity::QueueDelay,
            "completion" => SampledQuantity::Completion,
            _ => return None,
        };
        Some(Quantile { of, percent })
    }

    pub(super) fn name(self) -> String {
        let (name, unit) = match self.of {
            SampledQuantity::Rtt => ("rtt", "ms"),
            SampledQuantity::QueueDelay => ("queue_delay", "ms"),
            SampledQuantity::Completion => ("completion", "s"),
        };
        format!("p{}({name})_{unit}", self.percent)
    }

    pub(super) fn needs_samples(self) -> bool {
        self.of != SampledQuantity::Completion
    }

    /// Returns the value for one flow or class, or for all flows together if `flow` is `None`. Returns `None` if the
    /// value is undefined.
    pub(super) fn of(self, outcome: &Outcome, samples: Option<&Samples>, flow: Option<&str>) -> Option<f64> {
        let is_meant = |name: &str| flow.is_none_or(|flow| is_named(name, flow));
        match self.of {
            SampledQuantity::Completion => {
                let flows = outcome.flows.iter().filter(|flow| is_meant(&flow.name));
                Completion::quantile_of(flows, self.percent / 100.0)
            }
            SampledQuantity::Rtt | SampledQuantity::QueueDelay => {
                let measured = |time: &Time| time.as_secs() >= outcome.warmup_s;
                let after = samples?.flows.iter().filter(|sample| measured(&sample.time));
                let values = after.filter_map(|sample| {
                    let flow = outcome.flows.get(sample.flow).filter(|flow| is_meant(&flow.name))?;
                    let base = match self.of {
                        SampledQuantity::Rtt => 0.0,
                        _ => flow.smallest_rtt_s? * 1000.0,
                    };
                    Some((sample.srtt_ms? - base).max(0.0))
                });
                nearest_rank(values.collect(), self.percent)
            }
        }
    }
}

fn nearest_rank(mut values: Vec<f64>, percent: f64) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let rank = libm::ceil(percent / 100.0 * values.len() as f64) as usize;
    values.get(rank.saturating_sub(1)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_the_nearest() {
        let hundred: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        assert_eq!(nearest_rank(hundred.clone(), 95.0), Some(95.0));
        assert_eq!(nearest_rank(hundred, 0.5), Some(1.0));
        assert_eq!(nearest_rank(vec![7.0], 99.9), Some(7.0));
        assert_eq!(nearest_rank(Vec::new(), 50.0), None);
    }
}

//! Total TCP throughput against time (Figs. 3.2 to 3.13).

use super::setting::{Load, Senders, Setting, TCP_FLOWS, Variant};
use crate::figure::Point;
use lasthop_base::Duration;
use lasthop_scenario::Problem;
use lasthop_sim::{Samples, run_probed};
use rayon::prelude::*;

/// One run each: total throughput by half second, of all TCP flows of a variant.
pub(super) struct Course {
    pub(super) load: Load,
    pub(super) curves: Vec<(String, Vec<Point>)>,
}

const STEP_MS: u64 = 500;

pub(super) fn run(seed: u64) -> Result<Vec<Course>, Problem> {
    let setting = Setting::default();
    Load::TABLE.into_par_iter().map(|load| course(&setting, load, seed)).collect()
}

fn course(setting: &Setting, load: Load, seed: u64) -> Result<Course, Problem> {
    let mut curves = Vec::new();
    let mut senders: Vec<Senders> = Variant::ALL.map(Senders::All).to_vec();
    senders.push(Senders::Mixed);
    for senders in senders {
        let mut scenario = setting.scenario(senders, load, seed)?;
        scenario.sample = Duration::from_millis(STEP_MS);
        let (_, samples) = run_probed(&scenario, seed);
        match senders {
            Senders::All(variant) => {
                curves.push((variant.name().to_string(), totals(&samples, |_| true)));
            }
            Senders::Mixed => {
                for variant in [Variant::Reno, Variant::Sack] {
                    let points = totals(&samples, |flow| senders.variant(flow) == variant);
                    curves.push((format!("{} beside the other", variant.name()), points));
                }
            }
        }
    }
    Ok(Course { load, curves })
}

/// Throughput of the chosen TCP flows in each step, Mbit/s, at the step's end.
fn totals(samples: &Samples, is_chosen: impl Fn(usize) -> bool) -> Vec<Point> {
    let mut delivered: Vec<(f64, u64)> = Vec::new();
    for sample in samples.flows.iter().filter(|sample| sample.flow < TCP_FLOWS && is_chosen(sample.flow)) {
        let time = sample.time.as_secs();
        match delivered.last_mut().filter(|(last, _)| *last == time) {
            Some((_, bytes)) => *bytes += sample.delivered_bytes,
            None => delivered.push((time, sample.delivered_bytes)),
        }
    }
    delivered
        .windows(2)
        .map(|pair| {
            let bits = 8.0 * (pair[1].1 - pair[0].1) as f64;
            Point::exact(pair[1].0, bits / (pair[1].0 - pair[0].0) / 1e6)
        })
        .collect()
}

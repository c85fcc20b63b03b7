//! p while flows join (Fig. 4), and cwnd against time (Figs. 7 and 8).

use super::setting::{Acks, Nodes, Setting};
use crate::study::computed::miyoshi_losses::Losses;
use lasthop_base::{Duration, Time};
use lasthop_scenario::Problem;
use lasthop_sim::{Samples, Watch, run_probed, run_watched};
use std::any::Any;

/// What is drawn.
pub(super) struct Course {
    /// By second: p as the senders count it, and the moving average of Eq. 4.
    pub(super) p: Vec<(f64, f64)>,
    /// cwnd with one and with two ACKs, at p_err = 0.1 and at 0.01.
    pub(super) windows: [[Samples; 2]; 2],
}

/// The p_err of Figs. 7 and 8.
pub(super) const WINDOWS_AT: [f64; 2] = [0.1, 0.01];
/// p_err of Fig. 4, which the paper does not give.
pub(super) const JOINING_AT: f64 = 0.01;
/// Seconds between the starts of two flows in Fig. 4.
pub(super) const APART: u64 = 10;

pub(super) fn run(seed: u64) -> Result<Course, Problem> {
    let setting = Setting::default();
    let window = |p_err, acks| -> Result<Samples, Problem> {
        let mut scenario = setting.scenario(Nodes::One, acks, p_err)?;
        scenario.duration = Duration::from_secs(60);
        scenario.sample = Duration::from_millis(50);
        Ok(run_probed(&scenario, seed).1)
    };
    let pair = |p_err| Ok([window(p_err, Acks::One)?, window(p_err, Acks::Two)?]);
    let windows = [pair(WINDOWS_AT[0])?, pair(WINDOWS_AT[1])?];
    let mut joining = setting.scenario(Nodes::Five, Acks::One, JOINING_AT)?;
    joining.duration = Duration::from_secs(5 * APART);
    for (number, flow) in joining.flows.iter_mut().enumerate() {
        flow.start = Time::ZERO + Duration::from_secs(number as u64 * APART);
    }
    let watch = Watch { observers: vec![Box::new(Losses::default())], probes: false };
    let (_, _, observers) = run_watched(&joining, seed, watch);
    let losses =
        observers.into_iter().filter_map(|one| (one as Box<dyn Any>).downcast::<Losses>().ok()).next();
    let p = losses.map_or(Vec::new(), |losses| losses.smoothed());
    Ok(Course { p, windows })
}

//! cwnd against time (Figs. 4.6 and 4.11).

use super::SCENARIO;
use super::experiments::{link, wait};
use lasthop_base::Duration;
use lasthop_scenario::{Draft, Problem};
use lasthop_sim::{Samples, run_probed};

/// One run each at FER 5.9 %, by WT in ms.
pub(super) fn run(seed: u64) -> Result<Vec<(f64, Samples)>, Problem> {
    [0.0, 300.0, 2000.0]
        .into_iter()
        .map(|millis| {
            let mut draft = Draft::parse(SCENARIO, "papers/koga4/ordered.toml")?;
            for (path, value) in link(384.0, 0.059).into_iter().chain([wait(millis)]) {
                draft.set(path, &value)?;
            }
            let mut scenario = draft.check()?;
            scenario.sample = Duration::from_millis(200);
            Ok((millis, run_probed(&scenario, seed).1))
        })
        .collect()
}

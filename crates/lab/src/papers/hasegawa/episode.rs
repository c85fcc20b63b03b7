//! cwnd against time (Figs. 1 and 4) and one splitting episode by packet (Fig. 5).

use super::setting::{Receiver, Setting};
use crate::study::computed::hasegawa_episode::{Shaped, Shapes};
use lasthop_base::Duration;
use lasthop_scenario::Problem;
use lasthop_sim::{Samples, Watch, run_probed, run_watched};
use std::any::Any;

/// The bit error rate of these pictures.
pub(super) const BER: f64 = 5e-5;
/// How long the pictured runs are, s.
const SECONDS: u64 = 30;

/// What is drawn.
pub(super) struct Episode {
    /// Samples of plain SACK.
    pub(super) plain: Samples,
    /// Samples with the mac classifier.
    pub(super) split: Samples,
    /// The packets of the longest of the first episodes: r_queue, s_queue, number of ACKs.
    pub(super) packets: Vec<Shaped>,
}

pub(super) fn run(seed: u64) -> Result<Episode, Problem> {
    let scenario = |receiver| -> Result<_, Problem> {
        let mut scenario = Setting::default().scenario(receiver, BER)?;
        scenario.duration = Duration::from_secs(SECONDS);
        scenario.sample = Duration::from_millis(20);
        Ok(scenario)
    };
    let (_, plain) = run_probed(&scenario(Receiver::Sack)?, seed);
    let split_scenario = scenario(Receiver::Mac)?;
    let (_, split) = run_probed(&split_scenario, seed);
    let watch = Watch { observers: vec![Box::new(Shapes::default())], probes: false };
    let (_, _, observers) = run_watched(&split_scenario, seed, watch);
    let shapes =
        observers.into_iter().filter_map(|one| (one as Box<dyn Any>).downcast::<Shapes>().ok()).next();
    let packets = shapes.map_or(Vec::new(), |shapes| shapes.longest());
    Ok(Episode { plain, split, packets })
}

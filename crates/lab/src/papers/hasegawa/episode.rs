//! cwnd against time (Figs. 1 and 4) and one splitting episode by packet (Fig. 5).

use super::setting::{Receiver, Setting};
use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Problem;
use lasthop_sim::{Samples, Watch, run_probed, run_watched};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
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

/// One packet's acknowledgement.
#[derive(Clone, Copy)]
pub(super) struct Shaped {
    pub(super) r_queue: u32,
    pub(super) s_queue: u32,
    pub(super) acks: u32,
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

/// Collects the acknowledgements of each episode: consecutive packets of which some were split.
#[derive(Default)]
struct Shapes {
    current: Vec<Shaped>,
    /// Packets answered once since the last split.
    single: usize,
    longest: Vec<Shaped>,
}

/// So many single ACKs in a row end an episode.
const END: usize = 20;
/// No more packets than a picture can show.
const MOST: usize = 60;

impl Shapes {
    fn longest(mut self) -> Vec<Shaped> {
        self.finish();
        self.longest
    }

    fn finish(&mut self) {
        let kept = self.current.len().saturating_sub(self.single);
        self.current.truncate(kept.min(MOST));
        if self.current.len() > self.longest.len() {
            self.longest = std::mem::take(&mut self.current);
        }
        self.current.clear();
        self.single = 0;
    }
}

impl Observer for Shapes {
    fn on_packet(&mut self, _: Time, _: PipeId, _: &Packet, _: Fate) {}

    fn on_event(&mut self, _: Time, _: FlowId, _: Side, event: &Event) {
        let Event::Shaped { acks, queue_before, queue_after } = event else { return };
        if *acks == 1 && self.current.is_empty() {
            return;
        }
        self.single = if *acks == 1 { self.single + 1 } else { 0 };
        self.current.push(Shaped { r_queue: *queue_before, s_queue: *queue_after, acks: *acks });
        if self.single >= END {
            self.finish();
        }
    }
}

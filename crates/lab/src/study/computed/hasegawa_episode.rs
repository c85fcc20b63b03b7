//! hasegawa, Fig. 5: one splitting episode by packet.

use super::With;
use crate::figure::{Curve, CurveKind, Point};
use crate::progress::Progress;
use crate::study::study::Study;
use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Problem;
use lasthop_sim::{Watch, run_watched};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;

/// By data packet of the longest episode in a run of `duration_s`: ACKs waiting before and after, ACKs that left (Eq. 4),
/// ACKs given (Eq. 5).
///
/// # Errors
/// If `with` names no cell, or lacks `duration_s`.
pub fn curves(study: &Study, with: &toml::Table, seed: u64, _: &dyn Progress) -> Result<Vec<Curve>, Problem> {
    let with = With { study, name: "hasegawa::episode", table: with };
    let mut scenario = with.scenario(seed)?;
    scenario.duration = Duration::from_secs_f64(with.number("duration_s")?);
    let watch = Watch { observers: vec![Box::new(Shapes::default())], ..Watch::default() };
    let (_, _, observers) = run_watched(&scenario, seed, watch);
    let shapes =
        observers.into_iter().filter_map(|one| (one as Box<dyn Any>).downcast::<Shapes>().ok()).next();
    let packets = shapes.map_or(Vec::new(), |shapes| shapes.longest());
    let by_packet = |name: &str, value: &dyn Fn(usize) -> f64| Curve {
        name: name.into(),
        kind: CurveKind::Steps,
        points: (0..packets.len()).map(|at| Point::exact(at as f64 + 1.0, value(at))).collect(),
    };
    let drained = |at: usize| match at {
        0 => 0.0,
        at => f64::from(packets[at - 1].s_queue.saturating_sub(packets[at].r_queue)),
    };
    Ok(vec![
        by_packet("r_queue", &|at| f64::from(packets[at].r_queue)),
        by_packet("s_queue", &|at| f64::from(packets[at].s_queue)),
        by_packet("dQ", &drained),
        by_packet("ACK_i", &|at| f64::from(packets[at].acks)),
    ])
}

/// One packet's acknowledgement.
#[derive(Clone, Copy)]
pub(crate) struct Shaped {
    pub(crate) r_queue: u32,
    pub(crate) s_queue: u32,
    pub(crate) acks: u32,
}

/// Collects the acknowledgements of each episode: consecutive packets of which some were split.
#[derive(Default)]
pub(crate) struct Shapes {
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
    pub(crate) fn longest(mut self) -> Vec<Shaped> {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(acks: &[u32]) -> Vec<u32> {
        let mut shapes = Shapes::default();
        for acks in acks {
            let event = Event::Shaped { acks: *acks, queue_before: 0, queue_after: 0 };
            shapes.on_event(Time::ZERO, FlowId::default(), Side::Destination, &event);
        }
        shapes.longest().iter().map(|one| one.acks).collect()
    }

    #[test]
    fn an_episode_begins_and_ends_with_a_split() {
        assert_eq!(shapes(&[1, 1, 5, 1, 4, 1, 1]), [5, 1, 4]);
        // Twenty single ACKs in a row end it; the longer of two is kept.
        let apart = [&[3, 2][..], &[1; 20], &[4, 4, 4]].concat();
        assert_eq!(shapes(&apart), [4, 4, 4]);
    }

    #[test]
    fn an_episode_has_no_more_packets_than_a_picture_can_show() {
        assert_eq!(shapes(&[2; 100]).len(), 60);
    }
}

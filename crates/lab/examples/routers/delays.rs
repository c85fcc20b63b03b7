//! Measures the delays of a flow's packets on one direction of a link.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::{Observation, Outcome, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::collections::BTreeMap;

struct DelayObserver {
    pipe: PipeId,
    flow: FlowId,
    from: Time,
    joined: BTreeMap<u64, Time>,
    millis: Vec<f64>,
}

impl Observer for DelayObserver {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe == self.pipe && packet.flow == self.flow && now >= self.from {
            self.joined.insert(packet.number, now);
            self.on_fate(now, pipe, packet, fate);
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe != self.pipe || fate == Fate::Open {
            return;
        }
        if let (Some(joined), Fate::Arrives(at)) = (self.joined.remove(&packet.number), fate) {
            self.millis.push(at.since(joined).as_millis());
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Runs a scenario. Returns the outcome, and the sorted delays (ms) of a flow's packets in one link direction. Only
/// packets that arrive at the link from time `from` (s) on count. The shortest delay is subtracted from each delay.
pub fn delays(scenario: &Scenario, seed: u64, [pipe, flow]: [u32; 2], from: u64) -> (Outcome, Vec<f64>) {
    let delays = DelayObserver {
        pipe: PipeId(pipe),
        flow: FlowId(flow),
        from: Time::ZERO + Duration::from_secs(from),
        joined: BTreeMap::new(),
        millis: Vec::new(),
    };
    let observation = Observation { observers: vec![Box::new(delays)], ..Observation::default() };
    let (outcome, _, mut observers) = run_observed(scenario, seed, observation);
    let observer: Box<dyn Any> = observers.swap_remove(0);
    let mut millis = observer.downcast::<DelayObserver>().map(|delays| delays.millis).unwrap_or_default();
    millis.sort_by(f64::total_cmp);
    let least = millis.first().copied().unwrap_or_default();
    millis.iter_mut().for_each(|wait| *wait -= least);
    (outcome, millis)
}

pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    sorted.get((sorted.len() as f64 * share) as usize).copied().unwrap_or(f64::NAN)
}

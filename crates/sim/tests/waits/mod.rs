//! Measurement of waiting times on a link.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_sim::{Watch, run_watched};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::collections::BTreeMap;

/// Waiting times of a flow's packets on a pipe since `from`, ms, and bytes carried since then.
struct Waits {
    pipe: PipeId,
    flow: FlowId,
    from: Time,
    joined: BTreeMap<u64, Time>,
    millis: Vec<f64>,
    bytes: u64,
}

impl Observer for Waits {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe == self.pipe && now >= self.from {
            self.joined.insert(packet.number, now);
            self.on_fate(now, pipe, packet, fate);
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe != self.pipe || fate == Fate::Open {
            return;
        }
        let Some(joined) = self.joined.remove(&packet.number) else { return };
        if let Fate::Arrives(at) = fate {
            self.bytes += u64::from(packet.wire_bytes);
            if packet.flow == self.flow {
                self.millis.push(at.since(joined).as_millis());
            }
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: Side, _: &Event) {}
}

/// Waits of flow number `flow` on pipe number `pipe`, in order, and bytes carried, from `from` s on.
pub fn waits(scenario: &Scenario, pipe: u32, flow: u32, from: u64) -> (Vec<f64>, u64) {
    let waits = Waits {
        pipe: PipeId(pipe),
        flow: FlowId(flow),
        from: Time::ZERO + Duration::from_secs(from),
        joined: BTreeMap::new(),
        millis: Vec::new(),
        bytes: 0,
    };
    let watch = Watch { observers: vec![Box::new(waits)], ..Watch::default() };
    let (_, _, mut observers) = run_watched(scenario, 1, watch);
    let observer: Box<dyn Any> = observers.swap_remove(0);
    let mut waits = *observer.downcast::<Waits>().expect("the observer");
    waits.millis.sort_by(f64::total_cmp);
    (waits.millis, waits.bytes)
}

//! Goodputs of a run's flows, and delays of packets on the last link.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::assemble::pipe_of;
use lasthop_sim::{Observation, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{Ecn, FlowId, Packet};
use std::any::Any;
use std::collections::BTreeMap;

pub struct RunMeasures {
    /// Rate at which each flow's payload leaves the link, bit/s.
    pub goodputs: Vec<f64>,
    pub utilisation: f64,
    /// Queueing delays of L4S packets, ms. `classic` holds the queueing delays of all other packets. A queueing delay
    /// is a packet's time on the link minus the shortest such time.
    pub low: QueueingDelays,
    pub classic: QueueingDelays,
    packets: u64,
    marked: u64,
}

pub struct QueueingDelays(Vec<f64>);

impl QueueingDelays {
    fn sorted(mut waits: Vec<f64>) -> QueueingDelays {
        waits.sort_by(f64::total_cmp);
        QueueingDelays(waits)
    }

    pub fn mean(&self) -> Option<f64> {
        (!self.0.is_empty()).then(|| self.0.iter().sum::<f64>() / self.0.len() as f64)
    }

    pub fn p99(&self) -> Option<f64> {
        self.0.get(self.0.len() * 99 / 100).copied()
    }
}

impl RunMeasures {
    pub fn jain(&self) -> Option<f64> {
        let sum: f64 = self.goodputs.iter().sum();
        let squares: f64 = self.goodputs.iter().map(|one| one * one).sum();
        (self.goodputs.len() > 1 && squares > 0.0).then(|| sum * sum / (self.goodputs.len() as f64 * squares))
    }

    /// Returns the share of data packets that leave the link with a CE mark, %.
    pub fn marked(&self) -> Option<f64> {
        (self.packets > 0).then(|| 100.0 * self.marked as f64 / self.packets as f64)
    }
}

/// Runs a scenario and measures the down direction of the last link, from time `from_s` on. All flows of the scenario
/// must use this direction.
pub fn measure(scenario: &Scenario, seed: u64, from_s: u64) -> RunMeasures {
    let from = Time::ZERO + Duration::from_secs(from_s);
    let last = scenario.links.len() - 1;
    let pipe = pipe_of(last, true);
    let link = LinkObserver { pipe, from, joined: BTreeMap::new(), left: Vec::new() };
    let observation = Observation { observers: vec![Box::new(link)], ..Observation::default() };
    let (_, _, mut observers) = run_observed(scenario, seed, observation);
    let observer: Box<dyn Any> = observers.swap_remove(0);
    let left = observer.downcast::<LinkObserver>().map(|link| link.left).unwrap_or_default();

    let service = &scenario.links[last].down.service;
    let end = Time::ZERO + scenario.duration;
    let span = end.since(from).as_secs();
    let capacity = service.bytes_until(end) - service.bytes_until(from);
    let data: Vec<&DeliveredPacket> = left.iter().filter(|one| one.payload > 0).collect();
    // The shortest delay of any data packet is taken as the delay without queueing.
    let shortest = data.iter().map(|one| one.took).fold(f64::INFINITY, f64::min);
    let waits = |is_low: bool| {
        let some = data.iter().filter(|one| one.joined.is_l4s() == is_low);
        QueueingDelays::sorted(some.map(|one| 1e3 * (one.took - shortest)).collect())
    };
    let of_flow = |flow: usize| {
        let mine = data.iter().filter(|one| one.flow.0 as usize == flow);
        mine.map(|one| f64::from(one.payload)).sum::<f64>() * 8.0 / span
    };
    let carried: f64 = left.iter().map(|one| f64::from(one.bytes)).sum();
    RunMeasures {
        goodputs: (0..scenario.flows.len()).map(of_flow).collect(),
        utilisation: carried / capacity,
        low: waits(true),
        classic: waits(false),
        packets: data.len() as u64,
        marked: data.iter().filter(|one| one.marked).count() as u64,
    }
}

struct DeliveredPacket {
    flow: FlowId,
    bytes: u32,
    payload: u32,
    joined: Ecn,
    marked: bool,
    /// Time from the packet's arrival at the link to its delivery, s.
    took: f64,
}

struct LinkObserver {
    pipe: PipeId,
    from: Time,
    joined: BTreeMap<u64, (Time, Ecn)>,
    left: Vec<DeliveredPacket>,
}

impl Observer for LinkObserver {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe == self.pipe && now >= self.from {
            self.joined.insert(packet.number, (now, packet.ecn));
            self.on_fate(now, pipe, packet, fate);
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe != self.pipe || fate == Fate::Open {
            return;
        }
        let Some((since, joined)) = self.joined.remove(&packet.number) else { return };
        if let Fate::Arrives(at) = fate {
            self.left.push(DeliveredPacket {
                flow: packet.flow,
                bytes: packet.wire_bytes,
                payload: packet.segment().map_or(0, |segment| segment.len),
                joined,
                marked: packet.ecn == Ecn::Ce,
                took: at.since(since).as_secs(),
            });
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

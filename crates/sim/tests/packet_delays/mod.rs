//! Delays of packets on a link.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::{Observation, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::collections::BTreeMap;

/// Records two quantities from the time `from` on. One is the delay in ms of each packet of one flow on a pipe. The
/// second is the number of bytes of all flows that the pipe carries.
struct DelayObserver {
    pipe: PipeId,
    flow: FlowId,
    from: Time,
    joined: BTreeMap<u64, Time>,
    millis: Vec<f64>,
    bytes: u64,
}

impl Observer for DelayObserver {
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

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Returns the delays in ms of the packets of flow number `flow` on pipe number `pipe`, in ascending order. Also
/// returns the number of bytes of all flows that the pipe carries. Delays and bytes count from second `from` on.
pub fn packet_delays(scenario: &Scenario, pipe: u32, flow: u32, from: u64) -> (Vec<f64>, u64) {
    let observer = DelayObserver {
        pipe: PipeId(pipe),
        flow: FlowId(flow),
        from: Time::ZERO + Duration::from_secs(from),
        joined: BTreeMap::new(),
        millis: Vec::new(),
        bytes: 0,
    };
    let observation = Observation { observers: vec![Box::new(observer)], ..Observation::default() };
    let (_, _, mut observers) = run_observed(scenario, 1, observation);
    let observer: Box<dyn Any> = observers.swap_remove(0);
    let mut observer = *observer.downcast::<DelayObserver>().expect("the observer");
    observer.millis.sort_by(f64::total_cmp);
    (observer.millis, observer.bytes)
}

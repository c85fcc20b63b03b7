//! Test of the key `dscp` of QUIC flows.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Draft;
use lasthop_sim::{Observation, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::collections::BTreeSet;

/// Records the direction and the DSCP of each packet.
#[derive(Default)]
struct DscpObserver(BTreeSet<(bool, u8)>);

impl Observer for DscpObserver {
    fn on_packet(&mut self, _: Time, _: PipeId, packet: &Packet, _: Fate) {
        self.0.insert((packet.forward, packet.priority.dscp()));
    }

    fn on_fate(&mut self, _: Time, _: PipeId, _: &Packet, _: Fate) {}

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

#[test]
fn datagrams_of_both_ends_have_the_code_point() {
    let mut draft =
        Draft::load("rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=3s").expect("a path");
    for (key, value) in [("flow.bulk.kind", "quic"), ("flow.bulk.dscp", "af41")] {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem}"));
    }
    let scenario = draft.check().unwrap_or_else(|problem| panic!("{problem}"));
    let observation =
        Observation { observers: vec![Box::new(DscpObserver::default())], ..Observation::default() };
    let (_, _, mut observers) = run_observed(&scenario, 1, observation);
    let observer: Box<dyn Any> = observers.pop().expect("the observer");
    let seen = observer.downcast::<DscpObserver>().expect("the observer's type").0;
    // RFC 2597 §6: AF41 is 100010.
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [(false, 34), (true, 34)]);
}

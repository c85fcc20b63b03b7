//! Tests of external packets: real traffic that replaces a flow, while other flows are simulated.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Departure, Engine, ExternalPacket};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::{EXTERNAL_FLOWS, assemble_external, pipe_of};
use lasthop_wire::{Body, Ecn, FlowId, LossReason, Priority};

fn scenario(text: &str) -> Scenario {
    Draft::load(text).expect("the text parses").check().expect("the scenario is valid")
}

fn packet(forward: bool, wire_bytes: u32) -> ExternalPacket {
    let (ecn, priority) = (Ecn::Ect0, Priority::NORMAL);
    ExternalPacket { wire_bytes, forward, ecn, priority, body: Body::Datagram { number: 0 } }
}

fn left(engine: &mut Engine) -> Vec<Departure> {
    let mut left = Vec::new();
    engine.take_departures(&mut left);
    left
}

fn millis(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

#[test]
fn arrivals_are_computed_however_late_the_engine_is_asked() {
    // A packet of 1250 bytes takes 10 ms of transmission and 10 ms of propagation.
    let scenario = scenario("profile=plain,rate=1Mbit/s,rtt=20ms");
    let expected: Vec<Time> = (1..=10).map(|n| millis(10 * n + 10)).collect();
    for asked_every in [1, 7, 1000] {
        let mut engine = assemble_external(&scenario, 0, 1);
        let numbers: Vec<u64> =
            (0..10).map(|n| engine.inject(FlowId(n % EXTERNAL_FLOWS as u32), &packet(true, 1250))).collect();
        let mut arrived = Vec::new();
        for now in (0..=1000).step_by(asked_every) {
            engine.run_until(millis(now));
            arrived.append(&mut left(&mut engine));
        }
        assert_eq!(
            arrived.iter().map(|one| one.at).collect::<Vec<Time>>(),
            expected,
            "every {asked_every} ms"
        );
        assert_eq!(arrived.iter().map(|one| one.number).collect::<Vec<u64>>(), numbers);
        assert!(arrived.iter().all(|one| one.forward && one.lost.is_none()));
    }
}

#[test]
fn each_direction_has_its_own_link() {
    let mut engine = assemble_external(&scenario("profile=plain,rate=1Mbit/s,up=500kbit/s,rtt=20ms"), 0, 1);
    engine.inject(FlowId(0), &packet(true, 1250));
    engine.inject(FlowId(0), &packet(false, 1250));
    engine.run_until(millis(1000));
    let arrived: Vec<(bool, Time)> = left(&mut engine).iter().map(|one| (one.forward, one.at)).collect();
    assert_eq!(arrived, [(true, millis(20)), (false, millis(30))]);
}

#[test]
fn what_is_lost_is_told_with_its_place_and_reason() {
    let mut engine = assemble_external(&scenario("profile=plain,rate=1Mbit/s,rtt=20ms,queue=3packets"), 0, 1);
    for _ in 0..6 {
        engine.inject(FlowId(0), &packet(true, 1250));
    }
    // One packet is in transmission and three packets are in the queue, so the other two of the six packets must be
    // lost.
    let lost: Vec<Option<_>> = left(&mut engine).iter().map(|one| one.lost).collect();
    assert_eq!(lost, [Some((pipe_of(0, true), LossReason::QueueFull)); 2]);
    engine.run_until(millis(1000));
    assert_eq!(left(&mut engine).len(), 4);
}

#[test]
fn datagrams_of_the_scenario_compete_and_its_tcp_gives_way() {
    let text = r#"
        [link.path]
        from = "server"
        to = "client"
        rate = "1 Mbit/s"
        one_way_delay = "10 ms"
        [flow.bulk]
        from = "server"
        to = "client"
        [flow.cross]
        from = "server"
        to = "client"
        kind = "cbr"
        rate = "500 kbit/s"
        packet = "1000 bytes"
    "#;
    let scenario = Scenario::parse(text, "cross.toml").expect("the scenario is valid");
    let mut engine = assemble_external(&scenario, 0, 1);
    assert_eq!(engine.flow_count(), EXTERNAL_FLOWS + 1);
    engine.run_until(millis(1000));
    let carried = engine.pipe_account(pipe_of(0, true)).carried_bytes;
    // Datagrams must use 500 kbit/s of payload plus headers. If the scenario's TCP flow were simulated, too, this flow
    // would use the rest of the link.
    assert!((60_000..70_000).contains(&carried), "{carried} bytes");
    assert!(left(&mut engine).is_empty());
}

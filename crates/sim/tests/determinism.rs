//! Tests that the same scenario and seed give the same outcome. The outcome must not depend on repetition, on division
//! into steps, or on whether the engine handles several hops of a packet as one event.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::{Draft, Scenario, ready_paths};
use lasthop_sim::{Observation, SteppedRun, run, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, LossReason, Packet};

struct NullObserver;

impl Observer for NullObserver {
    fn on_packet(&mut self, _: Time, _: PipeId, _: &Packet, _: Fate) {}
    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Builds a cell of two stations and an access point. Other stations are modelled only as load.
fn cell() -> Scenario {
    let text = r#"duration = "20 s"
[link]
wired = { from = "server", to = "ap", rate = "1 Gbit/s", one_way_delay = "5 ms" }
near = { from = "ap", to = "c1", cell = "home", rate = "54 Mbit/s", queue = "50 packets", arq = { kind = "wifi", stations = 3, load = 0.3 } }
far = { from = "ap", to = "c2", cell = "home", rate = "6 Mbit/s", queue = "50 packets", arq = "wifi" }
[flow]
down = { from = "server", to = "c1" }
up = { from = "c2", to = "server" }
across = { from = "c1", to = "c2" }
"#;
    Scenario::parse(text, "cell.toml").expect("a valid scenario")
}

fn scenarios() -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for path in ready_paths() {
        for settings in [
            &[][..],
            &[("timestamps", "true"), ("ack_splitting", "split"), ("receiver.loss_discrimination", "jtcp")],
            &[("ack_splitting", "copies"), ("ack_policy", "delayed")],
        ] {
            let mut draft = Draft::load(path).expect("a ready path");
            draft.set("duration", "20 s").expect("a duration");
            for (key, value) in settings {
                draft.set(key, value).expect("a key of every path");
            }
            let mut scenario = draft.check().expect("a valid scenario");
            if is_fast(&scenario) {
                draft.set("duration", "2 s").expect("a duration");
                scenario = draft.check().expect("a valid scenario");
            }
            scenarios.push(scenario);
        }
    }
    scenarios.push(tagged());
    for channel in ["fading", "iid"] {
        let text = include_str!("../../../papers/koga4/ordered.toml");
        let mut draft = Draft::parse(text, "ordered.toml").expect("a scenario");
        for (key, value) in [
            ("duration", "20 s"),
            ("link.wireless.down.channel", channel),
            ("link.wireless.down.channel.loss", "0.1"),
            ("link.wireless.down.queue", "15 packets"),
            ("link.wireless.down.arq.wait", "100 ms"),
            ("link.wireless.down.arq.retransmissions", "1"),
            ("flow.bulk.receiver.window", "link_rate"),
        ] {
            draft.set(key, value).expect("a key of this scenario");
        }
        scenarios.push(draft.check().expect("a valid scenario"));
    }
    scenarios.push(polled());
    scenarios.push(classes());
    let mut draft =
        Draft::load("profile=plain,rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.2%").expect("an inline path");
    draft.set("congestion", "cubic").expect("a key of every path");
    scenarios.push(draft.check().expect("a valid scenario"));
    let marked = [("ecn", "true"), ("ecn_echo", "per_packet"), ("congestion", "w_cw"), ("recovery", "reno")];
    for queue in ["red", "warn"] {
        let mut draft = Draft::load("profile=plain,rate=5Mbit/s,rtt=30ms,queue=50packets,loss=0.2%")
            .expect("an inline path");
        draft.set("link.path.down.queue", queue).expect("a queue");
        for (key, value) in marked {
            draft.set(key, value).expect("a key of every path");
        }
        scenarios.push(draft.check().expect("a valid scenario"));
    }
    let varying: [&[(&str, &str)]; 12] = [
        &[("queue", "fq_codel"), ("count", "3")],
        &[("queue", "cake"), ("count", "3"), ("jitter", "5ms")],
        &[("queue", "pie")],
        &[("jitter", "{ kind = \"random\", most = \"8 ms\", reorders = true }")],
        &[
            ("link.path.delay_plan", "0..20 ms for 3 s"),
            ("link.path.loss_plan", "0 for 2.9 s, 50 % for 100 ms"),
        ],
        &[("link.path.down.plan", "2..5 Mbit/s for 2 s, 0 bit/s for 80 ms"), ("jitter", "2ms")],
        &[("queue", "policer"), ("down.queue.rate", "3 Mbit/s"), ("up.queue.rate", "3 Mbit/s")],
        &[("link.path.arq", "wifi"), ("loss", "5%"), ("count", "2")],
        &[("link.path.arq", "harq"), ("loss", "10%"), ("link.path.arq.misread", "5%"), ("count", "2")],
        &[
            ("link.path.arq", "{ kind = \"harq\", mode = \"um\", order = \"pdcp\" }"),
            ("loss", "30%"),
            ("queue", "fq_codel"),
        ],
        &[
            ("link.path.arq", "{ kind = \"fec\", depth = 3 }"),
            ("loss", "10%"),
            ("jitter", "5ms"),
            ("count", "2"),
        ],
        &[("congestion", "peach"), ("queue", "low_first"), ("loss", "1%"), ("count", "2")],
    ];
    for settings in varying {
        let mut draft = Draft::load("rate=5Mbit/s,rtt=30ms,queue=50packets,duration=20s").expect("a path");
        for (key, value) in settings {
            draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
        }
        scenarios.push(draft.check().expect("a valid scenario"));
    }
    scenarios.push(cell());
    assert!(scenarios.len() > 10);
    scenarios
}

/// Returns whether the links are so fast that a run of 20 s would have very many packets.
fn is_fast(scenario: &Scenario) -> bool {
    scenario.links.iter().map(|link| link.down.service.mean_rate().bps()).min() > Some(200_000_000)
}

/// Two senders that tag segments, a queue that drops tagged packets (`tag_drop`), and a channel whose states have
/// lengths in time.
fn tagged() -> Scenario {
    let settings = [
        ("duration", "20 s"),
        ("flow.bulk.count", "2"),
        ("flow.bulk.sender.loss_discrimination", "tagged"),
        ("link.wireless.down.queue", "tag_drop"),
        ("link.wireless.down.queue.packets", "5"),
        ("link.wireless.down.arq", "none"),
        ("link.wireless.down.channel", "two_state"),
        ("link.wireless.down.channel.clock", "time"),
        ("link.wireless.down.channel.meets", "sent"),
    ];
    let mut draft = Draft::load("hasegawa").expect("a ready path");
    for (key, value) in settings {
        draft.set(key, value).expect("a key of that path");
    }
    draft.check().expect("a valid scenario")
}

/// RLC in both directions. A status report travels in a block of the opposite direction, and is lost if that block is
/// lost.
fn polled() -> Scenario {
    let text = include_str!("../../../papers/koga4/ordered.toml");
    let mut draft = Draft::parse(text, "ordered.toml").expect("a scenario");
    for (key, value) in [
        ("duration", "20 s"),
        ("link.wireless.down.channel", "iid"),
        ("link.wireless.down.arq.status", "polled"),
        ("link.wireless.up.arq", "rlc"),
        ("link.wireless.up.arq.status", "polled"),
        ("link.wireless.up.channel", "iid"),
        ("link.wireless.up.channel.loss", "0.1"),
    ] {
        draft.set(key, value).expect("a key of this scenario");
    }
    draft.check().expect("a valid scenario")
}

#[test]
fn status_reports_are_lost_and_tcp_hardly_notices() {
    let outcome = run(&polled(), 1);
    let [down, up] = outcome.links[2].rlc.map(|counters| counters.expect("RLC"));
    assert!(down.statuses > 200 && down.statuses_lost > 10, "{down:?}");
    assert!(up.status_pdus.abs_diff(down.statuses) <= 5, "{up:?}");
    assert!(up.statuses > 10 && down.discarded == 0, "{up:?}");
    assert!(outcome.flows[0].delivered_bytes > 200_000);
}

/// Two TCP flows share a class-based queue with datagrams in bursts and with jitter. The receiver sends additional ACKs
/// while its loss estimate exceeds a threshold.
fn classes() -> Scenario {
    let text = r#"
        duration = "20 s"
        [link.shared]
        from = "a"
        to = "b"
        rate = "2 Mbit/s"
        one_way_delay = "10 ms"
        down.queue = { kind = "cbq", tcp_rate = "1.4 Mbit/s", datagram_rate = "0.6 Mbit/s", packets = 20 }
        [link.air]
        from = "b"
        to = "c"
        rate = "2 Mbit/s"
        channel = { kind = "iid", loss = 0.02 }
        [flow.tcp]
        from = "a"
        to = "c"
        count = 2
        receiver.ack_splitting = { kind = "by_loss", threshold = 0.01 }
        [flow.bursts]
        kind = "on_off"
        from = "a"
        to = "c"
        rate = "0.6 Mbit/s"
        packet = "500 bytes"
        on = "1 s"
        off = "1 s"
        period = "exponential"
        burst = 15
        [flow.jitter]
        kind = "cbr"
        from = "a"
        to = "b"
        rate = "0.2 Mbit/s"
        packet = "500 bytes"
        jitter = "20 ms"
    "#;
    Draft::parse(text, "classes").and_then(|draft| draft.check()).expect("a valid scenario")
}

#[test]
fn classes_have_losses_and_repeat_acks() {
    let outcome = run(&classes(), 1);
    assert!(outcome.flows[0].account.lost[LossReason::QueueFull] > 0);
    assert!(outcome.flows[0].destination.acks_sent > outcome.flows[0].source.data_sent / 2);
    assert!(outcome.flows.iter().all(|flow| flow.delivered_bytes > 0));
}

#[test]
fn tags_are_sent_lost_and_dropped() {
    let outcome = run(&tagged(), 1);
    let flow = &outcome.flows[0];
    assert!(flow.source.tagged_sent > 20);
    for reason in [LossReason::QueueFull, LossReason::Channel, LossReason::TagDrop] {
        assert!(flow.account.lost[reason] > 0, "{}", reason.name());
    }
    assert!(flow.source.judged_wireless > 0 && flow.source.judged_congestion > 0);
}

#[test]
fn twice_is_the_same() {
    for scenario in scenarios() {
        assert_eq!(run(&scenario, 7), run(&scenario, 7), "{}", scenario.title);
    }
}

#[test]
fn in_pieces_is_the_same() {
    for scenario in scenarios().into_iter().step_by(3) {
        let mut running = SteppedRun::new(&scenario, 3, Observation::default());
        let mut pieces = 1;
        while running.advance(100 + pieces % 7) {
            pieces += 1;
        }
        assert!(pieces > 1, "{}", scenario.title);
        assert_eq!(running.finish().0, run(&scenario, 3), "{}", scenario.title);
        let observation = || Observation { probes: true, ..Observation::default() };
        let mut running = SteppedRun::new(&scenario, 3, observation());
        while running.advance(7) {}
        let (whole, pieces) = (run_observed(&scenario, 3, observation()), running.finish());
        assert_eq!((whole.0, whole.1.flows.len()), (pieces.0, pieces.1.flows.len()), "{}", scenario.title);
        assert_eq!((whole.1.flows, whole.1.queues), (pieces.1.flows, pieces.1.queues), "{}", scenario.title);
    }
}

#[test]
fn other_seeds_are_not() {
    let scenario = Draft::load("hasegawa").and_then(|draft| draft.check()).expect("a ready path");
    assert_ne!(run(&scenario, 7).flows, run(&scenario, 8).flows);
}

#[test]
fn fused_hops_change_nothing() {
    for scenario in scenarios() {
        let observation =
            Observation { observers: vec![Box::new(NullObserver)], probes: true, ..Observation::default() };
        let (by_hop, _, _) = run_observed(&scenario, 3, observation);
        assert_eq!(run(&scenario, 3), by_hop, "{}", scenario.title);
    }
}

#[test]
fn a_receiver_does_not_change_which_packets_the_channel_destroys() {
    // The channel decides only by a packet's position in the sequence whether to destroy the packet. With any receiver,
    // the channel must therefore destroy packets at the same positions.
    let lost = |ack_splitting: &str| {
        let mut draft = Draft::load("profile=plain,rate=5Mbit/s,rtt=30ms,queue=1000packets,loss=2%")
            .expect("an inline path");
        draft.set("duration", "100 s").expect("a duration");
        draft.set("ack_splitting", ack_splitting).expect("an ACK splitting");
        let (_, _, observers) = run_observed(
            &draft.check().expect("a valid scenario"),
            5,
            Observation { observers: vec![Box::new(LossRecorder::default())], ..Observation::default() },
        );
        let any: Box<dyn std::any::Any> = observers.into_iter().next().expect("the observer");
        any.downcast::<LossRecorder>().expect("a LossRecorder").numbers
    };
    let (once, copies) = (lost("once"), lost("copies"));
    let common = once.len().min(copies.len());
    assert!(common > 50);
    assert_eq!(once[..common], copies[..common]);
}

/// Records the positions of packets that the first link destroyed, counted among all packets that entered that link.
#[derive(Default)]
struct LossRecorder {
    entered: u64,
    numbers: Vec<u64>,
}

impl Observer for LossRecorder {
    fn on_packet(&mut self, _: Time, _: PipeId, packet: &Packet, fate: Fate) {
        if packet.forward {
            if fate == Fate::Lost(LossReason::Channel) {
                self.numbers.push(self.entered);
            }
            self.entered += 1;
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

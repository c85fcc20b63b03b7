//! Tests the conservation of packets: each packet sent arrives, is lost for a stated reason, or is in flight at the
//! end.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Catalogue, Draft, Scenario};
use lasthop_sim::packet_history::{PacketFate, PacketHistories, PacketHistory};
use lasthop_sim::{FLOW_METRICS, Observation, Outcome, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, LossReason, Packet};
use std::any::Any;

#[derive(Clone, Copy, Default)]
struct DirectionCounts {
    sent: u64,
    arrived: u64,
    in_flight: u64,
    /// Packets that middleboxes created or repeated.
    created: u64,
    duplicated: u64,
    received_at_middleboxes: u64,
    dropped: u64,
}

struct Counts {
    /// Number of hops of each flow, forward and backward.
    hops: Vec<[usize; 2]>,
    end: Time,
    histories: PacketHistories,
    flows: Vec<[DirectionCounts; 2]>,
}

impl Counts {
    fn new(scenario: &Scenario) -> Counts {
        let hops = scenario.routes.iter().map(|route| [route.there.len(), route.back.len()]).collect();
        let flows = vec![[DirectionCounts::default(); 2]; scenario.flows.len()];
        Counts { hops, end: Time::ZERO + scenario.duration, histories: PacketHistories::default(), flows }
    }

    fn hops_of(&self, packet: &Packet) -> usize {
        self.hops[packet.flow.0 as usize][usize::from(!packet.forward)]
    }

    fn count(&mut self, history: &PacketHistory) {
        let counted = &mut self.flows[history.packet.flow.0 as usize][usize::from(!history.packet.forward)];
        counted.sent += 1;
        counted.created += u64::from(history.is_from_middlebox);
        counted.duplicated += u64::from(history.copied_on.is_some());
        match history.end {
            PacketFate::Received(_) => counted.received_at_middleboxes += 1,
            PacketFate::Dropped(..) => counted.dropped += 1,
            PacketFate::Arrived(at) if at <= self.end => counted.arrived += 1,
            PacketFate::Arrived(_) | PacketFate::Unfinished => counted.in_flight += 1,
            PacketFate::Lost(..) => {}
        }
    }
}

impl Observer for Counts {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let hops = self.hops_of(packet);
        self.histories.on_packet(now, pipe, packet, hops, fate);
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let hops = self.hops_of(packet);
        self.histories.on_fate(pipe, packet, hops, fate);
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        self.histories.on_middlebox(now, node, packet, action);
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.histories.on_copy(now, pipe, copy);
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

fn counted(path: &str, settings: &[(&str, &str)]) -> (Outcome, Vec<[DirectionCounts; 2]>) {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    let scenario = draft.check().expect("a valid scenario");
    let observation =
        Observation { observers: vec![Box::new(Counts::new(&scenario))], ..Observation::default() };
    let (outcome, _, mut observers) = run_observed(&scenario, 1, observation);
    let counts: Box<dyn Any> = observers.pop().expect("the observer");
    let mut counts = *counts.downcast::<Counts>().expect("the same");
    while let Some(history) = counts.histories.pop_first() {
        counts.count(&history);
    }
    (outcome, counts.flows)
}

/// Metrics that count lost packets of a source. Each lost packet counts in exactly one of them. `middlebox_removed` is
/// not in this list, because it counts both directions.
const CAUSES: [&str; LossReason::ALL.len() - 1] =
    ["lost_queue_full", "lost_channel", "lost_tag_drop", "lost_discarded", "lost_early", "lost_corrupt"];

fn check(path: &str, settings: &[(&str, &str)], expected: &[&str]) {
    let (outcome, counted) = counted(path, settings);
    let number = |flow: usize, name: &str| {
        let metric = FLOW_METRICS.iter().find(|metric| metric.name == name).expect(name);
        (metric.of)(&outcome.flows[flow]).expect("always defined") as u64
    };
    for (flow, [there, back]) in counted.iter().enumerate() {
        let lost: u64 = CAUSES.iter().map(|name| number(flow, name)).sum();
        assert!(there.sent > 0, "{path}, flow {flow}");
        let ended =
            |way: &DirectionCounts| way.arrived + way.in_flight + way.received_at_middleboxes + way.dropped;
        assert_eq!(lost, there.sent - ended(there), "{path}, flow {flow}");
        assert_eq!(number(flow, "acks_lost"), back.sent - ended(back), "{path}, flow {flow}: ACKs");
        assert_eq!(number(flow, "middlebox_removed"), there.dropped + back.dropped, "{path}, flow {flow}");
        assert_eq!(number(flow, "duplicated"), there.duplicated + back.duplicated, "{path}, flow {flow}");
        assert_eq!(number(flow, "middlebox_sent"), there.created + back.created, "{path}, flow {flow}");
        let account = &outcome.flows[flow].account;
        assert_eq!(
            account.received,
            [there.received_at_middleboxes, back.received_at_middleboxes],
            "{path}, flow {flow}"
        );
    }
    for name in expected {
        let total: u64 = (0..counted.len()).map(|flow| number(flow, name)).sum();
        assert!(total > 0, "{path}: {name} never happened");
    }
}

const PATH: &str = "profile=plain,rate=2Mbit/s,rtt=40ms,queue=10packets,duration=30s";

#[test]
fn every_mechanism_of_links_and_of_tcp() {
    let catalogue = Catalogue::default();
    for seam in catalogue.seams() {
        let table = match seam.side {
            "link" => "link.path.down".to_owned(),
            // `lasthop-quic` has its own tests of the QUIC stacks.
            "node" | "flow" => continue,
            side => format!("flow.bulk.{side}"),
        };
        for info in &seam.mechanisms {
            let value = (info.one_of)(&info.defaults()).map_or(info.name, |missing| missing.example);
            let loss = ("link.path.down.channel", "{ kind = \"iid\", loss = 0.01 }");
            let key = format!("{table}.{}", seam.name);
            let mut settings = vec![loss, (&key, value)];
            if seam.name == "arq" {
                settings.push(("link.path.up.arq", value));
            }
            check(PATH, &settings, &[]);
        }
    }
}

#[test]
fn full_queues_and_the_air() {
    let down = "link.path.down.channel";
    check(PATH, &[], &["lost_queue_full"]);
    check(PATH, &[(down, "iid"), ("link.path.down.channel.loss", "1 %")], &["lost_channel"]);
    let burst = "{ kind = \"two_state\", mean_loss = 0.02, mean_burst = 3 }";
    check(PATH, &[(down, burst)], &["lost_channel"]);
    let repeated = "{ kind = \"repeat\", transmissions = 2 }";
    let bits = "{ kind = \"bit_error\", rate = 2e-5 }";
    check(PATH, &[(down, bits), ("link.path.down.arq", repeated)], &["lost_channel"]);
}

/// Frames are sent only once, so collisions lose frames in both directions. The second run adds duplication and
/// corruption.
#[test]
fn a_crowded_cell() {
    let cell = ("link.path.arq", "{ kind = \"wifi\", transmissions = 1, stations = 5, load = 0.5 }");
    check(PATH, &[cell], &["lost_channel", "acks_lost"]);
    let impaired = [cell, ("link.path.duplicate", "3 %"), ("link.path.corrupt", "2 %")];
    check(PATH, &impaired, &["lost_channel", "acks_lost", "lost_corrupt", "duplicated"]);
}

#[test]
fn copies_and_damage() {
    let [down, up] = ["link.path.down", "link.path.up"]
        .map(|way| [(format!("{way}.duplicate"), "3 %"), (format!("{way}.corrupt"), "2 %")]);
    let both: Vec<(&str, &str)> = down.iter().chain(&up).map(|(key, value)| (&key[..], *value)).collect();
    let all = ["lost_queue_full", "lost_corrupt", "acks_lost", "duplicated"];
    check(PATH, &both, &all);
    let queue = ("link.path.down.queue", "fq_codel");
    check(PATH, &[&both[..], &[queue]].concat(), &["lost_corrupt", "acks_lost", "duplicated"]);
    let rlc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/koga4/ordered.toml");
    let wireless = [("link.wireless.duplicate", "3 %"), ("link.wireless.corrupt", "2 %")];
    check(rlc, &wireless, &["lost_corrupt", "acks_lost", "duplicated"]);
    // The link that corrupts packets is followed by a middlebox that reads headers, and by another link.
    let wired = [("link.wired.duplicate", "1 %"), ("link.wired.corrupt", "1 %"), ("duration", "60 s")];
    let snoop = [("link.wireless.down.arq", "none"), ("node.bs.middlebox", "snoop")];
    let all = ["lost_corrupt", "lost_channel", "middlebox_sent", "duplicated"];
    check("hasegawa", &[&wired[..], &snoop].concat(), &all);
}

#[test]
fn acks_on_their_way_back() {
    check(
        PATH,
        &[("link.path.up.channel", "{ kind = \"iid\", loss = 0.05 }"), ("link.path.up.queue", "3 packets")],
        &["acks_lost"],
    );
}

#[test]
fn queues_that_choose_what_they_drop() {
    let red = "{ kind = \"red\", packets = 20, min_threshold = 2, max_threshold = 8 }";
    check(PATH, &[("link.path.down.queue", red)], &["lost_early"]);
    let tags = [
        ("link.path.down.queue", "{ kind = \"tag_drop\", packets = 10 }"),
        ("flow.bulk.sender.loss_discrimination", "tagged"),
    ];
    check(PATH, &tags, &["lost_queue_full", "lost_tag_drop"]);
    let classes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/koga3/large-cbr.toml");
    let queue = "{ kind = \"cbq\", tcp_rate = \"70 Mbit/s\", datagram_rate = \"20 Mbit/s\", packets = 50 }";
    check(classes, &[("duration", "3 s"), ("link.shared.down.queue", queue)], &["lost_queue_full"]);
}

#[test]
fn a_link_layer_that_gives_up() {
    let rlc = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/koga4/ordered.toml");
    let few = ("link.wireless.down.arq.retransmissions", "1");
    check(rlc, &[few], &["lost_discarded"]);
    check(rlc, &[few, ("link.wireless.down.queue", "5 packets")], &["lost_discarded", "lost_queue_full"]);
}

#[test]
fn hybrid_arq() {
    let misread = ("link.wireless.arq.misread", "20 %");
    check("lte-am", &[misread], &["lost_queue_full"]);
    let few = [("link.wireless.arq.retransmissions", "1"), ("link.wireless.arq.transmissions", "1")];
    check("lte-am", &[misread, few[0], few[1]], &["lost_discarded"]);
    for order in ["rlc", "pdcp", "none"] {
        let settings = [misread, ("link.wireless.arq.mode", "um"), ("link.wireless.arq.order", order)];
        check("lte-am", &settings, &["lost_channel", "acks_lost"]);
    }
    let short = [("link.wireless.arq.mode", "um"), ("link.wireless.arq.t_reassembly", "3 ms")];
    check("lte-am", &short, &["lost_discarded"]);
}

#[test]
fn several_links_and_both_kinds_of_flows() {
    let outcome = |queue: &str| {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers/koga3/large-cbr.toml");
        check(path, &[("duration", "3 s"), ("link.shared.down.queue", queue)], &["lost_queue_full"]);
    };
    outcome("20 packets");
    outcome("{ kind = \"tag_drop\", packets = 20 }");
}

#[test]
fn a_middlebox_that_takes_out_and_repeats() {
    let air = [("link.wireless.down.arq", "none"), ("duration", "60 s"), ("node.bs.middlebox", "snoop")];
    check("hasegawa", &air, &["lost_channel", "middlebox_removed", "middlebox_sent"]);
    let answers = [
        ("node.bs.middlebox.acked_data", "answer"),
        ("link.wireless.up.channel", "{ kind = \"iid\", loss = 0.3 }"),
    ];
    check("hasegawa", &[&air[..], &answers].concat(), &["lost_channel", "acks_lost", "middlebox_removed"]);
}

#[test]
fn a_middlebox_that_splits_the_connection() {
    let split = [("link.wireless.down.arq", "none"), ("duration", "60 s"), ("node.bs.middlebox", "split")];
    check("hasegawa", &split, &["lost_channel", "middlebox_sent"]);
}

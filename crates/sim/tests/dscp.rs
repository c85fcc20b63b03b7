//! Tests of the key `dscp`: all packets of a flow have the code point, in both directions and in captures.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::pcap::SourceCapture;
use lasthop_sim::{Observation, run, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;
use std::collections::BTreeSet;

const SPLIT: &str = "\n[node.bs]\nmiddlebox = \"split\"\n";

/// Builds a path of two lossy links with this flow.
fn path(flow: &str, nodes: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "3 s"
        [link.wired]
        from = "server"
        to = "bs"
        rate = "10 Mbit/s"
        one_way_delay = "5 ms"
        [link.air]
        from = "bs"
        to = "client"
        rate = "5 Mbit/s"
        one_way_delay = "10 ms"
        channel = {{ kind = "iid", loss = 0.01 }}
        {nodes}
        [flow.one]
        from = "server"
        to = "client"
        {flow}
        "#
    );
    Scenario::parse(&text, "dscp.toml").unwrap_or_else(|problem| panic!("{flow}: {problem}"))
}

/// Records the direction and the DSCP of each packet on each pipe.
#[derive(Default)]
struct DscpObserver(BTreeSet<(bool, u8)>);

impl Observer for DscpObserver {
    fn on_packet(&mut self, _: Time, _: PipeId, packet: &Packet, _: Fate) {
        self.0.insert((packet.forward, packet.priority.dscp()));
    }

    fn on_fate(&mut self, _: Time, _: PipeId, _: &Packet, _: Fate) {}

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

fn observed<O: Observer + 'static>(scenario: &Scenario, observer: O) -> O {
    let observation = Observation { observers: vec![Box::new(observer)], ..Observation::default() };
    let (_, _, mut observers) = run_observed(scenario, 1, observation);
    let observer: Box<dyn Any> = observers.pop().expect("the observer");
    *observer.downcast::<O>().expect("an observer of this type")
}

fn dscps(scenario: &Scenario) -> Vec<(bool, u8)> {
    observed(scenario, DscpObserver::default()).0.into_iter().collect()
}

#[test]
fn all_packets_of_a_flow_have_its_code_point() {
    let both = |dscp| vec![(false, dscp), (true, dscp)];
    let cbr = "kind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"500 bytes\"";
    let on_off =
        "kind = \"on_off\"\nrate = \"1 Mbit/s\"\npacket = \"500 bytes\"\non = \"1 s\"\noff = \"1 s\"";
    assert_eq!(dscps(&path("dscp = \"ef\"", "")), both(46));
    assert_eq!(dscps(&path("dscp = 63", "")), both(63));
    assert_eq!(dscps(&path("", "")), both(0));
    assert_eq!(dscps(&path("dscp = \"af41\"\nprocessing = \"1 ms\"", "")), both(34));
    assert_eq!(dscps(&path("dscp = \"le\"", SPLIT)), both(1));
    assert_eq!(
        dscps(&path("dscp = \"cs1\"\narrivals = \"poisson 80 ms\"\ntransfer = \"20 KB\"", "")),
        both(8)
    );
    assert_eq!(dscps(&path(&format!("dscp = \"va\"\n{cbr}"), "")), [(true, 44)]);
    assert_eq!(dscps(&path(&format!("dscp = \"cs5\"\n{on_off}"), "")), [(true, 40)]);
}

/// RFC 8622: segments that the sender tags have lower effort. All other segments have the flow's code point.
#[test]
fn tagged_segments_keep_lower_effort() {
    let tagged = "sender.loss_discrimination = \"tagged\"\n";
    assert_eq!(dscps(&path(&format!("dscp = \"ef\"\n{tagged}"), "")), [(false, 46), (true, 1), (true, 46)]);
    // Lost packets of a flow with lower effort are not tagged segments.
    let lower_effort = run(&path("dscp = \"le\"", ""), 1).flows.remove(0);
    let normal = run(&path("", ""), 1).flows.remove(0);
    assert_eq!(format!("{lower_effort:?}"), format!("{normal:?}"));
}

/// RFC 791 §3.1: the second byte of an IPv4 header is the TOS byte. The DSCP is its six highest bits, so EF has 184.
#[test]
fn captures_show_the_code_point() {
    let scenario = path("dscp = \"ef\"", "");
    let capture = SourceCapture::new(&scenario, Vec::new(), Some(120)).expect("a capture");
    let bytes = observed(&scenario, capture).finish().expect("a file");
    let headers = |tos: u8| bytes.windows(2).filter(|two| two[0] == 0x45 && two[1] & 0xfc == tos).count();
    assert!(headers(184) > 100, "{} packets with EF", headers(184));
    assert!(headers(0) < headers(184) / 10, "{} packets without a code point", headers(0));
}

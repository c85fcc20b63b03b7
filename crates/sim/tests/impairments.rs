//! Tests of duplication and corruption on whole paths.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{FLOW_METRICS, Observation, Outcome, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{Flags, FlowId, LossReason, Packet};
use std::any::Any;

#[derive(Default)]
struct ImpairmentCounts {
    copies: u64,
    damaged: u64,
    /// ACKs with a D-SACK block (RFC 2883 §4).
    duplicates_reported: u64,
}

impl Observer for ImpairmentCounts {
    fn on_packet(&mut self, _: Time, _: PipeId, packet: &Packet, _: Fate) {
        let Some(segment) = packet.segment().filter(|_| !packet.forward) else { return };
        let first = segment.sack.as_slice().first();
        let is_below = first.is_some_and(|(_, right)| segment.ack.0.wrapping_sub(right.0) < 1 << 31);
        self.duplicates_reported += u64::from(is_below && segment.flags.has(Flags::ACK));
    }

    fn on_fate(&mut self, _: Time, _: PipeId, _: &Packet, fate: Fate) {
        self.damaged += u64::from(fate == Fate::Lost(LossReason::Corrupt));
    }

    fn on_copy(&mut self, _: Time, _: PipeId, copy: &Packet) {
        self.copies += u64::from(copy.forward && copy.segment().is_some_and(|segment| segment.len > 0));
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

fn scenario(line: &str) -> Scenario {
    Draft::load(line).expect("the text parses").check().expect("the scenario is valid")
}

fn run(line: &str) -> (Outcome, ImpairmentCounts) {
    let observation =
        Observation { observers: vec![Box::new(ImpairmentCounts::default())], ..Observation::default() };
    let (outcome, _, mut observers) = run_observed(&scenario(line), 1, observation);
    let counts: Box<dyn Any> = observers.pop().expect("the observer");
    (outcome, *counts.downcast::<ImpairmentCounts>().expect("an ImpairmentCounts"))
}

fn number(outcome: &Outcome, name: &str) -> f64 {
    let metric = FLOW_METRICS.iter().find(|metric| metric.name == name).expect(name);
    (metric.of)(&outcome.flows[0]).expect("a defined metric")
}

/// The receiver must report each copy by D-SACK. The sender must retransmit nothing, and its window must not be
/// reduced.
#[test]
fn a_receiver_tells_of_copies() {
    let line = "rate=10Mbit/s,rtt=40ms,queue=1000packets,transfer=5MB,duration=30s";
    let (plain, _) = run(line);
    let (outcome, counts) = run(&format!("{line},duplicate=2%"));
    // 5 MB are 3453 segments of 1448 bytes, so about 69 copies are expected.
    assert!((40..100).contains(&counts.copies), "{}", counts.copies);
    assert_eq!(counts.duplicates_reported, counts.copies);
    assert_eq!(number(&outcome, "retransmissions"), 0.0);
    let slower = number(&outcome, "completed_s") / number(&plain, "completed_s");
    assert!((1.0..1.04).contains(&slower), "{slower}");
}

#[test]
fn damage_is_lost_at_the_host() {
    let (outcome, counts) = run("rate=10Mbit/s,rtt=40ms,queue=1000packets,corrupt=1%,duration=30s");
    assert!(counts.damaged > 20);
    assert_eq!(number(&outcome, "lost_corrupt"), counts.damaged as f64);
    assert_eq!(number(&outcome, "lost_channel"), 0.0);
    assert_eq!(number(&outcome, "retransmissions"), counts.damaged as f64);
    let (damaged, lost) =
        (&outcome.links[0].down, run("rate=10Mbit/s,rtt=40ms,queue=1000packets,loss=1%,duration=30s"));
    assert_eq!(damaged.lost[LossReason::Corrupt], counts.damaged);
    assert!(number(&lost.0, "lost_channel") > 0.0);
    // Half of the datagrams are damaged on the first of two links. The second link must carry all datagrams, and the
    // host must discard the damaged ones.
    let text = r#"
        [link.one]
        from = "a"
        to = "b"
        rate = "10 Mbit/s"
        corrupt = 0.5
        [link.two]
        from = "b"
        to = "c"
        rate = "5 Mbit/s"
        [flow.voice]
        kind = "cbr"
        from = "a"
        to = "c"
        rate = "1 Mbit/s"
        packet = "1000 bytes"
    "#;
    let scenario =
        Draft::parse(text, "two links").expect("the text parses").check().expect("the scenario is valid");
    let outcome = lasthop_sim::run(&scenario, 1);
    let [one, two] = [0, 1].map(|link: usize| outcome.links[link].down);
    assert_eq!(one.lost[LossReason::Corrupt], 0);
    // At the end of the run, one packet may be between the links.
    assert!(one.carried_bytes.abs_diff(two.carried_bytes) <= 1028, "{one:?} {two:?}");
    let share = two.lost[LossReason::Corrupt] as f64 / outcome.links[1].down.offered as f64;
    assert!((share - 0.5).abs() < 5.0 * 0.5 / 7500f64.sqrt(), "{share}");
}

/// Half of the datagrams arrive twice. Each datagram must count once, so the goodput must be exactly 1000 kbit/s. If
/// the next link loses a fifth of the packets, a datagram is lost only if the original and the copy, if any, are both
/// lost. The loss rate of datagrams must then be 0.2 (1 - 0.5 x 0.8) = 0.12.
#[test]
fn a_datagram_counts_once_however_many_copies_arrive() {
    let text = "title = \"t\"\nduration = \"100 s\"\n[link.a]\nfrom = \"s\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
                one_way_delay = \"5 ms\"\nduplicate = 0.5\n[link.c]\nfrom = \"b\"\nto = \"d\"\nrate = \"10 Mbit/s\"\n\
                one_way_delay = \"5 ms\"\n[flow.f]\nfrom = \"s\"\nto = \"d\"\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\n\
                packet = \"500 bytes\"\n";
    let mut draft = Draft::parse(text, "test").expect("a valid document");
    let goodput = |draft: &Draft| {
        let outcome = lasthop_sim::run(&draft.check().expect("a valid scenario"), 1);
        (outcome.flows[0].goodput_kbps(), outcome.flows[0].account.duplicated[0])
    };
    let (whole, copies) = goodput(&draft);
    assert!((whole - 1000.0).abs() < 1.0, "{whole}");
    assert!((copies as f64 - 12_500.0).abs() < 4.0 * 79.0, "{copies}");
    draft.set("link.c.duplicate", "0.5").expect("a known key");
    assert!((goodput(&draft).0 - 1000.0).abs() < 1.0, "copies of copies count more than once");
    draft.set("link.c.duplicate", "0").expect("a known key");
    draft.set("link.c.down.channel", "{ kind = \"iid\", loss = 0.2 }").expect("a known key");
    let (lossy, _) = goodput(&draft);
    // The tolerance is four standard errors of a share of 25,000 datagrams, plus 1 kbit/s.
    let expected = 1000.0 * (1.0 - 0.12);
    assert!((lossy - expected).abs() < 4.0 * 1000.0 * (0.12 * 0.88 / 25_000.0_f64).sqrt() + 1.0, "{lossy}");
}

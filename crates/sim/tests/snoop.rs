//! Tests of a snoop agent at the base station: its effects on a path, and cases in which it must have no effect.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{FlowOutcome, Observation, run, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;

type Setting<'a> = (&'a str, &'a str);

fn scenario(path: &str, settings: &[&[Setting<'_>]]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings.concat() {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem:?}"))
}

const SNOOP: &[Setting<'_>] = &[("node.bs.middlebox", "snoop")];
const AIR: &str = "link.wireless.down.channel";
/// hasegawa's path without link-layer retransmissions and with packets of 1040 bytes. A bit error rate of 1e-5 loses 8
/// % of these packets.
const RAW: &[Setting<'_>] =
    &[("link.wireless.down.arq", "none"), ("link.wireless.down.channel.rate", "1e-5"), ("duration", "100 s")];

fn flow(scenario: &Scenario, seed: u64) -> FlowOutcome {
    run(scenario, seed).flows.remove(0)
}

/// Returns the mean, and half the width of its 95 % confidence interval. 2.093 is Student's t for 19 degrees of
/// freedom.
fn interval(values: [f64; 20]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / 20.0;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / 19.0;
    (mean, 2.093 * (variance / 20.0).sqrt())
}

/// If the base station repairs a loss within the air's RTT (about 7 ms), the sender sees neither three duplicate ACKs
/// nor a timeout. Goodput must therefore grow, and timeouts and recoveries must become fewer. The runs of a pair have
/// the same seed.
#[test]
fn it_repairs_what_the_air_loses_before_the_sender_knows() {
    let (plain, snoop) = (scenario("hasegawa", &[RAW]), scenario("hasegawa", &[RAW, SNOOP]));
    let pairs: [(FlowOutcome, FlowOutcome); 20] =
        std::array::from_fn(|seed| (flow(&plain, seed as u64 + 1), flow(&snoop, seed as u64 + 1)));
    let gain = |of: &dyn Fn(&FlowOutcome) -> f64| {
        interval(std::array::from_fn(|pair| of(&pairs[pair].1) - of(&pairs[pair].0)))
    };
    let (goodput, half) = gain(&FlowOutcome::goodput_kbps);
    assert!(goodput - half > 0.0, "{goodput} ± {half}");
    let (timeouts, half) = gain(&|flow| flow.source.timeouts as f64);
    assert!(timeouts + half < 0.0, "{timeouts} ± {half}");
    let (recoveries, half) = gain(&|flow| flow.source.recoveries as f64);
    assert!(recoveries + half < 0.0, "{recoveries} ± {half}");
    for (_, snoop) in &pairs {
        // The base station must retransmit nearly all packets lost over the air, and the sender hardly any.
        let lost: u64 = snoop.account.lost.total();
        assert!(lost > 100, "{lost}");
        assert!(snoop.source.retransmitted * 5 < lost, "{} of {lost}", snoop.source.retransmitted);
    }
}

/// All observed packets and events as text, with the packets in order of sending.
#[derive(Default)]
struct TextLog(Vec<String>);

impl Observer for TextLog {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.0.push(format!("{now:?} {pipe:?} {packet:?} {fate:?}"));
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        self.0.push(format!("{now:?} {node:?} {packet:?} {action:?}"));
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        self.0.push(format!("{now:?} {flow:?} {side:?} {event:?}"));
    }
}

fn text_log(scenario: &Scenario) -> Vec<String> {
    let observation = Observation { observers: vec![Box::new(TextLog::default())], ..Observation::default() };
    let (_, _, mut observers) = run_observed(scenario, 1, observation);
    let log: Box<dyn Any> = observers.pop().expect("the observer");
    log.downcast::<TextLog>().expect("the same").0
}

fn assert_same(one: &Scenario, other: &Scenario) {
    let (one, other) = (text_log(one), text_log(other));
    let differs = one.iter().zip(&other).position(|(one, other)| one != other);
    assert_eq!(differs.map(|place| (&one[place], &other[place])), None);
    assert_eq!(one.len(), other.len());
}

#[test]
fn one_loss_on_the_air_is_repeated_once_and_the_sender_hears_nothing() {
    let one = &[(AIR, "{ kind = \"scripted\", packets = \"400\" }")];
    let scenario = scenario("hasegawa", &[UNFILLED, one, SNOOP]);
    let flow = flow(&scenario, 1);
    assert_eq!(flow.source.duplicate_acks, 0);
    assert_eq!((flow.source.recoveries, flow.source.timeouts, flow.source.retransmitted), (0, 0, 0));
    assert_eq!(flow.account.created, [1, 0]);
    let log = text_log(&scenario);
    assert_eq!(log.iter().filter(|line| line.ends_with("Repeated")).count(), 1);
}

/// The receive window of 32 packets is smaller than the bottleneck's queue, so no queue drops a packet.
const UNFILLED: &[Setting<'_>] = &[
    ("link.wireless.down.arq", "none"),
    ("window", "{ kind = \"buffer\", size = \"32 KB\" }"),
    ("duration", "20 s"),
];

#[test]
fn a_loss_in_the_wired_net_is_none_of_its_business() {
    let wired = &[(AIR, "none"), ("link.wired.down.channel", "{ kind = \"scripted\", packets = \"400\" }")];
    let plain = scenario("hasegawa", &[UNFILLED, wired]);
    let snoop = scenario("hasegawa", &[UNFILLED, wired, SNOOP]);
    assert_eq!(flow(&snoop, 1).source.recoveries, 1);
    assert_same(&snoop, &plain);
}

#[test]
fn a_full_queue_behind_it_stays_the_senders() {
    let full = &[("link.wireless.down.queue", "10 packets"), (AIR, "none"), ("duration", "20 s")];
    let plain = scenario("hasegawa", &[&[("link.wireless.down.arq", "none")], full]);
    let snoop = scenario("hasegawa", &[&[("link.wireless.down.arq", "none")], full, SNOOP]);
    assert!(flow(&snoop, 1).source.recoveries > 0);
    assert_same(&snoop, &plain);
}

#[test]
fn an_observer_changes_nothing() {
    let scenario = scenario("hasegawa", &[RAW, SNOOP]);
    let observation = Observation { observers: vec![Box::new(TextLog::default())], ..Observation::default() };
    assert_eq!(run_observed(&scenario, 3, observation).0, run(&scenario, 3));
}

/// The middlebox must forward encrypted packets unchanged (koga §2.1.7; hasegawa §1), so the run must be the same as
/// without the middlebox.
#[test]
fn what_it_cannot_read_passes() {
    let opaque: &[Setting<'_>] = &[("opaque", "true")];
    assert_same(&scenario("hasegawa", &[RAW, opaque, SNOOP]), &scenario("hasegawa", &[RAW]));
    assert_same(
        &scenario("hasegawa", &[RAW, opaque, &[("middlebox", "split")]]),
        &scenario("hasegawa", &[RAW]),
    );
}

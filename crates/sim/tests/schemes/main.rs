//! Tests of schemes that the papers in the folder `papers` only mention, each on a whole path. The tests verify the
//! properties that each scheme's source promises, or they measure other properties for a stated reason. Figures:
//! `docs/development/validation/schemes.md`. Unit tests of the rules are in the schemes' own crates.

mod coherence;
mod current_senders;
mod estimates;
mod fairness;
mod jtcp;
mod loss_discrimination;
mod lost_notices;
mod mobile_sender;
mod notices;
mod outages;
mod passive_control;
mod repairs;
mod senders;
mod station;

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Catalogue, Scenario};
use lasthop_sim::assemble::pipe_of;
use lasthop_sim::{FlowOutcome, Observation, Samples, run, run_observed};
use lasthop_tcp::event::{Cause, Reason};
use lasthop_tcp::{Event, Range};
use lasthop_wire::{FlowId, Packet};
use std::any::Any;

type Setting<'a> = (&'a str, &'a str);

const MIDDLEBOX: &str = "node.bs.middlebox";
const AIR: &str = "link.air.down.channel";
const DISCRIMINATION: &str = "flow.bulk.sender.loss_discrimination";
const FREEZE: Setting<'_> = ("flow.bulk.sender.freeze", "true");

/// Returns the common path: a wired link (10 Mbit/s, 50 ms), a base station, and a radio link (2 Mbit/s, 5 ms). Packets
/// of 1040 bytes carry 1000 bytes. Data goes from the server to the mobile or, if `up`, from the mobile to the server.
fn path(up: bool, settings: &[&[Setting<'_>]]) -> Scenario {
    path_with(&Catalogue::default(), up, "", settings)
}

/// Builds the scenario of [`path`] with the mechanisms of `catalogue` and with additional tables.
fn path_with(catalogue: &Catalogue, up: bool, tables: &str, settings: &[&[Setting<'_>]]) -> Scenario {
    let (from, to) = if up { ("client", "server") } else { ("server", "client") };
    let text = format!(
        r#"
        duration = "60 s"
        headers = "40 bytes"
        sample = "5 ms"
        [link.wired]
        from = "server"
        to = "bs"
        rate = "10 Mbit/s"
        one_way_delay = "50 ms"
        queue = "100 packets"
        [link.air]
        from = "bs"
        to = "client"
        rate = "2 Mbit/s"
        one_way_delay = "5 ms"
        queue = "50 packets"
        [flow.bulk]
        from = "{from}"
        to = "{to}"
        profile = "plain"
        segment = "1000 bytes"
        receiver.ack_policy = "immediate"
        {tables}
        "#
    );
    let mut draft = catalogue.parse(&text, "schemes").expect("TOML");
    for (key, value) in settings.concat() {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem:?}"))
}

/// The receive window of 24 packets is smaller than the path, which holds about 28 packets. Queues therefore stay short
/// and never overflow.
const UNFILLED: &[Setting<'_>] =
    &[("window", "{ kind = \"buffer\", size = \"24000 bytes\" }"), ("duration", "20 s")];

fn flow(scenario: &Scenario, seed: u64) -> FlowOutcome {
    run(scenario, seed).flows.remove(0)
}

fn mean(scenario: &Scenario, of: impl Fn(&FlowOutcome) -> f64) -> f64 {
    (1..=5).map(|seed| of(&flow(scenario, seed))).sum::<f64>() / 5.0
}

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

#[derive(Default)]
struct EventLog {
    packets: Vec<(Time, PipeId, Packet, Fate)>,
    nodes: Vec<(Time, Packet, MiddleboxAction)>,
    events: Vec<(Time, Event)>,
    classified: Vec<(Range, Cause)>,
}

impl Observer for EventLog {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.packets.push((now, pipe, *packet, fate));
    }

    fn on_middlebox(&mut self, now: Time, _: NodeId, packet: &Packet, action: MiddleboxAction) {
        self.nodes.push((now, *packet, action));
    }

    fn on_event(&mut self, now: Time, _: FlowId, side: FlowSide, event: &Event) {
        match (side, event) {
            (FlowSide::Source, _) => self.events.push((now, *event)),
            (FlowSide::Destination, Event::LossClassified { range, cause }) => {
                self.classified.push((*range, *cause))
            }
            _ => {}
        }
    }
}

impl EventLog {
    /// Returns the packets that enter a link direction. Each item has the time, the packet, and its arrival time; the
    /// arrival time is `None` if the packet is lost.
    fn on(&self, link: usize, down: bool) -> impl Iterator<Item = (Time, &Packet, Option<Time>)> {
        let there = self.packets.iter().filter(move |(_, pipe, ..)| *pipe == pipe_of(link, down));
        there.map(|(now, _, packet, fate)| match fate {
            Fate::Arrives(at) => (*now, packet, Some(*at)),
            _ => (*now, packet, None),
        })
    }

    /// Times of the source's retransmissions, except rescue retransmissions.
    fn retransmissions(&self) -> Vec<Time> {
        let is_repeat =
            |event: &Event| matches!(event, Event::Retransmitted { reason, .. } if *reason != Reason::Rescue);
        self.events.iter().filter(|(_, event)| is_repeat(event)).map(|(at, _)| *at).collect()
    }
}

fn observed(scenario: &Scenario, seed: u64) -> (FlowOutcome, Samples, EventLog) {
    let observation = Observation {
        observers: vec![Box::new(EventLog::default())],
        probes: true,
        ..Observation::default()
    };
    let (mut outcome, samples, mut observers) = run_observed(scenario, seed, observation);
    let recorded: Box<dyn Any> = observers.pop().expect("the observer");
    (outcome.flows.remove(0), samples, *recorded.downcast::<EventLog>().expect("an EventLog"))
}

fn windows(samples: &Samples) -> Vec<(Time, f64)> {
    samples.flows.iter().map(|sample| (sample.time, sample.cwnd_bytes as f64 / 1000.0)).collect()
}

/// cwnd at the last sample that is not after `time`, segments.
fn window_at(samples: &Samples, time: Time) -> f64 {
    let before = windows(samples).into_iter().take_while(|(at, _)| *at <= time);
    before.last().expect("a sample").1
}

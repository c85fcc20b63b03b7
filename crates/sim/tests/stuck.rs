//! Tests that a run whose time does not advance ends with an error, and that no valid parameters of a mechanism cause
//! such a run.

use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Time, Unit};
use lasthop_middlebox::{Build, Decision, Middlebox};
use lasthop_scenario::{Catalogue, Draft, Problem, Scenario};
use lasthop_sim::{Observation, SteppedRun, run};
use lasthop_wire::Packet;

struct NeverAdvancing {
    due: Time,
}

impl Middlebox for NeverAdvancing {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        self.due = now;
        out.push(Decision::Forward(packet));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        self.due
    }

    fn draws(&self) -> bool {
        false
    }
}

const RESTLESS: Mechanism<Build> = Mechanism {
    info: Info { name: "restless", summary: "never rests", source: "a test", ..Info::PLAIN },
    build: &|_, _| Some(Box::new(NeverAdvancing { due: Time::NEVER })),
};

const PATH: &str = "duration = \"2 s\"\n[link.a]\nfrom = \"s\"\nto = \"b\"\nrate = \"8 Mbit/s\"\n\
                    one_way_delay = \"10 ms\"\n[link.c]\nfrom = \"b\"\nto = \"d\"\nrate = \"8 Mbit/s\"\n\
                    one_way_delay = \"10 ms\"\n[flow.f]\nfrom = \"s\"\nto = \"d\"\n";

fn restless() -> Scenario {
    let mut catalogue = Catalogue::default();
    catalogue.node.middlebox.add(&RESTLESS);
    let mut draft = catalogue.parse(PATH, "test").expect("a path");
    draft.set("node.b.middlebox", "restless").expect("a known name");
    draft.check().expect("a valid scenario")
}

/// The SYN (at least 44 bytes) reaches the middlebox after its transmission and 10 ms of propagation. Time must not
/// advance after the SYN's arrival.
#[test]
fn a_timer_that_is_always_due_ends_the_run_with_its_name() {
    let scenario = restless();
    let stuck = run(&scenario, 1).stuck.expect("no time passes");
    let expected = "the run is stuck at 10.0";
    assert!(stuck.message.starts_with(expected), "{}", stuck.message);
    assert!(stuck.message.contains("middlebox `restless` at node `b` is due again and again"), "{stuck:?}");
    assert!(stuck.help.contains("poll_timeout"), "{stuck:?}");
    for pieces in [1, 1000, 1 << 20] {
        let mut running =
            SteppedRun::new(&scenario, 1, Observation { probes: true, ..Observation::default() });
        while running.advance(pieces) {}
        let outcome = running.finish().0;
        assert_eq!(outcome.stuck.map(|stuck| stuck.help), Some(stuck.help.clone()), "{pieces}");
    }
}

/// The middlebox probes the mobile again after each silence. With a silence of 0 s, it would send endless probes at one
/// instant, so this value must be refused.
#[test]
fn a_silence_of_nothing_is_refused() {
    for name in ["mtcp", "atcp"] {
        let mut draft = Draft::parse(PATH, "test").expect("a path");
        draft.set("node.b.middlebox", name).expect("a known name");
        draft.set("node.b.middlebox.silence", "0 s").expect("a known key");
        let problem = draft.check().expect_err("below the range");
        assert!(problem.message().contains("node.b.middlebox.silence"), "{problem}");
        assert!(format!("{:?}", problem.advice()).contains("from 1 ms to 60 s"), "{problem:?}");
    }
}

/// 300 flows that send 10,000 datagrams each at one instant must not make a run stuck. These 3,000,000 events are about
/// three times the 2^20 events after which the engine counts the events of each source separately.
#[test]
fn many_events_at_an_instant_are_none() {
    let text = PATH.replace("to = \"b\"", "to = \"b\"\nqueue = \"10 packets\"");
    let text = text.replace(
        "[flow.f]",
        "[flow.f]\nkind = \"cbr\"\nrate = \"1 Mbit/s\"\npacket = \"1 bytes\"\n\
        burst = 10000\ncount = 300\nstop = \"1 ms\"",
    );
    let draft = Draft::parse(&text, "test").expect("a path");
    let outcome = run(&draft.check().expect("a valid scenario"), 1);
    assert_eq!(outcome.stuck, None);
    assert_eq!(outcome.flows.len(), 300);
}

/// Sets each duration parameter of each mechanism to its minimum, separately and all together. Every run must complete.
#[test]
fn the_least_time_of_no_parameter_stops_a_run() {
    let catalogue = Catalogue::default();
    let (mut tried, mut stuck) = (0, Vec::new());
    // `lasthop-quic` has its own tests of the QUIC stacks.
    for seam in catalogue.seams().into_iter().filter(|seam| seam.side != "flow") {
        for info in &seam.mechanisms {
            let least = |parameter: &Parameter| match parameter.unit {
                Unit::Duration(least, _) => Some((parameter.name, least)),
                _ => None,
            };
            let times: Vec<(&str, Duration)> = info.parameters.iter().filter_map(least).collect();
            let alone = times.iter().map(std::slice::from_ref);
            for some in alone.chain([&times[..]]) {
                tried += some.len();
                let what = format!("{}.{}: {some:?}", seam.name, info.name);
                let scenario = with(seam.side, seam.name, info, some);
                let outcome = run(&scenario.unwrap_or_else(|problem| panic!("{what}: {problem}")), 1);
                stuck.extend(outcome.stuck.map(|stuck| (what, stuck.message)));
            }
        }
    }
    assert!(tried > 100, "{tried}");
    assert!(stuck.is_empty(), "{stuck:#?}");
}

/// Builds hasegawa's lossy path without link-layer retransmissions, for 5 s. `times` has values for the duration
/// parameters of the mechanism `info`.
fn with(side: &str, seam: &str, info: &Info, times: &[(&str, Duration)]) -> Result<Scenario, Problem> {
    let mut draft = Draft::load("hasegawa")?;
    let table = match side {
        "link" => "link.wireless.down".to_owned(),
        "node" => "node.bs".to_owned(),
        side => format!("flow.bulk.{side}"),
    };
    let mut settings = vec![
        ("duration".to_owned(), "5 s".to_owned()),
        ("link.wireless.down.arq".to_owned(), "none".to_owned()),
        ("link.wireless.down.channel.rate".to_owned(), "1e-5".to_owned()),
    ];
    let rules = info.only_if.iter();
    let rules: Vec<&OnlyIf> =
        rules.filter(|rule| times.iter().any(|(name, _)| rule.parameters.contains(name))).collect();
    let example = (info.one_of)(&info.defaults()).filter(|_| rules.is_empty());
    let value = example.map_or(info.name, |missing| missing.example);
    let up = (seam == "arq").then(|| "link.wireless.up.arq".to_owned());
    for key in up.into_iter().chain([format!("{table}.{seam}")]) {
        settings.push((key.clone(), value.to_owned()));
        settings.extend(times.iter().map(|(name, time)| (format!("{key}.{name}"), time.to_string())));
        settings.extend(rules.iter().map(|rule| {
            let value = match rule.is {
                Is::This(value) => value,
                Is::Not("1") => "2",
                Is::Not(_) => unreachable!("no time needs that"),
            };
            (format!("{key}.{}", rule.other), value.to_owned())
        }));
    }
    settings.iter().try_for_each(|(key, value)| draft.set(key, value))?;
    draft.check()
}

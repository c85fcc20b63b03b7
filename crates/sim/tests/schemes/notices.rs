//! Tests of notices from link layers and queues, with every queue and kind of link. EBSN needs notices of failed
//! transmissions, HACK of damaged segments, and ELN of queue drops. If a link layer gives no notices, a warning about
//! the scenario must say so.

use super::{AIR, DISCRIMINATION, MIDDLEBOX, Setting, flow, path, path_with};
use lasthop_net::service::{Light, LightTrace, Service, Trace};
use lasthop_scenario::{Catalogue, Scenario};
use std::sync::Arc;

fn mechanisms(seam: &str) -> Vec<&'static str> {
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    let seam = seams.iter().find(|one| one.name == seam).expect("a seam");
    seam.mechanisms.iter().map(|info| info.name).collect()
}

const KINDS: &[&[Setting<'_>]] = &[
    &[],
    &[("link.air.down.plan", "2 Mbit/s for 1 s, 1500 kbit/s for 1 s")],
    &[("link.air.down.jitter", "{ kind = \"random\", most = \"5 ms\" }")],
    &[("link.air.down.delay_plan", "5 ms for 1 s, 2 ms for 1 s")],
    &[("link.air.down.duplicate", "0.0001")],
    &[("link.air.down.residual_loss", "0.0001")],
];

/// Returns scenarios with every queue on every kind of link. The kinds include a recorded link with and without packet
/// trains.
fn everywhere(settings: &[Setting<'_>]) -> Vec<(String, Scenario)> {
    let mut all = Vec::new();
    for queue in mechanisms("queue") {
        let queued = [("link.air.down.queue", queue)];
        for kind in KINDS {
            let scenario = path(false, &[settings, &queued, kind]);
            all.push((format!("{queue} {kind:?}"), scenario));
        }
        for light in [None, Some("0 5 0 2 4\n1000 5 0 2 4\n")] {
            let mut scenario = path(false, &[settings, &queued]);
            let down = &mut scenario.links[1].down;
            down.service = Service::Trace(Arc::new(Trace::parse("6\n").expect("a trace").of_cells()));
            down.light = light.map(|text| Light {
                trace: Arc::new(LightTrace::parse(text).expect("a light trace")),
                timer_millis: 0,
                sizes: None,
            });
            all.push((format!("{queue} recorded, {light:?}"), scenario));
        }
    }
    all
}

const DATAGRAMS: &str = "
    [flow.f]
    from = \"server\"
    to = \"client\"
    kind = \"cbr\"
    rate = \"400 kbit/s\"
    packet = \"500 bytes\"
";

/// Returns the number of notices for 2,000 datagrams, if a fifth of all transmissions is lost.
fn notices(scenario: &Scenario) -> f64 {
    let outcome = lasthop_sim::run(scenario, 1);
    let datagrams = outcome.flows.iter().find(|flow| flow.name == "f").expect("the flow");
    datagrams.account.created[1] as f64
}

/// Returns the mean number of failed transmissions of 2,000 datagrams with at most `transmissions` each, and four
/// standard errors of that number. A datagram fails at least n times with probability 0.2^n.
fn expected(transmissions: i32) -> (f64, f64) {
    let at_least = |n: i32| 0.2_f64.powi(n);
    let mean: f64 = (1..=transmissions).map(at_least).sum();
    let square: f64 = (1..=transmissions).map(|n| f64::from(2 * n - 1) * at_least(n)).sum();
    (2000.0 * mean, 4.0 * (2000.0 * (square - mean * mean)).sqrt())
}

/// Datagrams with up to four transmissions over the air. A fifth of the transmissions fail.
const FAILING: &[Setting<'_>] = &[
    ("duration", "20 s"),
    ("flow.bulk.transfer", "1000 bytes"),
    (MIDDLEBOX, "ebsn"),
    (AIR, "{ kind = \"iid\", loss = 0.2 }"),
];

const REPEATING: &str = "{ kind = \"repeat\", transmissions = 4, delay = \"1 ms\" }";

#[test]
fn each_failed_transmission_brings_a_notice_behind_every_queue_and_kind_of_link() {
    let tables = |scenario: Scenario| {
        let mut with = path_with(&Catalogue::default(), false, DATAGRAMS, &[FAILING]);
        with.links = scenario.links;
        with
    };
    let (mean, error) = expected(4);
    for (name, scenario) in everywhere(&[FAILING, &[("link.air.down.arq", REPEATING)]].concat()) {
        let notices = notices(&tables(scenario));
        assert!((notices - mean).abs() < error, "{name}: {notices} of {mean}");
    }
}

/// Wi-Fi frames have up to four transmissions here, and frames on a link without ARQ have one.
#[test]
fn each_link_layer_reports_failed_transmissions_or_a_note_says_that_it_does_not() {
    let layers = mechanisms("arq");
    for layer in &layers {
        let arq = match *layer {
            "wifi" => "{ kind = \"wifi\", transmissions = 4 }",
            "repeat" => REPEATING,
            other => other,
        };
        let scenario =
            path_with(&Catalogue::default(), false, DATAGRAMS, &[FAILING, &[("link.air.arq", arq)]]);
        let (mean, error) = expected(if *layer == "none" { 1 } else { 4 });
        let silent = format!("link.air.down.arq = \"{layer}\"");
        let is_noted =
            scenario.notes().iter().any(|note| note.starts_with("node.bs") && note.contains(&silent));
        let notices = notices(&scenario);
        if is_noted {
            assert_eq!(notices, 0.0, "{layer}");
        } else {
            assert!((notices - mean).abs() < error, "{layer}: {notices} of {mean}");
        }
    }
    assert!(layers.len() >= 6, "{layers:?}");
}

/// A bit error hits the header in 1 of 26 lost segments (40 of 1040 bytes). All other segments with bit errors must be
/// delivered as damaged (channel `iid`). Queues drop no packets.
#[test]
fn damaged_segments_are_handed_up_behind_every_queue_and_kind_of_link() {
    let settings = [
        ("window", "{ kind = \"buffer\", size = \"24000 bytes\" }"),
        ("duration", "20 s"),
        (AIR, "{ kind = \"iid\", loss = 0.02 }"),
        ("flow.bulk.receiver.loss_discrimination", "hack"),
        (DISCRIMINATION, "hack"),
    ];
    for (name, scenario) in everywhere(&settings) {
        let source = flow(&scenario, 1).source;
        let (wireless, congestion) = (source.judged_wireless, source.judged_congestion);
        assert!(
            wireless > 20 && wireless > 4 * congestion,
            "{name}: {wireless} wireless losses, {congestion} losses in queues"
        );
    }
}

#[test]
fn a_link_layer_that_hands_up_no_damaged_segment_is_noted() {
    for layer in mechanisms("arq") {
        let settings = [
            ("link.air.arq", layer),
            ("flow.bulk.receiver.loss_discrimination", "hack"),
            (DISCRIMINATION, "hack"),
        ];
        let notes = path(false, &[&settings]).notes();
        let is_noted =
            notes.iter().any(|note| note.starts_with("flow.bulk: loss_discrimination = \"hack\" receives"));
        assert_eq!(is_noted, !["none", "repeat"].contains(&layer), "{layer}: {notes:?}");
    }
}

/// The channel loses hardly any packet (one in 10,000 on one kind of link), so all losses are queue drops, at arrival
/// or later. ELN must classify these drops as congestion. If a middlebox were informed only of drops at arrival, it
/// would classify all of CoDel's drops as wireless.
#[test]
fn what_a_queue_drops_is_congestion_to_eln_behind_every_queue_and_kind_of_link() {
    let settings = [
        ("duration", "20 s"),
        (MIDDLEBOX, "eln"),
        ("node.bs.middlebox.data", "down"),
        (DISCRIMINATION, "eln"),
    ];
    let mut losing = Vec::new();
    for (name, scenario) in everywhere(&settings) {
        let outcome = flow(&scenario, 1);
        let lost = &outcome.account.lost;
        let (congestion, wireless) = (outcome.source.judged_congestion, outcome.source.judged_wireless);
        assert!(
            wireless <= 1,
            "{name}: {wireless} of {} losses are wireless losses, {lost:?}",
            congestion + wireless
        );
        losing.extend((congestion > 0).then_some(name));
    }
    assert!(
        ["drop_tail", "codel", "pie"].iter().all(|queue| losing.iter().any(|name| name.starts_with(queue))),
        "{losing:?}"
    );
}

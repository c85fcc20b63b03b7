//! Tests of middleboxes at the base station on whole paths. Over a channel with errors, middleboxes must improve the
//! results. Without channel errors, middleboxes must change almost nothing.

use lasthop_scenario::{Catalogue, Draft, Scenario};
use lasthop_sim::pcap::SourceCapture;
use lasthop_sim::{FlowOutcome, Observation, run, run_observed};
use std::any::Any;

type Setting<'a> = (&'a str, &'a str);

fn scenario(path: &str, settings: &[&[Setting<'_>]]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings.concat() {
        draft.set(key, value).unwrap_or_else(|problem| panic!("{key}: {problem:?}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn flow(scenario: &Scenario, seed: u64) -> FlowOutcome {
    run(scenario, seed).flows.remove(0)
}

const MIDDLEBOX: &str = "node.bs.middlebox";
const DISCRIMINATION: &str = "flow.bulk.sender.loss_discrimination";
/// hasegawa's path without link-layer retransmissions. A bit error rate of 1e-5 loses 8 % of the packets.
const RAW: &[Setting<'_>] =
    &[("link.wireless.down.arq", "none"), ("link.wireless.down.channel.rate", "1e-5"), ("duration", "60 s")];

fn means(settings: &[&[Setting<'_>]], of: &dyn Fn(&FlowOutcome) -> f64) -> f64 {
    let scenario = scenario("hasegawa", settings);
    (1..=5).map(|seed| of(&flow(&scenario, seed))).sum::<f64>() / 5.0
}

/// Without channel errors, all losses are queue drops. Goodput must be the same as without a middlebox, within 1 %.
#[test]
fn with_congestion_alone_each_box_changes_next_to_nothing() {
    let clean: &[Setting<'_>] = &[("link.wireless.down.channel", "none"), ("duration", "60 s")];
    let plain = flow(&scenario("hasegawa", &[clean]), 1);
    assert!(plain.account.lost.total() > 0, "the queue does not overflow");
    let catalogue = Catalogue::default();
    let seams = catalogue.seams();
    let seam = seams.iter().find(|seam| seam.name == "middlebox").expect("a seam");
    for name in seam.names() {
        let with = flow(&scenario("hasegawa", &[clean, &[(MIDDLEBOX, name)]]), 1);
        let change = with.goodput_kbps() / plain.goodput_kbps() - 1.0;
        assert!(change.abs() < 0.01, "{name}: {change}");
    }
}

#[test]
fn a_sender_that_is_told_of_the_airs_losses_keeps_its_window() {
    let plain = means(&[RAW], &FlowOutcome::goodput_kbps);
    let eln: &[Setting<'_>] =
        &[(MIDDLEBOX, "eln"), ("node.bs.middlebox.data", "down"), (DISCRIMINATION, "eln")];
    let lhack: &[Setting<'_>] = &[(MIDDLEBOX, "lhack"), (DISCRIMINATION, "lhack")];
    let hack: &[Setting<'_>] =
        &[("flow.bulk.receiver.loss_discrimination", "hack"), (DISCRIMINATION, "hack")];
    for (name, settings) in [("eln", eln), ("lhack", lhack), ("hack", hack)] {
        for recovery in ["sack", "new_reno", "rack"] {
            let with_notices = means(&[RAW, settings, &[("recovery", recovery)]], &FlowOutcome::goodput_kbps);
            assert!(with_notices > 1.5 * plain, "{name}, {recovery}: {with_notices} against {plain} kbit/s");
        }
        let classified = means(&[RAW, settings], &|flow| flow.account.accuracy.wireless_correct as f64);
        assert!(classified > 20.0, "{name}: {classified} losses classified as wireless");
    }
}

#[test]
fn congestion_stays_congestion() {
    let clean: &[Setting<'_>] = &[("link.wireless.down.channel", "none"), ("duration", "60 s")];
    let eln: &[Setting<'_>] =
        &[(MIDDLEBOX, "eln"), ("node.bs.middlebox.data", "down"), (DISCRIMINATION, "eln")];
    let hack: &[Setting<'_>] =
        &[("flow.bulk.receiver.loss_discrimination", "hack"), (DISCRIMINATION, "hack")];
    for settings in [eln, hack] {
        let with_notices = flow(&scenario("hasegawa", &[clean, settings]), 1);
        assert!(
            with_notices.source.judged_congestion > 0 && with_notices.source.judged_wireless == 0,
            "{:?}",
            with_notices.source
        );
    }
}

/// If the sender counts ACKs, ACK splitting must restore the window sooner. If the sender counts bytes, the additional
/// ACKs must have little effect.
#[test]
fn split_acks_are_worth_something_to_those_who_count_acks() {
    let reno: &[Setting<'_>] = &[("recovery", "reno")];
    let bytes: &[Setting<'_>] = &[("recovery", "reno"), ("ack_counting", "bytes")];
    let split: &[Setting<'_>] = &[(MIDDLEBOX, "spack")];
    let goodput = |settings: &[&[Setting<'_>]]| means(settings, &FlowOutcome::goodput_kbps);
    assert!(goodput(&[RAW, reno, split]) > 1.5 * goodput(&[RAW, reno]));
    assert!(goodput(&[RAW, bytes, split]) < 1.3 * goodput(&[RAW, bytes]));
}

/// The ARQ is persistent, and bad states last 2 s. Without notices, the sender times out in most bad states. With
/// notices, the sender must have less than a fifth of these timeouts.
#[test]
fn notices_of_a_bad_state_keep_the_timer_from_expiring() {
    let air: &[Setting<'_>] = &[
        ("duration", "200 s"),
        (
            "link.wireless.down.channel",
            "{ kind = \"two_state\", clock = \"time\", good = \"10 s\", bad = \"2 s\", loss_good = 0, loss_bad = 1 }",
        ),
        (
            "link.wireless.down.arq",
            "{ kind = \"repeat\", transmissions = 1000, delay = \"20 ms\", mode = \"stop_and_wait\" }",
        ),
    ];
    let ebsn: &[Setting<'_>] = &[(MIDDLEBOX, "ebsn"), (DISCRIMINATION, "ebsn")];
    let timeouts = |settings: &[&[Setting<'_>]]| means(settings, &|flow| flow.source.timeouts as f64);
    let (plain, with_notices) = (timeouts(&[air]), timeouts(&[air, ebsn]));
    assert!(plain > 5.0 && with_notices * 5.0 < plain, "{plain} without, {with_notices} with notices");
    let opaque = timeouts(&[air, ebsn, &[("opaque", "true")]]);
    assert_eq!(opaque, with_notices);
}

#[test]
fn a_closed_window_keeps_the_timer_from_expiring() {
    let air: &[Setting<'_>] = &[
        ("duration", "200 s"),
        (
            "link.wireless.down.channel",
            "{ kind = \"two_state\", clock = \"time\", good = \"20 s\", bad = \"5 s\", loss_good = 0, loss_bad = 1 }",
        ),
        (
            "link.wireless.down.arq",
            "{ kind = \"repeat\", transmissions = 1000, delay = \"20 ms\", mode = \"stop_and_wait\" }",
        ),
    ];
    let timeouts = |settings: &[&[Setting<'_>]]| means(settings, &|flow| flow.source.timeouts as f64);
    let freeze: &[Setting<'_>] = &[("flow.bulk.sender.freeze", "true")];
    let plain = timeouts(&[air, freeze]);
    for name in ["mtcp", "atcp"] {
        let frozen = timeouts(&[air, freeze, &[(MIDDLEBOX, name)]]);
        assert!(plain > 5.0 && frozen * 4.0 < plain, "{name}: {frozen}, without {plain}");
    }
}

/// Packets that the link retransmits arrive out of order. A receiver that delays duplicate ACKs must then cause fewer
/// recoveries and more goodput. The sender is NewReno, because a SACK sender would learn of more holes from each ACK
/// for a retransmitted packet.
#[test]
fn duplicates_that_wait_spare_the_sender_repeats() {
    let air: &[Setting<'_>] = &[
        ("recovery", "new_reno"),
        ("link.wireless.down.channel.rate", "1e-5"),
        ("link.wireless.down.arq.mode", "overtaking"),
        ("link.wireless.down.arq.delay", "30 ms"),
        ("duration", "60 s"),
    ];
    let with = |ack_policy| {
        let ack_policy: &[Setting<'_>] = &[("flow.bulk.receiver.ack_policy", ack_policy)];
        let again = means(&[air, ack_policy], &|flow| flow.source.recoveries as f64);
        (again, means(&[air, ack_policy], &FlowOutcome::goodput_kbps))
    };
    let (plain, goodput) = with("immediate");
    for ack_policy in ["{ kind = \"dupack_delay\", wait = \"100 ms\" }", "coherence"] {
        let (waited, more) = with(ack_policy);
        assert!(waited * 2.0 < plain, "{ack_policy}: {waited} recoveries, without {plain}");
        assert!(more > 1.2 * goodput, "{ack_policy}: {more} kbit/s, without {goodput}");
    }
    // With a delay of 0 s, the receiver must send each duplicate ACK at once.
    let none: &[Setting<'_>] =
        &[("flow.bulk.receiver.ack_policy", "{ kind = \"dupack_delay\", wait = \"0 s\" }")];
    let immediate: &[Setting<'_>] = &[("flow.bulk.receiver.ack_policy", "immediate")];
    assert_eq!(
        flow(&scenario("hasegawa", &[air, none]), 1),
        flow(&scenario("hasegawa", &[air, immediate]), 1)
    );
}

/// WTCP excludes the repair time from timestamps, so the sender must measure a smaller RTT than with snoop.
#[test]
fn repairs_are_hidden_from_the_senders_clock() {
    let largest = |name| means(&[RAW, &[(MIDDLEBOX, name)]], &|flow| flow.mean_rtt_s.unwrap_or(0.0) * 1000.0);
    let (snoop, wtcp) = (largest("snoop"), largest("wtcp"));
    assert!(wtcp < snoop, "{wtcp} ms, with snoop {snoop} ms");
}

#[test]
fn captures_say_what_a_box_did() {
    let captured = |settings: &[Setting<'_>]| {
        let scenario = scenario("hasegawa", &[RAW, &[("duration", "5 s")], settings]);
        let capture = SourceCapture::new(&scenario, Vec::new(), Some(120)).expect("a capture");
        let observation = Observation { observers: vec![Box::new(capture)], ..Observation::default() };
        let (_, _, mut observers) = run_observed(&scenario, 1, observation);
        let capture: Box<dyn Any> = observers.pop().expect("the capture");
        let capture: Box<SourceCapture<Vec<u8>>> = capture.downcast().expect("a SourceCapture");
        String::from_utf8_lossy(&capture.finish().expect("a file")).into_owned()
    };
    for (settings, comment) in [
        (&[(MIDDLEBOX, "snoop")][..], "dropped by the middlebox of bs: middlebox_removed"),
        (&[(MIDDLEBOX, "snoop")][..], "dropped at bs"),
        (&[(MIDDLEBOX, "eln"), ("node.bs.middlebox.data", "down")], "changed by the middlebox of bs"),
        (&[(MIDDLEBOX, "lhack")], "generated by the middlebox of bs"),
        (&[(MIDDLEBOX, "spack"), ("recovery", "reno")], "generated by the middlebox of bs"),
    ] {
        assert!(captured(settings).contains(comment), "{settings:?}: {comment}");
    }
    assert!(!captured(&[]).contains("middlebox"));
}

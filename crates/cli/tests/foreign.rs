//! Names from other tools (ns-2, tc, iperf3 …): each of these names leads to Lasthop's names with the same meaning.

mod common;

use common::{call, stderr_of, stdout};
use lasthop_scenario::{Catalogue, all_foreign, foreign};
use std::collections::BTreeSet;

/// Returns the name of every key, mechanism, column and field.
fn known() -> BTreeSet<String> {
    let catalogue = Catalogue::default();
    let sections = [catalogue.reference(), lasthop_lab::runs::fields::sections()].concat();
    let keys = sections.into_iter().flat_map(|section| section.keys).map(|key| key.name);
    let mechanisms = catalogue.seams().into_iter().flat_map(|seam| seam.names()).map(str::to_owned);
    keys.chain(mechanisms).collect()
}

#[test]
fn the_table_has_sixty_names_of_each_origin_once() {
    assert!(all_foreign().count() >= 60, "{}", all_foreign().count());
    for tool in ["ns-2", "ns-3", "tc", "iperf3", "Mahimahi", "Linux"] {
        assert!(all_foreign().filter(|entry| entry.tool == tool).count() >= 5, "{tool}");
    }
    let names: BTreeSet<&str> = all_foreign().map(|entry| entry.name).collect();
    assert_eq!(names.len(), all_foreign().count(), "a name occurs twice");
    for entry in all_foreign() {
        assert_eq!(foreign(entry.name), Some(entry), "{}: not found as written in the table", entry.name);
    }
}

#[test]
fn every_name_leads_to_names_that_exist() {
    let known = known();
    for entry in all_foreign() {
        assert!(!entry.here.is_empty(), "{}", entry.name);
        for here in entry.here {
            assert!(known.contains(*here), "{}: `{here}` does not exist", entry.name);
        }
    }
}

#[test]
fn every_name_is_explained() {
    for entry in all_foreign() {
        let text = stdout(&["explain", entry.name]);
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.starts_with(&entry.sentence()), "{}: {text}", entry.name);
        // The text is longer than this sentence, because the text also explains the key or mechanism of Lasthop.
        assert!(words.len() > entry.sentence().len() + 20, "{}: {text}", entry.name);
    }
}

#[test]
fn other_spellings_are_found() {
    assert!(stdout(&["explain", "ns3::TcpVegas"]).contains("congestion = \"vegas\""));
    assert!(stdout(&["explain", "mm-delay"]).contains("one_way_delay"));
    assert!(stdout(&["explain", "bbrv2"]).contains("BBRv2 is not implemented"));
}

#[test]
fn rows_and_metrics_without_their_unit_are_explained() {
    assert!(stdout(&["explain", "completed_p95_s"]).contains("95th percentile of the completion time"));
    assert!(stdout(&["explain", "goodput"]).contains("goodput_kbps"));
    assert!(stdout(&["explain", "smallest_rtt"]).contains("smallest_rtt_ms"));
}

#[test]
fn a_value_of_a_key_is_explained_by_the_key() {
    for value in ["cbr", "on_off"] {
        assert!(stdout(&["explain", value]).contains("one of tcp, quic, cbr, on_off"), "{value}");
    }
    assert!(stdout(&["explain", "prr"]).contains("window reduction in recovery"));
}

#[test]
fn scenarios_and_flags_are_answered_with_the_name_here() {
    for (arguments, expected) in [
        (&["run", "rate=1Mbit/s,delay=20ms"][..], "did you mean `one_way_delay` or `rtt`?"),
        (&["run", "rate=1Mbit/s,rtt=20ms,cc=cubic"], "`cc` is `congestion` here"),
        (&["run", "rate=1Mbit/s,rtt=20ms,flows=2"], "`flows` is `count` here"),
        (&["run", "rate=1Mbit/s,rtt=20ms,buffer=10packets"], "did you mean `queue`?"),
        (&["run", "rate=1Mbit/s,rtt=20ms,congestion=bbrv3"], "did you mean `bbr3`?"),
        (&["run", "rate=1Mbit/s,rtt=20ms,congestion=bbr2"], "BBRv2 is not implemented"),
        (&["run", "rate=1Mbit/s,rtt=20ms,congestion=TcpVeno"], "did you mean `veno`?"),
        (&["run", "rate=1Mbit/s,rtt=20ms,queue=pfifo"], "did you mean `drop_tail`?"),
        (&["run", "lte", "--duration", "10s"], "--set duration=10s"),
        (&["run", "lte", "--duration=10s"], "--set duration=10s"),
        (&["run", "lte", "--time", "10s"], "--set duration=10s"),
        (&["run", "lte", "--parallel", "4"], "--set count=4"),
        (&["run", "lte", "--set", "latency=10ms"], "one_way_delay"),
        (&["run", "rate=1Mbit/s,rtt=20ms,shape=split"], "`shape` is `ack_splitting` here"),
        (
            &["run", "rate=1Mbit/s,rtt=20ms", "--set", "receiver.cause=mac"],
            "did you mean `loss_discrimination`?",
        ),
        (&["run", "rate=1Mbit/s,rtt=20ms", "--set", "judge=tagged"], "loss_discrimination"),
        (&["compare", "rate=1Mbit/s,rtt=20ms", "--vary", "timing=delayed,immediate"], "ack_policy"),
        (&["agent", "run", "--acks", "split", "--cause", "jtcp"], "use --loss-discrimination jtcp"),
        (&["explain", "quadrature"], "help keys"),
    ] {
        let output = call(arguments);
        let words = stderr_of(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {words}");
        assert!(words.contains(expected), "{arguments:?}: {words}");
    }
}

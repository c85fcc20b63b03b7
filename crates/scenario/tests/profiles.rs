//! The key `profile` sets defaults of both ends of a flow.

use lasthop_scenario::{Draft, Scenario, Traffic};
use lasthop_tcp::Config;
use std::sync::Arc;

fn ends(line: &str) -> [Config; 2] {
    let scenario = Scenario::load(line).unwrap_or_else(|problem| panic!("{line}: {problem:?}"));
    match scenario.flows[0].traffic.clone() {
        Traffic::Tcp { source, destination, .. } => [source, destination].map(Arc::unwrap_or_clone),
        Traffic::Datagrams { .. } => panic!("datagrams"),
    }
}

const PATH: &str = "rate=10Mbit/s,rtt=40ms";

#[test]
fn a_line_means_two_linux_hosts() {
    let [source, destination] = ends(PATH);
    assert_eq!(source.recovery.info.name, "rack");
    assert_eq!(source.reduction.info.name, "prr");
    assert_eq!(source.congestion.info.name, "cubic");
    assert_eq!(source.congestion.values.word("variant"), "linux");
    assert_eq!(source.slow_start.info.name, "hystart");
    assert!(source.rto.above_srtt && source.f_rto);
    assert_eq!((destination.ack_policy.info.name, destination.window.info.name), ("linux", "autotuned"));
}

#[test]
fn a_single_key_overrides_it() {
    let [source, destination] = ends(&format!("{PATH},recovery=sack,ack_policy=immediate,min_rto=1s"));
    assert_eq!((source.recovery.info.name, source.reduction.info.name), ("sack", "prr"));
    assert_eq!(source.rto.smallest.as_millis(), 1000.0);
    assert_eq!((destination.ack_policy.info.name, destination.window.info.name), ("immediate", "autotuned"));
}

/// Linux uses HyStart only with CUBIC. Another congestion control has no HyStart unless the flow sets HyStart. A
/// profile's preset for a parameter of a mechanism applies whether the profile or the flow selects the mechanism.
#[test]
fn what_goes_with_a_mechanism_goes_with_it() {
    let [reno, _] = ends(&format!("{PATH},congestion=reno"));
    assert_eq!((reno.slow_start.info.name, reno.congestion.values.word("halve")), ("none", "cwnd"));
    let [reno, _] = ends(&format!("{PATH},congestion=reno,slow_start=hystart_pp"));
    assert_eq!(reno.slow_start.info.name, "hystart_pp");
    let [cubic, _] = ends(&format!("{PATH},congestion={{kind=\"cubic\",beta=0.5}}"));
    assert_eq!((cubic.congestion.values.word("variant"), cubic.slow_start.info.name), ("linux", "hystart"));
    let [rfc, _] = ends(&format!("{PATH},congestion={{kind=\"cubic\",variant=\"rfc9438\"}}"));
    assert_eq!(rfc.congestion.values.word("variant"), "rfc9438");
}

/// Scenarios that set no profile use `plain`, which has the endpoints' own defaults.
#[test]
fn plain_changes_nothing() {
    let [source, destination] = ends(&format!("{PATH},profile=plain"));
    let own = Config::default();
    for (plain, own) in [(&source, &own), (&destination, &own)] {
        assert_eq!(format!("{:?}", plain.recovery), format!("{:?}", own.recovery));
        assert_eq!(format!("{:?}", plain.congestion), format!("{:?}", own.congestion));
        assert_eq!(format!("{:?}", plain.ack_counting), format!("{:?}", own.ack_counting));
        assert_eq!(format!("{:?}", plain.ack_policy), format!("{:?}", own.ack_policy));
        assert_eq!(plain.rto, own.rto);
    }
    let [rfc, _] = ends(&format!("{PATH},profile=rfc"));
    assert_eq!((rfc.slow_start.info.name, rfc.congestion.values.word("variant")), ("hystart_pp", "rfc9438"));
    assert_eq!(rfc.rto.smallest.as_millis(), 1000.0);
}

/// `show` prints all keys that a profile sets. Reading the printed text must give the same scenario.
#[test]
fn what_is_shown_reads_back_the_same() {
    for profile in ["plain", "rfc", "linux"] {
        let line = format!("{PATH},profile={profile},congestion=reno");
        let shown = Draft::load(&line).and_then(|draft| draft.show()).expect("a valid scenario");
        assert!(shown.contains(&format!("profile = \"{profile}\"")), "{shown}");
        let again = Scenario::parse(&shown, "shown").expect("the text reads back");
        assert_eq!(
            format!("{:?}", again.flows),
            format!("{:?}", Scenario::load(&line).expect("a valid scenario").flows)
        );
    }
}

#[test]
fn an_unknown_profile_is_answered_with_those_there_are() {
    let problem = Scenario::load(&format!("{PATH},profile=linus")).expect_err("no such profile");
    let text = format!("{problem:?}");
    assert!(text.contains("linux") && text.contains("rfc"), "{text}");
}

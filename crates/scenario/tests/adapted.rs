//! Ready paths with keys behind them, and what people call things.

use lasthop_base::{Duration, Rate};
use lasthop_net::service::Service;
use lasthop_scenario::{Draft, Scenario, Traffic};

fn load(spec: &str) -> Scenario {
    Scenario::load(spec).unwrap_or_else(|problem| panic!("{spec}: {problem}"))
}

fn set(path: &str, changes: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (path, value) in changes {
        draft.set(path, value).unwrap_or_else(|problem| panic!("{path}={value}: {problem}"));
    }
    draft.check().unwrap_or_else(|problem| panic!("{changes:?}: {problem}"))
}

fn sender(scenario: &Scenario) -> (&'static str, &'static str) {
    match &scenario.flows[0].traffic {
        Traffic::Tcp { source, .. } => (source.recovery.info.name, source.congestion.info.name),
        Traffic::Datagrams { .. } => panic!("TCP"),
    }
}

/// A share of packets lost is what is lost in the end: a link that repeats would lose next to nothing.
#[test]
fn loss_behind_a_ready_path_is_lost_on_its_last_hop() {
    let [wired, wireless] = &load("lte,loss=1%").links[..] else { panic!("two links") };
    assert_eq!(wired.down.channel.info.name, "none");
    assert_eq!(wireless.down.channel.info.name, "iid");
    assert_eq!(wireless.down.channel.values.number("loss"), 0.01);
    assert_eq!((wireless.down.arq.info.name, wireless.up.arq.info.name), ("none", "repeat"));
    let kept = &load("lte,loss=1%,arq={kind=\"repeat\",transmissions=2}").links[1];
    assert_eq!(kept.down.arq.values.count("transmissions"), 2);
}

#[test]
fn rates_queues_and_delays_behind_a_ready_path() {
    let scenario =
        load("lte,rate=12mbit,up=2Mbit/s,queue=40packets,up_queue=10packets,rtt=100ms,duration=5s");
    let [wired, wireless] = &scenario.links[..] else { panic!("two links") };
    assert_eq!(wireless.down.service, Service::Rate(Rate::from_bps(12_000_000)));
    assert_eq!(wireless.up.service, Service::Rate(Rate::from_bps(2_000_000)));
    assert_eq!(wireless.down.queue.values.count("packets"), 40);
    assert_eq!(wireless.up.queue.values.count("packets"), 10);
    // 50 ms each way, 5 of them behind the first link.
    assert_eq!((wired.down.delay, wired.up.delay), (Duration::from_millis(45), Duration::from_millis(45)));
    assert_eq!(scenario.duration, Duration::from_secs(5));
    assert_eq!(wired.down.queue.values.count("packets"), 0);
}

#[test]
fn a_file_may_be_adapted_too() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("mine.toml");
    let text = "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n[flow.b]\nfrom = 'y'\nto = 'x'\n";
    std::fs::write(&file, text).expect("written");
    // The flow sends up: that is its "down".
    let scenario = load(&format!("{},rate=3Mbit/s,sender=newreno", file.display()));
    assert_eq!(scenario.links[0].up.service, Service::Rate(Rate::from_bps(3_000_000)));
    assert_eq!(scenario.links[0].down.service, Service::Rate(Rate::from_bps(1_000_000)));
    assert_eq!(sender(&scenario).0, "new_reno");
}

#[test]
fn bursts_have_a_mean_length() {
    for path in ["rate=10Mbit/s,loss=1%,burst=5", "umts,loss=1%,burst=5"] {
        let scenario = load(path);
        let channel = &scenario.links.last().expect("a link").down.channel;
        assert_eq!(channel.info.name, "two_state", "{path}");
        assert_eq!((channel.values.number("mean_loss"), channel.values.number("mean_burst")), (0.01, 5.0));
    }
    assert!(Scenario::load("rate=10Mbit/s,burst=5").expect_err("of what").message().contains("needs `loss`"));
}

/// What is lost up has keys of its own, alone and behind a ready path.
#[test]
fn each_direction_loses_its_own() {
    for path in ["rate=10Mbit/s,loss=1%,up_loss=3%,up_burst=4", "lte,loss=1%,up_loss=3%,up_burst=4"] {
        let scenario = load(path);
        let link = scenario.links.last().expect("a link");
        assert_eq!((link.down.channel.info.name, link.down.channel.values.number("loss")), ("iid", 0.01));
        let up = &link.up.channel;
        assert_eq!((up.info.name, link.up.arq.info.name), ("two_state", "none"), "{path}");
        assert_eq!((up.values.number("mean_loss"), up.values.number("mean_burst")), (0.03, 4.0));
    }
    let alone = &load("rate=10Mbit/s,up_loss=3%").links[0];
    assert_eq!((alone.down.channel.info.name, alone.up.channel.info.name), ("none", "iid"));
    let why = Scenario::load("rate=10Mbit/s,loss=1%,up_burst=4").expect_err("of what");
    assert!(why.message().contains("needs `up_loss`"), "{why}");
}

#[test]
fn ready_paths_have_other_names() {
    for (alias, name) in [("4g", "lte"), ("5G", "nr-5g"), ("3g", "umts"), ("LTE", "lte"), ("wlan", "wifi")] {
        assert_eq!(load(alias).title, load(name).title, "{alias}");
    }
}

#[test]
fn a_whole_sender_by_the_name_of_a_mechanism() {
    let of = |word: &str| sender(&set("umts", &[("profile", "plain"), ("sender", word)]));
    assert_eq!(of("newreno"), ("new_reno", "reno"));
    assert_eq!(of("reno"), ("reno", "reno"));
    assert_eq!(of("cubic"), ("sack", "cubic"));
    assert_eq!(of("westwood+"), ("sack", "westwood_plus"));
    assert_eq!(sender(&set("umts", &[("congestion", "Westwood+"), ("recovery", "New-Reno")])).0, "new_reno");
}

#[test]
fn what_is_set_can_be_taken_away() {
    let mut draft = Draft::load("umts").expect("a ready path");
    draft.set("link.wireless.down.channel", "").expect("it is set");
    draft.set("link.wireless.down.queue", " ").expect("it is set");
    let link = draft.check().unwrap_or_else(|problem| panic!("{problem}")).links[1].clone();
    assert_eq!(link.down.channel.info.name, "none");
    // 2 Mbit/s times 92 ms.
    assert_eq!(link.down.queue.values.bytes("bytes"), 23_000);
    assert!(draft.set("link.wireless.down.queue", "").is_err(), "it is gone already");
}

#[test]
fn the_name_of_the_only_link_and_of_all_flows_may_be_left_out() {
    let scenario =
        set("rate=10Mbit/s,rtt=20ms", &[("link.down.queue", "7 packets"), ("flow.nagle", "false")]);
    assert_eq!(scenario.links[0].down.queue.values.count("packets"), 7);
    let mut two = Draft::load("lte").expect("a ready path");
    let problem = two.set("link.down.queue", "7 packets").expect_err("two links");
    assert!(problem.advice().is_some_and(|help| help.contains("link.wireless.down.queue")), "{problem}");
}

#[test]
fn a_long_run_has_a_longer_default_between_samples() {
    let scenario = set("rate=10Mbit/s,rtt=20ms", &[("duration", "5000000 s")]);
    assert_eq!(scenario.sample, Duration::from_millis(500));
    let usual = set("rate=10Mbit/s,rtt=20ms", &[("duration", "1000 s")]);
    assert_eq!(usual.sample, Duration::from_millis(100));
}

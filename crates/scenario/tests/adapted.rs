//! Tests of keys after the name of a built-in scenario (`lte,loss=1%`), and of synonyms of keys.

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

/// `loss` means losses that TCP sees. These losses occur after the ARQ, which still repairs the losses of the channel.
#[test]
fn loss_behind_a_ready_path_is_behind_its_arq() {
    let [wired, wireless] = &load("lte,loss=1%").links[..] else { panic!("two links") };
    assert_eq!(wired.down.channel.info.name, "none");
    assert_eq!((wired.down.residual_loss, wireless.up.residual_loss), (0.0, 0.0));
    assert_eq!((wireless.down.residual_loss, wireless.down.residual_burst), (0.01, None));
    assert_eq!(wireless.down.channel.values.number("loss"), 0.1, "the loss rate of the channel must remain");
    assert_eq!((wireless.down.arq.info.name, wireless.up.arq.info.name), ("repeat", "repeat"));
    let other = &load("lte,loss=1%,arq={kind=\"repeat\",transmissions=2}").links[1];
    assert_eq!((other.down.arq.values.count("transmissions"), other.down.residual_loss), (2, 0.01));
    // If the link does not retransmit, TCP sees the losses of the channel.
    for path in ["wavelan,loss=1%", "starlink,loss=1%", "lte,loss=1%,arq=none", "lte,arq=none,loss=1%"] {
        let last = &load(path).links[1].down;
        assert_eq!((last.channel.info.name, last.residual_loss), ("iid", 0.0), "{path}");
        assert_eq!(last.channel.values.number("loss"), 0.01, "{path}");
    }
    // `ber` sets bit errors on the channel, even if the link has an ARQ that repairs them.
    let umts = &load("umts,ber=1e-5").links[1].down;
    assert_eq!((umts.channel.values.number("rate"), umts.arq.info.name), (1e-5, "repeat"));
}

/// `loss` must have the same meaning in a one-line scenario, if it is set later, and if it is set together with another
/// key.
#[test]
fn loss_means_the_same_wherever_it_is_said() {
    let same = |text: String| text.lines().filter(|line| !line.starts_with("title")).collect::<String>();
    let shown = |path: &str, changes: &[(&str, &str)]| {
        let mut draft = Draft::load(path).expect("a path");
        for (key, value) in changes {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{path}: {problem}"));
        }
        same(draft.show().unwrap_or_else(|problem| panic!("{path} {changes:?}: {problem}")))
    };
    for name in lasthop_scenario::ready_paths() {
        for keys in [
            &[("loss", "10%")][..],
            &[("loss", "2%"), ("burst", "5")],
            &[("up_loss", "3%"), ("up_burst", "4")],
            &[("ber", "1e-6")],
            &[("loss", "1")],
        ] {
            let line: Vec<String> = keys.iter().map(|(key, value)| format!(",{key}={value}")).collect();
            let (line, alone) = (line.concat(), shown(name, keys));
            assert_ne!(alone, shown(name, &[]), "{name}{line} changes something");
            assert_eq!(alone, shown(&format!("{name}{line}"), &[]), "{name}{line}");
            assert_eq!(alone, shown(&format!("{name},seed=1"), keys), "{name}{line}");
        }
    }
    let arq = ("wireless.down.arq", "none");
    assert_eq!(shown("lte", &[arq, ("loss", "1%")]), shown("lte", &[arq, ("wireless.down.channel", "iid")]));
    assert_eq!(shown("lte", &[("loss", "1%"), ("loss", "3%")]), shown("lte", &[("loss", "3%")]));
    let both = [("loss", "3%"), ("burst", "5"), ("ber", "1e-5")];
    assert_eq!(shown("umts", &both), shown("umts", &[("ber", "1e-5")]));
}

#[test]
fn losses_behind_an_arq_are_noted() {
    let [note] = &load("lte,loss=10%").notes()[..] else { panic!("one note") };
    assert!(
        note.starts_with("link.wireless.down: `loss` (residual_loss) is the share of packets lost after"),
        "{note}"
    );
    assert!(note.contains("retransmissions") && note.contains("link.wireless.down.channel"), "{note}");
    for path in ["lte", "starlink,loss=1%", "rate=10Mbit/s,loss=1%"] {
        assert_eq!(load(path).notes(), Vec::<String>::new(), "{path}");
    }
}

#[test]
fn residual_losses_are_checked() {
    let refused = |changes: &[(&str, &str)]| {
        let mut draft = Draft::load("lte").expect("a path");
        changes.iter().for_each(|(key, value)| draft.set(key, value).expect("a key"));
        draft.check().expect_err("refused").message().to_owned()
    };
    let link = "link.wireless.down";
    let key = |name: &str| format!("{link}.{name}");
    let (loss, burst) = (key("residual_loss"), key("residual_burst"));
    assert!(refused(&[(&burst, "5")]).contains("needs `residual_loss`"));
    assert!(refused(&[(&loss, "1"), (&burst, "5")]).contains("no gap between bursts"));
    assert!(refused(&[(&loss, "101 %")]).contains(&loss));
    let empty = Draft::load("lte").expect("a path").set("loss", "").expect_err("a line's key");
    assert!(empty.advice().is_some_and(|help| help.contains("loss=0")), "{empty}");
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
    // `rtt=100ms` means 50 ms in each direction. The wireless link keeps its 5 ms, so the wired link gets 45 ms.
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
    // The flow's data goes from `y` to `x`, the link's direction up. `rate` must set the rate in the direction of the
    // data.
    let scenario = load(&format!("{},rate=3Mbit/s,sender=newreno", file.display()));
    assert_eq!(scenario.links[0].up.service, Service::Rate(Rate::from_bps(3_000_000)));
    assert_eq!(scenario.links[0].down.service, Service::Rate(Rate::from_bps(1_000_000)));
    assert_eq!(sender(&scenario).0, "new_reno");
}

#[test]
fn bursts_have_a_mean_length() {
    let umts = &load("umts,loss=1%,burst=5").links[1].down;
    assert_eq!((umts.residual_loss, umts.residual_burst), (0.01, Some(5.0)));
    for path in ["rate=10Mbit/s,loss=1%,burst=5", "wavelan,loss=1%,burst=5"] {
        let scenario = load(path);
        let channel = &scenario.links.last().expect("a link").down.channel;
        assert_eq!(channel.info.name, "two_state", "{path}");
        assert_eq!((channel.values.number("mean_loss"), channel.values.number("mean_burst")), (0.01, 5.0));
    }
    assert!(Scenario::load("rate=10Mbit/s,burst=5").expect_err("no loss").message().contains("needs `loss`"));
}

/// Losses in the direction up have their own keys, with and without a built-in scenario before the keys.
#[test]
fn each_direction_loses_its_own() {
    for path in ["rate=10Mbit/s,loss=1%,up_loss=3%,up_burst=4", "wavelan,loss=1%,up_loss=3%,up_burst=4"] {
        let scenario = load(path);
        let link = scenario.links.last().expect("a link");
        assert_eq!((link.down.channel.info.name, link.down.channel.values.number("loss")), ("iid", 0.01));
        let up = &link.up.channel;
        assert_eq!((up.info.name, link.up.arq.info.name), ("two_state", "none"), "{path}");
        assert_eq!((up.values.number("mean_loss"), up.values.number("mean_burst")), (0.03, 4.0));
    }
    let lte = &load("lte,loss=1%,up_loss=3%,up_burst=4").links[1];
    assert_eq!((lte.down.residual_loss, lte.down.residual_burst), (0.01, None));
    assert_eq!((lte.up.residual_loss, lte.up.residual_burst), (0.03, Some(4.0)));
    let alone = &load("rate=10Mbit/s,up_loss=3%").links[0];
    assert_eq!((alone.down.channel.info.name, alone.up.channel.info.name), ("none", "iid"));
    let why = Scenario::load("rate=10Mbit/s,loss=1%,up_burst=4").expect_err("burst without loss");
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
    draft.set("link.wireless.down.channel", "").expect("the key is set");
    draft.set("link.wireless.down.queue", " ").expect("the key is set");
    let link = draft.check().unwrap_or_else(|problem| panic!("{problem}")).links[1].clone();
    assert_eq!(link.down.channel.info.name, "none");
    // Without the key, the queue has its default, 1 bdp: 2 Mbit/s times 92 ms are 23,000 bytes.
    assert_eq!(link.down.queue.values.bytes("bytes"), 23_000);
    assert!(draft.set("link.wireless.down.queue", "").is_err(), "the key is already removed");
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

//! Tests the values of checked scenarios: links, delays, mechanisms, flows and routes.

use lasthop_base::{Duration, Rate, Time, Value};
use lasthop_net::service::Service;
use lasthop_scenario::{Draft, Headers, Hop, Pattern, Scenario, Traffic, Transfer};

fn read(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml")
        .unwrap_or_else(|problem| panic!("{problem} at line {}", problem.line()))
}

fn load(spec: &str) -> Scenario {
    Scenario::load(spec).unwrap_or_else(|problem| panic!("{problem}"))
}

fn tcp(scenario: &Scenario, flow: usize) -> (Transfer, &lasthop_tcp::Config, &lasthop_tcp::Config) {
    match &scenario.flows[flow].traffic {
        Traffic::Tcp { transfer, source, destination } => (*transfer, source, destination),
        Traffic::Datagrams { .. } => panic!("flow {flow} is not TCP"),
    }
}

const DOWN: fn(usize) -> Hop = |link| Hop { link, is_down: true };
const UP: fn(usize) -> Hop = |link| Hop { link, is_down: false };

#[test]
fn scenarios_can_be_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    shared::<Scenario>();
    shared::<Draft>();
}

#[test]
fn hasegawa_is_the_papers_fig_6() {
    let scenario = load("hasegawa");
    assert_eq!(scenario.nodes, ["server", "bs", "client"]);
    assert_eq!((scenario.duration, scenario.headers), (Duration::from_secs(1000), Headers::Nominal(40)));
    let [wired, wireless] = &scenario.links[..] else { panic!("two links") };
    assert_eq!(wired.down.service, Service::Rate(Rate::from_bps(10_000_000)));
    assert_eq!((wired.down.delay, wired.up.delay), (Duration::from_millis(45), Duration::from_millis(45)));
    assert_eq!(wireless.down.service, Service::Rate(Rate::from_bps(2_000_000)));
    assert_eq!(wireless.up.service, Service::Rate(Rate::from_bps(384_000)));
    assert_eq!(
        (wireless.down.delay, wireless.up.delay),
        (Duration::from_millis(1), Duration::from_millis(1))
    );
    assert_eq!(wireless.down.queue.values.value("packets"), &Value::Count(50));
    assert_eq!(wireless.up.queue.values.value("packets"), &Value::Count(0));
    assert_eq!(wireless.down.channel.info.name, "bit_error");
    assert_eq!(wireless.down.channel.values.number("rate"), 2e-5);
    assert_eq!(wireless.up.channel.info.name, "none");
    assert_eq!(wireless.down.arq.values.count("transmissions"), 4);
    assert_eq!(wireless.down.arq.values.duration("delay"), Duration::from_micros(6160));
    let (transfer, source, destination) = tcp(&scenario, 0);
    assert_eq!(transfer, Transfer::Bulk);
    assert_eq!((source.segment, destination.segment), (1000, 1000));
    assert_eq!((source.recovery.info.name, source.ack_counting.info.name), ("sack", "per_ack"));
    assert_eq!((source.initial_window, source.initial_ssthresh), (2, None));
    assert_eq!(source.rto.smallest, Duration::from_millis(200));
    assert_eq!(source.rto.tick, Duration::from_millis(10));
    assert_eq!(source.timestamp_tick, Duration::from_micros(1));
    assert_eq!(
        (destination.ack_policy.info.name, destination.ack_splitting.info.name),
        ("immediate", "once")
    );
    assert_eq!(scenario.routes[0].there, [DOWN(0), DOWN(1)]);
    assert_eq!(scenario.routes[0].back, [UP(1), UP(0)]);
}

#[test]
fn an_inline_scenario_is_one_link_and_one_flow() {
    let scenario = load(
        "rate=10Mbit/s,up=1Mbps,rtt=20ms,queue=100packets,loss=1%,recovery=reno,segment=536bytes,runs=3",
    );
    let [link] = &scenario.links[..] else { panic!("one link") };
    assert_eq!(link.down.service, Service::Rate(Rate::from_bps(10_000_000)));
    assert_eq!(link.up.service, Service::Rate(Rate::from_bps(1_000_000)));
    assert_eq!((link.down.delay, link.up.delay), (Duration::from_millis(10), Duration::from_millis(10)));
    assert_eq!(link.down.queue.values.count("packets"), 100);
    assert_eq!(link.down.channel.values.number("loss"), 0.01);
    assert_eq!((link.up.channel.info.name, scenario.runs), ("none", 3));
    let (_, source, _) = tcp(&scenario, 0);
    assert_eq!((source.recovery.info.name, source.segment), ("reno", 536));
    assert_eq!(
        scenario.title,
        "rate=10Mbit/s,up=1Mbps,rtt=20ms,queue=100packets,loss=1%,recovery=reno,segment=536bytes,runs=3"
    );

    let same_up = load("rate = 5 Mbit/s, one_way_delay = 7 ms, arq = {kind = \"repeat\", transmissions = 3}");
    assert_eq!(same_up.links[0].up.service, Service::Rate(Rate::from_bps(5_000_000)));
    assert_eq!(same_up.links[0].down.arq.values.count("transmissions"), 3);
}

#[test]
fn a_link_s_own_values_hold_for_both_directions_unless_one_says_otherwise() {
    let scenario = read(
        "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\nqueue = '64 KB'\nchannel = 'iid'\n\
         [link.a.up]\nrate = '2 Mbit/s'\nchannel = 'none'\n\
         [flow.b]\nfrom = 'y'\nto = 'x'\n",
    );
    let link = &scenario.links[0];
    assert_eq!(link.down.service, Service::Rate(Rate::from_bps(1_000_000)));
    assert_eq!(link.up.service, Service::Rate(Rate::from_bps(2_000_000)));
    assert_eq!((link.down.channel.info.name, link.up.channel.info.name), ("iid", "none"));
    assert_eq!(
        (link.down.queue.values.bytes("bytes"), link.up.queue.values.bytes("bytes")),
        (64_000, 64_000)
    );
    assert_eq!((&scenario.routes[0].there[..], &scenario.routes[0].back[..]), (&[UP(0)][..], &[DOWN(0)][..]));
}

#[test]
fn replicas_have_numbers_and_staggered_starts() {
    let scenario = read(
        "duration = '10 s'\n[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n\
         [flow.b]\nfrom = 'x'\nto = 'y'\ncount = 3\nstart = '1 s'\nstagger = '0.5 s'\ntransfer = '1 MB'\n\
         [flow.c]\nkind = 'cbr'\nfrom = 'x'\nto = 'y'\nrate = '64 kbit/s'\npacket = '200 bytes'\nstop = '4 s'\n",
    );
    let starts: Vec<(&str, Time)> =
        scenario.flows.iter().map(|flow| (flow.name.as_str(), flow.start)).collect();
    let at = |millis| Time::ZERO + Duration::from_millis(millis);
    assert_eq!(starts, [("b.1", at(1000)), ("b.2", at(1500)), ("b.3", at(2000)), ("c", at(0))]);
    assert_eq!(scenario.routes.len(), 4);
    assert_eq!(tcp(&scenario, 1).0, Transfer::Bytes(1_000_000));
    match &scenario.flows[3].traffic {
        Traffic::Datagrams { rate, packet, stop, pattern, .. } => {
            assert_eq!((*rate, *packet), (Rate::from_bps(64_000), 200));
            assert_eq!((*stop, *pattern), (Some(at(4000)), Pattern::Constant));
        }
        Traffic::Tcp { .. } => panic!("not TCP"),
    }
}

/// The destination of a flow with requests has the same sender configuration in both kinds of responses.
#[test]
fn external_responses_differ_from_sizes_only_in_the_transfer() {
    let flow = |response: &str| {
        let text = "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n\
                    [flow.b]\nfrom = 'x'\nto = 'y'\nprofile = 'linux'\nrequest = '300 bytes'\n";
        read(&format!("{text}response = '{response}'\n"))
    };
    let (external, fixed) = (flow("external"), flow("50 KB"));
    assert_eq!(tcp(&external, 0).0, Transfer::OnDemand { request: 300 });
    assert!(matches!(tcp(&fixed, 0).0, Transfer::Exchanges(_)));
    let ends = |scenario: &Scenario| format!("{:?} {:?}", tcp(scenario, 0).1, tcp(scenario, 0).2);
    assert_eq!(ends(&external), ends(&fixed));
}

/// Fed transfers differ from other transfers only in the data, also with several replicas.
#[test]
fn fed_transfers_differ_from_sizes_only_in_the_transfer() {
    let flow = |transfer: &str| {
        let text = "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n\
                    [flow.b]\nfrom = 'x'\nto = 'y'\ncount = 2\nprofile = 'linux'\n";
        read(&format!("{text}transfer = '{transfer}'\n"))
    };
    let (external, fixed) = (flow("external"), flow("50 KB"));
    assert_eq!([tcp(&external, 0).0, tcp(&external, 1).0], [Transfer::Fed; 2]);
    let ends = |scenario: &Scenario| format!("{:?} {:?}", tcp(scenario, 1).1, tcp(scenario, 1).2);
    assert_eq!(ends(&external), ends(&fixed));
}

/// The links are x - a - y and x - b - c - y. A rule in `[route]` sends packets from x to y over b.
#[test]
fn routes_override_the_fewest_links_in_one_direction() {
    let link = |name: &str, from: &str, to: &str| {
        format!("[link.{name}]\nfrom = '{from}'\nto = '{to}'\nrate = '1 Mbit/s'\n")
    };
    let net: String =
        [("xa", "x", "a"), ("ay", "a", "y"), ("xb", "x", "b"), ("bc", "b", "c"), ("cy", "c", "y")]
            .map(|(name, from, to)| link(name, from, to))
            .concat();
    let flow = "[flow.f]\nfrom = 'x'\nto = 'y'\n";
    let shortest = read(&format!("{net}{flow}"));
    assert_eq!(shortest.routes[0].there, [DOWN(0), DOWN(1)]);
    assert_eq!(shortest.routes[0].back, [UP(1), UP(0)]);
    let detour = read(&format!("{net}{flow}[route]\nx.y = 'b'\n"));
    // From b to y, the path over c has fewer links than the path over x and a.
    assert_eq!(detour.routes[0].there, [DOWN(2), DOWN(3), DOWN(4)]);
    assert_eq!(detour.routes[0].back, [UP(1), UP(0)]);
}

#[test]
fn a_chain_of_too_many_links_is_refused() {
    let chain = |links: usize| -> String {
        let net: String = (0..links)
            .map(|n| format!("[link.l{n}]\nfrom = 'n{n}'\nto = 'n{}'\nrate = '1 Mbit/s'\n", n + 1))
            .collect();
        format!("{net}[flow.f]\nfrom = 'n0'\nto = 'n{links}'\n")
    };
    assert_eq!(read(&chain(255)).routes[0].there.len(), 255);
    let problem = Scenario::parse(&chain(256), "test.toml").expect_err("too long");
    assert!(problem.message().contains("more than 255 links"), "{problem}");
}

#[test]
fn options_set_words_tables_and_parameters() {
    let set = |changes: &[(&str, &str)]| {
        let mut draft = Draft::load("hasegawa").expect("a ready path");
        for (path, value) in changes {
            draft.set(path, value).unwrap_or_else(|problem| panic!("{path}={value}: {problem}"));
        }
        draft.check().unwrap_or_else(|problem| panic!("{changes:?}: {problem}"))
    };
    let wireless = |scenario: &Scenario| scenario.links[1].clone();

    let rate = set(&[("link.wireless.down.channel.rate", "3e-5")]);
    assert_eq!(wireless(&rate).down.channel.values.number("rate"), 3e-5);
    for (path, value) in
        [("channel.rate", "3e-5"), ("wireless.down.channel.rate", "0.003 %"), ("channel.rate", "\"3e-5\"")]
    {
        assert_eq!(wireless(&set(&[(path, value)])).down.channel.values.number("rate"), 3e-5, "{path}");
    }
    let word = set(&[("link.wireless.down.channel", "none"), ("link.wireless.down.arq", "none")]);
    assert_eq!(
        (wireless(&word).down.channel.info.name, wireless(&word).down.arq.info.name),
        ("none", "none")
    );
    let table = set(&[
        ("ack_splitting", "split"),
        ("ack_splitting.count", "3"),
        ("receiver.ack_splitting.covers", "last_segment"),
    ]);
    let (_, _, destination) = tcp(&table, 0);
    assert_eq!(destination.ack_splitting.values.count("count"), 3);
    assert_eq!(destination.ack_splitting.values.word("covers"), "last_segment");
    let inline = set(&[("flow.bulk.receiver.ack_splitting", "{ kind = \"copies\", count = 4 }")]);
    assert_eq!(tcp(&inline, 0).2.ack_splitting.values.count("count"), 4);
    let absent = set(&[("link.wireless.up.arq", "repeat"), ("link.wireless.up.arq.transmissions", "2")]);
    assert_eq!(wireless(&absent).up.arq.values.count("transmissions"), 2);
    let queue = set(&[("link.wireless.down.queue.bytes", "10 KB")]);
    assert_eq!(wireless(&queue).down.queue.values.count("packets"), 50);
    assert_eq!(wireless(&queue).down.queue.values.bytes("bytes"), 10_000);
    let unlimited = set(&[("link.wireless.down.queue", "unlimited"), ("wireless.down.queue.packets", "7")]);
    assert_eq!(wireless(&unlimited).down.queue.values.count("packets"), 7);
    let plain = set(&[
        ("seed", "7"),
        ("duration", "5 s"),
        ("sack", "false"),
        ("recovery", "reno"),
        ("initial_window", "1"),
    ]);
    assert_eq!((plain.seed, plain.duration), (7, Duration::from_secs(5)));
    assert_eq!((tcp(&plain, 0).1.sack, tcp(&plain, 0).1.initial_window), (false, 1));
}

#[test]
fn a_parameter_of_what_a_link_says_for_both_directions_is_set_in_one() {
    let mut draft = Draft::parse(
        "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\nchannel = { kind = 'bit_error', rate = 1e-5 }\n\
         [link.a.down]\nqueue = '5 packets'\n[flow.b]\nfrom = 'x'\nto = 'y'\n",
        "test.toml",
    )
    .expect("valid");
    draft.set("link.a.down.channel.rate", "2e-5").expect("a key");
    draft.set("link.a.up.queue.packets", "3").expect("a key");
    let link = draft.check().unwrap_or_else(|problem| panic!("{problem}")).links[0].clone();
    assert_eq!(link.down.channel.values.number("rate"), 2e-5);
    assert_eq!(link.up.channel.values.number("rate"), 1e-5);
    assert_eq!((link.down.queue.values.count("packets"), link.up.queue.values.count("packets")), (5, 3));
}

#[test]
fn a_short_path_means_every_flow() {
    let mut draft = Draft::parse(
        "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n[flow.b]\nfrom = 'x'\nto = 'y'\n\
         [flow.c]\nfrom = 'y'\nto = 'x'\n",
        "test.toml",
    )
    .expect("valid");
    draft.set("sender.recovery", "tahoe").expect("a key of every flow");
    draft.set("c.receiver.ack_policy", "immediate").expect("a key of one flow");
    let scenario = draft.check().unwrap_or_else(|problem| panic!("{problem}"));
    let names =
        |flow| (tcp(&scenario, flow).1.recovery.info.name, tcp(&scenario, flow).2.ack_policy.info.name);
    assert_eq!((names(0), names(1)), (("tahoe", "delayed"), ("tahoe", "immediate")));
}

#[test]
fn a_path_changes_all_of_its_flows_or_none() {
    let mut draft = Draft::parse(
        "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n[flow.b]\nfrom = 'x'\nto = 'y'\n\
         [flow.c]\nkind = 'cbr'\nfrom = 'x'\nto = 'y'\nrate = '64 kbit/s'\npacket = '200 bytes'\n",
        "test.toml",
    )
    .expect("valid");
    let before = draft.show().expect("valid");
    assert!(draft.set("flow.sack", "false").is_err());
    assert_eq!(draft.show().expect("valid"), before);
    draft.set("recovery", "new_reno").expect("a recovery that needs no SACK");
    draft.set("sack", "false").expect("a key of the only flow of TCP");
    assert!(!tcp(&draft.check().expect("valid"), 0).1.sack);
}

#[test]
fn a_change_that_fails_leaves_the_draft_as_it_was() {
    let mut draft = Draft::load("umts").expect("a ready path");
    let before = draft.show().expect("valid");
    assert!(draft.set("no.such.key", "1").is_err());
    assert_eq!(draft.show().expect("still valid"), before);
}

#[test]
fn traces_are_found_beside_the_scenario_and_from_where_one_types() {
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("a.down");
    std::fs::write(&trace, "1\n2\n4\n").expect("written");
    let file = directory.path().join("test.toml");
    let text = "[link.a]\nfrom = 'x'\nto = 'y'\nrate = '1 Mbit/s'\n[link.a.down]\ntrace = 'a.down'\n[flow.b]\nfrom = 'x'\nto = 'y'\n";
    std::fs::write(&file, text).expect("written");
    let opportunities = |scenario: Scenario| match &scenario.links[0].down.service {
        Service::Trace(trace) => trace.opportunities(),
        Service::Rate(_) | Service::Plan(_) => 0,
    };
    assert_eq!(opportunities(load(&file.to_string_lossy())), 3);
    let inline = format!("trace={},up=1Mbit/s,rtt=20ms", trace.display());
    assert_eq!(opportunities(load(&inline)), 3);
    // A trace replaces the rate of a built-in scenario, whether a key sets the trace or a one-line scenario does.
    let last =
        |scenario: Scenario| Scenario { links: scenario.links.into_iter().skip(1).collect(), ..scenario };
    let mut lte = Draft::load("lte").expect("a ready path");
    lte.set("link.wireless.down.trace", &trace.to_string_lossy()).expect("the trace replaces the rate");
    assert_eq!(opportunities(last(lte.check().unwrap_or_else(|problem| panic!("{problem}")))), 3);
    assert_eq!(opportunities(last(load(&format!("lte,trace={}", trace.display())))), 3);
}

/// A light trace of CellReplay needs the heavy trace of the same recording, both in tables and in one-line scenarios.
/// Removing the heavy trace removes the light trace.
#[test]
fn light_traces_stand_beside_heavy_ones() {
    let directory = tempfile::tempdir().expect("a directory");
    let put = |name: &str, text: &str| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).expect("written");
        path.display().to_string()
    };
    let heavy = put("heavy", "1\n2\n4\n");
    let light = put("light", "0 20 0 2\n1000 40 0 1\n3000 20 0 5\n");
    let sizes = put("sizes", "100 0\n200 1.5\n");
    let line = format!("trace={heavy},up=1Mbit/s,light={light},path.down.light_timer=3ms");
    let mut draft = Draft::load(&line).unwrap_or_else(|problem| panic!("{problem}"));
    draft.set("path.down.light_sizes", &sizes).expect("a key");
    let scenario = draft.check().unwrap_or_else(|problem| panic!("{problem}"));
    let down = &scenario.links[0].down;
    let told = down.light.as_ref().expect("trains");
    assert_eq!((told.trace.trains(), told.trace.length_millis(), told.timer_millis), (3, 3000, 3));
    assert!(told.sizes.is_some());
    // The base delay rises from 20 to 40 ms in the first second and falls to 20 ms in the next two: the mean is 30 ms.
    assert_eq!(down.base_delay(), Duration::from_millis(30));
    // The trace has three delivery opportunities of 1400 bytes each in 4 ms.
    assert_eq!(down.service.mean_rate(), Rate::from_bps(8_400_000));
    let shown = draft.show().expect("valid");
    assert!(Draft::parse(&shown, "shown.toml").and_then(|draft| draft.check()).is_ok(), "{shown}");
    // Setting a constant rate also removes the light trace.
    draft.set("rate", "5Mbit/s").expect("a key");
    assert_eq!(load_draft(&draft).links[0].down.light, None);
    let refused = |line: String, told: &str| {
        let problem = Draft::load(&line).and_then(|draft| draft.check()).expect_err(&line);
        assert!(problem.to_string().contains(told), "{problem}");
    };
    refused(format!("rate=5Mbit/s,light={light}"), "light needs `trace`");
    refused(format!("trace={heavy},up=1Mbit/s,path.down.light_timer=3ms"), "light_timer needs `light`");
    refused(format!("trace={heavy},up=1Mbit/s,light={heavy}"), "line 1: needs a time, a base delay and");
    refused(format!("trace={light},up=1Mbit/s,light={light}"), "line 1: `0 20 0 2` is not a whole number");
    refused(format!("trace={heavy},up=1Mbit/s,light={sizes}"), "line 1: needs a time");
    refused(
        format!("trace={heavy},up=1Mbit/s,light={light},arq=\"wifi\""),
        "schedules its own transmissions",
    );
    for (text, told) in [
        ("0 20 0\n", "needs at least two lines"),
        ("0 20 0\n0 20 0\n", "the last time is 0 ms"),
        ("5 20 0\n4 20 0\n", "line 2: 4 ms comes after 5 ms"),
        ("0 20\n5 20\n", "line 1: needs a time, a base delay and"),
        ("0 20 0\n5 2x 0\n", "line 2: `2x` is not a whole number"),
        ("0 20 0\n5 20 0 9999999\n", "line 2: a delay of 9999999 ms is too long: at most"),
    ] {
        refused(format!("trace={heavy},up=1Mbit/s,light={}", put("bad", text)), told);
    }
}

#[test]
fn the_example_of_light_traces_is_read() {
    let scenario = load(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/cellreplay/path.toml"));
    let link = &scenario.links[0];
    assert!(link.down.light.is_some() && link.up.light.is_some());
    // The light trace has eleven lines with 24 to 44 ms, half a second apart. Their mean is 29.9 ms.
    assert_eq!(link.down.base_delay(), Duration::from_micros(29_900));
}

fn load_draft(draft: &Draft) -> Scenario {
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

/// Names of mechanisms may have a hyphen in place of the underscore: `per-ack` means `per_ack`.
#[test]
fn per_ack_with_a_hyphen_is_the_same() {
    let scenario = load("rate=10Mbit/s,rtt=20ms,ack_counting=per-ack");
    assert_eq!(tcp(&scenario, 0).1.ack_counting.info.name, "per_ack");
}

//! Tests the properties that mechanisms and directions declare: random draws, ECN marks, hosts, order, reports of
//! failures, and settings that may change. Expected values follow from the documents of the mechanisms.

use lasthop_base::{Choice, Duration, Rate, Stream, Time, Value};
use lasthop_net::arq::{self, LinkLayer};
use lasthop_net::channel::{Reception, Transmission};
use lasthop_net::counters::RlcCounters;
use lasthop_net::service::{RatePlan, Service, Trace};
use lasthop_net::steps::Steps;
use lasthop_net::{
    ChangeRefused, Config, LinkChange, LinkDirection, LinkSettings, Output, Passage, admission, channel, fec,
    harq, jitter, queue, rlc, wifi,
};
use lasthop_wire::{Backlog, Body, Ecn, FlowId, Packet, Priority};
use std::sync::Arc;

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

/// Configures a link of 8 Mbit/s with a delay of 20 ms, on which a packet of 1000 bytes takes 1 + 20 ms.
fn wire() -> Config {
    Config::wire(Service::Rate(Rate::from_bps(8_000_000)), Duration::from_millis(20))
}

fn packet(number: u64) -> Packet {
    Packet {
        number,
        flow: FlowId(0),
        route: 0,
        wire_bytes: 1000,
        forward: true,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::Ect0,
        priority: Priority::NORMAL,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Datagram { number },
    }
}

fn line(config: &Config) -> LinkDirection {
    LinkDirection::new(config, Stream::named(7, "channel"))
}

fn adjustable(config: &Config) -> LinkDirection {
    LinkDirection::adjustable(config, Stream::named(7, "channel"), Stream::named(7, "plans"))
}

fn with_queue(name: &str) -> Config {
    let mut config = wire();
    let all = admission::ALL.iter().chain(queue::ALL);
    config.queue = Choice::of(all.into_iter().find(|one| one.info.name == name).expect("a queue"));
    config
}

fn with_arq(name: &str) -> Config {
    let mut config = wire();
    let all = [arq::ALL, rlc::ALL, harq::ALL, wifi::ALL, fec::ALL].into_iter().flatten();
    config.arq = Choice::of(all.into_iter().find(|one| one.info.name == name).expect("a link layer"));
    config
}

fn with_channel(name: &str) -> Config {
    let mut config = wire();
    config.channel = Choice::named(channel::ALL, name);
    config
}

fn with_jitter(max: Duration) -> Config {
    let mut config = wire();
    config.jitter = Choice::named(jitter::ALL, "random");
    config.jitter.values.set("most", Value::Duration(max));
    config
}

fn queues(is: impl Fn(&Config) -> bool) -> Vec<&'static str> {
    let all = admission::ALL.iter().chain(queue::ALL).map(|one| one.info.name);
    let mut names: Vec<&str> = all.filter(|name| is(&with_queue(name))).collect();
    names.sort_unstable();
    names
}

/// Only RED, PIE, CAKE (COBALT's BLUE) and DualPI2 drop or mark at random.
#[test]
fn queues_that_draw_random_numbers() {
    assert_eq!(queues(|config| line(config).draws()), ["cake", "dualpi2", "pie", "red"]);
}

/// RED (RFC 3168), congestion warning and DualPI2 (RFC 9332) mark by default. The other algorithms mark if `marks` is
/// set.
#[test]
fn queues_that_mark() {
    let set = |name: &str, marks: bool| {
        let mut config = with_queue(name);
        config.queue.values.set("marks", Value::Flag(marks));
        config.marks()
    };
    for name in ["red", "codel", "fq_codel", "pie", "cake"] {
        assert_eq!((set(name, false), set(name, true)), (false, true), "{name}");
    }
    let always =
        queues(|config| !config.queue.info.parameters.iter().any(|it| it.name == "marks") && config.marks());
    assert_eq!(always, ["dualpi2", "warn"]);
}

/// RED and congestion warning compute an average queue. Both averages are 0 before the first packet. A queue of 1
/// packet raises an average with weight 1 to 1.
#[test]
fn queues_with_an_average() {
    assert_eq!(queues(|config| line(config).average().is_some()), ["red", "warn"]);
    assert_eq!(queues(|config| adjustable(config).average().is_some()), ["red", "warn"]);
    for layer in ["none", "rlc", "harq", "wifi", "fec"] {
        assert_eq!(line(&with_arq(layer)).average(), None, "{layer}");
        let mut config = with_arq(layer);
        config.queue = with_queue("red").queue;
        config.queue.values.set("weight", Value::Number(1.0));
        // At 8 kbit/s, all packets after the first wait.
        config.service = Service::Rate(Rate::from_bps(8_000));
        for mut line in [line(&config), adjustable(&config)] {
            assert_eq!(line.average(), Some(0.0), "{layer}");
            let mut out = Vec::new();
            for number in 0..4 {
                match &mut line {
                    LinkDirection::Link(link) => drop(link.carry(at(1), &mut packet(number))),
                    LinkDirection::Element(element) => {
                        while element.poll_timeout() <= at(1) {
                            element.handle_timeout(element.poll_timeout(), &mut out);
                        }
                        element.handle_packet(at(1), packet(number), &mut out);
                    }
                }
            }
            assert!(line.average().is_some_and(|average| (2.0..=3.0).contains(&average)), "{layer}");
        }
    }
}

/// Only CAKE with the isolation of hosts needs the hosts.
#[test]
fn queues_that_need_hosts() {
    let mut config = with_queue("cake");
    let isolations = ["flows", "dual_srchost", "dual_dsthost", "triple_isolate"];
    for word in isolations {
        config.queue.values.set("isolation", Value::Word(word));
        assert_eq!(config.needs_hosts(), word != "flows", "{word}");
    }
    assert!(queues(Config::needs_hosts).is_empty(), "the default of CAKE isolates flows");
}

/// Lossless and scripted channels draw no random numbers; all other channels do.
#[test]
fn channels_that_draw_random_numbers() {
    let draws = |name: &str| line(&with_channel(name)).draws();
    let names = channel::ALL.iter().map(|one| one.info.name);
    let fixed: Vec<&str> = names.filter(|name| !draws(name)).collect();
    assert_eq!(fixed, ["none", "scripted"]);
}

/// A direction draws if its rate, delay, losses or jitter are drawn, with each link layer. Wi-Fi always draws its
/// back-off. A plan without ranges draws nothing.
#[test]
fn directions_that_draw_random_numbers() {
    let plan = |text: &str| Service::Plan(Arc::new(RatePlan::parse(text).expect("a plan")));
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for queue in ["drop_tail", "sfq"] {
            let config = Config { queue: with_queue(queue).queue, ..with_arq(layer) };
            let is_wifi = layer == "wifi";
            let draws = |config: &Config| line(config).draws();
            assert_eq!(draws(&config), is_wifi, "{layer}, {queue}");
            let fixed = plan("1 Mbit/s for 1 s, 2 Mbit/s for 1 s");
            assert_eq!(draws(&Config { service: fixed, ..config.clone() }), is_wifi, "{layer}, {queue}");
            let drawn = plan("1..2 Mbit/s for 1 s");
            assert!(draws(&Config { service: drawn, ..config.clone() }), "{layer}, {queue}: rate");
            let channel = with_channel("iid").channel;
            assert!(draws(&Config { channel, ..config.clone() }), "{layer}, {queue}: channel");
            let jitter = with_jitter(Duration::from_millis(1)).jitter;
            assert!(draws(&Config { jitter, ..config.clone() }), "{layer}, {queue}: jitter");
            let delay_plan = Some(Steps::parse("1..2 ms for 1 s").expect("a plan"));
            assert!(draws(&Config { delay_plan, ..config.clone() }), "{layer}, {queue}: delay");
            let delay_plan = Some(Steps::parse("1 ms for 1 s").expect("a plan"));
            assert_eq!(draws(&Config { delay_plan, ..config.clone() }), is_wifi, "{layer}, {queue}: delay");
        }
        let queue = with_queue("red").queue;
        assert!(draws_with(&Config { queue, ..with_arq(layer) }), "{layer}: red");
    }
}

fn draws_with(config: &Config) -> bool {
    line(config).draws() && adjustable(config).draws()
}

/// An impairment with probability 0 or 1 has only one outcome. Any other probability needs a random number.
#[test]
fn impairments_that_draw_random_numbers() {
    for (share, draws) in [(0.0, false), (0.5, true), (1.0, false)] {
        assert_eq!(line(&Config { duplicate: share, ..wire() }).draws(), draws, "duplicates {share}");
        assert_eq!(line(&Config { corrupt: share, ..wire() }).draws(), draws, "damage {share}");
    }
    assert!(line(&Config { residual_loss: 0.5, ..wire() }).draws());
    assert!(!line(&Config { residual_loss: 0.0, ..wire() }).draws());
    let channel = with_channel("iid").channel;
    assert!(line(&Config { duplicate: 1.0, channel, ..wire() }).draws(), "the inner direction draws");
}

/// A link layer that retransmits packet by packet reports failures, and so does Wi-Fi. RLC, HARQ and FEC have no
/// transmissions of single packets.
#[test]
fn link_layers_that_report_failures() {
    for (layer, reports) in
        [("none", true), ("repeat", true), ("wifi", true), ("rlc", false), ("harq", false), ("fec", false)]
    {
        let config = with_arq(layer);
        assert_eq!(config.reports_failures(), reports, "{layer}");
        assert_eq!(line(&config).report_failures(), reports, "{layer}");
        assert_eq!(adjustable(&config).report_failures(), reports, "{layer}");
        let queued = Config { queue: with_queue("sfq").queue, ..config };
        assert_eq!(line(&queued).report_failures(), reports, "{layer}");
    }
}

/// `none` discards lost packets, and FEC replaces the whole direction. A link layer with messages to the sender needs
/// the same link layer in the opposite direction.
#[test]
fn link_layers_as_their_documents_describe_them() {
    let retransmitting: Vec<&str> = ["none", "repeat", "rlc", "harq", "wifi", "fec"]
        .into_iter()
        .filter(|layer| with_arq(layer).retransmits())
        .collect();
    assert_eq!(retransmitting, ["repeat", "rlc", "harq", "wifi", "fec"]);
    for (layer, schedules_itself) in
        [("none", false), ("repeat", false), ("rlc", true), ("harq", true), ("wifi", true), ("fec", true)]
    {
        assert_eq!(with_arq(layer).schedules_itself(), schedules_itself, "{layer}");
    }
    let with = |layer: &str, name: &'static str, word: &'static str| {
        let mut config = with_arq(layer);
        config.arq.values.set(name, Value::Word(word));
        config.partner().map(|partner| partner.remedy)
    };
    assert_eq!(with("rlc", "status", "constant"), None);
    assert_eq!(with("rlc", "status", "polled"), Some("leave status = \"constant\""));
    assert_eq!(with("harq", "mode", "um"), None);
    assert_eq!(with("harq", "mode", "am"), Some("set mode = \"um\""));
    assert!(with_arq("wifi").partner().is_some_and(|partner| partner.remedy.contains("both directions")));
    for layer in ["none", "repeat", "fec"] {
        assert!(with_arq(layer).partner().is_none(), "{layer}");
    }
    let media: Vec<&str> = ["none", "repeat", "rlc", "harq", "wifi", "fec"]
        .into_iter()
        .filter(|layer| with_arq(layer).medium().is_some())
        .collect();
    assert_eq!(media, ["wifi"]);
    let medium = with_arq("wifi").medium().expect("a medium");
    assert_eq!(medium.equal_per_sender, ["difs", "cw_min", "cw_max"]);
}

/// A channel with constant losses loses every packet at probability 1, and so do residual losses of 1.
#[test]
fn directions_that_lose_everything() {
    let lossy = |loss: f64| {
        let mut config = with_channel("iid");
        config.channel.values.set("loss", Value::Number(loss));
        config
    };
    assert!(!wire().loses_all() && !lossy(0.99).loses_all() && lossy(1.0).loses_all());
    assert!(!Config { residual_loss: 0.99, ..wire() }.loses_all());
    assert!(Config { residual_loss: 1.0, ..wire() }.loses_all());
    assert!(!with_channel("fading").loses_all());
}

/// Packets may overtake only if the jitter or the retransmissions reorder. An element decides arrivals later, so no
/// element keeps the order in the sense of [`LinkDirection::keeps_order`].
#[test]
fn directions_that_keep_the_order() {
    assert!(line(&wire()).keeps_order());
    assert!(line(&with_channel("iid")).keeps_order());
    assert!(!line(&with_queue("sfq")).keeps_order());
    let mode = |mode: &'static str, channel: &str| {
        let mut config = with_arq("repeat");
        config.arq.values.set("mode", Value::Word(mode));
        line(&Config { channel: with_channel(channel).channel, ..config }).keeps_order()
    };
    assert!(!mode("overtaking", "iid"));
    assert!(mode("overtaking", "none"), "without losses, no packet overtakes");
    for ordered in ["once", "per_repeat", "stop_and_wait"] {
        assert!(mode(ordered, "iid"), "{ordered}");
    }
    let jitter = |reorders: bool, channel: &str| {
        let mut config = with_jitter(Duration::from_millis(1));
        config.jitter.values.set("reorders", Value::Flag(reorders));
        line(&Config { channel: with_channel(channel).channel, ..config }).keeps_order()
    };
    assert!(jitter(false, "iid") && jitter(false, "none"));
    assert!(!jitter(true, "iid") && !jitter(true, "none"));
}

/// Only a link layer with PDUs counts PDUs; all counters start at zero.
#[test]
fn link_layers_that_count_pdus() {
    for (layer, counts) in
        [("none", false), ("repeat", false), ("wifi", false), ("fec", false), ("rlc", true), ("harq", true)]
    {
        let expected = counts.then(RlcCounters::default);
        assert_eq!(line(&with_arq(layer)).rlc().copied(), expected, "{layer}");
        let delayed = Config { jitter: with_jitter(Duration::from_millis(1)).jitter, ..with_arq(layer) };
        assert_eq!(line(&delayed).rlc().copied(), expected, "{layer} with jitter");
        let impaired = Config { duplicate: 0.1, ..with_arq(layer) };
        assert_eq!(line(&impaired).rlc().copied(), expected, "{layer} with duplicates");
    }
}

/// Settings are those of the configuration, with each link layer. A planned rate is no constant rate.
#[test]
fn settings_are_those_of_the_configuration() {
    let delay = Duration::from_millis(20);
    let settings = |loss| Some(LinkSettings { bps: Some(8_000_000), delay, loss });
    assert_eq!(line(&wire()).settings(), settings(Some(0.0)));
    assert_eq!(adjustable(&wire()).settings(), settings(Some(0.0)));
    assert_eq!(line(&with_channel("iid")).settings(), settings(Some(0.01)));
    assert_eq!(adjustable(&with_channel("iid")).settings(), settings(Some(0.01)));
    assert_eq!(line(&with_channel("fading")).settings(), settings(None));
    let planned =
        Config { loss_plan: Some(Steps::parse("0.5 for 1 s").expect("a plan")), ..with_channel("iid") };
    assert_eq!(line(&planned).settings(), settings(Some(0.01)));
    let queued = with_queue("sfq");
    assert_eq!(line(&queued).settings().map(|it| (it.bps, it.delay)), Some((Some(8_000_000), delay)));
    assert_eq!(line(&Config { corrupt: 0.1, ..wire() }).settings(), settings(Some(0.0)));
    let plan = Service::Plan(Arc::new(RatePlan::parse("1 Mbit/s for 1 s").expect("a plan")));
    let unknown = Some(LinkSettings { bps: None, delay, loss: Some(0.0) });
    assert_eq!(line(&Config { service: plan.clone(), ..wire() }).settings(), unknown);
    for layer in ["rlc", "harq", "wifi", "fec"] {
        assert_eq!(line(&with_arq(layer)).settings(), settings(Some(0.0)), "{layer}");
        assert_eq!(adjustable(&with_arq(layer)).settings(), settings(Some(0.0)), "{layer}");
        let planned = Config { service: plan.clone(), ..with_arq(layer) };
        assert_eq!(line(&planned).settings(), unknown, "{layer}");
    }
}

/// On a plain link, a rate can change unless a plan or a recording determines the rate, losses can change if the channel
/// has a constant loss probability, and the queue stays. A direction that is built for changes refuses only values that
/// are no probabilities.
#[test]
fn changes_that_are_refused() {
    let none = LinkChange::default();
    let rate = |bps| LinkChange { bps: Some(bps), ..none };
    let loss = LinkChange { loss: Some(0.5), ..none };
    let delay = LinkChange { delay: Some(Duration::from_millis(1)), ..none };
    let reason = |refused: Option<ChangeRefused>| refused.map(|ChangeRefused(reason)| reason);
    let of = |config: &Config, change: &LinkChange| reason(line(config).refusal(change));
    for change in [none, rate(1), delay] {
        assert_eq!(of(&wire(), &change), None);
    }
    assert_eq!(of(&wire(), &rate(0)), Some("it was not built for changes, and its rate cannot become 0"));
    assert_eq!(of(&wire(), &loss), Some("it was not built for changes, and its channel is lossless"));
    assert_eq!(of(&with_channel("iid"), &loss), None);
    let varying = "it was not built for changes, and its channel has no loss probability that can be set";
    assert_eq!(of(&with_channel("fading"), &loss), Some(varying));
    assert_eq!(of(&with_channel("fading"), &delay), None);
    let plan = Service::Plan(Arc::new(RatePlan::parse("1 Mbit/s for 1 s").expect("a plan")));
    let planned = Config { service: plan, ..wire() };
    assert_eq!(of(&planned, &rate(1)), Some("it was not built for changes, and its rate follows a plan"));
    assert_eq!(of(&planned, &delay), None);
    let trace = Service::Trace(Arc::new(Trace::parse("1\n2\n").expect("a trace")));
    let recorded = Config { service: trace, ..wire() };
    assert_eq!(of(&recorded, &rate(1)), Some("it was not built for changes, and its rate is recorded"));
    assert_eq!(of(&recorded, &delay), None);
    let kept = Some("it was not built for changes, and keeps its queue");
    assert_eq!([wire(), with_queue("sfq")].map(|config| reason(line(&config).queue_refusal())), [kept; 2]);
    let layers = ["rlc", "harq", "wifi", "fec"].map(with_arq);
    let kinds = [wire(), planned, recorded, with_queue("sfq"), with_channel("fading")];
    for config in kinds.into_iter().chain(layers) {
        let config = Config { channel: with_channel("fading").channel, ..config };
        for config in [with_jitter_of(&config), Config { corrupt: 0.1, ..config.clone() }, config] {
            let built = adjustable(&config);
            for change in [none, rate(0), rate(1), delay, loss] {
                assert_eq!(reason(built.refusal(&change)), None, "{config:?} {change:?}");
            }
            assert_eq!(reason(built.queue_refusal()), None, "{config:?}");
            for share in [-0.1, 1.1, f64::NAN] {
                let wrong = LinkChange { loss: Some(share), ..none };
                let range = Some("its loss probability must be from 0 to 1");
                assert_eq!(reason(built.refusal(&wrong)), range, "{config:?} {share}");
                assert_eq!(of(&with_channel("iid"), &wrong), range);
            }
        }
    }
    let lossless = with_arq("rlc");
    assert_eq!(of(&lossless, &loss), Some(varying));
}

fn with_jitter_of(config: &Config) -> Config {
    Config { jitter: with_jitter(Duration::from_millis(1)).jitter, ..config.clone() }
}

/// After a change, a packet of 1000 bytes takes 8 ms at 1 Mbit/s and 5 ms of delay, on each kind of direction.
#[test]
fn changes_apply_to_later_packets() {
    let change = LinkChange { bps: Some(1_000_000), delay: Some(Duration::from_millis(5)), loss: None };
    let mut link = line(&wire());
    link.change(Time::ZERO, &change, &mut Vec::new());
    let LinkDirection::Link(inner) = &mut link else { panic!("a link") };
    assert_eq!(inner.carry(at(0), &mut packet(0)), Passage::Arrives { at: at(13) });
    let expected =
        Some(LinkSettings { bps: Some(1_000_000), delay: Duration::from_millis(5), loss: Some(0.0) });
    assert_eq!(link.settings(), expected);
    for config in [wire(), with_queue("sfq"), Config { corrupt: 1.0, ..wire() }] {
        let mut line = adjustable(&config);
        line.change(Time::ZERO, &change, &mut Vec::new());
        assert_eq!(line.settings(), expected);
        let LinkDirection::Element(element) = &mut line else { panic!("an element") };
        let mut out = Vec::new();
        element.handle_packet(at(0), packet(0), &mut out);
        while element.poll_timeout() < Time::NEVER {
            element.handle_timeout(element.poll_timeout(), &mut out);
        }
        assert!(matches!(out[..], [Output::Arrives { at: arrival, .. }] if arrival == at(13)), "{out:?}");
    }
    // A loss probability of 1 loses every packet.
    let loss = LinkChange { loss: Some(1.0), ..LinkChange::default() };
    let mut lossy = line(&with_channel("iid"));
    lossy.change(Time::ZERO, &loss, &mut Vec::new());
    assert_eq!(lossy.settings().and_then(|it| it.loss), Some(1.0));
    let LinkDirection::Link(inner) = &mut lossy else { panic!("a link") };
    assert!(matches!(inner.carry(at(0), &mut packet(0)), Passage::Lost { .. }));
}

/// Packets of 1 ms each enter at 0. The first bit of a packet that enters at 0.5 ms, behind two such packets, is sent
/// 1.5 ms later.
#[test]
fn queueing_delays_and_backlogs() {
    let half = Time::ZERO + Duration::from_micros(500);
    let wait = Some(Duration::from_micros(1500));
    let mut link = line(&wire());
    link.track_backlog();
    let LinkDirection::Link(inner) = &mut link else { panic!("a link") };
    for number in 0..2 {
        inner.carry(at(0), &mut packet(number));
    }
    assert_eq!(link.queueing_delay(half), wait);
    assert_eq!(link.backlog(half), Backlog { waiting: 1, in_service: true, bytes: 1000 });
    assert_eq!(link.backlog(at(1)), Backlog { waiting: 0, in_service: true, bytes: 0 });
    assert_eq!(link.backlog(at(2)), Backlog { waiting: 0, in_service: false, bytes: 0 });
    // A queue that may drop packets at dequeue cannot predict the delay.
    for (config, wait) in [(wire(), wait), (with_queue("sfq"), None)] {
        let mut line = adjustable(&config);
        let LinkDirection::Element(element) = &mut line else { panic!("an element") };
        let mut out = Vec::new();
        for number in 0..2 {
            element.handle_packet(at(0), packet(number), &mut out);
            while element.poll_timeout() <= at(0) {
                element.handle_timeout(element.poll_timeout(), &mut out);
            }
        }
        assert_eq!(element.backlog(half), Backlog { waiting: 1, in_service: true, bytes: 1000 });
        assert_eq!(element.queueing_delay(half), wait);
        assert_eq!(element.poll_timeout(), at(1));
    }
    for layer in ["rlc", "harq", "wifi", "fec"] {
        assert_eq!(line(&with_arq(layer)).queueing_delay(at(0)), None, "{layer}");
    }
}

/// A link without a limit on its queue counts the backlog only on request. A link is plain if the link is lossless,
/// without variable delay and without a limit.
#[test]
fn plain_links() {
    let is_plain = |config: &Config| match line(config) {
        LinkDirection::Link(link) => link.is_plain(),
        LinkDirection::Element(_) => panic!("a link"),
    };
    assert!(is_plain(&wire()));
    let mut limited = wire();
    limited.queue.values.set("packets", Value::Count(5));
    assert!(!is_plain(&limited));
    let mut limited = wire();
    limited.queue.values.set("bytes", Value::Bytes(5000));
    assert!(!is_plain(&limited));
    assert!(!is_plain(&with_channel("iid")));
    assert!(!is_plain(&with_jitter(Duration::from_millis(1))));
    assert!(!is_plain(&with_queue("red")));
    let LinkDirection::Link(mut link) = line(&wire()) else { panic!("a link") };
    assert_eq!(link.pass(at(3), 1000), at(24));
    assert_eq!(link.pass(at(3), 1000), at(25), "the second packet must wait for the first");
    assert_eq!(link.pass(at(10), 2000), at(32));
    link.track_backlog();
    assert!(!link.is_plain());
}

/// A queue of 2 packets or 2000 bytes admits packets until a limit would be exceeded; the packet in transmission does
/// not count. An idle transmitter admits a packet of any size.
#[test]
fn limits_count_waiting_packets() {
    for (limit, value) in [("packets", Value::Count(2)), ("bytes", Value::Bytes(2000))] {
        let mut config = wire();
        config.queue.values.set(limit, value);
        let LinkDirection::Link(mut link) = line(&config) else { panic!("a link") };
        let fates = (0..4).map(|number| link.carry(at(0), &mut packet(number)));
        let arrives: Vec<bool> = fates.map(|fate| matches!(fate, Passage::Arrives { .. })).collect();
        assert_eq!(arrives, [true, true, true, false], "{limit}");
    }
    let mut config = wire();
    config.queue.values.set("bytes", Value::Bytes(100));
    let LinkDirection::Link(mut link) = line(&config) else { panic!("a link") };
    assert_eq!(link.carry(at(0), &mut packet(0)), Passage::Arrives { at: at(21) });
    assert!(matches!(link.carry(at(0), &mut packet(1)), Passage::Lost { .. }));
    assert_eq!(
        link.carry(at(1), &mut packet(2)),
        Passage::Arrives { at: at(22) },
        "the link is idle at 1 ms"
    );
}

/// The delay without queueing is the propagation delay.
#[test]
fn a_delay_without_queueing() {
    assert_eq!(wire().base_delay(), Duration::from_millis(20));
}

/// The loss probability of `none` is always 0. The probability of `iid` is the parameter `loss`. Other channels have no
/// constant loss probability, and ignore a new one.
#[test]
fn loss_probabilities() {
    let built = |name: &str| {
        let choice = Choice::named(channel::ALL, name);
        (choice.build)(&choice.values, Stream::named(1, "air"))
    };
    let start = Time::ZERO;
    let one = Transmission { start, end: at(1), bytes: 1000, priority: Priority::NORMAL, attempt: 0 };
    for mechanism in channel::ALL {
        let name = mechanism.info.name;
        let mut channel = built(name);
        assert_eq!(channel.is_perfect(), name == "none", "{name}");
        let (before, after) = match name {
            "none" => (Some(0.0), Some(0.0)),
            "iid" => (Some(0.01), Some(1.0)),
            _ => (None, None),
        };
        assert_eq!((channel.loss_probability(), channel.accepts_loss()), (before, name == "iid"), "{name}");
        channel.set_loss_probability(1.0);
        assert_eq!(channel.loss_probability(), after, "{name}");
    }
    let mut perfect = built("none");
    assert!((0..100).all(|_| perfect.transmit(&one) == Reception::Intact));
    let mut sure = built("iid");
    sure.set_loss_probability(1.0);
    assert!((0..100).all(|_| sure.transmit(&one) == Reception::Lost));
    sure.set_loss_probability(0.0);
    assert!((0..100).all(|_| sure.transmit(&one) == Reception::Intact));
}

/// A per-packet link layer keeps the order unless later packets may overtake.
#[test]
fn a_link_layer_of_its_own_kind() {
    let LinkLayer::PerPacket(arq) = (arq::DEFAULT.build)(&arq::DEFAULT.info.defaults()) else {
        panic!("the default retransmits nothing");
    };
    assert!(arq.keeps_order() && !arq.retransmits());
}

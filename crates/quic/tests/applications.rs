//! Tests of applications over QUIC: requests and responses, sources that pause, and flows that leave.

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Outcome, run};

const NOQ: &str = "\"noq\"";
const QUINN: &str = "\"quinn\"";

/// Runs a path of 8 Mbit/s and 100 ms for 20 s with these flows.
fn outcome(flows: &str) -> Outcome {
    let text = format!(
        "title = \"applications\"\nduration = \"20 s\"\n\
         [link.l]\nfrom = \"server\"\nto = \"client\"\nrate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\nqueue = \"200 packets\"\n\
         {flows}"
    );
    let draft = Draft::parse(&text, "test").unwrap_or_else(|problem| panic!("{problem}"));
    run(&draft.check().unwrap_or_else(|problem| panic!("{problem}")), 1)
}

fn flow(name: &str, stack: &str, more: &str) -> String {
    format!("[flow.{name}]\nfrom = \"server\"\nto = \"client\"\nkind = \"quic\"\nstack = {stack}\n{more}\n")
}

fn times(flow: &FlowOutcome) -> Vec<f64> {
    let all = flow.exchanges.as_deref().expect("requests");
    all.iter().filter(|it| it.is_complete).map(|it| it.response_time_s).collect()
}

fn megabits(flow: &FlowOutcome) -> f64 {
    flow.delivered_bytes as f64 * 8.0 / 1e6
}

/// A request and its response take one RTT of 100 ms and the transmission of four datagrams (5000 bytes of payload, at
/// most 65 bytes of headers each): 5.3 ms, and 0.2 ms for the request. The first request also waits for the handshake:
/// one RTT and the transmission of at most four datagrams of 1500 bytes. Pacing spreads a response: at 1.25 times the
/// initial window of 14,720 bytes per RTT, 5000 bytes take at most 27 ms.
#[test]
fn a_response_takes_a_round_trip_and_its_transmission() {
    for (stack, pacing) in [("{ kind = \"noq\", pacing = false }", 0.0), (NOQ, 0.027), (QUINN, 0.027)] {
        let keys = "request = \"100 bytes\"\nresponse = \"5000 bytes\"\nthink = \"300 ms\"\nexchanges = 10";
        let outcome = outcome(&flow("web", stack, keys));
        let web = &outcome.flows[0];
        assert_eq!(web.failure, None, "{stack}");
        let times = times(web);
        assert_eq!((times.len(), web.delivered_bytes, web.requested_bytes), (10, 50_000, 1000), "{stack}");
        assert!((0.205..0.2115 + pacing).contains(&times[0]), "{stack}: {times:?}");
        assert!(times[1..].iter().all(|time| (0.105..0.1055 + pacing).contains(time)), "{stack}: {times:?}");
        let total = times.iter().sum::<f64>() + 9.0 * 0.3;
        assert!((web.active_s - total).abs() < 1e-6, "{stack}: {} {total}", web.active_s);
    }
}

/// Sizes and pauses are drawn from the same streams as in a TCP flow.
#[test]
fn both_transports_draw_the_same_responses() {
    let keys = "request = \"100 bytes\"\nresponse = \"5000 bytes\"\nsizes = \"web\"\nthink = \"100 ms\"\n\
                period = \"exponential\"\nexchanges = 20";
    let sizes = |flows: &str| {
        let outcome = outcome(flows);
        let all = outcome.flows[0].exchanges.clone().expect("requests");
        all.iter().map(|it| it.bytes).collect::<Vec<_>>()
    };
    let quic = flow("web", NOQ, keys);
    let tcp = quic.replace("kind = \"quic\"", "kind = \"tcp\"");
    assert_eq!(sizes(&quic), sizes(&tcp));
}

#[test]
fn requests_survive_losses_in_both_directions() {
    for stack in [NOQ, QUINN] {
        let mut draft = Draft::load("rate=10Mbit/s,rtt=40ms,loss=3%,duration=120s").expect("a path");
        for (key, value) in [
            ("flow.bulk.kind", "quic"),
            ("flow.bulk.stack", stack.trim_matches('"')),
            ("flow.bulk.request", "4 KB"),
            ("flow.bulk.response", "60 KB"),
            ("flow.bulk.exchanges", "100"),
            ("link.path.up.channel", "{kind=\"iid\", loss=0.03}"),
        ] {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
        }
        let outcome = run(&draft.check().expect("a scenario"), 5);
        let web = &outcome.flows[0];
        assert_eq!((times(web).len(), web.delivered_bytes, &web.failure), (100, 6_000_000, &None), "{stack}");
    }
}

/// The source sends at 4 Mbit/s for 2 s and is silent for 3 s. In 20 s, it sends four bursts of 1 MB.
#[test]
fn bursts_at_a_rate_carry_that_rate() {
    let outcome = outcome(&flow("bursts", NOQ, "on = \"2 s\"\noff = \"3 s\"\nwrite_rate = \"4 Mbit/s\""));
    let delivered = outcome.flows[0].delivered_bytes;
    // `write_rate` counts whole datagrams. Each burst has at most one write more than 1 MB.
    assert!((4_000_000..4_000_000 + 4 * 1500).contains(&delivered), "{delivered}");
}

/// Without a rate, the source fills the link in its on periods: 4 of 20 s twice. Data that is unsent at the end of an on
/// period follows in the off period: at most the queue (200 datagrams) and about two windows.
#[test]
fn bursts_without_a_rate_fill_the_link() {
    for stack in [NOQ, QUINN] {
        let outcome = outcome(&flow("bursts", stack, "on = \"4 s\"\noff = \"6 s\""));
        let megabits = megabits(&outcome.flows[0]);
        // Headers leave 95 % of the link's 64 Mbit. Slow start, twice, takes less than 1 s.
        assert!((0.95 * 56.0..0.95 * 64.0 + 2.0 * 8.0).contains(&megabits), "{stack}: {megabits} Mbit");
    }
}

/// From 5 s to 10 s, a flow that leaves at 10 s shares the link with a flow that stays. After at most 2 s more, the flow
/// that stays has the whole link again.
#[test]
fn a_flow_that_stops_leaves_the_link() {
    let flows = flow("stays", NOQ, "") + &flow("leaves", NOQ, "start = \"5 s\"\nstop = \"10 s\"");
    let outcome = outcome(&flows);
    let [stays, leaves] = &outcome.flows[..] else { panic!("two flows") };
    assert!(
        leaves.account.completed.is_some() && (5.0..7.0).contains(&leaves.active_s),
        "{}",
        leaves.active_s
    );
    assert!((8.0..40.0).contains(&megabits(leaves)), "{}", megabits(leaves));
    let total = megabits(stays) + megabits(leaves);
    assert!(total > 0.95 * 0.95 * 160.0 && total < 0.96 * 160.0, "{total}");
}

//! Tests of TCP flows that end before the run ends (key `stop`).

use lasthop_scenario::Draft;
use lasthop_sim::{FlowOutcome, Outcome};

fn run(flows: &str) -> Outcome {
    let text = format!(
        "title = \"leaving\"\nduration = \"20 s\"\n\
         [link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\none_way_delay = \"10 ms\"\nqueue = \"40 packets\"\n\
         {flows}"
    );
    lasthop_sim::run(&Draft::parse(&text, "test").unwrap().check().unwrap(), 1)
}

fn flow(name: &str, more: &str) -> String {
    format!("[flow.{name}]\nfrom = \"a\"\nto = \"b\"\n{more}\n")
}

fn megabits(flow: &FlowOutcome) -> f64 {
    flow.delivered_bytes as f64 * 8.0 / 1e6
}

/// While the first flow is alone (until 5 s and from 10 s on), it has 9.6 of 10 Mbit/s, because 1000 of 1040 bytes are
/// payload. From 5 s to 10 s, two equal flows share the link, so the second flow must carry about half of 48 Mbit. The
/// second flow must end within a second after its stop, because at most 128 KiB are unsent at the stop.
#[test]
fn the_other_flow_has_the_link_again() {
    let outcome = run(&(flow("stays", "") + &flow("leaves", "start = \"5 s\"\nstop = \"10 s\"")));
    let [stays, leaves] = &outcome.flows[..] else { panic!("two flows") };
    assert!((5.0..6.0).contains(&leaves.active_s), "{}", leaves.active_s);
    assert!(
        (megabits(stays) + megabits(leaves) - 192.0).abs() < 6.0,
        "{} {}",
        megabits(stays),
        megabits(leaves)
    );
    assert!((15.0..32.0).contains(&megabits(leaves)), "{}", megabits(leaves));
    assert!(!leaves.is_finite && leaves.transfers().count() == 0, "a flow with `stop` counts as a transfer");
}

/// An application that writes 1 Mbit/s from 2 s to 12 s writes 10 Mbit, all of which must arrive.
#[test]
fn everything_written_before_arrives() {
    let outcome = run(&flow("paced", "write_rate = \"1 Mbit/s\"\nstart = \"2 s\"\nstop = \"12 s\""));
    let paced = &outcome.flows[0];
    assert!((megabits(paced) - 10.0).abs() < 0.02, "{}", megabits(paced));
    assert!((10.0..10.2).contains(&paced.active_s), "{}", paced.active_s);
    assert!((paced.goodput_kbps() - 1000.0).abs() < 20.0);
}

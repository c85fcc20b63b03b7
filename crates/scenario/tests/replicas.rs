//! Lists and mixes: values that differ between the replicas of a flow.

use lasthop_base::Time;
use lasthop_scenario::{Draft, Problem, Scenario, Traffic, Transfer};

const PATH: &str = "title = \"t\"\nduration = \"10 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Mbit/s\"\n\
                    one_way_delay = \"1 ms\"\n";

fn check(flow: &str) -> Result<Scenario, Problem> {
    Draft::parse(&format!("{PATH}[flow.x]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"), "test")?.check()
}

fn controls(scenario: &Scenario) -> Vec<&'static str> {
    let of = |traffic: &Traffic| match traffic {
        Traffic::Tcp { source, .. } => source.congestion.info.name,
        Traffic::Datagrams { .. } => panic!("TCP"),
    };
    scenario.flows.iter().map(|flow| of(&flow.traffic)).collect()
}

fn transfers(scenario: &Scenario) -> Vec<u64> {
    let of = |traffic: &Traffic| match traffic {
        Traffic::Tcp { transfer: Transfer::Bytes(bytes), .. } => *bytes,
        _ => 0,
    };
    scenario.flows.iter().map(|flow| of(&flow.traffic)).collect()
}

/// Each value must get its share of the flows, rounded. With 20 flows, 60, 30 and 10 % are 12, 6 and 2 flows. With 7
/// flows, 4.2, 2.1 and 0.7 become 4, 2 and 1.
#[test]
fn a_mix_has_its_shares() {
    for (count, expected) in [(20, [12, 6, 2]), (7, [4, 2, 1])] {
        let scenario = check(&format!(
            "count = {count}\nsender.congestion = {{ mix = {{ cubic = 0.6, bbr = 0.3, reno = 0.1 }} }}"
        ))
        .unwrap();
        let controls = controls(&scenario);
        assert_eq!(scenario.flows[count - 1].name, format!("x.{count}"));
        let counts = ["cubic", "bbr", "reno"].map(|name| controls.iter().filter(|it| **it == name).count());
        assert_eq!(counts, expected, "{controls:?}");
    }
}

#[test]
fn a_list_has_its_order_and_begins_again() {
    let scenario = check("count = 5\ntransfer = [\"1 KB\", \"2 KB\"]\nstagger = \"1 s\"").unwrap();
    assert_eq!(transfers(&scenario), [1000, 2000, 1000, 2000, 1000]);
    let seconds: Vec<f64> =
        scenario.flows.iter().map(|flow| flow.start.since(Time::ZERO).as_secs()).collect();
    assert_eq!(seconds, [0.0, 1.0, 2.0, 3.0, 4.0]);
    let starts = check("count = 3\nstart = [\"3 s\", \"1 s\"]").unwrap();
    let seconds: Vec<f64> = starts.flows.iter().map(|flow| flow.start.since(Time::ZERO).as_secs()).collect();
    assert_eq!(seconds, [3.0, 1.0, 3.0]);
}

/// Two mixes of equal shares must be independent, so that each of the four pairs of values has 100 of 400 flows on
/// average. The number of flows with a given pair has a hypergeometric distribution. Its standard deviation is
/// sqrt(200^4 / (400² × 399)) = 5.0. The test allows four standard deviations.
#[test]
fn two_mixes_are_independent() {
    let scenario = check(
        "count = 400\nsender.congestion = { mix = { cubic = 1, reno = 1 } }\ntransfer = { mix = { \"1 KB\" = 1, \"2 KB\" = 1 } }",
    )
    .unwrap();
    let pairs = controls(&scenario).into_iter().zip(transfers(&scenario));
    let both = pairs.filter(|pair| *pair == ("cubic", 1000)).count();
    assert!((80..=120).contains(&both), "{both}");
}

/// `show` prints the list and the mix as written. Reading the printed text must give the same flows.
#[test]
fn what_is_shown_is_the_same_scenario() {
    let flow = "count = 6\nsender.congestion = { mix = { cubic = 0.5, bbr = 0.5 } }\nreceiver.window = [\"buffer\", \"autotuned\"]\ntransfer = [\"1 KB\", \"bulk\"]";
    let draft = Draft::parse(&format!("{PATH}[flow.x]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"), "test").unwrap();
    let shown = draft.show().unwrap();
    assert!(shown.contains("transfer = [\"1 KB\", \"bulk\"]"), "{shown}");
    assert!(shown.contains("congestion = { \"mix\" = { \"cubic\" = 0.5, \"bbr\" = 0.5 } }"), "{shown}");
    let again = Draft::parse(&shown, "shown").unwrap();
    assert_eq!(again.show().unwrap(), shown);
    let (one, other) = (draft.check().unwrap(), again.check().unwrap());
    assert_eq!(controls(&one), controls(&other));
    assert_eq!(transfers(&one), transfers(&other));
}

#[test]
fn mistakes_are_reported() {
    for (flow, message) in [
        ("count = 2\ntransfer = []", "flow.x.transfer: the list is empty"),
        ("transfer = [\"1 KB\", \"2 KB\"]", "flow.x.transfer: a list or mix needs several replicas"),
        ("count = [2, 3]", "flow.x.count: the value must be the same for all replicas"),
        (
            "count = 2\nsender.congestion = { mix = { cubic = 0 } }",
            "flow.x.sender.congestion: a share is a number above 0",
        ),
        (
            "count = 2\nsender.congestion = { mix = 3 }",
            "flow.x.sender.congestion: a mix is a table of values with their shares",
        ),
        (
            "count = 2\nsender.congestion = [\"cubic\", \"cubik\"]",
            "flow.x.sender.congestion: no congestion is called `cubik`",
        ),
        ("count = 2\nstagger = \"5 s\"\nstart = [\"1 s\", \"6 s\"]", "after the run's end"),
    ] {
        let error = check(flow).expect_err(flow).to_string();
        assert!(error.contains(message), "{flow}: {error}");
    }
}

/// A range from 5 to 85 ms for four flows has the middles 15, 35, 55 and 75 ms of four equal parts, in any order.
#[test]
fn a_uniform_range_is_divided_evenly() {
    let scenario = check("count = 4\nextra_delay = \"uniform 5 ms to 85 ms\"").unwrap();
    let mut delays: Vec<f64> = scenario.flows.iter().map(|flow| flow.extra_delay.as_secs() * 1e3).collect();
    delays.sort_by(f64::total_cmp);
    assert_eq!(delays, [15.0, 35.0, 55.0, 75.0]);
    for wrong in ["uniform 5 ms", "uniform 5 ms to 1 s", "uniform 9 ms to 5 ms"] {
        let error = check(&format!("count = 4\nextra_delay = \"{wrong}\"")).expect_err(wrong).to_string();
        assert!(error.contains("is not a range"), "{error}");
    }
}

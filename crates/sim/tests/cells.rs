//! TCP in a cell with several stations.

use lasthop_scenario::Scenario;
use lasthop_sim::run;

/// Returns the goodput of each flow. `links` has the name of each station, and the keys of the station's link except
/// `from` and `to`. `flows` has the flows as TOML lines.
fn goodputs(links: &[(&str, &str)], flows: &str) -> Vec<f64> {
    let links: String = links
        .iter()
        .map(|(name, rest)| {
            format!("{name} = {{ from = \"ap\", to = \"{name}\", cell = \"home\", one_way_delay = \"1 ms\", {rest} }}\n")
        })
        .collect();
    let text = format!(
        "duration = \"60 s\"\nwarmup = \"10 s\"\n[link]\n\
         wired = {{ from = \"server\", to = \"ap\", rate = \"1 Gbit/s\", one_way_delay = \"5 ms\" }}\n{links}[flow]\n{flows}"
    );
    let scenario = Scenario::parse(&text, "cell.toml").unwrap_or_else(|problem| panic!("{problem}"));
    run(&scenario, 1).flows.iter().map(|flow| flow.goodput_kbps() / 1e3).collect()
}

const SINGLE: &str = "queue = \"200 packets\", arq = { kind = \"wifi\", frames = 1 }";

/// Heusse et al., INFOCOM 2003: stations at 6 and 54 Mbit/s must get the same goodput. If both stations have 54 Mbit/s,
/// each must get more than 2.5 times the goodput that it gets beside a slow station.
#[test]
fn one_slow_station_makes_all_slow() {
    let fast = format!("rate = \"54 Mbit/s\", {SINGLE}");
    let slow = format!("rate = \"6 Mbit/s\", {SINGLE}");
    let flows = "a = { from = \"server\", to = \"a\", profile = \"linux\" }\nb = { from = \"server\", to = \"b\", profile = \"linux\" }\n";
    let mixed = goodputs(&[("a", &fast), ("b", &slow)], flows);
    let both_fast = goodputs(&[("a", &fast), ("b", &fast)], flows);
    assert!((mixed[0] / mixed[1] - 1.0).abs() < 0.05, "{mixed:?}");
    assert!(both_fast[0] > 2.5 * mixed[0], "{both_fast:?}, {mixed:?}");
}

/// The access point is one of n + 1 contenders for the channel. n uploads must therefore get at least n times the
/// goodput of one download (n = 3).
#[test]
fn uploads_win() {
    let fast = format!("rate = \"54 Mbit/s\", {SINGLE}");
    let links: Vec<(&str, &str)> = ["a", "b", "c", "d"].map(|name| (name, &fast[..])).to_vec();
    let mut flows = String::from("down = { from = \"server\", to = \"a\", profile = \"linux\" }\n");
    for name in ["b", "c", "d"] {
        flows += &format!("{name} = {{ from = \"{name}\", to = \"server\", profile = \"linux\" }}\n");
    }
    let all = goodputs(&links, &flows);
    let up: f64 = all[1..].iter().sum();
    assert!(up > 3.0 * all[0], "{all:?}");
}

/// A saturated station with frames as long as TCP's must leave half of the air time to TCP. Five stations at half load
/// must leave less than half.
#[test]
fn load_takes_its_share() {
    let of = |others: &str| {
        let link =
            format!("rate = \"54 Mbit/s\", queue = \"200 packets\", arq = {{ kind = \"wifi\", {others} }}");
        let links = [("a", &link[..]), ("b", &link[..])];
        goodputs(&links, "a = { from = \"server\", to = \"a\", profile = \"linux\" }\n")[0]
    };
    let alone = of("stations = 0");
    let beside_one = of("stations = 1, access = \"4.3 ms\"") / alone;
    assert!((beside_one - 0.5).abs() < 0.03, "{beside_one}");
    let beside_five = of("stations = 5, load = 0.5, access = \"2 ms\"") / alone;
    assert!(beside_five < 0.5 && beside_five > 0.2, "{beside_five}");
}

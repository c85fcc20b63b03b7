//! Tests a flow's own delay (`extra_delay`), which is added to the delay of its links.

use lasthop_scenario::Draft;

/// On an empty path, a flow's smallest RTT must be the RTT of the links (20 ms) plus twice the flow's own delay (15,
/// 35, 55 or 75 ms). The transmission of a segment takes only 0.01 ms.
#[test]
fn the_round_trip_grows_by_twice_the_delay() {
    let text = "title = \"t\"\nduration = \"5 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"1 Gbit/s\"\n\
                one_way_delay = \"10 ms\"\n[flow.near]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"10 KB\"\n\
                [flow.far]\nfrom = \"a\"\nto = \"b\"\ntransfer = \"10 KB\"\ncount = 4\n\
                extra_delay = \"uniform 5 ms to 85 ms\"\n";
    let outcome = lasthop_sim::run(&Draft::parse(text, "test").unwrap().check().unwrap(), 1);
    let mut rtts: Vec<f64> = outcome.flows.iter().map(|flow| flow.smallest_rtt_s.unwrap() * 1e3).collect();
    rtts.sort_by(f64::total_cmp);
    for (rtt, expected) in rtts.iter().zip([20.0, 50.0, 90.0, 130.0, 170.0]) {
        assert!((rtt - expected).abs() < 0.1, "{rtts:?}");
    }
}

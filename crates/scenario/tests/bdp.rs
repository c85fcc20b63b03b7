//! Queue limits given in bandwidth-delay products.

use lasthop_base::Value;
use lasthop_net::link::Config;
use lasthop_scenario::{Draft, Scenario};

fn load(spec: &str) -> Scenario {
    Scenario::load(spec).unwrap_or_else(|problem| panic!("{spec}: {problem}"))
}

fn read(text: &str) -> Scenario {
    Scenario::parse(text, "test.toml").unwrap_or_else(|problem| panic!("{problem}"))
}

/// Returns the limit of a queue in packets and in bytes; 0 means no limit.
fn room(direction: &Config) -> (u64, u64) {
    (direction.queue.values.count("packets"), direction.queue.values.bytes("bytes"))
}

/// 1 bdp of 10 Mbit/s and 20 ms is 25,000 bytes.
#[test]
fn a_multiple_of_rate_times_round_trip() {
    let down = |queue: &str| room(&load(&format!("rate=10Mbit/s,rtt=20ms,queue={queue}")).links[0].down);
    assert_eq!(down("1bdp"), (0, 25_000));
    assert_eq!(down("2.5 bdp"), (0, 62_500));
    assert_eq!(down("0.5BDP"), (0, 12_500));
    assert_eq!(down("{packets=40,bytes=\"1 bdp\"}"), (40, 25_000));
}

#[test]
fn a_queue_of_which_nobody_says_anything_has_one() {
    let link = &load("rate=10Mbit/s,up=2Mbit/s,rtt=100ms").links[0];
    assert_eq!((room(&link.down), room(&link.up)), ((0, 125_000), (0, 25_000)));
    assert_eq!(room(&load("rate=10Mbit/s,rtt=100ms,queue=drop_tail").links[0].down), (0, 125_000));
    assert_eq!(room(&load("rate=10Mbit/s,rtt=100ms,queue=unlimited").links[0].down), (0, 0));
    assert_eq!(room(&load("rate=10Mbit/s,rtt=100ms,queue=20packets").links[0].down), (20, 0));
    assert_eq!(room(&load("rate=10Mbit/s,rtt=100ms,queue=20p").links[0].down), (20, 0));
}

/// In a one-line scenario `queue=` applies to both directions, as `rate=` does. Each direction has its own
/// bandwidth-delay product.
#[test]
fn a_lines_queue_holds_in_both_directions() {
    let rooms = |line: &str| {
        let link = &load(line).links[0];
        (room(&link.down), room(&link.up))
    };
    assert_eq!(rooms("rate=10Mbit/s,rtt=100ms,queue=20packets"), ((20, 0), (20, 0)));
    assert_eq!(rooms("rate=10Mbit/s,up=2Mbit/s,rtt=100ms,queue=2bdp"), ((0, 250_000), (0, 50_000)));
    assert_eq!(rooms("rate=10Mbit/s,rtt=100ms,queue=20packets,up_queue=64KB"), ((20, 0), (0, 64_000)));
    assert_eq!(rooms("rate=10Mbit/s,rtt=100ms,up_queue=unlimited"), ((0, 125_000), (0, 0)));
}

/// The minimum limit of 1 bdp is an initial window: ten segments of 1448 bytes with 52 bytes of headers each.
#[test]
fn one_product_is_ten_packets_at_least_and_half_of_one_five() {
    let down = |line: &str| room(&load(line).links[0].down).1;
    assert_eq!(down("rate=1Mbit/s"), 15_000);
    assert_eq!(down("rate=1Mbit/s,rtt=8ms,queue=0.5bdp"), 7_500);
    // 2 Mbit/s times 30 ms are 7500 bytes, so two products are ten packets.
    assert_eq!(down("rate=2Mbit/s,rtt=30ms,queue=2bdp"), 15_000);
    assert_eq!(down("rate=1Mbit/s,segment=500bytes,headers=none"), 5_000);
}

/// The product of a link uses the longest round-trip time of the flows that cross it: 80 ms to `y`, not 20 ms
/// to `x`.
#[test]
fn the_longest_round_trip_counts() {
    let net = "[link.shared]\nfrom = 'a'\nto = 'b'\nrate = '10 Mbit/s'\none_way_delay = '10 ms'\n\
         [link.near]\nfrom = 'b'\nto = 'x'\nrate = '10 Mbit/s'\n\
         [link.far]\nfrom = 'b'\nto = 'y'\nrate = '10 Mbit/s'\none_way_delay = '30 ms'\n\
         [flow.one]\nfrom = 'a'\nto = 'x'\n[flow.two]\nfrom = 'a'\nto = 'y'\n";
    let scenario = read(net);
    let rooms: Vec<u64> = scenario.links.iter().map(|link| room(&link.down).1).collect();
    assert_eq!(rooms, [100_000, 25_000, 100_000]);
}

/// The plan has 2 Mbit/s for 1 s and 6 Mbit/s for 3 s, so its mean is 5 Mbit/s. Times 80 ms, this rate gives 50,000
/// bytes. The trace has 1504 bytes in each millisecond, so its rate is 12.032 Mbit/s. Times 100 ms, this rate gives
/// 150,400 bytes.
#[test]
fn of_a_rate_that_changes_the_mean_counts() {
    let plan = read(
        "[link.a]\nfrom = 'x'\nto = 'y'\nplan = '2 Mbit/s for 1 s, 6 Mbit/s for 3 s'\none_way_delay = '40 ms'\n\
         [flow.b]\nfrom = 'x'\nto = 'y'\n",
    );
    assert_eq!(room(&plan.links[0].down), (0, 50_000));
    let directory = tempfile::tempdir().expect("a directory");
    let trace = directory.path().join("a.down");
    std::fs::write(&trace, "1\n2\n3\n4\n").expect("written");
    let trace = load(&format!("trace={},up=1Mbit/s,rtt=100ms", trace.display()));
    assert_eq!(room(&trace.links[0].down), (0, 150_400));
}

#[test]
fn the_resolved_scenario_shows_the_room_and_what_it_comes_from() {
    let shown =
        Draft::load("profile=plain,rate=10Mbit/s,rtt=20ms").and_then(|draft| draft.show()).expect("valid");
    assert!(shown.contains("bytes = \"25 KB\""), "{shown}");
    let in_one_line = shown.replace("\n# ", " ");
    assert!(in_one_line.contains("here: 1 bdp of 10 Mbit/s and 20 ms"), "{shown}");
    assert!(shown.contains("size = \"1 GiB\""), "no window of 1 GiB: {shown}");
    let again = Draft::parse(&shown, "shown").and_then(|draft| draft.check()).expect("the text reads back");
    assert_eq!(room(&again.links[0].down), (0, 25_000));
}

/// The default receive buffer is 1 GiB, the largest window of TCP. The buffer does not limit the flow: the link (1
/// Gbit/s times 100 ms) and its queue of 1 bdp hold 25 MB together.
#[test]
fn the_receive_window_limits_nothing_unless_the_scenario_says_so() {
    let scenario = load("profile=plain,rate=1Gbit/s,rtt=100ms");
    let lasthop_scenario::Traffic::Tcp { destination, .. } = &scenario.flows[0].traffic else {
        panic!("TCP")
    };
    assert_eq!(destination.window.values.value("size"), &Value::Bytes(1 << 30));
}

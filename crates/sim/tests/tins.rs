//! Tests of CAKE's tins under traffic: delay of marked calls, and shares of the rate.

mod packet_delays;

use lasthop_scenario::Scenario;
use lasthop_sim::run;
use packet_delays::packet_delays;

/// Builds a link with a one-way delay of 20 ms and these flows from `server` to `client`.
fn link(rate: &str, queue: &str, flows: &[&str]) -> Scenario {
    let mut text = format!(
        r#"
        duration = "40 s"
        warmup = "10 s"
        [link.path]
        from = "server"
        to = "client"
        rate = "{rate}"
        one_way_delay = "20 ms"
        down.queue = {queue}
        "#
    );
    for (number, flow) in flows.iter().enumerate() {
        text += &format!("\n[flow.f{number}]\nfrom = \"server\"\nto = \"client\"\n{flow}\n");
    }
    Scenario::parse(&text, "tins.toml").unwrap_or_else(|problem| panic!("{queue}: {problem}"))
}

fn cake(shape: &str, tins: &str) -> String {
    format!("{{ kind = \"cake\", shape = {shape}, tins = \"{tins}\" }}")
}

/// A call: 100 kbit/s of 200-byte datagrams, 228 bytes with headers.
fn call(dscp: &str) -> String {
    format!("kind = \"cbr\"\nrate = \"100 kbit/s\"\npacket = \"200 bytes\"\ndscp = \"{dscp}\"")
}

fn bulk(count: u32, dscp: &str) -> String {
    format!("profile = \"linux\"\ncount = {count}\nstagger = \"130 ms\"\ndscp = \"{dscp}\"")
}

/// Returns the longest delay of the call on the link in ms, without the propagation delay, and the call's number of
/// delivered packets.
fn longest(scenario: &Scenario) -> (f64, usize) {
    let (millis, _) = packet_delays(scenario, 0, 0, 10);
    (millis.last().expect("packets of the call") - 20.0, millis.len())
}

/// A call and eight bulk flows on 10 Mbit/s, where a packet of 1500 bytes takes 1.2 ms and a packet of the call 0.18 ms.
/// With a shaper at 95 %, an arriving packet of the call waits until the previous packet is sent at the shaper's rate
/// (1.26 ms), and is then the first. Without a shaper, one packet is in transmission, one packet may still have the turn
/// of Best Effort, and one packet more may be served before Voice has a positive deficit.
#[test]
fn a_marked_call_waits_for_few_packets() {
    let delivered = (100_000.0 / 1600.0 * 30.0) as usize;
    for tins in ["diffserv3", "diffserv4", "diffserv8", "precedence"] {
        for (shape, most) in [("0.95", 1.2 / 0.95 + 0.2), ("0", 3.0 * 1.2 + 0.2)] {
            let scenario = link("10 Mbit/s", &cake(shape, tins), &[&call("ef"), &bulk(8, "be")]);
            let (wait, packets) = longest(&scenario);
            assert!(wait < most, "{tins}, shape {shape}: {wait} ms");
            assert!(packets.abs_diff(delivered) <= 2, "{tins}, shape {shape}: {packets} packets");
        }
    }
}

/// A call and 15 bulk flows on 1 Mbit/s, where a packet of 1500 bytes takes 12 ms. The call needs more than a fair share
/// (59 kbit/s of 950), so in one tin its queue grows and COBALT drops packets. Voice has a threshold of 237 kbit/s. A
/// marked call therefore waits for one packet at the shaper's rate (12.6 ms) and loses nothing.
#[test]
fn a_marked_call_may_exceed_the_fair_share() {
    let delivered = (100_000.0 / 1600.0 * 30.0) as usize;
    let call_in =
        |tins: &str| longest(&link("1 Mbit/s", &cake("0.95", tins), &[&call("ef"), &bulk(15, "be")]));
    let (wait, packets) = call_in("diffserv4");
    assert!(wait < 12.0 / 0.95 + 2.0, "{wait} ms");
    assert!(packets.abs_diff(delivered) <= 2, "{packets} packets");
    let (wait, packets) = call_in("besteffort");
    assert!(wait > 60.0 && packets < delivered * 9 / 10, "one tin: {wait} ms, {packets} packets");
}

/// Goodputs of flows in kbit/s.
fn goodputs(queue: &str, flows: &[&str]) -> Vec<f64> {
    run(&link("10 Mbit/s", queue, flows), 1).flows.iter().map(|flow| flow.goodput_kbps()).collect()
}

/// Unresponsive datagrams keep both tins backlogged; a target of 100 s prevents drops. Bulk must get its
/// threshold, 1/16 of the shaper's rate. Without a shaper, the weights 64 and 1024 give Bulk 1/17. With COBALT's normal
/// target, eight TCP flows leave the tin Best Effort empty for short times only. A TCP flow in Bulk uses these times, and
/// leaves some of its threshold unused, so that its share may differ by a quarter.
#[test]
fn a_bulk_flow_beside_best_effort_gets_a_sixteenth() {
    let datagrams = |rate: &str, dscp: &str| {
        format!("kind = \"cbr\"\nrate = \"{rate}\"\npacket = \"1000 bytes\"\ndscp = \"{dscp}\"")
    };
    for dscp in ["cs1", "le"] {
        for (shape, expected) in [("0.95", 1.0 / 16.0), ("0", 1.0 / 17.0)] {
            for tins in ["diffserv3", "diffserv4"] {
                let queue =
                    cake(shape, tins).replace("shape", "target = \"100 s\", memory = \"100 MB\", shape");
                let goodputs =
                    goodputs(&queue, &[&datagrams("1 Mbit/s", dscp), &datagrams("9.8 Mbit/s", "be")]);
                let share = goodputs[0] / (goodputs[0] + goodputs[1]);
                // Bulk has some 2,200 packets; 2 % are 44 packets.
                assert!((share / expected - 1.0).abs() < 0.02, "{dscp}, {tins}, shape {shape}: {share}");
            }
        }
        let tcp = goodputs(&cake("0.95", "diffserv4"), &[&bulk(1, dscp), &bulk(8, "be")]);
        let share = tcp[0] / tcp.iter().sum::<f64>();
        assert!((0.75 / 16.0..1.25 / 16.0).contains(&share), "{dscp}, TCP: {share}");
    }
}

/// Without other traffic, a Bulk flow must get the whole rate: 1448 bytes of each 1500.
#[test]
fn a_bulk_flow_alone_gets_the_whole_rate() {
    for (shape, rate) in [("0.95", 9500.0), ("0", 10_000.0)] {
        let alone = goodputs(&cake(shape, "diffserv4"), &[&bulk(1, "cs1")])[0];
        let most = rate * 1448.0 / 1500.0;
        assert!((0.9 * most..most + 5.0).contains(&alone), "shape {shape}: {alone} of {most}");
    }
}

/// With one tin, code points must not change the time of any packet.
#[test]
fn code_points_do_not_matter_in_one_tin() {
    for queue in [&cake("0.95", "besteffort"), "\"cake\"", "\"fq_codel\"", "\"100 packets\""] {
        let marked = link("10 Mbit/s", queue, &[&call("ef"), &bulk(2, "cs1"), &bulk(2, "af41")]);
        let plain = link("10 Mbit/s", queue, &[&call("be"), &bulk(2, "be"), &bulk(2, "be")]);
        for flow in 0..5 {
            assert_eq!(packet_delays(&marked, 0, flow, 0), packet_delays(&plain, 0, flow, 0), "{queue}");
        }
    }
}

//! Tests of AQM under TCP: short queues at full utilisation, fair shares, and no queueing delay for sparse flows.

mod packet_delays;

use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::run;
use packet_delays::packet_delays;

fn scenario(path: &str) -> Scenario {
    Draft::load(path).and_then(|draft| draft.check()).unwrap_or_else(|why| panic!("{path}: {why:?}"))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// One CUBIC flow has a path of 10 Mbit/s and 40 ms (a bandwidth-delay product of 33 packets). Each AQM must keep the
/// queueing delay near its target (RFC 8289: 5 ms; RFC 8033: 15 ms) at full utilisation. Drop-tail with 500 packets has
/// a delay about ten times as long. The mean delay may be up to twice the target, because CUBIC oscillates.
#[test]
fn a_bulk_flow_waits_for_about_the_target() {
    let path = |queue: &str| format!("rate=10Mbit/s,rtt=40ms,queue={queue},congestion=cubic,duration=60s");
    // Subtracts the delay without queueing: 20 ms of propagation and 1.2 ms of transmission.
    let wait = |queue: &str| {
        let (millis, bytes) = packet_delays(&scenario(&path(queue)), 0, 0, 10);
        (mean(&millis) - 21.2, bytes as f64 * 8.0 / 10e6 / 50.0)
    };
    let (tail, _) = wait("500packets");
    assert!(tail > 150.0, "{tail} ms behind 500 packets");
    for (queue, target) in
        [("codel", 5.0), ("fq_codel", 5.0), ("cake", 5.0), ("pie", 15.0), ("dualpi2", 15.0)]
    {
        let (wait, used) = wait(queue);
        assert!(wait < 2.0 * target && wait < tail / 5.0, "{queue}: {wait} ms");
        assert!(used > 0.9, "{queue}: {used} of the link");
    }
    let rate = "{kind=\"pie\",estimator=\"departure_rate\"}";
    let (wait, used) = wait(rate);
    assert!(wait < 30.0 && used > 0.9, "{wait} ms, {used} of the link");
}

/// Two Reno flows with RTTs of 20 and 180 ms over a common link of 10 Mbit/s.
fn far_and_near(queue: &str) -> Scenario {
    let text = format!(
        r#"
        duration = "120 s"
        [link.near]
        from = "one"
        to = "router"
        rate = "1 Gbit/s"
        one_way_delay = "0 ms"
        [link.far]
        from = "two"
        to = "router"
        rate = "1 Gbit/s"
        one_way_delay = "80 ms"
        [link.shared]
        from = "router"
        to = "client"
        rate = "10 Mbit/s"
        one_way_delay = "10 ms"
        [link.shared.down]
        queue = {queue}
        [flow.near]
        from = "one"
        to = "client"
        profile = "linux"
        [flow.near.sender]
        congestion = "reno"
        [flow.far]
        from = "two"
        to = "client"
        profile = "linux"
        start_spread = "100 ms"
        [flow.far.sender]
        congestion = "reno"
        "#
    );
    Draft::parse(&text, "far-and-near.toml").and_then(|draft| draft.check()).expect("valid")
}

/// RFC 8290 §1, §6: backlogged flows must get equal shares at any RTT. In one queue of 50 packets, Reno's rate follows
/// 1/RTT, so one flow gets 3.7 to 9 times as much as the other. With SFQ, each flow has a queue of a bandwidth-delay
/// product, so the rates must be equal. CoDel keeps the queue of the flow with the long RTT below its bandwidth-delay
/// product. Without a queue, Reno uses three quarters of its 5 Mbit/s, and the other flow uses the rest. The ratio may
/// therefore be up to 6.25 to 3.75.
#[test]
fn flows_of_different_round_trips_share_alike() {
    let ratio = |queue: &str| {
        let flows = run(&far_and_near(queue), 1).flows;
        flows[0].goodput_kbps() / flows[1].goodput_kbps()
    };
    let tail = ratio("\"50 packets\"");
    assert!((3.7..9.5).contains(&tail), "{tail}");
    let alone = ratio("{ kind = \"sfq\", packets = 200 }");
    assert!((0.95..1.05).contains(&alone), "{alone}");
    for queue in ["\"fq_codel\"", "\"cake\""] {
        let managed = ratio(queue);
        assert!((0.95..6.25 / 3.75).contains(&managed), "{queue}: {managed}");
    }
}

/// A host with eight connections and a host with one connection share 20 Mbit/s. Isolation by host must give each host
/// half, and isolation by flow must give eight to one. The hosts at home receive data. Their upstream ACKs also count
/// as flows of these hosts.
#[test]
fn cake_divides_between_hosts() {
    let goodputs = |isolation: &str| {
        let text = format!(
            r#"
            duration = "60 s"
            warmup = "10 s"
            [link.access]
            from = "server"
            to = "home"
            rate = "20 Mbit/s"
            one_way_delay = "15 ms"
            down.queue = {{ kind = "cake", isolation = "{isolation}" }}
            [link.one]
            from = "home"
            to = "busy"
            rate = "1 Gbit/s"
            [link.other]
            from = "home"
            to = "quiet"
            rate = "1 Gbit/s"
            [flow.many]
            from = "server"
            to = "busy"
            count = 8
            start_spread = "1 s"
            sender.congestion = "cubic"
            [flow.single]
            from = "server"
            to = "quiet"
            sender.congestion = "cubic"
            "#
        );
        let scenario = Scenario::parse(&text, "home.toml").unwrap_or_else(|problem| panic!("{problem}"));
        let flows: Vec<f64> = run(&scenario, 1).flows.iter().map(|flow| flow.goodput_kbps()).collect();
        (flows[..8].iter().sum::<f64>(), flows[8])
    };
    let (many, single) = goodputs("flows");
    assert!((6.8..9.5).contains(&(many / single)), "{many} {single}");
    let (many, single) = goodputs("dual_dsthost");
    assert!((0.85..1.25).contains(&(many / single)), "{many} {single}");
    // All data comes from one server. `triple_isolate` uses the busier host of each flow, which is the server, so all
    // flows must be equal.
    let (many, single) = goodputs("triple_isolate");
    assert!((6.8..9.5).contains(&(many / single)), "{many} {single}");
}

/// RFC 8290 §1.3: four bulk flows and a call of 64 kbit/s share 10 Mbit/s. Packets of the call, a flow below its fair
/// share, must wait only for the packet in transmission (1.2 ms) and for other flows' first packets.
#[test]
fn a_call_beside_bulk_flows_finds_no_queue() {
    let path = |queue: &str| {
        let text = format!(
            r#"
            duration = "30 s"
            [link.path]
            from = "server"
            to = "client"
            rate = "10 Mbit/s"
            one_way_delay = "20 ms"
            [link.path.down]
            queue = {queue}
            [flow.call]
            from = "server"
            to = "client"
            kind = "cbr"
            rate = "64 kbit/s"
            packet = "160 bytes"
            [flow.bulk]
            from = "server"
            to = "client"
            profile = "linux"
            count = 4
            stagger = "130 ms"
            "#
        );
        Draft::parse(&text, "call.toml").and_then(|draft| draft.check()).expect("valid")
    };
    let p99 = |queue: &str| {
        let (millis, _) = packet_delays(&path(queue), 0, 0, 5);
        assert!(millis.len() > 1200, "{queue}: {} of 1250 packets", millis.len());
        millis[millis.len() * 99 / 100] - 20.0
    };
    let tail = p99("\"100 packets\"");
    assert!(tail > 80.0, "{tail}");
    for queue in ["\"fq_codel\"", "\"cake\""] {
        let wait = p99(queue);
        // The call's packet takes 0.15 ms and any other packet 1.2 ms. The call must wait for at most two other
        // packets.
        assert!(wait < 2.6, "{queue}: {wait} ms");
    }
}

/// A shaper must turn a link of 100 Mbit/s into a link of 10 Mbit/s. A policer must have the same effect only if its
/// bucket has at least a bandwidth-delay product (50 KB). A smaller bucket drops TCP's bursts (Flach et al. 2016).
#[test]
fn shaped_and_policed() {
    let goodput = |queue: &str| {
        let path = format!("rate=100Mbit/s,rtt=40ms,queue={queue},congestion=cubic,duration=60s");
        run(&scenario(&path), 1).flows[0].goodput_kbps()
    };
    // 1448 of 1500 bytes are payload.
    let most = 10e3 * 1448.0 / 1500.0;
    for queue in ["tbf", "policer", "{kind=\"cake\",shape=0.1}"] {
        let goodput = goodput(queue);
        assert!((0.9 * most..most + 5.0).contains(&goodput), "{queue}: {goodput} of {most}");
    }
    let policed = goodput("{kind=\"policer\",burst=\"15 KB\"}");
    assert!(policed < 0.5 * most, "{policed}");
}

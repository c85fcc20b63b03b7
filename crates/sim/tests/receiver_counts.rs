//! Tests that a receiver gets the counters that it requests: counters of the other end, and counters of the interface
//! of its own host.

use lasthop_scenario::Draft;
use lasthop_sim::{Outcome, run};

/// Runs a terminal that doubles ACKs while its loss estimate p_err exceeds the threshold. Data is lost over the air.
/// ACKs are lost in the terminal's own uplink queue, which holds one packet in addition to the packet in transmission.
fn terminal(ack_splitting: &str, loss: f64, uplink: &str) -> Outcome {
    let text = format!(
        r#"
        duration = "200 s"
        headers = "40 bytes"
        [link.radio]
        from = "server"
        to = "terminal"
        one_way_delay = "5 ms"
        [link.radio.down]
        rate = "300 kbit/s"
        queue = "unlimited"
        channel = {{ kind = "iid", loss = {loss} }}
        [link.radio.up]
        rate = "{uplink}"
        queue = "1 packets"
        [flow.bulk]
        from = "server"
        to = "terminal"
        segment = "100 bytes"
        sack = false
        sender.recovery = "reno"
        receiver.ack_policy = "immediate"
        receiver.window = {{ kind = "buffer", size = "2000 bytes" }}
        receiver.ack_splitting = {{ kind = "by_loss", k = 0, {ack_splitting} }}
        "#
    );
    run(&Draft::parse(&text, "counts").and_then(|draft| draft.check()).expect("a valid scenario"), 1)
}

/// ACKs per segment that arrived: 1 if no ACK is repeated, 2 if every ACK is repeated.
fn acks_per_segment(outcome: &Outcome) -> f64 {
    let terminal = &outcome.flows[0].destination;
    terminal.acks_sent as f64 / terminal.data_received as f64
}

#[test]
fn the_senders_own_counts_reach_the_terminal() {
    // A fast uplink loses no ACKs. The sender retransmits 30 of 100 segments, mostly after a timeout, because its
    // windows are too small for three duplicate ACKs. The share of retransmissions is therefore above the threshold of
    // 0.2. The share of losses that duplicate ACKs reveal is below the threshold.
    let all = terminal("threshold = 0.2, source = 'retransmissions'", 0.3, "1 Mbit/s");
    let counters = &all.flows[0].source;
    assert!(counters.retransmitted * 4 > counters.data_sent, "{counters:?}");
    assert!(acks_per_segment(&all) > 1.5, "{}", acks_per_segment(&all));
    let by_duplicates = terminal("threshold = 0.2, source = 'duplicates'", 0.3, "1 Mbit/s");
    let counters = &by_duplicates.flows[0].source;
    assert!(counters.recoveries * 6 < counters.data_sent, "{counters:?}");
    assert!(acks_per_segment(&by_duplicates) < 1.3, "{}", acks_per_segment(&by_duplicates));
}

#[test]
fn the_terminals_own_buffer_is_counted() {
    // A tenth of the data is lost, and a larger share of ACKs is dropped in the uplink. p is the estimated loss rate,
    // and p_buff the drop rate in the terminal's own queue. With p_buff counted, p minus p_buff is 0, so hardly any ACK
    // is repeated. With p_buff fixed at 0, all of p remains, so most ACKs are repeated.
    let acks = |buffer: &str| {
        let ack_splitting = format!("threshold = 0.05, source = 'retransmissions', buffer = '{buffer}'");
        let outcome = terminal(&ack_splitting, 0.1, "32 kbit/s");
        let dropped = outcome.flows[0].account.lost_backward.total();
        assert!(5 * dropped > outcome.flows[0].destination.acks_sent, "{buffer}: {dropped} dropped");
        acks_per_segment(&outcome)
    };
    let [counted, fixed] = ["counted", "fixed"].map(acks);
    assert!(counted < 1.3 && fixed > 1.7, "{counted} {fixed}");
}

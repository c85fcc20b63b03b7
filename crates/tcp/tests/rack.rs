//! RACK-TLP (RFC 8985). In all tests the RTT is 100 ms and the minimum RTO 1 s.

mod script;

use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config};

fn opened(window: u32) -> Script {
    let recovery = choose(recovery::ALL, "rack", &[]);
    Script::opened(Config { recovery, sack: true, initial_window: window, ..config("sack") }, Peer::default())
}

/// Returns a sender that sent a full cwnd of `window` segments 100 ms ago.
fn full(window: u32) -> Script {
    let mut script = opened(window);
    script.run([Write(1_000_000), News(1, u64::from(window)), Nothing, Tick(100)]);
    script
}

/// RFC 8985 §6.2 step 4: the reordering window is zero if no reordering was seen and three segments are SACKed above
/// the hole. The hole then counts as lost at once.
#[test]
fn three_reported_segments_tell_a_loss_at_once() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(5), InFlight(7), Nothing]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
}

/// If only one segment is SACKed above the hole, the hole counts as lost after the reordering window. This window is a
/// quarter of the smallest RTT, 25 ms.
#[test]
fn fewer_wait_for_the_reordering_window() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 3)]), New(11), Deadline(25), Tick(24), Nothing, Tick(1), Again(1), Nothing]);
    assert_eq!(script.endpoint.counters().timeouts, 0);
}

#[test]
fn reordering_is_seen_and_borne() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 3)]), New(11), Ack(3), News(12, 13), Nothing, Tick(10)]);
    script.run([Sack(3, &[(4, 7)]), Deadline(25), Tick(25), Again(3)]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
}

/// RACK detects the loss of a retransmission by later deliveries. RFC 6675 would need a timeout.
#[test]
fn a_lost_retransmission_goes_out_once_more() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 11)]), Again(1), News(11, 14), Nothing, Tick(100)]);
    // The retransmission of segment 1 was sent before segments 11 to 14. Segments 11 and 12 arrive but the
    // retransmission does not, so the retransmission is lost and repeated.
    script.run([Sack(1, &[(2, 13)]), Again(1)]);
    assert_eq!(script.endpoint.counters().timeouts, 0);
}

/// RFC 8985 §7.2: after two round trips without an ACK, the tail loss probe retransmits the last segment. The SACK of
/// the probe reveals the earlier losses.
#[test]
fn the_tail_is_probed() {
    let mut script = opened(10);
    script.run([
        Write(5000),
        News(1, 5),
        Nothing,
        Tick(100),
        Ack(3),
        Deadline(200),
        Tick(200),
        Again(5),
        Nothing,
    ]);
    // The ACK of the probe SACKs segment 5. Segments 3 and 4 were sent before the probe, so both are lost.
    script.run([Tick(100), Sack(3, &[(5, 6)]), Again(3), Again(4), Nothing]);
    let counters = script.endpoint.counters();
    assert_eq!((counters.timeouts, counters.recoveries), (0, 1));
}

/// Lost segments are retransmitted in sequence order (RFC 6675 §4, NextSeg rule 1; as in Linux). After the probe
/// (segment 4) and a timeout, cwnd permits two segments: 2 and 3. Segment 4, whose retransmission is also lost, follows
/// later.
#[test]
fn earlier_originals_go_before_later_copies() {
    let mut script = opened(10);
    script.run([Write(4000), News(1, 4), Nothing, Tick(200), Again(4), Nothing]);
    script.run([Timeout, Again(1), Nothing, Tick(100), Ack(2), Cwnd(2), Again(2), Again(3), Nothing]);
    script.run([Tick(100), Ack(4), Again(4)]);
}

/// The tail loss probe sends new data if the application has written more data, even beyond cwnd (RFC 8985 §7.3).
#[test]
fn new_data_probes_if_there_is_some() {
    let mut script = full(4);
    script.run([Deadline(100), Tick(100), New(5), Nothing, Deadline(1000)]);
}

/// If only one segment is outstanding, its ACK may be delayed, so the probe waits 200 ms longer: 2 × 100 + 200 = 400 ms
/// (RFC 8985 §7.2).
#[test]
fn a_lone_segment_waits_for_a_delayed_ack() {
    opened(10).run([Write(1000), New(1), Deadline(400), Tick(400), Again(1)]);
}

/// RFC 8985 §7.4.2: if the probe has repaired the only loss, a later ACK reduces cwnd (one recovery is counted). If
/// D-SACK shows that the probe was a duplicate, cwnd stays.
#[test]
fn a_loss_that_the_probe_repairs_is_a_loss() {
    let probed = || {
        let mut script = opened(10);
        script.run([Write(4000), News(1, 4), Nothing, Tick(100), Ack(4), Deadline(400), Tick(400), Again(4)]);
        script
    };
    let mut script = probed();
    script.run([Tick(100), Ack(5), Cwnd(12), Write(1000), New(5), Tick(100), Ack(6)]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
    let mut script = probed();
    script.run([Tick(100), Ack(5), Sack(5, &[(4, 5)]), Write(1000), New(5), Tick(100), Ack(6)]);
    assert_eq!(script.endpoint.counters().recoveries, 0);
}

/// RFC 8985 §6.3: a timeout marks only segments as lost that were sent long enough ago. Segments 3 and 4 were sent 10
/// ms before, so only segment 1 is retransmitted.
#[test]
fn a_timeout_spares_what_was_sent_of_late() {
    let recovery = choose(recovery::ALL, "rack", &[("tail_probe", lasthop_base::Value::Flag(false))]);
    let mut script = Script::opened(
        Config { recovery, sack: true, initial_window: 4, nagle: false, ..config("sack") },
        Peer::default(),
    );
    script.run([Write(2000), News(1, 2), Tick(990), Write(2000), News(3, 4), Tick(10), Again(1), Nothing]);
    assert_eq!(script.endpoint.counters().timeouts, 1);
}

/// cwnd after a timeout is one segment (RFC 5681 §3.1), or one segment plus the data in flight (Linux;
/// draft-ietf-ccwg-bbr, OnEnterRTO). Segments 3 and 4 were sent 1.1 s ago and are lost. Segments 5 and 6 were sent 10
/// ms ago and count as in flight, since the RTT is 100 ms. So cwnd is one or three segments.
#[test]
fn the_window_after_a_timeout_may_spare_what_is_in_flight() {
    for (spares, control, window) in
        [(false, "reno", 1), (true, "reno", 3), (true, "cubic", 3), (false, "bbr", 3)]
    {
        let recovery = choose(recovery::ALL, "rack", &[("tail_probe", lasthop_base::Value::Flag(false))]);
        let congestion = choose(lasthop_tcp::sender::congestion::ALL, control, &[]);
        let own = Config { recovery, congestion, loss_window_in_flight: spares, ..config("sack") };
        let mut script =
            Script::opened(Config { sack: true, initial_window: 4, nagle: false, ..own }, Peer::default());
        script.endpoint.write(4000);
        while script.endpoint.poll_segment(script.now).is_some()
            || script.endpoint.sender().scoreboard().outstanding() < 4000
        {
            script.tick(1);
        }
        script.run([Tick(100), Ack(3), Tick(990), Write(2000)]);
        while script.endpoint.poll_segment(script.now).is_some()
            || script.endpoint.sender().scoreboard().outstanding() < 4000
        {
            script.tick(1);
        }
        script.run([Timeout]);
        assert_eq!(script.endpoint.counters().timeouts, 1, "{control}");
        script.run([Cwnd(window)]);
    }
}

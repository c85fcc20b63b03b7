//! RACK-TLP according to RFC 8985, step by step. The RTT is always 100 ms, the minimum RTO 1 s.

mod script;

use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config};

fn opened(window: u32) -> Script {
    let recovery = choose(recovery::ALL, "rack", &[]);
    Script::opened(Config { recovery, sack: true, initial_window: window, ..config("sack") }, Peer::default())
}

/// Returns a sender with a full window, sent 100 ms ago.
fn full(window: u32) -> Script {
    let mut script = opened(window);
    script.run([Write(1_000_000), News(1, u64::from(window)), Nothing, Tick(100)]);
    script
}

/// §6.2 step 4: without reordering so far and with three segments SACKed above the hole, the reordering window is zero.
#[test]
fn three_reported_segments_tell_a_loss_at_once() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(5), InFlight(7), Nothing]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
}

/// If one segment is SACKed above the hole, the hole is lost after a quarter of the smallest RTT, 25 ms.
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

/// Later deliveries reveal the loss of a retransmission, which RFC 6675 leaves to the timer.
#[test]
fn a_lost_retransmission_goes_out_once_more() {
    let mut script = full(10);
    script.run([Sack(1, &[(2, 11)]), Again(1), News(11, 14), Nothing, Tick(100)]);
    // The retransmission of 1 was sent before 11 to 14. Since 11 and 12 arrive first, the retransmission is lost.
    script.run([Sack(1, &[(2, 13)]), Again(1)]);
    assert_eq!(script.endpoint.counters().timeouts, 0);
}

/// §7.2: after two round trips, the last segment is retransmitted; its SACK reveals earlier losses.
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
    // The ACK of the probe reports that 5 has arrived. 3 and 4 were sent before the probe, so they are lost.
    script.run([Tick(100), Sack(3, &[(5, 6)]), Again(3), Again(4), Nothing]);
    let counters = script.endpoint.counters();
    assert_eq!((counters.timeouts, counters.recoveries), (0, 1));
}

/// Lost segments are retransmitted in sequence order: after the probe and a timeout, the two segments that may be sent
/// are 2 and 3. Segment 4, whose retransmission is lost too, follows later (RFC 6675 §4, NextSeg rule 1; as in Linux).
#[test]
fn earlier_originals_go_before_later_copies() {
    let mut script = opened(10);
    script.run([Write(4000), News(1, 4), Nothing, Tick(200), Again(4), Nothing]);
    script.run([Timeout, Again(1), Nothing, Tick(100), Ack(2), Cwnd(2), Again(2), Again(3), Nothing]);
    script.run([Tick(100), Ack(4), Again(4)]);
}

/// New data is the better probe, even beyond cwnd (§7.3).
#[test]
fn new_data_probes_if_there_is_some() {
    let mut script = full(4);
    script.run([Deadline(100), Tick(100), New(5), Nothing, Deadline(1000)]);
}

/// A lone segment's ACK may be delayed: its probe waits 200 ms longer (§7.2).
#[test]
fn a_lone_segment_waits_for_a_delayed_ack() {
    opened(10).run([Write(1000), New(1), Deadline(400), Tick(400), Again(1)]);
}

/// §7.4.2: a probe that repaired the only loss reduces the window later, unless D-SACK shows a duplicate.
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

/// §6.3: a timeout does not mark recently sent segments as lost.
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

/// The window after a timeout is one segment (RFC 5681 §3.1), or one plus the flight (Linux; draft-ietf-ccwg-bbr,
/// OnEnterRTO). 3 and 4 were sent 1.1 s ago and are lost. 5 and 6 were sent 10 ms ago, at an RTT of 100 ms, and count
/// as in flight: the window is one or three segments.
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

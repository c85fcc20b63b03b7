//! The congestion window: growth (RFC 5681 §3.1, RFC 3465), reduction by ECN (RFC 3168 §6.1.2), idle time and window
//! validation (RFC 7661).

mod script;

use lasthop_base::{Choice, Value};
use lasthop_tcp::sender::{ack_counting, recovery};
use lasthop_tcp::{Config, Event};
use lasthop_wire::Flags;
use script::Step::*;
use script::{Peer, Script, choose, config};

fn counted(name: &str, initial_window: u32, initial_ssthresh: Option<u64>) -> Script {
    let ack_counting = Choice::named(ack_counting::ALL, name);
    Script::sender(Config { ack_counting, initial_window, initial_ssthresh, ..config("sack") })
}

/// RFC 5681, Eq. 2: in slow start, cwnd += min(N, SMSS) for an ACK of N bytes. One ACK of four segments adds one
/// segment of 1000 bytes.
#[test]
fn slow_start_adds_at_most_a_segment_per_ack() {
    let mut script = counted("rfc5681", 4, None);
    script.run([News(1, 4), Tick(100), Ack(5), CwndBytes(5000)]);
}

/// RFC 5681, Eq. 3: in congestion avoidance, cwnd += SMSS × SMSS / cwnd for each ACK.
#[test]
fn avoidance_adds_a_segment_per_round_trip() {
    let mut script = counted("rfc5681", 4, Some(4000));
    script.run([News(1, 4), Tick(100), Ack(2), CwndBytes(4250), Ack(3), CwndBytes(4485)]);
    script.run([Ack(4), CwndBytes(4708), Ack(5), CwndBytes(4920)]);
}

/// RFC 3465 §2.2 and §2.3: in slow start, an ACK adds the acknowledged bytes, but at most L = 2 segments.
#[test]
fn rfc3465_two_segments_per_ack_in_slow_start() {
    let mut script = counted("bytes", 4, None);
    script.run([News(1, 4), Tick(100), Ack(2), CwndBytes(5000), Ack(4), CwndBytes(7000)]);
    let mut script = counted("bytes", 4, None);
    script.run([News(1, 4), Tick(100), Ack(5), CwndBytes(6000)]);
}

/// RFC 3465 §2.1: above ssthresh, cwnd grows by one SMSS when the acknowledged bytes reach cwnd. Bytes beyond cwnd
/// count for the next growth.
#[test]
fn rfc3465_one_segment_per_window_of_bytes() {
    let mut script = counted("bytes", 4, Some(4000));
    script.run([News(1, 4), Tick(100), Ack(3), CwndBytes(4000), News(5, 6)]);
    script.run([Ack(5), CwndBytes(5000), News(7, 9), Ack(7), CwndBytes(5000), News(10, 11)]);
    // Segments 1 to 6 (6000 bytes) were acknowledged, and 4000 of these bytes raised cwnd to 5000. The next ACK adds
    // 3000 bytes, since the limit L does not apply above ssthresh. The remaining 2000 bytes and these 3000 bytes reach
    // cwnd.
    script.run([Ack(10), CwndBytes(6000)]);
}

/// RFC 3465 §2.3: after a timeout, L is one segment until all data sent before the timeout is acknowledged, then two
/// segments.
#[test]
fn rfc3465_one_segment_per_ack_after_a_timeout() {
    let mut script = counted("bytes", 16, None);
    script.run([News(1, 16), Timeout, CwndBytes(1000), SsthreshBytes(8000), Again(1), Nothing, Tick(100)]);
    script.run([Ack(2), CwndBytes(2000), Again(2), Again(3), Nothing, Ack(4), CwndBytes(3000)]);
    script.run([Again(4), Again(5), Again(6), Tick(100), Ack(16), CwndBytes(4000), Again(16), News(17, 19)]);
    // Segment 16 was outstanding at the timeout, so its ACK adds at most one segment (L = 1). The later ACK of segments
    // 17 and 18 adds two (L = 2).
    script.run([Tick(100), Ack(17), CwndBytes(5000), News(20, 21), Ack(19), CwndBytes(7000)]);
}

/// RFC 5681, Eq. 4: ssthresh = max(FlightSize / 2, 2 SMSS). cwnd is 16 segments here, but only 6 or 3 are outstanding.
#[test]
fn ssthresh_is_half_of_what_is_outstanding() {
    let mut script = Script::opened(Config { initial_window: 16, ..config("new_reno") }, Peer::default());
    script.run([Write(6000), News(1, 6), Nothing, Acks(1, 3), CwndBytes(3000), SsthreshBytes(3000)]);
    let mut script = Script::opened(Config { initial_window: 16, ..config("new_reno") }, Peer::default());
    script.run([Write(3000), News(1, 3), Timeout, CwndBytes(1000), SsthreshBytes(2000)]);
}

/// RFC 5681 §3.2 step 2, on ssthresh after a loss: "additional data sent in limited transmit MUST NOT be included in
/// this calculation". ssthresh is half of ten segments, not of twelve.
#[test]
fn limited_transmit_does_not_count_as_flight() {
    for name in ["reno", "new_reno"] {
        let recovery = choose(recovery::ALL, name, &[("limited_transmit", Value::Flag(true))]);
        let mut script = Script::sender(Config { recovery, initial_window: 10, ..config(name) });
        script.run([News(1, 10), Tick(100), Ack(1), New(11), Nothing, Ack(1), New(12), Nothing]);
        script.run([Ack(1), SsthreshBytes(5000), Inflated(8), Again(1), Nothing]);
    }
    let recovery = choose(recovery::ALL, "sack", &[("limited_transmit", Value::Flag(true))]);
    let mut script = Script::sender(Config { recovery, initial_window: 10, ..config("sack") });
    script.run([News(1, 10), Tick(100), Sack(1, &[(2, 3)]), New(11), Sack(1, &[(2, 4)]), New(12), Nothing]);
    script.run([Sack(1, &[(2, 5)]), SsthreshBytes(5000), Again(1), Nothing]);
}

/// RFC 5681 §3.1: "when a TCP sender detects segment loss using the retransmission timer and the given segment has
/// already been retransmitted by way of the retransmission timer at least once, the value of ssthresh is held
/// constant".
#[test]
fn a_second_timeout_of_a_segment_leaves_ssthresh() {
    for name in ["tahoe", "reno", "new_reno", "sack"] {
        let mut script = Script::sender(Config { initial_window: 16, ..config(name) });
        script.run([News(1, 16), Timeout, SsthreshBytes(8000), CwndBytes(1000), Again(1)]);
        script.run([Timeout, SsthreshBytes(8000), CwndBytes(1000), Again(1), Nothing]);
        // The timeout of another segment lowers ssthresh again. Half of the two outstanding segments is one segment, so
        // the minimum of two segments applies.
        script.run([
            Tick(10),
            Ack(2),
            Again(2),
            Again(3),
            Timeout,
            SsthreshBytes(2000),
            CwndBytes(1000),
            Again(2),
        ]);
    }
}

/// RFC 5681 §4.3: the loss of a retransmission "should be taken as two indications of congestion and, therefore, cwnd
/// (and ssthresh) MUST be lowered twice". Here cwnd is 16 segments. At the loss ssthresh becomes 8 segments. When the
/// timer expires in recovery, ssthresh becomes 4 segments, although FlightSize is then 23 segments.
#[test]
fn a_timeout_in_recovery_lowers_ssthresh_twice() {
    for name in ["reno", "new_reno", "sack"] {
        let mut script = Script::sender(Config { initial_window: 16, ..config(name) });
        script.run([News(1, 16), Tick(100)]);
        match name {
            "sack" => script.run([Sack(1, &[(2, 17)]), SsthreshBytes(8000), Again(1)]),
            _ => script.run([Acks(1, 3), SsthreshBytes(8000), Again(1), Acks(1, 12)]),
        };
        script.run([News(17, 23), Nothing, Timeout, SsthreshBytes(4000), CwndBytes(1000), Again(1)]);
        assert_eq!(script.endpoint.sender().scoreboard().outstanding(), 23_000);
    }
}

/// RFC 5681 §4.1: if nothing was sent for longer than the RTO (1 s here), cwnd becomes the initial window. ssthresh
/// stays.
#[test]
fn idle_time_shrinks_the_window() {
    let idle = |millis: u64, restarts_after_idle| {
        let setup = Config { restarts_after_idle, initial_window: 2, ..config("sack") };
        let mut script = Script::opened(setup, Peer::default());
        script.run([Write(8000), News(1, 2), Tick(100), Ack(2), Ack(3), News(3, 6), Tick(100)]);
        script.run([Ack(5), Ack(7), News(7, 8), Tick(100), Ack(9), Cwnd(7), Nothing, NoDeadline]);
        // The last segment was sent 100 ms ago, so the total idle time is `millis`.
        script.run([Tick(millis - 100), Write(20_000), New(9)]);
        script
    };
    idle(1000, true).run([News(10, 15), Nothing, Cwnd(7)]);
    idle(1001, true).run([New(10), Nothing, Cwnd(2), SsthreshBytes(1 << 30)]);
    idle(1001, false).run([News(10, 15), Nothing, Cwnd(7)]);
}

/// RFC 7661 §4.3: if the sender uses less than half of cwnd, cwnd does not grow, neither in slow start nor in
/// congestion avoidance. Here one segment of a cwnd of four segments is used.
#[test]
fn an_unused_window_does_not_grow() {
    let trickle = |validates_window, validates_as_linux, initial_ssthresh| {
        let validating = Config { validates_window, validates_as_linux, ..config("sack") };
        let setup = Config { initial_window: 4, initial_ssthresh, ..validating };
        let mut script = Script::opened(setup, Peer::default());
        for number in 1..=20 {
            script.run([Write(1000), New(number), Tick(10), Ack(number + 1)]);
        }
        script.endpoint.sender().window()
    };
    for as_linux in [false, true] {
        assert_eq!(trickle(true, as_linux, None), 4000);
        assert_eq!(trickle(true, as_linux, Some(1000)), 4000);
    }
    assert_eq!(trickle(false, false, None), 24_000);
    assert!(trickle(false, false, Some(1000)) > 6000);
}

/// Returns a sender with window validation and a cwnd of ten segments. cwnd grows by all delivered data.
fn validating(validates_as_linux: bool, initial_ssthresh: Option<u64>) -> Script {
    let ack_counting = Choice::named(ack_counting::ALL, "delivered");
    let setup = Config { validates_window: true, validates_as_linux, initial_ssthresh, ..config("sack") };
    Script::opened(Config { ack_counting, initial_window: 10, ..setup }, Peer::default())
}

/// If a burst fills cwnd, cwnd grows with each ACK of this burst, even if few segments are still in flight. Linux 6.18
/// reports the same cwnd after each of the five ACKs. RFC 7661 §4.2 gives the same values, since pipeACK is measured
/// over a round trip.
#[test]
fn a_burst_that_fills_the_window_lets_it_grow_to_the_end() {
    for as_linux in [false, true] {
        let mut script = validating(as_linux, None);
        script.run([Write(10_000), News(1, 10), Tick(100), Ack(3), Cwnd(12), Tick(5), Ack(5), Cwnd(14)]);
        script.run([Tick(5), Ack(7), Cwnd(16), Tick(5), Ack(9), Cwnd(18), Tick(5), Ack(11), Cwnd(20)]);
        // A burst that fills the cwnd of 20 segments also increases cwnd with each ACK.
        script.run([Write(20_000), News(11, 30), Tick(100), Ack(21), Cwnd(30), Tick(5), Ack(31), Cwnd(40)]);
    }
}

/// Linux in slow start: cwnd grows while it is less than twice the largest flight of the round trip. A flight of
/// exactly half of cwnd is not enough. A burst that filled cwnd earlier does not count for later bursts. The values of
/// cwnd after each burst are those that Linux 6.18 reports with reno and cubic at an RTT of 100 ms.
#[test]
fn linux_doubles_what_was_outstanding() {
    let measured: [(&[u64], &[u64]); 7] = [
        (&[5], &[10]),
        (&[6], &[12]),
        (&[9], &[18]),
        (&[10], &[20]),
        (&[10, 20], &[20, 40]),
        (&[10, 10, 11], &[20, 20, 22]),
        (&[10, 1, 1, 1, 20], &[20, 20, 20, 20, 40]),
    ];
    for (bursts, windows) in measured {
        let mut script = validating(true, None);
        let mut sent = 0;
        for (burst, window) in bursts.iter().zip(windows) {
            script.run([Write(burst * 1000), News(sent + 1, sent + burst), Tick(100)]);
            (sent + 2..=sent + burst + 1).for_each(|number| _ = script.run([Ack(number)]));
            script.run([Cwnd(*window), Tick(70)]);
            sent += burst;
        }
    }
}

/// Linux in congestion avoidance: cwnd grows by one segment per round trip only if the sender has filled cwnd, ten
/// segments here.
#[test]
fn linux_avoidance_needs_a_full_window() {
    for (segments, window) in [(9, 10), (10, 11)] {
        let mut script = validating(true, Some(5000));
        script.run([Write(segments * 1000), News(1, segments), Tick(100), Ack(segments + 1), Cwnd(window)]);
    }
}

/// RFC 7661 §4.3: a cwnd of 20 segments grows after a burst of 10 segments, half of cwnd, but not after a burst of 9.
/// The pipeACK sample of the first burst expires before the second burst is acknowledged.
#[test]
fn half_of_the_window_validates_it() {
    let after_a_burst_of = |segments: u64| {
        let mut script = validating(false, None);
        script.run([Write(10_000), News(1, 10), Tick(100), Ack(11), Cwnd(20), Tick(890)]);
        script.run([Write(segments * 1000), News(11, 10 + segments), Tick(150), Ack(11 + segments)]);
        script.endpoint.sender().window() / 1000
    };
    assert_eq!([9, 10].map(after_a_burst_of), [20, 30]);
}

/// RFC 7661 §4.2: a pipeACK sample is valid for max(3 RTT, 1 s), unless a larger sample replaces it earlier. The sender
/// fills a cwnd of ten segments, then sends one segment every 100 ms. The ACKs of the first ten single segments (1 s)
/// increase cwnd; later ACKs do not.
#[test]
fn a_sample_of_pipe_ack_holds_for_a_second() {
    let setup = Config { validates_window: true, initial_window: 10, ..config("sack") };
    let mut script = Script::opened(Config { initial_ssthresh: Some(5000), ..setup }, Peer::default());
    script.run([Write(10_000), News(1, 10), Tick(100), Ack(11)]);
    let mut windows = vec![script.endpoint.sender().window()];
    for number in 11..31 {
        script.run([Write(1000), New(number), Tick(100), Ack(number + 1)]);
        windows.push(script.endpoint.sender().window());
    }
    let grown: Vec<bool> = windows.windows(2).map(|pair| pair[1] > pair[0]).collect();
    assert_eq!(grown, [[true; 10], [false; 10]].concat());
}

fn ecn(initial_window: u32) -> Script {
    let peer = Peer { ecn: true, ..Peer::default() };
    let mut script = Script::opened(Config { ecn: true, initial_window, ..config("new_reno") }, peer);
    script.endpoint.write(1 << 30);
    script
}

/// RFC 3168 §6.1.2: an ECN echo halves cwnd once per window of data, and the next new segment carries CWR.
#[test]
fn an_echo_halves_once_per_window() {
    let mut script = ecn(8);
    script.run([News(1, 8), Tick(100), Echo(2), CwndBytes(3500), Nothing]);
    // ECE on further ACKs of the same window of data has no effect, because the receiver cannot have received CWR yet.
    script.run([Echo(3), Echo(4), Echo(5), Echo(6), Nothing, Echo(7)]);
    let cwr = script.sent("segment 9").segment;
    assert!(cwr.flags.has(Flags::CWR) && cwr.seq == script::ISS.at(8001));
    script.run([Nothing, Echo(8), New(10), Echo(9), New(11), CwndBytes(3500)]);
    assert_eq!(script.endpoint.counters().marks, 1);
    script.run([Echo(10)]);
    assert_eq!(script.endpoint.counters().marks, 2);
}

/// RFC 3168 §6.1.2: the sender sends CWR after a reduction of cwnd "for any reason", also after a fast retransmit or a
/// timeout. Only the first new segment carries CWR, not the retransmission.
#[test]
fn cwr_follows_every_reduction() {
    let has_cwr = |script: &mut Script, what| script.sent(what).segment.flags.has(Flags::CWR);
    let mut script = ecn(8);
    script.run([News(1, 8), Tick(100), Acks(1, 3)]);
    assert!(!has_cwr(&mut script, "segment 1 retransmitted"));
    script.run([Nothing, Acks(1, 2)]);
    assert!(has_cwr(&mut script, "segment 9"));
    script.run([Ack(1)]);
    assert!(!has_cwr(&mut script, "segment 10"));
    let mut script = ecn(2);
    script.run([News(1, 2), Timeout]);
    assert!(!has_cwr(&mut script, "segment 1 retransmitted"));
    script.run([Ack(3)]);
    assert!(has_cwr(&mut script, "segment 3"));
}

/// Linux `tcp_reno_cong_avoid`: if an ACK takes cwnd to ssthresh, the rest of its segments counts in congestion
/// avoidance.
#[test]
fn one_large_ack_does_not_leap_over_ssthresh() {
    let mut script = counted("packets", 16, None);
    script.run([News(1, 16), Timeout, CwndBytes(1000), SsthreshBytes(8000), Again(1), Tick(100)]);
    // The ACK covers 16 segments. Seven segments raise cwnd from 1 to ssthresh (8 segments). Eight of the remaining
    // nine segments are saved as credit, because the limit of saved credit is cwnd. The next ACK spends this credit and
    // raises cwnd to 9 segments.
    script.run([Ack(17), CwndBytes(8000), News(17, 24), Tick(100), Ack(18), CwndBytes(9000)]);
}

/// An ACK that completes no segment does not increase cwnd, even if credit was saved. The saved credit is at most one
/// cwnd.
#[test]
fn nothing_is_saved_for_acks_that_are_worth_nothing() {
    let mut script = counted("packets", 12, Some(2000));
    script.run([News(1, 12), Timeout, CwndBytes(1000), Again(1), Tick(100)]);
    // Five of the ten acknowledged segments raise cwnd to ssthresh (6000 bytes). The remaining five segments (5000
    // bytes, less than cwnd) are saved as credit. The next ACK covers half a segment and gives no credit.
    script.run([SsthreshBytes(6000), Ack(11), CwndBytes(6000), AckBytes(10_500), CwndBytes(6000)]);
    let mut script = counted("packets", 4, Some(2000));
    script.run([News(1, 4), Timeout, SsthreshBytes(2000), Again(1), Tick(100)]);
    // The ACK covers four segments. One segment raises cwnd to ssthresh (2000 bytes). The other three segments have
    // 3000 bytes. Only 2000 of these bytes are saved as credit, because the limit of saved credit is cwnd.
    script.run([Ack(5), CwndBytes(2000), News(5, 6), Tick(100), Ack(6), CwndBytes(3000)]);
    script.run([New(7), New(8), Ack(7), CwndBytes(3000)]);
}

#[test]
fn segments_that_were_reported_are_not_counted_again() {
    let mut script = counted("packets", 16, None);
    script.run([News(1, 16), Sack(1, &[(2, 4)]), Timeout, CwndBytes(1000), Again(1), Tick(100)]);
    script.run([Ack(4), CwndBytes(2000)]);
}

/// RFC 3168 §6.1.2: an ECN echo never increases a cwnd of one segment to the minimum of two segments.
#[test]
fn an_echo_does_not_raise_a_small_window() {
    let mut script = ecn(1);
    script.run([New(1), Echo(2)]);
    assert!(
        script.endpoint.sender().window() <= 2000,
        "cwnd of one segment grew by more than the ACK's own segment"
    );
    let mut script = ecn(2);
    script.run([News(1, 2), Timeout, Again(1), CwndBytes(1000), Tick(100), Ack(3), CwndBytes(2000)]);
}

/// RFC 3168 §6.1.2: if cwnd is one segment, an ECN echo delays sending until the timer expires. This expiry does not
/// count as a timeout and causes no back-off of the RTO.
#[test]
fn an_echo_at_one_segment_waits_for_the_timer() {
    let setup = Config { ecn: true, ecn_waits: true, initial_window: 1, ..config("new_reno") };
    let mut script = Script::opened(setup, Peer { ecn: true, ..Peer::default() });
    script.endpoint.write(1 << 30);
    script.run([New(1), Tick(100), Echo(2), Cwnd(1), Nothing, Deadline(1000), Tick(999), Nothing, Tick(1)]);
    assert!(script.sent("segment 2").segment.flags.has(Flags::CWR));
    script.run([Nothing, Tick(100), Echo(3), Nothing, Deadline(1000), Tick(1000), New(3), Nothing]);
    script.run([Rto(1000), Tick(100), Ack(4), Cwnd(2), News(4, 5)]);
    assert_eq!((script.endpoint.counters().timeouts, script.endpoint.counters().retransmitted), (0, 0));
}

/// New data waits for the timer because of an ECN echo. The wait ends when the timer expires, also if the receiver's
/// window is closed then and probes are sent.
#[test]
fn a_wait_for_the_timer_does_not_outlive_it() {
    let setup = Config { ecn: true, ecn_waits: true, initial_window: 1, ..config("new_reno") };
    let mut script = Script::opened(setup, Peer { ecn: true, ..Peer::default() });
    script.endpoint.write(1 << 30);
    script.run([
        New(1),
        Tick(100),
        PeerWindow(0),
        Echo(2),
        Nothing,
        Timeout,
        Nothing,
        Timeout,
        Bytes(1000, 1001),
    ]);
    script.acknowledge(1001, &[], Flags::ACK | Flags::ECE);
    script.run([PeerWindow(60_000), AckBytes(1002), Bytes(1002, 2002)]);
}

#[test]
fn an_echo_and_a_loss_reduce_once() {
    let mut script = ecn(8);
    script.run([News(1, 8), Tick(100), Echo(2), CwndBytes(3500), Acks(2, 3), SsthreshBytes(3500), Again(2)]);
}

#[test]
fn an_echo_without_negotiation_is_ignored() {
    let mut script = Script::sender(Config { initial_window: 8, ..config("new_reno") });
    script.run([News(1, 8), Echo(2), CwndBytes(9000)]);
    while let Some((_, event)) = script.endpoint.poll_event() {
        assert!(!matches!(event, Event::MarkEchoed { .. }));
    }
}

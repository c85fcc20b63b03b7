//! Loss recovery by duplicate ACKs and SACK (RFC 5681 §3.2, RFC 6582, RFC 6675), limited transmit (RFC 3042) and
//! reneging (RFC 2018 §8).

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config};

fn windowed(name: &str, initial_window: u32) -> Script {
    let mut script = Script::sender(Config { initial_window, ..config(name) });
    script.run([News(1, u64::from(initial_window)), Nothing, Tick(100)]);
    script
}

fn with(name: &str, initial_window: u32, values: &[(&'static str, Value)]) -> Config {
    Config { recovery: choose(recovery::ALL, name, values), initial_window, ..config(name) }
}

/// RFC 5681 §2: an ACK is a duplicate ACK only if data is outstanding, and if the ACK carries no data and leaves the
/// window unchanged.
#[test]
fn what_is_a_duplicate() {
    for name in ["tahoe", "reno", "new_reno"] {
        let mut script = windowed(name, 8);
        script.run([DataBytes(0, 10), DataBytes(10, 20), DataBytes(20, 30), AckedBytes(30), Nothing]);
        script.run([
            PeerWindow(50_000),
            Ack(1),
            PeerWindow(50_001),
            Ack(1),
            PeerWindow(50_002),
            Ack(1),
            Nothing,
        ]);
        assert_eq!(script.endpoint.counters().duplicate_acks, 0);
        script.run([Acks(1, 2), Nothing, Ack(1), Again(1)]);
        let mut script = windowed(name, 1);
        script.run([Ack(2), News(2, 3), Ack(4), News(4, 6)]);
        assert_eq!(script.endpoint.counters().duplicate_acks, 0);
    }
}

/// RFC 6675 §2: with SACK, an ACK is a duplicate ACK only if it reports data by SACK for the first time.
#[test]
fn a_duplicate_with_sack_reports_something_new() {
    let mut script = windowed("sack", 8);
    script.run([Acks(1, 5), Nothing, Cwnd(8)]);
    script.run([Sack(1, &[(3, 4)]), Sack(1, &[(3, 4)]), Sack(1, &[(3, 4)]), Sack(1, &[(3, 4)]), Nothing]);
    // The next ACK advances SND.UNA and changes the window, but counts as a duplicate ACK because it SACKs segment 4
    // for the first time.
    script.run([PeerWindow(50_000), Sack(2, &[(3, 5)]), New(9), New(10)]);
    assert_eq!(script.endpoint.counters().duplicate_acks, 2);
    script.run([Sack(2, &[(3, 6)]), Again(2), Cwnd(4)]);
}

/// RFC 3042, limited transmit: each of the first two duplicate ACKs permits a new segment. cwnd stays.
#[test]
fn limited_transmit() {
    for name in ["tahoe", "reno", "new_reno"] {
        let mut script = Script::sender(with(name, 4, &[("limited_transmit", Value::Flag(true))]));
        script.run([
            News(1, 4),
            Ack(1),
            Cwnd(4),
            New(5),
            Nothing,
            Ack(1),
            Cwnd(4),
            New(6),
            Nothing,
            Ack(1),
            Again(1),
        ]);
    }
    let mut script = Script::sender(with("sack", 4, &[("limited_transmit", Value::Flag(true))]));
    script.run([News(1, 4), Sack(1, &[(2, 3)]), New(5), Nothing, Sack(1, &[(2, 3)]), Nothing]);
    script.run([Sack(1, &[(2, 4)]), New(6), Nothing, Cwnd(4)]);
    // RFC 3042 §2 requires that "the receiver's advertised window allows the transmission of the segment". Here the
    // advertised window is full, so nothing is sent.
    let mut script = Script::sender(with("new_reno", 4, &[("limited_transmit", Value::Flag(true))]));
    script.run([News(1, 4), PeerWindow(4000), Ack(1), Ack(1), Nothing]);
    let mut script = windowed("new_reno", 4);
    script.run([Acks(1, 2), Nothing]);
}

/// RFC 6582 §3.2 step 4: a timeout sets `recover` to the highest byte sent. Duplicate ACKs that go-back-N causes are
/// below `recover` and do not begin fast recovery.
#[test]
fn duplicates_after_a_timeout_do_not_enter() {
    for name in ["tahoe", "reno", "new_reno"] {
        let mut script = windowed(name, 8);
        script.run([Timeout, Again(1), Ssthresh(4), Tick(10), Ack(2), Again(2), Again(3)]);
        script.run([Acks(2, 3), Ssthresh(4), Cwnd(2), Nothing, Acks(2, 5), Cwnd(2), Nothing]);
    }
    // With SACK, no fast recovery begins either until HighACK reaches RecoveryPoint (RFC 6675 §5.1).
    let mut script = windowed("sack", 8);
    script.run([Timeout, Again(1), Ssthresh(4), Tick(10), Ack(2), Again(2), Again(3), Nothing]);
    script.run([Sack(2, &[(4, 5)]), Nothing, Sack(2, &[(4, 6)]), Sack(2, &[(4, 7)]), Ssthresh(4), Cwnd(2)]);
}

/// RFC 6582 §3.2 requires "ack_number - 1 > recover". Duplicate ACKs of exactly `recover` may result from go-back-N and
/// do not begin fast recovery.
#[test]
fn duplicates_at_recover_do_not_enter() {
    for name in ["tahoe", "reno", "new_reno"] {
        let mut script = windowed(name, 4);
        script.run([Timeout, Again(1), Tick(10), Ack(5), News(5, 6), Acks(5, 3), Nothing, Cwnd(2)]);
        // Three duplicate ACKs above `recover` begin fast recovery.
        script.run([Ack(6), Acks(6, 3), Again(6)]);
    }
}

/// RFC 5681 §3.2 has no condition on `recover`. With `reenter`, as in Reno of the 1990s, three duplicate ACKs of
/// exactly `recover` begin fast recovery.
#[test]
fn without_the_guard_duplicates_at_recover_enter() {
    let mut script = Script::sender(with("reno", 4, &[("reenter", Value::Flag(true))]));
    script.run([
        News(1, 4),
        Tick(100),
        Timeout,
        Again(1),
        Tick(10),
        Ack(5),
        News(5, 6),
        Acks(5, 3),
        Again(5),
    ]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
}

/// RFC 6582 §3.2 step 3: a partial ACK deflates the inflated cwnd by the bytes acknowledged. If the ACK covers at least
/// one segment, cwnd then grows by one segment. The next hole is retransmitted.
#[test]
fn partial_acks_deflate() {
    let mut script = windowed("new_reno", 10);
    script.run([
        Acks(1, 3),
        Again(1),
        Ssthresh(5),
        Inflated(8),
        Acks(1, 6),
        Inflated(14),
        News(11, 14),
        Nothing,
    ]);
    // Segments 1 and 4 were lost. The partial ACK covers segments 1 to 3, so the inflated cwnd is 14 - 3 + 1 = 12.
    script.run([Ack(4), Inflated(12), Again(4), New(15), Nothing]);
    // An ACK of 400 bytes of segment 4 deflates cwnd to 12 - 0.4, which is 11 whole segments.
    script.run([AckBytes(3400), Inflated(11), Bytes(3400, 4000), Nothing]);
    // This ACK covers all segments up to 14. The highest segment sent before the loss was detected was 10, so recovery
    // ends.
    script.run([Ack(15), Cwnd(5), Inflated(5)]);
}

/// RFC 6582 §3.2 step 3: after recovery, cwnd is ssthresh (5 segments) or min(ssthresh, max(FlightSize, SMSS) + SMSS).
/// The second value is 2 segments, because nothing is in flight.
#[test]
fn leaving_recovery() {
    for (exit, cwnd) in [("ssthresh", 5), ("flight", 2)] {
        let congestion = choose(lasthop_tcp::sender::congestion::ALL, "reno", &[("exit", Value::Word(exit))]);
        let config = Config { congestion, initial_window: 10, ..config("new_reno") };
        let mut script = Script::opened(config, Peer::default());
        script.run([Write(10_000), News(1, 10), Acks(1, 3), Again(1), Ack(11)]);
        script.run([Cwnd(cwnd)]);
    }
}

/// RFC 6582 §3.2 step 3: only the first partial ACK restarts the retransmission timer (1000 ms). The timer expires 1000
/// ms after this ACK, although two more partial ACKs arrive.
#[test]
fn the_timer_starts_anew_at_the_first_partial_ack() {
    let mut script = windowed("new_reno", 10);
    script.run([Acks(1, 3), Again(1), Rto(1000), Tick(100)]);
    script.run([Ack(3), Again(3), Deadline(1000), Tick(200)]);
    script.run([Ack(5), Again(5), Deadline(800), Tick(200)]);
    script.run([Ack(7), Again(7), Deadline(600), Tick(600), Again(7), Cwnd(1)]);
}

/// Reno leaves fast recovery at the first ACK of new data (RFC 5681 §3.2, step 6). A second loss in the same window of
/// data waits for the retransmission timer. With `reenter`, as in Reno of the 1990s, the second loss begins another
/// fast recovery and halves cwnd again.
#[test]
fn reno_and_a_second_loss() {
    let mut script = windowed("reno", 16);
    script.run([Acks(1, 3), Again(1), Ssthresh(8), Acks(1, 9), News(17, 20), Nothing]);
    script.run([Ack(5), Cwnd(8), Acks(5, 3), Nothing, Ssthresh(8)]);
    let mut script = Script::sender(with("reno", 16, &[("reenter", Value::Flag(true))]));
    script.run([News(1, 16), Acks(1, 3), Again(1), Ssthresh(8), Acks(1, 9), News(17, 20), Nothing]);
    script.run([Ack(5), Cwnd(8), Acks(5, 2), Nothing, Ack(5), Again(5), Ssthresh(8), Cwnd(8)]);
    script.run([Acks(5, 5), Nothing, Ack(5), New(21), Ack(9), Acks(9, 3), Again(9), SsthreshBytes(6500)]);
}

/// With `reenter`, Reno enters fast recovery after a timeout, with 15 segments outstanding. cwnd is then the minimum of
/// 2 segments, since BSD halves cwnd. RFC 5681 §3.1 would allow half of FlightSize.
#[test]
fn reentering_after_a_timeout_does_not_raise_the_window() {
    let mut script = Script::sender(with("reno", 16, &[("reenter", Value::Flag(true))]));
    script.run([News(1, 16), Timeout, Ssthresh(8), Again(1), Tick(10), Ack(2), Again(2), Again(3)]);
    script.run([Cwnd(2), Acks(2, 3), Again(2), Ssthresh(2), Cwnd(2)]);
}

/// A loss never increases cwnd, even if half of FlightSize is larger. In the last step many segments are outstanding,
/// but cwnd after the timeout is one segment. cwnd and ssthresh become the minimum of two segments.
#[test]
fn a_loss_does_not_raise_the_window() {
    let mut script = Script::sender(with("reno", 16, &[("reenter", Value::Flag(true))]));
    script.run([News(1, 16), Acks(1, 3), Again(1), Cwnd(8)]);
    script.run([Ack(2), Acks(2, 3), Again(2), SsthreshBytes(7500)]);
    script.run([Ack(3), Acks(3, 3), Again(3), SsthreshBytes(7000)]);
    script.run([Tick(1000), Again(3), Cwnd(1)]);
    script.run([Acks(3, 3), Again(3), Cwnd(2), Ssthresh(2)]);
}

/// RFC 6675 §4, IsLost: a segment is lost if three discontiguous SACKed sequences are above it, or SACKed bytes of more
/// than two segments.
#[test]
fn when_sack_says_lost() {
    // Two SACKed segments are not more than two segments, and only two duplicate ACKs have arrived, so nothing is lost.
    let mut script = windowed("sack", 10);
    script.run([Sack(1, &[(2, 3)]), Sack(1, &[(2, 4)]), Nothing, Cwnd(10)]);
    script.run([SackBytes(0, &[(1000, 4000)]), Again(1), Cwnd(5)]);
    // A single ACK that SACKs three segments begins recovery (RFC 6675 §5 step 2).
    let mut script = windowed("sack", 10);
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(5), InFlight(7)]);
    let mut script = windowed("sack", 10);
    script.run([Sack(1, &[(4, 5), (2, 3)]), Nothing, Sack(1, &[(6, 7), (4, 5), (2, 3)]), Again(1)]);
}

/// RFC 6675 §4: NextSeg chooses lost segments in order (rule 1), then new data (rule 2). If neither exists, NextSeg
/// chooses a hole that is not lost yet (rule 3), then the last segment (rule 4).
#[test]
fn the_order_of_next_seg() {
    let mut script = Script::opened(Config { initial_window: 10, ..config("sack") }, Peer::default());
    script.run([Write(11_000), News(1, 10), Tick(100)]);
    // Segments 2, 4, 6 and 7 arrive. Segment 1 is lost when segments 2, 4 and 6 are SACKed. cwnd becomes 5.
    script.run([Sack(1, &[(2, 3)]), Sack(1, &[(4, 5), (2, 3)]), Nothing]);
    script.run([Sack(1, &[(6, 7), (4, 5), (2, 3)]), Again(1), Cwnd(5)]);
    // After the SACK of segment 6, ten segments are outstanding: three are SACKed, and segment 1 is lost and
    // retransmitted. In flight are 10 - 3 - 1 + 1 = 7. Segment 3 is not lost yet, as only segments 4 and 6 are SACKed
    // above segment 3.
    script.run([InFlight(7), Nothing]);
    script.run([Sack(1, &[(6, 8), (4, 5), (2, 3)]), InFlight(5), Nothing]);
    // Segment 8 arrives. Three SACKed segments are now above segment 5, so segment 5 is lost. In flight are 10 - 5
    // (SACKed 2, 4, 6, 7, 8) - 3 (lost 1, 3, 5) + 1 (retransmitted) = 3. Segments 3 and 5 are retransmitted.
    script.run([Sack(1, &[(6, 9), (4, 5), (2, 3)]), InFlight(3), Again(3), Again(5), Nothing]);
    // Segment 9 arrives. Four segments are in flight, and new data is sent.
    script.run([Sack(1, &[(6, 10), (4, 5), (2, 3)]), InFlight(4), New(11), Nothing]);
    // The retransmission of segment 1 has arrived. In flight are segments 10 and 11 and the retransmissions of segments
    // 3 and 5. No lost segment and no new data is left to send, so NextSeg rule 4 retransmits the last segment, 11.
    script.run([Sack(3, &[(6, 10), (4, 5)]), InFlight(4), Bytes(10_000, 11_000), Nothing]);
}

/// RFC 6675 §4, NextSeg rule 3: a hole that is not lost yet is retransmitted if no new data may be sent. `pipe` then
/// counts both transmissions of the segment.
#[test]
fn doubtful_segments_go_when_the_window_is_closed() {
    let mut script = Script::sender(Config { initial_window: 6, ..config("sack") });
    script.run([News(1, 6), PeerWindow(6000), Sack(1, &[(2, 3)]), Sack(1, &[(2, 4)]), Nothing]);
    // Segment 1 is lost. After the SACK of segment 6, segment 5 is a hole with only one SACKed segment above it. In
    // flight are 6 - 4 (SACKed) - 1 (lost) + 1 (retransmitted) = 2, and cwnd is 3.
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(3), InFlight(3), Nothing]);
    script.run([Sack(1, &[(6, 7), (2, 5)]), InFlight(2), Again(5), InFlight(3), Nothing]);
}

/// RFC 6675 §4, NextSeg rule 4: the last segment is retransmitted once per recovery. `pipe` does not count this
/// retransmission ("HighRxt MUST NOT be updated").
#[test]
fn the_rescue_retransmission_happens_once() {
    let mut script = Script::opened(Config { initial_window: 8, ..config("sack") }, Peer::default());
    script.run([Write(8000), News(1, 8), Sack(1, &[(2, 5)]), Again(1), Cwnd(4), InFlight(5), Nothing]);
    script.run([
        Sack(1, &[(2, 6)]),
        InFlight(4),
        Nothing,
        Sack(1, &[(2, 7)]),
        InFlight(3),
        Again(8),
        InFlight(3),
    ]);
    script.run([Nothing, Sack(1, &[(2, 8)]), InFlight(2), Nothing]);
    let mut script = Script::opened(with("sack", 8, &[("rescue", Value::Flag(false))]), Peer::default());
    script.run([Write(8000), News(1, 8), Sack(1, &[(2, 5)]), Again(1), Sack(1, &[(2, 7)]), Nothing]);
}

/// A loss above RecoveryPoint begins a new recovery after the current recovery, and halves cwnd again.
#[test]
fn a_loss_behind_recovery_point_is_a_new_one() {
    let mut script = windowed("sack", 8);
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(4), Nothing, Sack(1, &[(2, 6)]), Nothing]);
    script.run([
        Sack(1, &[(2, 7)]),
        New(9),
        Sack(1, &[(2, 8)]),
        New(10),
        Sack(1, &[(2, 9)]),
        New(11),
        Nothing,
    ]);
    // Segment 9 is lost. Segments 10 and 11 arrive, then the ACK of the retransmitted segment 1, which ends this
    // recovery. cwnd is 4, and five segments are outstanding.
    script.run([Sack(1, &[(10, 11), (2, 9)]), New(12), Sack(1, &[(10, 12), (2, 9)]), New(13), Nothing]);
    script.run([Sack(9, &[(10, 12)]), Cwnd(4), Nothing]);
    assert_eq!(script.endpoint.counters().recoveries, 1);
    script.run([Sack(9, &[(10, 13)]), Again(9), CwndBytes(2500)]);
    assert_eq!(script.endpoint.counters().recoveries, 2);
    let mut script = windowed("sack", 8);
    script.run([
        Sack(1, &[(2, 9)]),
        Again(1),
        News(9, 11),
        Nothing,
        Sack(1, &[(10, 12), (2, 9)]),
        News(12, 13),
    ]);
    script.run([Sack(9, &[(10, 13)]), Again(9)]);
    assert_eq!(script.endpoint.counters().recoveries, 2);
}

/// RFC 2018 §8: if the first outstanding segment is SACKed when the timer expires, the receiver has reneged. All
/// outstanding data is then retransmitted, SACKed data included.
#[test]
fn a_receiver_that_reneges() {
    let mut script = windowed("sack", 4);
    script.run([Sack(1, &[(2, 4)]), Nothing, Tick(10), Ack(2), News(5, 6), Nothing]);
    script.run([Timeout, Again(2), Cwnd(1), Nothing, Ack(3), Again(3), Again(4), Nothing]);
    script.run([Ack(5), Again(5), Again(6), New(7), Nothing]);
    // If the first outstanding segment is not SACKed at a timeout, SACKed data is not retransmitted.
    let mut script = windowed("sack", 4);
    script.run([Sack(1, &[(2, 4)]), Timeout, Again(1), Nothing, Tick(10), Ack(4), Again(4), New(5)]);
}

/// RFC 6675 needs SACK. If the peer does not support SACK, NewReno replaces it (RFC 6582 §1).
#[test]
fn without_sack_on_the_peer() {
    let mut script = Script::opened(
        Config { initial_window: 8, ..config("sack") },
        Peer { sack: false, ..Peer::default() },
    );
    script.run([Write(100_000), News(1, 8), Acks(1, 3), Again(1), Cwnd(4), Inflated(7)]);
    script.run([Ack(3), Again(3), Ack(9), Cwnd(4)]);
}

/// SACK blocks that are reversed, empty or outside the outstanding data are ignored (RFC 2018 §5, RFC 2883).
#[test]
fn senseless_blocks_are_ignored() {
    let mut script = windowed("sack", 8);
    script.run([Ack(3), News(9, 11)]);
    script.run([
        Sack(3, &[(1, 2)]),
        Sack(3, &[(6, 4)]),
        Sack(3, &[(5, 5)]),
        Sack(3, &[(12, 30)]),
        Sack(3, &[(40, 50)]),
    ]);
    script.run([InFlight(9), Nothing]);
    assert_eq!(script.endpoint.counters().duplicate_acks, 0);
}

/// RFC 6675 §5: "Upon the receipt of any ACK containing SACK information, the scoreboard MUST be updated". An old ACK
/// that a later ACK has overtaken also updates the scoreboard. The three segments that the old ACK SACKs cause the
/// retransmission at once, without a timeout.
#[test]
fn an_overtaken_ack_reports_a_loss() {
    for name in ["sack", "rack"] {
        let setup = Config { sack: true, ..with(name, 10, &[]) };
        let mut script = Script::opened(setup, Peer::default());
        script.run([Write(10_000), News(1, 10), Tick(100), Ack(3), Tick(1), Sack(2, &[(4, 7)])]);
        let scoreboard = script.endpoint.sender().scoreboard();
        assert_eq!((scoreboard.una(), scoreboard.sacked()), (2001, 3000), "{name}");
        script.run([Again(3), Nothing, Tick(100), Sack(3, &[(4, 11)]), Nothing, Ack(11), InFlight(0)]);
        let counters = script.endpoint.counters();
        assert_eq!((counters.retransmitted, counters.timeouts, counters.recoveries), (1, 0, 1), "{name}");
    }
}

/// Only the SACK blocks of an overtaken ACK take effect, not its ACK number or window (SND.WL2, RFC 9293 §3.10.7.4).
/// Without SACK, an overtaken ACK does not count as a duplicate ACK. An ACK that is older than the largest window is
/// rejected (RFC 5961 §5.2).
#[test]
fn an_overtaken_ack_tells_nothing_but_its_reports() {
    let mut script = Script::opened(Config { sack: true, ..with("sack", 10, &[]) }, Peer::default());
    script.run([Write(20_000), News(1, 10), Tick(100), Ack(3), Cwnd(11), PeerWindow(0), Sack(2, &[(5, 6)])]);
    // The overtaken ACK advertises a closed window, which is ignored. The earlier window of 60,000 bytes permits these
    // segments.
    script.run([News(11, 13), Nothing, Cwnd(11), InFlight(11)]);
    let mut script = Script::opened(Config { sack: true, ..with("new_reno", 10, &[]) }, Peer::default());
    script.run([Write(10_000), News(1, 10), Tick(100), Ack(3)]);
    (0..5).for_each(|_| _ = script.run([Sack(2, &[(4, 7)]), Nothing]));
    assert_eq!(script.endpoint.counters().duplicate_acks, 0);
    let peer = Peer { window: 4000, ..Peer::default() };
    let mut script = Script::opened(Config { sack: true, ..with("sack", 10, &[]) }, peer);
    script.run([Write(20_000), News(1, 4), Tick(100), Ack(5), News(5, 8), Tick(100), Ack(9), News(9, 12)]);
    script.run([Sack(4, &[(10, 13)]), Acked(1), Nothing, InFlight(4)]);
    script.run([Sack(5, &[(10, 13)]), Again(9)]);
}

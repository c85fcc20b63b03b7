//! Eifel: detection of spurious retransmissions by timestamps (RFC 3522), and the response of RFC 4015 or of Linux
//! (`undo_whole`).

mod script;

use lasthop_base::{Choice, Duration};
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, SEGMENT, Script, config};

/// Returns a sender with timestamps that has sent its initial window of ten segments of 1000 bytes.
fn opened(recovery: &str, own: Config) -> Script {
    let recovery = Choice::named(recovery::ALL, recovery);
    let config = Config { recovery, timestamps: true, sack: true, initial_window: 10, ..own };
    let mut script = Script::opened(config, Peer { mss: 1012, timestamps: true, ..Peer::default() });
    script.run([Write(1_000_000), News(1, 10), Nothing]);
    script
}

/// Returns a sender whose timer has expired, the sending time of the original segments (ms), and the sending time of
/// the first retransmission (ms).
fn timed_out(recovery: &str, own: Config) -> (Script, u32, u32) {
    let mut script = opened(recovery, own);
    let sent = script.millis();
    script.run([Timeout, Again(1), Nothing, Cwnd(1)]);
    let again = script.millis();
    script.run([Tick(100)]);
    (script, sent, again)
}

fn eifel() -> Config {
    Config { eifel: true, ..config("sack") }
}

/// All segments were delayed, none was lost. The first ACK echoes the timestamp of the original segment 1, so the
/// timeout is undone and no further segment is retransmitted.
#[test]
fn a_delay_costs_one_segment() {
    for recovery in ["reno", "new_reno", "sack"] {
        let (mut script, sent, _) = timed_out(recovery, eifel());
        script.ack_with_echo(2, &[], sent, false);
        assert_eq!(script.endpoint.counters().timeouts_undone, 1, "{recovery}");
        // cwnd is FlightSize (9) plus the newly acknowledged data (1), as RFC 4015 requires. Slow start adds one more
        // segment.
        script.run([Cwnd(11), SsthreshBytes(1 << 30), News(11, 12), Nothing]);
        for number in 3..=11 {
            script.ack_with_echo(number, &[], sent, false);
            while let Some(sending) = script.endpoint.poll_segment(script.now) {
                assert!(!sending.is_retransmission, "{recovery}");
            }
        }
        assert_eq!(script.endpoint.counters().retransmitted, 1, "{recovery}");
    }
}

#[test]
fn a_loss_stays_one() {
    for recovery in ["reno", "new_reno", "sack"] {
        let (mut script, _, again) = timed_out(recovery, eifel());
        script.ack_with_echo(2, &[], again, false);
        script.run([Again(2), Again(3), Nothing]);
        assert_eq!(script.endpoint.counters().timeouts_undone, 0, "{recovery}");
        assert_eq!(script.endpoint.sender().ssthresh(), 5 * SEGMENT);
    }
}

#[test]
fn it_is_off_unless_asked_for() {
    let (mut script, sent, _) = timed_out("sack", config("sack"));
    script.ack_with_echo(2, &[], sent, false);
    script.run([Again(2), Again(3), Nothing]);
}

/// An ACK of all outstanding data is inconclusive, because earlier ACKs may have been lost (RFC 3522 step 5). Linux
/// (`undo_whole`) undoes the timeout at such an ACK.
#[test]
fn an_ack_of_everything_says_nothing_but_to_linux() {
    for undo_whole in [false, true] {
        let (mut script, sent, _) = timed_out("sack", Config { undo_whole, ..eifel() });
        script.ack_with_echo(11, &[], sent, false);
        assert_eq!(script.endpoint.counters().timeouts_undone, u64::from(undo_whole));
    }
}

/// The ACK that shows the timeout as spurious also echoes a congestion mark. No further segment is retransmitted, but
/// cwnd and ssthresh stay reduced (RFC 4015).
#[test]
fn a_mark_keeps_the_window_low() {
    let own = Config { ecn: true, ..eifel() };
    let config = Config { timestamps: true, sack: true, initial_window: 10, ..own };
    let mut script =
        Script::opened(config, Peer { mss: 1012, timestamps: true, ecn: true, ..Peer::default() });
    script.run([Write(1_000_000), News(1, 10), Nothing]);
    let sent = script.millis();
    script.run([Timeout, Again(1), Nothing, Tick(100)]);
    script.ack_with_echo(2, &[], sent, true);
    script.run([Nothing]);
    assert!(script.endpoint.sender().window() <= 2 * SEGMENT);
    assert_eq!(script.endpoint.sender().ssthresh(), 5 * SEGMENT);
    for number in 3..=10 {
        script.ack_with_echo(number, &[], sent, false);
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            assert!(!sending.is_retransmission);
        }
    }
}

/// RFC 4015 restores cwnd so that at most a burst of the initial window is possible. Linux (`undo_whole`) restores the
/// former cwnd.
#[test]
fn how_much_is_given_back() {
    // At the timeout 32 segments are outstanding. The next ACK covers 20 segments and leaves 12. The initial window is
    // one segment, so RFC 4015 restores a cwnd of 12 + 1 segments.
    for (undo_whole, window) in [(false, 12 + 1), (true, 32)] {
        let own = Config { undo_whole, timestamps: true, sack: true, ..eifel() };
        let mut script = Script::opened(own, Peer { mss: 1012, timestamps: true, ..Peer::default() });
        script.endpoint.write(1 << 30);
        script.run([New(1)]);
        let mut sent = 1u64;
        while sent < 63 {
            for acked in sent.div_ceil(2)..=sent {
                script.run([Tick(1)]);
                script.ack_with_echo(acked + 1, &[], script.millis(), false);
                while script.endpoint.poll_segment(script.now).is_some() {}
            }
            sent = 2 * sent + 1;
        }
        script.renumber(32);
        let before = script.millis();
        script.run([Cwnd(32), InFlight(32), Timeout, Again(1), Tick(100)]);
        script.ack_with_echo(21, &[], before, false);
        script.run([Cwnd(window + 1)]);
    }
}

/// RFC 4015: the first RTT sample after the undo is 3 s. SRTT becomes 3 s and RTTVAR half of SRTT, so RTO = 3 s + 4 ×
/// 1.5 s. Linux (`undo_whole`) continues to smooth by RFC 6298: samples of 100, 1100, 4100 and 3000 ms give SRTT + 4
/// RTTVAR = 995.7 + 4 × 1460.9 ms.
#[test]
fn the_timeout_remembers_the_delay() {
    for undo_whole in [false, true] {
        let (mut script, sent, _) = timed_out("sack", Config { undo_whole, ..eifel() });
        script.ack_with_echo(2, &[], sent, false);
        let news = script.millis();
        script.run([News(11, 12)]);
        script.now += Duration::from_millis(3000);
        script.ack_with_echo(11, &[], sent, false);
        script.ack_with_echo(12, &[], news, false);
        let rto = if undo_whole { Duration::from_nanos(6_839_453_125) } else { Duration::from_millis(9000) };
        assert_eq!(script.endpoint.sender().rtt().rto(), rto);
    }
}

/// The sender takes reordering for a loss and enters recovery. The first ACK of the original segment restores cwnd at
/// once if Eifel is on.
#[test]
fn a_reordering_is_undone_at_the_first_ack() {
    for recovery in ["new_reno", "sack", "rack"] {
        for (ours, undone) in [(eifel(), 1), (config("sack"), 0)] {
            let mut script = opened(recovery, ours);
            let sent = script.millis();
            script.run([Tick(100)]);
            for reported in 3..=5 {
                script.ack_with_echo(1, &[(2, reported)], sent, false);
            }
            assert!(script.endpoint.sender().is_recovering(), "{recovery}");
            while script.endpoint.poll_segment(script.now).is_some() {}
            script.run([Tick(10)]);
            script.ack_with_echo(5, &[], sent, false);
            assert_eq!(script.endpoint.counters().recoveries_undone, undone, "{recovery}");
            assert_eq!(script.endpoint.sender().is_recovering(), undone == 0, "{recovery}");
            let window = script.endpoint.sender().window() / SEGMENT;
            assert_eq!(window >= 10, undone == 1, "{recovery}: cwnd {window} segments");
        }
    }
}

/// RFC 8985 §6.2 step 2: the RTT is 100 ms, and an ACK arrives 150 ms after the retransmission of segment 1. With
/// Eifel, the echoed timestamp shows that the original caused the ACK, so no segment counts as lost. Without Eifel, the
/// six other outstanding segments, sent before the retransmission, are marked lost.
#[test]
fn rack_tells_an_original_from_its_copy() {
    for (ours, lost) in [(eifel(), 0), (config("sack"), 6000)] {
        let mut script = opened("rack", ours);
        let sent = script.millis();
        script.run([Timeout, New(11), Nothing, Timeout, Again(1), Nothing, Tick(150)]);
        assert_eq!(script.endpoint.counters().timeouts, 1);
        script.ack_with_echo(6, &[], sent, false);
        assert_eq!(script.endpoint.sender().scoreboard().lost(), lost);
    }
}

/// Linux since 3.12 takes RTT samples from SACKed segments (`sack_rtt`). A sample of 300 ms after a sample of 100 ms
/// makes the smoothed RTT 7/8 × 100 + 1/8 × 300 = 125 ms.
#[test]
fn what_is_reported_measures() {
    for (sack_rtt, srtt) in [(false, 100), (true, 125)] {
        let mut script = opened("rack", Config { sack_rtt, ..config("sack") });
        let sent = script.millis();
        script.run([Tick(150)]);
        let deadline = script.endpoint.sender().rtt().srtt();
        assert_eq!(deadline, Some(Duration::from_millis(100)));
        script.run([Tick(150)]);
        while script.endpoint.poll_segment(script.now).is_some() {}
        script.ack_with_echo(1, &[(2, 3)], sent, false);
        assert_eq!(script.endpoint.sender().rtt().srtt(), Some(Duration::from_millis(srtt)));
    }
}

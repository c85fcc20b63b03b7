//! F-RTO, detection of spurious timeouts (RFC 5682 §2.1, and §3.1 with SACK). A sudden delay must be recognised, and a
//! loss must not be taken for a delay.

mod script;

use lasthop_tcp::{Config, Event};
use script::Step::*;
use script::{Peer, Script, config};

const ALL: [&str; 4] = ["tahoe", "reno", "new_reno", "sack"];

/// Returns a sender whose timer has expired, with eight segments outstanding.
fn timed_out(recovery: &str, f_rto: bool) -> Script {
    let mut script = Script::with_window(Config { f_rto, ..config(recovery) }, 8);
    script.run([Timeout, Again(1), Nothing, Cwnd(1)]);
    script
}

fn undone(script: &mut Script) -> bool {
    let counted = script.endpoint.counters().timeouts_undone == 1;
    let traced = std::iter::from_fn(|| script.endpoint.poll_event())
        .any(|(_, event)| matches!(event, Event::TimeoutUndone { .. }));
    assert_eq!(counted, traced);
    counted
}

/// The ACKs of the original segments arrive late. After the first ACK two new segments are sent. After the second ACK
/// cwnd is restored, and no further segment is retransmitted.
#[test]
fn late_acks() {
    for recovery in ALL {
        let mut script = timed_out(recovery, true);
        script.run([Tick(100), Ack(2), News(9, 10), Nothing, Ack(3), Cwnd(9), InFlight(8)]);
        assert!(undone(&mut script), "{recovery}");
        // ssthresh is as high as before the timeout, since nothing was lost, so slow start continues.
        script.run([SsthreshBytes(1 << 30), New(11), Nothing, Ack(4), News(12, 13), Nothing]);
        for number in 5..=9 {
            script.run([Ack(number)]);
            while let Some(sending) = script.endpoint.poll_segment(script.now) {
                assert!(!sending.is_retransmission, "{recovery}");
            }
        }
        let mut script = timed_out(recovery, false);
        script.run([Tick(100), Ack(2), Again(2), Again(3), Nothing]);
    }
}

/// Segments 1 and 2 are lost, so the second ACK is a duplicate. The timeout was not spurious, and retransmission
/// continues (RFC 5682 §2.1, step 3 a).
#[test]
fn a_duplicate_means_loss() {
    for recovery in ["tahoe", "reno", "new_reno"] {
        let mut script = timed_out(recovery, true);
        script.run([Ack(2), News(9, 10), Nothing, Ack(2), Cwnd(3), Again(2), Nothing]);
        assert!(!undone(&mut script), "{recovery}");
    }
    let mut script = timed_out("sack", true);
    script.run([Ack(2), News(9, 10), Nothing, Sack(2, &[(9, 10)]), Again(2)]);
    assert!(!undone(&mut script));
}

/// F-RTO stops without a result if the first ACK after the timeout is a duplicate. F-RTO also stops if this ACK covers
/// all outstanding data, or only part of the retransmitted segment (RFC 5682 §2.1, step 2 a).
#[test]
fn what_says_nothing() {
    for recovery in ALL {
        let mut script = timed_out(recovery, true);
        script.run([Ack(9), News(9, 10), Nothing, Ack(10)]);
        assert!(!undone(&mut script), "{recovery}");
        // With SACK, an ACK without SACK blocks is no duplicate ACK.
        if recovery != "sack" {
            let mut script = timed_out(recovery, true);
            script.run([Ack(1), Ack(2), Again(2)]);
            assert!(!undone(&mut script), "{recovery}");
        }
        let mut script = timed_out(recovery, true);
        script.run([AckBytes(500), Again(2), Nothing, Ack(2)]);
        assert!(!undone(&mut script), "{recovery}");
    }
}

/// Without new data to send (RFC 5682 §2.1, step 2 b), F-RTO stops, and the outstanding segments are retransmitted.
#[test]
fn without_new_data() {
    for recovery in ALL {
        let setup = Config { f_rto: true, initial_window: 4, ..config(recovery) };
        let mut script = Script::opened(setup, Peer::default());
        script.run([
            Write(4000),
            News(1, 4),
            Timeout,
            Again(1),
            Nothing,
            Ack(2),
            Again(2),
            Again(3),
            Nothing,
        ]);
        assert!(!undone(&mut script), "{recovery}");
    }
}

#[test]
fn one_question_at_a_time() {
    for recovery in ALL {
        let mut script = timed_out(recovery, true);
        if recovery != "sack" {
            script.run([Timeout, Again(1), Ack(2), Again(2), Again(3), Ack(3)]);
            assert!(!undone(&mut script), "{recovery}");
        }
        let mut script = timed_out(recovery, true);
        script.run([Ack(2), News(9, 10), Nothing, Timeout, Again(2), Nothing, Ack(3), Again(3)]);
        assert!(!undone(&mut script), "{recovery}");
    }
}

/// With SACK, F-RTO also tests a second expiry of the timer for the same data (RFC 5682 §3.1, steps 1 and 2).
#[test]
fn with_sack_repeated_expiries_are_asked() {
    let mut script = timed_out("sack", true);
    script.run([Timeout, Again(1), Nothing, Ack(2), News(9, 10), Nothing, Ack(3)]);
    assert!(undone(&mut script));
}

/// After the first ACK, a SACK report of an original segment shows that the timeout was spurious (RFC 5682 §3.1, step 3
/// b). F-RTO without SACK would take this duplicate ACK for a sign of loss.
#[test]
fn with_sack_a_report_of_an_original_tells_it() {
    let mut script = timed_out("sack", true);
    script.run([Tick(100), Ack(2), News(9, 10), Nothing, Sack(2, &[(3, 4)])]);
    assert!(undone(&mut script));
    // Segment 2 is late, not lost, so no outstanding segment is retransmitted.
    script.run([SsthreshBytes(1 << 30), Nothing, InFlight(9), Ack(4)]);
    while let Some(sending) = script.endpoint.poll_segment(script.now) {
        assert!(!sending.is_retransmission);
    }
}

/// A SACK report that covers an original segment and also new data, sent after the timeout, is inconclusive. Recovery
/// continues (RFC 5682 §3.1, step 3 a).
#[test]
fn with_sack_a_report_from_behind_is_a_loss() {
    let mut script = timed_out("sack", true);
    script.run([Tick(100), Ack(2), News(9, 10), Nothing, Sack(2, &[(9, 10), (3, 4)]), Cwnd(3), Again(2)]);
    assert!(!undone(&mut script));
}

/// A SACK report of an original segment before the first new ACK is inconclusive (RFC 5682 §3.1, step 2). Linux
/// (`undo_whole`) undoes the timeout at this report.
#[test]
fn with_sack_linux_believes_the_first_report() {
    for undo_whole in [false, true] {
        let f_rto = true;
        let mut script = Script::with_window(Config { f_rto, undo_whole, ..config("sack") }, 8);
        script.run([Timeout, Again(1), Nothing, Tick(100), Sack(1, &[(3, 4)])]);
        assert_eq!(undone(&mut script), undo_whole);
        let window = if undo_whole { 8 } else { 1 };
        script.run([Cwnd(window)]);
    }
}

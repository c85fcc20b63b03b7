//! Eifel: timestamps tell that a repair was for nothing (RFC 3522), and what is given back then (RFC 4015, or as Linux).

mod script;

use lasthop_base::{Choice, Duration};
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, SEGMENT, Script, config};

/// A sender with timestamps and an initial window of ten; segments of 1000 bytes beside them.
fn opened(recovery: &str, own: Config) -> Script {
    let recovery = Choice::named(recovery::ALL, recovery);
    let config = Config { recovery, timestamps: true, sack: true, initial_window: 10, ..own };
    let mut script = Script::opened(config, Peer { mss: 1012, timestamps: true, ..Peer::default() });
    script.run([Write(1_000_000), News(1, 10), Nothing]);
    script
}

/// The timer has expired; when the originals went out, and when the first of them did again, ms.
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

/// Nothing was lost, all was late: the first ACK tells it by the time that it echoes, and nothing else goes out again.
#[test]
fn a_delay_costs_one_segment() {
    for recovery in ["reno", "new_reno", "sack"] {
        let (mut script, sent, _) = timed_out(recovery, eifel());
        script.answer(2, &[], sent, false);
        assert_eq!(script.endpoint.counters().timeouts_undone, 1, "{recovery}");
        // FlightSize and what the ACK says has left (RFC 4015), and slow start goes on.
        script.run([Cwnd(11), SsthreshBytes(1 << 30), News(11, 12), Nothing]);
        for number in 3..=11 {
            script.answer(number, &[], sent, false);
            while let Some(sending) = script.endpoint.poll_segment(script.now) {
                assert!(!sending.again, "{recovery}");
            }
        }
        assert_eq!(script.endpoint.counters().retransmitted, 1, "{recovery}");
    }
}

/// The echo of the copy: the original was lost.
#[test]
fn a_loss_stays_one() {
    for recovery in ["reno", "new_reno", "sack"] {
        let (mut script, _, again) = timed_out(recovery, eifel());
        script.answer(2, &[], again, false);
        script.run([Again(2), Again(3), Nothing]);
        assert_eq!(script.endpoint.counters().timeouts_undone, 0, "{recovery}");
        assert_eq!(script.endpoint.sender().ssthresh(), 5 * SEGMENT);
    }
}

/// Without the option, or without being asked, nobody knows.
#[test]
fn it_is_off_unless_asked_for() {
    let (mut script, sent, _) = timed_out("sack", config("sack"));
    script.answer(2, &[], sent, false);
    script.run([Again(2), Again(3), Nothing]);
}

/// An ACK of all that is outstanding may be the only one of many that was not lost (RFC 3522 step 5); Linux takes it.
#[test]
fn an_ack_of_everything_says_nothing_but_to_linux() {
    for undo_whole in [false, true] {
        let (mut script, sent, _) = timed_out("sack", Config { undo_whole, ..eifel() });
        script.answer(11, &[], sent, false);
        assert_eq!(script.endpoint.counters().timeouts_undone, u64::from(undo_whole));
    }
}

/// A mark that the same ACK echoes says that the path is congested: what is outstanding need not go again, and the window
/// stays low (RFC 4015).
#[test]
fn a_mark_keeps_the_window_low() {
    let own = Config { ecn: true, ..eifel() };
    let config = Config { timestamps: true, sack: true, initial_window: 10, ..own };
    let mut script =
        Script::opened(config, Peer { mss: 1012, timestamps: true, ecn: true, ..Peer::default() });
    script.run([Write(1_000_000), News(1, 10), Nothing]);
    let sent = script.millis();
    script.run([Timeout, Again(1), Nothing, Tick(100)]);
    script.answer(2, &[], sent, true);
    script.run([Nothing]);
    assert!(script.endpoint.sender().window() <= 2 * SEGMENT);
    assert_eq!(script.endpoint.sender().ssthresh(), 5 * SEGMENT);
    for number in 3..=10 {
        script.answer(number, &[], sent, false);
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            assert!(!sending.again);
        }
    }
}

/// The window gives a burst of the initial window at most (RFC 4015), or all that it was (Linux).
#[test]
fn how_much_is_given_back() {
    // 32 outstanding, an initial window of one: 20 segments are acknowledged at once.
    for (undo_whole, window) in [(false, 12 + 1), (true, 32)] {
        let own = Config { undo_whole, timestamps: true, sack: true, ..eifel() };
        let mut script = Script::opened(own, Peer { mss: 1012, timestamps: true, ..Peer::default() });
        script.endpoint.write(1 << 30);
        script.run([New(1)]);
        let mut sent = 1u64;
        while sent < 63 {
            for acked in sent.div_ceil(2)..=sent {
                script.run([Tick(1)]);
                script.answer(acked + 1, &[], script.millis(), false);
                while script.endpoint.poll_segment(script.now).is_some() {}
            }
            sent = 2 * sent + 1;
        }
        script.renumber(32);
        let before = script.millis();
        script.run([Cwnd(32), InFlight(32), Timeout, Again(1), Tick(100)]);
        script.answer(21, &[], before, false);
        // One more by the ACK itself.
        script.run([Cwnd(window + 1)]);
    }
}

/// RFC 4015: the first round trip measured of what went out after it, 3 s, makes the timeout 3 s + 4 x 1.5 s. Linux goes on
/// with what it has smoothed: of 100, 1100, 4100 and 3000 ms, 995.7 + 4 x 1460.9 ms by RFC 6298.
#[test]
fn the_timeout_remembers_the_delay() {
    for undo_whole in [false, true] {
        let (mut script, sent, _) = timed_out("sack", Config { undo_whole, ..eifel() });
        script.answer(2, &[], sent, false);
        let news = script.millis();
        script.run([News(11, 12)]);
        script.now += Duration::from_millis(3000);
        script.answer(11, &[], sent, false);
        script.answer(12, &[], news, false);
        let rto = if undo_whole { Duration::from_nanos(6_839_453_125) } else { Duration::from_millis(9000) };
        assert_eq!(script.endpoint.sender().rtt().rto(), rto);
    }
}

/// Reordering taken for a loss: the first ACK of the original gives the window back at once, without a D-SACK.
#[test]
fn a_reordering_is_undone_at_the_first_ack() {
    for recovery in ["new_reno", "sack", "rack"] {
        for (ours, undone) in [(eifel(), 1), (config("sack"), 0)] {
            let mut script = opened(recovery, ours);
            let sent = script.millis();
            script.run([Tick(100)]);
            for reported in 3..=5 {
                script.answer(1, &[(2, reported)], sent, false);
            }
            assert!(script.endpoint.sender().is_recovering(), "{recovery}");
            while script.endpoint.poll_segment(script.now).is_some() {}
            script.run([Tick(10)]);
            script.answer(5, &[], sent, false);
            assert_eq!(script.endpoint.counters().recoveries_undone, undone, "{recovery}");
            assert_eq!(script.endpoint.sender().is_recovering(), undone == 0, "{recovery}");
            let window = script.endpoint.sender().window() / SEGMENT;
            assert_eq!(window >= 10, undone == 1, "{recovery}: {window}");
        }
    }
}

/// RFC 8985 §6.2 step 2: the ACK of a late original, 150 ms after its copy went out, where a round trip takes 100 ms, says
/// nothing of what went out between the two: six segments, the tail's probe among them, which the timeout had given up.
#[test]
fn rack_tells_an_original_from_its_copy() {
    for (ours, lost) in [(eifel(), 0), (config("sack"), 6000)] {
        let mut script = opened("rack", ours);
        let sent = script.millis();
        script.run([Timeout, New(11), Nothing, Timeout, Again(1), Nothing, Tick(150)]);
        assert_eq!(script.endpoint.counters().timeouts, 1);
        script.answer(6, &[], sent, false);
        assert_eq!(script.endpoint.sender().board().lost(), lost);
    }
}

/// Linux since 3.12: what SACK reports measures a round trip: 300 ms after 100 ms make 7/8 100 + 1/8 300 = 125 ms. The timer
/// stays: the reported segment went out together with the first hole.
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
        script.answer(1, &[(2, 3)], sent, false);
        assert_eq!(script.endpoint.sender().rtt().srtt(), Some(Duration::from_millis(srtt)));
    }
}

//! Undo of spurious recoveries by D-SACK (RFC 3708). Recoveries with at least one necessary retransmission are not
//! undone.

mod script;

use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config};

/// Returns a sender in recovery, which sent ten segments 100 ms ago. Segments 2 to 4 arrived before segment 1, so
/// segment 1 is retransmitted and cwnd is halved to 5.
fn recovering(dsack_undo: bool) -> Script {
    let recovery = choose(recovery::ALL, "rack", &[]);
    let config = Config { recovery, dsack_undo, sack: true, initial_window: 10, ..config("sack") };
    let mut script = Script::opened(config, Peer::default());
    script.run([Write(1_000_000), News(1, 10), Nothing, Tick(100)]);
    script.run([Sack(1, &[(2, 5)]), Again(1), Cwnd(5)]);
    script
}

/// The original of segment 1 arrives, then its retransmitted copy, which D-SACK reports. cwnd is restored to 10 if undo
/// by D-SACK is on.
#[test]
fn a_reordering_taken_for_a_loss_is_undone() {
    for (undoes, window) in [(true, 10), (false, 5)] {
        let mut script = recovering(undoes);
        script.run([Ack(11), Tick(10)]);
        script.sack(11, &[(1, 2)]);
        assert_eq!(script.endpoint.sender().window(), window * script::SEGMENT, "{undoes}");
        assert_eq!(script.endpoint.counters().recoveries_undone, u64::from(undoes));
    }
}

#[test]
fn one_needed_repair_is_enough() {
    let mut script = recovering(true);
    script.run([Tick(1), Sack(1, &[(2, 5), (6, 11)]), Again(5)]);
    script.run([Ack(11), Tick(10)]);
    script.sack(11, &[(1, 2)]);
    assert_eq!(script.endpoint.counters().recoveries_undone, 0);
    assert!(script.endpoint.sender().window() <= 6 * script::SEGMENT);
}

#[test]
fn it_waits_for_the_end_of_the_recovery() {
    let mut script = recovering(true);
    script.sack(5, &[(1, 2)]);
    assert_eq!(script.endpoint.sender().window(), 5 * script::SEGMENT);
    script.run([Ack(11)]);
    assert_eq!(script.endpoint.counters().recoveries_undone, 1);
    assert_eq!(script.endpoint.sender().window(), 10 * script::SEGMENT);
}

#[test]
fn an_overtaken_ack_tells_it_too() {
    let mut script = recovering(true);
    script.run([Ack(11), Tick(10), News(11, 15), Nothing, Tick(100), Ack(13)]);
    script.sack(11, &[(1, 2)]);
    assert_eq!(script.endpoint.counters().recoveries_undone, 1);
}

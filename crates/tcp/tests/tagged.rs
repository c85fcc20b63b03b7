//! Loss discrimination by tagged segments (huang §3.A and §3.C). A tagged segment has a low priority, so a congested
//! router drops the tagged segment first.

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::{loss_discrimination, recovery};
use lasthop_wire::Priority;
use script::Step::*;
use script::{Script, choose, config};

fn tagging(values: &[(&'static str, Value)]) -> Script {
    let sender_discrimination = choose(loss_discrimination::ALL, "tagged", values);
    Script::sender(Config { initial_window: 8, sender_discrimination, ..config("sack") })
}

/// huang §3.A: one segment per window of data is tagged. When the tagged segment is acknowledged, the next new segment
/// is tagged.
#[test]
fn one_segment_per_window_has_a_low_priority() {
    let mut script = tagging(&[]);
    let priorities: Vec<Priority> = (0..8).map(|_| script.sent("the first window").priority).collect();
    assert_eq!(priorities[0], Priority::LOW);
    assert!(priorities[1..].iter().all(|priority| *priority == Priority::NORMAL));
    script.run([Nothing, Tick(100), Ack(2)]);
    assert_eq!(script.sent("after the ACK").priority, Priority::LOW);
    assert_eq!(script.sent("the segment after that").priority, Priority::NORMAL);
    assert_eq!(script.endpoint.counters().tagged_sent, 2);
}

/// huang §3.C: "when losses are concluded as due to corruption, the transmit window is restored to the value before".
/// The tagged segment arrives, so the loss was corruption.
#[test]
fn a_surviving_tag_restores_the_window() {
    for (restores, ssthresh) in [("window", 4), ("window_and_ssthresh", 1 << 30)] {
        let mut script = tagging(&[("restores", Value::Word(restores))]);
        // Segment 1 is tagged and arrives, so segment 9 is tagged next. Segment 2 is lost.
        script.run([News(1, 8), Tick(100), Ack(2), Cwnd(9), News(9, 10), Nothing]);
        script.run([Sack(2, &[(3, 4)]), Sack(2, &[(3, 5)]), Nothing, Sack(2, &[(3, 6)]), Again(2), Cwnd(4)]);
        script.run([Sack(2, &[(3, 11)]), News(11, 13), Cwnd(4), Ack(11), Cwnd(9)]);
        // ssthresh stays 4.5 segments, half of the nine outstanding segments, unless `restores` also names ssthresh.
        let restored = script.endpoint.sender().ssthresh();
        assert_eq!(restored.min(1 << 30), if ssthresh == 4 { 4500 } else { ssthresh }, "{restores}");
        assert_eq!(script.endpoint.counters().judged_wireless, 1);
        script.run([InFlight(3), News(14, 19), InFlight(9), Nothing]);
    }
}

/// huang §3.C: "if loss of a tagged segment is found there exists at least one segment loss due to congestion". The
/// tagged segment 1 is lost, so cwnd stays halved.
#[test]
fn a_lost_tag_keeps_it_halved() {
    let mut script = tagging(&[]);
    script.run([News(1, 8), Tick(100), Sack(1, &[(2, 5)]), Again(1), Cwnd(4), Sack(1, &[(2, 9)]), Cwnd(4)]);
    script.run([News(9, 11), Nothing, Ack(9), Cwnd(4), News(12, 12), Nothing]);
    assert_eq!(script.endpoint.counters().judged_congestion, 1);
}

#[test]
fn a_timeout_restores_nothing() {
    let mut script = tagging(&[]);
    script.run([News(1, 8), Tick(100), Ack(2), News(9, 10), Sack(2, &[(3, 6)]), Again(2), Cwnd(4)]);
    script.run([Timeout, Cwnd(1), Again(2), Ack(11), Cwnd(2)]);
    assert_eq!(script.endpoint.counters().judged_wireless, 0);
}

/// With `reenter`, Reno detects a second loss while it retransmits after a timeout. Loss discrimination then restores
/// cwnd to its value at the second loss, two segments, not to cwnd before the timeout.
#[test]
fn after_a_timeout_no_window_of_before_is_restored() {
    let sender_discrimination = choose(loss_discrimination::ALL, "tagged", &[]);
    let recovery = choose(recovery::ALL, "reno", &[("reenter", Value::Flag(true))]);
    let mut script =
        Script::sender(Config { initial_window: 16, sender_discrimination, recovery, ..config("reno") });
    script.run([News(1, 16), Timeout, Again(1), Tick(10), Ack(2), Again(2), Again(3), Cwnd(2)]);
    script.run([Acks(2, 3), Again(2), Cwnd(2), Ack(3), Cwnd(2)]);
}

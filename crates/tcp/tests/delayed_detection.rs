//! Recovery mechanisms that delay loss detection, so that reordering is not taken for loss: NCR (RFC 4653) and TCP-DCR.

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::recovery;
use script::Step::*;
use script::{Peer, Script, choose, config};

fn opened(name: &str, values: &[(&'static str, Value)]) -> Script {
    let recovery = choose(recovery::ALL, name, values);
    let config = Config { recovery, sack: true, initial_window: 12, ..config("sack") };
    let mut script = Script::opened(config, Peer::default());
    script.run([Write(1_000_000), News(1, 12), Nothing, Tick(100)]);
    script
}

/// NCR "careful": a hole counts as lost when 2/3 of FlightSize is SACKed (LT_F = 2/3), and every second SACK report
/// permits a new segment. After eleven reports FlightSize is 12 + 5 = 17 segments, and two thirds of 17 are 11.3, so
/// the twelfth report begins recovery. ssthresh becomes half of the earlier flight of 12 segments (FlightSizePrev).
#[test]
fn a_careful_sender_waits_for_a_window() {
    let mut script = opened("ncr", &[]);
    for reports in 1..=11 {
        script.sack(1, &[(2, 2 + reports)]);
        if reports % 2 == 0 {
            script.run([New(12 + reports / 2)]);
        }
        script.run([Nothing]);
    }
    script.sack(1, &[(2, 14)]);
    script.run([Again(1), Ssthresh(6), Cwnd(6)]);
}

/// NCR "aggressive": LT_F = 1/2, and each SACK report permits a new segment. At the eleventh report FlightSize is 12 +
/// 10 segments, and half of it is SACKed, so recovery begins.
#[test]
fn an_aggressive_one_sends_twice_as_much_meanwhile() {
    let mut script = opened("ncr", &[("mode", Value::Word("aggressive"))]);
    for reports in 1..=10 {
        script.sack(1, &[(2, 2 + reports)]);
        script.run([New(12 + reports), Nothing]);
    }
    script.sack(1, &[(2, 13)]);
    script.run([Again(1), Ssthresh(6), Cwnd(6)]);
}

/// The missing segment arrives late, and its ACK leaves nine segments outstanding. To prevent a burst, cwnd becomes
/// these nine segments plus one segment. Slow start adds one segment for the ACK and continues up to the former cwnd of
/// twelve.
#[test]
fn what_was_late_costs_no_window_and_makes_no_burst() {
    let mut script = opened("ncr", &[]);
    for reports in 1..=4 {
        script.sack(1, &[(2, 2 + reports)]);
        if reports % 2 == 0 {
            script.run([New(12 + reports / 2)]);
        }
    }
    script.run([Ack(6), Cwnd(11), Ssthresh(12), News(15, 16), Nothing]);
    assert_eq!(script.endpoint.counters().retransmitted, 0);
    // With RFC 6675, the third SACK report counts as a loss.
    let mut script = opened("sack", &[]);
    (1..=3).for_each(|reports| script.sack(1, &[(2, 2 + reports)]));
    script.run([Again(1), Cwnd(6)]);
}

/// DCR: the third SACK report starts a timer of one round trip (100 ms, measured in the handshake). Each SACK report
/// permits a new segment.
#[test]
fn a_wait_of_a_round_trip() {
    for repaired in [true, false] {
        let mut script = opened("dcr", &[]);
        for reports in 1..=3 {
            script.sack(1, &[(2, 2 + reports)]);
            script.run([New(12 + reports), Nothing, Tick(10)]);
        }
        script.run([Deadline(90)]);
        if repaired {
            // The link layer has repaired the loss before the timer expires: cwnd is not reduced, and slow start
            // continues.
            script.run([Tick(50), Ack(5), Cwnd(13), News(16, 17), Nothing, Tick(60), Nothing]);
            assert_eq!(script.endpoint.counters().recoveries, 0);
        } else {
            script.run([Timeout, Again(1), Ssthresh(6)]);
            assert_eq!((script.endpoint.counters().recoveries, script.endpoint.counters().timeouts), (1, 0));
        }
    }
}

#[test]
fn the_next_hole_waits_anew() {
    let mut script = opened("dcr", &[]);
    script.sack(1, &[(2, 5), (6, 9)]);
    script.run([Tick(60), Deadline(40)]);
    while script.endpoint.poll_segment(script.now).is_some() {}
    script.sack(5, &[(6, 9)]);
    script.run([Deadline(100)]);
}

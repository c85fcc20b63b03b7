//! TCP-Peach in a connection: dummy segments of low priority are sent in addition to cwnd, and their ACKs (D-SACK)
//! increase cwnd.

mod script;

use lasthop_base::{Duration, Time, Value};
use lasthop_tcp::Config;
use lasthop_tcp::sender::congestion;
use lasthop_wire::Priority;
use script::Step::*;
use script::{ISS, SEGMENT, Script, choose, config};

/// Returns a sender with TCP-Peach. cwnd is at most four segments and the RTT 100 ms, so dummies are 25 ms apart.
fn peach() -> Script {
    let congestion = choose(congestion::ALL, "peach", &[("most", Value::Count(4))]);
    Script::sender(Config { congestion, initial_window: 10, ..config("sack") })
}

fn wait(script: &Script) -> Duration {
    script.endpoint.poll_timeout().since(script.now)
}

fn dummy(script: &mut Script, last: u64) {
    let sending = script.sent("a dummy");
    assert_eq!((sending.priority, sending.is_retransmission), (Priority::LOW, true));
    assert_eq!(sending.segment.seq, ISS.at(1 + (last - 1) * SEGMENT));
}

/// Sudden start: one segment is sent, and three dummies follow 25, 50 and 75 ms later. The ACK of the segment makes
/// cwnd two segments. The ACK of each dummy, a D-SACK, adds one segment, up to four. Dummies do not count as
/// retransmitted or in flight.
#[test]
fn sudden_start() {
    let mut script = peach();
    script.run([New(1), Nothing, Cwnd(1), InFlight(1)]);
    for _ in 0..3 {
        assert_eq!(wait(&script), Duration::from_millis(25));
        script.run([Tick(25)]);
        dummy(&mut script, 1);
        script.run([Nothing, InFlight(1)]);
    }
    // No further dummy follows. The next deadline is the expiry of the retransmission timer, 1 s after the segment was
    // sent.
    assert_eq!(wait(&script), Duration::from_millis(1000 - 75));
    script.run([Tick(25), Ack(2), Cwnd(2), News(2, 3), Nothing]);
    script.run([Tick(25), Sack(2, &[(1, 2)]), Cwnd(3), New(4), Nothing]);
    script.run([Tick(25), Sack(2, &[(1, 2)]), Cwnd(4), New(5), Nothing]);
    script.run([Tick(25), Sack(2, &[(1, 2)]), Cwnd(4), Nothing, InFlight(4)]);
    let counters = script.endpoint.counters();
    assert_eq!((counters.tagged_sent, counters.retransmitted, counters.duplicate_acks), (3, 0, 0));
}

/// Rapid recovery: a loss halves a cwnd of four segments. Four dummies are sent. The ACKs of the third and fourth dummy
/// each add a segment, so cwnd is four again.
#[test]
fn rapid_recovery() {
    let mut script = peach();
    script.run([New(1), Tick(25)]);
    for _ in 0..3 {
        dummy(&mut script, 1);
        script.run([Tick(25)]);
    }
    script.run([Ack(2), Sack(2, &[(1, 2)]), Sack(2, &[(1, 2)]), Sack(2, &[(1, 2)]), Cwnd(4), News(2, 5)]);
    script.run([Tick(100), Sack(2, &[(3, 4)]), Sack(2, &[(3, 5)]), Sack(2, &[(3, 6)]), Again(2), Cwnd(2)]);
    let began = script.now;
    let mut times: Vec<Time> = Vec::new();
    while script.endpoint.poll_timeout() < began + Duration::from_millis(500) {
        script.run([Timeout]);
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            if sending.priority == Priority::LOW {
                times.push(script.now);
            }
        }
    }
    assert_eq!(times.len(), 4, "{times:?}");
    let gaps: Vec<Duration> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
    assert!(gaps.iter().all(|gap| *gap == times[0].since(began)), "dummies are not evenly spaced: {gaps:?}");
    for window in [2, 2, 3, 4] {
        script.run([Sack(2, &[(5, 6), (3, 6)]), Cwnd(window)]);
    }
}

//! Proportional rate reduction (PRR, RFC 9937), with 20 segments in flight, the first of which is lost or all of which
//! are marked.

mod script;

use lasthop_base::Value;
use lasthop_tcp::Config;
use lasthop_tcp::sender::{recovery, reduction};
use script::Step::*;
use script::{Peer, SEGMENT, Script, choose, config};

/// Returns a sender that sent a full cwnd of 20 segments a round trip ago, with limited transmit as in RFC 6937 §3.1.
fn full(reduction: &str) -> Script {
    let on = Value::Flag(true);
    let values = [("limited_transmit", on.clone()), ("limited_transmit_counts", on)];
    let mut script = Script::sender(Config {
        recovery: choose(recovery::ALL, "sack", &values),
        reduction: choose(reduction::ALL, reduction, &[]),
        initial_window: 20,
        ..config("sack")
    });
    script.run([News(1, 20), Nothing, Tick(100)]);
    script
}

/// Returns the number of segments sent at the SACK of each of the segments 2 to 20, and the number in flight after the
/// last SACK.
fn sent(script: &mut Script) -> (Vec<usize>, u64) {
    let sent = (2..=20).map(|arrived| {
        script.sack(1, &[(2, arrived + 1)]);
        std::iter::from_fn(|| script.endpoint.poll_segment(script.now)).count()
    });
    (sent.collect(), script.endpoint.sender().in_flight() / SEGMENT)
}

/// RFC 9937 §6: the third SACK causes the retransmission. After that, about every second SACK permits a segment, until
/// the flight is ssthresh, 11 segments. Without PRR, eight SACKs in a row permit no segment (RFC 6937 §3.1).
#[test]
fn what_goes_out_is_in_proportion_to_what_arrives() {
    let (at_once, _) = sent(&mut full("at_once"));
    assert_eq!(at_once[..12], [1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let (prr, in_flight) = sent(&mut full("prr"));
    assert_eq!(prr[..3], [1, 1, 1]);
    assert!(prr.iter().all(|sent| *sent <= 1), "{prr:?}");
    assert!(
        prr.windows(3).all(|three| three.iter().sum::<usize>() >= 1),
        "three ACKs in a row sent nothing: {prr:?}"
    );
    assert_eq!(in_flight, 11);
}

/// The ACK that ends recovery leaves cwnd at ssthresh.
#[test]
fn the_window_after_it_is_ssthresh() {
    let mut script = full("prr");
    sent(&mut script);
    let next = script.endpoint.sender().scoreboard().nxt() / SEGMENT + 1;
    script.run([Ack(21), Cwnd(11), Ssthresh(11)]);
    assert_eq!(script.endpoint.sender().scoreboard().nxt() / SEGMENT + 1, next);
}

#[test]
fn a_timeout_ends_it() {
    let mut script = full("prr");
    sent(&mut script);
    assert!(script.endpoint.sender().window() > 5 * SEGMENT);
    script.run([Timeout, Cwnd(1), Again(1), Nothing]);
}

/// Returns the number of segments sent at each of 20 ACKs that all echo a mark, and cwnd after the last ACK. Before the
/// first ACK, 20 segments are in flight.
fn sent_when_marked(reduction: &str) -> (Vec<usize>, u64) {
    let peer = Peer { mss: 1000, window: 60_000, scale: None, sack: false, timestamps: false, ecn: true };
    let reduction = choose(reduction::ALL, reduction, &[]);
    let mut script =
        Script::opened(Config { ecn: true, reduction, initial_window: 20, ..config("new_reno") }, peer);
    script.endpoint.write(1 << 30);
    script.run([News(1, 20), Nothing, Tick(100)]);
    let sent = (2..=21).map(|ack| {
        script.run([Echo(ack)]);
        std::iter::from_fn(|| script.endpoint.poll_segment(script.now)).count()
    });
    (sent.collect(), script.endpoint.sender().window())
}

/// PRR also reduces cwnd gradually after a mark (RFC 9937 §1; state CWR in Linux): about every second ACK permits a
/// segment. Without PRR the first nine ACKs permit no segment. The final cwnd is the same with and without PRR.
#[test]
fn a_mark_brings_the_window_down_in_proportion() {
    let (at_once, after) = sent_when_marked("at_once");
    assert_eq!(at_once[..9], [0; 9]);
    assert_eq!(after, 9500);
    let (prr, after) = sent_when_marked("prr");
    assert!(prr.iter().all(|sent| *sent <= 1), "{prr:?}");
    // The first segment is sent at once (RFC 9937 §6), so four instead of three ACKs may pass until the next segment.
    assert!(prr.windows(4).all(|four| four.contains(&1)), "four ACKs in a row sent nothing: {prr:?}");
    assert_eq!(after, 9500);
}

//! The retransmission timer: RTT samples (RFC 6298 §3), and start, restart and expiry (§5).

mod script;

use lasthop_tcp::Config;
use script::Step::*;
use script::{Peer, Script, config};

fn windowed(name: &str, initial_window: u32) -> Script {
    Script::sender(Config { initial_window, ..config(name) })
}

/// RFC 6298 §5, rules 5.1 to 5.3: the first segment starts the timer of 1000 ms, and later segments do not restart the
/// timer. Each ACK of new data restarts the timer. The ACK of all outstanding data stops the timer.
#[test]
fn rules_5_1_to_5_3() {
    let mut script = Script::opened(Config { initial_window: 3, ..config("sack") }, Peer::default());
    script.run([
        NoDeadline,
        Write(2000),
        News(1, 2),
        Deadline(1000),
        Tick(300),
        Write(1000),
        New(3),
        Deadline(700),
    ]);
    script.run([Tick(100), Ack(2), Deadline(1000), Tick(100), Ack(2), Deadline(900)]);
    script.run([Tick(100), Ack(3), Deadline(1000), Tick(100), Ack(4), NoDeadline, Nothing]);
}

/// RFC 6298 §5, rules 5.4 to 5.6: when the timer expires, the sender retransmits the earliest segment, doubles the RTO,
/// and restarts the timer.
#[test]
fn rules_5_4_to_5_6() {
    for name in ["tahoe", "reno", "new_reno", "sack"] {
        let mut script = windowed(name, 3);
        script.run([News(1, 3), Tick(500), Ack(2), Rto(1000), News(4, 5), Deadline(1000)]);
        script.run([Tick(1000), Again(2), Nothing, Rto(2000), Deadline(2000), Tick(1999), Nothing]);
        script.run([Tick(1), Again(2), Nothing, Rto(4000), Deadline(4000)]);
    }
}

/// RFC 6298 §3, Karn's algorithm: the ACK of a retransmitted segment gives no RTT sample. If the ACK also covers other
/// segments, it gives no sample either, because these segments waited in the receiver's buffer. The RTO stays doubled
/// until the ACK of a segment that was sent once.
#[test]
fn karn_without_timestamps() {
    for name in ["tahoe", "reno", "new_reno", "sack"] {
        let mut script = windowed(name, 2);
        script.run([News(1, 2), Timeout, Again(1), Rto(2000), Tick(2000), Again(1), Rto(4000), Tick(700)]);
        script.run([Ack(3), Rto(4000)]);
        assert_eq!(script.endpoint.sender().rtt().srtt().map(|srtt| srtt.as_millis()), Some(100.0));
        script.run([News(3, 4), Tick(100), Ack(4), Rto(1000)]);
        assert_eq!(script.endpoint.sender().rtt().srtt().map(|srtt| srtt.as_millis()), Some(100.0));
    }
}

/// RFC 7323 §4: with timestamps, every ACK of new data gives an RTT sample, even if the data was retransmitted.
#[test]
fn timestamps_make_retransmissions_valid_samples() {
    let peer = Peer { mss: 1012, timestamps: true, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.run([Write(5000), New(1), Timeout, Again(1), Rto(2000), Tick(100)]);
    // The ACK echoes the timestamp of the retransmission, which was sent 100 ms ago, so the sample is 100 ms.
    let mut ack = script.plain();
    ack.ack = script::ISS.at(1001);
    ack.timestamps = Some(script.stamps(script.millis() - 100));
    script.arrive(ack);
    script.run([Rto(1000)]);
    assert_eq!(script.endpoint.sender().rtt().srtt().map(|srtt| srtt.as_millis()), Some(100.0));
}

/// RFC 7323 §4.1: an ACK that acknowledges no new data gives no RTT sample, although it echoes a timestamp.
#[test]
fn duplicates_are_no_samples() {
    let peer = Peer { mss: 1012, timestamps: true, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.run([Write(1000), New(1), Tick(500)]);
    let mut ack = script.plain();
    ack.timestamps = Some(script.stamps(script.millis() - 500));
    script.arrive(ack);
    assert_eq!(script.endpoint.sender().rtt().srtt().map(|srtt| srtt.as_millis()), Some(100.0));
}

/// A fast retransmit restarts the timer with a whole RTO, as TCP stacks do (RFC 6675 §6 permits it).
#[test]
fn fast_retransmit_starts_the_timer_anew() {
    for name in ["tahoe", "reno", "new_reno"] {
        let mut script = windowed(name, 8);
        script.run([News(1, 8), Tick(700), Acks(1, 3), Again(1), Deadline(1000)]);
    }
}

/// RFC 6298 §5.7: if the SYN's timer has expired and the RTO is below 3 s, the RTO for data starts at 3 s. From the
/// first RTT sample on, the RTO follows the samples.
#[test]
fn a_lost_syn_makes_the_first_timeout_longer() {
    let mut script = Script::closed(config("sack"), lasthop_tcp::Role::Active, Peer::default());
    script.endpoint.open(script.now);
    let syn = script.sent("the SYN").segment;
    script.run([Deadline(1000), Tick(1000), Deadline(2000)]);
    assert_eq!(script.sent("the retransmitted SYN").segment.seq, syn.seq);
    let answer = script.syn(lasthop_wire::Flags::SYN | lasthop_wire::Flags::ACK, None);
    script.tick(100);
    script.arrive(answer);
    script.run([Write(5000), New(1), Rto(3000), Deadline(3000), Tick(100), Ack(2), Rto(1000)]);
}

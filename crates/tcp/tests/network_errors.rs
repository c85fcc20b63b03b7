//! Tests ICMP errors: reports of undelivered segments (RFC 9293 §3.9.2.2, RFC 5927) and of segments that are too long
//! for the path (RFC 1191).

mod script;

use lasthop_tcp::endpoint::EndReason;
use lasthop_tcp::{Config, Role, State};
use script::Step::*;
use script::{ISS, Peer, Script, config};

fn opened(settings: Config, peer: Peer) -> Script {
    Script::opened(Config { initial_window: 4, ..settings }, peer)
}

/// A hard error that quotes the SYN ends a connection attempt. A soft error, or an error that quotes another segment,
/// does not.
#[test]
fn a_hard_error_ends_a_connection_attempt() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    assert!(!script.endpoint.handle_undelivered(ISS, true), "nothing was sent");
    script.endpoint.open(script.now);
    script.sent("the SYN");
    assert!(!script.endpoint.handle_undelivered(ISS.at(1), true));
    assert!(script.endpoint.handle_undelivered(ISS, false));
    assert!(!script.endpoint.handle_too_long(script.now, ISS, 500), "a SYN carries no data");
    assert_eq!(script.endpoint.state(), State::SynSent);
    assert!(script.endpoint.handle_undelivered(ISS, true));
    assert_eq!(
        (script.endpoint.state(), script.endpoint.ended()),
        (State::Closed, Some(EndReason::Unreachable))
    );
}

/// RFC 5927 §4.1, §5.2: an error is credible if the error quotes a segment in flight. No error ends an open connection.
#[test]
fn errors_must_quote_data_in_flight() {
    let mut script = opened(config("sack"), Peer::default());
    assert!(!script.endpoint.handle_undelivered(ISS.at(1), true), "no data is in flight");
    script.run([Write(10_000), News(1, 4), Nothing]);
    let credible = |script: &mut Script| {
        [0, 1, 1000, 1001, 4000, 4001].map(|offset| script.endpoint.handle_undelivered(ISS.at(offset), true))
    };
    assert_eq!(credible(&mut script), [false, true, true, true, true, false]);
    script.run([Ack(2), News(5, 6)]);
    assert_eq!(credible(&mut script), [false, false, false, true, true, true]);
    assert_eq!(script.endpoint.state(), State::Established);
}

/// RFC 1191 §6.4: data in flight is retransmitted in shorter segments, and cwnd stays.
#[test]
fn shorter_segments_are_retransmitted_at_once() {
    let mut script = opened(config("sack"), Peer::default());
    script.run([Write(10_000), News(1, 4), Nothing]);
    assert!(!script.endpoint.handle_too_long(script.now, ISS.at(4001), 700), "this byte is not in flight");
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1), 1000));
    script.run([Nothing]);
    assert_eq!(script.endpoint.sender().segment(), 1000, "segments of 1000 bytes fit");
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1), 700));
    assert_eq!(script.endpoint.sender().segment(), 700);
    script.run([CwndBytes(4000), Bytes(0, 700), Bytes(700, 1000), Bytes(1000, 1700), Bytes(1700, 2000)]);
    script.run([Bytes(2000, 2700), Bytes(2700, 3000), Bytes(3000, 3700), Bytes(3700, 4000), Nothing]);
    assert_eq!(script.endpoint.counters().timeouts, 0);
    script.run([AckBytes(4000), Bytes(4000, 4700)]);
}

/// The reported room includes the options of a segment, 12 bytes with timestamps. Segments never become shorter than
/// the smallest MSS (64 bytes, our choice), however small the reported room is.
#[test]
fn options_take_part_of_the_room() {
    let with_stamps = Config { timestamps: true, ..config("sack") };
    let mut script = opened(with_stamps, Peer { timestamps: true, ..Peer::default() });
    script.run([Write(10_000)]);
    while script.endpoint.poll_segment(script.now).is_some() {}
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1), 712));
    assert_eq!(script.endpoint.sender().segment(), 700);
    let mut script = opened(config("sack"), Peer::default());
    script.run([Write(10_000), News(1, 4)]);
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1), 1));
    assert_eq!(script.endpoint.sender().segment(), 64);
}

/// RFC 5927 §7.2: if longer segments were delivered before, a report waits until the timer of the quoted segment
/// expires. A report about a segment that is acknowledged before has no effect.
#[test]
fn a_report_that_contradicts_deliveries_waits_for_the_timer() {
    let mut script = opened(config("sack"), Peer::default());
    script.run([Write(100_000), News(1, 4), Ack(2), News(5, 6), Nothing]);
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1001), 700));
    script.run([Nothing]);
    assert_eq!(script.endpoint.sender().segment(), 1000);
    script.run([Timeout, Bytes(1000, 1700)]);
    assert_eq!(script.endpoint.sender().segment(), 700);
    let mut script = opened(config("sack"), Peer::default());
    script.run([Write(100_000), News(1, 4), Ack(2), News(5, 6), Nothing]);
    assert!(script.endpoint.handle_too_long(script.now, ISS.at(1001), 700));
    script.run([Ack(3), News(7, 8), Timeout, Again(3)]);
    assert_eq!(script.endpoint.sender().segment(), 1000);
}

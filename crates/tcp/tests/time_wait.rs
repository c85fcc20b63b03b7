//! TIME-WAIT (RFC 9293 §3.6.1), reopening of a connection in TIME-WAIT (RFC 6191), and resets for segments without a
//! connection (RFC 9293 §3.10.7.1).

mod script;

use lasthop_tcp::endpoint::reset_for;
use lasthop_tcp::{Config, State};
use lasthop_wire::{Flags, Segment, Seq, Timestamps};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

/// Returns an endpoint in TIME-WAIT. This end has closed first, then the peer, which has sent 1000 bytes.
fn waiting(timestamps: bool) -> Script {
    let peer = Peer { timestamps, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps, ..config("sack") }, peer);
    script.run([Data(1), Acked(2), Close, Bytes(0, 0)]);
    let both = Segment { flags: Flags::FIN | Flags::ACK, ack: ISS.at(2), ..script.plain() };
    script.arrive(both);
    script.run([In(State::TimeWait), AckedBytes(1001), Deadline(60_000)]);
    script
}

/// Returns a SYN of the same peer for a new connection. The SYN's sequence number is RCV.NXT of the old connection plus
/// `ahead`. The SYN's timestamp is the last timestamp plus `clock` ticks; `None`: no timestamps.
fn syn(script: &Script, ahead: i32, clock: Option<i32>) -> Segment {
    // The peer's FIN had the sequence number 1001, so RCV.NXT is 1002.
    let seq = Seq(IRS.at(1002).0.wrapping_add_signed(ahead));
    let timestamps =
        clock.map(|ticks| Timestamps { value: script.millis().wrapping_add_signed(ticks), echo: 0 });
    Segment { seq, timestamps, ..script.syn(Flags::SYN, None) }
}

/// RFC 6191 §2, if the old connection used timestamps: a SYN with a later timestamp reopens the connection.
#[test]
fn a_later_clock_opens_again() {
    let script = waiting(true);
    let yields = |ahead, clock| script.endpoint.may_be_replaced_by(&syn(&script, ahead, clock));
    assert!(yields(-500_000, Some(1)), "a later timestamp reopens at any sequence number");
    assert!(
        yields(1, Some(0)) && !yields(0, Some(0)),
        "the same timestamp reopens only at a larger sequence number"
    );
    assert!(!yields(500_000, Some(-1)), "an earlier timestamp never reopens");
    assert!(
        yields(1, None) && !yields(0, None),
        "a SYN without timestamps reopens only at a larger sequence number"
    );
}

/// RFC 6191 §2, if the old connection used no timestamps: the SYN's sequence number must be "greater than the last
/// sequence number seen", here RCV.NXT.
#[test]
fn a_larger_number_opens_again() {
    let script = waiting(false);
    let yields = |ahead| script.endpoint.may_be_replaced_by(&syn(&script, ahead, None));
    assert!(yields(1) && yields(1 << 30) && !yields(0) && !yields(-1));
    // If the SYN has timestamps although the old connection had none, any sequence number reopens, but only if this end
    // is configured to use timestamps.
    assert!(!script.endpoint.may_be_replaced_by(&syn(&script, -1, Some(1))));
    let peer = Peer { mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.run([Close, Bytes(0, 0)]);
    let both = Segment { flags: Flags::FIN | Flags::ACK, ack: ISS.at(2), ..script.plain() };
    script.arrive(both);
    assert!(script.endpoint.may_be_replaced_by(&syn(&script, -5000, Some(-7))));
}

/// Only a SYN without ACK, RST and FIN reopens a connection, and only in TIME-WAIT. The new connection's sequence
/// numbers continue those of the old connection.
#[test]
fn nothing_else_opens_again() {
    let script = waiting(false);
    let good = syn(&script, 1, None);
    for flags in [Flags::ACK, Flags::SYN | Flags::ACK, Flags::SYN | Flags::RST, Flags::SYN | Flags::FIN] {
        assert!(!script.endpoint.may_be_replaced_by(&Segment { flags, ..good }), "{flags:?}");
    }
    assert_eq!(script.endpoint.number_after(), ISS.at(2));
    let script = Script::opened(config("sack"), Peer::default());
    assert!(!script.endpoint.may_be_replaced_by(&good));
}

#[test]
fn an_old_syn_does_not_disturb() {
    let mut script = waiting(false);
    script.run([Tick(10_000)]);
    let old = syn(&script, -2, None);
    script.arrive(old);
    script.run([In(State::TimeWait), AckedBytes(1001), Nothing, Deadline(50_000)]);
}

/// A segment beyond the peer's FIN cannot belong to this connection. Such a segment causes an ACK, at a limited rate
/// (RFC 5961 §7). The ACK shows a peer without state that this connection exists (RFC 9293 §3.10.7.4). An ACK with
/// exactly the next sequence number causes no answer, because two ends in TIME-WAIT would answer each other for ever.
#[test]
fn an_ack_from_behind_the_fin_is_answered() {
    let mut script = waiting(false);
    script.run([Tick(20_000)]);
    let next = Segment { seq: IRS.at(1002), ack: ISS.at(2), ..script.plain() };
    script.arrive(next);
    script.run([Nothing, Deadline(40_000)]);
    for (beyond, len) in [(1, 0), (1000, 0), (65_000, 0), (1, 100)] {
        script.arrive(Segment { seq: IRS.at(1002 + beyond), len, ..next });
        script.run([In(State::TimeWait), AckedBytes(1001), Nothing, Deadline(40_000)]);
    }
    let before = script.endpoint.counters().challenges;
    for _ in 0..100 {
        script.arrive(Segment { seq: IRS.at(1003), ..next });
        while script.endpoint.poll_segment(script.now).is_some() {}
    }
    assert_eq!(
        (before, script.endpoint.counters().challenges),
        (4, 5),
        "answers beyond the limit of RFC 5961 §7"
    );
}

/// Only a retransmitted FIN of the peer restarts the 60 s of TIME-WAIT (RFC 9293 §3.10.7.4). Other old segments are
/// acknowledged, but do not restart the 60 s.
#[test]
fn only_a_fin_prolongs_the_wait() {
    let mut script = waiting(false);
    script.run([Tick(20_000)]);
    let remains = Segment { seq: IRS.at(1), len: 1000, ..script.plain() };
    script.arrive(remains);
    script.run([AckedBytes(1001), Nothing, Deadline(40_000)]);
    let fin = Segment { seq: IRS.at(1001), flags: Flags::FIN | Flags::ACK, ..script.plain() };
    for elsewhere in [900, 1 << 30] {
        script.arrive(Segment { seq: IRS.at(elsewhere), ..fin });
        script.run([AckedBytes(1001), Nothing, Deadline(40_000)]);
    }
    script.arrive(fin);
    script.run([AckedBytes(1001), Nothing, Deadline(60_000), Tick(60_000), In(State::Closed), NoDeadline]);
}

#[test]
fn a_segment_of_no_connection_is_reset() {
    let segment = Segment { seq: Seq(77), ack: Seq(99), len: 10, window: 5, ..Segment::default() };
    let of = |flags| reset_for(&Segment { flags, ..segment });
    let with_ack = Segment { seq: Seq(99), flags: Flags::RST, ..Segment::default() };
    assert_eq!(of(Flags::ACK), Some(with_ack));
    assert_eq!(of(Flags::SYN | Flags::ACK), Some(with_ack));
    let without = |ack| Segment { ack: Seq(ack), flags: Flags::RST | Flags::ACK, ..Segment::default() };
    assert_eq!(of(Flags::SYN), Some(without(88)));
    assert_eq!(of(Flags::SYN | Flags::FIN), Some(without(89)));
    assert_eq!(of(Flags::default()), Some(without(87)));
    assert_eq!(of(Flags::RST), None);
    assert_eq!(of(Flags::RST | Flags::ACK), None);
}

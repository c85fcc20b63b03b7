//! Closing and aborting a connection (RFC 9293 §3.6, §3.10.4 and §3.10.5).

mod script;

use lasthop_tcp::endpoint::EndReason;
use lasthop_tcp::{Event, Role, State};
use lasthop_wire::{Flags, Segment};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

const SYN_ACK: Flags = Flags(0x12);
const FIN_ACK: Flags = Flags(0x11);
const RST_ACK: Flags = Flags(0x14);

fn opened() -> Script {
    Script::opened(config("sack"), Peer::default())
}

fn passive() -> Script {
    let mut script = Script::closed(config("sack"), Role::Passive, Peer::default());
    script.endpoint.open(script.now);
    script.run([In(State::Listen), Nothing, NoDeadline]);
    script
}

fn fin(script: &mut Script) {
    let segment = Segment { flags: FIN_ACK, ..script.plain() };
    script.arrive(segment);
}

fn ack_after_fin(script: &mut Script, bytes: u64) {
    let plain = script.plain();
    script.arrive(Segment { seq: plain.seq.at(1), ack: ISS.at(1 + bytes), ..plain });
}

#[track_caller]
fn expect_fin(script: &mut Script, bytes: u64) {
    let segment = script.sent("a FIN").segment;
    assert!(segment.flags.has(Flags::FIN), "{segment:?}");
    assert_eq!((segment.seq, segment.len), (ISS.at(1 + bytes), 0));
}

#[track_caller]
fn expect_flags(script: &mut Script, flags: Flags) -> Segment {
    let segment = script.sent("a segment").segment;
    assert_eq!(segment.flags, flags, "{segment:?}");
    segment
}

/// RFC 9293 §3.10.7.4, seventh step: "this should not occur since a FIN has been received". Data after the peer's FIN
/// is not delivered.
#[test]
fn data_behind_the_fin() {
    for closes in [false, true] {
        let mut script = opened();
        script.run([Data(1), Acked(2)]);
        fin(&mut script);
        script.run([In(State::CloseWait), AckedBytes(1001)]);
        if closes {
            script.run([Close, In(State::LastAck)]);
            expect_fin(&mut script, 0);
        }
        // Data arrives at the FIN's sequence number, 1001, then at 1002. No ACK or SACK block covers this data.
        for at in [1001, 1002] {
            let behind = Segment { seq: IRS.at(at), len: 100, ..script.plain() };
            script.arrive(behind);
            let ack = script.sent("an ACK").segment;
            assert_eq!((ack.ack, ack.sack.len()), (IRS.at(1002), 0), "{at}");
            script.run([Nothing]);
            assert_eq!(script.endpoint.delivered(), 1000, "{at}");
        }
    }
}

/// RFC 9293 §3.6, Fig. 12: this end closes first. TIME-WAIT lasts 60 s.
#[test]
fn active_close() {
    let mut script = opened();
    script.run([Write(500), Bytes(0, 500), Close, In(State::FinWait1)]);
    expect_fin(&mut script, 500);
    script.run([AckBytes(500), In(State::FinWait1), AckBytes(501), In(State::FinWait2), NoDeadline]);
    script.run([Data(1), Acked(2)]);
    fin(&mut script);
    script.run([In(State::TimeWait), AckedBytes(1001), Nothing, Deadline(60_000)]);
    // §3.10.7.4: a retransmitted FIN in TIME-WAIT is acknowledged, and the 60 s begin anew.
    script.run([Tick(30_000)]);
    fin(&mut script);
    script.run([
        AckedBytes(1001),
        Nothing,
        Deadline(60_000),
        Tick(60_000),
        In(State::Closed),
        Nothing,
        NoDeadline,
    ]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Closed));
    let last = std::iter::from_fn(|| script.endpoint.poll_event()).last();
    assert_eq!(last, Some((script.now, Event::Closed)));
}

/// RFC 9293 §3.6, Fig. 12, side of TCP Peer B: the peer closes first.
#[test]
fn passive_close() {
    let mut script = opened();
    fin(&mut script);
    script.run([
        In(State::CloseWait),
        AckedBytes(1),
        Nothing,
        Write(1000),
        New(1),
        Close,
        In(State::LastAck),
    ]);
    expect_fin(&mut script, 1000);
    ack_after_fin(&mut script, 1000);
    script.run([In(State::LastAck)]);
    ack_after_fin(&mut script, 1001);
    script.run([In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Closed));
}

/// RFC 9293 §3.6, Fig. 13: each end closes before the FIN of its peer arrives.
#[test]
fn simultaneous_close() {
    let mut script = opened();
    script.run([Close, In(State::FinWait1)]);
    expect_fin(&mut script, 0);
    fin(&mut script);
    script.run([In(State::Closing), AckedBytes(1)]);
    ack_after_fin(&mut script, 1);
    script.run([In(State::TimeWait), Deadline(60_000)]);
}

#[test]
fn fin_and_ack_in_one() {
    let mut script = opened();
    script.run([Close]);
    expect_fin(&mut script, 0);
    let both = Segment { flags: FIN_ACK, ack: ISS.at(2), ..script.plain() };
    script.arrive(both);
    script.run([In(State::TimeWait), AckedBytes(1)]);
}

#[test]
fn a_fin_out_of_order() {
    let mut script = opened();
    let ahead = Segment { seq: IRS.at(1001), flags: FIN_ACK, ..script.plain() };
    script.arrive(ahead);
    script.run([In(State::Established), AckedBytes(0)]);
    script.run([DataBytes(0, 1000), In(State::CloseWait), AckedBytes(1001), Nothing]);
    script.arrive(ahead);
    script.run([AckedBytes(1001), Nothing]);
    let mut script = opened();
    let ahead = Segment { seq: IRS.at(1001), len: 500, flags: FIN_ACK, ..script.plain() };
    script.arrive(ahead);
    script.run([
        In(State::Established),
        AckedBytes(0),
        DataBytes(0, 1000),
        In(State::CloseWait),
        AckedBytes(1501),
    ]);
    assert_eq!(script.endpoint.delivered(), 1500);
}

#[test]
fn a_lost_fin() {
    let mut script = opened();
    script.run([Close]);
    expect_fin(&mut script, 0);
    script.run([Deadline(1000), Timeout]);
    expect_fin(&mut script, 0);
    script.run([AckBytes(1), In(State::FinWait2), NoDeadline]);
    for recovery in ["tahoe", "reno", "new_reno", "sack"] {
        let setup = lasthop_tcp::Config { initial_window: 3, ..config(recovery) };
        let mut script = Script::opened(setup, Peer::default());
        script.run([Write(3000), Close, New(1), New(2)]);
        let last = script.sent("the last").segment;
        assert!(last.flags.has(Flags::FIN) && last.len == 1000);
        script.run([Nothing, Timeout, Again(1), Nothing, Timeout, Again(1), Ack(3)]);
        let last = script.sent("the last").segment;
        assert!(last.flags.has(Flags::FIN) && last.len == 1000);
        script.run([AckBytes(3001), In(State::FinWait2)]);
    }
}

#[test]
fn a_fin_takes_no_room() {
    for recovery in ["tahoe", "reno", "new_reno", "sack"] {
        let setup = lasthop_tcp::Config { initial_window: 3, ..config(recovery) };
        let mut script = Script::opened(setup, Peer::default());
        script.run([Write(3000), Close, New(1), New(2)]);
        assert!(script.sent("the last").segment.flags.has(Flags::FIN));
        script.run([Timeout, Again(1), Nothing, Ack(2), Cwnd(2), Again(2)]);
        let last = script.sent("the last segment retransmitted").segment;
        assert!(last.flags.has(Flags::FIN) && last.len == 1000);
    }
}

/// RFC 9293 §3.10.4: closing in SYN-SENT deletes the connection. Closing in SYN-RECEIVED waits until the connection is
/// open, then sends data and FIN.
#[test]
fn closing_early() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    expect_flags(&mut script, Flags::SYN);
    script.run([Close, In(State::Closed), Nothing, NoDeadline]);
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    script.run([Write(100), Close, In(State::SynReceived), Nothing, Ack(1), In(State::FinWait1)]);
    let last = script.sent("data and FIN").segment;
    assert!(last.flags.has(Flags::FIN) && last.len == 100);
    script.run([Nothing, AckBytes(101), In(State::FinWait2)]);
}

#[test]
fn writing_after_closing() {
    let mut script = opened();
    script.run([Write(100), Close]);
    let last = script.sent("data and FIN").segment;
    assert!(last.flags.has(Flags::FIN) && last.len == 100);
    script.run([Write(1000), Nothing, AckBytes(101), In(State::FinWait2), Nothing]);
}

/// RFC 9293 §3.10.5: an abort sends a reset. In LAST-ACK both ends have closed, and an abort sends nothing.
#[test]
fn aborting() {
    let mut script = opened();
    script.run([Write(1000), New(1)]);
    script.endpoint.abort();
    assert_eq!(expect_flags(&mut script, RST_ACK).seq, ISS.at(1001));
    script.run([In(State::Closed), NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Aborted));
    let mut script = opened();
    fin(&mut script);
    script.run([AckedBytes(1), Close, In(State::LastAck)]);
    script.endpoint.abort();
    script.run([In(State::Closed), Nothing, NoDeadline]);
}

/// RFC 9293 §3.10.7.4: a reset in TIME-WAIT ends the connection at once.
#[test]
fn a_reset_in_time_wait() {
    let mut script = opened();
    script.run([Close]);
    expect_fin(&mut script, 0);
    let both = Segment { flags: FIN_ACK, ack: ISS.at(2), ..script.plain() };
    script.arrive(both);
    script.arrive(Segment { seq: IRS.at(2), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Closed));
}

/// A connection that a reset has closed has no running timer. A timer would wake the connection's caller for ever.
#[test]
fn no_timer_survives() {
    let mut script = opened();
    script.run([Write(5000), New(1), DataBytes(0, 100)]);
    script.arrive(Segment { seq: IRS.at(101), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), NoDeadline, Nothing]);
}

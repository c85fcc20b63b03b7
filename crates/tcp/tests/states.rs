//! Opening and resetting a connection (RFC 9293 §3.5, §3.10, and RFC 5961).

mod script;

use lasthop_base::{Duration, Time};
use lasthop_tcp::endpoint::EndReason;
use lasthop_tcp::{Endpoint, Role, State};
use lasthop_wire::{Flags, Segment, Seq};
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

#[track_caller]
fn expect_flags(script: &mut Script, flags: Flags) -> Segment {
    let segment = script.sent("a segment").segment;
    assert_eq!(segment.flags, flags, "{segment:?}");
    segment
}

/// RFC 9293 §3.5, Fig. 6: the three-way handshake at the passive end.
#[test]
fn passive_open() {
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    script.run([In(State::SynReceived)]);
    let answer = expect_flags(&mut script, SYN_ACK);
    assert_eq!((answer.seq, answer.ack), (ISS, IRS.at(1)));
    script.run([Nothing, Deadline(1000), Tick(100), Ack(1), In(State::Established), Nothing, NoDeadline]);
    // The handshake gives an RTT sample of 100 ms.
    assert_eq!(script.endpoint.sender().rtt().srtt(), Some(Duration::from_millis(100)));
}

#[test]
fn data_completes_the_handshake() {
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    script.run([Data(1), In(State::Established), Acked(2), Nothing]);
    assert_eq!(script.endpoint.delivered(), 1000);
}

/// RFC 6298 §5: SYN and SYN-ACK are retransmitted, and the RTO doubles each time. A retransmitted SYN or SYN-ACK gives
/// no RTT sample.
#[test]
fn lost_handshake_segments() {
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    for wait in [1000, 2000, 4000] {
        script.run([Deadline(wait), Tick(wait)]);
        let again = script.sent("the retransmitted SYN-ACK");
        assert!(again.is_retransmission && again.segment.flags == SYN_ACK && again.segment.seq == ISS);
    }
    script.run([Tick(100), Ack(1), In(State::Established), NoDeadline]);
    assert_eq!(script.endpoint.sender().rtt().srtt(), None);
    // RFC 5681 §3.1: if the SYN was lost more than once, the initial window is one segment, not ten.
    let mut script = Script::closed(
        lasthop_tcp::Config { initial_window: 10, ..config("sack") },
        Role::Active,
        Peer::default(),
    );
    script.endpoint.open(script.now);
    expect_flags(&mut script, Flags::SYN);
    for _ in 0..2 {
        script.run([Timeout]);
        expect_flags(&mut script, Flags::SYN);
    }
    let answer = script.syn(SYN_ACK, None);
    script.arrive(answer);
    script.run([Acked(1), Write(10_000), New(1), Nothing, Cwnd(1)]);
}

/// A repeated SYN shows that the SYN-ACK was lost, so the SYN-ACK is retransmitted, as in Linux. RFC 9293 §3.10.7.4
/// answers a repeated SYN with a pure ACK, which would have no effect in SYN-SENT. A retransmitted SYN-ACK gives no RTT
/// sample (Karn's algorithm). SYNs may be forged, so at most five are answered at once, like challenge ACKs (RFC 5961
/// §7).
#[test]
fn a_syn_again_gets_the_syn_ack_again() {
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    for _ in 0..5 {
        script.run([Tick(100)]);
        script.arrive(syn);
        let again = script.sent("the retransmitted SYN-ACK");
        assert!(again.is_retransmission && again.segment.flags == SYN_ACK);
        assert_eq!((again.segment.seq, again.segment.ack), (ISS, IRS.at(1)));
        script.run([In(State::SynReceived), Nothing, Deadline(1000)]);
    }
    script.arrive(syn);
    script.run([Nothing, Tick(100), Ack(1), In(State::Established), NoDeadline]);
    assert_eq!(script.endpoint.sender().rtt().srtt(), None);
}

/// RFC 6928 §2: the default initial window is ten segments of up to 1460 bytes.
#[test]
fn ten_segments_to_begin_with() {
    let setup = lasthop_tcp::Config {
        initial_window: lasthop_tcp::Config::default().initial_window,
        ..config("sack")
    };
    let mut script = Script::opened(setup, Peer::default());
    script.run([Write(20_000), News(1, 10), Nothing]);
}

/// A repeated SYN-ACK shows that the handshake's ACK was lost, so the ACK is repeated (RFC 9293 §3.5). A SYN in an open
/// connection causes a challenge ACK (RFC 5961 §4).
#[test]
fn a_syn_in_a_connection_is_challenged() {
    let mut script = opened();
    let again = script.syn(SYN_ACK, None);
    script.arrive(again);
    script.run([In(State::Established), Acked(1), Nothing]);
    let mut syn = script.syn(Flags::SYN, None);
    syn.seq = IRS.at(500);
    script.arrive(syn);
    script.run([In(State::Established), Acked(1), Nothing]);
}

/// RFC 9293 §3.5, Fig. 7, simultaneous open: both ends send a SYN, and each SYN-ACK completes the handshake at the
/// other end.
#[test]
fn simultaneous_open() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    expect_flags(&mut script, Flags::SYN);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    script.run([In(State::SynReceived)]);
    let answer = expect_flags(&mut script, SYN_ACK);
    assert_eq!((answer.seq, answer.ack), (ISS, IRS.at(1)));
    let crossed = script.syn(SYN_ACK, None);
    script.arrive(crossed);
    script.run([In(State::Established), NoDeadline, Write(1000), New(1), Data(1), AckedBytes(1000)]);
}

/// A simultaneous open between two endpoints of this crate reaches ESTABLISHED at both ends, and no timer runs then.
#[test]
fn two_endpoints_open_at_once() {
    let stream = || lasthop_base::Stream::named(1, "open");
    let mut ends = [ISS, IRS].map(|iss| Endpoint::new(config("sack"), Role::Active, iss, stream()));
    let mut now = Time::ZERO;
    ends.iter_mut().for_each(|end| end.open(now));
    for _ in 0..6 {
        now += Duration::from_millis(10);
        let sent =
            ends.each_mut().map(|end| std::iter::from_fn(|| end.poll_segment(now)).collect::<Vec<_>>());
        for (from, segments) in sent.iter().enumerate() {
            for sending in segments {
                ends[1 - from].handle_segment(now, &sending.segment, &Default::default());
            }
        }
    }
    for end in &mut ends {
        assert_eq!((end.state(), end.poll_segment(now)), (State::Established, None));
        assert_eq!(end.poll_timeout(), Time::NEVER);
    }
}

/// RFC 9293 §3.10.7.3, in SYN-SENT: an ACK of unsent data causes a reset. A reset is accepted only if its ACK number
/// covers our SYN.
#[test]
fn syn_sent_rejects_wrong_acks() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    expect_flags(&mut script, Flags::SYN);
    let mut wrong = script.syn(SYN_ACK, None);
    wrong.ack = ISS.at(2);
    script.arrive(wrong);
    let reset = expect_flags(&mut script, Flags::RST);
    assert_eq!(reset.seq, ISS.at(2));
    script.arrive(Segment { flags: Flags::RST, ..Segment::default() });
    script.arrive(Segment { flags: RST_ACK, ack: ISS.at(7), ..Segment::default() });
    script.run([In(State::SynSent), Nothing]);
    script.arrive(Segment { flags: RST_ACK, ack: ISS.at(1), ..Segment::default() });
    script.run([In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Refused));
}

/// RFC 9293 §3.5.2: a segment to a closed port causes a reset. If the segment has an ACK number, this number is the
/// sequence number of the reset. Otherwise the reset acknowledges the segment.
#[test]
fn a_closed_port_resets() {
    let mut script = opened();
    script.endpoint.abort();
    let reset = expect_flags(&mut script, RST_ACK);
    assert_eq!((reset.seq, reset.ack), (ISS.at(1), IRS.at(1)));
    script.run([In(State::Closed), Nothing, NoDeadline]);
    script.arrive(Segment { seq: Seq(77), ack: Seq(99), flags: Flags::ACK, ..Segment::default() });
    assert_eq!(expect_flags(&mut script, Flags::RST).seq, Seq(99));
    script.arrive(Segment { seq: Seq(77), len: 10, flags: Flags::FIN, ..Segment::default() });
    let reset = expect_flags(&mut script, RST_ACK);
    assert_eq!((reset.seq, reset.ack), (Seq(0), Seq(88)));
    script.arrive(Segment { flags: Flags::RST, ..Segment::default() });
    script.run([Nothing]);
}

/// RFC 9293 §3.5, Fig. 8: an old duplicate SYN reaches a listener. The peer answers the SYN-ACK with a reset, and the
/// listener returns to LISTEN. The next SYN opens the connection.
#[test]
fn an_old_syn_at_a_listener() {
    let mut script = passive();
    let old = Segment { seq: Seq(90), ..script.syn(Flags::SYN, None) };
    script.arrive(old);
    let answer = expect_flags(&mut script, SYN_ACK);
    assert_eq!(answer.ack, Seq(91));
    script.arrive(Segment { seq: Seq(91), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Listen), Nothing, NoDeadline]);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    assert_eq!(expect_flags(&mut script, SYN_ACK).ack, IRS.at(1));
    script.run([Ack(1), In(State::Established)]);
}

/// RFC 9293 §3.10.7.2: a listener ignores resets, answers an ACK with a reset, opens the connection for a SYN, and
/// drops all other segments (fourth step). A SYN with FIN is also dropped, as in Linux (see
/// docs/development/conformance.md).
#[test]
fn what_a_listener_answers() {
    let mut script = passive();
    let of = |flags| Segment { seq: Seq(77), ack: Seq(99), flags, ..Segment::default() };
    let ignored = [
        Flags::default(),
        Flags::FIN,
        Flags::PSH,
        Flags::FIN | Flags::PSH | Flags::URG,
        Flags::SYN | Flags::FIN,
        Flags::SYN | Flags::RST,
        Flags::RST,
        RST_ACK,
    ];
    for flags in ignored {
        for len in [0, 10] {
            script.arrive(Segment { len, ..of(flags) });
            script.run([In(State::Listen), Nothing, NoDeadline]);
        }
    }
    for flags in [Flags::ACK, SYN_ACK, FIN_ACK] {
        script.arrive(of(flags));
        assert_eq!(expect_flags(&mut script, Flags::RST).seq, Seq(99));
        script.run([In(State::Listen), Nothing, NoDeadline]);
    }
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    script.run([Ack(1), In(State::Established)]);
}

/// RFC 9293 §3.10.7.4, MUST-11: an endpoint that came to SYN-RECEIVED from SYN-SENT does not return to LISTEN after a
/// reset. The connection ends as refused.
#[test]
fn a_reset_during_simultaneous_open() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    expect_flags(&mut script, Flags::SYN);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    script.arrive(Segment { seq: IRS.at(1), ..syn });
    script.run([In(State::SynReceived), AckedBytes(0), Nothing]);
    script.arrive(Segment { seq: IRS.at(1), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Refused));
}

/// RFC 9293 §3.10.7.4: in SYN-RECEIVED, an ACK with an invalid ACK number causes a reset.
#[test]
fn syn_received_rejects_wrong_acks() {
    let mut script = passive();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    expect_flags(&mut script, SYN_ACK);
    for wrong in [ISS, ISS.at(2), Seq(12)] {
        let segment = Segment { ack: wrong, ..script.plain() };
        script.arrive(segment);
        assert_eq!(expect_flags(&mut script, Flags::RST).seq, wrong);
    }
    script.run([In(State::SynReceived), Ack(1), In(State::Established)]);
}

/// RFC 9293 §3.5.1, Fig. 9: the peer has crashed and sends a new SYN. Our challenge ACK makes the peer reset the old
/// connection.
#[test]
fn a_half_open_connection() {
    let mut script = opened();
    script.run([Write(1000), New(1), Data(1), Acked(2)]);
    let syn = Segment { seq: Seq(4000), ..script.syn(Flags::SYN, None) };
    script.arrive(syn);
    let challenge = script.sent("the challenge").segment;
    assert_eq!((challenge.seq, challenge.ack), (ISS.at(1001), IRS.at(1001)));
    // The reset has the sequence number that our challenge ACK expects, as <SEQ=100><CTL=RST> in Fig. 9.
    script.arrive(Segment { seq: challenge.ack, flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Reset));
}

/// RFC 5961 §3: a reset closes the connection only if its sequence number is RCV.NXT. Any other number inside the
/// window causes a challenge ACK. A reset outside the window is ignored.
#[test]
fn inexact_resets() {
    let mut script = opened();
    script.arrive(Segment { seq: IRS.at(100), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Established), Acked(1), Nothing]);
    script.arrive(Segment { seq: IRS.at(1 << 30), flags: Flags::RST, ..Segment::default() });
    script.arrive(Segment { seq: IRS, flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Established), Nothing]);
    script.arrive(Segment { seq: IRS.at(1), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), Nothing]);
}

/// RFC 5961 §5: a segment whose ACK number is above SND.NXT, or older than the largest window, causes a challenge ACK
/// and is dropped.
#[test]
fn senseless_acks_are_challenged() {
    let mut script = opened();
    script.run([Write(5000), New(1), Ack(2), New(2), New(3)]);
    for wrong in [ISS.at(3002), ISS.at(1 << 30), Seq(ISS.0.wrapping_sub(70_000))] {
        let segment = Segment { ack: wrong, len: 100, ..script.plain() };
        script.arrive(segment);
        script.run([AckedBytes(0), Nothing]);
    }
    assert_eq!(script.endpoint.delivered(), 0);
    // A segment with an old ACK number within the window is valid, and its data is accepted.
    let old = Segment { ack: ISS.at(1), len: 100, ..script.plain() };
    script.arrive(old);
    script.run([AckedBytes(100), Nothing, InFlight(2)]);
    // RFC 9293 §3.10.7.4, fifth step: a segment without the ACK flag is silently dropped.
    let mute = Segment { seq: IRS.at(101), flags: Flags::PSH, len: 100, ..Segment::default() };
    script.arrive(mute);
    script.run([Nothing]);
    assert_eq!(script.endpoint.delivered(), 100);
}

/// RFC 5961 §5.2: an ACK is acceptable if SND.UNA - MAX.SND.WND =< SEG.ACK. The largest window was 60,000 bytes, so an
/// ACK may be 60,000 bytes old.
#[test]
fn how_old_an_ack_may_be() {
    for (behind, taken) in [(60_000, 100), (60_001, 0), (99_000, 0)] {
        let mut script = Script::sender(config("sack"));
        while script.endpoint.sender().scoreboard().una() < 100_001 {
            while script.endpoint.poll_segment(script.now).is_some() {}
            let outstanding = script.endpoint.sender().scoreboard().nxt() - 1;
            script.run([AckBytes(outstanding)]);
        }
        while script.endpoint.poll_segment(script.now).is_some() {}
        let una = script.endpoint.sender().scoreboard().una();
        let old = Segment { ack: ISS.at(una - behind), len: 100, ..script.plain() };
        script.arrive(old);
        script.run([AckedBytes(taken)]);
        assert_eq!(script.endpoint.delivered(), taken, "{behind}");
    }
}

//! Challenge ACKs (RFC 5961), and the limit on their number (§7).

mod script;

use lasthop_tcp::{Config, State};
use lasthop_wire::{Flags, Segment, Timestamps};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

fn opened() -> Script {
    Script::opened(config("sack"), Peer::default())
}

fn drain(script: &mut Script) -> usize {
    std::iter::from_fn(|| script.endpoint.poll_segment(script.now)).count()
}

/// RFC 5961 §7 suggests at most ten challenge ACKs in any five seconds. The endpoint sends up to five at once, and then
/// one per second.
#[test]
fn challenges_are_limited() {
    let mut script = opened();
    let forged = [
        Segment { seq: IRS.at(100), flags: Flags::RST, ..Segment::default() },
        Segment { seq: IRS.at(100), flags: Flags::SYN, ..Segment::default() },
        Segment { ack: ISS.at(1 << 30), ..script.plain() },
    ];
    let mut sent_at = Vec::new();
    for step in 0..400u64 {
        for segment in forged {
            script.arrive(segment);
            (0..drain(&mut script)).for_each(|_| sent_at.push(step * 50));
        }
        script.tick(50);
    }
    assert!(sent_at.len() > 20, "too few challenge ACKs in 20 s, sent at (ms): {sent_at:?}");
    for first in &sent_at {
        let in_five_seconds = sent_at.iter().filter(|at| (*first..first + 5000).contains(*at)).count();
        assert!(in_five_seconds <= 10, "{in_five_seconds} challenge ACKs in 5 s from {first} ms on");
    }
    assert_eq!(script.endpoint.counters().challenges, sent_at.len() as u64);
    let mut other = opened();
    other.arrive(forged[0]);
    other.run([Acked(1), Nothing]);
}

/// RFC 9293 §3.4, Table 6: a segment is acceptable if RCV.NXT =< SEG.SEQ < RCV.NXT + RCV.WND. RFC 5961 §3.2: a reset
/// inside this window causes a challenge ACK, and a reset outside is silently dropped. The window is 65,535 bytes from
/// number 1 on, so 65,536 is outside.
#[test]
fn the_right_edge_is_outside_the_window() {
    let reset = |seq| Segment { seq, flags: Flags::RST, ..Segment::default() };
    for (at, challenged) in [(2, true), (65_535, true), (65_536, false), (65_537, false), (0, false)] {
        let mut script = opened();
        script.arrive(reset(IRS.at(at)));
        script.run([In(State::Established)]);
        assert_eq!(drain(&mut script), usize::from(challenged), "{at}");
        assert_eq!(script.endpoint.counters().challenges, u64::from(challenged), "{at}");
    }
    // A closed window (RCV.WND = 0) contains only RCV.NXT, 1001: a reset at 1002 is dropped, and a reset at 1001 closes
    // the connection.
    let window = script::choose(
        lasthop_tcp::receiver::window::ALL,
        "buffer",
        &[("size", lasthop_base::Value::Bytes(1000))],
    );
    let mut script = Script::opened(Config { window, ..config("sack") }, Peer::default());
    script.run([Data(1)]);
    script.endpoint.hold_unread(1000);
    script.run([Acked(2)]);
    script.arrive(reset(IRS.at(1002)));
    script.run([In(State::Established), Nothing]);
    script.arrive(reset(IRS.at(1001)));
    script.run([In(State::Closed), Nothing]);
}

/// A peer that has filled our receive window sends its ACKs with SEG.SEQ at the right edge of this window. These ACKs
/// must count even if the peer's data was lost, otherwise both directions would stop until a timeout. A segment one
/// number further is rejected (RFC 9293 §3.4, Table 6).
#[test]
fn an_ack_from_the_right_edge_counts() {
    for (at, counts) in [(65_536, true), (65_537, false)] {
        let mut script = opened();
        script.run([Write(1000), New(1)]);
        let ack = Segment { seq: IRS.at(at), ack: ISS.at(1001), ..script.plain() };
        script.arrive(ack);
        if counts {
            script.run([InFlight(0), Nothing, NoDeadline])
        } else {
            script.run([InFlight(1), AckedBytes(0), Nothing])
        };
        script.arrive(Segment { seq: IRS.at(65_536), ..Segment::default() });
        script.run([AckedBytes(0), Nothing]);
    }
}

#[test]
fn repeated_data_is_always_acknowledged() {
    let mut script = opened();
    script.run([Data(1), Acked(2)]);
    let forged = Segment { seq: IRS.at(1500), flags: Flags::RST, ..Segment::default() };
    (0..20).for_each(|_| script.arrive(forged));
    drain(&mut script);
    let before = script.endpoint.counters().challenges;
    script.arrive(forged);
    script.run([Nothing]);
    assert_eq!(script.endpoint.counters().challenges, before);
    for _ in 0..20 {
        script.run([Data(1), Acked(2), Nothing]);
    }
}

#[test]
fn a_quarrel_ends() {
    let mut script = opened();
    let strange = Segment { seq: IRS.at(1 << 30), ..script.plain() };
    let mut answers = 0;
    for _ in 0..1000 {
        script.arrive(strange);
        answers += drain(&mut script);
    }
    assert_eq!(answers, 5);
}

/// The ACK check of RFC 5961 §5.2 precedes the timestamp update of RFC 7323 §4.3. A forged segment with an invalid ACK
/// number thus does not update TS.Recent, and PAWS accepts the peer's next data.
#[test]
fn a_forged_timestamp_does_not_shut_the_peer_out() {
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    let ahead = Timestamps { value: script.millis().wrapping_add(1 << 30), echo: 0 };
    let forged = Segment { ack: ISS.at(1 << 29), len: 1, timestamps: Some(ahead), ..script.plain() };
    script.arrive(forged);
    script.run([Acked(1), Tick(10), Data(1), Acked(2)]);
    assert_eq!(script.endpoint.delivered(), 1000);
}

/// RFC 9293 §3.10.7.4: a new SYN in SYN-RECEIVED returns the passive side to LISTEN. The retransmission of this SYN is
/// then accepted.
#[test]
fn a_new_syn_in_syn_received() {
    let mut script = Script::closed(config("sack"), lasthop_tcp::Role::Passive, Peer::default());
    script.endpoint.open(script.now);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    script.sent("the SYN-ACK");
    let reborn = Segment { seq: IRS.at(1000), ..syn };
    script.arrive(reborn);
    script.run([In(State::Listen), Nothing, NoDeadline]);
    script.arrive(reborn);
    assert_eq!(script.sent("the SYN-ACK").segment.ack, IRS.at(1001));
}

/// RFC 9293 §3.5.1: a peer that has restarted sends a SYN, possibly without timestamps although the connection uses
/// them. The challenge ACK must be sent anyway, because it shows the peer that the old connection still exists.
#[test]
fn a_syn_without_timestamps_is_challenged() {
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.arrive(Segment { seq: IRS.at(70), flags: Flags::SYN, ..Segment::default() });
    script.run([In(State::Established), Acked(1), Nothing]);
}

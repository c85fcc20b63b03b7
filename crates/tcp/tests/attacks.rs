//! Tests that known attacks on TCP do not disturb a connection.
//!
//! The attacker is a host off the path (blind attacks, RFC 5961) or the peer. Attacks by the peer are those of Savage,
//! Cardwell, Wetherall and Anderson ("TCP Congestion Control with a Misbehaving Receiver", 1999). Other attacks by the
//! peer aim at excessive work or memory use.

mod script;

use lasthop_base::{Choice, Duration, Value};
use lasthop_tcp::receiver::window;
use lasthop_tcp::sender::ack_counting;
use lasthop_tcp::{Config, Event, State};
use lasthop_wire::{Flags, Segment, Seq, Timestamps};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, choose, config};

fn opened() -> Script {
    Script::opened(config("sack"), Peer::default())
}

/// Discards all outgoing segments. Returns their number and their bytes of data.
fn drain(script: &mut Script) -> (u64, u64) {
    let mut sum = (0, 0);
    while let Some(sending) = script.endpoint.poll_segment(script.now) {
        sum = (sum.0 + 1, sum.1 + u64::from(sending.segment.len));
    }
    sum
}

/// "Slipping in the window" (2004): the attacker sends a reset or SYN into each possible window of the whole sequence
/// space. RFC 5961 §3 and §4 prevent this attack: only a reset with the exact sequence number closes the connection.
/// All other sequence numbers cause challenge ACKs.
#[test]
fn blind_resets_and_syns() {
    for flags in [Flags::RST, Flags::SYN, Flags::RST | Flags::ACK, Flags::SYN | Flags::ACK] {
        let mut script = opened();
        script.run([Data(1), Acked(2)]);
        let mut answers = 0;
        for number in (7..1u64 << 32).step_by(16_384) {
            let seq = Seq(number as u32);
            assert_ne!(seq, IRS.at(1001), "the exact sequence number must not be among the guesses");
            script.arrive(Segment { seq, flags, ..Segment::default() });
            answers += drain(&mut script).0;
        }
        assert!((1..=5).contains(&answers), "{answers} challenge ACKs at one instant, not 1 to 5");
        script.run([In(State::Established), Tick(5000), Data(2), Acked(3), Write(1000), New(1)]);
    }
}

/// RFC 5961 §5: forged data is accepted only if its ACK number lies in the last window, that is for 65,535 of 2^32
/// numbers. RFC 793 would accept half of all numbers. The guesses are 65,536 apart, so at most one succeeds.
#[test]
fn blind_data() {
    let mut taken = 0;
    for step in 0..1 << 16 {
        let mut script = opened();
        let ack = Seq((step << 16) | 0x1234);
        let segment = Segment { ack, len: 1, ..script.plain() };
        script.arrive(segment);
        taken += script.endpoint.delivered();
    }
    assert!(taken <= 1, "{taken} of 65536 guesses were accepted");
}

fn counted(name: &str) -> Script {
    let ack_counting = Choice::named(ack_counting::ALL, name);
    let mut script = Script::opened(
        Config { ack_counting, initial_window: 4, ..config("sack") },
        Peer { window: u16::MAX, ..Peer::default() },
    );
    script.endpoint.write(1 << 30);
    script
}

/// Savage §2.1, ACK division: the peer acknowledges a segment byte by byte. With `bytes` or `packets`, cwnd then grows
/// by one segment in total. In slow start, `rfc5681` also adds no more than the acknowledged bytes. A sender that
/// counts ACKs (`per_ack`, RFC 2581) is vulnerable: cwnd grows by a segment for each of the 1000 ACKs.
#[test]
fn ack_division_in_slow_start() {
    for (name, allowed) in [("bytes", 5000), ("packets", 5000), ("rfc5681", 5000), ("per_ack", 1_004_000)] {
        let mut script = counted(name);
        script.run([News(1, 4)]);
        (1..=1000).for_each(|bytes| {
            script.run([AckBytes(bytes)]);
        });
        script.run([CwndBytes(allowed)]);
    }
}

/// In congestion avoidance, 1000 ACKs per segment increase cwnd no more than one ACK per segment, if the sender counts
/// bytes or packets.
#[test]
fn ack_division_in_avoidance() {
    let growth = |name, pieces: u64| {
        let ack_counting = Choice::named(ack_counting::ALL, name);
        let setup =
            Config { ack_counting, initial_window: 4, initial_ssthresh: Some(2000), ..config("sack") };
        let mut script = Script::opened(setup, Peer::default());
        script.run([Write(4000), News(1, 4)]);
        (1..=4 * pieces).for_each(|piece| {
            script.run([AckBytes(piece * 1000 / pieces)]);
        });
        script.endpoint.sender().window() - 4000
    };
    for name in ["bytes", "packets"] {
        assert_eq!((growth(name, 1), growth(name, 1000)), (1000, 1000), "{name}");
    }
    // Eq. 3 of RFC 5681 counts ACKs and is vulnerable. The RFC recommends byte counting (RFC 3465) as a remedy.
    assert!(growth("rfc5681", 1000) > 10_000 && growth("per_ack", 1000) > 10_000);
}

/// Savage §2.2: forged duplicate ACKs never increase cwnd. Without SACK, each forged duplicate ACK permits at most one
/// new segment. With SACK, a duplicate ACK must report new data, so a forged duplicate ACK permits no segment.
#[test]
fn duplicate_ack_spoofing() {
    for recovery in ["tahoe", "reno", "new_reno", "sack"] {
        let setup = Config { initial_window: 16, ..config(recovery) };
        let mut script = Script::opened(setup, Peer::default());
        script.endpoint.write(1 << 30);
        drain(&mut script);
        let before = script.endpoint.sender().window();
        let mut sent = 0;
        for _ in 0..1000 {
            script.run([Ack(1)]);
            sent += drain(&mut script).0;
            assert!(script.endpoint.sender().window() <= before, "{recovery}");
        }
        let outstanding = script.endpoint.sender().scoreboard().outstanding();
        assert!(outstanding <= 60_000, "{recovery}: {outstanding} bytes exceed the peer's window");
        assert!(
            sent <= if recovery == "sack" { 0 } else { 1000 },
            "{recovery}: {sent} new segments for 1000 forged duplicate ACKs"
        );
        script.run([AckBytes(outstanding), InFlight(0)]);
        assert!(
            script.endpoint.sender().window() <= before + 1000,
            "{recovery}: one ACK raised cwnd by more than a segment"
        );
    }
}

/// Savage §2.3, optimistic ACKs: the peer acknowledges data before it arrives. ACKs of data not yet sent are rejected.
/// ACKs of data in flight increase cwnd by at most this data. The receiver loses data that it has acknowledged but not
/// received, because this data is not retransmitted.
#[test]
fn optimistic_acks() {
    let mut script = counted("bytes");
    script.run([News(1, 4)]);
    for ahead in [4001, 5000, 60_000, 1 << 20] {
        script.run([AckBytes(ahead), Acked(1), CwndBytes(4000), InFlight(4)]);
    }
    let mut sent = 4000;
    for _ in 0..200 {
        script.run([AckBytes(sent)]);
        sent += drain(&mut script).1;
        assert!(script.endpoint.sender().window() <= 4000 + sent);
    }
}

/// CVE-2019-11479: the peer offers a tiny MSS to force tiny packets. Segments nevertheless have at least 64 bytes, TCP
/// options included.
#[test]
fn tiny_segments() {
    for mss in [0, 1, 8, 48] {
        for timestamps in [false, true] {
            let setup = Config { timestamps, initial_window: 4, ..config("sack") };
            let mut script = Script::opened(setup, Peer { mss, timestamps, ..Peer::default() });
            script.run([Write(100_000)]);
            let segment = script.sent("data").segment;
            assert_eq!(
                segment.len + segment.option_bytes(),
                64,
                "MSS {mss}: payload and options must be 64 bytes"
            );
        }
    }
}

/// CVE-2019-11477 and -11478: the peer sends SACK blocks of parts of segments, to fragment the sender's queue of
/// segments. Blocks that cover only part of a segment are not stored.
#[test]
fn sack_of_tiny_pieces() {
    let setup = Config { initial_window: 600, ..config("sack") };
    let mut script = Script::opened(setup, Peer { mss: 64, scale: Some(2), ..Peer::default() });
    script.endpoint.write(1 << 30);
    drain(&mut script);
    let outstanding = script.endpoint.sender().scoreboard().outstanding();
    assert_eq!(outstanding, 600 * 64);
    for round in 0..10_000u64 {
        let at = |k: u64| ISS.at(1 + (round * 977 + k * 131) % (outstanding - 70));
        let mut ack = script.plain();
        (0..4).for_each(|k| ack.sack.push(at(k), at(k).at(1 + round % 63)));
        script.arrive(ack);
    }
    let scoreboard = script.endpoint.sender().scoreboard();
    assert_eq!((scoreboard.sacked(), scoreboard.lost(), scoreboard.outstanding()), (0, 0, outstanding));
    assert_eq!(script.endpoint.counters().duplicate_acks, 0);
}

/// CVE-2018-5390: the peer sends every second byte of the window, to fill the reassembly queue with tiny pieces. The
/// queue holds at most 256 pieces. Bytes that the queue discards are accepted when they are retransmitted.
#[test]
fn reassembly_flood() {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(60_000))]);
    let mut script = Script::opened(Config { window, ..config("sack") }, Peer::default());
    for byte in (1..60_000).step_by(2) {
        let piece = Segment { seq: IRS.at(1 + byte), len: 1, ..script.plain() };
        script.arrive(piece);
        drain(&mut script);
    }
    assert_eq!(script.endpoint.receiver().reassembly().beyond().len(), 256);
    (1..=60).for_each(|number| {
        script.run([Data(number)]);
        drain(&mut script);
    });
    assert_eq!(script.endpoint.delivered(), 60_000);
    assert!(!script.endpoint.receiver().reassembly().has_holes());
}

/// The peer keeps its window closed for ever ("sockstress"). RFC 9293 §3.8.6.1 requires that the connection stays open.
/// The sender probes with one byte a minute, so a day has fewer than 1400 segments.
#[test]
fn a_window_closed_for_ever() {
    let mut script = Script::opened(Config { initial_window: 4, ..config("sack") }, Peer::default());
    script.run([Write(1 << 40), News(1, 4), PeerWindow(0), Ack(5), Nothing]);
    let (start, mut segments) = (script.now, 0);
    while script.now < start + Duration::from_secs(86_400) {
        script.run([Timeout]);
        segments += drain(&mut script).0;
        script.run([Ack(5)]);
    }
    assert!(segments < 1400, "{segments} zero-window probes in a day");
    script.endpoint.abort();
    assert_eq!(script.sent("a reset").segment.flags, Flags::RST | Flags::ACK);
    script.run([In(State::Closed), Nothing, NoDeadline]);
}

#[test]
fn senseless_sack_blocks() {
    let cases: &[&[(u64, u64)]] = &[
        &[(5, 3)],
        &[(4, 4)],
        &[(7, 30)],
        &[(100, 200)],
        &[(0, 1 << 31)],
        &[(1 << 31, (1 << 31) + 5)],
        &[(3, 5), (3, 5), (4, 5), (3, 4)],
        &[(3, 5), (1 << 30, 2)],
    ];
    for blocks in cases {
        let mut script = Script::with_window(config("sack"), 8);
        let mut ack = script.plain();
        for (from, to) in *blocks {
            let at =
                |segment: u64| Seq(ack.ack.0.wrapping_add(segment.wrapping_sub(1).wrapping_mul(1000) as u32));
            ack.sack.push(at(*from), at(*to));
        }
        script.arrive(ack);
        let scoreboard = script.endpoint.sender().scoreboard();
        assert!(scoreboard.sacked() <= 2000, "{blocks:?}: {}", scoreboard.sacked());
        assert!(
            scoreboard.pipe() <= scoreboard.outstanding() && scoreboard.outstanding() == 8000,
            "{blocks:?}"
        );
    }
}

/// The peer sends invalid timestamps. An echo of a time in the future gives no RTT sample. PAWS drops a segment with an
/// old timestamp.
#[test]
fn strange_timestamps() {
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.run([Tick(1000), Data(1), Acked(2), Write(3000), New(1), Timeout, Again(1), Tick(50)]);
    let rto = script.endpoint.sender().rtt().rto();
    let echo = script.millis().wrapping_add(5000);
    let ahead = Segment { ack: ISS.at(1001), timestamps: Some(script.stamps(echo)), ..script.plain() };
    script.arrive(ahead);
    assert_eq!(
        script.endpoint.sender().rtt().rto(),
        rto,
        "an echo of a time in the future gave an RTT sample"
    );
    let past = Timestamps { value: script.millis().wrapping_sub(1100), echo: script.millis() };
    let old = Segment { len: 100, timestamps: Some(past), ..script.plain() };
    script.arrive(old);
    assert_eq!(script.endpoint.delivered(), 1000);
    assert!(std::iter::from_fn(|| script.endpoint.poll_event()).any(|(_, event)| event == Event::Rejected));
}

/// The URG flag is ignored: urgent data is delivered as ordinary data (RFC 6093 advises against urgent data).
#[test]
fn the_urgent_flag_is_ignored() {
    let mut script = opened();
    for number in 1..=3 {
        let urgent = Segment { len: 1000, flags: Flags::ACK | Flags::URG, ..script.plain() };
        script.arrive(Segment { seq: IRS.at(1 + (number - 1) * 1000), ..urgent });
        script.run([Acked(number + 1), Nothing, In(State::Established)]);
    }
    assert_eq!(script.endpoint.delivered(), 3000);
}

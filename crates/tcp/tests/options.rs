//! Options of the handshake and their effects: MSS (RFC 9293 §3.7.1), ECN (RFC 3168 §6.1.1), window scale, timestamps
//! and PAWS (RFC 7323).

mod script;

use lasthop_base::{Choice, Duration, Time, Value};
use lasthop_tcp::event::Cause;
use lasthop_tcp::receiver::loss_discrimination;
use lasthop_tcp::receiver::window;
use lasthop_tcp::{Config, Event, Role, State};
use lasthop_wire::{Ecn, Flags, Segment, Timestamps};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, choose, config};

fn answer(config: Config, peer: Peer) -> (Script, Segment) {
    let mut script = Script::closed(config, Role::Passive, peer);
    script.endpoint.open(script.now);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    let answer = script.sent("the SYN-ACK").segment;
    (script, answer)
}

fn syn(config: Config) -> Segment {
    let mut script = Script::closed(config, Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN").segment
}

/// RFC 6691: the value of the MSS option is the payload of a segment without TCP options. Options that every segment
/// carries, such as timestamps (12 bytes), reduce the payload. The smaller MSS of both ends applies.
#[test]
fn segment_size() {
    assert_eq!(syn(Config { timestamps: true, ..config("sack") }).mss, Some(1012));
    assert_eq!(syn(config("sack")).mss, Some(1000));
    for (mss, timestamps, payload) in
        [(600, false, 600), (600, true, 588), (1460, false, 1000), (1460, true, 1000)]
    {
        let peer = Peer { mss, timestamps, ..Peer::default() };
        let mut script = Script::opened(Config { timestamps, ..config("sack") }, peer);
        script.run([Write(5000), Bytes(0, payload), Nothing, CwndBytes(payload)]);
    }
    // RFC 9293 §3.7.1: if the peer sends no MSS option, its MSS counts as 536 bytes over IPv4 and 1220 over IPv6.
    for (default_mss, payload) in [(536, 536), (1220, 1000)] {
        let mut script =
            Script::closed(Config { default_mss, ..config("sack") }, Role::Active, Peer::default());
        script.endpoint.open(script.now);
        script.endpoint.write(5000);
        script.sent("the SYN");
        let answer = Segment { mss: None, ..script.syn(Flags::SYN | Flags::ACK, None) };
        script.arrive(answer);
        script.run([Bytes(0, payload)]);
    }
}

/// RFC 9293, MUST-16: only options in use reduce the payload. This end has an MSS of 1012 and offers timestamps. If the
/// peer refuses timestamps, segments have up to 1012 bytes of payload, otherwise up to 1000.
#[test]
fn refused_timestamps_take_nothing_from_the_payload() {
    for (mss, agreed, payload) in
        [(1012, true, 1000), (1012, false, 1012), (1460, false, 1012), (1460, true, 1000), (600, false, 600)]
    {
        let setup = Config { timestamps: true, initial_window: 3, nagle: false, ..config("sack") };
        let peer = Peer { mss, timestamps: agreed, ..Peer::default() };
        // The data is written before the handshake changes the segment size. The initial window must nevertheless be
        // three segments of the final size.
        let mut script = Script::closed(setup.clone(), Role::Active, peer);
        script.endpoint.write(10_000);
        script.endpoint.open(script.now);
        assert_eq!(script.sent("the SYN").segment.mss, Some(1012));
        let syn_ack = script.syn(Flags::SYN | Flags::ACK, None);
        script.arrive(syn_ack);
        script.run([CwndBytes(3 * payload), Bytes(0, payload), Bytes(payload, 2 * payload)]);
        script.run([Bytes(2 * payload, 3 * payload), Nothing]);
        let (mut script, answer) = answer(setup, peer);
        assert_eq!((answer.mss, answer.timestamps.is_some()), (Some(1012), agreed));
        script.run([Ack(1), Write(10_000), CwndBytes(3 * payload), Bytes(0, payload)]);
    }
}

/// RFC 9293 §3.5, Fig. 8: a reset returns a passive end to LISTEN. The options of the next SYN then apply, not those of
/// the first.
#[test]
fn a_listener_forgets_what_the_first_peer_offered() {
    let setup = Config { initial_window: 8, ..config("sack") };
    let (mut script, _) = answer(setup, Peer { sack: false, mss: 500, ..Peer::default() });
    script.arrive(Segment { seq: IRS.at(1), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Listen)]);
    script.peer = Peer::default();
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    assert!(script.sent("the SYN-ACK").segment.sack_permitted);
    // SACK is in use now: one ACK that SACKs three segments above a hole begins recovery (RFC 6675), with segments of
    // 1000 bytes.
    script.run([Ack(1), Write(100_000), News(1, 8), Sack(1, &[(2, 5)]), Again(1), Cwnd(4)]);
}

/// RFC 2018 §2 and RFC 7323 §1.3: the SYN-ACK carries SACK-permitted, timestamps and window scale only if the SYN
/// offers them.
#[test]
fn options_are_answered_if_offered() {
    let all = Config { timestamps: true, sack: true, ..config("sack") };
    let first = syn(all.clone());
    assert!(first.sack_permitted && first.timestamps.is_some() && first.window_scale.is_some());
    let (_, segment) = answer(all.clone(), Peer { sack: false, ..Peer::default() });
    assert!(!segment.sack_permitted && segment.timestamps.is_none() && segment.window_scale.is_none());
    let (_, segment) = answer(all, Peer { timestamps: true, scale: Some(3), ..Peer::default() });
    assert!(segment.sack_permitted && segment.timestamps.is_some() && segment.window_scale.is_some());
    let (_, segment) = answer(config("reno"), Peer { timestamps: true, scale: Some(3), ..Peer::default() });
    assert!(!segment.sack_permitted && segment.timestamps.is_none());
}

/// RFC 3168 §6.1.1: the SYN offers ECN by ECE and CWR, and the SYN-ACK accepts by ECE alone. Data is ECN-capable
/// (ECT(0)) only if both ends agree.
#[test]
fn ecn_negotiation() {
    let ecn = || Config { ecn: true, ..config("sack") };
    let first = syn(ecn());
    assert!(first.flags.has(Flags::ECE) && first.flags.has(Flags::CWR));
    let plain = syn(config("sack"));
    assert!(!plain.flags.has(Flags::ECE) && !plain.flags.has(Flags::CWR));
    let (mut script, segment) = answer(ecn(), Peer { ecn: true, ..Peer::default() });
    assert!(segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR));
    script.run([Ack(1), Write(1000)]);
    assert_eq!(script.sent("data").ecn, Ecn::Ect0);
    for (config, peer) in [(ecn(), Peer::default()), (config("sack"), Peer { ecn: true, ..Peer::default() })]
    {
        let (mut script, segment) = answer(config, peer);
        assert!(!segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::CWR));
        script.run([Ack(1), Write(1000)]);
        assert_eq!(script.sent("data").ecn, Ecn::NotEct);
    }
    // Some peers only reflect the SYN's reserved bits. A SYN-ACK with both ECE and CWR is therefore no agreement on
    // ECN.
    let mut script = Script::closed(ecn(), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN");
    let reflected = Segment {
        flags: Flags::SYN | Flags::ACK | Flags::ECE | Flags::CWR,
        ..script.syn(Flags::SYN | Flags::ACK, None)
    };
    script.arrive(reflected);
    script.run([Acked(1), Write(1000)]);
    assert_eq!(script.sent("data").ecn, Ecn::NotEct);
}

/// RFC 3168 §6.1.1.1: an unanswered SYN is retransmitted without ECN, from the first retransmission on, as in Linux. If
/// the SYN-ACK answers the first SYN, this end echoes the peer's marks. Because this end has also sent a SYN without
/// ECN, it sends no ECN-capable packets (§6.1.1).
#[test]
fn a_retransmitted_syn_offers_no_ecn() {
    let peer = Peer { ecn: true, ..Peer::default() };
    let mut script = Script::closed(Config { ecn: true, ..config("sack") }, Role::Active, peer);
    script.endpoint.open(script.now);
    let mut offers = Vec::new();
    for _ in 0..3 {
        offers.push(script.sent("a SYN").segment.flags);
        script.run([Nothing, Timeout]);
    }
    assert_eq!(offers, [Flags::SYN | Flags::ECE | Flags::CWR, Flags::SYN, Flags::SYN]);
    let answer = script.syn(Flags::SYN | Flags::ACK, None);
    script.arrive(answer);
    script.run([In(State::Established)]);
    script.endpoint.poll_segment(script.now);
    script.run([Write(1000)]);
    assert_eq!(script.sent("data").ecn, Ecn::NotEct);
    script.run([Marked(1)]);
    assert!(script.sent("an ACK").segment.flags.has(Flags::ECE));
}

/// RFC 3168 §6.1.4 and §6.1.5: pure ACKs and retransmissions are not ECN-capable.
#[test]
fn what_is_ecn_capable() {
    let peer = Peer { ecn: true, ..Peer::default() };
    let mut script = Script::opened(Config { ecn: true, ..config("sack") }, peer);
    script.run([Write(1000)]);
    assert_eq!(script.sent("data").ecn, Ecn::Ect0);
    script.run([Timeout]);
    assert_eq!(script.sent("retransmitted data").ecn, Ecn::NotEct);
    script.run([Data(1)]);
    assert_eq!(script.sent("an ACK").ecn, Ecn::NotEct);
}

/// RFC 7323 §2.2 and §2.3: the window in a SYN is never scaled. Later windows are scaled in both directions if both
/// ends offered window scaling.
#[test]
fn window_scale() {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(1 << 20))]);
    let big = Config { window, initial_window: 100, ..config("sack") };
    let first = syn(big.clone());
    assert_eq!((first.window_scale, first.window), (Some(5), u16::MAX));
    let peer = Peer { scale: Some(3), window: 2000, ..Peer::default() };
    let mut script = Script::opened(big.clone(), peer);
    script.run([Write(100_000), News(1, 2), Nothing, Ack(2), News(3, 17), Nothing, Data(1)]);
    assert_eq!(script.sent("an ACK").segment.window, 1 << 15);
    let mut script = Script::opened(big, Peer { scale: None, window: 2000, ..peer });
    script.run([Write(100_000), News(1, 2), Nothing, Ack(2), New(3), Nothing, Data(1)]);
    assert_eq!(script.sent("an ACK").segment.window, u16::MAX);
    // RFC 7323 §2.3: a shift above 14 counts as 14, so an advertised window of 1 means 16,384 bytes.
    let setup = Config { initial_window: 100, ..config("sack") };
    let mut script = Script::opened(setup, Peer { scale: Some(30), window: 1, ..Peer::default() });
    script.run([Write(100_000), Ack(1), News(1, 16), Nothing]);
}

fn stamped() -> Script {
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    Script::opened(Config { timestamps: true, initial_window: 4, ..config("sack") }, peer)
}

/// RFC 7323 §3.2: if timestamps are in use, every segment carries timestamps. Segments without timestamps are dropped,
/// except resets.
#[test]
fn timestamps_are_on_every_segment() {
    let mut script = stamped();
    script.run([Write(500), Tick(50)]);
    assert_eq!(script.sent("data").segment.timestamps.map(|stamps| stamps.value), Some(script.millis()));
    script.run([Data(1)]);
    let sent = script.sent("an ACK").segment;
    assert_eq!(sent.timestamps, Some(Timestamps { value: script.millis(), echo: script.millis() }));
    let bare = Segment { timestamps: None, len: 100, ..script.plain() };
    script.arrive(bare);
    script.run([Nothing]);
    assert_eq!(script.endpoint.delivered(), 1000);
    script.endpoint.abort();
    assert!(script.sent("a reset").segment.timestamps.is_some());
    let mut script = stamped();
    script.arrive(Segment { seq: IRS.at(1), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed)]);
}

/// RFC 7323 §4.3: while a hole exists, ACKs echo the timestamp of the last segment that advanced the ACK number (start
/// + 10 ms). The ACK of the segment that fills the hole echoes the timestamp of that segment.
#[test]
fn what_is_echoed() {
    let mut script = stamped();
    let start = script.millis();
    let echo = |script: &mut Script| script.sent("an ACK").segment.timestamps.map(|stamps| stamps.echo);
    script.run([Tick(10), Data(1)]);
    assert_eq!(echo(&mut script), Some(start + 10));
    // Segment 2 is lost, and segments 3 and 4 arrive. ACKs still echo the timestamp of segment 1.
    script.run([Tick(10), Data(3)]);
    assert_eq!(echo(&mut script), Some(start + 10));
    script.run([Tick(10), Data(4)]);
    assert_eq!(echo(&mut script), Some(start + 10));
    script.run([Tick(10), Data(2)]);
    assert_eq!(echo(&mut script), Some(start + 40));
}

/// RFC 7323 §4.3 (2): if data was retransmitted because its ACK was lost, the new ACK echoes the timestamp of the
/// retransmission.
#[test]
fn what_is_echoed_to_data_that_comes_again() {
    let mut script = stamped();
    let start = script.millis();
    let echo = |script: &mut Script| script.sent("an ACK").segment.timestamps.map(|stamps| stamps.echo);
    script.run([Tick(10), Data(1), Acked(2), Tick(10), Data(2), Acked(3), Tick(1000), Data(1)]);
    assert_eq!(echo(&mut script), Some(start + 1020));
    // A forged segment with an invalid ACK number does not change the echoed timestamp.
    script.run([Tick(10)]);
    let forged = Segment { seq: IRS.at(1), len: 1000, ack: ISS.at(1 << 30), ..script.plain() };
    script.arrive(forged);
    assert_eq!(echo(&mut script), Some(start + 1020));
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(4000))]);
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, window, ..config("sack") }, peer);
    let start = script.millis();
    for number in 1..=5 {
        script.run([Tick(10), Data(number), Acked(number + 1)]);
    }
    for (number, echoed) in [(1, 50), (2, 70)] {
        script.run([Tick(10), Data(number)]);
        assert_eq!(echo(&mut script), Some(start + echoed), "echoed timestamp after segment {number}");
    }
}

/// RFC 7323 §5.3, PAWS: a segment with an old timestamp is dropped and acknowledged. A timestamp counts as old if it is
/// half of the clock's range ahead or more. Resets are exempt from PAWS.
#[test]
fn paws() {
    let mut script = stamped();
    let old = script.stamps(0);
    script.run([Tick(100), Data(1), Acked(2)]);
    let late = Segment { len: 100, timestamps: Some(old), ..script.plain() };
    script.arrive(late);
    script.run([Acked(2), Nothing]);
    assert_eq!(script.endpoint.delivered(), 1000);
    let wrapped = Timestamps { value: script.millis().wrapping_add(1 << 31), ..old };
    script.arrive(Segment { timestamps: Some(wrapped), ..late });
    script.run([Acked(2), Nothing]);
    let far = Timestamps { value: script.millis().wrapping_add((1 << 31) - 1), ..old };
    script.arrive(Segment { timestamps: Some(far), ..late });
    script.run([AckedBytes(1100), Nothing]);
    let mut script = stamped();
    let old = script.stamps(0);
    script.run([Tick(100), Data(1), Acked(2)]);
    let reset = Segment { seq: IRS.at(1001), flags: Flags::RST, ..Segment::default() };
    script.arrive(Segment { timestamps: Some(old), ..reset });
    script.run([In(State::Closed)]);
}

/// RFC 7323 §5.5: TS.Recent becomes invalid after 24 days without a segment, since the peer's timestamp clock may have
/// advanced by half of its range. PAWS then accepts any timestamp.
#[test]
fn paws_forgets_after_24_days() {
    const DAY: u64 = 86_400_000;
    for (days, accepted) in [(23, false), (24, true)] {
        let mut script = stamped();
        let old = script.stamps(0);
        script.run([Tick(1000), Data(1), Acked(2), Tick(days * DAY)]);
        let late = Segment { len: 100, timestamps: Some(old), ..script.plain() };
        script.arrive(late);
        assert_eq!(
            script.endpoint.delivered(),
            if accepted { 1100 } else { 1000 },
            "bytes delivered if the peer was silent for {days} days"
        );
    }
}

/// The ACK check of RFC 5961 §5 precedes the timestamp update of RFC 7323 §4.3. A forged segment that acknowledges
/// unsent data thus does not update TS.Recent, and the peer's next data is accepted.
#[test]
fn a_segment_that_is_not_believed_sets_no_timestamp() {
    let mut script = stamped();
    script.run([Tick(10), Data(1), Acked(2)]);
    let future = Timestamps { value: script.millis() + (1 << 30), echo: 0 };
    let forged = Segment { ack: ISS.at(5000), len: 100, timestamps: Some(future), ..script.plain() };
    script.arrive(forged);
    script.run([Acked(2), Nothing, Tick(10), Data(2), Acked(3)]);
    assert_eq!(script.endpoint.delivered(), 2000);
}

/// JTCP's loss discrimination (hasegawa Eq. 1) while the peer's timestamp clock wraps. Packets arrive at the intervals
/// at which they were sent, so the queue does not grow (Jr = 0), and a loss is wireless.
#[test]
fn the_peers_clock_wraps() {
    for (offset, tick) in [(0u32, 1000), (0x9000_0000, 1000), (0xffff_fff0, 1_000_000)] {
        let jtcp = Choice::named(loss_discrimination::ALL, "jtcp");
        let timestamp_tick = Duration::from_nanos(tick);
        let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
        let mut script = Script::closed(
            Config { timestamps: true, timestamp_tick, receiver_discrimination: jtcp, ..config("sack") },
            Role::Passive,
            peer,
        );
        script.now = Time::from_nanos(((1 << 32) - 5000) * 1000);
        script.endpoint.open(script.now);
        let clock = |script: &Script| ((script.now.as_nanos() / tick) as u32).wrapping_add(offset);
        let stamped = |script: &Script, segment: Segment| {
            let echo = ((script.now.as_nanos() - 4_000_000) / tick) as u32;
            Segment { timestamps: Some(Timestamps { value: clock(script), echo }), ..segment }
        };
        let syn = stamped(&script, script.syn(Flags::SYN, None));
        script.arrive(syn);
        script.sent("the SYN-ACK");
        for number in [1, 2, 3, 4, 5, 6, 7, 9u64] {
            script.tick(1);
            let data = Segment { seq: IRS.at(1 + (number - 1) * 1000), len: 1000, ..script.plain() };
            let data = stamped(&script, data);
            script.arrive(data);
            while script.endpoint.poll_segment(script.now).is_some() {}
        }
        let classified =
            std::iter::from_fn(|| script.endpoint.poll_event()).find_map(|(_, event)| match event {
                Event::LossClassified { cause, .. } => Some(cause),
                _ => None,
            });
        assert_eq!(classified, Some(Cause::Wireless), "{offset}");
    }
}

/// The sequence numbers of both directions wrap within the first 5 kB. Sending, SACK and retransmission work as usual.
#[test]
fn numbers_wrap() {
    assert!(ISS.at(5000).0 < ISS.0 && IRS.at(5000).0 < IRS.0);
    let mut script = Script::sender(Config { initial_window: 5, ..config("sack") });
    script.run([News(1, 5), Data(1), Data(3), Data(5), Acked(2)]);
    script.run([Sack(1, &[(2, 6)]), Again(1), Ack(6)]);
    // Each data segment carries two SACK blocks, which reduce its payload by 20 bytes.
    script.run([Bytes(5000, 5980), Bytes(5980, 6960), Data(2), Acked(4)]);
}

/// A sender that exists before the handshake ends is replaced if the peer refuses SACK, and then uses NewReno (RFC 6582):
/// a partial ACK shows the next loss.
#[test]
fn an_early_sender_falls_back_without_sack() {
    let peer = Peer { sack: false, ..Peer::default() };
    let mut script = Script::closed(Config { initial_window: 8, ..config("sack") }, Role::Active, peer);
    assert_eq!(script.endpoint.sender().window(), 8000);
    script.endpoint.open(script.now);
    let syn = script.sent("the SYN").segment;
    let answer = script.syn(Flags::SYN | Flags::ACK, syn.timestamps);
    script.arrive(answer);
    script.sent("the ACK of the SYN");
    script.run([Write(100_000), News(1, 8), Tick(100), Acks(1, 3), Again(1), Ack(3), Again(3)]);
}

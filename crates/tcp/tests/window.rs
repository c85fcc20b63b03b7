//! The receive window (RFC 9293 §3.8.6): probes of a closed window, avoidance of silly windows, shrinking windows, and
//! window updates.

mod script;

use lasthop_base::{Choice, Value};
use lasthop_tcp::receiver::{ack_policy, ack_splitting, window};
use lasthop_tcp::{Config, State};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, choose, config};

fn opened(initial_window: u32) -> Script {
    Script::opened(Config { initial_window, ..config("sack") }, Peer::default())
}

/// RFC 9293 §3.8.6.1: the first zero-window probe is sent after an RTO. Further probes follow at doubling intervals, up
/// to 64 s, for ever. A probe is no sign of loss: cwnd, ssthresh and RTO stay, and no timeout or duplicate ACK is
/// counted.
#[test]
fn a_closed_window_is_probed() {
    let mut script = opened(4);
    script.run([
        Write(10_000),
        News(1, 4),
        PeerWindow(0),
        Tick(100),
        Ack(5),
        Cwnd(5),
        Nothing,
        Deadline(1000),
    ]);
    for wait in [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000, 64_000] {
        script.run([Deadline(wait), Tick(wait - 1), Nothing, Tick(1), Bytes(4000, 4001), Nothing, Tick(0)]);
        script.run([Ack(5), Nothing, Cwnd(5), Rto(1000), InFlight(0)]);
    }
    let counters = script.endpoint.counters();
    assert_eq!((counters.timeouts, counters.duplicate_acks, counters.recoveries), (0, 0, 0));
    script.run([
        PeerWindow(60_000),
        Ack(5),
        New(5),
        Deadline(1000),
        // After this idle time cwnd is the initial window, four segments (RFC 5681 §4.1).
        News(6, 8),
        Nothing,
        SsthreshBytes(1 << 30),
    ]);
}

#[test]
fn the_byte_of_a_probe_is_acknowledged() {
    let mut script = opened(4);
    script.run([
        Write(10_000),
        News(1, 4),
        PeerWindow(0),
        Ack(5),
        Nothing,
        Timeout,
        Bytes(4000, 4001),
        Nothing,
    ]);
    script.run([Timeout, Bytes(4000, 4001), AckBytes(4001), Nothing, Timeout, Bytes(4001, 4002)]);
    script.run([PeerWindow(60_000), AckBytes(4002), Bytes(4002, 5002), Bytes(5002, 6002)]);
    // The ACK of a probe's byte arrives late, after the window has opened and more data was sent.
    let mut script = opened(4);
    script.run([Write(10_000), News(1, 4), PeerWindow(0), Ack(5), Nothing, Timeout, Bytes(4000, 4001)]);
    script.run([PeerWindow(60_000), Ack(5), News(5, 9), AckBytes(4001), Ack(6)]);
    assert_eq!(script.endpoint.counters().duplicate_acks, 0);
}

#[test]
fn a_window_closed_before_the_data() {
    let mut script = Script::opened(config("sack"), Peer { window: 0, ..Peer::default() });
    script.run([
        Nothing,
        NoDeadline,
        Write(5000),
        Nothing,
        Timeout,
        Bytes(0, 1),
        PeerWindow(60_000),
        Ack(1),
        New(1),
    ]);
    let mut script = opened(4);
    script.run([Write(1000), New(1), PeerWindow(0), Ack(2), Nothing, Close, Bytes(1000, 1000), Nothing]);
}

/// RFC 9293 §3.8.6.2.1: the sender avoids silly windows. The sender sends a short segment only if the usable window is
/// at least half of the largest window, or after the override timeout.
#[test]
fn no_silly_segments() {
    let mut script = opened(4);
    script.run([Write(10_000), News(1, 4), PeerWindow(600), Ack(5), Nothing, Deadline(1000)]);
    script.run([Tick(1000), Bytes(4000, 4600), Nothing]);
    let mut script = Script::opened(config("sack"), Peer { window: 1100, ..Peer::default() });
    script.run([Write(10_000), New(1), PeerWindow(550), Ack(2), Bytes(1000, 1550), Nothing]);
    script.run([PeerWindow(549), AckBytes(1550), Nothing]);
}

/// RFC 9293 §3.7.4, Nagle's algorithm: a short segment waits while data is outstanding. If the application closes, the
/// last short segment is sent at once, with the FIN.
#[test]
fn nagle() {
    let mut script = opened(4);
    script.run([Write(300), Bytes(0, 300), Write(300), Nothing, AckBytes(300), Bytes(300, 600), Write(1300)]);
    script.run([Bytes(600, 1600), Nothing, Close, Bytes(1600, 1900), Nothing]);
    let mut script =
        Script::opened(Config { nagle: false, initial_window: 4, ..config("sack") }, Peer::default());
    script.run([Write(300), Bytes(0, 300), Write(300), Bytes(300, 600)]);
}

/// RFC 9293 §3.8.6: if the receiver shrinks the window, data already sent beyond its right edge stays outstanding, and
/// no new data is sent.
#[test]
fn a_window_that_shrinks() {
    let mut script = opened(4);
    script.run([Write(10_000), News(1, 4), PeerWindow(1000), Ack(2), Nothing, InFlight(3)]);
    script.run([Ack(4), Nothing, Ack(5), New(5), Nothing]);
    // RFC 9293, SHLD-16: data inside the smaller window is retransmitted as usual.
    let mut script = opened(4);
    script.run([Write(10_000), News(1, 4), PeerWindow(1000), Ack(2), Deadline(1000), Tick(1000), Again(2)]);
    script.run([Nothing, Rto(2000), Ack(3), Again(3)]);
}

/// RFC 9293 §3.10.7.4, SND.WL1: an older segment of the peer does not update the window.
#[test]
fn an_old_segment_tells_no_window() {
    let mut script = opened(2);
    let mut old = script.plain();
    script.run([Write(10_000), News(1, 2), DataBytes(0, 100), AckedBytes(100)]);
    script.run([PeerWindow(2000), DataBytes(100, 200), AckedBytes(200)]);
    // The segment begins at the peer's first byte, brings 50 new bytes, and acknowledges both segments sent. The window
    // of the later segment, 2000 bytes, stays.
    (old.ack, old.len) = (ISS.at(2001), 250);
    script.arrive(old);
    script.run([AckedBytes(250), InFlight(0), Nothing]);
}

fn buffered(size: u64, shift: Option<u8>) -> Script {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(size))]);
    Script::opened(Config { window, ..config("sack") }, Peer { scale: shift, ..Peer::default() })
}

fn edge(script: &mut Script) -> u64 {
    let scale = script
        .peer
        .scale
        .map_or(0, |_| if script.endpoint.receiver().largest_window() > 65_535 { 4 } else { 0 });
    let segment = script.sent("an ACK").segment;
    IRS.offset_of(segment.ack, 1).unwrap() - 1 + (u64::from(segment.window) << scale)
}

#[test]
fn the_right_edge_never_moves_left() {
    for (size, shift) in [(10_000, None), (1_000_000, Some(0)), (999_999, Some(0))] {
        let mut script = buffered(size, shift);
        let mut last = 0;
        for (from, to) in [(0, 1000), (1000, 1007), (2000, 3000), (1007, 1500), (1500, 1993), (1993, 2000)] {
            script.run([DataBytes(from, to)]);
            script.endpoint.hold_unread(to.min(5000));
            let edge = edge(&mut script);
            assert!(edge >= last, "bytes {from}..{to}: the right edge moved left to {edge} from {last}");
            assert!(edge <= to + size + 15, "the window exceeds the free buffer");
            last = edge;
        }
    }
}

#[test]
fn slices_tell_the_same_right_edge() {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(10_000))]);
    let split =
        choose(ack_splitting::ALL, "split", &[("when", Value::Word("always")), ("count", Value::Count(3))]);
    for ack_splitting in [split, Choice::named(ack_splitting::ALL, "copies")] {
        let config = Config { window: window.clone(), ack_splitting, ..config("sack") };
        let mut script = Script::opened(config, Peer::default());
        script.run([Data(1)]);
        let mut edges = Vec::new();
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            let ack = IRS.offset_of(sending.segment.ack, 1).unwrap() - 1;
            edges.push(ack + u64::from(sending.segment.window));
        }
        assert!(edges.len() > 1 && edges.iter().all(|edge| *edge == 11_000), "{edges:?}");
    }
}

/// Without window scaling, the 16-bit field limits the window to 65,535 bytes, although the buffer is larger.
#[test]
fn the_window_without_scaling() {
    let mut script = buffered(4 << 20, None);
    script.run([Data(1)]);
    assert_eq!(edge(&mut script), 1000 + 65_535);
    script.run([Data(2)]);
    assert_eq!(edge(&mut script), 2000 + 65_535);
}

/// RFC 9293 §3.8.6.2.2: the receiver avoids silly windows. The receiver moves the right edge only if the edge moves by
/// at least a segment or half of the buffer.
#[test]
fn no_silly_windows() {
    let mut script = buffered(4000, None);
    script.run([Data(1)]);
    script.endpoint.hold_unread(1000);
    assert_eq!(edge(&mut script), 4000);
    script.endpoint.hold_unread(700);
    script.run([Nothing, DataBytes(1000, 1300)]);
    assert_eq!(edge(&mut script), 4000, "the edge does not move by only 600 bytes");
    script.endpoint.hold_unread(0);
    script.run([DataBytes(1300, 1400)]);
    assert_eq!(edge(&mut script), 5400);
}

#[test]
fn a_full_buffer_and_a_window_update() {
    let mut script = buffered(4000, None);
    for number in 1..=4 {
        script.endpoint.hold_unread((number - 1) * 1000);
        script.run([Data(number)]);
        script.endpoint.hold_unread(number * 1000);
        assert_eq!(edge(&mut script), 4000);
    }
    // The peer's zero-window probe causes an ACK. The probe's byte is dropped, but the probe's ACK number takes effect.
    script.run([Write(500), Bytes(0, 500), Tick(10)]);
    let mut probe = script.plain();
    (probe.len, probe.ack) = (1, ISS.at(501));
    script.arrive(probe);
    assert_eq!(edge(&mut script), 4000);
    assert_eq!(script.endpoint.delivered(), 4000);
    script.run([Nothing, NoDeadline]);
    script.endpoint.hold_unread(3500);
    script.run([Nothing]);
    script.endpoint.hold_unread(1000);
    assert_eq!(edge(&mut script), 7000);
    script.run([Nothing]);
}

#[test]
fn data_beyond_the_window_is_cut_off() {
    let mut script = buffered(4000, None);
    script.run([DataBytes(0, 3500)]);
    script.endpoint.hold_unread(3500);
    script.run([AckedBytes(3500)]);
    let mut segment = script.plain();
    segment.len = 1000;
    segment.flags = segment.flags | lasthop_wire::Flags::FIN;
    script.arrive(segment);
    script.run([AckedBytes(4000), In(State::Established), NoDeadline]);
    assert_eq!(script.endpoint.delivered(), 4000);
}

fn delayed(size: u64, scale: Option<u8>) -> Script {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(size))]);
    let ack_policy = Choice::named(ack_policy::ALL, "delayed");
    Script::opened(Config { window, ack_policy, ..config("sack") }, Peer { scale, ..Peer::default() })
}

/// RFC 5681 §4.2: no ACK is sent without new information. Reading frees buffer here, but the 16-bit window field is
/// already at its maximum, so no window update is sent.
#[test]
fn a_read_repeats_no_acknowledgement_without_scaling() {
    let mut script = delayed(4 << 20, None);
    for number in (1..=21).step_by(2) {
        script.run([Data(number)]);
        script.endpoint.hold_unread(1000);
        script.run([Nothing]);
        script.endpoint.hold_unread(0);
        script.run([Nothing, Deadline(40), Data(number + 1)]);
        script.endpoint.hold_unread(1000);
        script.run([Acked(number + 2)]);
        for unread in [700, 400, 0] {
            script.endpoint.hold_unread(unread);
            script.run([Nothing, NoDeadline]);
        }
    }
}

/// With scaling, the window is advertised in units of 128 bytes for a buffer of 4 MiB. A window update is sent if
/// reading opens the window by at least two segments (RFC 9293 §3.8.6.2.2). Fractions of a unit do not count.
#[test]
fn a_read_tells_what_the_field_can_say() {
    let mut script = delayed(4 << 20, Some(0));
    for number in 1..=8 {
        script.run([Data(number)]);
        script.endpoint.hold_unread(number * 1000);
        script.run(if number % 2 == 1 { [Nothing] } else { [Acked(number + 1)] });
    }
    let mut advertised = Vec::new();
    for unread in (0..16).rev().map(|step: u64| step * 500) {
        script.endpoint.hold_unread(unread);
        if let Some(sending) = script.endpoint.poll_segment(script.now) {
            assert_eq!(sending.segment.ack, IRS.at(8001));
            advertised.push((unread, u64::from(sending.segment.window) << 7));
        }
    }
    // With 8000 unread bytes, the advertised window is 4 MiB - 7936, rounded so that the right edge never moves left.
    // The next update needs 2000 bytes more, in whole units 4 MiB - 5888. At 5500 unread bytes the window first exceeds
    // this value, and 4 MiB - 5376 is advertised. The two further updates follow in the same way from 4 MiB - 5376 and
    // 4 MiB - 2944.
    let less = |units: u64| (4 << 20) - units * 128;
    assert_eq!(advertised, [(5500, less(42)), (3000, less(23)), (500, less(3))]);
}

/// A peer that has used up a small window must stop sending. The window that reading opens is therefore advertised at
/// once, not with the delayed ACK.
#[test]
fn a_read_frees_a_peer_that_waits() {
    let mut script = delayed(1600, None);
    script.run([DataBytes(0, 1600)]);
    script.endpoint.hold_unread(1600);
    script.run([Nothing, Deadline(40)]);
    script.endpoint.hold_unread(0);
    assert_eq!(edge(&mut script), 3200);
    script.run([Nothing, NoDeadline]);
}

#[test]
fn the_smallest_buffer_is_told_once() {
    let mut script = delayed(1, None);
    script.run([DataBytes(0, 1)]);
    script.endpoint.hold_unread(1);
    script.run([Tick(40), AckedBytes(1)]);
    script.endpoint.hold_unread(1);
    script.run([Nothing]);
    script.endpoint.hold_unread(0);
    assert_eq!(edge(&mut script), 2);
    script.endpoint.hold_unread(0);
    script.run([Nothing]);
}

/// A closed window opens again when the application reads, even if segments are larger than half of the maximum of the
/// 16-bit field.
#[test]
fn a_closed_window_opens_for_large_segments_without_scaling() {
    let window = choose(window::ALL, "buffer", &[("size", Value::Bytes(4 << 20))]);
    let config = Config { window, segment: 60_000, ..config("sack") };
    let mut script = Script::opened(config, Peer { mss: 60_000, ..Peer::default() });
    script.run([DataBytes(0, 60_000)]);
    script.endpoint.hold_unread(4 << 20);
    script.run([AckedBytes(60_000), DataBytes(60_000, 65_535)]);
    script.endpoint.hold_unread(4 << 20);
    script.run([AckedBytes(65_535)]);
    script.endpoint.hold_unread(0);
    assert_eq!(edge(&mut script), 65_535 + 65_535);
}

/// A FIN needs no buffer, so the receiver accepts a FIN at a closed window. The sender likewise sends its FIN at a
/// closed window (RFC 9293 §3.10.4).
#[test]
fn a_fin_at_a_closed_window_is_taken() {
    let mut script = buffered(1000, None);
    script.run([Data(1)]);
    script.endpoint.hold_unread(1000);
    assert_eq!(edge(&mut script), 1000);
    let fin = lasthop_wire::Segment { flags: lasthop_wire::Flags(0x11), ..script.plain() };
    script.arrive(fin);
    script.run([In(State::CloseWait), AckedBytes(1001), Nothing]);
}

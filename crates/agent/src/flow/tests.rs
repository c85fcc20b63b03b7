use super::*;
use crate::settings::AckSettings;
use lasthop_wire::Timestamps;

const OWN: Seq = Seq(1000);
const PEER: Seq = Seq(u32::MAX - 5000);
const SEGMENT: u64 = 1448;

fn at(millis: u64) -> Time {
    Time::ZERO + Duration::from_millis(millis)
}

fn syn(seq: Seq, flags: Flags, scale: Option<u8>) -> Segment {
    let timestamps = Some(Timestamps::default());
    Segment { seq, flags, mss: Some(1460), window_scale: scale, timestamps, ..Segment::default() }
}

fn opened(settings: &AckSettings, scale: Option<u8>) -> ObservedFlow {
    let mut flow = ObservedFlow::new(settings, 1);
    flow.handle_outgoing(at(0), &syn(OWN, Flags::SYN, scale));
    flow.handle_incoming(at(20), &syn(PEER, Flags::SYN | Flags::ACK, Some(7)));
    flow
}

fn ack(offset: u64, window: u16) -> Segment {
    Segment { seq: OWN.at(1), ack: PEER.at(offset), flags: Flags::ACK, window, ..Segment::default() }
}

fn fixed(bytes: u64) -> AckSettings {
    AckSettings {
        window: Some(AckSettings::window(&format!("fixed={bytes}")).unwrap()),
        ..AckSettings::default()
    }
}

/// Makes the decision on a kernel ACK; returns the acknowledged offset and the right edge of the only outgoing ACK.
fn decided(flow: &mut ObservedFlow, offset: u64, window: u16, shift: u8) -> (u64, u64) {
    let mut acks = Vec::new();
    assert!(flow.handle_ack(at(30), &ack(offset, window), &mut acks));
    assert_eq!(acks.len(), 1);
    let ack = PEER.offset_of(acks[0].ack, offset).unwrap();
    (ack, ack + (u64::from(acks[0].window) << shift))
}

#[test]
fn the_window_is_in_units_of_the_scale_that_both_agreed_on() {
    // 20,000 bytes are 157 units of 128 bytes, rounded up.
    let mut flow = opened(&fixed(20_000), Some(7));
    assert_eq!(decided(&mut flow, 1, 500, 7), (1, 1 + 157 * 128));
    // If one end offers no window scale, neither end scales.
    let mut flow = opened(&fixed(20_000), None);
    assert_eq!(decided(&mut flow, 1, 60_000, 0), (1, 20_001));
}

#[test]
fn what_the_own_syn_told_holds() {
    // The window of a SYN is not scaled, whichever side opens the connection.
    for is_passive in [true, false] {
        let mut flow = ObservedFlow::new(&fixed(10_000), 1);
        let own = |flags| Segment { window: 64_000, ..syn(OWN, flags, Some(7)) };
        if is_passive {
            flow.handle_incoming(at(0), &syn(PEER, Flags::SYN, Some(7)));
            flow.handle_outgoing(at(1), &own(Flags::SYN | Flags::ACK));
        } else {
            flow.handle_outgoing(at(0), &own(Flags::SYN));
            flow.handle_incoming(at(20), &syn(PEER, Flags::SYN | Flags::ACK, Some(7)));
        }
        let (_, edge) = decided(&mut flow, 5000, 600, 7);
        assert!((64_001..64_001 + 128).contains(&edge), "{is_passive}: {edge}");
        assert_eq!(decided(&mut flow, 60_000, 600, 7).1, 60_000 + 79 * 128);
    }
}

/// If several packets echo the same time stamp, the RTT sample ends at the first of these packets.
#[test]
fn several_packets_are_measured_by_the_first_echo() {
    let settings =
        AckSettings { window: Some(AckSettings::window("dynamic").unwrap()), ..AckSettings::default() };
    let mut flow = opened(&settings, Some(7));
    let stamped =
        |value, echo| Segment { timestamps: Some(Timestamps { value, echo }), len: 3000, ..ack(1, 500) };
    flow.handle_outgoing(at(30), &stamped(7, 0));
    flow.handle_several(at(46), &Segment { seq: PEER.at(1), ..stamped(1, 7) }, at(45));
    assert_eq!(flow.windows().min_rtt, Some(Duration::from_millis(15)));
}

#[test]
fn the_right_edge_never_moves_left() {
    let mut flow = opened(&fixed(10_000), Some(7));
    // A packet with data advertised the kernel's window: 64,000 bytes.
    flow.handle_outgoing(at(25), &Segment { len: 100, ..ack(1, 500) });
    for offset in [1, 5000, 30_000, 60_000] {
        let (_, edge) = decided(&mut flow, offset, 500, 7);
        assert!((64_001..64_001 + 10_128).contains(&edge), "{offset}: {edge}");
    }
    let mut last = 0;
    for offset in (60_000..90_000).step_by(1000) {
        let (_, edge) = decided(&mut flow, offset, 500, 7);
        assert!(edge >= last);
        last = edge;
    }
    assert_eq!(last, 89_000 + 79 * 128);
}

#[test]
fn never_below_two_segments_but_never_beyond_the_kernel() {
    let mut flow = opened(&fixed(100), Some(0));
    assert_eq!(decided(&mut flow, 1, 60_000, 0), (1, 1 + 2 * SEGMENT));
    assert_eq!(decided(&mut flow, 2000, 1500, 0), (2000, 3500));
    // The kernel's window is zero, so the agent's window is also zero.
    assert_eq!(decided(&mut flow, 3500, 0, 0), (3500, 3500));
}

#[test]
fn without_a_handshake_nothing_is_touched() {
    let mut flow = ObservedFlow::new(&fixed(100), 1);
    flow.handle_incoming(at(0), &Segment { seq: PEER.at(1), len: 1000, ..Segment::default() });
    assert!(!flow.handle_ack(at(1), &ack(1001, 500), &mut Vec::new()));
    // The SYN of one side is not enough.
    flow.handle_outgoing(at(2), &syn(OWN, Flags::SYN, Some(7)));
    assert!(!flow.is_known() && !flow.handle_ack(at(3), &ack(1001, 500), &mut Vec::new()));
}

#[test]
fn slices_end_at_the_kernels_own_ack_and_tell_the_same_edge() {
    let ack_splitting = Some(AckSettings::ack_splitting("split=4", false).unwrap());
    let mut flow = opened(&AckSettings { ack_splitting, ..AckSettings::default() }, Some(0));
    let mut acks = Vec::new();
    assert!(flow.handle_ack(at(30), &ack(1, 10_000), &mut acks));
    assert_eq!(acks.len(), 1, "the ACK acknowledges no new data");
    assert!(flow.handle_ack(at(31), &ack(2001, 10_000), &mut acks));
    let found: Vec<(u64, u16)> =
        acks.iter().map(|ack| (PEER.offset_of(ack.ack, 1).unwrap(), ack.window)).collect();
    assert_eq!(found, [(501, 11_500), (1001, 11_000), (1501, 10_500), (2001, 10_000)]);
}

#[test]
fn copies_are_the_same() {
    let ack_splitting = Some(AckSettings::ack_splitting("copies=3", false).unwrap());
    let mut flow = opened(&AckSettings { ack_splitting, ..AckSettings::default() }, Some(0));
    let mut acks = Vec::new();
    assert!(flow.handle_ack(at(30), &ack(2001, 10_000), &mut acks));
    assert_eq!(acks, [OutgoingAck { ack: PEER.at(2001), window: 10_000 }; 3]);
}

#[test]
fn the_handshake_and_echoed_timestamps_measure_round_trips() {
    let mut flow = opened(&fixed(100), Some(7));
    assert_eq!(flow.windows().min_rtt, Some(Duration::from_millis(20)));
    let stamped = |value| Some(Timestamps { value, echo: 0 });
    for tick in 0..10 {
        let sent = Segment { timestamps: stamped(500 + tick), ..ack(1, 500) };
        flow.handle_ack(at(100 + 5 * u64::from(tick)), &sent, &mut Vec::new());
    }
    let timestamps = Some(Timestamps { value: 1, echo: 503 });
    let data = Segment { seq: PEER.at(1), len: 1000, flags: Flags::ACK, timestamps, ..Segment::default() };
    // The packet with time stamp 503 left at 115 ms.
    flow.handle_incoming(at(130), &data);
    assert_eq!(flow.windows().min_rtt, Some(Duration::from_millis(15)));
}

fn advertised(flow: &mut ObservedFlow, millis: u64, offset: u64, window: u16) -> u64 {
    let mut acks = Vec::new();
    assert!(flow.handle_ack(at(millis), &ack(offset, window), &mut acks));
    u64::from(acks[0].window) << 7
}

#[test]
fn after_a_lapse_the_kernels_edge_holds_until_the_peer_has_used_it() {
    let mut flow = opened(&fixed(10_000), Some(7));
    assert_eq!(advertised(&mut flow, 30, 1, 500), 79 * 128);
    flow.lapse(at(1000));
    // The kernel held this ACK during the lapse, so its acknowledgement number is old. The next ACK has the kernel's
    // latest right edge, 164,000, which the agent has not observed before.
    assert_eq!(advertised(&mut flow, 1001, 5000, 500), 64_000);
    assert_eq!(advertised(&mut flow, 1200, 100_000, 500), 64_000);
    assert_eq!(advertised(&mut flow, 1210, 110_000, 500), 54_016);
    assert_eq!(advertised(&mut flow, 1300, 160_000, 500), 79 * 128);
}

#[test]
fn an_ack_that_told_more_than_was_decided_is_one_that_was_missed() {
    let mut flow = opened(&fixed(10_000), Some(7));
    advertised(&mut flow, 30, 1, 500);
    assert!(!flow.handle_outgoing(at(30), &ack(1, 79)), "the ACK is as decided");
    assert!(flow.handle_outgoing(at(31), &ack(1, 500)), "the ACK bypassed the queue");
    assert!(!flow.handle_outgoing(at(32), &Segment { len: 10, ..ack(1, 600) }), "data is never queued");
}

/// Transfers 6000 bytes every 5 ms (1.2 MB/s), which the host acknowledges. The echoed time stamps are `rtt` ms old.
fn transfer(flow: &mut ObservedFlow, from: u64, to: u64, offset: &mut u64, rtt: u64) {
    for millis in (from..to).step_by(5) {
        let timestamps = Some(Timestamps { value: 1, echo: (millis - rtt) as u32 });
        let data =
            Segment { seq: PEER.at(*offset), len: 6000, flags: Flags::ACK, timestamps, ..Segment::default() };
        flow.handle_incoming(at(millis), &data);
        *offset += 6000;
        let timestamps = Some(Timestamps { value: millis as u32, echo: 1 });
        // The kernel offers a window of 3 MB.
        flow.handle_ack(at(millis), &Segment { timestamps, ..ack(*offset, 24_000) }, &mut Vec::new());
    }
}

#[test]
fn a_queue_that_the_kernels_window_filled_during_a_lapse_is_not_taken_for_a_longer_path() {
    let settings =
        AckSettings { window: Some(AckSettings::window("dynamic").unwrap()), ..AckSettings::default() };
    let mut flow = opened(&settings, Some(7));
    let mut offset = 1;
    transfer(&mut flow, 100, 1100, &mut offset, 20);
    // The expected window is twice the bandwidth-delay product: 2 × 1.2 MB/s × 20 ms = 48,000 bytes.
    assert!((47_000..50_000).contains(&flow.windows().window), "{:?}", flow.windows());
    // RTT samples above the minimum count only while the agent's window limits the peer. During the lapse, a queue of
    // 600 ms has grown. The queue stays as long as the peer uses the kernel's window.
    flow.lapse(at(13_000));
    transfer(&mut flow, 13_000, 16_900, &mut offset, 600);
    assert!(flow.windows().window < 50_000, "{:?}", flow.windows());
}

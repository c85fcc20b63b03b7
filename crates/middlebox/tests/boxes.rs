//! Tests the rules of the smaller middleboxes, packet by packet.

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_middlebox::{ALL, Decision, Exit, Middlebox, Site};
use lasthop_wire::{
    Body, Ecn, Flags, FlowId, LossHint, LossReason, NodeNotice, Packet, Priority, Segment, Seq, Timestamps,
};

/// Initial sequence number, chosen so that numbers wrap in the middle of every test.
const ISN: u32 = u32::MAX - 2500;
/// Payload of every packet, bytes.
const SIZE: u32 = 1000;

/// A middlebox that one flow passes, and the current time. The flow's data goes down to the last hop, or comes up from
/// the last hop.
struct Script {
    middlebox: Box<dyn Middlebox>,
    now: Time,
}

/// A decision in short form. The numbers are offsets of data or of ACKs from the initial sequence number.
#[derive(Debug, PartialEq)]
enum Out {
    Data(u32),
    Retransmission(u32),
    Ack(u32),
    Hinted(u32, LossHint),
    /// An ACK that the middlebox generated. The values are its offset and its window.
    Own(u32, u16),
    Notice(NodeNotice),
}

fn offset(seq: Seq) -> u32 {
    seq.0.wrapping_sub(ISN).wrapping_sub(1)
}

fn at(offset: u32) -> Seq {
    Seq(ISN.wrapping_add(1 + offset))
}

fn packet(forward: bool, segment: Segment) -> Packet {
    Packet {
        number: 0,
        flow: FlowId(0),
        wire_bytes: segment.len + 40,
        forward,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        route: 0,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Tcp(segment),
    }
}

fn data(offset: u32) -> Packet {
    packet(
        true,
        Segment { seq: at(offset), len: SIZE, flags: Flags::ACK, window: 1000, ..Segment::default() },
    )
}

fn ack(offset: u32) -> Packet {
    packet(false, Segment { ack: at(offset), flags: Flags::ACK, window: 1000, ..Segment::default() })
}

fn ack_with(offset: u32, blocks: &[(u32, u32)]) -> Packet {
    let mut segment = Segment { ack: at(offset), flags: Flags::ACK, window: 1000, ..Segment::default() };
    blocks.iter().for_each(|(left, right)| segment.sack.push(at(*left), at(*right)));
    packet(false, segment)
}

fn observed(out: &[Decision]) -> Vec<Out> {
    let observed = out.iter().filter_map(|decision| {
        let packet = match decision {
            Decision::Drop(_, LossReason::MiddleboxRemoved) => return None,
            Decision::Forward(packet) | Decision::Rewrite(packet) => packet,
            Decision::Retransmit(packet) => return Some(Out::Retransmission(offset(packet.segment()?.seq))),
            Decision::Emit(packet) => {
                return Some(match &packet.body {
                    Body::Notice(notice) => Out::Notice(*notice),
                    _ => Out::Own(offset(packet.segment()?.ack), packet.segment()?.window),
                });
            }
            other => panic!("{other:?}"),
        };
        let segment = packet.segment()?;
        Some(match (packet.forward, segment.flags.hint()) {
            (true, _) => Out::Data(offset(segment.seq)),
            (false, LossHint::None) => Out::Ack(offset(segment.ack)),
            (false, hint) => Out::Hinted(offset(segment.ack), hint),
        })
    });
    observed.collect()
}

impl Script {
    fn new(name: &str, down: bool, settings: &[(&'static str, Value)]) -> Script {
        let mut choice = Choice::named(ALL, name);
        settings.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
        let exit = |down| Some(Exit { down, round_trip: Duration::from_millis(10) });
        let site = Site { flows: vec![[exit(down), exit(!down)]], random: Stream::named(1, "test") };
        let middlebox = (choice.build)(&choice.values, &site).expect("a middlebox");
        let mut script = Script { middlebox, now: Time::ZERO };
        script.pass(packet(true, Segment { seq: Seq(ISN), flags: Flags::SYN, ..Segment::default() }));
        let flags = Flags::SYN | Flags::ACK;
        script.pass(packet(false, Segment { ack: at(0), flags, window: 1000, ..Segment::default() }));
        script
    }

    fn pass(&mut self, packet: Packet) -> Vec<Out> {
        observed(&self.decide(packet))
    }

    fn decide(&mut self, packet: Packet) -> Vec<Decision> {
        let mut out = Vec::new();
        self.middlebox.handle_packet(self.now, packet, &mut out);
        out
    }

    fn send(&mut self, offsets: impl IntoIterator<Item = u32>) {
        for offset in offsets {
            assert_eq!(self.pass(data(offset)), [Out::Data(offset)]);
        }
    }

    fn after(&mut self, millis: u64) -> &mut Script {
        self.now += Duration::from_millis(millis);
        self
    }

    fn expire(&mut self) -> Vec<Decision> {
        let mut out = Vec::new();
        while out.is_empty() {
            self.now = self.middlebox.poll_timeout();
            assert!(self.now < Time::NEVER, "no timer");
            self.middlebox.handle_timeout(self.now, &mut out);
        }
        out
    }
}

#[test]
fn snoop_sack_repeats_all_that_is_missing_at_once() {
    let mut script = Script::new("snoop_sack", true, &[]);
    script.send((0..8).map(|packet| packet * SIZE));
    script.after(20).pass(ack(1000));
    assert_eq!(script.pass(ack_with(1000, &[(2000, 3000)])), [Out::Retransmission(1000)]);
    assert_eq!(script.pass(ack_with(1000, &[(4000, 5000), (2000, 3000)])), [Out::Retransmission(3000)]);
    assert_eq!(
        script.pass(ack_with(1000, &[(6000, 7000), (4000, 5000), (2000, 3000)])),
        [Out::Retransmission(5000)]
    );
    // Within two round trips, the agent must neither retransmit a hole again nor forward the ACK to the sender.
    assert_eq!(script.pass(ack_with(1000, &[(6000, 8000), (4000, 5000), (2000, 3000)])), []);
    // With a FACK gap of 3, the hole counts as lost only when three segments above it have arrived.
    let mut script = Script::new("snoop_sack", true, &[("gap", Value::Count(3))]);
    script.send((0..8).map(|packet| packet * SIZE));
    script.after(20).pass(ack(1000));
    assert_eq!(script.pass(ack_with(1000, &[(2000, 3000)])), []);
    assert_eq!(script.pass(ack_with(1000, &[(2000, 4000)])), []);
    assert_eq!(script.pass(ack_with(1000, &[(2000, 5000)])), [Out::Retransmission(1000)]);
}

#[test]
fn snoop_sack_leaves_what_it_cannot_fill_to_the_sender() {
    let mut script = Script::new("snoop_sack", true, &[]);
    script.send([0, 1000, 3000, 4000]);
    script.after(20).pass(ack(1000));
    // Packet 1000 was lost over the air, and packet 2000 in the wired network. The agent retransmits packet 1000, and
    // must forward the ACK so that the sender retransmits packet 2000.
    assert_eq!(script.pass(ack_with(1000, &[(3000, 4000)])), [Out::Retransmission(1000), Out::Ack(1000)]);
}

#[test]
fn eln_marks_the_airs_hole_and_not_the_wired_networks() {
    // The mobile sends, and packet 1000 was lost over the air.
    let mut script = Script::new("eln", false, &[]);
    script.send([0, 2000, 3000, 4000]);
    script.pass(ack(1000));
    assert_eq!(script.pass(ack(1000)), [Out::Hinted(1000, LossHint::Wireless)]);
    script.send([1000]);
    assert_eq!(script.pass(ack(3000)), [Out::Ack(3000)]);
    assert_eq!(script.pass(ack(3000)), [Out::Ack(3000)]);
    // No data is outstanding, so the ACK must not be marked.
    assert_eq!(script.pass(ack(5000)), [Out::Ack(5000)]);
    assert_eq!(script.pass(ack(5000)), [Out::Ack(5000)]);
}

#[test]
fn eln_toward_the_mobile_has_two_polarities() {
    let down = ("data", Value::Word("down"));
    let says = ("says", Value::Word("congestion"));
    for (settings, air, wired) in [
        (vec![down.clone()], Out::Hinted(1000, LossHint::Wireless), Out::Ack(3000)),
        (vec![down, says], Out::Ack(1000), Out::Hinted(3000, LossHint::Congestion)),
    ] {
        let mut script = Script::new("eln", true, &settings);
        script.send([0, 1000, 2000, 4000, 5000]);
        script.pass(ack(1000));
        assert_eq!(script.pass(ack(1000)), [air]);
        script.pass(ack(3000));
        assert_eq!(script.pass(ack(3000)), [wired]);
    }
}

#[test]
fn what_the_queue_behind_refuses_is_congestion_to_eln_and_spack() {
    let mut script = Script::new("eln", true, &[("data", Value::Word("down"))]);
    script.send([0, 1000, 2000]);
    script.middlebox.handle_queue_drop(script.now, &data(1000));
    script.pass(ack(1000));
    assert_eq!(script.pass(ack(1000)), [Out::Ack(1000)]);
    let mut script = Script::new("spack", true, &[("pieces", Value::Word("number"))]);
    script.send((0..6).map(|packet| packet * SIZE));
    script.middlebox.handle_queue_drop(script.now, &data(1000));
    script.pass(ack(1000));
    (0..3).for_each(|_| _ = script.pass(ack(1000)));
    assert_eq!(script.pass(ack(6000)), [Out::Ack(6000)]);
}

#[test]
fn spack_splits_the_first_ack_behind_a_loss_on_the_air() {
    let settings = [("pieces", Value::Word("number")), ("number", Value::Count(4))];
    let mut script = Script::new("spack", true, &settings);
    script.send((0..6).map(|packet| packet * SIZE));
    script.pass(ack(1000));
    for _ in 0..3 {
        assert_eq!(script.pass(ack(1000)), [Out::Ack(1000)]);
    }
    // The ACK of 4000 new bytes must be split into four ACKs, of which the original is the last.
    let pieces = [Out::Own(2000, 1000), Out::Own(3000, 1000), Out::Own(4000, 1000), Out::Ack(5000)];
    assert_eq!(script.pass(ack(5000)), pieces);
    assert_eq!(script.pass(ack(6000)), [Out::Ack(6000)], "only one ACK must be split for each loss");
    // The default is one ACK per byte, but at most `most` ACKs.
    let mut script = Script::new("spack", true, &[]);
    script.send((0..6).map(|packet| packet * SIZE));
    script.pass(ack(1000));
    (0..3).for_each(|_| _ = script.pass(ack(1000)));
    assert_eq!(script.pass(ack(2000)).len(), 1000);
    let mut script = Script::new("spack", true, &settings);
    script.send([0, 2000, 3000, 4000]);
    script.pass(ack(1000));
    (0..3).for_each(|_| _ = script.pass(ack(1000)));
    assert_eq!(script.pass(ack(5000)), [Out::Ack(5000)]);
}

#[test]
fn mtcp_keeps_a_byte_back_and_closes_the_window_with_it() {
    let mut script = Script::new("mtcp", true, &[]);
    script.send([0, 1000, 2000]);
    assert_eq!(script.after(20).pass(ack(1000)), [Out::Ack(999)]);
    assert_eq!(script.pass(ack(1000)), [Out::Ack(999)], "a duplicate ACK must stay a duplicate ACK");
    let heard = script.now;
    assert_eq!(observed(&script.expire()), [Out::Own(1000, 0)]);
    assert_eq!(script.now.since(heard), Duration::from_millis(100));
    // While the mobile is silent, the station must answer window probes from the sender, and probe the mobile.
    assert_eq!(script.pass(data(1000)), [Out::Own(1000, 0), Out::Data(1000)]);
    assert_eq!(observed(&script.expire()), [Out::Retransmission(1000)]);
    assert_eq!(script.pass(ack(1000)), [Out::Ack(1000)]);
    assert_eq!(script.pass(ack(2000)), [Out::Ack(1999)]);
    // All data has arrived. After `hold`, the station must acknowledge the withheld last byte.
    assert_eq!(script.after(10).pass(ack(3000)), [Out::Ack(2999)]);
    let heard = script.now;
    assert_eq!(observed(&script.expire()), [Out::Own(3000, 1000)]);
    assert_eq!(script.now.since(heard), Duration::from_millis(200));
    assert_eq!(script.middlebox.poll_timeout(), Time::NEVER);
}

fn stamped(mut packet: Packet, value: u32) -> Packet {
    if let Body::Tcp(segment) = &mut packet.body {
        segment.timestamps = Some(Timestamps { value, echo: 0 });
    }
    packet
}

fn stamps(out: &[Decision]) -> Vec<u32> {
    let stamp = |decision: &Decision| match decision {
        Decision::Forward(packet) | Decision::Rewrite(packet) | Decision::Retransmit(packet)
            if packet.forward =>
        {
            packet.segment()?.timestamps.map(|stamps| stamps.value)
        }
        _ => None,
    };
    out.iter().filter_map(stamp).collect()
}

#[test]
fn wtcp_hides_the_time_that_a_repair_takes() {
    let mut script = Script::new("wtcp", true, &[("tick", Value::Duration(Duration::from_millis(1)))]);
    for (number, value) in [(0, 500), (1000, 500), (2000, 500)] {
        assert_eq!(stamps(&script.decide(stamped(data(number), value))), [value]);
    }
    script.after(20).pass(ack(1000));
    // Packet 1000 is lost. The duplicate ACK triggers a retransmission 20 ms after the packet reached the station. The
    // station adds these 20 ms to the packet's timestamp, so that RTT samples exclude them. The ACK is not forwarded.
    let out = script.decide(ack(1000));
    assert_eq!((observed(&out), stamps(&out)), (vec![Out::Retransmission(1000)], vec![520]));
    assert_eq!(script.pass(ack(1000)), []);
    // The retransmission is lost, too. After the timeout, the station must send only the first packet until a new ACK
    // arrives.
    let out = script.expire();
    let spent = (script.now.since(Time::ZERO).as_nanos() / 1_000_000) as u32;
    assert_eq!(stamps(&out), [500 + spent]);
    assert_eq!(script.pass(stamped(data(3000), 500 + spent)), [], "the packet must be held back");
    let out = script.after(30).decide(ack(3000));
    assert_eq!(stamps(&out), [500 + spent + 30], "a packet that was held back must have a later timestamp");
    // Timestamps must never decrease, because the receiver would reject the segment (RFC 7323 §5).
    assert_eq!(stamps(&script.decide(stamped(data(4000), 500 + spent + 31))), [500 + spent + 31]);
}

#[test]
fn wtcp_learns_the_sources_tick() {
    let mut script = Script::new("wtcp", true, &[]);
    // With a tick of 4 ms, the source's timestamps have grown by 100 ticks after 400 ms.
    for number in 0..3 {
        script.decide(stamped(data(number * SIZE), 500 + 50 * number));
        script.after(200);
    }
    script.pass(ack(1000));
    let out = script.decide(ack(1000));
    // Packet 1000 arrived 400 ms ago, so its timestamp must grow by 100 ticks.
    assert_eq!((observed(&out), stamps(&out)), (vec![Out::Retransmission(1000)], vec![550 + 100]));
}

#[test]
fn wtcp_leaves_the_wired_networks_hole_to_the_source() {
    let mut script = Script::new("wtcp", true, &[]);
    script.send([0, 2000, 3000, 4000]);
    script.pass(ack(1000));
    for _ in 0..3 {
        assert_eq!(script.pass(ack(1000)), [Out::Ack(1000)]);
    }
}

/// The station must advertise the free space of its buffer as the window. The window's right edge must never move left.
#[test]
fn atcp_tells_what_is_free_and_freezes_the_sender() {
    let mut script = Script::new("atcp", true, &[("buffer", Value::Bytes(4000))]);
    script.send([0, 1000, 2000]);
    let window = |script: &mut Script, number| {
        let wide = Segment { window: 60_000, ..*ack(number).segment().expect("TCP") };
        let out = script.decide(packet(false, wide));
        match &out[..] {
            [Decision::Rewrite(packet)] => packet.segment().expect("TCP").window,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(window(script.after(20), 1000), 2000, "two of the buffer's four packets are cached");
    script.send([3000]);
    assert_eq!(window(script.after(20), 2000), 2000);
    script.send([4000]);
    // The advertised right edge is 4000. The buffer holds 2000 of 4000 bytes, so the station must advertise 2000 bytes.
    assert_eq!(window(script.after(20), 3000), 2000);
    let heard = script.now;
    while !observed(&script.expire()).contains(&Out::Own(3000, 0)) {
        assert!(script.now.since(heard) < Duration::from_secs(1), "no zero window within 1 s");
    }
    assert_eq!(script.now.since(heard), Duration::from_millis(100));
}

#[test]
fn lhack_tells_what_has_come_and_ebsn_what_fails() {
    let mut script = Script::new("lhack", true, &[]);
    let notice = NodeNotice::LastHop { seq: at(1000), len: SIZE };
    assert_eq!(script.pass(data(1000)), [Out::Data(1000), Out::Notice(notice)]);
    assert_eq!(script.pass(ack(1000)), [Out::Ack(1000)]);
    let mut script = Script::new("lhack", true, &[("every", Value::Count(2))]);
    assert_eq!(script.pass(data(0)), [Out::Data(0)]);
    let both = NodeNotice::LastHop { seq: at(0), len: 2 * SIZE };
    assert_eq!(script.pass(data(1000)), [Out::Data(1000), Out::Notice(both)]);

    let mut script = Script::new("ebsn", true, &[("attempts", Value::Count(2))]);
    assert_eq!(script.pass(data(0)), [Out::Data(0)]);
    let fails = |script: &mut Script, packet: Packet, attempt| {
        let mut out = Vec::new();
        script.middlebox.handle_failure(script.now, &packet, attempt, &mut out);
        observed(&out)
    };
    assert_eq!(fails(&mut script, data(0), 1), []);
    assert_eq!(fails(&mut script, data(0), 2), [Out::Notice(NodeNotice::BadState)]);
    assert_eq!(fails(&mut script, ack(0), 2), [], "an ACK must cause no notice");
}

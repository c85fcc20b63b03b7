//! Tests the rules of the snoop agent, packet by packet.

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_middlebox::{ALL, Decision, Exit, Middlebox, Site};
use lasthop_wire::{Body, Ecn, Flags, FlowId, LossReason, Packet, Priority, Segment, Seq};

/// Initial sequence number, chosen so that numbers wrap in the middle of every test.
const ISN: u32 = u32::MAX - 2500;
const SIZE: u32 = 1000;

/// A snoop agent for one flow whose data goes down, and the current time.
struct Script {
    snoop: Box<dyn Middlebox>,
    now: Time,
}

#[derive(Debug, PartialEq)]
enum Out {
    Data(u32),
    /// Data retransmitted by the agent.
    Retransmission(u32),
    Ack(u32),
    /// An ACK repeated by the agent.
    RepeatedAck(u32),
}

fn offset(seq: Seq) -> u32 {
    seq.0.wrapping_sub(ISN).wrapping_sub(1)
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

impl Script {
    /// Starts a connection whose handshake the agent sees.
    fn new(settings: &[(&'static str, Value)]) -> Script {
        let mut script = Script::begun(settings);
        let syn = Segment { seq: Seq(ISN), flags: Flags::SYN, ..Segment::default() };
        script.pass(packet(true, syn));
        let flags = Flags::SYN | Flags::ACK;
        script.pass(packet(false, Segment { ack: Seq(ISN.wrapping_add(1)), flags, ..Segment::default() }));
        script
    }

    /// Starts a connection whose handshake the agent has not seen.
    fn begun(settings: &[(&'static str, Value)]) -> Script {
        let mut choice = Choice::named(ALL, "snoop");
        settings.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
        let exit = |down| Some(Exit { down, round_trip: Duration::from_millis(10) });
        let site = Site { flows: vec![[exit(true), exit(false)]], random: Stream::named(1, "test") };
        let snoop = (choice.build)(&choice.values, &site).expect("a middlebox");
        Script { snoop, now: Time::ZERO }
    }

    fn pass(&mut self, packet: Packet) -> Vec<Out> {
        let mut out = Vec::new();
        self.snoop.handle_packet(self.now, packet, &mut out);
        observed(&out)
    }

    fn data(&mut self, at: u32) -> Vec<Out> {
        self.pass(packet(true, data(at)))
    }

    fn send(&mut self, offsets: impl IntoIterator<Item = u32>) {
        for at in offsets {
            assert_eq!(self.data(at), [Out::Data(at)]);
        }
    }

    fn ack(&mut self, at: u32) -> Vec<Out> {
        self.pass(packet(false, ack(at)))
    }

    fn after(&mut self, millis: u64) -> &mut Script {
        self.now += Duration::from_millis(millis);
        self
    }

    /// Advances to the next output. A deadline may pass without output, because the timer may have been restarted.
    fn expire(&mut self) -> Vec<Out> {
        let mut out = Vec::new();
        while out.is_empty() {
            self.now = self.snoop.poll_timeout();
            assert!(self.now < Time::NEVER, "no timer");
            self.snoop.handle_timeout(self.now, &mut out);
        }
        observed(&out)
    }
}

fn data(at: u32) -> Segment {
    let seq = Seq(ISN.wrapping_add(1 + at));
    Segment { seq, len: SIZE, flags: Flags::ACK, window: 1000, ..Segment::default() }
}

fn ack(at: u32) -> Segment {
    Segment { ack: Seq(ISN.wrapping_add(1 + at)), flags: Flags::ACK, window: 1000, ..Segment::default() }
}

fn observed(out: &[Decision]) -> Vec<Out> {
    let observed = out.iter().filter_map(|decision| {
        let (packet, again) = match decision {
            Decision::Forward(packet) => (packet, false),
            Decision::Retransmit(packet) => (packet, true),
            Decision::Drop(_, LossReason::MiddleboxRemoved) => return None,
            other => panic!("{other:?}"),
        };
        let segment = packet.segment().expect("TCP");
        Some(match (packet.forward, again) {
            (true, false) => Out::Data(offset(segment.seq)),
            (true, true) => Out::Retransmission(offset(segment.seq)),
            (false, false) => Out::Ack(offset(segment.ack)),
            (false, true) => Out::RepeatedAck(offset(segment.ack)),
        })
    });
    observed.collect()
}

#[test]
fn the_first_duplicate_brings_the_lost_packet_again_and_the_expected_ones_are_swallowed() {
    let mut script = Script::new(&[]);
    script.send([0, 1000, 2000, 3000, 4000]);
    assert_eq!(script.after(20).ack(1000), [Out::Ack(1000)]);
    assert_eq!(script.ack(1000), [Out::Retransmission(1000)]);
    assert_eq!(script.ack(1000), []);
    assert_eq!(script.ack(1000), []);
    assert_eq!(script.after(10).ack(5000), [Out::Ack(5000)]);
    let mut out = Vec::new();
    script.snoop.handle_timeout(script.now + Duration::from_secs(60), &mut out);
    assert_eq!((observed(&out), script.snoop.poll_timeout()), (vec![], Time::NEVER));
}

#[test]
fn more_duplicates_than_expected_bring_one_more_repeat_and_then_pass() {
    let mut script = Script::new(&[]);
    script.send([0, 1000, 2000, 3000]);
    script.ack(1000);
    assert_eq!(script.ack(1000), [Out::Retransmission(1000)]);
    assert_eq!(script.ack(1000), []);
    // The receiver has sent one duplicate ACK for each of the packets 2000 and 3000. Further duplicate ACKs are caused
    // by packets sent after the retransmission, so the retransmission is lost, too. Snoop must then retransmit the
    // packet once more.
    script.send([4000, 5000]);
    assert_eq!(script.ack(1000), [Out::Retransmission(1000)]);
    assert_eq!(script.ack(1000), []);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
}

#[test]
fn what_was_lost_before_it_is_the_senders() {
    let mut script = Script::new(&[]);
    script.send([0, 2000, 3000, 4000]);
    script.ack(1000);
    for _ in 0..3 {
        assert_eq!(script.ack(1000), [Out::Ack(1000)]);
    }
    // The sender has to fill the gap, so the agent must forward further duplicate ACKs.
    script.send([1000]);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
}

#[test]
fn what_the_sender_repeats_is_no_longer_the_boxs() {
    let mut script = Script::new(&[]);
    script.send([0, 1000, 2000, 3000]);
    script.ack(1000);
    script.send([1000]);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
}

#[test]
fn silence_brings_the_first_packet_again_as_often_as_is_set() {
    let mut script = Script::new(&[("max_repeats", Value::Count(2))]);
    script.send([0, 1000, 2000]);
    script.after(20).ack(1000);
    let sent = script.now;
    assert_eq!(script.expire(), [Out::Retransmission(1000)]);
    // The timeout must be that of RFC 6298 after one sample of 20 ms: 20 + 4 x 10 ms.
    assert_eq!(script.now.since(sent), Duration::from_millis(60));
    assert_eq!(script.expire(), [Out::Retransmission(1000)]);
    let mut out = Vec::new();
    script.snoop.handle_timeout(Time::ZERO + Duration::from_secs(60), &mut out);
    assert_eq!((observed(&out), script.snoop.poll_timeout()), (vec![], Time::NEVER));
}

#[test]
fn the_timeout_keeps_its_floor_and_its_margin() {
    for (floor, timeout) in [(0, 40), (100, 100)] {
        let mut script = Script::new(&[("floor", Value::Duration(Duration::from_millis(floor)))]);
        for packet in 0..60 {
            script.send([packet * SIZE]);
            script.after(20).ack((packet + 1) * SIZE);
        }
        // All samples are 20 ms, so the variation is zero. The timeout must be 20 ms plus a margin of 20 ms. The margin
        // is 10 ms for the link's round trip, and 10 ms for processing times.
        script.send([60 * SIZE]);
        let sent = script.now;
        assert_eq!(script.expire(), [Out::Retransmission(60 * SIZE)]);
        assert_eq!(script.now.since(sent), Duration::from_millis(timeout));
    }
}

/// Each recovery takes ten round trips. The time from the transmission of a segment to its retransmission must not grow
/// from one recovery to the next. The time would grow if data after the hole gave round-trip samples.
#[test]
fn a_repair_makes_the_next_one_no_later() {
    let mut script = Script::new(&[]);
    let mut timeouts = Vec::new();
    for round in 0..10 {
        let first = 3 * SIZE * round;
        script.send([first, first + SIZE, first + 2 * SIZE]);
        script.after(20).ack(first + SIZE);
        let sent = script.now;
        assert_eq!(script.expire(), [Out::Retransmission(first + SIZE)]);
        timeouts.push(script.now.since(sent));
        script.after(200).ack(first + 3 * SIZE);
    }
    assert!(timeouts.windows(2).all(|pair| pair[1] <= pair[0]), "{timeouts:?}");
}

/// The sender fills a hole whose data is not in the full cache. Data after the hole has waited for the recovery, so
/// this data must give no round-trip sample.
#[test]
fn a_hole_that_is_not_kept_gives_no_sample() {
    let mut script = Script::new(&[("cache", Value::Count(2))]);
    script.send([1000, 2000]);
    script.after(500).send([0]);
    script.ack(3000);
    script.send([3000]);
    let sent = script.now;
    assert_eq!(script.expire(), [Out::Retransmission(3000)]);
    // The timeout must be 100 ms + 4 x 250 ms, from the initial values before the first sample.
    assert_eq!(script.now.since(sent), Duration::from_millis(1100));
}

#[test]
fn acks_that_say_something_else_pass() {
    let mut script = Script::new(&[]);
    script.send([0, 1000, 2000, 3000, 4000]);
    script.ack(1000);
    let mut pass = |segment: Segment| script.pass(packet(false, segment));
    // An ACK with another window, with a new ECN echo, or with data is not a duplicate, so it must be forwarded.
    assert_eq!(pass(Segment { window: 900, ..ack(1000) }), [Out::Ack(1000)]);
    assert_eq!(pass(Segment { window: 900, flags: Flags::ACK | Flags::ECE, ..ack(1000) }), [Out::Ack(1000)]);
    assert_eq!(pass(Segment { window: 900, len: 10, ..ack(1000) }), [Out::Ack(1000)]);
    // A D-SACK reports that a segment below the ACK arrived twice. An ACK with a D-SACK must be forwarded.
    let mut segment = Segment { window: 900, ..ack(1000) };
    segment.sack.push(Seq(ISN.wrapping_add(1)), Seq(ISN.wrapping_add(1001)));
    assert_eq!(pass(segment), [Out::Ack(1000)]);
    assert_eq!(pass(Segment { window: 900, ..ack(1000) }), [Out::Retransmission(1000)]);
}

#[test]
fn a_flow_that_it_meets_in_the_middle_passes_until_an_ack() {
    let mut script = Script::begun(&[]);
    script.send([5000, 6000]);
    assert_eq!(script.ack(5000), [Out::Ack(5000)]);
    assert_eq!(script.ack(5000), [Out::Ack(5000)]);
    script.send([7000]);
    assert_eq!(script.ack(7000), [Out::Ack(7000)]);
    assert_eq!(script.expire(), [Out::Retransmission(7000)]);
}

#[test]
fn a_reset_ends_it() {
    let mut script = Script::new(&[]);
    script.send([0, 1000]);
    script.ack(0);
    script.pass(packet(true, Segment { flags: Flags::RST, ..data(2000) }));
    let mut out = Vec::new();
    script.snoop.handle_timeout(Time::ZERO + Duration::from_secs(60), &mut out);
    assert_eq!(observed(&out), []);
}

#[test]
fn what_finds_no_room_goes_on_without_its_help() {
    let mut script = Script::new(&[("cache", Value::Count(2))]);
    script.send([0, 1000, 2000, 3000]);
    script.ack(2000);
    assert_eq!(script.ack(2000), [Out::Ack(2000)]);
}

#[test]
fn what_the_queue_behind_it_refused_is_congestion() {
    let mut script = Script::new(&[]);
    script.send([0, 1000, 2000]);
    script.snoop.handle_queue_drop(script.now, &packet(true, data(1000)));
    script.ack(1000);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
}

#[test]
fn two_losses_take_a_repair_each() {
    let burst = |chase| {
        let mut script = Script::new(&[("chase", Value::Flag(chase))]);
        script.send([0, 1000, 2000, 3000, 4000]);
        script.after(20).ack(1000);
        assert_eq!(script.ack(1000), [Out::Retransmission(1000)]);
        assert_eq!(script.ack(1000), []);
        script
    };
    let mut script = burst(false);
    assert_eq!(script.after(20).ack(2000), [Out::Ack(2000)]);
    assert_eq!(script.expire(), [Out::Retransmission(2000)]);
    // Packet 2000 was sent before the retransmission that has arrived, so packet 2000 is lost, too.
    let mut script = burst(true);
    assert_eq!(script.after(20).ack(2000), [Out::Retransmission(2000), Out::Ack(2000)]);
}

#[test]
fn acknowledged_data_and_old_acks_are_treated_as_is_set() {
    let mut script = Script::new(&[]);
    script.send([0, 1000]);
    script.ack(2000);
    assert_eq!(script.data(0), [Out::Data(0)]);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
    let settings = [("acked_data", Value::Word("answer")), ("old_acks", Value::Word("drop"))];
    let mut script = Script::new(&settings);
    script.send([0, 1000]);
    script.ack(2000);
    assert_eq!(script.data(0), [Out::RepeatedAck(2000)]);
    assert_eq!(script.ack(1000), []);
}

#[test]
fn ns_2_acts_on_the_second_duplicate() {
    let mut script = Script::new(&[("threshold", Value::Count(2))]);
    script.send([0, 1000, 2000, 3000, 4000]);
    script.ack(1000);
    assert_eq!(script.ack(1000), [Out::Ack(1000)]);
    assert_eq!(script.ack(1000), [Out::Retransmission(1000)]);
    assert_eq!(script.ack(1000), []);
}

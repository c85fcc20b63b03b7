//! Tests properties that every middlebox must have for any input.

use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_middlebox::{ALL, Decision, Exit, Middlebox, Site};
use lasthop_wire::{Body, Ecn, Flags, FlowId, Packet, Priority, Segment, Seq, Timestamps};
use proptest::prelude::*;

const FLOWS: u32 = 2;

/// Builds all middleboxes, at a node where the data of the first flow goes down and the data of the second flow goes
/// up.
fn boxes() -> Vec<(&'static str, Box<dyn Middlebox>)> {
    let exit = |down| Some(Exit { down, round_trip: Duration::from_millis(10) });
    let flows = vec![[exit(true), exit(false)], [exit(false), exit(true)]];
    let site = Site { flows, random: Stream::named(1, "test") };
    let built = ALL.iter().filter_map(|mechanism| {
        let choice = Choice::of(mechanism);
        Some((choice.info.name, (choice.build)(&choice.values, &site)?))
    });
    built.collect()
}

/// Generates one of a few sequence numbers around the wrap.
fn number() -> impl Strategy<Value = Seq> {
    (0u32..12).prop_map(|step| Seq((step * 700).wrapping_sub(4000)))
}

fn packet() -> impl Strategy<Value = Packet> {
    let flags = prop_oneof![
        6 => Just(Flags::ACK),
        1 => Just(Flags::SYN),
        1 => Just(Flags::SYN | Flags::ACK),
        1 => (0..0x200u16).prop_map(Flags),
    ];
    let len = prop_oneof![Just(0), Just(700), 0u32..3000];
    let sack = prop::collection::vec((number(), number()), 0..3);
    let stamps = prop::option::of((any::<u32>(), any::<u32>()));
    let body = (number(), number(), len, flags, prop_oneof![Just(500u16), any::<u16>()], sack, stamps);
    (0..FLOWS, any::<bool>(), body, any::<bool>()).prop_map(|(flow, forward, body, marked)| {
        let (seq, ack, len, flags, window, sack, stamps) = body;
        let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        let mut segment = Segment { seq, ack, len, flags, window, timestamps, ..Segment::default() };
        if flags.has(Flags::SYN) {
            (segment.mss, segment.sack_permitted) = (Some((len as u16).max(1)), true);
        }
        sack.iter().for_each(|(left, right)| segment.sack.push(*left, *right));
        Packet {
            number: 0,
            flow: FlowId(flow),
            wire_bytes: len + 40,
            forward,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: if marked { Ecn::Ce } else { Ecn::Ect0 },
            priority: Priority::NORMAL,
            route: 0,
            hop: 0,
            enqueued_at: Time::ZERO,
            body: Body::Tcp(segment),
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each packet must be either forwarded, consumed, dropped or held, and only once. New packets must belong to a
    /// flow that passes the node. Only `wtcp` may hold packets. Timers must not cause endless output at one instant.
    #[test]
    fn each_packet_has_one_fate(packets in prop::collection::vec((packet(), 0u64..300), 1..80)) {
        for (name, mut middlebox) in boxes() {
            let (mut now, mut out) = (Time::ZERO, Vec::new());
            let mut fates = vec![0; packets.len()];
            for (number, (packet, millis)) in packets.iter().enumerate() {
                let packet = Packet { number: number as u64, ..*packet };
                now += Duration::from_millis(*millis);
                let mut woken = 0;
                while middlebox.poll_timeout() <= now {
                    out.clear();
                    middlebox.handle_timeout(now, &mut out);
                    settle(name, &out, &packets, &mut fates)?;
                    woken += 1;
                    prop_assert!(woken < 1000, "{name} causes endless output at one instant");
                }
                out.clear();
                middlebox.handle_packet(now, packet, &mut out);
                settle(name, &out, &packets, &mut fates)?;
                let is_known = out.iter().all(|one| match one {
                    Decision::Retransmit(own) | Decision::Emit(own) => own.flow == packet.flow,
                    _ => true,
                });
                prop_assert!(is_known, "{name}");
                if millis % 7 == 0 {
                    middlebox.handle_queue_drop(now, &packet);
                }
                if millis % 5 == 0 {
                    out.clear();
                    middlebox.handle_failure(now, &packet, 1, &mut out);
                    settle(name, &out, &packets, &mut fates)?;
                }
            }
            // Only `wtcp` may hold packets back.
            let held = fates.iter().filter(|fates| **fates == 0).count();
            prop_assert!(held == 0 || name == "wtcp", "{name} holds {held}");
        }
    }
}

fn settle(
    name: &str,
    out: &[Decision],
    packets: &[(Packet, u64)],
    fates: &mut [u32],
) -> Result<(), TestCaseError> {
    for one in out {
        let packet = match one {
            Decision::Forward(packet) | Decision::Consume(packet) | Decision::Drop(packet, _) => packet,
            Decision::Rewrite(packet) => packet,
            Decision::Retransmit(_) | Decision::Emit(_) => continue,
        };
        let number = packet.number as usize;
        fates[number] += 1;
        prop_assert_eq!(fates[number], 1, "{}: {:?}", name, packet);
        // The output must be the same packet, possibly with a changed header.
        let came = Packet { number: packet.number, ..packets[number].0 };
        let body = if let Decision::Rewrite(_) = one { packet.body } else { came.body };
        prop_assert_eq!(*packet, Packet { body, ..came }, "{}", name);
    }
    Ok(())
}

/// Every middlebox must forward packets of flows that it does not serve.
#[test]
fn what_is_not_its_own_passes() {
    let nowhere = Site { flows: vec![[None, None]], random: Stream::named(1, "test") };
    for mechanism in ALL {
        let choice = Choice::of(mechanism);
        let Some(mut middlebox) = (choice.build)(&choice.values, &nowhere) else { continue };
        let mut out = Vec::new();
        let segment = Segment { len: 100, flags: Flags::ACK, ..Segment::default() };
        let packet = Packet {
            number: 7,
            flow: FlowId(9),
            wire_bytes: 140,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Priority::NORMAL,
            route: 0,
            hop: 0,
            enqueued_at: Time::ZERO,
            body: Body::Tcp(segment),
        };
        middlebox.handle_packet(Time::ZERO, packet, &mut out);
        let datagram = Packet { flow: FlowId(0), body: Body::Datagram { number: 1 }, ..packet };
        middlebox.handle_packet(Time::ZERO, datagram, &mut out);
        assert_eq!(out, [Decision::Forward(packet), Decision::Forward(datagram)], "{}", choice.info.name);
    }
}

//! Tests that a read by the application sends an ACK only if the ACK advertises a larger window or acknowledges new
//! data.

mod world;

use lasthop_base::Duration;
use lasthop_host::Options;
use lasthop_wire::bytes::{Checksums, Content, Header, Payload, emit, parse};
use lasthop_wire::{Body, Flags, Segment};
use std::cell::RefCell;
use std::rc::Rc;
use world::{CLEAN, HostSide, World, text};

type Acks = Rc<RefCell<Vec<(u32, u16)>>>;

/// Records the pure ACKs of the server. If `strips` is true, the path removes the window scale option from SYNs.
fn watch(world: &mut World, strips: bool) -> Acks {
    let acks = Acks::default();
    let noted = Rc::clone(&acks);
    world.path_hook = Some(Box::new(move |to, packet| {
        let (header, segment) = read(&packet);
        if to == HostSide::Client && segment.is_pure_ack() {
            noted.borrow_mut().push((segment.ack.0, segment.window));
        }
        if !strips || !segment.flags.has(Flags::SYN) {
            return vec![(to, packet)];
        }
        let bare = Segment { window_scale: None, ..segment };
        let mut changed = Vec::new();
        emit(&header, &Body::Tcp(bare), Payload::Bytes(&[]), &mut changed)
            .expect("the packet is valid without the window scale option");
        vec![(to, changed)]
    }));
    acks
}

fn read(packet: &[u8]) -> (Header, Segment) {
    let parsed = parse(packet, Checksums::Verify).expect("a host sends valid packets");
    let Content::Tcp(segment) = parsed.content else { panic!("a host sends TCP") };
    (parsed.header, segment)
}

/// Sends 300,000 bytes to a server that reads 700 bytes at a time. Returns the server's ACKs.
fn acks_while_reading(strips: bool) -> Vec<(u32, u16)> {
    let mut world = World::new(1, CLEAN);
    let acks = watch(&mut world, strips);
    world.each = Duration::from_micros(100);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    let bytes = text(300_000, 1);
    assert_eq!(world.client.send(local, &bytes), Ok(bytes.len()));
    let (mut received, mut buffer) = (Vec::new(), [0; 700]);
    while received.len() < bytes.len() {
        while let Ok(len) = world.server.recv(remote, &mut buffer) {
            received.extend_from_slice(&buffer[..len]);
        }
        assert!(
            world.step() || received.len() == bytes.len(),
            "no event is pending, but the transfer is incomplete"
        );
    }
    assert_eq!(received, bytes);
    acks.take()
}

fn repeated(acks: &[(u32, u16)]) -> usize {
    acks.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// The server acknowledges at least every second segment (RFC 5681 §4.2). 300,000 bytes need 208 segments of 1448
/// bytes, and therefore about 104 ACKs.
#[test]
fn reading_sends_no_acknowledgement_twice_without_window_scaling() {
    let acks = acks_while_reading(true);
    assert_eq!(repeated(&acks), 0, "of {} ACKs", acks.len());
    assert!((100..=112).contains(&acks.len()), "{} ACKs", acks.len());
}

#[test]
fn reading_sends_no_acknowledgement_twice_with_window_scaling() {
    let acks = acks_while_reading(false);
    assert_eq!(repeated(&acks), 0, "of {} ACKs", acks.len());
    assert!((100..=112).contains(&acks.len()), "{} ACKs", acks.len());
}

/// The server has 100,000 unread bytes and reads 100 bytes at a time. Each window update advances the window by at
/// least two segments.
#[test]
fn a_slow_reader_tells_its_window_in_steps_of_two_segments() {
    let mut world = World::new(2, CLEAN);
    let acks = watch(&mut world, false);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.client.send(local, &text(100_000, 2)).expect("the send buffer has room");
    world.run_for(Duration::from_secs(2));
    acks.borrow_mut().clear();
    let mut buffer = [0; 100];
    for _ in 0..1000 {
        assert_eq!(world.server.recv(remote, &mut buffer), Ok(100));
        world.run_for(Duration::from_millis(1));
    }
    let acks = acks.take();
    let steps: Vec<u32> = acks.windows(2).map(|pair| u32::from(pair[1].1 - pair[0].1) << 7).collect();
    assert!(steps.iter().all(|step| (2 * 1448..2 * 1448 + 256).contains(step)), "{steps:?}");
    // 100,000 bytes in steps of two segments are about 34 window updates.
    assert!((31..=34).contains(&acks.len()), "{} updates", acks.len());
}

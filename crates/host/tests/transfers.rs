//! Tests that each application reads exactly the bytes that the peer's application wrote, over paths that lose and
//! reorder packets.

mod world;

use lasthop_base::{Choice, Duration, Time};
use lasthop_host::Options;
use lasthop_tcp::sender::{ack_counting, congestion, recovery};
use lasthop_tcp::{Config, State};
use proptest::prelude::*;
use world::{CLEAN, Faults, HostSide, Transfer, World, text};

#[test]
fn a_clean_path_carries_both_directions_at_once() {
    let mut world = World::new(1, CLEAN);
    both_ways(&mut world, &Options::default(), &Options::default(), 300_000, 200_000);
    assert_eq!(world.client.counters().malformed, 0);
}

#[test]
fn every_recovery_and_congestion_control_gets_every_byte_through() {
    let faults = Faults { lose: 0.03, duplicate: 0.02, delay: 0.05, corrupt: 0.02, truncate: 0.01 };
    let (mut seed, mut malformed) = (0, 0);
    for recovery in recovery::ALL {
        for congestion in congestion::ALL {
            for ack_counting in ack_counting::ALL {
                seed += 1;
                let mut options = Options::default();
                options.tcp.recovery = Choice::named(recovery::ALL, recovery.info.name);
                options.tcp.congestion = Choice::named(congestion::ALL, congestion.info.name);
                options.tcp.ack_counting = Choice::named(ack_counting::ALL, ack_counting.info.name);
                let mut world = World::new(seed, faults);
                both_ways(&mut world, &options, &options, 60_000, 30_000);
                malformed += world.client.counters().malformed + world.server.counters().malformed;
            }
        }
    }
    assert!(malformed > seed, "too few packets were corrupted");
}

#[test]
fn a_small_window_and_a_slow_reader_lose_nothing() {
    let mut world = World::new(3, CLEAN);
    let server = Options { receive_buffer: Some(4000), ..Options::default() };
    let (local, remote, _) = world.connect(&Options::default(), &server);
    let bytes = text(100_000, 3);
    let (mut sent, mut received) = (0, Vec::new());
    let mut buffer = [0; 700];
    while received.len() < bytes.len() {
        if sent < bytes.len() {
            sent += world.client.send(local, &bytes[sent..]).unwrap_or(0);
        }
        world.run_for(Duration::from_millis(50));
        if let Ok(len) = world.server.recv(remote, &mut buffer) {
            received.extend_from_slice(&buffer[..len]);
        }
        assert!(world.server.info(remote).expect("a connection").unread_bytes <= 4000);
        assert!(world.now < Time::ZERO + Duration::from_secs(100));
    }
    assert_eq!(received, bytes);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn any_faults_leave_the_streams_whole(
        seed in any::<u64>(),
        faults in (0.0..0.15, 0.0..0.1, 0.0..0.3, 0.0..0.1, 0.0..0.05),
        lens in (0..40_000usize, 0..40_000usize),
        mss in prop_oneof![Just(None), (64..1500u16).prop_map(Some)],
        flags in any::<[bool; 5]>(),
        buffers in (1..100_000usize, 2000..100_000u64),
    ) {
        let (lose, duplicate, delay, corrupt, truncate) = faults;
        let [sack, timestamps, ecn, accecn, nagle] = flags;
        let options = Options {
            tcp: Config { sack, timestamps, ecn, accecn, nagle, ..Options::default().tcp },
            mss,
            send_buffer: buffers.0,
            receive_buffer: Some(buffers.1),
            ..Options::default()
        };
        let mut world = World::new(seed, Faults { lose, duplicate, delay, corrupt, truncate });
        both_ways(&mut world, &options, &Options::default(), lens.0, lens.1);
    }
}

fn both_ways(world: &mut World, client: &Options, server: &Options, up: usize, down: usize) {
    // At a loss rate of one third, about one handshake in a thousand fails.
    let Some((local, remote, listener)) = world.try_connect(client, server) else {
        assert!(world.faults.lose > 0.0, "the handshake fails although the path loses no packets");
        return;
    };
    let (here, there) = ((HostSide::Client, local), (HostSide::Server, remote));
    let mut up = Transfer::new(here, there, text(up, 10));
    let mut down = Transfer::new(there, here, text(down, 11));
    for transfer in [&mut up, &mut down] {
        if transfer.text.is_empty() {
            let (at, handle) = transfer.from;
            world.host(at).shutdown(handle).expect("it was open");
        }
    }
    let start = world.now;
    while !(up.is_over && down.is_over) {
        up.advance(world);
        down.advance(world);
        assert!(
            world.step() || (up.is_over && down.is_over),
            "no event is pending, but the transfers are incomplete"
        );
        assert!(world.now.since(start) < Duration::from_secs(3600), "the transfer takes more than an hour");
    }
    assert_eq!(up.received.len(), up.text.len());
    assert_eq!(down.received.len(), down.text.len());
    world.client.close(world.now, local).expect("a socket");
    world.server.close(world.now, remote).expect("a socket");
    world.server.close(world.now, listener).expect("a socket");
    world.run_for(Duration::from_secs(400));
    assert_eq!(
        (world.client.sockets(), world.server.sockets()),
        (0, 0),
        "a socket remains after both applications have closed all handles"
    );
}

#[test]
fn the_side_that_closes_first_waits() {
    let mut world = World::new(4, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.client.shutdown(local).expect("open");
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.server.recv(remote, &mut [0; 10]), Ok(0));
    world.server.close(world.now, remote).expect("open");
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.client.info(local).map(|info| info.state), Ok(State::TimeWait));
    world.run_for(Duration::from_secs(61));
    assert_eq!(world.client.info(local).map(|info| info.state), Ok(State::Closed));
    assert_eq!(world.client.recv(local, &mut [0; 10]), Ok(0));
}

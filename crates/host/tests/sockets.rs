//! Tests of socket operations other than sending and receiving.

mod world;

use lasthop_base::Duration;
use lasthop_host::{Error, Handle, Host, Options};
use lasthop_tcp::endpoint::KeepAlive;
use world::{CLEAN, World, server_end, text};

fn read(host: &mut Host, handle: Handle) -> Vec<u8> {
    let mut bytes = [0; 100_000];
    let len = host.recv(handle, &mut bytes).expect("bytes are readable");
    bytes[..len].to_vec()
}

const ONE_WAY: Duration = Duration::from_millis(10);
const ROUND_TRIP: Duration = Duration::from_millis(20);

#[test]
fn what_is_peeked_at_stays() {
    let mut world = World::new(1, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    let mut bytes = [0; 20];
    assert_eq!(world.server.peek(remote, &mut bytes), Err(Error::WouldBlock));
    world.client.send(local, b"twice").unwrap();
    world.run_for(ROUND_TRIP);
    for _ in 0..2 {
        assert_eq!(world.server.peek(remote, &mut bytes), Ok(5));
        assert_eq!(&bytes[..5], b"twice");
    }
    assert_eq!(world.server.peek(remote, &mut bytes[..2]), Ok(2));
    assert_eq!(world.server.info(remote).unwrap().unread_bytes, 5);
    assert_eq!(read(&mut world.server, remote), b"twice");
    world.client.shutdown(local).unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.server.peek(remote, &mut bytes), Ok(0), "the end of the stream");
    world.client.abort(local).unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.server.peek(remote, &mut bytes), Err(Error::ConnectionReset));
    let listener = world.server.listen("0.0.0.0:81".parse().unwrap(), 1, &Options::default()).unwrap();
    assert_eq!(world.server.peek(listener, &mut bytes), Err(Error::Invalid));
}

#[test]
fn a_peek_opens_no_window() {
    let mut world = World::new(2, CLEAN);
    let server = Options { receive_buffer: Some(4000), ..Options::default() };
    let (local, remote, _) = world.connect(&Options::default(), &server);
    world.client.send(local, &text(10_000, 1)).unwrap();
    world.run_for(ROUND_TRIP * 10);
    let sent = world.server.counters().packets_out;
    assert_eq!(world.server.peek(remote, &mut [0; 4000]), Ok(2896), "two segments");
    world.run_for(ROUND_TRIP);
    assert_eq!(world.server.counters().packets_out, sent);
    assert_eq!(read(&mut world.server, remote).len(), 2896);
    world.run_for(ROUND_TRIP);
    assert!(world.server.counters().packets_out > sent);
}

/// If options of a listener change, the new values apply only to later connections. The test changes single options,
/// then all options.
#[test]
fn options_of_a_live_listener_are_inherited() {
    let mut world = World::new(3, CLEAN);
    let (_, before, listener) = world.connect(&Options::default(), &Options::default());
    let again = |world: &mut World| {
        let local = world.client.connect(world.now, None, server_end(), &Options::default()).unwrap();
        world.run_for(ROUND_TRIP * 2);
        (local, world.server.accept(listener).expect("a connection").0)
    };
    world.server.set_nodelay(listener, true).unwrap();
    world.server.set_user_timeout(listener, Some(Duration::from_secs(5))).unwrap();
    let second = Duration::from_secs(1);
    let keep_alive = KeepAlive { idle: second * 50, interval: second, probes: 3 };
    world.server.set_keep_alive(world.now, listener, Some(keep_alive)).unwrap();
    let (_, idle) = again(&mut world);
    let (local, after) = again(&mut world);
    for byte in [b"a", b"b"] {
        world.server.send(before, byte).unwrap();
        world.server.send(after, byte).unwrap();
        world.run_for(Duration::from_millis(1));
    }
    world.run_for(ONE_WAY);
    assert_eq!(read(&mut world.client, local), b"ab", "without Nagle the second byte does not wait");
    assert_eq!(world.server.info(before).unwrap().unacked_bytes, 1, "with Nagle the second byte waits");
    world.run_for(second);
    world.cut = true;
    world.server.send(before, b"c").unwrap();
    world.server.send(after, b"c").unwrap();
    world.run_for(second * 20);
    assert_eq!(
        world.server.take_error(before),
        Ok(None),
        "the user timeout of this connection is 15 minutes"
    );
    assert_eq!(
        world.server.take_error(after),
        Ok(Some(Error::TimedOut)),
        "the user timeout of this connection is 5 s"
    );
    world.run_for(second * 50);
    assert_eq!(
        world.server.take_error(idle),
        Ok(Some(Error::TimedOut)),
        "keep-alive ends this connection after 53 s"
    );
    world.cut = false;

    let small = Options { mss: Some(600), ..Options::default() };
    assert_eq!(world.server.set_options(before, &small), Err(Error::Invalid));
    let wrong = Options { mss: Some(1), ..Options::default() };
    assert_eq!(world.server.set_options(listener, &wrong), Err(Error::Invalid));
    world.server.set_options(listener, &small).unwrap();
    let (local, _) = again(&mut world);
    assert_eq!(world.client.info(local).unwrap().snd_mss, 600 - 12, "the MSS less 12 bytes of timestamps");
}

/// After `SHUT_RD`, bytes that had already arrived stay readable. Later bytes are acknowledged and discarded, even if
/// their number exceeds the receive buffer. The opposite direction continues.
#[test]
fn the_reading_half_is_closed_alone() {
    let mut world = World::new(4, CLEAN);
    let server = Options { receive_buffer: Some(10_000), ..Options::default() };
    let (local, remote, _) = world.connect(&Options::default(), &server);
    world.client.send(local, b"before").unwrap();
    world.run_for(ROUND_TRIP);
    world.server.shutdown_read(remote).unwrap();
    world.client.send(local, &text(100_000, 2)).unwrap();
    world.run_for(ROUND_TRIP * 40);
    let info = world.client.info(local).unwrap();
    assert_eq!((info.bytes_acked, info.unacked_bytes), (100_006, 0), "the peer can send all its data");
    assert_eq!(read(&mut world.server, remote), b"before");
    assert_eq!(world.server.recv(remote, &mut [0; 9]), Ok(0));
    assert_eq!(world.server.peek(remote, &mut [0; 9]), Ok(0));
    assert!(world.server.readiness(remote).unwrap().readable, "the end of the stream can be read");
    let info = world.server.info(remote).unwrap();
    assert_eq!((info.bytes_received, info.bytes_read, info.unread_bytes), (100_006, 6, 0));
    world.server.send(remote, b"after").unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(read(&mut world.client, local), b"after");
    world.client.shutdown(local).unwrap();
    world.run_for(ROUND_TRIP);
    world.server.close(world.now, remote).unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.client.recv(local, &mut [0; 9]), Ok(0));
    assert_eq!(world.client.take_error(local), Ok(None));
}

/// If data arrives at a socket whose sending and reading are shut down, the connection is reset (RFC 1122 §4.2.2.13).
#[test]
fn data_for_a_socket_with_both_halves_closed_resets() {
    let mut world = World::new(5, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.server.shutdown_read(remote).unwrap();
    world.server.shutdown(remote).unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.client.take_error(local), Ok(None));
    world.client.send(local, b"are you there?").unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.client.send(local, b"x"), Err(Error::ConnectionReset));
}

#[test]
fn halves_of_what_is_not_open_cannot_be_closed() {
    let mut world = World::new(6, CLEAN);
    let local = world.client.connect(world.now, None, server_end(), &Options::default()).unwrap();
    assert_eq!(world.client.shutdown_read(local), Err(Error::NotConnected));
    let listener = world.client.listen("0.0.0.0:81".parse().unwrap(), 1, &Options::default()).unwrap();
    assert_eq!(world.client.shutdown_read(listener), Err(Error::Invalid));
}

/// After reading is shut down, bytes beyond a hole never become readable, even if later segments fill the hole. The
/// bytes of these later segments are not readable, either.
#[test]
fn a_hole_when_the_reading_half_is_closed() {
    let mut world = World::new(7, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    let mut count = 0;
    world.path_hook = Some(Box::new(move |to, packet| {
        count += usize::from(packet.len() > 1000);
        // The path loses the first transmission of the second data segment.
        if packet.len() > 1000 && count == 2 { Vec::new() } else { vec![(to, packet)] }
    }));
    let bytes = text(14_480, 3);
    world.client.send(local, &bytes).unwrap();
    world.run_for(ONE_WAY);
    world.server.shutdown_read(remote).unwrap();
    world.run_for(ROUND_TRIP * 20);
    assert_eq!(world.client.info(local).unwrap().bytes_acked, 14_480);
    assert_eq!(read(&mut world.server, remote), bytes[..1448]);
    assert_eq!(world.server.recv(remote, &mut [0; 9]), Ok(0));
}

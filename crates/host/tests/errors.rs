//! Tests of the errors that socket calls return. The errors have the meaning of their POSIX names.

mod world;

use lasthop_base::Duration;
use lasthop_host::{Error, Host, Options, Readiness};
use lasthop_tcp::endpoint::KeepAlive;
use lasthop_wire::bytes::{FlowAddresses, Header, Payload, emit};
use lasthop_wire::{Body, Ecn, Flags, FlowId, Packet, Priority, Segment};
use std::net::{IpAddr, SocketAddr};
use world::{CLEAN, World, client_ip, server_end, text};

#[test]
fn nobody_listens_connection_refused() {
    let mut world = World::new(1, CLEAN);
    let local = world.client.connect(world.now, None, server_end(), &Options::default()).unwrap();
    // During the handshake, Linux and FreeBSD return EAGAIN. Linux and FreeBSD return ENOTCONN only before `connect`.
    assert_eq!(world.client.recv(local, &mut [0; 1]), Err(Error::WouldBlock));
    assert_eq!(world.client.peek(local, &mut [0; 1]), Err(Error::WouldBlock));
    assert_eq!(world.client.send(local, b"x"), Err(Error::WouldBlock));
    world.run_for(Duration::from_secs(1));
    assert_eq!(
        world.client.readiness(local),
        Ok(Readiness { readable: true, writable: true, hung_up: true })
    );
    assert_eq!(world.client.recv(local, &mut [0; 1]), Err(Error::ConnectionRefused));
    assert_eq!(world.client.recv(local, &mut [0; 1]), Ok(0));
    assert_eq!(world.client.send(local, b"x"), Err(Error::BrokenPipe));
    assert_eq!(world.client.close(world.now, local), Ok(()));
    world.run_for(Duration::from_secs(1));
    assert_eq!(world.client.sockets(), 0);
}

#[test]
fn an_abort_is_a_reset_to_the_peer_after_what_had_arrived() {
    let mut world = World::new(2, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.client.send(local, b"last words").unwrap();
    world.run_for(Duration::from_millis(100));
    world.client.abort(local).unwrap();
    assert_eq!(world.client.send(local, b"x"), Err(Error::BadHandle));
    world.run_for(Duration::from_millis(100));
    let mut bytes = [0; 20];
    assert_eq!(world.server.recv(remote, &mut bytes), Ok(10));
    assert_eq!(world.server.take_error(remote), Ok(Some(Error::ConnectionReset)));
    assert_eq!(world.server.take_error(remote), Ok(None));
    assert_eq!(world.server.send(remote, b"x"), Err(Error::BrokenPipe));
    assert_eq!(world.client.sockets(), 0);
}

#[test]
fn closing_with_unread_bytes_resets() {
    let mut world = World::new(3, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.client.send(local, b"nobody reads this").unwrap();
    world.run_for(Duration::from_millis(100));
    world.server.close(world.now, remote).unwrap();
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.client.send(local, b"x"), Err(Error::ConnectionReset));
}

#[test]
fn bytes_for_a_closed_socket_reset_the_connection() {
    let mut world = World::new(4, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    world.server.close(world.now, remote).unwrap();
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.client.recv(local, &mut [0; 1]), Ok(0));
    world.client.send(local, b"are you there?").unwrap();
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.client.send(local, b"x"), Err(Error::ConnectionReset));
    assert_eq!(world.server.sockets(), 1, "only the listener is left");
}

#[test]
fn a_peer_that_never_finishes_does_not_hold_a_closed_socket_for_ever() {
    let mut world = World::new(5, CLEAN);
    let (local, _remote, _) = world.connect(&Options::default(), &Options::default());
    world.client.close(world.now, local).unwrap();
    world.run_for(Duration::from_secs(30));
    assert_eq!(world.client.sockets(), 1);
    world.run_for(Duration::from_secs(31));
    assert_eq!(world.client.sockets(), 0);
}

#[test]
fn what_cannot_be_asked_for_is_said() {
    let mut host = Host::new(&[client_ip()], 1500, [0; 16]);
    let now = lasthop_base::Time::ZERO;
    let (ours, elsewhere) = (SocketAddr::new(client_ip(), 80), SocketAddr::from(([9, 9, 9, 9], 80)));
    let options = Options::default();
    let listener = host.listen(ours, 1, &options).unwrap();
    assert_eq!(host.listen(ours, 1, &options), Err(Error::AddressInUse));
    assert_eq!(host.listen(elsewhere, 1, &options), Err(Error::AddressNotAvailable));
    assert_eq!(host.listen(SocketAddr::new(client_ip(), 0), 1, &options), Err(Error::Invalid));
    let v6 = SocketAddr::new(IpAddr::from([0xfd; 16]), 80);
    assert_eq!(host.connect(now, None, v6, &options), Err(Error::NetworkUnreachable));
    assert_eq!(host.connect(now, Some(elsewhere), server_end(), &options), Err(Error::AddressNotAvailable));
    for many in ["255.255.255.255:80", "224.0.0.1:80", "[ff02::1]:80", "0.0.0.0:80", "10.0.0.2:0"] {
        assert_eq!(host.connect(now, None, many.parse().unwrap(), &options), Err(Error::Invalid), "{many}");
    }
    host.connect(now, Some(ours), server_end(), &options).unwrap();
    assert_eq!(host.connect(now, Some(ours), server_end(), &options), Err(Error::AddressInUse));
    for wrong in [
        Options { mss: Some(63), ..Options::default() },
        Options { send_buffer: 0, ..Options::default() },
        Options { receive_buffer: Some(0), ..Options::default() },
        Options { dscp: 64, ..Options::default() },
        Options { ttl: 0, ..Options::default() },
    ] {
        assert_eq!(host.connect(now, None, server_end(), &wrong), Err(Error::Invalid));
    }
    assert_eq!(host.accept(listener), Err(Error::WouldBlock));
    assert_eq!(host.send(listener, b"x"), Err(Error::Invalid));
    assert_eq!(host.close(now, listener), Ok(()));
    assert_eq!(host.close(now, listener), Err(Error::BadHandle));
    assert_eq!(Error::ConnectionRefused.to_string(), "connection refused (ECONNREFUSED)");
}

#[test]
fn a_flood_of_syns_costs_no_more_than_the_backlog() {
    let mut world = World::new(6, CLEAN);
    let listener = world.server.listen(server_end(), 4, &Options::default()).unwrap();
    let options = Options::default();
    let clients: Vec<_> =
        (0..20).map(|_| world.client.connect(world.now, None, server_end(), &options).unwrap()).collect();
    world.run_for(Duration::from_millis(50));
    assert_eq!(world.server.sockets(), 5, "one listener and four connections");
    assert_eq!(world.server.counters().backlog_full, 16);
    let open = clients.iter().filter(|client| world.client.readiness(**client).unwrap().writable).count();
    assert_eq!(open, 4);
    // Accepted connections do not count towards the backlog. Therefore retransmitted SYNs open further connections.
    let mut accepted = 0;
    for _ in 0..200 {
        while world.server.accept(listener).is_ok() {
            accepted += 1;
        }
        world.run_for(Duration::from_secs(1));
    }
    assert_eq!(accepted, 20);
}

#[test]
fn a_packet_of_no_connection_is_answered_with_a_reset_and_noise_with_nothing() {
    let mut world = World::new(7, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    // The server aborts, but the path drops its RST. The connection is then half-open (RFC 9293 §3.5.1): it exists only
    // at the client.
    world.cut = true;
    world.server.abort(remote).unwrap();
    world.run_for(Duration::from_millis(50));
    world.cut = false;
    world.client.send(local, b"hello?").unwrap();
    world.run_for(Duration::from_millis(100));
    assert_eq!(world.client.send(local, b"x"), Err(Error::ConnectionReset));
    assert_eq!(world.server.counters().unmatched_segments, 1);
    let now = world.now;
    for noise in [vec![], vec![0x45; 3], text(60, 1), vec![0x60; 40]] {
        world.server.handle_packet(now, &noise);
        assert_eq!(world.server.poll_packet(now), None);
    }
    assert_eq!(world.server.counters().malformed, 4);
}

#[test]
fn ipv6_too() {
    let mut world = World::new(8, CLEAN);
    let end = SocketAddr::new(IpAddr::from([0xfe; 16]), 443);
    let listener = world.server.listen("[::]:443".parse().unwrap(), 1, &Options::default()).unwrap();
    let local = world.client.connect(world.now, None, end, &Options::default()).unwrap();
    world.run_for(Duration::from_millis(50));
    let (remote, who) = world.server.accept(listener).unwrap();
    assert_eq!(who.ip(), IpAddr::from([0xfd; 16]));
    world.client.send(local, b"six").unwrap();
    world.run_for(Duration::from_millis(50));
    let mut bytes = [0; 9];
    assert_eq!(world.server.recv(remote, &mut bytes), Ok(3));
    // The MTU of 1500 bytes contains 40 bytes of IPv6 header, 20 bytes of TCP header and 12 bytes of timestamps.
    assert_eq!(world.client.info(local).unwrap().snd_mss, 1428);
}

#[test]
fn a_new_syn_takes_the_place_of_a_connection_in_time_wait() {
    let mut world = World::new(9, CLEAN);
    let listener = world.server.listen(server_end(), 4, &Options::default()).unwrap();
    let from = Some(SocketAddr::new(client_ip(), 5555));
    for _ in 0..3 {
        let local = world.client.connect(world.now, from, server_end(), &Options::default()).unwrap();
        world.run_for(Duration::from_millis(50));
        let (remote, _) = world.server.accept(listener).unwrap();
        // The server closes first and therefore enters TIME-WAIT.
        world.server.close(world.now, remote).unwrap();
        world.run_for(Duration::from_millis(50));
        assert_eq!(world.client.recv(local, &mut [0; 1]), Ok(0));
        world.client.close(world.now, local).unwrap();
        world.run_for(Duration::from_millis(50));
        assert_eq!(world.client.sockets(), 0);
    }
    assert_eq!(world.server.sockets(), 4, "the listener, and three connections in TIME-WAIT");
    world.run_for(Duration::from_secs(61));
    assert_eq!(world.server.sockets(), 1);
}

#[test]
fn keep_alive_notices_that_the_peer_is_gone_and_options_change_an_open_connection() {
    let mut world = World::new(10, CLEAN);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    let second = Duration::from_secs(1);
    let keep_alive = KeepAlive { idle: second * 10, interval: second, probes: 3 };
    world.client.set_keep_alive(world.now, local, Some(keep_alive)).unwrap();
    world.run_for(second * 100);
    assert_eq!(world.client.take_error(local), Ok(None), "the peer answers the keep-alive probes");
    world.client.set_nodelay(local, true).unwrap();
    for byte in [b"a", b"b"] {
        world.client.send(local, byte).unwrap();
    }
    world.run_for(Duration::from_millis(15));
    assert_eq!(
        world.server.recv(remote, &mut [0; 9]),
        Ok(2),
        "without Nagle's algorithm, the second byte does not wait for an acknowledgement"
    );
    world.run_for(second);
    world.cut = true;
    world.run_for(second * 15);
    assert_eq!(world.client.take_error(local), Ok(Some(Error::TimedOut)));

    let (local, _, _) = {
        world.cut = false;
        let again =
            world.server.listen(SocketAddr::new(server_end().ip(), 81), 1, &Options::default()).unwrap();
        let to = SocketAddr::new(server_end().ip(), 81);
        let local = world.client.connect(world.now, None, to, &Options::default()).unwrap();
        world.run_for(second);
        (local, world.server.accept(again).unwrap(), again)
    };
    world.client.set_user_timeout(local, Some(second * 5)).unwrap();
    world.cut = true;
    world.client.send(local, b"x").unwrap();
    world.run_for(second * 4);
    assert_eq!(world.client.take_error(local), Ok(None));
    world.run_for(second * 10);
    assert_eq!(world.client.take_error(local), Ok(Some(Error::TimedOut)));
}

#[test]
fn syns_from_or_to_many_are_not_answered() {
    let mut world = World::new(11, CLEAN);
    world.server.listen("0.0.0.0:80".parse().unwrap(), 4, &Options::default()).unwrap();
    world.server.listen("[::]:80".parse().unwrap(), 4, &Options::default()).unwrap();
    let ours = server_end();
    let ours_v6 = SocketAddr::new(IpAddr::from([0xfe; 16]), 80);
    for (from, to) in [
        ("224.0.0.1:5", ours),
        ("255.255.255.255:5", ours),
        ("0.0.0.0:5", ours),
        ("10.0.0.9:5", "255.255.255.255:80".parse().unwrap()),
        ("10.0.0.9:5", "224.0.0.1:80".parse().unwrap()),
        ("10.0.0.2:80", ours),
        ("[ff02::1]:5", ours_v6),
        ("[::]:5", ours_v6),
        ("[fd00::9]:5", "[ff02::1]:80".parse().unwrap()),
    ] {
        let source = from.parse().unwrap();
        let ends = FlowAddresses { source, destination: to };
        let syn = Segment { flags: Flags::SYN, ..Segment::default() };
        let packet = Packet {
            number: 0,
            flow: FlowId(0),
            wire_bytes: 40,
            forward: true,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Priority::NORMAL,
            route: 0,
            hop: 0,
            enqueued_at: lasthop_base::Time::ZERO,
            body: Body::Tcp(syn),
        };
        let mut bytes = Vec::new();
        emit(&Header::of(&packet, &ends), &packet.body, Payload::Bytes(&[]), &mut bytes).unwrap();
        let now = world.now;
        world.server.handle_packet(now, &bytes);
        assert_eq!(world.server.poll_packet(now), None, "{from} to {to}");
    }
    assert_eq!(world.server.counters().not_for_us, 9);
    assert_eq!(world.server.sockets(), 2, "two listeners and no connection");
}

//! Tests of the host's reaction to ICMP errors (RFC 9293 §3.9.2.2). Forged errors must not harm a connection (RFC
//! 5927).

mod world;

use etherparse::icmpv4::{DestUnreachableHeader as Why, ParameterProblemHeader, TimeExceededCode};
use etherparse::{Icmpv4Type, Icmpv6Type, PacketBuilder};
use lasthop_base::{Choice, Duration, Mechanism, Stream};
use lasthop_host::{Error, Handle, Options};
use lasthop_tcp::sender::{congestion, recovery};
use lasthop_tcp::{Config, State};
use lasthop_wire::bytes::{Checksums, Content, Header, Payload, emit, parse};
use lasthop_wire::{Body, Ecn, Flags, Segment, Seq};
use proptest::prelude::*;
use std::cell::Cell;
use std::net::SocketAddr;
use std::rc::Rc;
use world::{CLEAN, Faults, HostSide, Transfer, World, client_ip, server_end, text};

const SECOND: Duration = Duration::from_secs(1);
const ROUND_TRIP: Duration = Duration::from_millis(20);

/// Returns an ICMP message that the router 10.0.0.9 sends to the client about the packet `packet`.
fn about(packet: &[u8], message: Icmpv4Type) -> Vec<u8> {
    let mut bytes = Vec::new();
    PacketBuilder::ipv4([10, 0, 0, 9], [10, 0, 0, 1], 64)
        .icmpv4(message)
        .write(&mut bytes, &packet[..28])
        .expect("room");
    bytes
}

fn header(source: SocketAddr, destination: SocketAddr) -> Header {
    Header { source, destination, ecn: Ecn::NotEct, dscp: 0, id: 0, ttl: Header::TTL }
}

fn unreachable(why: Why) -> Icmpv4Type {
    Icmpv4Type::DestinationUnreachable(why)
}

/// Makes the path a router that drops each packet of the client and sends `message` to the client.
fn refuse(world: &mut World, message: Icmpv4Type) {
    world.path_hook = Some(Box::new(move |to, packet| match to {
        HostSide::Client => vec![(to, packet)],
        HostSide::Server => vec![(HostSide::Client, about(&packet, message.clone()))],
    }));
}

fn connect(world: &mut World) -> Handle {
    world
        .client
        .connect(world.now, None, server_end(), &Options::default())
        .expect("the connection attempt starts")
}

/// A hard error ends a connection attempt at once (SHLD-26, RFC 5461 §3).
#[test]
fn a_hard_error_ends_an_attempt_to_connect() {
    for (why, error) in [
        (Why::Protocol, Error::ConnectionRefused),
        (Why::Port, Error::ConnectionRefused),
        (Why::NetworkProhibited, Error::NetworkUnreachable),
        (Why::HostProhibited, Error::HostUnreachable),
        (Why::FilterProhibited, Error::HostUnreachable),
    ] {
        let mut world = World::new(1, CLEAN);
        refuse(&mut world, unreachable(why.clone()));
        let local = connect(&mut world);
        world.run_for(ROUND_TRIP);
        assert_eq!(world.client.info(local).unwrap().state, State::Closed, "{why:?}");
        assert_eq!(world.client.recv(local, &mut [0; 9]), Err(error), "{why:?}");
        assert_eq!(world.client.recv(local, &mut [0; 9]), Ok(0), "the error is reported only once");
        world.client.close(world.now, local).unwrap();
        world.run_for(SECOND);
        assert_eq!((world.client.sockets(), world.server.counters().packets_in), (0, 0));
    }
}

/// MUST-56: a soft error does not end a connection attempt. The application can read the soft error (SHLD-25). If the
/// attempt times out later, the socket reports the soft error.
#[test]
fn a_soft_error_is_told_and_no_more() {
    for (message, error) in [
        (unreachable(Why::Network), Error::NetworkUnreachable),
        (unreachable(Why::Host), Error::HostUnreachable),
        (unreachable(Why::SourceRouteFailed), Error::HostUnreachable),
        (Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit), Error::HostUnreachable),
        (Icmpv4Type::ParameterProblem(ParameterProblemHeader::PointerIndicatesError(1)), Error::Protocol),
    ] {
        let mut world = World::new(2, CLEAN);
        let listener = world.server.listen(server_end(), 1, &Options::default()).unwrap();
        refuse(&mut world, message);
        let (local, other) = (connect(&mut world), connect(&mut world));
        world.run_for(ROUND_TRIP);
        assert_eq!(world.client.info(local).unwrap().state, State::SynSent);
        assert_eq!(world.client.soft_error(local), Ok(Some(error)));
        assert_eq!(
            world.client.recv(local, &mut [0; 9]),
            Err(Error::WouldBlock),
            "the connection attempt continues"
        );
        // A segment from the peer that is not acceptable does not clear the error.
        let stray = Segment { flags: Flags::ACK, ..Segment::default() };
        let ends = world.client.ends(local).unwrap();
        let mut bytes = Vec::new();
        emit(&header(ends.destination, ends.source), &Body::Tcp(stray), Payload::Bytes(&[]), &mut bytes)
            .unwrap();
        let now = world.now;
        world.client.handle_packet(now, &bytes);
        assert_eq!(world.client.soft_error(local), Ok(Some(error)));
        assert_eq!(world.client.take_error(other), Ok(Some(error)));
        assert_eq!(world.client.take_error(other), Ok(None));
        // After three minutes of SYN retransmissions, the attempt fails. The socket then reports the ICMP error instead
        // of a timeout.
        world.run_for(SECOND * 200);
        assert_eq!(world.client.take_error(local), Ok(Some(error)));
        assert_eq!(world.client.take_error(local), Ok(None));

        let local = connect(&mut world);
        world.run_for(ROUND_TRIP);
        world.path_hook = None;
        world.run_for(SECOND * 2);
        assert!(world.client.readiness(local).unwrap().writable);
        assert_eq!(world.client.soft_error(local), Ok(None));
        assert!(world.server.accept(listener).is_ok());
    }
}

/// On an open connection, a hard error is treated as a soft error (RFC 5927 §5.2, RFC 5461). If the connection times
/// out later, the socket reports the ICMP error. If the peer has acknowledged data since the error, the socket reports
/// the timeout instead.
#[test]
fn no_error_ends_an_open_connection() {
    let client = Options {
        tcp: Config {
            user_timeouts: lasthop_tcp::config::UserTimeouts {
                data: Some(SECOND * 30),
                ..Default::default()
            },
            ..Options::default().tcp
        },
        ..Options::default()
    };
    for recovers in [false, true] {
        let mut world = World::new(3, CLEAN);
        let (local, remote, _) = world.connect(&client, &Options::default());
        refuse(&mut world, unreachable(Why::Port));
        world.client.send(local, b"hello?").unwrap();
        world.run_for(SECOND);
        assert_eq!(world.client.info(local).unwrap().state, State::Established);
        assert_eq!(world.client.soft_error(local), Ok(Some(Error::ConnectionRefused)));
        assert!(
            !world.client.readiness(local).unwrap().readable,
            "a soft error does not make the socket readable"
        );
        if recovers {
            world.path_hook = None;
            world.run_for(SECOND * 5);
            assert_eq!(world.server.recv(remote, &mut [0; 9]), Ok(6));
            assert_eq!(world.client.soft_error(local), Ok(None));
            world.cut = true;
            world.client.send(local, b"again").unwrap();
        }
        world.run_for(SECOND * 60);
        let reason = if recovers { Error::TimedOut } else { Error::ConnectionRefused };
        assert_eq!(world.client.take_error(local), Ok(Some(reason)));
    }
}

/// In every state, the connection handles only errors about segments in flight (MUST-54, RFC 5927 §4.1).
#[test]
fn forged_errors_reach_nobody() {
    let mut world = World::new(4, CLEAN);
    let packet = Rc::new(Cell::new(None));
    let seen = Rc::clone(&packet);
    world.path_hook = Some(Box::new(move |to, bytes| {
        if to == HostSide::Server {
            let parsed = parse(&bytes, Checksums::Verify).expect("a host's packet");
            let Content::Tcp(segment) = parsed.content else { panic!("TCP") };
            seen.set(Some((parsed.header, segment)));
        }
        Vec::new()
    }));
    let local = connect(&mut world);
    world.run_for(ROUND_TRIP);
    let (header, syn) = packet.get().expect("a SYN");
    let mut forged = 0;
    let mut forge = |world: &mut World, header: &Header, seq: Seq, message: Icmpv4Type| {
        let mut quoted = Vec::new();
        let segment = Segment { seq, ..Segment::default() };
        emit(header, &Body::Tcp(segment), Payload::Bytes(&[]), &mut quoted).unwrap();
        let now = world.now;
        world.client.handle_packet(now, &about(&quoted, message));
        forged += 1;
        assert_eq!(world.client.counters().icmp_errors, forged);
        assert_eq!(world.client.counters().icmp_ignored, forged);
        assert_eq!(world.client.soft_error(local), Ok(None));
    };
    for seq in [syn.seq.at(1), syn.seq.at(u64::from(u32::MAX)), Seq(0)] {
        forge(&mut world, &header, seq, unreachable(Why::Port));
    }
    let elsewhere = Header { destination: SocketAddr::from(([10, 0, 0, 3], 80)), ..header };
    forge(&mut world, &elsewhere, syn.seq, unreachable(Why::Port));
    let from_elsewhere = Header { source: SocketAddr::new(client_ip(), 1), ..header };
    forge(&mut world, &from_elsewhere, syn.seq, unreachable(Why::Port));
    // MUST-55: the host ignores source quench, even if the message quotes the SYN in flight.
    forge(&mut world, &header, syn.seq, Icmpv4Type::Unknown { type_u8: 4, code_u8: 0, bytes5to8: [0; 4] });
    // Before the connection is open, the host has sent only a SYN. A SYN cannot exceed the MTU of 600 bytes, so the
    // host ignores the error.
    forge(&mut world, &header, syn.seq, unreachable(Why::FragmentationNeeded { next_hop_mtu: 600 }));
    assert_eq!(world.client.info(local).unwrap().state, State::SynSent);

    // The host counts three further messages: an ICMP error about a packet of another host, a ping, and a truncated
    // ICMP error.
    let stranger = Header { source: SocketAddr::from(([10, 0, 0, 8], 5)), ..header };
    let mut quoted = Vec::new();
    emit(&stranger, &Body::Tcp(syn), Payload::Bytes(&[]), &mut quoted).unwrap();
    let now = world.now;
    world.client.handle_packet(now, &about(&quoted, unreachable(Why::Port)));
    let ping = Icmpv4Type::EchoRequest(etherparse::IcmpEchoHeader { id: 1, seq: 1 });
    world.client.handle_packet(now, &about(&quoted, ping));
    assert_eq!(world.client.counters().not_for_us, 2);
    let mut cut = about(&quoted, unreachable(Why::Port));
    cut.truncate(30);
    world.client.handle_packet(now, &cut);
    assert_eq!(world.client.counters().malformed, 1);
}

/// An open connection handles an error only if the quoted sequence number is at least SND.UNA and less than SND.NXT.
#[test]
fn forged_errors_do_not_reach_an_open_connection() {
    let mut world = World::new(5, CLEAN);
    let (local, _, _) = world.connect(&Options::default(), &Options::default());
    world.client.send(local, &text(5000, 1)).unwrap();
    world.run_for(SECOND);
    let last = Rc::new(Cell::new(None));
    let seen = Rc::clone(&last);
    world.path_hook = Some(Box::new(move |to, bytes| {
        if to == HostSide::Server {
            let parsed = parse(&bytes, Checksums::Verify).expect("a host's packet");
            let Content::Tcp(segment) = parsed.content else { panic!("TCP") };
            seen.set(Some((parsed.header, segment)));
        }
        Vec::new()
    }));
    world.client.send(local, &text(1000, 2)).unwrap();
    world.run_for(Duration::from_millis(1));
    let (header, segment) = last.get().expect("data");
    for (ahead, is_heeded) in [(-1, false), (0, true), (999, true), (1000, false), (1_000_000, false)] {
        let mut quoted = Vec::new();
        let seq = Seq(segment.seq.0.wrapping_add_signed(ahead));
        let about_it = Segment { seq, ..Segment::default() };
        emit(&header, &Body::Tcp(about_it), Payload::Bytes(&[]), &mut quoted).unwrap();
        let now = world.now;
        world.client.handle_packet(now, &about(&quoted, unreachable(Why::Host)));
        let told = world.client.take_error(local).unwrap();
        assert_eq!(told, is_heeded.then_some(Error::HostUnreachable), "{ahead}");
    }
}

/// If a host receives a hard error about the SYN-ACK of a half-open connection, the connection ends and does not count
/// towards the backlog.
#[test]
fn a_hard_error_ends_a_connection_that_is_being_accepted() {
    let mut world = World::new(6, CLEAN);
    let listener = world.server.listen(server_end(), 1, &Options::default()).unwrap();
    world.path_hook = Some(Box::new(|to, packet| match to {
        HostSide::Server => vec![(to, packet)],
        HostSide::Client => {
            let mut bytes = Vec::new();
            PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64)
                .icmpv4(unreachable(Why::Port))
                .write(&mut bytes, &packet[..28])
                .expect("room");
            vec![(HostSide::Server, bytes)]
        }
    }));
    let _ = connect(&mut world);
    world.run_for(ROUND_TRIP * 2);
    assert_eq!(world.server.sockets(), 1, "only the listener remains");
    world.path_hook = None;
    world.run_for(SECOND * 2);
    assert!(world.server.accept(listener).is_ok(), "the backlog has room for the connection of the next SYN");
}

/// Makes the path a link with the MTU `mtu`, bytes. The link drops longer packets of the client and sends ICMP type 3,
/// code 4, to the client. This ICMP error reports the MTU `told`, bytes. Returns a counter of the dropped packets.
fn narrow(world: &mut World, mtu: Rc<Cell<usize>>, told: u16) -> Rc<Cell<u32>> {
    let refused = Rc::new(Cell::new(0));
    let count = Rc::clone(&refused);
    world.path_hook = Some(Box::new(move |to, packet| {
        if to == HostSide::Client || packet.len() <= mtu.get() {
            return vec![(to, packet)];
        }
        count.set(count.get() + 1);
        vec![(HostSide::Client, about(&packet, unreachable(Why::FragmentationNeeded { next_hop_mtu: told })))]
    }));
    refused
}

fn transfer(world: &mut World, options: &Options, bytes: usize) -> Handle {
    let (local, remote, _) = world.connect(options, &Options::default());
    let mut transfer = Transfer::new((HostSide::Client, local), (HostSide::Server, remote), text(bytes, 7));
    let start = world.now;
    while !transfer.is_over {
        transfer.advance(world);
        assert!(world.step() || transfer.is_over, "no event is pending, but the transfer is incomplete");
        assert!(world.now.since(start) < SECOND * 600, "{} bytes were received", transfer.received.len());
    }
    assert_eq!(transfer.received.len(), bytes);
    local
}

/// Returns the number of segments that a congestion control sends in the first flight, if the configured initial window
/// is ten segments.
fn first_flight(control: &Mechanism<congestion::Build>) -> u32 {
    let random = Stream::named(1, "sender");
    let start = congestion::Start { window: 10_000, ssthresh: 1 << 30, mss: 1000, selective: true, random };
    (control.build)(&control.info.defaults(), start).window() as u32 / 1000
}

/// The segments of the first flight exceed the MTU of the path (RFC 1191). The sender retransmits the data in shorter
/// segments, without a timeout and without a window reduction.
#[test]
fn a_path_with_a_small_mtu_is_found_without_a_timeout() {
    for recovery in recovery::ALL {
        for congestion in congestion::ALL {
            let mut world = World::new(8, CLEAN);
            let refused = narrow(&mut world, Rc::new(Cell::new(1000)), 1000);
            let mut options = Options::default();
            options.tcp.recovery = Choice::named(recovery::ALL, recovery.info.name);
            options.tcp.congestion = Choice::named(congestion::ALL, congestion.info.name);
            let local = transfer(&mut world, &options, 200_000);
            let info = world.client.info(local).unwrap();
            let name = (recovery.info.name, congestion.info.name);
            // The MTU of 1000 bytes contains 40 bytes of IPv4 and TCP headers and 12 bytes of timestamps.
            assert_eq!((info.snd_mss, info.timeouts), (948, 0), "{name:?}");
            // In the first round trip, the link also drops dummy segments of TCP Peach, at most 64.
            let dummies = if congestion.info.name == "peach" { 64 } else { 0 };
            // The initial window of LEDBAT is two segments (RFC 6817 §2.5). The initial window of the other congestion
            // controls is ten segments (RFC 6928).
            let first = first_flight(congestion);
            let most = first + dummies;
            // PCC Vivace paces the first window. Therefore the ICMP error arrives before the sender sends the last
            // segments of the window.
            let fewest = if congestion.info.name == "vivace" { 1 } else { first };
            assert!(
                (fewest..=most).contains(&refused.get()),
                "{name:?}: the link drops {} segments; only those of the first flight should be too long",
                refused.get()
            );
            let least = if first == 10 { 14_480 } else { 2 * info.snd_mss };
            assert!(info.cwnd_bytes >= least, "{name:?}: {}", info.cwnd_bytes);
        }
    }
}

/// The router reports no MTU (RFC 1191 §5 and §7.1). If 1500 bytes are too long, the sender tries MTUs of 1492, 1006
/// and 552 bytes, in this order.
#[test]
fn an_old_router_does_not_say_its_mtu() {
    let mut world = World::new(9, CLEAN);
    narrow(&mut world, Rc::new(Cell::new(1000)), 0);
    let local = transfer(&mut world, &Options::default(), 50_000);
    assert_eq!(world.client.info(local).unwrap().snd_mss, 552 - 52);
}

/// A reported MTU may be below the size of a segment that was delivered earlier. The sender accepts the MTU only after
/// the retransmission timer has expired (RFC 5927 §7.2).
#[test]
fn a_path_that_becomes_narrow_is_found_by_the_timer() {
    let mut world = World::new(10, CLEAN);
    let mtu = Rc::new(Cell::new(1500));
    narrow(&mut world, Rc::clone(&mtu), 1000);
    let (local, remote, _) = world.connect(&Options::default(), &Options::default());
    let mut transfer = Transfer::new((HostSide::Client, local), (HostSide::Server, remote), text(600_000, 7));
    while !transfer.is_over {
        transfer.advance(&mut world);
        if transfer.received.len() > 200_000 {
            mtu.set(1000);
        }
        assert!(world.step() || transfer.is_over);
    }
    let info = world.client.info(local).unwrap();
    assert_eq!((info.snd_mss, info.timeouts), (948, 1));
    assert_eq!(world.client.counters().icmp_ignored, 0);
}

/// An attacker forges ICMP errors with an MTU of 576 and valid sequence numbers. The segment size does not change,
/// because the path delivers longer segments.
#[test]
fn a_forged_mtu_changes_nothing_where_longer_segments_get_through() {
    let mut world = World::new(11, CLEAN);
    let mut count = 0;
    world.path_hook = Some(Box::new(move |to, packet| {
        count += 1;
        let mut both = vec![(to, packet)];
        if to == HostSide::Server && count > 40 && both[0].1.len() > 1000 {
            let needed = Why::FragmentationNeeded { next_hop_mtu: 576 };
            both.push((HostSide::Client, about(&both[0].1, unreachable(needed))));
        }
        both
    }));
    let local = transfer(&mut world, &Options::default(), 600_000);
    let info = world.client.info(local).unwrap();
    assert!(world.client.counters().icmp_errors > 100);
    assert_eq!((info.snd_mss, info.total_retrans, info.timeouts), (1448, 0, 0));
}

/// A reported MTU below 552 bytes is treated as 552 (as on Linux). A reported MTU that is not below the MTU of the host
/// has no effect.
#[test]
fn absurd_mtus() {
    for (told, mss) in [(68, 500), (300, 500), (552, 500), (1500, 1448), (9000, 1448)] {
        let mut world = World::new(12, CLEAN);
        let mut once = Some(());
        world.path_hook = Some(Box::new(move |to, packet| {
            let mut both = vec![(to, packet)];
            if to == HostSide::Server && both[0].1.len() > 1000 && once.take().is_some() {
                let needed = Why::FragmentationNeeded { next_hop_mtu: told };
                both.push((HostSide::Client, about(&both[0].1, unreachable(needed))));
            }
            both
        }));
        // The host accepts the ICMP error, because the quoted segment is in flight and no data has been acknowledged
        // yet.
        let (local, _, _) = world.connect(&Options::default(), &Options::default());
        world.client.send(local, &text(1448, 1)).unwrap();
        world.run_for(SECOND);
        assert_eq!(world.client.info(local).unwrap().snd_mss, mss, "{told}");
        assert_eq!(world.client.info(local).unwrap().bytes_acked, 1448);
    }
}

/// The host accepts the MTU in "packet too big", but ignores an MTU below 1280 bytes (RFC 8201 §4).
#[test]
fn ipv6_too() {
    for (mtu, mss) in [(1400, 1400 - 72), (1280, 1208), (1279, 1428), (0, 1428)] {
        let mut world = World::new(13, CLEAN);
        world.path_hook = Some(Box::new(move |to, packet| {
            if to == HostSide::Client || packet.len() <= mtu.max(1280) as usize {
                return vec![(to, packet)];
            }
            let mut bytes = Vec::new();
            PacketBuilder::ipv6([0xaa; 16], [0xfd; 16], 64)
                .icmpv6(Icmpv6Type::PacketTooBig { mtu })
                .write(&mut bytes, &packet[..1232])
                .expect("room");
            vec![(HostSide::Client, bytes)]
        }));
        let end: SocketAddr = (std::net::IpAddr::from([0xfe; 16]), 443).into();
        world.server.listen(end, 1, &Options::default()).unwrap();
        let local = world.client.connect(world.now, None, end, &Options::default()).unwrap();
        world.run_for(ROUND_TRIP * 2);
        world.client.send(local, &text(20_000, 1)).unwrap();
        world.run_for(SECOND);
        assert_eq!(world.client.info(local).unwrap().snd_mss, mss, "{mtu}");
    }
    // The remote host reports that the port is unreachable.
    let mut world = World::new(14, CLEAN);
    world.path_hook = Some(Box::new(|_, packet| {
        let why = etherparse::icmpv6::DestUnreachableCode::Port;
        let mut bytes = Vec::new();
        PacketBuilder::ipv6([0xfe; 16], [0xfd; 16], 64)
            .icmpv6(Icmpv6Type::DestinationUnreachable(why))
            .write(&mut bytes, &packet)
            .expect("room");
        vec![(HostSide::Client, bytes)]
    }));
    let end: SocketAddr = (std::net::IpAddr::from([0xfe; 16]), 443).into();
    let local = world.client.connect(world.now, None, end, &Options::default()).unwrap();
    world.run_for(ROUND_TRIP);
    assert_eq!(world.client.take_error(local), Ok(Some(Error::ConnectionRefused)));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    /// The MTU of the path changes repeatedly, and the path loses packets. With each recovery mechanism, the
    /// application reads every byte once and in order.
    #[test]
    fn whatever_the_path_takes_the_stream_is_whole(
        seed in any::<u64>(),
        mtus in prop::collection::vec(552..1500usize, 1..6),
        lose in 0.0..0.1,
        bytes in 0..60_000usize,
        which in 0..recovery::ALL.len(),
        sack in any::<bool>(),
    ) {
        let mut world = World::new(seed, Faults { lose, ..CLEAN });
        let mut count = 0;
        world.path_hook = Some(Box::new(move |to, packet| {
            count += 1;
            let mtu = mtus[count / 40 % mtus.len()];
            if to == HostSide::Client || packet.len() <= mtu {
                return vec![(to, packet)];
            }
            let needed = Why::FragmentationNeeded { next_hop_mtu: mtu as u16 };
            vec![(HostSide::Client, about(&packet, unreachable(needed)))]
        }));
        let mut options = Options::default();
        options.tcp.sack = sack;
        options.tcp.recovery = Choice::named(recovery::ALL, recovery::ALL[which].info.name);
        if bytes > 0 {
            transfer(&mut world, &options, bytes);
        }
    }
}

//! Tests with the kernel as a router that sends ICMP errors in Linux's format.

use crate::peer::{Hashing, hash};
use crate::{OURS, OURS6, in_namespace};
use lasthop_base::Duration;
use lasthop_emu::{Exchange, TunHost};
use lasthop_host::{Error, Handle, Host, Options};
use lasthop_os::namespace::ip;
use lasthop_os::{Interface, Tun};
use lasthop_tcp::State;
use std::fs;
use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

fn station(tun: Tun) -> TunHost {
    let addresses = [IpAddr::V4(Ipv4Addr::from(OURS)), IpAddr::V6(OURS6)];
    TunHost::new(Host::new(&addresses, 1500, [5; 16]), tun)
}

fn forward() {
    for which in ["ipv4/ip_forward", "ipv6/conf/all/forwarding"] {
        fs::write(format!("/proc/sys/net/{which}"), "1").expect("sysctl of the namespace");
    }
}

fn turn_until(station: &mut TunHost, mut done: impl FnMut(&mut TunHost) -> bool) {
    let end = station.now() + Duration::from_secs(5);
    while !done(station) {
        assert!(station.now() < end, "the condition is not met within the time limit");
        station.turn(Duration::from_millis(20)).expect("the device stays");
    }
}

fn connect(station: &mut TunHost, to: &str) -> Handle {
    let end: SocketAddr = to.parse().expect("an address");
    station.host.connect(station.now(), None, end, &Options::default()).expect("the connection begins")
}

/// A hard error ends the attempt; a soft error is reported. Linux sends code 1 for `unreachable` routes, 13 (IPv6: 1)
/// for `prohibit`, and 0 without a route.
#[test]
fn what_a_router_refuses_is_heard() {
    in_namespace(|tun| {
        forward();
        // Linux sends one error a second per destination by default.
        fs::write("/proc/sys/net/ipv4/icmp_ratelimit", "0").expect("sysctl of the namespace");
        fs::write("/proc/sys/net/ipv6/icmp/ratelimit", "0").expect("sysctl of the namespace");
        for route in
            [["route", "add", "unreachable", "10.90.0.1/32"], ["route", "add", "prohibit", "10.90.0.2/32"]]
        {
            ip(&route).expect("a route");
        }
        for route in [
            ["-6", "route", "add", "unreachable", "fd90::1/128"],
            ["-6", "route", "add", "prohibit", "fd90::2/128"],
        ] {
            ip(&route).expect("a route");
        }
        let mut station = station(tun);
        for to in ["10.90.0.2:80", "[fd90::2]:80"] {
            let handle = connect(&mut station, to);
            turn_until(&mut station, |station| station.host.readiness(handle).expect("a socket").hung_up);
            assert_eq!(station.host.take_error(handle), Ok(Some(Error::HostUnreachable)), "{to}");
        }
        for (to, error) in [
            ("10.90.0.1:80", Error::HostUnreachable),
            ("10.90.0.3:80", Error::NetworkUnreachable),
            ("[fd90::3]:80", Error::NetworkUnreachable),
        ] {
            let handle = connect(&mut station, to);
            turn_until(&mut station, |station| station.host.soft_error(handle) == Ok(Some(error)));
            assert_eq!(station.host.info(handle).expect("a connection").state, State::SynSent, "{to}");
            let exchange = Exchange::receiving(handle, Box::new(std::io::sink()));
            let obstacle = exchange.obstacle(&station.host).expect("an ICMP error during the handshake");
            assert!(obstacle.message.contains(error.posix()), "{obstacle}");
        }
        assert_eq!((station.host.counters().icmp_ignored, station.host.counters().malformed), (0, 0));
    });
}

/// The kernel reports that the next link has an MTU of 1280 bytes. The sender learns the MTU from this report, without
/// a timeout.
#[test]
fn a_narrow_link_behind_the_kernel_is_found() {
    in_namespace(|tun| {
        forward();
        let narrow = Interface {
            name: "lasthop-narrow".to_owned(),
            addresses: vec![(IpAddr::from([10, 78, 0, 1]), 24), ("fd78::1".parse().expect("an address"), 64)],
            mtu: 1280,
        };
        let narrow = match Tun::open(&narrow) {
            Ok(tun) => tun,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let far6: Ipv6Addr = "fd78::2".parse().expect("an address");
        let far = [IpAddr::from([10, 78, 0, 2]), IpAddr::V6(far6)];
        // The server's own MTU is 1500, so the server offers the MSS for 1500 bytes.
        let mut server: TunHost = TunHost::new(Host::new(&far, 1500, [6; 16]), narrow);
        let mut client = station(tun);
        for (address, headers) in [(far[0], 40), (far[1], 60)] {
            let end = SocketAddr::new(address, 80);
            let listener = server.host.listen(end, 1, &Options::default()).expect("the host listens");
            let text: Vec<u8> = (0..400_000_u32).map(|at| (at * 7 % 251) as u8).collect();
            let local = connect(&mut client, &end.to_string());
            let mut sending = Exchange::sending(local, Box::new(Cursor::new(text.clone())));
            let received = Hashing::default();
            let mut receiving = None;
            let deadline = client.now() + Duration::from_secs(20);
            loop {
                let sent = sending.advance(&mut client.host).expect("the exchange works");
                client.turn(Duration::from_millis(1)).expect("the device stays");
                server.turn(Duration::from_millis(1)).expect("the device stays");
                if let Ok((handle, _)) = server.host.accept(listener) {
                    receiving = Some(Exchange::both_ways(
                        handle,
                        Box::new(std::io::empty()),
                        Box::new(received.clone()),
                    ));
                }
                if let Some(receiving) = &mut receiving {
                    let _ = receiving.advance(&mut server.host).expect("the exchange works");
                    if sent && receiving.received() == text.len() as u64 {
                        break;
                    }
                }
                assert!(client.now() < deadline, "{:?}", client.host.info(local));
            }
            assert_eq!(received.result(), hash(&text));
            let info = client.host.info(local).expect("a connection");
            assert_eq!((info.snd_mss, info.timeouts), (1280 - headers - 12, 0), "{address}");
            assert!(info.total_retrans >= 10, "the first flight was too long");
        }
        assert!(client.host.counters().icmp_errors >= 2);
    });
}

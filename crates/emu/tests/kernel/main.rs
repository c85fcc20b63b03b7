//! Tests that transfers between Lasthop's TCP and the kernel's TCP deliver all bytes unchanged, for all impairments of
//! the path.
//!
//! Each test has its own network namespace and uses no address outside it. Without permission to create namespaces, the
//! tests print a note and pass.
#![cfg(target_os = "linux")]

mod bench;
mod capture_tools;
mod icmp;
mod peer;
mod transfers;

use lasthop_os::{Interface, Namespace, Tun};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::time::Instant;

/// Address of the kernel in the namespace.
pub(crate) const KERNEL: [u8; 4] = [10, 77, 0, 1];
/// Address of Lasthop's host.
pub(crate) const OURS: [u8; 4] = [10, 77, 0, 2];
pub(crate) const KERNEL6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
pub(crate) const OURS6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);

/// Runs a test on a TUN device in a new namespace. Threads of the test inherit the namespace.
pub(crate) fn in_namespace(test: impl FnOnce(Tun) + Send) {
    let namespace = match Namespace::unconfigured() {
        Ok(namespace) => namespace,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let run = || {
        // The value 1 requests and accepts ECN. A new namespace has the kernel's default value.
        fs::write("/proc/sys/net/ipv4/tcp_ecn", "1").expect("sysctl of the namespace");
        let interface = Interface {
            name: "lasthop-test".to_owned(),
            addresses: vec![(IpAddr::V4(Ipv4Addr::from(KERNEL)), 24), (IpAddr::V6(KERNEL6), 64)],
            mtu: 1500,
        };
        match Tun::open(&interface) {
            Ok(tun) => {
                wait_for_addresses();
                test(tun);
            }
            Err(error) => eprintln!("skipped: {error}"),
        }
    };
    namespace.within(run).expect("the namespace exists");
}

/// Waits until the addresses are usable: the kernel first checks IPv6 addresses for duplicates.
fn wait_for_addresses() {
    let start = Instant::now();
    while TcpListener::bind((KERNEL6, 0)).is_err() || TcpListener::bind((Ipv4Addr::from(KERNEL), 0)).is_err()
    {
        assert!(start.elapsed().as_secs() < 10, "the kernel's addresses are not usable after 10 s");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

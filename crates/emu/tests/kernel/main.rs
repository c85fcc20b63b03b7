//! Our TCP and the kernel's move the same bytes, whatever happens to packets between them.
//!
//! Each test has a network namespace of its own: no address outside it is used. Where the machine lets us make none, the
//! tests say so and do nothing.
#![cfg(target_os = "linux")]

mod bench;
mod icmp;
mod judged;
mod peer;
mod transfers;

use lasthop_os::{Interface, Namespace, Tun};
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::time::Instant;

/// The kernel's address in the namespace, and ours.
pub(crate) const KERNEL: [u8; 4] = [10, 77, 0, 1];
pub(crate) const OURS: [u8; 4] = [10, 77, 0, 2];
pub(crate) const KERNEL6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
pub(crate) const OURS6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);

/// Runs a test on a TUN device in a new namespace; threads that it starts are in there too.
pub(crate) fn in_namespace(test: impl FnOnce(Tun) + Send) {
    let namespace = match Namespace::nameless() {
        Ok(namespace) => namespace,
        Err(error) => return eprintln!("skipped: {error}"),
    };
    let run = || {
        // Ask for ECN and grant it; a new namespace has its own value.
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
    namespace.within(run).expect("it was just made");
}

/// An IPv6 address can be used only once the kernel is sure that nobody else has it.
fn wait_for_addresses() {
    let start = Instant::now();
    while TcpListener::bind((KERNEL6, 0)).is_err() || TcpListener::bind((Ipv4Addr::from(KERNEL), 0)).is_err()
    {
        assert!(start.elapsed().as_secs() < 10, "the kernel does not get its addresses");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

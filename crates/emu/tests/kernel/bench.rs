//! Measures the throughput of one core on a path without impairments.

use crate::{KERNEL, OURS, in_namespace};
use lasthop_base::Duration;
use lasthop_emu::{Exchange, TunHost};
use lasthop_host::{Host, Options};
use lasthop_os::Tun;
use std::io::{self, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};

#[test]
#[ignore = "a measurement: cargo test --release -p lasthop-emu --test kernel -- --ignored --nocapture"]
fn rate_towards_the_kernel() {
    in_namespace(towards_the_kernel);
}

const BYTES: u64 = 2_000_000_000;

fn towards_the_kernel(tun: Tun) {
    let listener = TcpListener::bind(SocketAddr::from((KERNEL, 0))).expect("a free port");
    let end = listener.local_addr().expect("an address");
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut bytes = vec![0; 1 << 20];
        let mut total = 0;
        loop {
            match stream.read(&mut bytes).expect("the socket is readable") {
                0 => return total,
                len => total += len as u64,
            }
        }
    });
    let mut station: TunHost =
        TunHost::new(Host::new(&[IpAddr::V4(Ipv4Addr::from(OURS))], 1500, [0; 16]), tun);
    let handle =
        station.host.connect(station.now(), None, end, &Options::default()).expect("the host connects");
    let mut exchange = Exchange::sending(handle, Box::new(io::repeat(7).take(BYTES)));
    let start = station.now();
    while !exchange.advance(&mut station.host).expect("the exchange works") {
        station.turn(Duration::from_millis(100)).expect("the device stays");
    }
    let took = station.now().since(start).as_secs();
    println!("{:.3} Gbit/s, {:?}", BYTES as f64 * 8.0 / took / 1e9, station.host.info(handle));
    assert_eq!(reader.join().expect("no panic"), BYTES);
}

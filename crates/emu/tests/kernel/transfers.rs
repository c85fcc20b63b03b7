//! Makes more than 500 transfers, which cover all recoveries, congestion controls and kinds of ACK counting,
//! connections opened by either side, and all kinds of impairment.

use crate::peer::{self, Hashing, Received, hash};
use crate::{KERNEL, KERNEL6, OURS, OURS6, in_namespace};
use lasthop_base::{Choice, Duration, Stream};
use lasthop_emu::{Exchange, Impairment, TunHost};
use lasthop_host::{Handle, Host, Options};
use lasthop_os::Tun;
use lasthop_tcp::Config;
use lasthop_tcp::rtt::RtoLimits;
use lasthop_tcp::sender::{ack_counting, congestion, recovery};
use std::io::Cursor;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// Minimum number of transfers for each kind of impairment. If more combinations of mechanisms exist, each combination
/// has one transfer.
const TRANSFERS: usize = 84;
/// Sizes of transfers in bytes, including edge cases: nothing, one byte, about one segment, about one window.
const SIZES: [usize; 12] =
    [0, 1, 1447, 1448, 1449, 14_480, 30_000, 65_535, 100_000, 250_000, 500_000, 1_000_000];
/// Size of the two largest transfers for each kind of impairment, bytes.
const LARGEST: usize = 20_000_000;

/// Names and parameters of the impairments; the index of an impairment is part of the seed.
fn impairments() -> [(&'static str, Impairment); 6] {
    let (none, delay) = (Impairment::default(), millis(2));
    let everything = Impairment {
        loss: 0.005,
        burst: 2.0,
        duplicate: 0.02,
        reorder: 0.02,
        jitter: millis(5),
        corrupt: 0.005,
        delay,
    };
    [
        ("clean", none),
        ("losses", Impairment { loss: 0.01, delay, ..none }),
        ("bursts of losses", Impairment { loss: 0.003, burst: 3.0, delay, ..none }),
        ("duplicates", Impairment { duplicate: 0.05, delay, ..none }),
        ("reordering", Impairment { reorder: 0.05, jitter: millis(8), delay, ..none }),
        ("everything at once", everything),
    ]
}

/// All kinds of impairment run concurrently, because transfers spend more time waiting than computing.
#[test]
fn every_byte_arrives_whatever_happens_to_packets() {
    let tests = impairments().into_iter().enumerate().map(|(seed, (name, impairment))| {
        let test = move || in_namespace(move |tun| transfer_all(tun, name, impairment, 1 + seed as u64));
        (name, std::thread::spawn(test))
    });
    for (name, test) in tests.collect::<Vec<_>>() {
        test.join().unwrap_or_else(|_| panic!("{name}"));
    }
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

struct Transfer {
    name: String,
    up: Vec<u8>,
    down: Vec<u8>,
    exchange: Option<Exchange>,
    received: Hashing,
    peer: Option<Received>,
}

fn transfer_all(tun: Tun, what: &str, impairment: Impairment, seed: u64) {
    let addresses = [IpAddr::V4(Ipv4Addr::from(OURS)), IpAddr::V6(OURS6)];
    let mut station: TunHost = TunHost::new(Host::new(&addresses, 1500, [seed as u8; 16]), tun);
    station.impair(impairment, seed);
    let mut random = Stream::named(seed, "transfers");
    let mut transfers: Vec<Transfer> = Vec::new();
    let mut listening: Vec<(Handle, usize)> = Vec::new();
    let strategies = strategies();
    let last = strategies.len() - 1;
    for (number, options) in strategies.iter().cycle().take(TRANSFERS.max(strategies.len())).enumerate() {
        let size = |random: &mut Stream| SIZES[random.draw() as usize % SIZES.len()];
        let (mut up, mut down) = (size(&mut random), size(&mut random));
        // The last recovery in the list uses SACK. With bursts of losses, recoveries without SACK would take minutes
        // for 20 MB.
        if number == last - 1 {
            up = LARGEST;
        }
        if number == last {
            down = LARGEST;
        }
        let (up, down) = (text(up, &mut random), text(down, &mut random));
        let (recovery, congestion) = (options.tcp.recovery.info.name, options.tcp.congestion.info.name);
        let mut transfer = Transfer {
            name: format!("{number}: {recovery}, {congestion}, {} up, {} down", up.len(), down.len()),
            up,
            down,
            exchange: None,
            received: Hashing::default(),
            peer: None,
        };
        let v6 = number % 5 == 4;
        let kernel = if v6 { IpAddr::V6(KERNEL6) } else { IpAddr::V4(Ipv4Addr::from(KERNEL)) };
        let ours = if v6 { IpAddr::V6(OURS6) } else { IpAddr::V4(Ipv4Addr::from(OURS)) };
        if number.is_multiple_of(2) {
            let (end, received) = peer::listening(SocketAddr::new(kernel, 0), transfer.down.clone());
            let handle = station.host.connect(station.now(), None, end, options).expect("the host connects");
            transfer.peer = Some(received);
            transfer.begin(handle);
        } else {
            let end = SocketAddr::new(ours, 2000 + number as u16);
            listening.push((station.host.listen(end, 1, options).expect("the host listens"), number));
            transfer.peer = Some(peer::connecting(end, transfer.down.clone()));
        }
        transfers.push(transfer);
    }
    let count = transfers.len();
    while transfers.iter().any(|transfer| transfer.exchange.is_some()) || !listening.is_empty() {
        station.turn(millis(100)).expect("the device stays");
        listening.retain(|(listener, number)| match station.host.accept(*listener) {
            Ok((handle, _)) => {
                transfers[*number].begin(handle);
                let now = station.now();
                station.host.close(now, *listener).expect("a listener");
                false
            }
            Err(_) => true,
        });
        for transfer in &mut transfers {
            let Some(exchange) = &mut transfer.exchange else { continue };
            match exchange.advance(&mut station.host) {
                Ok(false) => {}
                Ok(true) => {
                    let now = station.now();
                    station.host.close(now, exchange.handle()).expect("still open");
                    transfer.exchange = None;
                }
                Err(error) => panic!("{}: {error}", transfer.name),
            }
        }
        assert!(station.now().as_secs() < 300.0, "transfers hang: {}", names(&transfers));
    }
    // The following 20 s leave time for the last FINs, their ACKs and the short TIME-WAIT (see `strategies`).
    let end = station.now() + Duration::from_secs(20);
    while station.host.sockets() > 0 && station.now() < end {
        station.turn(millis(100)).expect("the device stays");
    }
    assert_eq!(station.host.sockets(), 0, "a socket is left");
    for transfer in transfers {
        assert!(
            transfer.received.result() == hash(&transfer.down),
            "{}: Lasthop's side received different bytes",
            transfer.name
        );
        let peer = transfer.peer.expect("the kernel's end was started").join().expect("no panic");
        let peer =
            peer.unwrap_or_else(|error| panic!("{}: error of the kernel's side: {error}", transfer.name));
        assert!(peer == hash(&transfer.up), "{}: the kernel received different bytes", transfer.name);
    }
    let took = station.now().as_secs();
    println!("{what}: {count} connections, {took:.1} s, {:?}", station.host.counters());
}

impl Transfer {
    fn begin(&mut self, handle: Handle) {
        let source = Box::new(Cursor::new(self.up.clone()));
        self.exchange = Some(Exchange::both_ways(handle, source, Box::new(self.received.clone())));
    }
}

fn strategies() -> Vec<Options> {
    let mut all = Vec::new();
    for recovery in recovery::ALL {
        // Without orders from outside, `external` keeps its initial window, so that 20 MB would take minutes.
        for congestion in congestion::ALL.iter().filter(|control| control.info.name != "external") {
            for ack_counting in ack_counting::ALL {
                let number = all.len();
                all.push(Options {
                    tcp: Config {
                        recovery: Choice::named(recovery::ALL, recovery.info.name),
                        congestion: Choice::named(congestion::ALL, congestion.info.name),
                        ack_counting: Choice::named(ack_counting::ALL, ack_counting.info.name),
                        ecn: number % 3 == 0,
                        accecn: number % 5 == 0,
                        nagle: number % 4 != 0,
                        timestamps: number % 7 != 0,
                        time_wait: Duration::from_secs(2),
                        // The largest RTO is 4 s. The length of a burst is a number of packets, so without other
                        // traffic a burst may drop nine retransmissions of a segment. If the RTO doubled without limit,
                        // nine retransmissions would take 100 s.
                        rto: RtoLimits { largest: Duration::from_secs(4), ..Options::default().tcp.rto },
                        ..Options::default().tcp
                    },
                    ..Options::default()
                });
            }
        }
    }
    all
}

fn text(len: usize, random: &mut Stream) -> Vec<u8> {
    (0..len.div_ceil(8)).flat_map(|_| random.draw().to_le_bytes()).take(len).collect()
}

fn names(transfers: &[Transfer]) -> String {
    let names = transfers
        .iter()
        .filter(|transfer| transfer.exchange.is_some())
        .map(|transfer| transfer.name.as_str());
    names.collect::<Vec<_>>().join("; ")
}

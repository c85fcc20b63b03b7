//! One end of a QUIC flow over a real UDP socket: the same stack as in the simulator, in real time.
//!
//! ```sh
//! over_udp source 4433 SECONDS [noq|quinn] [cubic|new_reno]
//! over_udp destination HOST:4433 SECONDS [noq|quinn] [cubic|new_reno]
//! ```
//!
//! The destination opens the connection, and the source sends as much data as possible. After SECONDS, the destination
//! prints the goodput in kbit/s. Cryptography is null: do not use this program outside of tests.

use lasthop_base::Time;
use lasthop_quic::{Congestion, Settings, pair};
use lasthop_stack::Stack;
use lasthop_stack::quic::{self, Library};
use lasthop_wire::Ecn;
use std::io::{Error, ErrorKind, Result};
use std::net::{SocketAddr, ToSocketAddrs, UdpSocket};
use std::time::{Duration, Instant};

/// Longest wait for a datagram. A longer wait would delay the end of the run.
const LONGEST_WAIT: Duration = Duration::from_millis(50);
/// Data that the source's application offers at once, bytes.
const OFFER: u64 = 1 << 40;

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |index: usize| words.get(index).map(String::as_str);
    let usage =
        || Error::new(ErrorKind::InvalidInput, "see the first lines of crates/quic/examples/over_udp.rs");
    let seconds = word(2).and_then(|text| text.parse().ok()).ok_or_else(usage)?;
    let library = if word(3) == Some("quinn") { Library::Quinn } else { Library::Noq };
    let congestion = word(4).and_then(Congestion::named).unwrap_or(Congestion::Cubic);
    let stack = quic::Settings { implementation: library, ..quic::Settings::default() };
    let [mut source, mut destination] = pair(&Settings { stack, congestion, ..Settings::default() }, false);
    let period = Duration::from_secs_f64(seconds);
    match (word(0), word(1)) {
        (Some("source"), Some(port)) => {
            let socket = UdpSocket::bind(format!("0.0.0.0:{port}"))?;
            run(&mut *source, &socket, None, period + Duration::from_secs(2)).map(|_| ())
        }
        (Some("destination"), Some(host)) => {
            let peer = host.to_socket_addrs()?.next().ok_or_else(usage)?;
            let socket = UdpSocket::bind("0.0.0.0:0")?;
            let bytes = run(&mut *destination, &socket, Some(peer), period)?;
            println!("{:.1}", bytes as f64 * 8.0 / 1000.0 / seconds);
            Ok(())
        }
        _ => Err(usage()),
    }
}

/// Runs one end for `period`, and returns the bytes received in order. An end with a `peer` opens the connection now.
/// The period of an end without a `peer` begins with the first datagram received.
fn run(
    stack: &mut dyn Stack,
    socket: &UdpSocket,
    mut peer: Option<SocketAddr>,
    period: Duration,
) -> Result<u64> {
    let opens = peer.is_some();
    let zero = Instant::now();
    let now = || Time::from_nanos(zero.elapsed().as_nanos() as u64);
    let mut end = opens.then(|| zero + period);
    let (mut received, mut datagram, mut buffer) = (0, Vec::new(), vec![0; 65_536]);
    if opens {
        stack.open(now());
    }
    while end.is_none_or(|end| Instant::now() < end) {
        received += stack.read(now());
        if !opens {
            stack.write(now(), OFFER);
        }
        while stack.poll_datagram(now(), &mut datagram).is_some() {
            if let Some(peer) = peer {
                // If the socket buffer is full, the datagram is lost, as in a full queue.
                let _ = socket.send_to(&datagram, peer);
            }
            datagram.clear();
        }
        let due = stack.poll_timeout(now());
        let wait =
            Duration::from_nanos(due.since(now()).as_nanos()).clamp(Duration::from_micros(50), LONGEST_WAIT);
        socket.set_read_timeout(Some(wait))?;
        match socket.recv_from(&mut buffer) {
            Ok((length, from)) => {
                peer.get_or_insert(from);
                end.get_or_insert_with(|| Instant::now() + period);
                stack.handle_datagram(now(), &buffer[..length], Ecn::NotEct);
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            // No program uses the peer's port: the peer has not started yet, or has ended.
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => {}
            Err(error) => return Err(error),
        }
        if stack.poll_timeout(now()) <= now() {
            stack.handle_timeout(now());
        }
        if let Some(reason) = stack.failure() {
            return Err(Error::other(reason));
        }
    }
    Ok(received + stack.read(now()))
}

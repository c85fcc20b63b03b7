//! QUIC stacks of other projects as ends of a flow ([`Stack`]): quinn-proto, and noq-proto, which is a fork of
//! quinn-proto.
//!
//! A flow is one connection with one stream: unidirectional from the source to the destination, or bidirectional for
//! requests and responses. Cryptography is null unless a scenario selects TLS (feature `tls`): a handshake has the flights, packet number spaces and sizes of TLS 1.3.
//!
//! * `end`: one end of a connection, compiled once for each library. `quinn` and `noq` contain the calls that differ
//!   between the libraries.
//! * `session`: null cryptography, compiled in the same way.
//! * `handshake`: messages of the null cryptography.
//! * `tls`: TLS 1.3 with the feature `tls`.
//! * `log`: the writer of a connection's qlog. Only noq-proto with the feature `qlog` writes qlogs.
//! * `control`: the congestion controls of `lasthop-tcp` as controls of noq-proto. `sampler` computes rate samples for
//!   these controls.
//!
//! # Randomness and time
//! [`Settings::seed`] determines all random numbers: connection identifiers (also the first destination identifier),
//! the generator of the library's endpoint, reset keys, tokens, and congestion controls. quinn-proto's `Bbr` and
//! noq-proto's `Bbr3` draw random numbers from the system and are therefore not offered. All times count from one
//! `Instant`, which the first flow of the process reads, and the libraries use only differences of times. Equal seeds
//! give equal runs of one program on one machine. The CUBIC of both libraries uses `f64::cbrt`, whose last bit may
//! differ between systems.

mod control;
mod handshake;
mod log;
mod noq;
mod quinn;
mod sampler;
#[cfg(feature = "tls")]
mod tls;

use lasthop_base::{Duration, Time};
use lasthop_stack::Stack;
use lasthop_stack::quic::{self, Library};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock};
use std::time::Instant;

/// Hash of this crate's sources, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

/// Time zero of all runs of the process.
static ZERO: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Smallest RTT of one end, ns; 0: unknown. The congestion control of the end writes the value.
#[derive(Clone, Default)]
struct SmallestRtt(Arc<AtomicU64>);

impl SmallestRtt {
    fn set(&self, rtt: std::time::Duration) {
        self.0.store(rtt.as_nanos() as u64, Ordering::Relaxed);
    }

    fn get(&self) -> Option<Duration> {
        Some(self.0.load(Ordering::Relaxed)).filter(|nanos| *nanos > 0).map(Duration::from_nanos)
    }
}

/// Smallest UDP payload that every path carries, bytes (RFC 9000 §14).
const SMALLEST_DATAGRAM: u16 = 1200;

/// Congestion control of a connection.
#[derive(Clone, Debug)]
pub enum Congestion {
    /// New Reno of the library (RFC 9002 §7).
    NewReno,
    /// CUBIC of the library (RFC 8312 or RFC 9438).
    Cubic,
    /// Congestion control, slow start exit and ACK counting of `lasthop-tcp` with this configuration (only noq-proto).
    Lasthop(Arc<lasthop_tcp::Config>),
}

impl Congestion {
    /// The libraries' own controls with their names ([`Info::quic_name`](lasthop_base::Info::quic_name)).
    pub const OWN: [(&'static str, Congestion); 2] =
        [("new_reno", Congestion::NewReno), ("cubic", Congestion::Cubic)];

    /// Returns the libraries' own control of this name, if any.
    pub fn named(name: &str) -> Option<Congestion> {
        Congestion::OWN.into_iter().find(|(known, _)| *known == name).map(|(_, control)| control)
    }
}

/// Settings of a connection.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Library, and settings that a scenario selects.
    pub stack: quic::Settings,
    /// Congestion control of both ends.
    pub congestion: Congestion,
    /// Seed of everything that the connection draws.
    pub seed: u64,
    /// UDP payload of a full datagram, bytes, at least 1200 (RFC 9000 §14).
    pub datagram: u16,
    /// Initial congestion window, bytes; `None`: the library's default (RFC 9002 §7.2).
    pub initial_window: Option<u64>,
    /// Whether datagrams are ECN-capable. Without ECN, the library's ECN validation fails, which has no other effect.
    pub ecn: bool,
    /// Data that the source accepts from its application beyond the acknowledged data, bytes.
    pub send_window: u64,
    /// Whether both ends send data. A connection has then one bidirectional stream, which the client opens.
    pub is_two_way: bool,
}

impl Default for Settings {
    /// Returns settings with the default stack, the CUBIC of this stack, datagrams that fill an IPv4 packet of 1500
    /// bytes, and a send window that limits no path.
    fn default() -> Settings {
        Settings {
            stack: quic::Settings::default(),
            congestion: Congestion::Cubic,
            seed: 1,
            datagram: 1472,
            initial_window: None,
            ecn: false,
            send_window: 1 << 28,
            is_two_way: false,
        }
    }
}

/// Returns the source and the destination of a flow. `source_opens` is true if the source is the client.
pub fn pair(settings: &Settings, source_opens: bool) -> [Box<dyn Stack>; 2] {
    match settings.stack.implementation {
        Library::Quinn => quinn::pair(settings, source_opens),
        Library::Noq => noq::pair(settings, source_opens),
    }
}

fn instant(time: Time) -> Instant {
    *ZERO + std::time::Duration::from_nanos(time.as_nanos())
}

fn time(instant: Instant) -> Time {
    Time::from_nanos(instant.saturating_duration_since(*ZERO).as_nanos() as u64)
}

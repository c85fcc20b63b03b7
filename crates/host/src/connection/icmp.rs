//! ICMP errors about a connection's segments.

use super::Connection;
use crate::error::Error;
use lasthop_base::Time;
use lasthop_wire::bytes::{IcmpError, Problem};

/// Smallest MTU that the host uses after an ICMP error over IPv4, bytes (`ip_rt_min_pmtu` of Linux). Most reports of a
/// smaller MTU are attacks.
const SMALLEST_MTU: u32 = 552;
/// Smallest MTU of IPv6, bytes. Reports of a smaller MTU are ignored (RFC 8201 §4).
const SMALLEST_MTU_6: u32 = 1280;

impl Connection {
    /// Handles an ICMP error about a segment of this connection. Returns whether the error has an effect.
    pub(crate) fn handle_icmp_error(&mut self, now: Time, message: &IcmpError) -> bool {
        let error = match message.problem {
            // Source quench must have no effect (RFC 9293 §3.9.2.2, MUST-55; RFC 6633 §6).
            Problem::SourceQuench => return false,
            Problem::TooLong { mtu } => return self.handle_too_long(now, message, mtu),
            Problem::NoRoute | Problem::NetworkRefused => Error::NetworkUnreachable,
            Problem::NoHost | Problem::HostRefused | Problem::TimeExceeded => Error::HostUnreachable,
            Problem::NoProtocol | Problem::NoPort => Error::ConnectionRefused,
            Problem::Parameter => Error::Protocol,
        };
        let has_effect = self.endpoint.handle_undelivered(message.seq, message.problem.is_hard());
        if has_effect {
            self.icmp_error = Some(error);
        }
        has_effect
    }

    fn handle_too_long(&mut self, now: Time, message: &IcmpError, mtu: u32) -> bool {
        // `headers` is the length of the IP and TCP headers without options, bytes.
        let (mtu, headers) = if self.ends.source.is_ipv4() {
            (mtu.max(SMALLEST_MTU), 40)
        } else if mtu < SMALLEST_MTU_6 {
            return false;
        } else {
            (mtu, 60)
        };
        self.endpoint.handle_too_long(now, message.seq, mtu - headers)
    }

    pub(crate) fn icmp_error(&self) -> Option<Error> {
        self.icmp_error.filter(|_| self.endpoint.ended().is_none())
    }
}

//! Initial sequence numbers and ephemeral ports, which an off-path attacker must not be able to guess.

use lasthop_base::Time;
use lasthop_wire::Seq;
use siphasher::sip::SipHasher24;
use std::hash::Hasher;
use std::net::{IpAddr, SocketAddr};

/// First ephemeral port (RFC 6335 §6).
const FIRST_EPHEMERAL: u16 = 49152;
const EPHEMERAL: u16 = u16::MAX - FIRST_EPHEMERAL + 1;

/// Distance from the last sequence number of an earlier connection to the initial sequence number of a new connection.
/// Used if the clock yields a number that is not after this last sequence number.
const BEHIND: u64 = 64_000;

pub(crate) struct SecretNumbers {
    secret: [u8; 16],
    opened: u16,
}

impl SecretNumbers {
    pub(crate) fn new(secret: [u8; 16]) -> SecretNumbers {
        SecretNumbers { secret, opened: 0 }
    }

    /// Returns an initial sequence number: a clock with ticks of 4 µs, plus a keyed hash of the two ends (RFC 9293
    /// §3.4.1, RFC 6528 §3). If an earlier connection between the same ends has the last sequence number `after`, the
    /// result is after that number (RFC 9293 §3.6.1).
    pub(crate) fn initial(
        &self,
        now: Time,
        local: SocketAddr,
        remote: SocketAddr,
        after: Option<Seq>,
    ) -> Seq {
        let clock = (now.as_nanos() / 4000) as u32;
        let number = Seq(clock.wrapping_add(self.hash(b'i', Some(local), remote) as u32));
        match after.filter(|after| number.0.wrapping_sub(after.0) as i32 <= 0) {
            Some(after) => after.at(BEHIND),
            None => number,
        }
    }

    pub(crate) fn seed(&self, local: SocketAddr, remote: SocketAddr) -> u64 {
        self.hash(b's', Some(local), remote)
    }

    /// Returns all ephemeral ports, in the order in which the host should try the ports. The first port is a keyed hash
    /// of the destination plus the number of earlier calls (RFC 6056 §3.3.3).
    pub(crate) fn ports(&mut self, remote: SocketAddr) -> impl Iterator<Item = u16> + use<> {
        let first = (self.hash(b'p', None, remote) as u16).wrapping_add(self.opened);
        self.opened = self.opened.wrapping_add(1);
        (0..EPHEMERAL).map(move |n| FIRST_EPHEMERAL + first.wrapping_add(n) % EPHEMERAL)
    }

    fn hash(&self, purpose: u8, local: Option<SocketAddr>, remote: SocketAddr) -> u64 {
        let mut hasher = SipHasher24::new_with_key(&self.secret);
        hasher.write_u8(purpose);
        for end in local.into_iter().chain([remote]) {
            match end.ip() {
                IpAddr::V4(address) => hasher.write(&address.octets()),
                IpAddr::V6(address) => hasher.write(&address.octets()),
            }
            hasher.write(&end.port().to_be_bytes());
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;

    #[test]
    fn numbers_move_with_the_clock_and_differ_between_connections_and_secrets() {
        let end = |port| SocketAddr::from(([10, 0, 0, 1], port));
        let numbers = SecretNumbers::new([7; 16]);
        let first = numbers.initial(Time::ZERO, end(1), end(2), None);
        let later = numbers.initial(Time::ZERO + Duration::from_micros(4), end(1), end(2), None);
        assert_eq!(later, first.at(1));
        assert_ne!(numbers.initial(Time::ZERO, end(1), end(3), None), first);
        let behind = numbers.initial(Time::ZERO, end(1), end(2), Some(first.at(5)));
        assert_eq!(behind, first.at(5 + BEHIND));
        assert_ne!(SecretNumbers::new([8; 16]).initial(Time::ZERO, end(1), end(2), None), first);
    }

    #[test]
    fn every_ephemeral_port_comes_once() {
        let mut ports: Vec<u16> =
            SecretNumbers::new([1; 16]).ports(SocketAddr::from(([10, 0, 0, 1], 80))).collect();
        ports.sort_unstable();
        assert_eq!(ports, (FIRST_EPHEMERAL..=u16::MAX).collect::<Vec<u16>>());
    }
}

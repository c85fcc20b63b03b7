//! Cookies that prove the source address of a datagram.
//!
//! The server stores no state until an address is proven. A cookie is a keyed hash of address and time (SipHash, as in
//! Linux's SYN cookies).

use lasthop_base::{Duration, Time};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// Length of a cookie period. A cookie is valid in the period in which it was issued and in the next period.
const SPAN: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(crate) struct Cookies {
    keys: RandomState,
    count: u64,
}

impl Cookies {
    pub(crate) fn of(&self, address: SocketAddr, now: Time) -> u64 {
        self.keys.hash_one(("cookie", address, now.as_nanos() / SPAN.as_nanos()))
    }

    /// Returns whether the cookie was issued for this address in the present or previous period.
    pub(crate) fn is_of(&self, cookie: u64, address: SocketAddr, now: Time) -> bool {
        let before = Time::from_nanos(now.as_nanos().saturating_sub(SPAN.as_nanos()));
        cookie == self.of(address, now) || cookie == self.of(address, before)
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.count += 1;
        self.keys.hash_one(("number", self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_of_one_address_and_of_now() {
        let cookies = Cookies::default();
        let address: SocketAddr = "192.0.2.1:9".parse().unwrap();
        let now = Time::ZERO + Duration::from_secs(25);
        let cookie = cookies.of(address, now);
        assert!(cookies.is_of(cookie, address, now));
        assert!(cookies.is_of(cookie, address, now + Duration::from_secs(14)));
        assert!(!cookies.is_of(cookie, address, now + Duration::from_secs(16)));
        assert!(!cookies.is_of(cookie, "192.0.2.1:10".parse().unwrap(), now));
        assert!(!Cookies::default().is_of(cookie, address, now), "a cookie is not valid with other keys");
    }
}

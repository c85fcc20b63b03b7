//! Rates of links and of traffic sources.

use crate::time::Duration;
use std::fmt;

/// A rate in bits per second, never zero. 1 kbit/s is 1000 bit/s.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Rate {
    /// Returns a rate of `bps` bit/s. Zero yields 1 bit/s, so that a division by a rate is always defined.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(if bps == 0 { 1 } else { bps })
    }

    /// Returns the rate in bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Returns the transmission time of `bytes` bytes, rounded up to the nanosecond. Saturates at [`Duration::MAX`].
    pub fn time_for(self, bytes: u64) -> Duration {
        const BIT_NANOS_PER_BYTE: u64 = 8_000_000_000;
        let nanos = match bytes.checked_mul(BIT_NANOS_PER_BYTE) {
            Some(product) => product.div_ceil(self.0),
            None => {
                let wide = u128::from(bytes) * u128::from(BIT_NANOS_PER_BYTE);
                u64::try_from(wide.div_ceil(u128::from(self.0))).unwrap_or(u64::MAX)
            }
        };
        Duration::from_nanos(nanos)
    }
}

/// Prints the rate in the largest unit in which the number is at least 1: `2 Mbit/s`, `384 kbit/s`.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, per_unit) = match self.0 {
            n if n >= 1_000_000_000_000 => ("Tbit/s", 1e12),
            n if n >= 1_000_000_000 => ("Gbit/s", 1e9),
            n if n >= 1_000_000 => ("Mbit/s", 1e6),
            n if n >= 1_000 => ("kbit/s", 1e3),
            _ => ("bit/s", 1.0),
        };
        write!(f, "{} {unit}", self.0 as f64 / per_unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hasegawas_packet_takes_4_16_ms_on_the_downlink() {
        // 1040 bytes at 2 Mbit/s take 4.16 ms. With a propagation delay of 1 ms in each direction, the sum is the 6.16
        // ms of hasegawa §4.1.
        assert_eq!(Rate::from_bps(2_000_000).time_for(1040), Duration::from_micros(4160));
        assert_eq!(Rate::from_bps(3).time_for(1), Duration::from_nanos(2_666_666_667));
        assert_eq!(Rate::from_bps(1).time_for(u64::MAX), Duration::MAX);
    }

    #[test]
    fn rates_print_in_their_largest_unit() {
        assert_eq!(Rate::from_bps(384_000).to_string(), "384 kbit/s");
        assert_eq!(Rate::from_bps(1_500_000).to_string(), "1.5 Mbit/s");
    }
}

//! Link and source rates.

use crate::time::Duration;
use std::fmt;

/// Bits per second (1 kbit/s = 1000 bit/s), never zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Rate(u64);

impl Rate {
    /// A rate in bit/s; zero becomes 1 bit/s, so that divisions by a rate are defined.
    pub const fn from_bps(bps: u64) -> Rate {
        Rate(if bps == 0 { 1 } else { bps })
    }

    /// Bits per second.
    pub const fn bps(self) -> u64 {
        self.0
    }

    /// Transmission time of `bytes`, rounded up to the nanosecond.
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

/// Prints the rate in the largest unit in which it is at least 1: `2 Mbit/s`, `384 kbit/s`.
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
        // 1040 bytes at 2 Mbit/s (hasegawa §4.1: 6.16 ms less 2 x 1 ms).
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

//! Named random streams, derived from one seed. Each endpoint and each queueing element has a separate stream for each
//! purpose.
//!
//! Senders and receivers do not draw from the stream of the channel. Therefore, with the same seed, the channel draws
//! the same random numbers for all sender and receiver mechanisms.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A sequence of random numbers that depends only on the seed and the name of the stream.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// Returns the stream with the name `name`, e.g. `link.wireless.down.channel`.
    pub fn named(seed: u64, name: &str) -> Stream {
        Stream(Pcg64Mcg::seed_from_u64(mix(seed ^ fnv1a(name.as_bytes()))))
    }

    /// Returns the next 64 random bits of the stream. Takes one draw.
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number that is uniformly distributed in [0, 1). Takes one draw.
    pub fn uniform(&mut self) -> f64 {
        unit_interval(self.draw())
    }

    /// Returns an exponentially distributed number with the mean `mean`, in the unit of `mean`. Takes one draw.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }
}

/// Maps 64 random bits to a number in [0, 1) with a resolution of 53 bits.
pub fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Derives further random numbers of 64 bits from one draw. Returns the number with the index `n`. With `n` = 0,
/// returns the draw itself.
///
/// For each packet, a channel takes only one draw from its stream. For each ARQ retransmission of the packet, the
/// channel derives a number from this draw. Therefore retransmissions do not affect the draws of later packets.
pub fn derive(draw: u64, n: u32) -> u64 {
    match n {
        0 => draw,
        n => mix(draw.wrapping_add(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    }
}

/// Output function of the generator SplitMix64 (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Returns the FNV-1a hash of the bytes, 64 bits.
fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_depend_on_seed_and_name_only() {
        let draws = |seed, name| {
            let mut stream = Stream::named(seed, name);
            [stream.draw(), stream.draw(), stream.draw()]
        };
        assert_eq!(draws(7, "a"), draws(7, "a"));
        assert_ne!(draws(7, "a"), draws(7, "b"));
        assert_ne!(draws(7, "a"), draws(8, "a"));
    }

    #[test]
    fn uniform_and_exponential_have_their_means() {
        let mut stream = Stream::named(1, "means");
        let n = 200_000;
        let uniform = (0..n).map(|_| stream.uniform()).sum::<f64>() / f64::from(n);
        let exponential = (0..n).map(|_| stream.exponential(3.0)).sum::<f64>() / f64::from(n);
        // The tolerances are five standard errors of the mean. The standard deviations are 1/sqrt(12) = 0.2887 for the
        // uniform and 3 for the exponential numbers.
        assert!((uniform - 0.5).abs() < 5.0 * 0.2887 / f64::from(n).sqrt(), "{uniform}");
        assert!((exponential - 3.0).abs() < 5.0 * 3.0 / f64::from(n).sqrt(), "{exponential}");
    }

    #[test]
    fn derived_draws_are_uncorrelated_with_their_parent() {
        let mut stream = Stream::named(2, "derive");
        let n = 100_000;
        let both_low = (0..n)
            .filter(|_| {
                let draw = stream.draw();
                unit_interval(derive(draw, 0)) < 0.5 && unit_interval(derive(draw, 1)) < 0.5
            })
            .count();
        // If a draw and its derived number are uncorrelated, both numbers are below 0.5 in a quarter of the cases. The
        // tolerance is five standard errors.
        let share = both_low as f64 / n as f64;
        assert!((share - 0.25).abs() < 5.0 * (0.25f64 * 0.75 / n as f64).sqrt(), "{share}");
    }
}

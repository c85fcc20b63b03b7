//! Named random streams derived from one seed. Each endpoint and each link element has a stream of its own for each
//! purpose.
//!
//! Senders and receivers do not draw from the channel's stream. With the same seed, all mechanisms therefore experience
//! the same sequence of losses.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// A random stream that depends only on the seed and its name.
#[derive(Clone, Debug)]
pub struct Stream(Pcg64Mcg);

impl Stream {
    /// Returns the stream of this name, e.g. `link.wireless.down.channel`.
    pub fn named(seed: u64, name: &str) -> Stream {
        Stream(Pcg64Mcg::seed_from_u64(mix(seed ^ fnv1a(name.as_bytes()))))
    }

    /// 64 random bits: one draw.
    pub fn draw(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number that is uniform in [0, 1), from one draw.
    pub fn uniform(&mut self) -> f64 {
        unit_interval(self.draw())
    }

    /// An exponentially distributed number with this mean, in the unit of `mean`, from one draw.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }
}

/// Maps 64 random bits to [0, 1) with 53 bits of resolution.
pub fn unit_interval(bits: u64) -> f64 {
    (bits >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// Derives the `n`-th further value of 64 random bits from one draw; `n` = 0 returns the draw itself.
///
/// A packet takes only one draw from its channel's stream, and each ARQ retransmission derives its value from the
/// packet's draw. Retransmissions therefore do not affect the draws of later packets.
pub fn derive(draw: u64, n: u32) -> u64 {
    match n {
        0 => draw,
        n => mix(draw.wrapping_add(u64::from(n).wrapping_mul(0x9e37_79b9_7f4a_7c15))),
    }
}

/// SplitMix64's output function (Steele, Lea, Flood 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// FNV-1a, 64 bits.
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
        // Tolerances are five standard errors: 0.2887/sqrt(n) and 3/sqrt(n).
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
        // If the two are uncorrelated, both are low in a quarter of the cases, within five standard errors.
        let share = both_low as f64 / n as f64;
        assert!((share - 0.25).abs() < 5.0 * (0.25f64 * 0.75 / n as f64).sqrt(), "{share}");
    }
}

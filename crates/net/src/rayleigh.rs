//! Rayleigh fading: the envelope of a flat-fading channel without line of sight. The model is a sum of sinusoids (Zheng
//! and Xiao, IEEE Commun. Lett. 7(11), 2003, a corrected Jakes model).

use lasthop_base::Stream;
use std::f64::consts::PI;

/// Number of sinusoids per quadrature. More sinusoids do not change results visibly.
const SINUSOIDS: usize = 16;

/// Upper bound of the error of the approximate power of two paths. Each cosine has an error of at most 7e-5, so the sum
/// of the 16 cosines of a quadrature has an error of at most 1.1e-3. The magnitude of this sum is at most 16, so the
/// power of a quadrature has an error of at most 2.2e-3. Two paths have four quadratures, so their power has an error
/// of at most 9e-3.
const MARGIN: f64 = 0.01;

/// The complex envelope of a Rayleigh fading channel, mean power 1.
pub(crate) struct RayleighFading {
    /// Frequency of each sinusoid in turns per second (Hz). The sinusoids of the real quadrature come first.
    speeds: [f64; 2 * SINUSOIDS],
    /// Phase of each sinusoid at time zero, turns, in the order of `speeds`.
    phases: [f64; 2 * SINUSOIDS],
}

impl RayleighFading {
    pub(crate) fn new(doppler_hz: f64, random: &mut Stream) -> RayleighFading {
        let theta = PI * (2.0 * random.uniform() - 1.0);
        let (mut speeds, mut phases) = ([0.0; 2 * SINUSOIDS], [0.0; 2 * SINUSOIDS]);
        for n in 0..SINUSOIDS {
            let angle = (2.0 * PI * (n + 1) as f64 - PI + theta) / (4.0 * SINUSOIDS as f64);
            for (at, share) in [(n, libm::cos(angle)), (SINUSOIDS + n, libm::sin(angle))] {
                speeds[at] = doppler_hz * share;
                phases[at] = random.uniform() - 0.5;
            }
        }
        RayleighFading { speeds, phases }
    }

    /// Returns the power |h(t)|^2 of the envelope h at the time `t`, s.
    pub(crate) fn power(&self, t: f64) -> f64 {
        let mut rays = [0.0; 2 * SINUSOIDS];
        for (ray, (speed, phase)) in rays.iter_mut().zip(self.speeds.iter().zip(&self.phases)) {
            *ray = cosine(speed * t + phase);
        }
        let (real, imaginary) = rays.split_at(SINUSOIDS);
        let (real, imaginary): (f64, f64) = (real.iter().sum(), imaginary.iter().sum());
        (real * real + imaginary * imaginary) / SINUSOIDS as f64
    }

    /// Returns the approximate power of one quadrature (0: real, 1: imaginary) at `t`. [`MARGIN`] bounds the error.
    fn rough_part(&self, quadrature: usize, t: f64) -> f64 {
        let from = quadrature * SINUSOIDS;
        let (speeds, phases) = (&self.speeds[from..from + SINUSOIDS], &self.phases[from..from + SINUSOIDS]);
        // Four independent sums let the processor add in parallel.
        let mut sums = [0.0; 4];
        for (speeds, phases) in speeds.as_chunks::<4>().0.iter().zip(phases.as_chunks::<4>().0) {
            for (sum, (speed, phase)) in sums.iter_mut().zip(speeds.iter().zip(phases)) {
                *sum += rough_cosine(speed * t + phase);
            }
        }
        let sum: f64 = sums.iter().sum();
        sum * sum / SINUSOIDS as f64
    }
}

/// Returns whether the powers of one or two paths ([`RayleighFading::power`]) add up to less than `threshold` at `t`.
///
/// The approximate powers of some quadratures usually suffice. The summation begins with the quadrature that was
/// strongest in the last call (`strongest`, initially 0), because the channel changes slowly. The result does not
/// depend on this order.
pub(crate) fn are_below(paths: &[RayleighFading], t: f64, threshold: f64, strongest: &mut usize) -> bool {
    let (mut power, mut largest) = (0.0, 0.0);
    let first = *strongest;
    for number in 0..2 * paths.len() {
        // The exclusive or of `first` and `number` visits each of the two or four quadratures once.
        let quadrature = first ^ number;
        let part = paths[quadrature / 2].rough_part(quadrature % 2, t);
        if part > largest {
            (largest, *strongest) = (part, quadrature);
        }
        power += part;
        if power > threshold + MARGIN {
            return false;
        }
    }
    power < threshold - MARGIN || paths.iter().map(|path| path.power(t)).sum::<f64>() < threshold
}

/// Returns cos(2 pi `turns`), with an error of about 1e-15 for |turns| < 2^51. The code has no branches, so that the
/// compiler can vectorize the loop of the caller. `libm::cos` took 70 % of the computing time of a run over RLC with
/// faded blocks.
#[inline]
fn cosine(turns: f64) -> f64 {
    /// Taylor coefficients (-1)^k / (2k + 1)! of sin(x) for k = 10 down to 0. At x = pi/2, the first omitted term is
    /// 3e-18.
    const TERMS: [f64; 11] = [
        1.0 / 51_090_942_171_709_440_000.0,
        -1.0 / 121_645_100_408_832_000.0,
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
        1.0,
    ];
    let x = 2.0 * PI * from_quarter(turns);
    let square = x * x;
    x * TERMS.iter().fold(0.0, |sum, term| sum * square + term)
}

/// Returns cos(2 pi `turns`), with an error of 7e-5.
#[inline]
fn rough_cosine(turns: f64) -> f64 {
    /// Minimax odd polynomial of degree 5 for sin(2 pi x) on -1/4 to 1/4 (Remez exchange, our computation).
    const TERMS: [f64; 3] = [6.281_280_076_6, -41.095_242_687, 73.585_514_735];
    let x = from_quarter(turns);
    let square = x * x;
    x * (TERMS[0] + square * (TERMS[1] + square * TERMS[2]))
}

/// Returns an angle, from -1/4 to 1/4 turn, whose sine equals the cosine of `turns`. The function uses the identity
/// cos(2 pi p) = sin(2 pi (1/4 - |p|)) for |p| <= 1/2.
#[inline]
fn from_quarter(turns: f64) -> f64 {
    /// The number 1.5 x 2^52. Adding and then subtracting this number rounds to a whole number.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    let part = turns - ((turns + ROUND) - ROUND);
    0.25 - part.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_libms() {
        for step in -4_000i32..=4_000 {
            let turns = f64::from(step) / 1_000.0;
            let error = cosine(turns) - libm::cos(2.0 * PI * turns);
            // Rounding of libm's argument, by up to half an ulp of 8 pi, contributes most of this bound.
            assert!(error.abs() < 3e-15, "{turns}: {error:e}");
        }
        for (turns, expected) in [(1e6, 1.0), (1e6 + 0.25, 0.0), (-1e9 - 0.5, -1.0), (0.125, 0.5f64.sqrt())] {
            assert!((cosine(turns) - expected).abs() < 1e-15, "{turns}: {}", cosine(turns));
        }
    }

    #[test]
    fn the_rough_cosine_is_as_close_as_the_margin_takes_it_to_be() {
        for step in -40_000i32..=40_000 {
            let turns = f64::from(step) / 10_000.0;
            let error = rough_cosine(turns) - libm::cos(2.0 * PI * turns);
            assert!(error.abs() < 7e-5, "{turns}: {error:e}");
        }
        let of_sum = SINUSOIDS as f64 * 7e-5;
        let of_part = (2.0 * SINUSOIDS as f64 + of_sum) * of_sum / SINUSOIDS as f64;
        assert!(4.0 * of_part < MARGIN, "error of each quadrature's power: {of_part:e}");
    }

    #[test]
    fn what_is_told_from_a_part_of_the_rays_is_what_the_power_says() {
        let mut below = 0u32;
        for seed in 0..20 {
            let random = &mut Stream::named(seed, "fading");
            let paths = [RayleighFading::new(5.0, random), RayleighFading::new(70.0, random)];
            for step in 0..1_000 {
                let t = f64::from(step) * 0.0137;
                for paths in [&paths[..1], &paths] {
                    let power: f64 = paths.iter().map(|path| path.power(t)).sum();
                    let near = [-2e-2, -1e-3, -1e-15, 0.0, 1e-15, 1e-3, 2e-2].map(|beside| power + beside);
                    for threshold in near.into_iter().chain([0.0, 0.05, 0.4, 3.0]) {
                        let expected = power < threshold;
                        below += u32::from(expected);
                        for mut strongest in 0..2 * paths.len() {
                            let below = are_below(paths, t, threshold, &mut strongest);
                            assert_eq!(below, expected, "{power} at {t}, {threshold}");
                            assert!(strongest < 2 * paths.len());
                        }
                    }
                }
            }
        }
        assert!((100_000..340_000).contains(&below), "both results must be frequent: {below}");
    }

    #[test]
    fn the_envelope_is_rayleigh() {
        // The mean power must be 1, and P(power > 1) must be 1/e. With Doppler frequency f_d, the power must rise above
        // its mean sqrt(2 pi) f_d / e times a second (Jakes 1974, Eq. 1.3-35). The test averages over channels, because
        // each channel has only 16 sinusoids.
        let (channels, seconds, per_second) = (60, 100, 1000);
        let doppler = 5.0;
        let (mut sum, mut above, mut crossings) = (0.0, 0u32, 0u32);
        for channel in 0..channels {
            let fading = RayleighFading::new(doppler, &mut Stream::named(channel, "fading"));
            let mut last = f64::INFINITY;
            for step in 0..seconds * per_second {
                let power = fading.power(f64::from(step) / f64::from(per_second));
                sum += power;
                above += u32::from(power > 1.0);
                crossings += u32::from(last <= 1.0 && power > 1.0);
                last = power;
            }
        }
        let samples = f64::from(seconds * per_second) * channels as f64;
        let rate = f64::from(crossings) / (f64::from(seconds) * channels as f64);
        assert!((sum / samples - 1.0).abs() < 0.03, "{}", sum / samples);
        assert!((f64::from(above) / samples - 1.0 / std::f64::consts::E).abs() < 0.02);
        let expected = (2.0 * PI).sqrt() * doppler / std::f64::consts::E;
        assert!((rate / expected - 1.0).abs() < 0.05, "{rate} crossings a second, expected {expected}");
    }
}

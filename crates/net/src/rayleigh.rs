//! Rayleigh fading: the envelope of a flat channel without a line of sight, for faded traces and faded blocks alike.
//!
//! A sum of sinusoids (Zheng and Xiao, IEEE Commun. Lett. 7(11), 2003, a corrected Jakes model).

use lasthop_base::Stream;
use std::f64::consts::PI;

/// Sinusoids per quadrature: more change nothing visible.
const SINUSOIDS: usize = 16;

/// The complex envelope of a Rayleigh fading channel, mean power 1.
pub(crate) struct RayleighFading {
    /// Of each sinusoid, the real quadrature's first: turns a second, and turns at time zero.
    speeds: [f64; 2 * SINUSOIDS],
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

    /// |h(t)|^2, t in seconds.
    pub(crate) fn power(&self, t: f64) -> f64 {
        let mut rays = [0.0; 2 * SINUSOIDS];
        for (ray, (speed, phase)) in rays.iter_mut().zip(self.speeds.iter().zip(&self.phases)) {
            *ray = cosine(speed * t + phase);
        }
        let (real, imaginary) = rays.split_at(SINUSOIDS);
        let (real, imaginary): (f64, f64) = (real.iter().sum(), imaginary.iter().sum());
        (real * real + imaginary * imaginary) / SINUSOIDS as f64
    }
}

/// cos(2 pi `turns`), to some 1e-15 while |turns| < 2^51: without branches, so that several are computed at once.
///
/// `libm::cos` spent 70 % of a run over RLC with faded blocks here.
#[inline]
fn cosine(turns: f64) -> f64 {
    /// Added and taken away again, it rounds to a whole number: 1.5 x 2^52.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    /// Taylor's of sin(x): (-1)^k / (2k + 1)!, from the highest; the next would add 3e-18 at pi/2.
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
    let part = turns - ((turns + ROUND) - ROUND);
    // cos(2 pi p) = sin(2 pi (1/4 - |p|)), for |p| <= 1/2.
    let x = 2.0 * PI * (0.25 - part.abs());
    let square = x * x;
    x * TERMS.iter().fold(0.0, |sum, term| sum * square + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cosine_is_libms() {
        for step in -4_000i32..=4_000 {
            let turns = f64::from(step) / 1_000.0;
            let error = cosine(turns) - libm::cos(2.0 * PI * turns);
            // The argument of the other one is rounded: half a grain of 8 pi.
            assert!(error.abs() < 3e-15, "{turns}: {error:e}");
        }
        for (turns, expected) in [(1e6, 1.0), (1e6 + 0.25, 0.0), (-1e9 - 0.5, -1.0), (0.125, 0.5f64.sqrt())] {
            assert!((cosine(turns) - expected).abs() < 1e-15, "{turns}: {}", cosine(turns));
        }
    }

    #[test]
    fn the_envelope_is_rayleigh() {
        // Mean power 1; it exceeds 1 with probability 1/e; it crosses the RMS level upwards sqrt(2 pi) f_d / e times
        // a second (Jakes 1974, Eq. 1.3-35). Averaged over channels, because one has 16 sinusoids only.
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
        assert!((rate / expected - 1.0).abs() < 0.05, "{rate} crossings a second, {expected} expected");
    }
}

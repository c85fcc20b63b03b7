//! The envelope of a Rayleigh channel: a sum of sinusoids (Zheng and Xiao, IEEE Commun. Lett. 7(11), 2003, a corrected
//! Jakes model), for faded traces and faded blocks alike.

use lasthop_base::Stream;
use std::f64::consts::PI;

/// Sinusoids per quadrature: more change nothing visible.
const SINUSOIDS: usize = 16;

/// The complex envelope of a Rayleigh channel, mean power 1.
pub(crate) struct Envelope {
    doppler: f64,
    /// Angle of arrival's cosine and sine, and the phases of both quadratures.
    rays: Vec<(f64, f64, f64, f64)>,
}

impl Envelope {
    pub(crate) fn new(doppler_hz: f64, random: &mut Stream) -> Envelope {
        let theta = PI * (2.0 * random.uniform() - 1.0);
        let rays = (1..=SINUSOIDS)
            .map(|n| {
                let angle = (2.0 * PI * n as f64 - PI + theta) / (4.0 * SINUSOIDS as f64);
                let mut phase = || PI * (2.0 * random.uniform() - 1.0);
                (libm::cos(angle), libm::sin(angle), phase(), phase())
            })
            .collect();
        Envelope { doppler: 2.0 * PI * doppler_hz, rays }
    }

    /// |h(t)|^2, t in seconds.
    pub(crate) fn power(&self, t: f64) -> f64 {
        let (mut real, mut imaginary) = (0.0, 0.0);
        for (cosine, sine, phase, other) in &self.rays {
            real += libm::cos(self.doppler * t * cosine + phase);
            imaginary += libm::cos(self.doppler * t * sine + other);
        }
        (real * real + imaginary * imaginary) / SINUSOIDS as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_envelope_is_rayleigh() {
        // Mean power 1; it exceeds 1 with probability 1/e; it crosses the RMS level upwards sqrt(2 pi) f_d / e times
        // a second (Jakes 1974, Eq. 1.3-35). Averaged over channels, because one has 16 sinusoids only.
        let (channels, seconds, per_second) = (60, 100, 1000);
        let doppler = 5.0;
        let (mut sum, mut above, mut crossings) = (0.0, 0u32, 0u32);
        for channel in 0..channels {
            let envelope = Envelope::new(doppler, &mut Stream::named(channel, "fading"));
            let mut last = f64::INFINITY;
            for step in 0..seconds * per_second {
                let power = envelope.power(f64::from(step) / f64::from(per_second));
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

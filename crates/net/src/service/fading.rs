//! A link whose rate fades: packet-delivery traces from a model, for those who have no recording.
//!
//! Rayleigh fading by a sum of sinusoids (Zheng and Xiao, IEEE Commun. Lett. 7(11),
//! 2003, a corrected Jakes model), turned into a rate by Shannon's formula and
//! scaled to a given mean.
//!
//! # What is not modelled
//! No slow shadowing, no scheduler, no other users, no outage from hand-over: a
//! recorded link stalls for longer, and more often, than these traces do.

use super::Trace;
use super::trace::OPPORTUNITY_BYTES;
use lasthop_base::{Rate, Stream};
use std::f64::consts::PI;

/// What a faded trace is made from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fading {
    /// Mean rate over the trace.
    pub mean: Rate,
    /// Doppler frequency, Hz: speed / wavelength; 5 Hz is walking pace at 2 GHz.
    pub doppler_hz: f64,
    /// Mean signal to noise ratio, dB: the lower, the more the rate varies.
    pub snr_db: f64,
    /// Length, ms, at least 1.
    pub millis: u64,
}

/// Sinusoids per quadrature: more change nothing visible.
const SINUSOIDS: usize = 16;

impl Fading {
    /// A trace in Mahimahi's format; the same for the same stream.
    ///
    /// The trace ends at `millis` exactly, with an opportunity, so that it repeats after that time.
    pub fn trace(&self, random: &mut Stream) -> Trace {
        let envelope = Envelope::new(self.doppler_hz, random);
        let snr = libm::pow(10.0, self.snr_db / 10.0);
        let rates: Vec<f64> = (0..self.millis.max(1))
            .map(|milli| libm::log2(1.0 + snr * envelope.power(milli as f64 / 1e3)))
            .collect();
        let mean = rates.iter().sum::<f64>() / rates.len() as f64;
        let bytes_per_milli = self.mean.bps() as f64 / 8.0 / 1e3;
        let mut stamps = Vec::new();
        let mut ready = 0.0;
        for (milli, rate) in rates.iter().enumerate() {
            ready += bytes_per_milli * rate / mean;
            while ready >= OPPORTUNITY_BYTES as f64 {
                ready -= OPPORTUNITY_BYTES as f64;
                stamps.push(milli as u64 + 1);
            }
        }
        if stamps.last() != Some(&(rates.len() as u64)) {
            stamps.push(rates.len() as u64);
        }
        Trace::from_millis(stamps)
    }
}

/// The complex envelope of a Rayleigh channel, mean power 1.
struct Envelope {
    doppler: f64,
    /// Angle of arrival's cosine and sine, and the phases of both quadratures.
    rays: Vec<(f64, f64, f64, f64)>,
}

impl Envelope {
    fn new(doppler_hz: f64, random: &mut Stream) -> Envelope {
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
    fn power(&self, t: f64) -> f64 {
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

    #[test]
    fn the_mean_rate_comes_out_and_the_rate_varies() {
        let fading = Fading { mean: Rate::from_bps(2_000_000), doppler_hz: 5.0, snr_db: 5.0, millis: 60_000 };
        let trace = fading.trace(&mut Stream::named(1, "trace"));
        assert_eq!(trace.length_millis(), 60_000);
        let mean = trace.mean_rate().bps() as f64;
        assert!((mean / 2e6 - 1.0).abs() < 0.001, "{mean}");
        assert_eq!(trace, fading.trace(&mut Stream::named(1, "trace")));
        assert_ne!(trace, fading.trace(&mut Stream::named(2, "trace")));
        // A tenth of a second at 2 Mbit/s is 17 opportunities: some have less than a third, some twice as many.
        let mut tenths = vec![0u32; 601];
        trace.millis().for_each(|stamp| tenths[(stamp / 100) as usize] += 1);
        assert!(tenths[..600].iter().any(|count| *count < 6) && tenths.iter().any(|count| *count > 28));
    }
}

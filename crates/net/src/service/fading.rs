//! Packet-delivery traces of a link whose rate fades, from a model.
//!
//! Rayleigh fading by a sum of sinusoids (Zheng and Xiao, IEEE Commun. Lett. 7(11), 2003, a corrected Jakes model),
//! converted to a rate by Shannon's formula and scaled to a given mean.
//!
//! # Not modelled
//! Shadowing, scheduling, other users and handover outages: recorded links stall longer and more often.

use super::Trace;
use super::trace::OPPORTUNITY_BYTES;
use crate::rayleigh::RayleighFading;
use lasthop_base::{Rate, Stream};

/// Parameters of a faded trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingModel {
    /// Mean rate over the trace.
    pub mean: Rate,
    /// Doppler frequency, Hz: speed / wavelength; 5 Hz is walking pace at 2 GHz.
    pub doppler_hz: f64,
    /// Mean signal-to-noise ratio, dB: the lower, the more the rate varies.
    pub snr_db: f64,
    /// Length, ms, at least 1.
    pub millis: u64,
}

impl FadingModel {
    /// A trace in Mahimahi's format, determined by the stream. The last opportunity is at `millis`, the length of a
    /// pass.
    pub fn trace(&self, random: &mut Stream) -> Trace {
        let fading = RayleighFading::new(self.doppler_hz, random);
        let snr = libm::pow(10.0, self.snr_db / 10.0);
        let rates: Vec<f64> = (0..self.millis.max(1))
            .map(|milli| libm::log2(1.0 + snr * fading.power(milli as f64 / 1e3)))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_rate_comes_out_and_the_rate_varies() {
        let fading =
            FadingModel { mean: Rate::from_bps(2_000_000), doppler_hz: 5.0, snr_db: 5.0, millis: 60_000 };
        let trace = fading.trace(&mut Stream::named(1, "trace"));
        assert_eq!(trace.length_millis(), 60_000);
        let mean = trace.mean_rate().bps() as f64;
        assert!((mean / 2e6 - 1.0).abs() < 0.001, "{mean}");
        assert_eq!(trace, fading.trace(&mut Stream::named(1, "trace")));
        assert_ne!(trace, fading.trace(&mut Stream::named(2, "trace")));
        // A tenth of a second at 2 Mbit/s is 17 opportunities: some tenths have less than a third, some twice as many.
        let mut tenths = vec![0u32; 601];
        trace.millis().for_each(|stamp| tenths[(stamp / 100) as usize] += 1);
        assert!(tenths[..600].iter().any(|count| *count < 6) && tenths.iter().any(|count| *count > 28));
    }
}

//! Generates packet-delivery traces of a link whose rate fades.
//!
//! The model is Rayleigh fading by a sum of sinusoids (Zheng and Xiao, IEEE Commun. Lett. 7(11), 2003, a corrected
//! Jakes model). Shannon's formula converts the signal-to-noise ratio to a rate, which is scaled to a given mean.
//!
//! # Not modelled
//! Shadowing, scheduling, other users and handover outages are not modelled. Recorded links therefore stall longer and
//! more often than generated traces.

use super::Trace;
use super::trace::OPPORTUNITY_BYTES;
use crate::rayleigh::RayleighFading;
use lasthop_base::{Rate, Stream};

/// Parameters of a trace whose rate fades.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FadingModel {
    /// Mean rate over the trace.
    pub mean: Rate,
    /// Doppler frequency in Hz, which is speed divided by wavelength. Walking pace at 2 GHz gives about 5 Hz.
    pub doppler_hz: f64,
    /// Mean signal-to-noise ratio, dB. The lower this ratio, the more the rate varies.
    pub snr_db: f64,
    /// Length of the trace, ms, at least 1.
    pub millis: u64,
}

impl FadingModel {
    /// Returns a trace in Mahimahi's format. Equal parameters and equal random streams give equal traces. The last
    /// delivery opportunity is at `millis`, after which the trace repeats.
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
        // At 2 Mbit/s, a tenth of a second has 17 opportunities of 1504 bytes on average. Because the rate fades, some
        // tenths of a second must have less than a third of the average, and some more than 1.6 times the average.
        let mut tenths = vec![0u32; 601];
        trace.millis().for_each(|stamp| tenths[(stamp / 100) as usize] += 1);
        assert!(tenths[..600].iter().any(|count| *count < 6) && tenths.iter().any(|count| *count > 28));
    }
}

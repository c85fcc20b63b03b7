//! Rayleigh fading: a transmission is lost if the received power in the middle of the transmission is below a
//! threshold.
//!
//! The threshold follows from the mean loss. The power of one path is exponentially distributed. The summed power of
//! two equal paths, as in a RAKE receiver, is gamma distributed.
//!
//! # Not modelled
//! Interference is not modelled. Power control is modelled only as a constant mean power; control that follows the
//! fading would make errors less bursty.

use super::{Build, Channel, Reception, Transmission};
use crate::rayleigh::{RayleighFading, are_below};
use lasthop_base::{Info, Mechanism, Parameter, Stream, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "fading",
        summary: "losses while a Rayleigh-faded signal is below a threshold",
        source: "Jakes 1974; Zheng and Xiao 2003; koga §4.3",
        parameters: &[
            Parameter {
                name: "loss",
                unit: Unit::Probability(0.0, 0.999),
                default: Some("0.026"),
                doc: "mean share of the time for which the signal is below the threshold: the mean frame error \
                      rate",
            },
            Parameter {
                name: "doppler_hz",
                unit: Unit::Number(0.001, 10_000.0),
                default: Some("5"),
                doc: "Doppler frequency, Hz: speed / wavelength",
            },
            Parameter {
                name: "paths",
                unit: Unit::Count(1, 2),
                default: Some("2"),
                doc: "number of independent paths of equal mean power, whose powers are summed",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, mut stream| {
        let paths = values.count("paths") as usize;
        Box::new(FadingChannel::new(values.number("loss"), values.number("doppler_hz"), paths, &mut stream))
    },
};

struct FadingChannel {
    threshold: f64,
    paths: Vec<RayleighFading>,
    strongest: usize,
}

impl FadingChannel {
    fn new(loss: f64, doppler_hz: f64, paths: usize, random: &mut Stream) -> FadingChannel {
        FadingChannel {
            threshold: threshold(loss, paths),
            paths: (0..paths).map(|_| RayleighFading::new(doppler_hz, random)).collect(),
            strongest: 0,
        }
    }
}

impl Channel for FadingChannel {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        let middle = transmission.start + transmission.end.since(transmission.start).divided_by(2);
        let seconds = middle.since(Time::ZERO).as_secs();
        if are_below(&self.paths, seconds, self.threshold, &mut self.strongest) {
            Reception::Lost
        } else {
            Reception::Intact
        }
    }

    fn is_perfect(&self) -> bool {
        self.threshold <= 0.0
    }
}

/// Returns the threshold of the summed power of `paths` paths. The power is below this threshold for a share `loss` of
/// the time. Each path has a mean power of 1.
fn threshold(loss: f64, paths: usize) -> f64 {
    let share_below = |power: f64| match paths {
        1 => -libm::expm1(-power),
        _ => 1.0 - libm::exp(-power) * (1.0 + power),
    };
    let (mut low, mut high) = (0.0, 100.0);
    for _ in 0..100 {
        let middle = (low + high) / 2.0;
        if share_below(middle) < loss {
            low = middle;
        } else {
            high = middle;
        }
    }
    if loss > 0.0 { low } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Duration;
    use lasthop_wire::Priority;

    /// Measures the share of lost blocks, and the mean number of consecutive lost blocks, for blocks of 20 ms over many
    /// channels.
    fn measure(loss: f64, doppler: f64, paths: usize) -> (f64, f64) {
        let (mut lost, mut bursts, mut all) = (0u32, 0u32, 0u32);
        for seed in 0..40 {
            let mut channel = FadingChannel::new(loss, doppler, paths, &mut Stream::named(seed, "fading"));
            let mut before = false;
            for block in 0..5000 {
                let start = Time::ZERO + Duration::from_millis(20 * block);
                let transmission = Transmission {
                    start,
                    end: start + Duration::from_millis(20),
                    bytes: 960,
                    attempt: 0,
                    priority: Priority::NORMAL,
                };
                let is_lost = channel.transmit(&transmission) == Reception::Lost;
                lost += u32::from(is_lost);
                bursts += u32::from(is_lost && !before);
                all += 1;
                before = is_lost;
            }
        }
        (f64::from(lost) / f64::from(all), f64::from(lost) / f64::from(bursts.max(1)))
    }

    #[test]
    fn thresholds_have_their_closed_form() {
        // F is the mean loss. The threshold must be -ln(1 - F) for one path. For two paths, it must be the x that
        // satisfies F = 1 - (1 + x) exp(-x).
        assert!((threshold(0.059, 1) + libm::log(1.0 - 0.059)).abs() < 1e-9);
        let x = threshold(0.059, 2);
        assert!((1.0 - (1.0 + x) * libm::exp(-x) - 0.059).abs() < 1e-9);
    }

    #[test]
    fn the_mean_loss_comes_out_and_slower_fading_has_longer_bursts() {
        for (loss, paths) in [(0.012, 2), (0.059, 2), (0.059, 1)] {
            let (share, _) = measure(loss, 5.0, paths);
            // Fading of 5 Hz decorrelates within about 0.1 s, so 40 channels of 100 s give about 40,000 independent
            // values.
            assert!((share / loss - 1.0).abs() < 0.1, "{share} for {loss} and {paths} paths");
        }
        assert!(measure(0.059, 1.0, 2).1 > 2.0 * measure(0.059, 5.0, 2).1);
    }

    #[test]
    fn one_path_fades_for_as_long_as_theory_says() {
        // A Rayleigh channel with Doppler frequency f_d stays below the level R = sqrt(threshold) for (exp(R^2) - 1) /
        // (R f_d sqrt(2 pi)) on average (Jakes 1974, Eq. 1.3-42). At f_d = 0.5 Hz, fades are long enough to measure
        // with blocks of 20 ms.
        let threshold = threshold(0.1, 1);
        let seconds =
            (libm::exp(threshold) - 1.0) / (threshold.sqrt() * 0.5 * (2.0 * std::f64::consts::PI).sqrt());
        let (_, blocks) = measure(0.1, 0.5, 1);
        assert!((blocks * 0.02 / seconds - 1.0).abs() < 0.15, "{} s, expected {seconds} s", blocks * 0.02);
    }

    /// Without losses, the threshold is 0, and the channel need not be asked.
    #[test]
    fn a_channel_without_losses_is_perfect() {
        for (loss, paths) in [(0.0, 1), (0.0, 2)] {
            let channel = FadingChannel::new(loss, 5.0, paths, &mut Stream::named(1, "fading"));
            assert!(channel.is_perfect() && threshold(loss, paths) == 0.0);
        }
        assert!(!FadingChannel::new(1e-6, 5.0, 1, &mut Stream::named(1, "fading")).is_perfect());
    }

    /// The middle of a transmission from 10 to 30 ms is 20 ms, so that its outcome is that of a transmission from 19 to
    /// 21 ms.
    #[test]
    fn the_middle_of_a_transmission_decides() {
        let mut lost = 0;
        for seed in 0..200 {
            let outcome = |start: u64, end: u64| {
                let [start, end] = [start, end].map(|millis| Time::ZERO + Duration::from_millis(millis));
                let (priority, attempt) = (Priority::NORMAL, 0);
                let mut channel = FadingChannel::new(0.5, 50.0, 1, &mut Stream::named(seed, "fading"));
                channel.transmit(&Transmission { start, end, bytes: 1, priority, attempt })
            };
            assert_eq!(outcome(10, 30), outcome(19, 21));
            lost += u32::from(outcome(10, 30) == Reception::Lost);
        }
        assert!((60..140).contains(&lost), "{lost}");
    }
}

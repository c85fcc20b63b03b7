//! Random delay with a uniform or normal distribution, with or without reordering.
//!
//! Without reordering, packets wait for earlier packets. If packets are closer together than `most`, packets with small
//! delays wait for earlier packets with larger delays. The mean delay then exceeds the distribution's mean. netem's
//! `delay` reorders.

use super::{Build, Jitter};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Stream, Time, Unit, Values};

const LATE: Unit = Unit::Duration(Duration::ZERO, Duration::from_secs(100));

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "random",
        summary: "random delay of each packet, with or without reordering",
        source: "tc-netem(8), `delay`",
        parameters: &[
            Parameter {
                name: "most",
                unit: LATE,
                default: Some("10 ms"),
                doc: "largest delay; the smallest is 0",
            },
            Parameter {
                name: "distribution",
                unit: Unit::Word(&["uniform", "normal"]),
                default: Some("uniform"),
                doc: "distribution of the delay: uniform between 0 and `most`, or normal and redrawn outside of \
                      that range",
            },
            Parameter {
                name: "mean",
                unit: LATE,
                default: Some("5 ms"),
                doc: "mean of the normal distribution before truncation",
            },
            Parameter {
                name: "deviation",
                unit: LATE,
                default: Some("2 ms"),
                doc: "standard deviation of the normal distribution before truncation",
            },
            Parameter {
                name: "reorders",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "packets may overtake; if false, packets wait for earlier ones",
            },
        ],
        only_if: &[OnlyIf {
            parameters: &["mean", "deviation"],
            other: "distribution",
            is: Is::This("normal"),
        }],
        ..Info::PLAIN
    },
    build: &|values, stream| Box::new(Random::new(values, stream)),
};

struct Random {
    max_delay: f64,
    normal: Option<(f64, f64)>,
    reorders: bool,
    random: Stream,
}

/// Largest number of draws for a delay. If all draws are out of range, the delay is the mean, limited to the range.
/// This matters only if almost the whole distribution is out of range.
const TRIES: usize = 100;

impl Random {
    fn new(values: &Values, random: Stream) -> Random {
        let normal = || (values.duration("mean").as_secs(), values.duration("deviation").as_secs());
        Random {
            max_delay: values.duration("most").as_secs(),
            normal: (values.word("distribution") == "normal").then(normal),
            reorders: values.flag("reorders"),
            random,
        }
    }

    /// Draws from a standard normal distribution (Box and Muller 1958).
    fn gauss(&mut self) -> f64 {
        let radius = libm::sqrt(self.random.exponential(2.0));
        radius * libm::cos(2.0 * std::f64::consts::PI * self.random.uniform())
    }
}

impl Jitter for Random {
    fn delay(&mut self, _: Time) -> Duration {
        let Some((mean, deviation)) = self.normal else {
            return Duration::from_secs_f64(self.random.uniform() * self.max_delay);
        };
        for _ in 0..TRIES {
            let late = mean + deviation * self.gauss();
            if (0.0..=self.max_delay).contains(&late) {
                return Duration::from_secs_f64(late);
            }
        }
        Duration::from_secs_f64(mean.clamp(0.0, self.max_delay))
    }

    fn reorders(&self) -> bool {
        self.reorders
    }

    fn draws(&self) -> bool {
        self.max_delay > 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;

    fn sample(settings: &[(&'static str, Value)]) -> Vec<f64> {
        let mut values = MECHANISM.info.defaults();
        settings.iter().for_each(|(name, value)| values.set(name, value.clone()));
        let mut random = Random::new(&values, Stream::named(1, "jitter"));
        (0..40_000).map(|_| random.delay(Time::ZERO).as_millis()).collect()
    }

    fn moments(sample: &[f64]) -> (f64, f64) {
        let mean = sample.iter().sum::<f64>() / sample.len() as f64;
        let square = sample.iter().map(|one| (one - mean) * (one - mean)).sum::<f64>();
        (mean, libm::sqrt(square / sample.len() as f64))
    }

    /// The uniform distribution on 0 to 10 ms must have mean 5 and deviation 10 / sqrt(12). The normal distribution
    /// with mean 5 and deviation 1 is practically not truncated, because the range 0 to 10 has five deviations on
    /// either side. Half a normal distribution (mean 0, deviation 2) must have mean 2 sqrt(2 / pi) and deviation 2
    /// sqrt(1 - 2 / pi).
    #[test]
    fn the_distributions_have_their_moments() {
        let ms = |millis| Value::Duration(Duration::from_millis(millis));
        let normal = ("distribution", Value::Word("normal"));
        let half = [normal.clone(), ("mean", ms(0)), ("most", ms(100))];
        let pi = std::f64::consts::PI;
        for (settings, mean, deviation) in [
            (vec![], 5.0, 10.0 / 12f64.sqrt()),
            (vec![normal, ("deviation", ms(1))], 5.0, 1.0),
            (half.to_vec(), 2.0 * (2.0 / pi).sqrt(), 2.0 * (1.0 - 2.0 / pi).sqrt()),
        ] {
            let (found, spread) = moments(&sample(&settings));
            // The bounds are five standard errors. For 40,000 delays, the standard error of the mean is the deviation
            // divided by 200. For the deviation, the normal distribution's standard error (deviation / 282) is an upper
            // bound.
            assert!((found - mean).abs() < 5.0 * deviation / 200.0, "{settings:?}: {found}");
            assert!((spread - deviation).abs() < 5.0 * deviation / 282.0, "{settings:?}: {spread}");
        }
    }
}

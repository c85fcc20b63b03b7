//! Command `lasthop arrivals`: generates a file with the start and the size of each transfer.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use clap::{Args, ValueEnum};
use lasthop_base::{Duration, Spread, Stream, Unit, Value, quantity};
use std::path::PathBuf;

/// Generate a file with the start and the size of each transfer.
///
/// A TCP flow reads the file if its key arrivals = "FILE" is set. Equal flags give equal files.
#[derive(Args)]
pub(crate) struct Arrivals {
    /// Mean time between two transfers.
    #[arg(long, value_name = "TIME", default_value = "500 ms", value_parser = every)]
    every: Duration,
    /// Arrival process.
    #[arg(long, value_enum, default_value = "poisson")]
    pattern: Pattern,
    /// Mean size of a transfer.
    #[arg(long, value_name = "AMOUNT", default_value = "50 KB", value_parser = amount)]
    mean: u64,
    /// Distribution of sizes.
    #[arg(long, value_enum, default_value = "web")]
    sizes: Sizes,
    /// End of the period in which transfers begin.
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = length)]
    length: Duration,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write to a file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Arrival process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Pattern {
    /// Poisson process: exponential times between arrivals
    Poisson,
    /// Equal intervals, like the segment requests of a video player
    Periodic,
}

/// Distribution of sizes about the mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Sizes {
    /// Equal sizes
    Fixed,
    /// Exponential
    Exponential,
    /// Log-normal, sigma 1.3: many small, few large transfers (web files are log-normal: Downey 2005; sigma: typical)
    Web,
    /// Log-normal, sigma 0.3: segments of a video at one quality (typical)
    Video,
}

const MAX_TRANSFERS: usize = 1_000_000;

impl Arrivals {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let target = self.out.as_deref().map(Target::create).transpose()?;
        let all = self.drawn();
        if all.is_empty() || all.len() > MAX_TRANSFERS {
            return Err(Failure::bad_input(
                format!("the flags give {} transfers: a file must have 1 to {MAX_TRANSFERS}", all.len()),
                "change --every or --length",
            ));
        }
        let bytes: u64 = all.iter().map(|(_, bytes)| bytes).sum();
        let mut text = String::new();
        for (at, bytes) in &all {
            text.push_str(&format!("{at:.6} {bytes}\n"));
        }
        let rate = bytes as f64 * 8.0 / self.length.as_secs() / 1e3;
        output::note(&format!("{} transfers, {bytes} bytes in total, mean {rate:.0} kbit/s", all.len()));
        match target {
            Some(target) => target.write_and_finish(&text),
            None => output::print(&text),
        }
    }

    /// Draws the start (s) and the size (bytes) of each transfer, in the order of the starts. Starts and sizes use
    /// separate random streams.
    fn drawn(&self) -> Vec<(f64, u64)> {
        let (mut times, mut sizes) =
            (Stream::named(self.seed, "arrivals.times"), Stream::named(self.seed, "arrivals.sizes"));
        let (every, length) = (self.every.as_secs(), self.length.as_secs());
        let mut all = Vec::new();
        let mut at = 0.0;
        loop {
            at += match self.pattern {
                Pattern::Poisson => times.exponential(every),
                Pattern::Periodic if all.is_empty() => 0.0,
                Pattern::Periodic => every,
            };
            if at >= length || all.len() > MAX_TRANSFERS {
                return all;
            }
            all.push((at, self.size(&mut sizes)));
        }
    }

    fn size(&self, stream: &mut Stream) -> u64 {
        let spread = match self.sizes {
            Sizes::Fixed => Spread::Fixed,
            Sizes::Exponential => Spread::Exponential,
            Sizes::Web => Spread::Web,
            Sizes::Video => Spread::Video,
        };
        spread.draw_bytes(stream, self.mean)
    }
}

fn every(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_micros(1), Duration::from_secs(86_400))
}

fn length(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_millis(1), Duration::from_secs(1_000_000))
}

fn between(text: &str, least: Duration, most: Duration) -> Result<Duration, String> {
    match Unit::Duration(least, most).parse(text)? {
        Value::Duration(length) => Ok(length),
        _ => quantity::duration(text),
    }
}

fn amount(text: &str) -> Result<u64, String> {
    match Unit::Bytes(1, 1_000_000_000_000).parse(text)? {
        Value::Bytes(bytes) => Ok(bytes),
        _ => Err(format!("`{text}` is not an amount")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrivals(sizes: Sizes, pattern: Pattern) -> Vec<(f64, u64)> {
        let (every, length) = (Duration::from_millis(10), Duration::from_secs(900));
        Arrivals { every, pattern, mean: 50_000, sizes, length, seed: 7, out: None }.drawn()
    }

    /// Over 90,000 transfers, each mean is within five standard errors of theory, and each median within 3 % of theory.
    #[test]
    fn sizes_have_their_mean_and_their_median() {
        // Each case has two ratios: standard deviation to mean, and median to mean. For exponential sizes, the ratios
        // are 1 and ln 2. For log-normal sizes, the ratios are sqrt(exp(σ²) - 1) and exp(-σ²/2).
        let normal =
            |sigma: f64| (libm::sqrt(libm::exp(sigma * sigma) - 1.0), libm::exp(-0.5 * sigma * sigma));
        for (sizes, (spread, median)) in [
            (Sizes::Exponential, (1.0, std::f64::consts::LN_2)),
            (Sizes::Web, normal(1.3)),
            (Sizes::Video, normal(0.3)),
        ] {
            let all = arrivals(sizes, Pattern::Poisson);
            let n = all.len() as f64;
            assert!((n / 90_000.0 - 1.0).abs() < 5.0 / 300.0, "{n}");
            let mut bytes: Vec<f64> = all.iter().map(|(_, bytes)| *bytes as f64 / 50_000.0).collect();
            let mean = bytes.iter().sum::<f64>() / n;
            assert!((mean - 1.0).abs() < 5.0 * spread / n.sqrt(), "{sizes:?}: {mean}");
            bytes.sort_by(f64::total_cmp);
            let found = bytes[bytes.len() / 2];
            assert!((found / median - 1.0).abs() < 0.03, "{sizes:?}: {found}, not {median}");
        }
    }

    #[test]
    fn poisson_s_times_are_exponential_and_periodic_ones_even() {
        let all = arrivals(Sizes::Fixed, Pattern::Poisson);
        let steps: Vec<f64> = all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        // For exponential intervals, the share of intervals longer than the mean is exp(-1).
        let long = steps.iter().filter(|step| **step > 0.01).count() as f64 / steps.len() as f64;
        assert!((long - libm::exp(-1.0)).abs() < 5.0 * (0.23_f64 / steps.len() as f64).sqrt(), "{long}");
        let even = arrivals(Sizes::Fixed, Pattern::Periodic);
        assert!(even.len().abs_diff(90_000) <= 1 && even[0].0 == 0.0 && even[1] == (0.01, 50_000));
    }
}

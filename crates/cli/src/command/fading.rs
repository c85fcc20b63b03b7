//! Command `lasthop fading`: generates a packet-delivery trace from a Rayleigh fading model.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use clap::Args;
use lasthop_base::{Duration, Rate, Stream, Unit, Value, quantity};
use lasthop_net::service::FadingModel as Model;
use std::path::PathBuf;

/// Generate a packet-delivery trace (Mahimahi's format) from a Rayleigh fading model.
///
/// The trace can set the rate of a link: trace = "FILE".
#[derive(Args)]
pub(crate) struct Fading {
    /// Mean rate.
    #[arg(long, value_name = "RATE", default_value = "2 Mbit/s", value_parser = quantity::rate)]
    mean: Rate,
    /// Doppler frequency, Hz: 5 Hz corresponds to walking pace at 2 GHz.
    #[arg(long, value_name = "HZ", default_value = "5", value_parser = |text: &str| number(text, 0.01, 10_000.0))]
    doppler: f64,
    /// Mean signal-to-noise ratio, dB: a lower ratio makes the rate vary more.
    #[arg(long, value_name = "DB", default_value = "6", allow_hyphen_values = true, value_parser = |text: &str| number(text, -30.0, 60.0))]
    snr: f64,
    /// Length of the trace, which then repeats.
    #[arg(long, value_name = "TIME", default_value = "60 s", value_parser = length)]
    length: Duration,
    /// Seed of the random numbers.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write to a file instead of standard output.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

impl Fading {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let target = self.out.as_deref().map(Target::create).transpose()?;
        let model = Model {
            mean: self.mean,
            doppler_hz: self.doppler,
            snr_db: self.snr,
            millis: self.length.as_nanos() / 1_000_000,
        };
        let trace = model.trace(&mut Stream::named(self.seed, "fading"));
        let mut text = String::new();
        for stamp in trace.millis() {
            text.push_str(&stamp.to_string());
            text.push('\n');
        }
        output::note(&format!(
            "{} delivery opportunities in {}, mean {}",
            trace.opportunities(),
            Duration::from_millis(trace.length_millis()),
            trace.mean_rate()
        ));
        match target {
            Some(target) => target.write_and_finish(&text),
            None => output::print(&text),
        }
    }
}

fn number(text: &str, low: f64, high: f64) -> Result<f64, String> {
    match Unit::Number(low, high).parse(text)? {
        Value::Number(number) => Ok(number),
        _ => Err(format!("`{text}` is not a number")),
    }
}

/// Parses the length of a trace, at most 1 h. One hour at 1 Gbit/s has 300 million lines.
fn length(text: &str) -> Result<Duration, String> {
    match Unit::Duration(Duration::from_millis(1), Duration::from_secs(3600)).parse(text)? {
        Value::Duration(length) => Ok(length),
        _ => Err(format!("`{text}` is not a time")),
    }
}

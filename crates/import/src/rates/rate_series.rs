//! Converts samples of a rate, in file order, to one time series without gaps or repeated times.

use super::Opportunities;
use crate::ImportError;
use crate::import_result::{Service, shown};

/// Number of samples from which the usual time step, the median, is computed.
const STEP_SAMPLES: usize = 512;
/// Longest time between two samples that does not count as a gap, as a multiple of the usual time step.
const GAP: f64 = 3.5;

pub(crate) struct RateSeries<'w> {
    out: Opportunities<'w>,
    /// Samples read before the usual time step is known. Each sample is a time in s and a rate in bit/s.
    early: Vec<(f64, Option<f64>)>,
    step: Option<f64>,
    /// The current sample, which may combine several rates for the same time:
    /// * its start time, s;
    /// * the sum of the rates, bit/s;
    /// * the number of rates in the sum.
    open: Option<(f64, f64, u32)>,
    missing_since: Option<f64>,
    counts: SampleCounts,
}

#[derive(Default)]
struct SampleCounts {
    samples: u64,
    gaps: u64,
    gap_seconds: f64,
    longest_gap: f64,
    repeated: u64,
    backwards: u64,
    missing: u64,
    largest: f64,
    zero_seconds: f64,
    /// Length of the longest period without traffic, s.
    longest_zero: f64,
    /// Length so far of the current period without traffic, s.
    zero: f64,
}

impl<'w> RateSeries<'w> {
    pub(crate) fn new(out: Opportunities<'w>) -> RateSeries<'w> {
        RateSeries {
            out,
            early: Vec::new(),
            step: None,
            open: None,
            missing_since: None,
            counts: SampleCounts::default(),
        }
    }

    /// Adds a sample at a time, s. A `rate` of `None` means that the rate is missing. Returns false when the trace has
    /// reached its maximum length.
    pub(crate) fn push(&mut self, at: f64, rate: Option<f64>) -> Result<bool, ImportError> {
        if self.step.is_some() {
            self.add_sample(at, rate)?;
        } else {
            self.early.push((at, rate));
            if self.early.len() >= STEP_SAMPLES {
                self.begin()?;
            }
        }
        Ok(!self.out.is_full)
    }

    /// Adds a sample that covers a known length of time, `seconds`.
    pub(crate) fn span(&mut self, seconds: f64, bytes: f64) -> Result<bool, ImportError> {
        self.counts.samples += 1;
        if seconds > 0.0 {
            self.write(seconds, bytes * 8.0 / seconds)?;
        }
        Ok(!self.out.is_full)
    }

    fn begin(&mut self) -> Result<(), ImportError> {
        let mut steps: Vec<f64> =
            self.early.windows(2).map(|pair| pair[1].0 - pair[0].0).filter(|step| *step > 0.0).collect();
        steps.sort_by(f64::total_cmp);
        self.step = Some(steps.get(steps.len() / 2).copied().unwrap_or(1.0));
        for (at, rate) in std::mem::take(&mut self.early) {
            self.add_sample(at, rate)?;
        }
        Ok(())
    }

    fn add_sample(&mut self, at: f64, rate: Option<f64>) -> Result<(), ImportError> {
        let step = self.step.unwrap_or(1.0);
        let Some(rate) = rate else {
            self.counts.missing += 1;
            if let Some((since, ..)) = self.open {
                self.close(at, since, step)?;
                self.missing_since = Some(at);
            }
            return Ok(());
        };
        self.counts.samples += 1;
        match self.open {
            Some((since, sum, count)) if at == since => {
                self.counts.repeated += 1;
                self.open = Some((since, sum + rate, count + 1));
                return Ok(());
            }
            Some((since, ..)) => self.close(at, since, step)?,
            None => {
                if let Some(since) = self.missing_since.take() {
                    self.gap((at - since).max(0.0));
                }
            }
        }
        self.open = Some((at, rate, 1));
        Ok(())
    }

    /// Ends the current sample at `at`, the start of the next sample, s. The current sample began at `since`. If a gap
    /// follows, the sample lasts only one usual time step (`step`).
    fn close(&mut self, at: f64, since: f64, step: f64) -> Result<(), ImportError> {
        let Some((_, sum, count)) = self.open.take() else { return Ok(()) };
        let (rate, length) = (sum / f64::from(count.max(1)), at - since);
        let length = match () {
            () if length < 0.0 => {
                self.counts.backwards += 1;
                step
            }
            () if length > GAP * step => {
                self.gap(length - step);
                step
            }
            () => length,
        };
        self.write(length, rate)
    }

    fn gap(&mut self, seconds: f64) {
        if seconds > 0.0 {
            self.counts.gaps += 1;
            self.counts.gap_seconds += seconds;
            self.counts.longest_gap = self.counts.longest_gap.max(seconds);
        }
    }

    fn write(&mut self, seconds: f64, rate: f64) -> Result<(), ImportError> {
        let counts = &mut self.counts;
        counts.largest = counts.largest.max(rate);
        if rate <= 0.0 {
            counts.zero_seconds += seconds;
            counts.zero += seconds;
            counts.longest_zero = counts.longest_zero.max(counts.zero);
        } else {
            counts.zero = 0.0;
        }
        self.out.span(seconds, rate / 8.0 * seconds)
    }

    /// Ends the series. Returns the trace, its length in seconds, and sentences for the report.
    pub(crate) fn finish(mut self, is_cut: bool) -> Result<(Service, f64, Vec<String>), ImportError> {
        if self.step.is_none() && !self.early.is_empty() {
            self.begin()?;
        }
        if let (Some((since, ..)), Some(step)) = (self.open, self.step) {
            self.close(since + step, since, step)?;
        }
        let (counts, step, is_full) = (self.counts, self.step, self.out.is_full);
        if counts.samples == 0 {
            return Err(ImportError::new(
                "no row has a rate",
                "are the columns right? see --time and --rate",
            ));
        }
        if counts.backwards * 10 > counts.samples {
            return Err(ImportError::new(
                format!("time goes back in {} of {} rows", counts.backwards, counts.samples),
                "sort the rows by time, or choose another column of time: --time COLUMN",
            ));
        }
        let seconds = self.out.seconds();
        let service = self.out.finish()?;
        let each = step.map_or(String::new(), |step| format!(", {} s apart", shown(step)));
        let mut findings = vec![format!(
            "{} samples{each}: {} s, mean {} Mbit/s, largest {} Mbit/s",
            counts.samples,
            shown(seconds),
            shown(service.mean() / 1e6),
            shown(counts.largest / 1e6),
        )];
        if counts.zero_seconds > 0.0 {
            findings.push(format!(
                "{} s are without traffic, at most {} s at a time",
                shown(counts.zero_seconds),
                shown(counts.longest_zero)
            ));
        }
        if counts.gaps > 0 {
            findings.push(format!(
                "left out: {} gaps with a total of {} s, the longest of {} s; the trace continues after each gap",
                counts.gaps,
                shown(counts.gap_seconds),
                shown(counts.longest_gap)
            ));
        }
        if counts.missing > 0 {
            findings.push(format!("left out: {} rows without a usable rate", counts.missing));
        }
        if counts.repeated > 0 {
            findings.push(format!(
                "{} rows have the same time as the row before; the mean of their rates is used",
                counts.repeated
            ));
        }
        if counts.backwards > 0 {
            findings.push(format!(
                "time goes back {} times: a new recording begins at each of these rows",
                counts.backwards
            ));
        }
        if is_cut || is_full {
            findings.push(format!(
                "left out: everything after {} s, where the trace reaches its limit of {} delivery \
                 opportunities",
                shown(seconds),
                super::opportunities::MAX_OPPORTUNITIES
            ));
        }
        Ok((service, seconds, findings))
    }
}

/// Sentence that applies to every recording of throughput.
pub(crate) const THROUGHPUT_NOTE: &str = "the throughput of a transfer is a lower bound of \
             the link's rate; changes faster than the sample interval are lost";

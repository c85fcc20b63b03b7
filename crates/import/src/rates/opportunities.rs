//! Converts a rate over time to a Mahimahi trace: the times at which a packet of 1500 bytes may leave (delivery
//! opportunities).

use crate::ImportError;
use crate::import_result::Service;
use std::io::Write;

/// Number of bytes of IP packets that one delivery opportunity carries.
const BYTES: f64 = 1500.0;
/// Largest number of delivery opportunities in a trace. A scenario accepts traces of at most 256 MiB, which are stored
/// in memory.
pub(crate) const MAX_OPPORTUNITIES: u64 = 20_000_000;
/// Largest time in a trace, ms: ten years.
const LATEST: f64 = 315_360_000_000.0;

/// Writes a trace in Mahimahi's format from the bytes of IP packets that were delivered in each millisecond.
///
/// # Errors
/// Fails if writing fails, or if less than 1500 bytes (one opportunity) were delivered.
pub fn write(millis: impl IntoIterator<Item = u32>, out: &mut dyn Write) -> Result<Service, ImportError> {
    let mut opportunities = Opportunities::new(out);
    for bytes in millis {
        opportunities.span(0.001, bytes.into())?;
    }
    opportunities.finish()
}

/// Writes delivery opportunities, each of 1500 bytes. Bytes that do not fill an opportunity are carried over to the
/// next sample.
pub(crate) struct Opportunities<'w> {
    out: &'w mut dyn Write,
    /// Delivered bytes that do not yet fill a delivery opportunity of 1500 bytes.
    carried: f64,
    now: f64,
    last: Option<u64>,
    pub(crate) count: u64,
    pub(crate) is_full: bool,
}

impl<'w> Opportunities<'w> {
    pub(crate) fn new(out: &'w mut dyn Write) -> Opportunities<'w> {
        Opportunities { out, carried: 0.0, now: 0.0, last: None, count: 0, is_full: false }
    }

    pub(crate) fn seconds(&self) -> f64 {
        self.now / 1000.0
    }

    /// Adds `bytes` that were delivered evenly over `seconds`.
    pub(crate) fn span(&mut self, seconds: f64, bytes: f64) -> Result<(), ImportError> {
        if self.is_full || seconds.is_nan() || seconds <= 0.0 {
            return Ok(());
        }
        let millis = seconds * 1000.0;
        if self.now + millis > LATEST {
            self.is_full = true;
            return Ok(());
        }
        let begun = self.now;
        let mut needed = BYTES - self.carried;
        while needed <= bytes {
            if self.count >= MAX_OPPORTUNITIES {
                self.is_full = true;
                return Ok(());
            }
            self.write(begun + needed / bytes * millis)?;
            needed += BYTES;
        }
        // `needed` is now the number of bytes up to the end of the first incomplete delivery opportunity.
        self.carried = (bytes - needed + BYTES).clamp(0.0, BYTES);
        self.now += millis;
        Ok(())
    }

    fn write(&mut self, at: f64) -> Result<(), ImportError> {
        let at = (libm::round(at).max(0.0) as u64).max(self.last.unwrap_or(0));
        writeln!(self.out, "{at}").map_err(|error| ImportError::io("the trace cannot be written", &error))?;
        self.last = Some(at);
        self.count += 1;
        Ok(())
    }

    /// Ends the trace. A simulation repeats the trace after its last time.
    pub(crate) fn finish(mut self) -> Result<Service, ImportError> {
        if self.count == 0 {
            return Err(ImportError::new(
                format!("less than one packet of 1500 bytes was delivered in {:.0} s", self.seconds()),
                "are the column and the unit of the rate right? see --rate and --unit",
            ));
        }
        // If the trace ends with a pause, or if its length would be 0, one more delivery opportunity marks the end.
        let end = libm::round(self.now).max(1.0);
        if self.last.is_none_or(|last| (last as f64) < end - 1.0 || last == 0) {
            self.write(end)?;
        }
        self.out.flush().map_err(|error| ImportError::io("the trace cannot be written", &error))?;
        Ok(Service::Trace { opportunities: self.count, millis: self.last.unwrap_or(1).max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(spans: &[(f64, f64)]) -> String {
        let mut out = Vec::new();
        let mut opportunities = Opportunities::new(&mut out);
        for (seconds, bytes) in spans {
            opportunities.span(*seconds, *bytes).unwrap();
        }
        opportunities.finish().unwrap();
        String::from_utf8(out).unwrap().split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_remainder_is_the_next_sample_s_and_a_pause_keeps_its_length() {
        assert_eq!(trace(&[(0.004, 6000.0)]), "1 2 3 4");
        // 1000 bytes arrive in 2 ms. The next 2000 bytes arrive in 10 ms, and 500 of them fill the first 1500 bytes at
        // 2 + 10 * 500 / 2000 = 4.5 ms (rounded to 5).
        assert_eq!(trace(&[(0.002, 1000.0), (0.010, 2000.0)]), "5 12");
        assert_eq!(trace(&[(0.001, 1500.0), (0.5, 0.0), (0.001, 1500.0)]), "1 502");
        assert_eq!(trace(&[(0.001, 1500.0), (0.5, 0.0)]), "1 501");
    }

    #[test]
    fn many_small_samples_lose_nothing() {
        let mut out = Vec::new();
        let mut opportunities = Opportunities::new(&mut out);
        for _ in 0..100_000 {
            opportunities.span(0.001, 137.0).unwrap();
        }
        // The samples contain 13.7 MB in 100 s.
        let count = opportunities.count as f64;
        assert!((count - 13_700_000.0 / 1500.0).abs() <= 1.0, "{count}");
    }
}

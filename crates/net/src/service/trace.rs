//! Packet-delivery traces in Mahimahi's format (Winstein et al., NSDI 2013; Netravali et al., ATC 2015).
//!
//! Each line has one integer, a time in milliseconds; times do not decrease. Each line is an opportunity to deliver
//! 1504 bytes (1500 bytes and the TUN header). A packet uses its IP length plus 4 bytes. If a packet leaves part of an
//! opportunity unused, the next packet may use this part only if the next packet arrived before the opportunity.

use super::Served;
use lasthop_base::{Duration, Rate, Time};
use std::fmt;
use std::sync::Arc;

/// Size of one opportunity, bytes.
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// Size of one opportunity of CellReplay's light traces and heavy traces, bytes.
pub const CELL_BYTES: u32 = 1400;
/// Number of bytes that a packet uses in addition to its IP length.
pub(super) const PACKET_OVERHEAD: u64 = 4;
pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;

/// A packet-delivery trace.
#[derive(Clone, Hash, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u64>,
    bytes: u64,
}

/// Error in a trace file, with its line and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Line number from 1; 0 if the fault concerns the whole trace.
    pub line: usize,
    /// The fault.
    pub what: TraceFault,
}

/// Faults of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFault {
    /// The trace has no opportunities.
    Empty,
    /// The line has a word that is not a whole number of milliseconds.
    NotANumber(String),
    /// The line's time is earlier than the time of the previous line.
    Decreasing {
        /// Time of this line, ms.
        this: u64,
        /// Time of the previous line, ms.
        before: u64,
    },
    /// All opportunities are at 0 ms, so the trace has no length after which it can repeat.
    NoLength,
    /// A time is later than the latest time accepted, about 30 years. The value is the time in ms.
    TooLate(u64),
    /// A delay is longer than 1000 s. The value is the delay in ms.
    TooLong(u64),
    /// A line of a light trace has no time, no base delay or no opportunity.
    NoTrain,
    /// A light trace has fewer than two lines.
    TooFewTrains,
    /// A line in a file of delays by packet size has a wrong size. The value is the size in bytes that the line should
    /// have.
    NotASize(u64),
}

/// Latest time stamp accepted, ms (about 30 years).
pub(super) const LATEST_MILLIS: u64 = 1_000_000_000_000;

impl Trace {
    /// Parses a trace; ignores trailing blank lines.
    ///
    /// # Errors
    /// The number of the first invalid line, and its fault.
    pub fn parse(text: &str) -> Result<Trace, TraceError> {
        let mut millis: Vec<u64> = Vec::new();
        for (index, line) in text.trim_end().lines().enumerate() {
            let fail = |what| Err(TraceError { line: index + 1, what });
            let word = line.trim();
            let Ok(this) = word.parse::<u64>() else {
                return fail(TraceFault::NotANumber(word.chars().take(40).collect()));
            };
            if this > LATEST_MILLIS {
                return fail(TraceFault::TooLate(this));
            }
            match millis.last() {
                Some(before) if this < *before => {
                    return fail(TraceFault::Decreasing { this, before: *before });
                }
                _ => millis.push(this),
            }
        }
        match millis.last() {
            None => Err(TraceError { line: 0, what: TraceFault::Empty }),
            Some(0) => Err(TraceError { line: millis.len(), what: TraceFault::NoLength }),
            Some(_) => Ok(Trace::from_millis(millis)),
        }
    }

    /// Builds a trace from a list of time stamps in ms. The list must not be empty, the time stamps must not decrease,
    /// and the last time stamp must not be 0.
    pub(super) fn from_millis(millis: Vec<u64>) -> Trace {
        Trace { millis, bytes: OPPORTUNITY_BYTES }
    }

    /// Returns the trace with opportunities of 1400 bytes, as in CellReplay's recordings.
    pub fn of_cells(self) -> Trace {
        Trace { bytes: u64::from(CELL_BYTES), ..self }
    }

    /// Returns the time stamps in ms of one repetition of the trace.
    pub fn millis(&self) -> impl Iterator<Item = u64> + '_ {
        self.millis.iter().copied()
    }

    /// Number of opportunities, without repetition.
    pub fn opportunities(&self) -> usize {
        self.millis.len()
    }

    /// Time after which the trace repeats, ms.
    pub fn length_millis(&self) -> u64 {
        self.millis.last().copied().unwrap_or(1)
    }

    /// Mean rate, if all bytes of each opportunity are used.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.millis.len() as u64 * self.bytes * 8;
        Rate::from_bps(bits * 1000 / self.length_millis())
    }

    /// Number of bytes of all opportunities up to and including `end`.
    pub(super) fn bytes_until(&self, end: Time) -> f64 {
        (self.first_from(end + Duration::from_nanos(1)) * self.bytes) as f64
    }

    /// Returns the time of the `index`-th opportunity, repetitions included.
    fn time_of(&self, index: u64) -> Time {
        let count = self.millis.len() as u64;
        let millis = index / count * self.length_millis() + self.millis[(index % count) as usize];
        Time::from_nanos(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// Returns the index of the first opportunity at or after `time`, repetitions included.
    fn first_from(&self, time: Time) -> u64 {
        let millis = time.as_nanos().div_ceil(NANOS_PER_MILLI);
        // A time stamp equal to the trace's length is the last opportunity of one repetition, not the first opportunity
        // of the next repetition.
        let pass = millis.saturating_sub(1) / self.length_millis();
        let within = millis - pass * self.length_millis();
        pass * self.millis.len() as u64 + self.millis.partition_point(|stamp| *stamp < within) as u64
    }
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "line {}: ", self.line)?;
        }
        match &self.what {
            TraceFault::Empty => write!(f, "the trace has no lines: each line is a time in milliseconds"),
            TraceFault::NotANumber(word) => {
                write!(f, "`{word}` is not a whole number of milliseconds")
            }
            TraceFault::Decreasing { this, before } => {
                write!(f, "{this} ms comes after {before} ms: times must not decrease")
            }
            TraceFault::NoLength => {
                write!(f, "the last time is 0 ms: end the trace at a later time, after which it repeats")
            }
            TraceFault::TooLate(millis) => {
                write!(f, "{millis} ms is too late: the latest time is {LATEST_MILLIS} ms")
            }
            TraceFault::TooLong(millis) => {
                write!(f, "a delay of {millis} ms is too long: at most 1000000 ms")
            }
            TraceFault::NoTrain => {
                write!(
                    f,
                    "needs a time, a base delay and at least one delivery opportunity, in whole milliseconds"
                )
            }
            TraceFault::TooFewTrains => write!(f, "the light trace needs at least two lines"),
            TraceFault::NotASize(size) => {
                write!(f, "expected a size of {size} bytes and a delay in ms, such as `{size} 1.5`")
            }
        }
    }
}

impl std::error::Error for TraceError {}

/// A position in a repeating trace.
#[derive(Clone, Debug)]
pub(crate) struct Cursor {
    trace: Arc<Trace>,
    next: u64,
    next_time: Time,
    /// Time of the opportunity that was used last.
    used_at: Time,
    /// Remaining bytes of the opportunity that was used last.
    left: u64,
}

impl Cursor {
    pub(crate) fn new(trace: Arc<Trace>) -> Cursor {
        let next_time = trace.time_of(0);
        Cursor { trace, next: 0, next_time, used_at: Time::ZERO, left: 0 }
    }

    #[inline(never)]
    pub(crate) fn serve(&mut self, start: Time, bytes: u32) -> Served {
        if start > self.used_at {
            self.left = 0;
        }
        let mut missing = u64::from(bytes) + PACKET_OVERHEAD;
        let mut begins = None;
        if self.left > 0 {
            begins = Some(self.used_at);
        }
        loop {
            let taken = missing.min(self.left);
            missing -= taken;
            self.left -= taken;
            if missing == 0 {
                return Served { begins: begins.unwrap_or(self.used_at), ends: self.used_at };
            }
            self.advance(start);
            begins.get_or_insert(self.used_at);
        }
    }

    fn advance(&mut self, start: Time) {
        if self.next_time < start {
            self.next = self.next.max(self.trace.first_from(start));
            self.next_time = self.trace.time_of(self.next);
        }
        self.used_at = self.next_time;
        self.left = self.trace.bytes;
        self.next += 1;
        self.next_time = self.trace.time_of(self.next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * NANOS_PER_MILLI)
    }

    fn cursor(text: &str) -> Cursor {
        Cursor::new(Arc::new(Trace::parse(text).expect("a valid trace")))
    }

    #[test]
    fn a_trace_of_one_line_is_a_constant_rate() {
        // A link of one packet per millisecond (12 Mbps) "can be represented by a file that contains just `1`" (README
        // of Mahimahi's recordings).
        let mut link = cursor("1\n");
        for packet in 1..=5 {
            assert_eq!(link.serve(at(0), 1500).ends, at(packet));
        }
        assert_eq!(Trace::parse("1").unwrap().mean_rate().bps(), 12_032_000);
    }

    #[test]
    fn large_packets_take_several_opportunities_and_small_ones_share() {
        let mut link = cursor("1\n2\n3\n10\n");
        assert_eq!(link.serve(at(0), 2000).ends, at(2));
        // At 2 ms, 1004 of 1504 bytes are left for a small packet that has arrived by 2 ms.
        assert_eq!(link.serve(at(2), 500).ends, at(2));
        // 500 bytes of the opportunity at 2 ms are left. The rest of this packet is sent at 3 ms.
        assert_eq!(link.serve(at(2), 900), Served { begins: at(2), ends: at(3) });
        // This packet arrives after 3 ms, so it cannot use the rest of the opportunity at 3 ms.
        assert_eq!(link.serve(at(4), 40).ends, at(10));
    }

    #[test]
    fn missed_opportunities_are_lost_and_the_trace_repeats_at_its_last_stamp() {
        let mut link = cursor("0\n5\n10\n");
        assert_eq!(link.serve(at(1), 1500).ends, at(5));
        assert_eq!(link.serve(at(6), 1500).ends, at(10));
        // The trace repeats from 10 ms on, so the repetition's time stamp 0 is another opportunity at 10 ms.
        assert_eq!(link.serve(at(10), 1500).ends, at(10));
        assert_eq!(link.trace.bytes_until(at(10)), 4.0 * 1504.0);
        assert_eq!(link.trace.bytes_until(at(9)), 2.0 * 1504.0);
        assert_eq!(link.serve(at(1_000_001), 1500).ends, at(1_000_005));
    }

    #[test]
    fn malformed_traces_are_refused_with_the_line() {
        let what = |text: &str| Trace::parse(text).unwrap_err();
        assert_eq!(what("").what, TraceFault::Empty);
        assert_eq!(what("1\nx\n"), TraceError { line: 2, what: TraceFault::NotANumber("x".into()) });
        assert_eq!(what("5\n4\n").what, TraceFault::Decreasing { this: 4, before: 5 });
        assert_eq!(what("0\n0\n").what, TraceFault::NoLength);
        assert_eq!(what("-1\n").line, 1);
        assert!(what("99999999999999999999").to_string().contains("line 1"));
    }
}

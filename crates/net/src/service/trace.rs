//! Packet-delivery traces in Mahimahi's format (Winstein et al., NSDI 2013; Netravali et al., ATC 2015).
//!
//! One non-decreasing integer of milliseconds a line, each an opportunity of 1504 bytes (1500 and the TUN header). A
//! packet costs its IP length plus 4. The rest of an opportunity serves the next packet only if that packet had arrived
//! by then. The trace repeats from its last time stamp.

use super::Served;
use lasthop_base::{Duration, Rate, Time};
use std::fmt;
use std::sync::Arc;

/// Bytes of one opportunity.
pub const OPPORTUNITY_BYTES: u64 = 1504;
/// Bytes of one opportunity of CellReplay's traces, light or heavy.
pub const CELL_BYTES: u32 = 1400;
/// Overhead of a packet beyond its IP length, bytes.
pub(super) const PACKET_OVERHEAD: u64 = 4;
pub(super) const NANOS_PER_MILLI: u64 = 1_000_000;

/// A recorded link.
#[derive(Clone, Hash, Debug, PartialEq, Eq)]
pub struct Trace {
    millis: Vec<u64>,
    bytes: u64,
}

/// Error in a trace file: line and reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceError {
    /// Line number from 1; 0: the whole trace.
    pub line: usize,
    /// The fault.
    pub what: TraceFault,
}

/// Faults of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TraceFault {
    /// No opportunities.
    Empty,
    /// Not a whole number of milliseconds.
    NotANumber(String),
    /// Earlier than the previous line.
    Decreasing {
        /// This line's time, ms.
        this: u64,
        /// The previous line's time, ms.
        before: u64,
    },
    /// All opportunities at 0 ms: no length to repeat after.
    NoLength,
    /// Beyond the range of 64-bit nanoseconds.
    TooLate(u64),
    /// A delay of more than 1000 s.
    TooLong(u64),
    /// Light trace: less than a time, a base delay and an opportunity.
    NoTrain,
    /// Light trace: fewer than two lines.
    TooFewTrains,
    /// Delays by size: not the line of this size, bytes.
    NotASize(u64),
}

/// Latest time stamp accepted, ms (about 30 years).
pub(super) const LATEST_MILLIS: u64 = 1_000_000_000_000;

impl Trace {
    /// Parses a trace; ignores trailing blank lines.
    ///
    /// # Errors
    /// The first invalid line, and its fault.
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

    /// Builds a trace of time stamps, ms: not empty, not decreasing, the last not 0.
    pub(super) fn from_millis(millis: Vec<u64>) -> Trace {
        Trace { millis, bytes: OPPORTUNITY_BYTES }
    }

    /// Sets opportunities of 1400 bytes, as in CellReplay's recordings.
    pub fn of_cells(self) -> Trace {
        Trace { bytes: u64::from(CELL_BYTES), ..self }
    }

    /// Time stamps of one pass, ms.
    pub fn millis(&self) -> impl Iterator<Item = u64> + '_ {
        self.millis.iter().copied()
    }

    /// Opportunities in one pass.
    pub fn opportunities(&self) -> usize {
        self.millis.len()
    }

    /// Length of one pass, ms.
    pub fn length_millis(&self) -> u64 {
        self.millis.last().copied().unwrap_or(1)
    }

    /// Mean rate, counting all bytes of an opportunity.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.millis.len() as u64 * self.bytes * 8;
        Rate::from_bps(bits * 1000 / self.length_millis())
    }

    /// Bytes of the opportunities up to and including `end`.
    pub(super) fn bytes_until(&self, end: Time) -> f64 {
        (self.first_from(end + Duration::from_nanos(1)) * self.bytes) as f64
    }

    /// Time of the `index`-th opportunity over all passes.
    fn time_of(&self, index: u64) -> Time {
        let count = self.millis.len() as u64;
        let millis = index / count * self.length_millis() + self.millis[(index % count) as usize];
        Time::from_nanos(millis.saturating_mul(NANOS_PER_MILLI))
    }

    /// Index of the first opportunity not before `time`.
    fn first_from(&self, time: Time) -> u64 {
        let millis = time.as_nanos().div_ceil(NANOS_PER_MILLI);
        // A stamp equal to the length belongs to the earlier pass.
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
            TraceFault::TooLate(millis) => write!(f, "{millis} ms is too late: at most {LATEST_MILLIS} ms"),
            TraceFault::TooLong(millis) => write!(f, "a delay of {millis} ms: at most 1000000 ms"),
            TraceFault::NoTrain => {
                write!(f, "needs a time, a base delay and at least one opportunity, in whole milliseconds")
            }
            TraceFault::TooFewTrains => write!(f, "the light trace needs at least two lines"),
            TraceFault::NotASize(size) => write!(f, "expected {size} bytes, delay in ms: `{size} 1.5`"),
        }
    }
}

impl std::error::Error for TraceError {}

/// A position in a repeating trace.
#[derive(Debug)]
pub(crate) struct Cursor {
    trace: Arc<Trace>,
    next: u64,
    next_time: Time,
    /// Time of the last used opportunity, and its remaining bytes.
    used_at: Time,
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
        // A link of one packet per millisecond (12 Mbps) "can be represented by a file that contains just `1`" (the
        // recordings' README).
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
        // 1004 of 1504 bytes are left at 2 ms, for a small packet that has arrived by then.
        assert_eq!(link.serve(at(2), 500).ends, at(2));
        // 500 bytes are left: the rest of the packet follows at 3 ms.
        assert_eq!(link.serve(at(2), 900), Served { begins: at(2), ends: at(3) });
        // Arrived after 3 ms: the rest is lost.
        assert_eq!(link.serve(at(4), 40).ends, at(10));
    }

    #[test]
    fn missed_opportunities_are_lost_and_the_trace_repeats_at_its_last_stamp() {
        let mut link = cursor("0\n5\n10\n");
        assert_eq!(link.serve(at(1), 1500).ends, at(5));
        assert_eq!(link.serve(at(6), 1500).ends, at(10));
        // The second pass begins at 10 ms, with an opportunity at 10 ms.
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

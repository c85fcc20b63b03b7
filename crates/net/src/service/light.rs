//! Light traces: base delays and packet trains, recorded and replayed as in CellReplay (Sentosa et al., NSDI 2025;
//! rules of its `cellular_queue.cc`).
//!
//! After an idle time, a cellular network serves a sender at less than the saturated rate. CellReplay therefore makes
//! two recordings at once: packet trains after pauses (the light trace), and a saturated link (the heavy trace,
//! [`super::Trace`]). Each line of the light trace describes one packet train. A line has the time of the train, the
//! one-way delay of the first packet, and the arrival of each later packet, all in ms.
//!
//! A packet that finds the link idle begins a train. The train has the base delay and the delivery opportunities that
//! were recorded at that time. Later packets use the train's opportunities, of 1400 bytes each. Packets that find no
//! opportunity left enter the queue and are served by the heavy trace.
//!
//! # Differences
//! Decisions use CellReplay's clock of whole milliseconds, but delays are added to a packet's exact arrival time.
//! CellReplay's device takes packets of up to 1392 bytes; here a larger packet uses the rest of an opportunity and
//! continues with the next opportunity (our construction). Traces begin at the start of the run, not at the first
//! packet.

use super::trace::{CELL_BYTES, LATEST_MILLIS, NANOS_PER_MILLI, PACKET_OVERHEAD, TraceError, TraceFault};
use lasthop_base::{Duration, Time};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Longest delay in a light trace, ms.
const LONGEST_MILLIS: u64 = 1_000_000;

/// A light trace, which is a list of recorded packet trains.
#[derive(Clone, Hash, Debug, PartialEq, Eq)]
pub struct LightTrace {
    trains: Vec<Train>,
    /// Opportunities of all trains, in the order of trains. An opportunity is a time in ms after the arrival of the
    /// train's first packet.
    opportunities: Vec<u32>,
}

#[derive(Clone, Copy, Hash, Debug, PartialEq, Eq)]
struct Train {
    at: u64,
    base: u64,
    first: usize,
}

impl LightTrace {
    /// Parses a light trace; ignores trailing blank lines.
    ///
    /// # Errors
    /// The number of the first invalid line, and its fault.
    pub fn parse(text: &str) -> Result<LightTrace, TraceError> {
        let mut trace = LightTrace { trains: Vec::new(), opportunities: Vec::new() };
        let lines = text.trim_end().lines().count();
        for (index, line) in text.trim_end().lines().enumerate() {
            let before = trace.trains.last().map_or(0, |train| train.at);
            trace.add(line, before).map_err(|what| TraceError { line: index + 1, what })?;
        }
        match trace.trains.last() {
            Some(train) if lines > 1 && train.at > 0 => Ok(trace),
            Some(_) if lines > 1 => Err(TraceError { line: lines, what: TraceFault::NoLength }),
            _ => Err(TraceError { line: 0, what: TraceFault::TooFewTrains }),
        }
    }

    fn add(&mut self, line: &str, before: u64) -> Result<(), TraceFault> {
        let first = self.opportunities.len();
        let mut words = line.split_ascii_whitespace();
        let at = whole(words.next().unwrap_or_default())?;
        if at > LATEST_MILLIS {
            return Err(TraceFault::TooLate(at));
        }
        if at < before {
            return Err(TraceFault::Decreasing { this: at, before });
        }
        let base = delay(words.next().ok_or(TraceFault::NoTrain)?)?;
        for word in words {
            self.opportunities.push(delay(word)? as u32);
        }
        if self.opportunities.len() == first {
            return Err(TraceFault::NoTrain);
        }
        self.trains.push(Train { at, base, first });
        Ok(())
    }

    /// Number of packet trains.
    pub fn trains(&self) -> usize {
        self.trains.len()
    }

    /// Length of the trace, ms: the time of the last train, after which the trace repeats. Only the base delay of the
    /// last train is used.
    pub fn length_millis(&self) -> u64 {
        self.trains.last().map_or(1, |train| train.at)
    }

    /// Mean base delay over the length of the trace.
    pub fn mean_delay(&self) -> Duration {
        let area =
            |pair: &[Train]| u128::from(pair[1].at - pair[0].at) * u128::from(pair[0].base + pair[1].base);
        let twice: u128 = self.trains.windows(2).map(area).sum();
        let length =
            u128::from(self.length_millis() - self.trains.first().map_or(0, |train| train.at)).max(1);
        Duration::from_nanos((twice * u128::from(NANOS_PER_MILLI) / 2 / length) as u64)
    }

    /// Returns the index of the train at `millis`, and the base delay in ms. The base delay is interpolated between
    /// this train and its successor.
    fn at(&self, millis: u64) -> (usize, u64) {
        let within = millis % self.length_millis();
        let number = self.trains.partition_point(|train| train.at <= within).saturating_sub(1);
        let (here, next) = (self.trains[number], self.trains[number + 1]);
        let (past, span) = (within.saturating_sub(here.at), next.at - here.at);
        let sum = here.base * span.saturating_sub(past) + next.base * past;
        (number, sum.checked_div(span).unwrap_or(here.base))
    }

    fn opportunities(&self, train: usize) -> &[u32] {
        &self.opportunities[self.trains[train].first..self.trains[train + 1].first]
    }
}

fn whole(word: &str) -> Result<u64, TraceFault> {
    word.parse().map_err(|_| TraceFault::NotANumber(word.chars().take(40).collect()))
}

fn delay(word: &str) -> Result<u64, TraceFault> {
    let millis = whole(word)?;
    if millis > LONGEST_MILLIS { Err(TraceFault::TooLong(millis)) } else { Ok(millis) }
}

/// Additional delay by packet size, read from a file. The file has a line for every 100 bytes of size, with the size in
/// bytes and the delay in ms.
#[derive(Clone, Debug, PartialEq)]
pub struct SizeDelays {
    /// Delays in ms for packets of 100 bytes, 200 bytes and so on.
    millis: Vec<f64>,
}

impl Hash for SizeDelays {
    /// Hashes the bits of each delay, because `f64` has no `Hash`.
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.millis.len());
        self.millis.iter().for_each(|millis| millis.to_bits().hash(state));
    }
}

impl SizeDelays {
    /// Parses CellReplay's `latency-offset`.
    ///
    /// # Errors
    /// The number of the first invalid line, and its fault.
    pub fn parse(text: &str) -> Result<SizeDelays, TraceError> {
        let mut millis = Vec::new();
        for (index, line) in text.trim_end().lines().enumerate() {
            let expected = 100 * (index as u64 + 1);
            let mut words = line.split_ascii_whitespace();
            let size = words.next().and_then(|word| word.parse::<u64>().ok());
            let delay = words.next().and_then(|word| word.parse::<f64>().ok());
            match (size, delay.filter(|delay| delay.abs() <= LONGEST_MILLIS as f64)) {
                (Some(size), Some(delay)) if size == expected && words.next().is_none() => millis.push(delay),
                _ => return Err(TraceError { line: index + 1, what: TraceFault::NotASize(expected) }),
            }
        }
        if millis.is_empty() {
            Err(TraceError { line: 0, what: TraceFault::NotASize(100) })
        } else {
            Ok(SizeDelays { millis })
        }
    }

    /// Returns the additional delay of a packet of `bytes`, in whole ms.
    fn of(&self, bytes: u32) -> i64 {
        let last = self.millis.len() - 1;
        let (hundreds, rest) = (bytes / 100, f64::from(bytes % 100) / 100.0);
        let delay = match (hundreds as usize).checked_sub(1) {
            None => self.millis[0],
            Some(index) if index >= last => self.millis[last],
            Some(index) => self.millis[index] + rest * (self.millis[index + 1] - self.millis[index]),
        };
        libm::round(delay) as i64
    }
}

/// A light trace with its settings, placed before a direction's queue.
#[derive(Clone, Hash, Debug, PartialEq)]
pub struct Light {
    /// The recorded packet trains.
    pub trace: Arc<LightTrace>,
    /// Idle time of the link after which the next packet begins a new train, whole ms.
    pub timer_millis: u64,
    /// Additional delay by packet size.
    pub sizes: Option<Arc<SizeDelays>>,
}

/// Decision of the light trace on a packet: the time of release, and whether the packet may bypass the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Released {
    pub(crate) at: Time,
    /// Whether the packet may bypass the queue and the heavy trace. The packet bypasses the queue only if no other
    /// packet is in the queue or in transmission.
    pub(crate) bypasses_queue: bool,
}

/// A position in a repeating light trace.
#[derive(Debug)]
pub(crate) struct TrainCursor {
    light: Light,
    /// Arrival of the first packet of the current train; `None` before the first train.
    begun: Option<Time>,
    /// Index of the current train.
    train: usize,
    /// Base delay of the current train, ms.
    base: u64,
    /// Index of the current opportunity.
    next: usize,
    /// Remaining bytes of the current opportunity.
    left: u32,
    /// Time in ms at which the last packet was released, without the delay by packet size.
    last_millis: u64,
    /// Latest release time in ms, including the delay by packet size.
    latest_millis: u64,
    /// Latest release time as an exact time, including the delay by packet size.
    latest: Time,
}

impl TrainCursor {
    pub(crate) fn new(light: &Light) -> TrainCursor {
        TrainCursor {
            light: light.clone(),
            begun: None,
            train: 0,
            base: 0,
            next: 0,
            left: 0,
            last_millis: 0,
            latest_millis: 0,
            latest: Time::ZERO,
        }
    }

    /// Decides the release time of a packet that arrives at `now`, and whether the packet may bypass the queue. `now`
    /// never decreases.
    pub(crate) fn release(&mut self, now: Time, bytes: u32) -> Released {
        let millis = now.as_nanos() / NANOS_PER_MILLI;
        let cost = bytes + PACKET_OVERHEAD as u32;
        let rests = millis + self.base > self.last_millis + self.light.timer_millis;
        let (begun, is_first) = match self.begun.filter(|_| !rests) {
            Some(begun) => (begun, false),
            None => {
                (self.train, self.base) = self.light.trace.at(millis);
                (self.next, self.left) = (0, CELL_BYTES);
                self.begun = Some(now);
                (now, true)
            }
        };
        let since = millis - begun.as_nanos() / NANOS_PER_MILLI;
        self.charge(since, cost);
        let opportunities = self.light.trace.opportunities(self.train);
        let (wait, bypasses_queue) = match opportunities.get(self.next) {
            // The first packet of a train has the base delay, even if its opportunity is at another time.
            Some(_) if is_first && self.next == 0 => (self.base, true),
            Some(opportunity) => ((self.base + u64::from(*opportunity)).saturating_sub(since), true),
            None => (self.base.max(opportunities.last().map_or(0, |last| u64::from(*last))), false),
        };
        self.last_millis = millis + wait;
        let exact = if bypasses_queue {
            // The release time counts from the exact start of the train. The release is at least `base` or `wait` after
            // `now`, whichever is shorter.
            (begun + duration_of(since + wait)).max(now + duration_of(self.base.min(wait)))
        } else {
            now + duration_of(wait)
        };
        self.in_order(now, cost, exact, bypasses_queue)
    }

    /// Returns the release time of a packet that arrives at `now` and uses no opportunity: the packet enters the queue
    /// after its base delay, but not before earlier packets.
    pub(crate) fn release_to_queue(&mut self, now: Time) -> Released {
        let (_, base) = self.light.trace.at(now.as_nanos() / NANOS_PER_MILLI);
        self.latest = self.latest.max(now + duration_of(base));
        Released { at: self.latest, bypasses_queue: false }
    }

    /// Takes the bytes of a packet from the train's opportunities. Begins with the first opportunity at or after the
    /// current time.
    fn charge(&mut self, since: u64, cost: u32) {
        let opportunities = self.light.trace.opportunities(self.train);
        while opportunities.get(self.next).is_some_and(|opportunity| since > u64::from(*opportunity)) {
            (self.next, self.left) = (self.next + 1, CELL_BYTES);
        }
        if cost <= CELL_BYTES && self.left < cost {
            (self.next, self.left) = (self.next + 1, CELL_BYTES);
        }
        let mut missing = cost;
        while missing > self.left {
            missing -= self.left;
            (self.next, self.left) = (self.next + 1, CELL_BYTES);
        }
        self.left -= missing;
        self.next = self.next.min(opportunities.len());
    }

    /// Adds the delay by packet size, unless the packet would then overtake an earlier packet. Packets are released in
    /// order.
    fn in_order(&mut self, now: Time, cost: u32, exact: Time, bypasses_queue: bool) -> Released {
        let later = self.light.sizes.as_ref().map_or(0, |sizes| sizes.of(cost));
        let (mut millis, mut at, mut bypasses_queue) = (self.last_millis, exact, bypasses_queue);
        if let Some(sum) = millis.checked_add_signed(later).filter(|sum| *sum >= self.latest_millis) {
            let nanos = exact.as_nanos().saturating_add_signed(later * NANOS_PER_MILLI as i64);
            (millis, at) = (sum, Time::from_nanos(nanos).max(now));
        }
        if millis < self.latest_millis {
            (millis, bypasses_queue) = (self.latest_millis, false);
        }
        self.latest_millis = millis;
        self.latest = self.latest.max(at);
        Released { at: self.latest, bypasses_queue }
    }
}

fn duration_of(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> (usize, TraceFault) {
        let error = LightTrace::parse(text).expect_err(text);
        (error.line, error.what)
    }

    /// A light trace needs two trains with a time, a base delay and an opportunity each. Times must not decrease.
    #[test]
    fn what_is_not_a_light_trace_is_refused() {
        assert_eq!(fault(""), (0, TraceFault::TooFewTrains));
        assert_eq!(fault("5 20 0"), (0, TraceFault::TooFewTrains));
        assert_eq!(fault("0 20 0\n0 20 0"), (2, TraceFault::NoLength));
        assert_eq!(fault("5 20 0\n4 20 0"), (2, TraceFault::Decreasing { this: 4, before: 5 }));
        assert_eq!([fault("0"), fault("0 20")], [(1, TraceFault::NoTrain), (1, TraceFault::NoTrain)]);
        assert_eq!(fault("1 20 0\nx 20 0"), (2, TraceFault::NotANumber("x".into())));
        assert_eq!(fault("0 1000001 0\n1 20 0"), (1, TraceFault::TooLong(1_000_001)));
        assert_eq!(fault("0 20 1000001\n1 20 0"), (1, TraceFault::TooLong(1_000_001)));
        assert_eq!(fault("0 20 0\n1000000000001 20 0"), (2, TraceFault::TooLate(1_000_000_000_001)));
        let trace =
            LightTrace::parse("0 1000000 1000000\n1000000000000 20 0\n\n").expect("the largest values");
        assert_eq!((trace.trains(), trace.length_millis()), (2, 1_000_000_000_000));
    }

    /// The base delay rises from 20 to 40 ms and falls again, so that the mean is 30 ms, and the value in the middle of a
    /// train is 30 ms.
    #[test]
    fn base_delays_are_interpolated() {
        let trace = LightTrace::parse("0 20 0 3\n1000 40 5\n2000 20 7").expect("a trace");
        assert_eq!(trace.mean_delay(), Duration::from_millis(30));
        let at = [0, 500, 1000, 1250, 1999, 2000, 2500].map(|millis| trace.at(millis));
        assert_eq!(at, [(0, 20), (0, 30), (1, 40), (1, 35), (1, 20), (0, 20), (0, 30)]);
        assert_eq!((trace.opportunities(0), trace.opportunities(1)), (&[0, 3][..], &[5][..]));
        // The first train is at 500 ms, and the mean covers the time from the first train on.
        let late = LightTrace::parse("500 10 0\n1500 30 0").expect("a trace");
        assert_eq!(late.mean_delay(), Duration::from_millis(20));
        assert_eq!(
            [late.at(0), late.at(499), late.at(500), late.at(1000)],
            [(0, 10), (0, 10), (0, 10), (0, 20)]
        );
        // Two trains begin at the same time.
        let twice = LightTrace::parse("5 10 0\n5 30 0\n10 20 0").expect("a trace");
        assert_eq!([twice.at(3), twice.at(5)], [(0, 10), (1, 30)]);
    }

    /// Each line has the next multiple of 100 bytes and a delay of at most 1000 s.
    #[test]
    fn what_are_not_delays_by_size_is_refused() {
        let line = |text: &str| match SizeDelays::parse(text) {
            Ok(sizes) => Ok(sizes.millis),
            Err(TraceError { line, what: TraceFault::NotASize(size) }) => Err((line, size)),
            Err(other) => panic!("{other}"),
        };
        assert_eq!(line("100 1.5\n200 -2\n"), Ok(vec![1.5, -2.0]));
        assert_eq!(line("100 1000000\n200 -1000000"), Ok(vec![1e6, -1e6]));
        assert_eq!(
            [line("200 1"), line("100 1 2"), line("100")],
            [Err((1, 100)), Err((1, 100)), Err((1, 100))]
        );
        assert_eq!([line("100 1\n100 2"), line("100 1\n200 1000001")], [Err((2, 200)), Err((2, 200))]);
    }

    /// Delays are those of 100, 200 and 300 bytes, interpolated, and rounded to whole ms: 3 + 0.1 x 7 = 3.7 at 210
    /// bytes. Smaller and larger packets have the first and the last delay.
    #[test]
    fn delays_by_size_are_interpolated() {
        let sizes = SizeDelays { millis: vec![1.0, 3.0, 10.0] };
        let delays = [0, 99, 100, 150, 200, 210, 250, 299, 300, 999].map(|bytes| sizes.of(bytes));
        assert_eq!(delays, [1, 1, 1, 2, 3, 4, 7, 10, 10, 10]);
    }
}

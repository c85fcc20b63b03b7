//! ACK timing: when is data acknowledged?

mod coherence;
mod delayed;
mod dupack_delay;
mod immediate;
mod linux;

use lasthop_base::{Choice, Duration, Mechanism, Time, Values};

/// A data segment that arrived, as timing sees it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When.
    pub now: Time,
    /// Bytes by which the cumulative ACK can now advance since the last ACK sent.
    pub unacknowledged: u64,
    /// A full segment's payload, bytes.
    pub segment: u64,
    /// Whether it opened a gap, filled one, repeated something or carried a mark: told at once (RFC 5681 §4.2, RFC 3168 §6.1.3).
    pub urgent: bool,
    /// Whether all of it had arrived before.
    pub repeated: bool,
    /// Whether it carried a congestion mark that is told at once.
    pub marked: bool,
    /// Whether the advertised window opens further with it.
    pub grows: bool,
}

impl Arrival {
    /// The next full segment in order, and nothing special about it.
    pub fn plain(now: Time, segment: u64) -> Arrival {
        Arrival {
            now,
            unacknowledged: segment,
            segment,
            urgent: false,
            repeated: false,
            marked: false,
            grows: false,
        }
    }
}

/// When to acknowledge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum When {
    /// At once.
    Now,
    /// After this time, unless an ACK leaves before.
    After(Duration),
}

/// The clock of acknowledgements.
pub trait AckTiming: Send {
    /// A segment with data arrived.
    fn on_data(&mut self, arrival: &Arrival) -> When;

    /// Whether it ever keeps duplicate ACKs back.
    fn holds(&self) -> bool {
        false
    }

    /// An ACK leaves now that the last answer, or its time, has brought about. How many leave: those that were kept back, too,
    /// unless they have nothing to tell any more. Only asked if it [holds](AckTiming::holds).
    fn release(&mut self) -> u32 {
        1
    }

    /// Whether it acknowledges every segment at once, so that it need not be asked.
    fn is_immediate(&self) -> bool {
        false
    }
}

/// How a timing is built.
pub type Build = dyn Fn(&Values) -> Box<dyn AckTiming> + Send + Sync;

/// All timings.
pub const ALL: &[Mechanism<Build>] = &[
    immediate::MECHANISM,
    delayed::MECHANISM,
    linux::MECHANISM,
    dupack_delay::MECHANISM,
    coherence::MECHANISM,
];

/// What holds if nobody says.
pub const DEFAULT: Mechanism<Build> = delayed::MECHANISM;

/// Whether the first of two full segments in order is acknowledged at once, and whether the second is.
pub fn at_once(choice: &Choice<Build>) -> [bool; 2] {
    let mut timing = (choice.build)(&choice.values);
    let segment = 1000;
    [segment, 2 * segment].map(|unacknowledged| {
        timing.on_data(&Arrival { unacknowledged, ..Arrival::plain(Time::ZERO, segment) }) == When::Now
    })
}

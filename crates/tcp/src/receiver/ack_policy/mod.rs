//! ACK policy: time of each ACK.

mod coherence;
mod delayed;
mod dupack_delay;
mod immediate;
mod linux;

use lasthop_base::{Choice, Duration, Mechanism, Time, Values};

/// Arrived data segment.
#[derive(Clone, Copy, Debug)]
pub struct DataArrival {
    /// Time of arrival.
    pub now: Time,
    /// Bytes by which the next ACK can advance.
    pub unacknowledged: u64,
    /// Payload of a full segment, bytes.
    pub segment: u64,
    /// Whether the ACK is due at once: gap opened or filled, duplicate data, mark (RFC 5681 §4.2, RFC 3168 §6.1.3).
    pub urgent: bool,
    /// Whether all data was a duplicate.
    pub repeated: bool,
    /// Whether the segment carried a congestion mark to echo at once.
    pub marked: bool,
    /// Whether the advertised window grows.
    pub grows: bool,
}

impl DataArrival {
    /// Full segment in order, without special features.
    pub fn plain(now: Time, segment: u64) -> DataArrival {
        DataArrival {
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

/// Time of an ACK.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AckTime {
    /// Immediately.
    Now,
    /// After this time, unless another ACK leaves earlier.
    After(Duration),
}

/// ACK policy.
pub trait AckPolicy: Send {
    /// Handles a segment with data.
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime;

    /// Whether duplicate ACKs are ever held back.
    fn holds(&self) -> bool {
        false
    }

    /// Number of ACKs to send now, held ones included. Called only if [holding](AckPolicy::holds).
    fn release(&mut self) -> u32 {
        1
    }

    /// Whether every segment is acknowledged at once.
    fn is_immediate(&self) -> bool {
        false
    }
}

/// Builds an ACK policy.
pub type Build = dyn Fn(&Values) -> Box<dyn AckPolicy> + Send + Sync;

/// All mechanisms.
pub const ALL: &[Mechanism<Build>] = &[
    immediate::MECHANISM,
    delayed::MECHANISM,
    linux::MECHANISM,
    dupack_delay::MECHANISM,
    coherence::MECHANISM,
];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = delayed::MECHANISM;

/// Whether the first of two full segments in order is acknowledged at once, and whether the second is.
pub fn at_once(choice: &Choice<Build>) -> [bool; 2] {
    let mut ack_policy = (choice.build)(&choice.values);
    let segment = 1000;
    [segment, 2 * segment].map(|unacknowledged| {
        ack_policy.on_data(&DataArrival { unacknowledged, ..DataArrival::plain(Time::ZERO, segment) })
            == AckTime::Now
    })
}

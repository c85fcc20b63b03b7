//! ACK policy: the time at which each ACK is sent.

mod coherence;
mod delayed;
mod dupack_delay;
mod gro;
mod immediate;
mod linux;

use lasthop_base::{Choice, Duration, Mechanism, Time, Values};

/// A data segment that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct DataArrival {
    /// Time of arrival.
    pub now: Time,
    /// Bytes by which the next ACK can advance.
    pub unacknowledged: u64,
    /// Payload of a full segment, bytes.
    pub segment: u64,
    /// Whether the ACK is due at once, because of a gap opened or filled, duplicate data, or a mark (RFC 5681 §4.2, RFC
    /// 3168 §6.1.3).
    pub urgent: bool,
    /// Whether all of the data was a duplicate.
    pub repeated: bool,
    /// Whether the segment carried a congestion mark that must be echoed at once.
    pub marked: bool,
    /// Whether the advertised window grows.
    pub grows: bool,
}

impl DataArrival {
    /// A full segment in order that has no special properties.
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
    /// After this time, unless another ACK is due earlier.
    After(Duration),
    /// After this time, or when an earlier ACK is due. A later due time of another ACK becomes void. Only for policies that
    /// [hold](AckPolicy::holds) ACKs.
    By(Duration),
}

/// ACK policy.
pub trait AckPolicy: Send {
    /// Handles a segment with data.
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime;

    /// Whether the policy ever holds back duplicate ACKs.
    fn holds(&self) -> bool {
        false
    }

    /// Handles the end of a waiting time. Called only if the policy [holds](AckPolicy::holds) ACKs.
    fn on_timer(&mut self, _now: Time) -> AckTime {
        AckTime::Now
    }

    /// Number of ACKs to send now, including held ones. Called only if the policy [holds](AckPolicy::holds) ACKs.
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
    gro::MECHANISM,
    dupack_delay::MECHANISM,
    coherence::MECHANISM,
];

/// Default mechanism.
pub const DEFAULT: Mechanism<Build> = delayed::MECHANISM;

/// For two full segments that arrive in order: whether the first is acknowledged at once, and whether the second is.
pub fn at_once(choice: &Choice<Build>) -> [bool; 2] {
    let mut ack_policy = (choice.build)(&choice.values);
    let segment = 1000;
    [segment, 2 * segment].map(|unacknowledged| {
        ack_policy.on_data(&DataArrival { unacknowledged, ..DataArrival::plain(Time::ZERO, segment) })
            == AckTime::Now
    })
}

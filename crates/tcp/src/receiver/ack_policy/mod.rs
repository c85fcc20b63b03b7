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
    /// Bytes received in order that no ACK has covered yet.
    pub unacknowledged: u64,
    /// Payload of a full segment, bytes.
    pub segment: u64,
    /// Whether the ACK is due at once, because of a hole, duplicate data, a FIN, or a mark (RFC 5681 §4.2, RFC 3168
    /// §6.1.3).
    pub urgent: bool,
    /// Whether all data of the segment was received in order before.
    pub repeated: bool,
    /// Whether the segment carried a congestion mark that must be echoed at once.
    pub marked: bool,
    /// Whether this arrival has opened the advertised window further.
    pub grows: bool,
}

impl DataArrival {
    /// Returns the arrival of a full segment in order, without special properties.
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
    /// After this time, unless an ACK is already due or scheduled.
    After(Duration),
    /// At the latest after this time: an ACK that is scheduled later moves forward to this time. Only for policies that
    /// [hold](AckPolicy::holds) ACKs.
    By(Duration),
}

/// ACK policy.
pub trait AckPolicy: Send {
    /// Handles a segment with data.
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime;

    /// Whether the policy ever holds back ACKs or sends several ACKs for one arrival.
    fn holds(&self) -> bool {
        false
    }

    /// Handles the expiry of the time that the policy returned, and returns a new decision. Called only if the policy
    /// [holds](AckPolicy::holds) ACKs.
    fn on_timer(&mut self, _now: Time) -> AckTime {
        AckTime::Now
    }

    /// Returns the number of ACKs to send now, held ACKs included, and clears the held ACKs. Called only if the policy
    /// [holds](AckPolicy::holds) ACKs.
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

/// Returns, for each of two full segments that arrive in order, whether the segment is acknowledged at once.
pub fn at_once(choice: &Choice<Build>) -> [bool; 2] {
    let mut ack_policy = (choice.build)(&choice.values);
    let segment = 1000;
    [segment, 2 * segment].map(|unacknowledged| {
        ack_policy.on_data(&DataArrival { unacknowledged, ..DataArrival::plain(Time::ZERO, segment) })
            == AckTime::Now
    })
}

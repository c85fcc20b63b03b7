//! Generic receive offload (GRO; in a network card LRO): segments in order that arrive close together reach TCP as one
//! batch. TCP acknowledges a batch once. The rules of Linux's delayed ACKs apply to batches.
//!
//! A batch ends `timeout` after its first segment, at `most` bytes, or with a segment that cannot be merged: out of
//! order, duplicate, or marked. A batch of at least two full segments is acknowledged at once. The ACK of a smaller
//! batch is delayed like an ACK of the policy `linux`, where a batch counts as one segment for quick ACKs. If a segment
//! out of order ends a batch, two ACKs are sent: one for the batch and one for the segment.
//!
//! # Not modelled
//! * Delivery to the application at the end of a batch: here, the application can read each segment on arrival.
//! * A limit on the number of segments in a batch.
//! * The end of a batch at a segment with PSH, as in Linux: senders here set PSH only at the end of their data.

use super::linux::{self, Linux};
use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "gro",
        summary: "one ACK for each batch of segments that arrive close together (GRO, LRO), else as `linux`",
        source: "Linux net/core/gro.c; Corbet: Generic receive offload, LWN 2009 (described)",
        parameters: &[
            Parameter {
                name: "timeout",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(100)),
                default: Some("50 us"),
                doc: "longest time from the first segment of a batch to its end (interrupt coalescing, gro_flush_timeout)",
            },
            Parameter {
                name: "most",
                unit: Unit::Count(1, 1 << 30),
                default: Some("65536"),
                doc: "largest batch, bytes of payload (gro_max_size)",
            },
            linux::QUICK,
            linux::SHORTEST,
            linux::LONGEST,
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(Gro {
            timeout: values.duration("timeout"),
            most: values.count("most"),
            delayed: Linux::new(values),
            batch: 0,
            unacknowledged: 0,
            last: None,
            delayed_until: Time::NEVER,
            acks_due: 1,
        })
    },
};

struct Gro {
    timeout: Duration,
    most: u64,
    /// Delayed ACK policy that chooses the time of the ACK for a batch.
    delayed: Linux,
    /// Payload of the current batch, bytes.
    batch: u64,
    /// [`DataArrival::unacknowledged`] at the last arrival, bytes.
    unacknowledged: u64,
    /// Last segment of the current batch; `None` between batches.
    last: Option<DataArrival>,
    /// Time of the delayed ACK for earlier batches; [`Time::NEVER`] if all earlier batches are acknowledged.
    delayed_until: Time,
    acks_due: u32,
}

impl Gro {
    /// Ends the batch. Returns the time of the ACK for the batch.
    fn end_batch(&mut self, now: Time) -> AckTime {
        self.batch = 0;
        if let Some(last) = self.last.take()
            && let AckTime::After(wait) = self.delayed.on_data(&DataArrival { now, ..last })
        {
            self.delayed_until = self.delayed_until.min(now + wait);
            return AckTime::By(self.delayed_until.since(now));
        }
        self.forget();
        AckTime::Now
    }

    /// Resets the state after an ACK for all segments.
    fn forget(&mut self) {
        (self.batch, self.unacknowledged, self.last, self.delayed_until) = (0, 0, None, Time::NEVER);
    }
}

impl AckPolicy for Gro {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        self.acks_due = 1;
        // Unless an ACK was sent since the last arrival, each segment that is not urgent increases `unacknowledged` by
        // at least one byte.
        let least = self.unacknowledged + u64::from(!arrival.urgent);
        if arrival.unacknowledged < least {
            // An outgoing data segment has carried an ACK since the last arrival.
            self.forget();
        }
        let new = arrival.unacknowledged - self.unacknowledged;
        self.unacknowledged = arrival.unacknowledged;
        if arrival.urgent {
            // If a segment out of order ends a batch, the batch and the segment are acknowledged separately.
            self.acks_due = 1 + u32::from(self.batch > 0 && new == 0);
            self.delayed.on_data(arrival);
            self.forget();
            return AckTime::Now;
        }
        self.batch += new;
        self.last = Some(*arrival);
        if self.batch + arrival.segment > self.most || self.timeout == Duration::ZERO {
            return self.end_batch(arrival.now);
        }
        AckTime::By(self.timeout)
    }

    fn on_timer(&mut self, now: Time) -> AckTime {
        self.acks_due = 1;
        if now >= self.delayed_until {
            self.forget();
            return AckTime::Now;
        }
        self.end_batch(now)
    }

    fn holds(&self) -> bool {
        true
    }

    fn release(&mut self) -> u32 {
        std::mem::replace(&mut self.acks_due, 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;

    const US: Duration = Duration::from_micros(1);
    const WAITS: AckTime = AckTime::By(Duration::from_micros(50));

    fn policy() -> Box<dyn AckPolicy> {
        let mut values = MECHANISM.info.defaults();
        values.set("quick", Value::Count(0));
        (MECHANISM.build)(&values)
    }

    fn segment(now: Time, unacknowledged: u64) -> DataArrival {
        DataArrival { unacknowledged, ..DataArrival::plain(now, 1000) }
    }

    /// Ten segments within 50 us cause one ACK, at the end of the batch.
    #[test]
    fn a_batch_is_acknowledged_once() {
        let mut policy = policy();
        for number in 1..=10 {
            assert_eq!(policy.on_data(&segment(Time::ZERO + US * number, 1000 * number)), WAITS);
        }
        assert_eq!((policy.on_timer(Time::ZERO + US * 51), policy.release()), (AckTime::Now, 1));
        assert_eq!(policy.on_data(&segment(Time::ZERO + US * 60, 1000)), WAITS, "a new batch");
    }

    /// After 65 segments of 1000 bytes, a batch has room for 536 bytes, which is less than a segment.
    #[test]
    fn a_full_batch_ends_at_once() {
        let mut policy = policy();
        for number in 1..=64 {
            assert_eq!(policy.on_data(&segment(Time::ZERO, 1000 * number)), WAITS, "{number}");
        }
        assert_eq!(policy.on_data(&segment(Time::ZERO, 65_000)), AckTime::Now);
    }

    /// A batch of one segment is acknowledged after 40 ms, or together with the next batch.
    #[test]
    fn a_single_segment_waits_for_the_delayed_ack_timer() {
        let (mut policy, start) = (policy(), Time::ZERO);
        assert_eq!(policy.on_data(&segment(start, 1000)), WAITS);
        let end = start + US * 50;
        assert_eq!(policy.on_timer(end), AckTime::By(Duration::from_millis(40)));
        assert_eq!(policy.on_timer(end + Duration::from_millis(40)), AckTime::Now);
        assert_eq!(policy.on_data(&segment(end + Duration::from_millis(50), 1000)), WAITS);
        let later = end + Duration::from_millis(50) + US * 50;
        assert_ne!(policy.on_timer(later), AckTime::Now);
        assert_eq!(policy.on_data(&segment(later + US, 2000)), WAITS);
        assert_eq!(policy.on_timer(later + US * 51), AckTime::Now);
    }

    /// A segment out of order ends a batch. Two ACKs are sent: one for the batch and a duplicate ACK. Without a batch,
    /// only the duplicate ACK is sent. If the urgent segment advances the ACK (fills a hole or ends the stream), one
    /// ACK is sent.
    #[test]
    fn a_segment_out_of_order_has_its_own_ack() {
        for (batch, advance, acks) in [(2, 0, 2), (0, 0, 1), (2, 1000, 1)] {
            let (mut policy, now) = (policy(), Time::ZERO);
            (1..=batch).for_each(|number| _ = policy.on_data(&segment(now, 1000 * number)));
            let urgent = DataArrival { urgent: true, ..segment(now, 1000 * batch + advance) };
            assert_eq!(
                (policy.on_data(&urgent), policy.release()),
                (AckTime::Now, acks),
                "{batch} {advance}"
            );
        }
    }

    /// If an outgoing data segment has carried the ACK for a batch, the next segment begins a new batch.
    #[test]
    fn an_ack_on_data_ends_the_batch() {
        for unacknowledged in [2000, 1000] {
            let mut policy = policy();
            (1..=2).for_each(|number| _ = policy.on_data(&segment(Time::ZERO, 1000 * number)));
            assert_eq!(policy.on_data(&segment(Time::ZERO + US, unacknowledged)), WAITS);
            let lone = unacknowledged == 1000;
            assert_eq!(policy.on_timer(Time::ZERO + US * 51) != AckTime::Now, lone);
        }
    }
}

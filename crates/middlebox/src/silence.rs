//! Detects a silent mobile. A mobile is silent if data is in flight to the mobile, but the mobile has sent nothing for
//! longer than usual.

use lasthop_base::{Duration, Time};
use lasthop_wire::{Body, Ecn, Flags, Packet, Priority, Segment, Seq};

/// Silence detector of one direction of a flow's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SilenceDetector {
    floor: Duration,
    /// Time of the mobile's last segment. If no data was in flight at that time, time of the first data sent
    /// afterwards.
    quiet_since: Time,
    /// Smoothed gap between the mobile's segments, measured while data is in flight.
    gap: Option<Duration>,
    frozen: bool,
    /// Whether the link has reported the start of an outage, and not yet its end.
    outage: bool,
    timer: Time,
}

impl SilenceDetector {
    /// Builds a detector. `floor` is the shortest time that counts as silence.
    pub(crate) fn new(floor: Duration) -> SilenceDetector {
        SilenceDetector {
            floor,
            quiet_since: Time::ZERO,
            gap: None,
            frozen: false,
            outage: false,
            timer: Time::NEVER,
        }
    }

    /// Whether the sender's window is closed because of silence or an outage.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    pub(crate) fn is_in_outage(&self) -> bool {
        self.outage
    }

    /// Handles the link's report that an outage starts (`outage` is true) or ends. `has_outstanding` is whether data is
    /// in flight to the mobile. Returns true if the sender's window must be closed or opened now.
    pub(crate) fn on_link_report(&mut self, now: Time, outage: bool, has_outstanding: bool) -> bool {
        let was_frozen = self.frozen;
        self.outage = outage;
        self.frozen = outage && (was_frozen || has_outstanding);
        self.quiet_since = now;
        // The station does not probe the mobile during an outage.
        self.timer = if outage || !has_outstanding { Time::NEVER } else { now + self.limit() };
        self.frozen != was_frozen
    }

    pub(crate) fn deadline(&self) -> Time {
        self.timer
    }

    /// Handles a segment from the mobile. `has_outstanding` is whether data is still in flight. Restarts the timer, so
    /// that silence is detected after twice the smoothed gap.
    pub(crate) fn on_segment(&mut self, now: Time, has_outstanding: bool) {
        if self.outage {
            // The mobile sent this segment before the outage.
            return;
        }
        if self.timer < Time::NEVER && !self.frozen {
            let gap = now.since(self.quiet_since);
            self.gap = Some(match self.gap {
                None => gap,
                Some(smoothed) => Duration::from_nanos((7 * smoothed.as_nanos() + gap.as_nanos()) / 8),
            });
        }
        self.frozen = false;
        self.quiet_since = now;
        self.timer = if has_outstanding { now + self.limit() } else { Time::NEVER };
    }

    /// Handles data to the mobile. Returns true if the window must be closed now, because of an outage.
    pub(crate) fn on_data(&mut self, now: Time) -> bool {
        if self.outage {
            return !std::mem::replace(&mut self.frozen, true);
        }
        if self.timer == Time::NEVER {
            self.quiet_since = now;
            self.timer = now + self.limit();
        }
        false
    }

    pub(crate) fn reset(&mut self) {
        *self = SilenceDetector { outage: self.outage, ..SilenceDetector::new(self.floor) };
    }

    /// Handles the timer. Returns `None` before the deadline. At the first expiry, returns `Some(true)`, and the caller
    /// closes the window. At each later expiry, returns `Some(false)`, and the caller probes the mobile.
    pub(crate) fn expire(&mut self, now: Time) -> Option<bool> {
        if now < self.timer {
            return None;
        }
        self.timer = now + self.limit();
        Some(!std::mem::replace(&mut self.frozen, true))
    }

    fn limit(&self) -> Duration {
        (self.gap.unwrap_or(Duration::ZERO) * 2).max(self.floor)
    }
}

/// Builds a pure ACK with this acknowledgement number and window, as if the mobile had sent the ACK. `like` is the
/// mobile's last segment.
pub(crate) fn synthetic_ack(like: &Packet, ack: Seq, window: u16) -> Option<Packet> {
    let last = like.segment()?;
    let segment = Segment {
        seq: Seq(last.seq.0.wrapping_add(last.sequence_space())),
        ack,
        len: 0,
        flags: Flags::ACK,
        window,
        timestamps: last.timestamps,
        ..Segment::default()
    };
    let (ecn, priority, body) = (Ecn::NotEct, Priority::NORMAL, Body::Tcp(segment));
    Some(Packet { is_retransmission: false, before_first_loss: false, ecn, priority, body, ..*like })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_longer_than_twice_the_usual_gap_and_only_while_something_is_awaited() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut silence = SilenceDetector::new(Duration::from_millis(500));
        assert_eq!(silence.deadline(), Time::NEVER);
        silence.on_data(at(0));
        assert_eq!(silence.deadline(), at(500));
        silence.on_segment(at(400), true);
        assert_eq!(silence.deadline(), at(1200), "twice 400 ms");
        assert_eq!(silence.expire(at(1199)), None);
        assert_eq!(silence.expire(at(1200)), Some(true));
        assert_eq!((silence.expire(at(2000)), silence.is_frozen()), (Some(false), true));
        silence.on_segment(at(2100), false);
        assert_eq!((silence.deadline(), silence.is_frozen()), (Time::NEVER, false));
    }

    #[test]
    fn a_link_that_tells_needs_no_silence() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut silence = SilenceDetector::new(Duration::from_millis(500));
        silence.on_data(at(0));
        assert!(silence.on_link_report(at(10), true, true) && silence.is_frozen());
        silence.on_segment(at(20), true);
        assert_eq!(
            (silence.deadline(), silence.is_frozen()),
            (Time::NEVER, true),
            "segment sent before the outage"
        );
        assert!(silence.on_link_report(at(900), false, true) && !silence.is_frozen());
        assert_eq!(silence.deadline(), at(1400));
        // If no data is in flight when the outage begins, the window must close at the next data packet.
        silence.on_segment(at(1000), false);
        assert!(!silence.on_link_report(at(1100), true, false) && !silence.is_frozen());
        assert!(silence.on_data(at(1200)) && silence.is_frozen() && !silence.on_data(at(1210)));
    }
}

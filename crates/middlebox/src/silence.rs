//! Detects a silent mobile: data is in flight to the mobile, and the mobile has sent nothing for longer than usual.

use lasthop_base::{Duration, Time};
use lasthop_wire::{Body, Ecn, Flags, Packet, Priority, Segment, Seq};

/// Silence detector of one direction of a flow's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    floor: Duration,
    /// Time of the mobile's last segment, or of the first data in flight.
    since: Time,
    /// Smoothed gap between the mobile's segments while data was in flight.
    gap: Option<Duration>,
    frozen: bool,
    /// Whether the link reports an outage.
    away: bool,
    timer: Time,
}

impl Silence {
    /// `floor`: the shortest silence.
    pub(crate) fn new(floor: Duration) -> Silence {
        Silence { floor, since: Time::ZERO, gap: None, frozen: false, away: false, timer: Time::NEVER }
    }

    /// Whether silence has closed the sender's window.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    pub(crate) fn is_away(&self) -> bool {
        self.away
    }

    /// Handles the link's report that an outage begins or ends; `awaits`: data is in flight to the mobile. Returns
    /// whether the sender's window closes or opens.
    pub(crate) fn tell(&mut self, now: Time, away: bool, awaits: bool) -> bool {
        let was_frozen = self.frozen;
        self.away = away;
        self.frozen = away && (was_frozen || awaits);
        self.since = now;
        // No probes during an outage.
        self.timer = if away || !awaits { Time::NEVER } else { now + self.longest() };
        self.frozen != was_frozen
    }

    pub(crate) fn deadline(&self) -> Time {
        self.timer
    }

    /// Handles a segment from the mobile; `awaits`: data is still in flight. Silence is longer than twice the smoothed
    /// gap.
    pub(crate) fn hear(&mut self, now: Time, awaits: bool) {
        if self.away {
            // The segment left the mobile before the outage.
            return;
        }
        if self.timer < Time::NEVER && !self.frozen {
            let gap = now.since(self.since);
            self.gap = Some(match self.gap {
                None => gap,
                Some(smoothed) => Duration::from_nanos((7 * smoothed.as_nanos() + gap.as_nanos()) / 8),
            });
        }
        self.frozen = false;
        self.since = now;
        self.timer = if awaits { now + self.longest() } else { Time::NEVER };
    }

    /// Handles data to the mobile. Returns true if an outage closes the window now.
    pub(crate) fn send(&mut self, now: Time) -> bool {
        if self.away {
            return !std::mem::replace(&mut self.frozen, true);
        }
        if self.timer == Time::NEVER {
            self.since = now;
            self.timer = now + self.longest();
        }
        false
    }

    pub(crate) fn reset(&mut self) {
        *self = Silence { away: self.away, ..Silence::new(self.floor) };
    }

    /// Returns `None` before the deadline, `Some(true)` if the window closes now, then `Some(false)` for each probe of
    /// the mobile.
    pub(crate) fn expire(&mut self, now: Time) -> Option<bool> {
        if now < self.timer {
            return None;
        }
        self.timer = now + self.longest();
        Some(!std::mem::replace(&mut self.frozen, true))
    }

    fn longest(&self) -> Duration {
        (self.gap.unwrap_or(Duration::ZERO) * 2).max(self.floor)
    }
}

/// A pure ACK in the mobile's name: copies `like`, the mobile's last segment, with this number and window.
pub(crate) fn ack_like(like: &Packet, ack: Seq, window: u16) -> Option<Packet> {
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
    let (ecn, priority, body) = (Ecn::NotEct, Priority::Normal, Body::Tcp(segment));
    Some(Packet { is_retransmission: false, before_first_loss: false, ecn, priority, body, ..*like })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_longer_than_twice_the_usual_gap_and_only_while_something_is_awaited() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut silence = Silence::new(Duration::from_millis(500));
        assert_eq!(silence.deadline(), Time::NEVER);
        silence.send(at(0));
        assert_eq!(silence.deadline(), at(500));
        silence.hear(at(400), true);
        assert_eq!(silence.deadline(), at(1200), "twice 400 ms");
        assert_eq!(silence.expire(at(1199)), None);
        assert_eq!(silence.expire(at(1200)), Some(true));
        assert_eq!((silence.expire(at(2000)), silence.is_frozen()), (Some(false), true));
        silence.hear(at(2100), false);
        assert_eq!((silence.deadline(), silence.is_frozen()), (Time::NEVER, false));
    }

    #[test]
    fn a_link_that_tells_needs_no_silence() {
        let at = |millis| Time::ZERO + Duration::from_millis(millis);
        let mut silence = Silence::new(Duration::from_millis(500));
        silence.send(at(0));
        assert!(silence.tell(at(10), true, true) && silence.is_frozen());
        silence.hear(at(20), true);
        assert_eq!(
            (silence.deadline(), silence.is_frozen()),
            (Time::NEVER, true),
            "segment sent before the outage"
        );
        assert!(silence.tell(at(900), false, true) && !silence.is_frozen());
        assert_eq!(silence.deadline(), at(1400));
        // With no data in flight, the window closes at the next data packet.
        silence.hear(at(1000), false);
        assert!(!silence.tell(at(1100), true, false) && !silence.is_frozen());
        assert!(silence.send(at(1200)) && silence.is_frozen() && !silence.send(at(1210)));
    }
}

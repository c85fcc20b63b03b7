//! Whether the mobile has fallen silent: data is under way to it, and nothing has come from it for longer than usual.

use lasthop_base::{Duration, Time};
use lasthop_wire::{Body, Ecn, Flags, Packet, Priority, Segment, Seq};

/// Listens to the mobile of one direction of a flow's data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    floor: Duration,
    /// When it was heard last, or first had something to say.
    since: Time,
    /// Smoothed time from one segment of it to the next, while data was under way.
    gap: Option<Duration>,
    frozen: bool,
    /// Whether the link says that it carries nothing.
    away: bool,
    timer: Time,
}

impl Silence {
    /// Silence is no shorter than `floor`.
    pub(crate) fn new(floor: Duration) -> Silence {
        Silence { floor, since: Time::ZERO, gap: None, frozen: false, away: false, timer: Time::NEVER }
    }

    /// Whether the sender's window is closed because of it.
    pub(crate) fn is_frozen(&self) -> bool {
        self.frozen
    }

    /// Whether the link says that it carries nothing.
    pub(crate) fn is_away(&self) -> bool {
        self.away
    }

    /// The link says that it carries nothing any more, or carries again. Whether that closes or opens the sender's window;
    /// `awaits` says whether data is under way to the mobile.
    pub(crate) fn tell(&mut self, now: Time, away: bool, awaits: bool) -> bool {
        let was_frozen = self.frozen;
        self.away = away;
        self.frozen = away && (was_frozen || awaits);
        self.since = now;
        // Nobody is asked over a link that carries nothing.
        self.timer = if away || !awaits { Time::NEVER } else { now + self.longest() };
        self.frozen != was_frozen
    }

    /// When [`Silence::expire`] has something to do.
    pub(crate) fn deadline(&self) -> Time {
        self.timer
    }

    /// Something came from the mobile, and `awaits` says whether data is still under way to it. Twice the smoothed time between
    /// its segments is no silence yet.
    pub(crate) fn hear(&mut self, now: Time, awaits: bool) {
        if self.away {
            // It was on its way already.
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

    /// Data goes to the mobile. True if the window is to be closed because the link carries nothing.
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

    /// Begins anew.
    pub(crate) fn reset(&mut self) {
        *self = Silence { away: self.away, ..Silence::new(self.floor) };
    }

    /// The deadline has come, if it has: true the first time, when the window is to be closed. After that it comes again and
    /// again: something has to ask whether the mobile is back.
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

/// An ACK of the box's own in the mobile's name: like the last one that came, `like`, but of this number and window, and
/// nothing else.
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
    Some(Packet { again: false, early: false, ecn, priority, body, ..*like })
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
        assert_eq!((silence.deadline(), silence.is_frozen()), (Time::NEVER, true), "what was on its way");
        assert!(silence.tell(at(900), false, true) && !silence.is_frozen());
        assert_eq!(silence.deadline(), at(1400));
        // With nothing under way there is nothing to close, until something is sent.
        silence.hear(at(1000), false);
        assert!(!silence.tell(at(1100), true, false) && !silence.is_frozen());
        assert!(silence.send(at(1200)) && silence.is_frozen() && !silence.send(at(1210)));
    }
}

//! Status by polling (3GPP TS 25.322 §9.7.1, §9.7.2): when the sending side asks, when the receiving side answers, and
//! how much room the answer takes in the other direction's blocks.

use lasthop_base::{Duration, Time, Values};
use std::collections::VecDeque;

/// A status report: it tells of all that had arrived when it was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status {
    pub(super) made: Time,
    /// One past the highest PDU that had arrived; of those above nothing is said.
    pub(super) highest: u64,
    pub(super) bits: u64,
}

/// What one direction of a link tells the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Across {
    /// To be sent in the next block.
    Send(Status),
    /// Sent for the other direction: it is there at this time.
    Arrives {
        /// The report.
        status: Status,
        /// When.
        at: Time,
    },
    /// Sent for the other direction, and destroyed.
    Lost,
}

/// Type and length of a status PDU, and the ACK field (TS 25.322 §9.2.1.5, §9.2.2.11.3).
const STATUS_BITS: u64 = 4 + 4 + 12;
/// A LIST field: type and length, up to 15 pairs of number and length (§9.2.2.11.4).
const LIST_BITS: u64 = 8;
const PAIRS_IN_LIST: u64 = 15;
const PAIR_BITS: u64 = 16;
/// Consecutive PDUs that one pair tells.
pub(super) const PDUS_IN_PAIR: u64 = 16;

/// Bits of a status that lists so many pairs.
pub(super) fn bits(pairs: u64) -> u64 {
    STATUS_BITS + pairs.div_ceil(PAIRS_IN_LIST) * LIST_BITS + pairs * PAIR_BITS
}

/// A status on its way into the blocks of the other direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Carried {
    pub(super) status: Status,
    /// PDUs not sent yet.
    pub(super) left: u64,
    /// Whether one of those sent was destroyed.
    pub(super) lost: bool,
}

/// Asking and answering of one direction.
#[derive(Debug)]
pub(super) struct Polling {
    every: u64,
    at_last: bool,
    timer: Duration,
    prohibit: Duration,
    /// PDUs sent since the last poll.
    sent: u64,
    /// When the poll timer expires; it runs while anything is unacknowledged.
    expires: Time,
    /// Reports on their way here, by arrival.
    coming: VecDeque<(Time, Status)>,
    /// When polls are to be answered.
    polls: VecDeque<Time>,
    /// No status is made before.
    allowed: Time,
    /// One past the highest PDU that had arrived when last looked, and what is on its way, by arrival.
    highest: u64,
    on_air: VecDeque<(Time, u64)>,
}

impl Polling {
    pub(super) fn new(values: &Values) -> Polling {
        Polling {
            every: values.count("poll_pdus"),
            at_last: values.flag("poll_last"),
            timer: values.duration("poll_timer"),
            prohibit: values.duration("prohibit"),
            sent: 0,
            expires: Time::NEVER,
            coming: VecDeque::new(),
            polls: VecDeque::new(),
            allowed: Time::ZERO,
            highest: 0,
            on_air: VecDeque::new(),
        }
    }

    /// When something is to be heard or answered here.
    pub(super) fn deadline(&self) -> Time {
        let heard = self.coming.front().map_or(Time::NEVER, |(at, _)| *at);
        heard.min(self.polls.front().map_or(Time::NEVER, |at| (*at).max(self.allowed)))
    }

    /// When the poll timer expires.
    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    /// Nothing is unacknowledged.
    pub(super) fn rest(&mut self) {
        self.expires = Time::NEVER;
    }

    /// Whether a block of `pdus` asks, the last ones in a buffer or not.
    pub(super) fn asks(&mut self, now: Time, pdus: u64, last: bool) -> bool {
        if pdus == 0 {
            return false;
        }
        self.sent += pdus;
        let counted = self.every > 0 && self.sent >= self.every;
        let asks = counted || (self.at_last && last) || self.expires <= now;
        if asks {
            self.sent = 0;
        }
        if asks || self.expires == Time::NEVER {
            self.expires = now + self.timer;
        }
        asks
    }

    /// PDUs up to `end` will have arrived by `at`.
    pub(super) fn arrives(&mut self, now: Time, at: Time, end: u64) {
        self.look(now);
        self.on_air.push_back((at, end));
    }

    /// A poll is to be answered at `at`, or as soon as that is allowed.
    pub(super) fn polled(&mut self, at: Time) {
        self.polls.push_back(at);
    }

    /// A status will be here at `at`, which never decreases.
    pub(super) fn expect(&mut self, at: Time, status: Status) {
        self.coming.push_back((at, status));
    }

    /// The newest status that is here by `now`.
    pub(super) fn hear(&mut self, now: Time) -> Option<Status> {
        let mut newest = None;
        while let Some((at, status)) = self.coming.front()
            && *at <= now
        {
            newest = Some(*status);
            self.coming.pop_front();
        }
        if newest.is_some() {
            self.expires = now + self.timer;
        }
        newest
    }

    /// Whether a status is to be made now; if so, one past the highest PDU that has arrived.
    pub(super) fn answer(&mut self, now: Time) -> Option<u64> {
        if now < self.allowed || self.polls.front().is_none_or(|at| *at > now) {
            return None;
        }
        while self.polls.front().is_some_and(|at| *at <= now) {
            self.polls.pop_front();
        }
        self.allowed = now + self.prohibit;
        self.look(now);
        Some(self.highest)
    }

    fn look(&mut self, now: Time) {
        while let Some((at, end)) = self.on_air.front()
            && *at <= now
        {
            self.highest = self.highest.max(*end);
            self.on_air.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_has_the_bits_of_its_fields() {
        // Header 4, ACK 16; a LIST of one pair 8 + 16: 44 bits; sixteen pairs take two LISTs.
        assert_eq!((bits(0), bits(1), bits(15), bits(16)), (20, 44, 268, 292));
        // A PDU of 42 bytes has room for 18 pairs: 20 + 2 x 8 + 18 x 16 = 324 of 336 bits.
        assert_eq!((bits(18).div_ceil(336), bits(19).div_ceil(336)), (1, 2));
    }
}

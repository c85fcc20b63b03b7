//! Polled status (3GPP TS 25.322 §9.7.1, §9.7.2): times of polls and status reports, and the size of a report.

use crate::peer_message::Status;
use lasthop_base::{Duration, Time, Values};
use std::collections::VecDeque;

/// Size of a status PDU's header and ACK field, bits (TS 25.322 §9.2.1.5, §9.2.2.11.3).
const STATUS_BITS: u64 = 4 + 16;
/// Size of a LIST field's type and length, bits (TS 25.322 §9.2.2.11.4). Up to 15 pairs follow in the LIST field; a
/// pair is a PDU number and a count of PDUs.
const LIST_BITS: u64 = 8;
const PAIRS_IN_LIST: u64 = 15;
const PAIR_BITS: u64 = 16;
/// Largest number of consecutive PDUs that one pair covers.
pub(super) const PDUS_IN_PAIR: u64 = 16;

/// Returns the number of pairs that fit into a status PDU of `bytes`; the result is at least 1.
pub(super) fn pairs_in(bytes: u64) -> u64 {
    let room = (8 * bytes).saturating_sub(STATUS_BITS);
    let full = LIST_BITS + PAIRS_IN_LIST * PAIR_BITS;
    (room / full * PAIRS_IN_LIST + (room % full).saturating_sub(LIST_BITS) / PAIR_BITS).max(1)
}

#[derive(Debug)]
pub(super) struct Polling {
    every: u64,
    at_last: bool,
    timer: Duration,
    prohibit: Duration,
    sent: u64,
    /// Expiry of the poll timer, which runs while data is unacknowledged.
    expires: Time,
    /// Reports in flight to this sender, with their arrival times, in order of arrival.
    statuses_in_flight: VecDeque<(Time, Status)>,
    polls: VecDeque<Time>,
    /// Earliest permitted time of the next status report.
    allowed: Time,
    /// Highest PDU number that had been received at the last `update_highest`, plus one.
    highest: u64,
    /// PDUs in flight, in order of arrival. Each entry has the arrival time of a group of PDUs, and the group's highest
    /// PDU number plus one.
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
            statuses_in_flight: VecDeque::new(),
            polls: VecDeque::new(),
            allowed: Time::ZERO,
            highest: 0,
            on_air: VecDeque::new(),
        }
    }

    pub(super) fn deadline(&self) -> Time {
        let arrives = self.statuses_in_flight.front().map_or(Time::NEVER, |(at, _)| *at);
        arrives.min(self.polls.front().map_or(Time::NEVER, |at| (*at).max(self.allowed)))
    }

    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    pub(super) fn stop_timer(&mut self) {
        self.expires = Time::NEVER;
    }

    /// Returns whether a block of `pdus` PDUs must carry a poll. `last` is true if the block empties the retransmission
    /// buffer or the transmission buffer.
    pub(super) fn should_poll(&mut self, now: Time, pdus: u64, last: bool) -> bool {
        if pdus == 0 {
            return false;
        }
        self.sent += pdus;
        let counted = self.every > 0 && self.sent >= self.every;
        let polls_now = counted || (self.at_last && last) || self.expires <= now;
        if polls_now {
            self.sent = 0;
        }
        if polls_now || self.expires == Time::NEVER {
            self.expires = now + self.timer;
        }
        polls_now
    }

    /// Records that PDUs up to number `end` (excluded) have been sent and arrive at `at`.
    pub(super) fn on_pdus_sent(&mut self, now: Time, at: Time, end: u64) {
        self.update_highest(now);
        self.on_air.push_back((at, end));
    }

    /// Records a poll that arrives at `at`. The poll is answered at that time, or as soon as the prohibit timer
    /// permits.
    pub(super) fn on_poll(&mut self, at: Time) {
        self.polls.push_back(at);
    }

    /// Records a status report that arrives at `at`. `at` never decreases.
    pub(super) fn schedule_arrival(&mut self, at: Time, status: Status) {
        self.statuses_in_flight.push_back((at, status));
    }

    /// Takes the next status report received by `now`.
    pub(super) fn next_received(&mut self, now: Time) -> Option<Status> {
        self.statuses_in_flight.front().filter(|(at, _)| *at <= now)?;
        self.expires = now + self.timer;
        self.statuses_in_flight.pop_front().map(|(_, status)| status)
    }

    /// If a status report is due now, returns the highest PDU number received, plus one.
    pub(super) fn due_status(&mut self, now: Time) -> Option<u64> {
        if now < self.allowed || self.polls.front().is_none_or(|at| *at > now) {
            return None;
        }
        while self.polls.front().is_some_and(|at| *at <= now) {
            self.polls.pop_front();
        }
        self.allowed = now + self.prohibit;
        self.update_highest(now);
        Some(self.highest)
    }

    fn update_highest(&mut self, now: Time) {
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
    fn a_status_lists_what_fits() {
        // A PDU of 42 bytes has 336 bits, of which header and ACK field take 20. A full LIST field takes 8 + 15 x 16
        // bits. A second LIST field of 8 + 3 x 16 bits fits into the other 68 bits, so there are 18 pairs.
        assert_eq!(pairs_in(42), 18);
        assert_eq!((pairs_in(10), pairs_in(1)), (3, 1));
    }
}

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
    use crate::testing::{MS, at};
    use lasthop_base::Value;

    #[test]
    fn a_status_lists_what_fits() {
        // A PDU of 42 bytes has 336 bits, of which header and ACK field take 20. A full LIST field takes 8 + 15 x 16
        // bits. A second LIST field of 8 + 3 x 16 bits fits into the other 68 bits, so there are 18 pairs.
        assert_eq!(pairs_in(42), 18);
        assert_eq!((pairs_in(10), pairs_in(1)), (3, 1));
    }

    /// A status PDU of 6 bytes has 48 - 20 = 28 bits, and a LIST field with one pair takes 8 + 16 = 24 bits. Two full
    /// LIST fields take 2 x 248 bits.
    #[test]
    fn pairs_by_size_of_the_pdu() {
        assert_eq!([0, 2, 5, 6, 7].map(pairs_in), [1, 1, 1, 1, 1]);
        // PDUs of 8 to 11 bytes have 44, 52, 60 and 68 bits. Two pairs take 40 bits, three pairs take 56 bits.
        assert_eq!([8, 9, 10, 11].map(pairs_in), [2, 2, 3, 3]);
        // 20 + 248 = 268 bits are 33.5 bytes. A second LIST field with one pair needs 24 further bits.
        assert_eq!([33, 34, 36, 37].map(pairs_in), [14, 15, 15, 16]);
        // 20 + 2 x 248 = 516 bits are 64.5 bytes.
        assert_eq!(pairs_in(65), 30);
    }

    fn polling(every: u64, at_last: bool, prohibit: u64) -> Polling {
        let values = super::super::MECHANISM.info.defaults();
        let values = values.with("poll_pdus", Value::Count(every)).with("poll_last", Value::Flag(at_last));
        Polling::new(&values.with("prohibit", Value::Duration(MS * prohibit)))
    }

    /// Poll_PDU of 4: each fourth PDU polls, and the count restarts with each poll (TS 25.322 §9.7.1).
    #[test]
    fn every_fourth_pdu_polls() {
        let mut one = polling(4, false, 0);
        let polls = [3, 1, 3, 2, 3, 0, 1].map(|pdus| one.should_poll(at(0), pdus, false));
        assert_eq!(polls, [false, true, false, true, false, false, true]);
        let mut never = polling(0, false, 0);
        assert!((0..100).all(|_| !never.should_poll(at(0), 1000, true)));
        let mut last = polling(0, true, 0);
        assert_eq!([false, true].map(|is_last| last.should_poll(at(0), 1, is_last)), [false, true]);
        assert!(!last.should_poll(at(0), 0, true), "a block without PDUs carries no poll");
    }

    /// Timer_Poll is 300 ms. The timer runs from the first PDU and restarts with each poll and each report.
    #[test]
    fn the_poll_timer_repeats_polls() {
        let mut one = polling(0, false, 0);
        assert_eq!(one.expires(), Time::NEVER);
        assert!(!one.should_poll(at(10), 1, false));
        assert_eq!(one.expires(), at(310));
        assert!(!one.should_poll(at(309), 1, false));
        assert_eq!(one.expires(), at(310), "data does not restart the timer");
        assert!(one.should_poll(at(310), 1, false));
        assert_eq!(one.expires(), at(610));
        one.schedule_arrival(at(400), Status { made: at(390), until: 5 });
        assert_eq!((one.deadline(), one.next_received(at(399))), (at(400), None));
        assert_eq!(one.next_received(at(400)), Some(Status { made: at(390), until: 5 }));
        assert_eq!((one.expires(), one.next_received(at(400))), (at(700), None));
        one.stop_timer();
        assert_eq!(one.expires(), Time::NEVER);
    }

    /// A poll at 30 ms is answered with the highest PDU that has arrived by then. Timer_Status_Prohibit of 50 ms delays
    /// the next report. One report answers all polls.
    #[test]
    fn polls_are_answered_with_the_highest_pdu() {
        let mut one = polling(0, true, 50);
        assert_eq!(one.deadline(), Time::NEVER);
        one.on_pdus_sent(at(0), at(20), 7);
        one.on_pdus_sent(at(1), at(30), 5);
        one.on_pdus_sent(at(2), at(31), 9);
        one.on_poll(at(30));
        assert_eq!((one.deadline(), one.due_status(at(29))), (at(30), None));
        assert_eq!(one.due_status(at(30)), Some(7));
        assert_eq!((one.deadline(), one.due_status(at(31))), (Time::NEVER, None));
        one.on_poll(at(40));
        one.on_poll(at(45));
        one.on_poll(at(90));
        assert_eq!((one.deadline(), one.due_status(at(79))), (at(80), None));
        assert_eq!(one.due_status(at(80)), Some(9));
        assert_eq!(one.deadline(), at(130), "the poll at 90 ms waits, too");
        assert_eq!((one.due_status(at(129)), one.due_status(at(130))), (None, Some(9)));
        // A later report with a lower number does not lower the highest PDU.
        one.on_pdus_sent(at(140), at(150), 3);
        one.on_poll(at(200));
        assert_eq!(one.due_status(at(200)), Some(9));
    }
}

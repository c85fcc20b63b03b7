//! Polls, with which the sending side requests a status report (TS 38.322 §5.3.3, 36.322 §5.2.2).

use lasthop_base::{Duration, Time, Values};

#[derive(Debug)]
pub(super) struct Polling {
    every_pdus: u64,
    every_bytes: u64,
    timer: Duration,
    pdus: u64,
    bytes: u64,
    /// Number of bytes that had been sent at the last poll.
    polled_end: u64,
    expires: Time,
}

impl Polling {
    pub(super) fn new(values: &Values) -> Polling {
        let positive = |count| if count == 0 { u64::MAX } else { count };
        Polling {
            every_pdus: positive(values.count("poll_pdus")),
            every_bytes: positive(values.bytes("poll_bytes")),
            timer: values.duration("t_poll_retransmit"),
            pdus: 0,
            bytes: 0,
            polled_end: 0,
            expires: Time::NEVER,
        }
    }

    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    /// Returns whether a block with this many PDUs and bytes must carry a poll. `last` is true if no other data can be
    /// sent after the block. `sent` is the number of bytes sent so far.
    pub(super) fn should_poll(&mut self, now: Time, [pdus, bytes]: [u64; 2], last: bool, sent: u64) -> bool {
        if pdus == 0 {
            return false;
        }
        self.pdus += pdus;
        self.bytes += bytes;
        let counted = self.pdus >= self.every_pdus || self.bytes >= self.every_bytes;
        let polls = counted || last || self.expires <= now;
        if polls {
            (self.pdus, self.bytes, self.polled_end) = (0, 0, sent);
            self.expires = now + self.timer;
        }
        polls
    }

    /// Handles a status report that covers all bytes before `until`.
    pub(super) fn on_status(&mut self, until: u64) {
        if until >= self.polled_end {
            self.expires = Time::NEVER;
        }
    }

    pub(super) fn restart_timer(&mut self, now: Time) {
        self.expires = now + self.timer;
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::MECHANISM;
    use super::*;
    use crate::testing::{MS, at};
    use lasthop_base::Value;

    fn polling(pdus: u64, bytes: u64) -> Polling {
        let values = MECHANISM.info.defaults();
        let values = values.with("poll_pdus", Value::Count(pdus)).with("poll_bytes", Value::Bytes(bytes));
        Polling::new(&values.with("t_poll_retransmit", Value::Duration(MS * 45)))
    }

    /// TS 38.322 §5.3.3.2: a poll is due as soon as PDU_WITHOUT_POLL reaches pollPDU, or BYTE_WITHOUT_POLL reaches
    /// pollByte. The poll resets both counts.
    #[test]
    fn counts_reach_their_limits_and_restart() {
        let mut one = polling(4, 1000);
        let mut polls = |pdus, bytes| one.should_poll(at(0), [pdus, bytes], false, 0);
        assert_eq!([polls(3, 10), polls(1, 10), polls(3, 999), polls(1, 1)], [false, true, false, true]);
        assert_eq!([polls(1, 999), polls(1, 1), polls(1, 999), polls(0, 9000)], [false, true, false, false]);
        // pollPDU and pollByte of 0 mean no limit.
        let mut never = polling(0, 0);
        assert!((0..1000).all(|_| !never.should_poll(at(0), [1000, 1_000_000], false, 0)));
        assert!(never.should_poll(at(0), [1, 1], true, 1), "the last data must poll");
        assert!(!never.should_poll(at(0), [0, 0], true, 1), "an empty block carries no poll");
    }

    /// t-PollRetransmit (45 ms) starts with each poll. After its expiry, the next block must poll.
    #[test]
    fn the_timer_starts_with_a_poll() {
        let mut one = polling(0, 0);
        assert_eq!(one.expires(), Time::NEVER);
        assert!(!one.should_poll(at(10), [1, 1], false, 100));
        assert_eq!(one.expires(), Time::NEVER);
        assert!(one.should_poll(at(20), [1, 1], true, 200));
        assert_eq!(one.expires(), at(65));
        assert!(!one.should_poll(at(64), [1, 1], false, 300));
        assert!(one.should_poll(at(65), [1, 1], false, 400));
        assert_eq!(one.expires(), at(110));
        one.restart_timer(at(70));
        assert_eq!(one.expires(), at(115));
    }

    /// TS 38.322 §5.3.3.3: a report stops the timer if the report covers all data sent until the last poll.
    #[test]
    fn a_report_on_all_polled_data_stops_the_timer() {
        for (until, stops) in [(199, false), (200, true), (201, true)] {
            let mut one = polling(0, 0);
            assert!(one.should_poll(at(20), [1, 1], true, 200));
            one.on_status(until);
            assert_eq!(one.expires(), if stops { Time::NEVER } else { at(65) }, "{until}");
        }
    }
}

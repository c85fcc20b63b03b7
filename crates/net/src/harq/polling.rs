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

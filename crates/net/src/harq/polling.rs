//! When the sending side asks for a status (TS 38.322 §5.3.3, 36.322 §5.2.2).

use lasthop_base::{Duration, Time, Values};

/// Asking of one direction.
#[derive(Debug)]
pub(super) struct Polling {
    every_pdus: u64,
    every_bytes: u64,
    timer: Duration,
    /// Sent since the last poll.
    pdus: u64,
    bytes: u64,
    /// One past the highest byte sent with the last poll.
    asked: u64,
    /// When the timer t-PollRetransmit is over.
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
            asked: 0,
            expires: Time::NEVER,
        }
    }

    /// When the poll is to be repeated.
    pub(super) fn expires(&self) -> Time {
        self.expires
    }

    /// Whether a block with so many PDUs and bytes of data asks; `last`: nothing else is to be sent, or may be, `sent`: one
    /// past the highest byte ever sent.
    pub(super) fn asks(&mut self, now: Time, [pdus, bytes]: [u64; 2], last: bool, sent: u64) -> bool {
        if pdus == 0 {
            return false;
        }
        self.pdus += pdus;
        self.bytes += bytes;
        let counted = self.pdus >= self.every_pdus || self.bytes >= self.every_bytes;
        let asks = counted || last || self.expires <= now;
        if asks {
            (self.pdus, self.bytes, self.asked) = (0, 0, sent);
            self.expires = now + self.timer;
        }
        asks
    }

    /// A status tells of all bytes before `until`.
    pub(super) fn answered(&mut self, until: u64) {
        if until >= self.asked {
            self.expires = Time::NEVER;
        }
    }

    /// The timer begins anew although nothing could be sent.
    pub(super) fn postpone(&mut self, now: Time) {
        self.expires = now + self.timer;
    }
}

//! A source that alternates between sending and silence.

use super::{Socket, drawn};
use lasthop_base::{Duration, Rate, Spread, Stream, Time};

/// Parameters of a source that alternates between sending and silence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// Mean length of an on period, in which the source writes data.
    pub on: Duration,
    /// Mean length of an off period, in which the source is silent.
    pub off: Duration,
    /// Distribution of the lengths of on and off periods.
    pub lengths: Spread,
    /// Rate at which the source writes; `None`: as fast as the connection accepts.
    pub rate: Option<Rate>,
    /// Size of each write, bytes, at least 1. Used only if `rate` is set.
    pub chunk: u32,
    /// Time at which the source closes the connection; `None`: never. Data that is unsent at this time is still sent.
    pub stop: Option<Time>,
}

pub(super) struct Pausing {
    is_closed: bool,
    is_on: bool,
    until: Time,
    write: Time,
    /// Random stream of the lengths of on and off periods.
    lengths: Stream,
}

/// Limit of unsent data, bytes: an application without a rate writes until this many bytes are unsent. Many servers set
/// `TCP_NOTSENT_LOWAT` to this value, 128 KiB (known from memory, without a source). Data that is unsent at the end of
/// an on period is still sent, so a burst lasts longer than its on period.
const MAX_UNSENT: u64 = 128 << 10;

impl Pausing {
    pub(super) fn new(start: Time, lengths: Stream) -> Pausing {
        Pausing { is_closed: false, is_on: false, until: start, write: Time::ZERO, lengths }
    }

    pub(super) fn act(&mut self, it: &Pauses, now: Time, source: &mut impl Socket, next: &mut Time) -> bool {
        let mut writes = false;
        if self.is_closed {
            return false;
        }
        if it.stop.is_some_and(|stop| now >= stop) {
            source.close();
            (self.is_closed, *next) = (true, Time::NEVER);
            return true;
        }
        loop {
            if self.is_on {
                writes |= self.write_until(it, now.min(self.until), source);
            }
            if now < self.until {
                break;
            }
            self.is_on = !self.is_on;
            self.write = self.until;
            let mean = if self.is_on { it.on } else { it.off };
            self.until += drawn(it.lengths, &mut self.lengths, mean).max(Duration::from_nanos(1));
        }
        *next = match it.rate {
            Some(_) if self.is_on => self.until.min(self.write),
            _ => self.until,
        };
        *next = it.stop.map_or(*next, |stop| stop.min(*next));
        writes
    }

    /// Writes the data that is due by `until`. Returns false if no data was due.
    fn write_until(&mut self, it: &Pauses, until: Time, source: &mut impl Socket) -> bool {
        let mut writes = false;
        match it.rate {
            None => {
                let room = MAX_UNSENT.saturating_sub(source.unsent());
                if room > 0 && until < self.until {
                    source.write(room);
                    writes = true;
                }
            }
            Some(rate) => {
                while self.write <= until && self.write < self.until {
                    source.write(u64::from(it.chunk));
                    self.write += rate.time_for(u64::from(it.chunk));
                    writes = true;
                }
            }
        }
        writes
    }
}

//! Arriving data and FINs.

use super::ack_policy::{self, AckTime};
use super::ack_splitting::Arrived;
use super::due::Pending;
use super::{DataSegment, NO_FIN, Receiver, window};
use crate::event::Log;
use lasthop_base::{Duration, Time};

impl Receiver {
    pub(crate) fn handle_data(&mut self, now: Time, data: &DataSegment, fin: bool, log: &mut Log) {
        self.ack_is_current = false;
        if fin && self.fin == NO_FIN {
            self.fin = data.range.end;
        }
        if data.range.is_empty() {
            self.due = Pending::Now;
            return;
        }
        log.frequent.data_received += 1;
        let highest = self.reassembly.highest();
        let repeated = data.range.end <= self.reassembly.next();
        let change = self.reassembly.insert(data.range);
        if self.discriminates || self.needs_estimate {
            self.analyse(now, data, highest, change.opened, log);
        }
        if self.window_needs_arrivals {
            self.measure(now, data.range.len(), data.rtt);
        }
        if self.splitting_needs_arrivals {
            let missing = change.opened.map_or(0, |gap| gap.len().div_ceil(self.segment));
            self.ack_splitting.on_arrival(&Arrived { now, missing, repeated });
        }
        if let Some(duplicate) = change.duplicate {
            self.note_duplicate(duplicate);
        }
        self.has_report = self.reassembly.has_holes() || !self.duplicate.is_empty();
        let urgent = change.had_holes || change.advanced == 0 || fin || data.marked;
        let unacknowledged = self.reassembly.next().saturating_sub(self.acknowledged);
        let grows = self.window_needs_arrivals && self.window.is_growing();
        let (segment, marked) = (self.segment, data.marked);
        let arrival =
            ack_policy::DataArrival { now, unacknowledged, segment, urgent, repeated, marked, grows };
        self.schedule_ack(&arrival);
    }

    #[inline]
    pub(super) fn schedule_ack(&mut self, arrival: &ack_policy::DataArrival) {
        if self.is_immediate {
            self.due = Pending::Now;
            return;
        }
        let when = self.ack_policy.on_data(arrival);
        if when == AckTime::Now && self.holds_acks {
            self.release();
        }
        self.due = match (when, self.due) {
            (AckTime::Now, _) => Pending::Now,
            (AckTime::After(_), due @ (Pending::At(_) | Pending::Now | Pending::Bare)) => due,
            (AckTime::After(span) | AckTime::By(span), Pending::Nothing) => {
                self.sooner = true;
                Pending::At(arrival.now + span)
            }
            (AckTime::By(span), due) => self.earlier(due, arrival.now + span),
        };
    }

    /// Returns `due`, or an ACK at `time` if `due` is later than `time`.
    #[cold]
    fn earlier(&mut self, due: Pending, time: Time) -> Pending {
        match due {
            Pending::At(at) => {
                self.sooner = true;
                Pending::At(at.min(time))
            }
            due => due,
        }
    }

    fn measure(&mut self, now: Time, bytes: u64, rtt: Option<Duration>) {
        let read = self.reassembly.next().saturating_sub(self.unread);
        self.window.on_arrival(&window::PathSample { now, bytes, rtt, read, segment: self.segment });
    }

    pub(crate) fn handle_handshake(&mut self, now: Time, rtt: Duration) {
        if self.window_needs_arrivals {
            self.measure(now, 0, Some(rtt));
        }
    }
}

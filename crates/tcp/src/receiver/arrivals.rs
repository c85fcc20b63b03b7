//! Arriving data and FINs.

use super::ack_policy::{self, When};
use super::ack_splitting::Arrived;
use super::due::Pending;
use super::{Data, NO_FIN, Receiver, window};
use crate::event::Log;
use lasthop_base::{Duration, Time};

impl Receiver {
    pub(crate) fn handle_data(&mut self, now: Time, data: &Data, fin: bool, log: &mut Log) {
        self.all_told = false;
        if fin && self.fin == NO_FIN {
            self.fin = data.range.end;
        }
        if data.range.is_empty() {
            self.due = Pending::Now;
            return;
        }
        log.often.data_received += 1;
        let highest = self.reassembly.highest();
        let repeated = data.range.end <= self.reassembly.next();
        let change = self.reassembly.insert(data.range);
        if self.judges || self.estimates {
            self.consider(now, data, highest, change.opened, log);
        }
        if self.window_measures {
            self.measure(now, data.range.len(), data.rtt);
        }
        if self.tells_arrivals {
            let missing = change.opened.map_or(0, |gap| gap.len().div_ceil(self.segment));
            self.ack_splitting.on_arrival(&Arrived { now, missing, repeated });
        }
        if let Some(duplicate) = change.duplicate {
            self.note_duplicate(duplicate);
        }
        self.reports = self.reassembly.has_holes() || !self.duplicate.is_empty();
        let urgent = change.had_holes || change.advanced == 0 || fin || data.marked;
        let unacknowledged = self.reassembly.next().saturating_sub(self.acknowledged);
        let grows = self.window_measures && self.window.is_growing();
        let (segment, marked) = (self.segment, data.marked);
        let arrival = ack_policy::Arrival { now, unacknowledged, segment, urgent, repeated, marked, grows };
        self.ask_timing(&arrival);
    }

    #[inline]
    pub(super) fn ask_timing(&mut self, arrival: &ack_policy::Arrival) {
        if self.is_immediate {
            self.due = Pending::Now;
            return;
        }
        let when = self.ack_policy.on_data(arrival);
        if when == When::Now && self.holds {
            self.release();
        }
        self.due = match (when, self.due) {
            (When::Now, _) => Pending::Now,
            (When::After(_), due @ (Pending::At(_) | Pending::Now | Pending::Bare)) => due,
            (When::After(span), Pending::Nothing) => {
                self.sooner = true;
                Pending::At(arrival.now + span)
            }
        };
    }

    fn measure(&mut self, now: Time, bytes: u64, rtt: Option<Duration>) {
        let read = self.reassembly.next().saturating_sub(self.unread);
        self.window.on_arrival(&window::PathSample { now, bytes, rtt, read, segment: self.segment });
    }

    pub(crate) fn handle_handshake(&mut self, now: Time, rtt: Duration) {
        if self.window_measures {
            self.measure(now, 0, Some(rtt));
        }
    }
}

//! Fast path for the next data in order.

use super::due::Pending;
use super::{NO_FIN, Receiver, ack_policy};
use crate::event::Log;
use lasthop_base::Time;

impl Receiver {
    #[inline]
    pub(crate) fn accepts_next_data(&self) -> bool {
        self.is_plain && !self.has_report && self.fin == NO_FIN
    }

    /// Handles the next data in order, faster than [`Receiver::handle_data`]. Call only if
    /// [`Receiver::accepts_next_data`]: the receiver has no hole, no duplicate to report, and no FIN.
    #[inline]
    pub(crate) fn handle_next_data(&mut self, now: Time, bytes: u64, log: &mut Log) {
        log.frequent.data_received += 1;
        self.reassembly.advance(bytes);
        self.ack_is_current = false;
        if self.is_immediate {
            self.due = Pending::Now;
            return;
        }
        let unacknowledged = self.reassembly.next().saturating_sub(self.acknowledged);
        let plain = ack_policy::DataArrival::plain(now, self.segment);
        self.schedule_ack(&ack_policy::DataArrival { unacknowledged, ..plain });
    }
}

//! Header prediction (Van Jacobson, "4BSD header prediction", 1990): the segment that was to be expected, in few steps.
//!
//! While nothing is lost, nearly all segments are of two kinds: the next data in order, or a new acknowledgement. None of
//! RFC 9293's checks keeps such a segment back, so they shrink to one question. What follows has the order of
//! `arrival.rs`: acknowledgement, what is remembered of the segment, data. `tests/shortcut.rs` here, and that of the
//! simulator, hold the two together.

use super::stamps::{peer_time, since_echo};
use super::{Endpoint, Feedback, State};
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment};

impl Endpoint {
    /// Handles the segment if it is one of those; if not, nothing has happened.
    #[inline]
    pub(super) fn handle_predicted(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let bytes = u64::from(segment.len);
        let board = self.sender.board();
        let (una, outstanding) = (board.una(), board.outstanding());
        let advance = u64::from(segment.ack.0.wrapping_sub(self.iss.at(una).0));
        let is_expected = self.state == State::Established
            && self.sender.is_calm()
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.seq == self.irs.at(next)
            && self.has_usual_options(segment)
            && advance <= outstanding
            // A duplicate may tell of a loss.
            && (advance > 0 || outstanding == 0)
            && (bytes == 0 || (next + bytes <= self.receiver.edge() && self.receiver.takes_next_data()));
        if !is_expected {
            return false;
        }
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        self.sender.hear_window(next, una + advance, window);
        if advance > 0 {
            let (stamps, tick) = (segment.timestamps, self.tick_nanos);
            let echoed_rtt = || stamps.and_then(|stamps| since_echo(now, tick, stamps.echo));
            let clock = || stamps.map(|stamps| peer_time(now, tick, stamps.value));
            self.sender.advance_calmly(now, una + advance, 0, echoed_rtt, clock);
        }
        self.heard_at = now;
        if let Some(stamps) = segment.timestamps
            && next <= self.last_ack
        {
            self.ts_recent = stamps.value;
        }
        if bytes > 0 {
            self.receiver.handle_next_data(now, bytes, &mut self.log);
        }
        true
    }

    /// No SACK, no ECN, and timestamps as agreed, not from the past (RFC 7323 §5.3).
    #[inline]
    fn has_usual_options(&self, segment: &Segment) -> bool {
        segment.sack.is_empty()
            && self.agreed.ecn == Feedback::None
            && match segment.timestamps {
                None => !self.agreed.timestamps,
                Some(stamps) => {
                    self.agreed.timestamps && stamps.value.wrapping_sub(self.ts_recent) as i32 >= 0
                }
            }
    }
}

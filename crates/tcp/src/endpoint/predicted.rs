//! Header prediction (Van Jacobson, "4BSD header prediction", 1990).
//!
//! Without losses, nearly every segment is the next data in order or a new ACK. The checks of RFC 9293 never reject
//! such segments, so one condition replaces all checks (`handle_predicted`). A second condition covers segments while
//! data is lost (`handle_while_lost`). The effects have the same order as in `arrival.rs`. Tests verify that the
//! results are the same as in `arrival.rs`: `tests/fast_path.rs` here, and `tests/shortcut.rs` in the simulator.

use super::{Arriving, Endpoint, Feedback, State};
use crate::ranges::Range;
use crate::sender::Ack;
use lasthop_base::Time;
use lasthop_wire::{Flags, Segment};

impl Endpoint {
    /// Handles a predicted segment. Returns false, without any effect, if the segment is not predicted.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn handle_predicted(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let bytes = u64::from(segment.len);
        let Some(sender) = self.sending.sender() else { return self.handle_in_silence(now, segment) };
        let (una, outstanding) = (sender.scoreboard().una(), sender.scoreboard().outstanding());
        let advance = u64::from(segment.ack.0.wrapping_sub(self.iss.at(una).0));
        let is_expected = self.state == State::Established
            && sender.is_on_fast_path()
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.seq == self.irs.at(next)
            && segment.sack.is_unused()
            && self.has_usual_options(segment)
            && advance <= outstanding
            // A duplicate ACK may indicate a loss, so it is not predicted.
            && (advance > 0 || outstanding == 0)
            && (bytes == 0 || (next + bytes <= self.receiver.edge() && self.receiver.accepts_next_data()));
        if !is_expected {
            return false;
        }
        let Some(sender) = self.sending.sender_mut() else { return false };
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        sender.update_window(next, una + advance, window);
        if advance > 0 {
            let (ack, stamps, tick) = (una + advance, segment.timestamps, u64::from(self.tick));
            let news = Ack { ack, window, stamps, tick, at: next, carries_data: bytes > 0, ..Ack::BARE };
            sender.advance(now, news, &mut self.log);
        }
        self.note_arrival(now, segment, next);
        if bytes > 0 {
            self.receiver.handle_next_data(now, bytes, &mut self.log);
        }
        true
    }

    /// Handles the next data in order, like [`Endpoint::handle_predicted`], for an endpoint that has sent no data.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn handle_in_silence(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.receiver.next();
        let bytes = u64::from(segment.len);
        let is_expected = segment.seq == self.irs.at(next)
            && self.is_plain_data(segment)
            && next + bytes <= self.receiver.edge()
            && self.receiver.accepts_next_data();
        if is_expected {
            self.note_silent_arrival(now, segment, next);
            self.receiver.handle_next_data(now, bytes, &mut self.log);
        }
        is_expected
    }

    /// Handles data after a gap or in a gap, for an endpoint that has sent no data. Returns false, without any effect,
    /// if other checks are needed.
    fn handle_other_in_silence(&mut self, now: Time, segment: &Segment) -> bool {
        let (next, bytes) = (self.receiver.next(), u64::from(segment.len));
        let at = next + u64::from(segment.seq.0.wrapping_sub(self.irs.at(next).0));
        let is_expected = self.is_plain_data(segment) && at + bytes <= self.receiver.edge();
        if is_expected {
            self.note_silent_arrival(now, segment, at);
            self.handle_payload(
                now,
                segment,
                Range { start: at, end: at + bytes },
                &Arriving::default(),
                false,
            );
        }
        is_expected
    }

    /// Whether the segment needs no processing except that of its data, if this endpoint has sent no data.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn is_plain_data(&self, segment: &Segment) -> bool {
        self.state == State::Established
            && segment.len > 0
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && segment.ack == self.iss.at(1)
            && segment.sack.is_unused()
            && self.has_usual_options(segment)
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn note_silent_arrival(&mut self, now: Time, segment: &Segment, at: u64) {
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        self.sending.update_initial_window(at, window);
        self.note_arrival(now, segment, at);
    }

    /// Header prediction while data is lost: handles data after a gap or in a gap, and pure ACKs that may indicate a
    /// loss. Returns false, without any effect, if the segment is not predicted.
    #[inline(always)]
    pub(super) fn handle_while_lost(&mut self, now: Time, segment: &Segment) -> bool {
        let Some(sender) = self.sending.sender() else {
            // The web page needs small code, so on wasm32 `arrival.rs` handles data after a gap or in a gap.
            return cfg!(not(target_arch = "wasm32")) && self.handle_other_in_silence(now, segment);
        };
        let next = self.receiver.next();
        let bytes = u64::from(segment.len);
        let (una, outstanding) = (sender.scoreboard().una(), sender.scoreboard().outstanding());
        let advance = u64::from(segment.ack.0.wrapping_sub(self.iss.at(una).0));
        let at = next + u64::from(segment.seq.0.wrapping_sub(self.irs.at(next).0));
        let is_expected = self.state == State::Established
            && sender.has_fast_path()
            && segment.flags.0 & !Flags::PSH.0 == Flags::ACK.0
            && self.has_usual_options(segment)
            && advance <= outstanding
            && if bytes == 0 { at == next && outstanding > 0 } else { at + bytes <= self.receiver.edge() };
        if !is_expected {
            return false;
        }
        if bytes == 0 {
            self.process_ack(now, segment, at, una + advance, false);
            self.note_arrival(now, segment, at);
            return true;
        }
        if outstanding > 0 || !segment.sack.is_unused() || !sender.is_on_fast_path() {
            return false;
        }
        // Only the peer sends data, so the ACK only updates the window.
        let window = u64::from(segment.window) << self.agreed.peer_shift;
        self.sending.update_window(at, una, window);
        self.note_arrival(now, segment, at);
        self.handle_payload(now, segment, Range { start: at, end: at + bytes }, &Arriving::default(), false);
        true
    }

    #[inline(always)]
    fn note_arrival(&mut self, now: Time, segment: &Segment, at: u64) {
        self.last_arrival = now;
        if let Some(stamps) = segment.timestamps
            && at <= self.last_ack
        {
            self.ts_recent = stamps.value;
        }
    }

    /// Whether ECN is not negotiated, and the segment's timestamps are as negotiated and pass PAWS (RFC 7323 §5.3).
    #[inline(always)]
    fn has_usual_options(&self, segment: &Segment) -> bool {
        self.agreed.ecn == Feedback::None
            && match segment.timestamps {
                None => !self.agreed.timestamps,
                Some(stamps) => {
                    self.agreed.timestamps && stamps.value.wrapping_sub(self.ts_recent) as i32 >= 0
                }
            }
    }
}

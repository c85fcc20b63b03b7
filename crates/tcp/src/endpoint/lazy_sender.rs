//! Lazy creation of the sending half.

use super::{Endpoint, State};
use crate::sender::{Sender, recovery};
use lasthop_base::{Stream, Time};

fn sender_stream(seed: u64) -> Stream {
    Stream::named(seed, "sender")
}

impl Endpoint {
    /// Returns the sending half. The first call creates the sending half.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn sender(&self) -> &Sender {
        self.sending.get_or_create(&self.pending_sender, |mss| self.begin_sender(mss))
    }

    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn sender_mut(&mut self) -> &mut Sender {
        self.sender();
        self.sending.created()
    }

    #[cold]
    pub(super) fn note_nothing_to_send(&mut self, now: Time) {
        self.is_silent = true;
        self.pending_sender.note_nothing_to_send(now);
    }

    #[cold]
    fn begin_sender(&self, mss: u32) -> Sender {
        let is_agreed = !matches!(self.state, State::Closed | State::Listen | State::SynSent);
        let falls_back = is_agreed && !self.agreed.sack && recovery::uses_sack(&self.config.recovery);
        let other = falls_back.then(|| recovery::without_sack(&self.config.recovery));
        let recovery = other.as_ref().unwrap_or(&self.config.recovery);
        let mut sender = Sender::recovering_by(recovery, &self.config, mss, sender_stream(self.seed));
        if self.receiver.has_report() {
            sender.reserve_option_space(self.room_for_options());
        }
        sender
    }
}

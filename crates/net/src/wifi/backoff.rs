//! One station's back-off: how many slots it still waits, and from how many it draws.

use lasthop_base::{Duration, Stream, Time, Values};

/// See the file. Slots count from when the medium became free and the station's interframe space was over.
pub(super) struct Backoff {
    slot: Duration,
    space: Duration,
    narrowest: u64,
    widest: u64,
    window: u64,
    slots: u64,
    random: Stream,
}

impl Backoff {
    pub(super) fn new(values: &Values, random: Stream) -> Backoff {
        let narrowest = values.count("cw_min");
        let mut backoff = Backoff {
            slot: values.duration("slot"),
            space: values.duration("difs"),
            narrowest,
            widest: values.count("cw_max").max(narrowest),
            window: narrowest,
            slots: 0,
            random,
        };
        backoff.draw();
        backoff
    }

    /// When it is over if the medium, free since or to be free at `free_at`, stays so.
    pub(super) fn ends_at(&self, free_at: Time) -> Time {
        free_at + self.space + self.slot * self.slots
    }

    /// Something to send has come up at `now`, after a time without.
    pub(super) fn ask(&mut self, now: Time, free_at: Time) {
        // 802.11-2016 §10.3.4.2: who finds the medium taken draws, unless it counts already.
        if self.slots == 0 && now < free_at + self.space {
            self.draw();
        }
    }

    /// Another one has begun at `now`.
    pub(super) fn freeze(&mut self, now: Time, free_at: Time) {
        let passed = now.since(free_at + self.space).as_nanos() / self.slot.as_nanos().max(1);
        self.slots = self.slots.saturating_sub(passed);
    }

    /// It has sent: anew, from twice as many slots if that came to nothing.
    pub(super) fn again(&mut self, is_settled: bool) {
        self.window = if is_settled { self.narrowest } else { (2 * self.window + 1).min(self.widest) };
        self.draw();
    }

    /// 0 to the window, each alike.
    fn draw(&mut self) {
        self.slots = (self.random.uniform() * (self.window + 1) as f64) as u64;
    }
}

//! The back-off of one station.

use lasthop_base::{Duration, Stream, Time, Values};

/// State of the back-off. Slots are counted from the end of the interframe space (DIFS), which begins when the medium
/// becomes free.
pub(super) struct Backoff {
    slot: Duration,
    space: Duration,
    min_window: u64,
    max_window: u64,
    window: u64,
    slots: u64,
    random: Stream,
}

impl Backoff {
    pub(super) fn new(values: &Values, random: Stream) -> Backoff {
        let min_window = values.count("cw_min");
        let mut backoff = Backoff {
            slot: values.duration("slot"),
            space: values.duration("difs"),
            min_window,
            max_window: values.count("cw_max").max(min_window),
            window: min_window,
            slots: 0,
            random,
        };
        backoff.draw();
        backoff
    }

    /// Returns the end of the back-off, if the medium stays free from `free_at` on.
    pub(super) fn ends_at(&self, free_at: Time) -> Time {
        free_at + self.space + self.slot * self.slots
    }

    /// Handles the arrival of data at a station without data.
    pub(super) fn on_new_data(&mut self, now: Time, free_at: Time) {
        // 802.11-2016 §10.3.4.2: a station that finds the medium busy draws a back-off, unless its back-off is already
        // running.
        if self.slots == 0 && now < free_at + self.space {
            self.draw();
        }
    }

    /// Handles the start of another station's transmission, which freezes the back-off.
    pub(super) fn freeze(&mut self, now: Time, free_at: Time) {
        let passed = now.since(free_at + self.space).as_nanos() / self.slot.as_nanos().max(1);
        self.slots = self.slots.saturating_sub(passed);
    }

    /// Draws a new back-off after a transmission. Doubles the window if the transmission failed.
    pub(super) fn on_transmission_end(&mut self, is_settled: bool) {
        self.window = if is_settled { self.min_window } else { (2 * self.window + 1).min(self.max_window) };
        self.draw();
    }

    /// Draws the number of slots, uniform on 0 to the window.
    fn draw(&mut self) {
        self.slots = (self.random.uniform() * (self.window + 1) as f64) as u64;
    }
}

//! Back-off of one station.

use lasthop_base::{Duration, Stream, Time, Values};

/// Slots count from the end of the interframe space after the medium becomes free.
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

    /// End of the back-off if the medium, free at `free_at`, stays free.
    pub(super) fn ends_at(&self, free_at: Time) -> Time {
        free_at + self.space + self.slot * self.slots
    }

    /// Handles new data after an idle time.
    pub(super) fn on_new_data(&mut self, now: Time, free_at: Time) {
        // 802.11-2016 §10.3.4.2: a station that finds the medium busy draws, unless its back-off is running.
        if self.slots == 0 && now < free_at + self.space {
            self.draw();
        }
    }

    /// Handles a transmission of another station.
    pub(super) fn freeze(&mut self, now: Time, free_at: Time) {
        let passed = now.since(free_at + self.space).as_nanos() / self.slot.as_nanos().max(1);
        self.slots = self.slots.saturating_sub(passed);
    }

    /// Draws after a transmission; doubles the window if that failed.
    pub(super) fn on_transmission_end(&mut self, is_settled: bool) {
        self.window = if is_settled { self.min_window } else { (2 * self.window + 1).min(self.max_window) };
        self.draw();
    }

    /// Uniform on 0 to the window.
    fn draw(&mut self) {
        self.slots = (self.random.uniform() * (self.window + 1) as f64) as u64;
    }
}

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

#[cfg(test)]
mod tests {
    use super::super::parameters::MECHANISM;
    use super::*;
    use lasthop_base::Value;

    fn micros(micros: u64) -> Time {
        Time::ZERO + Duration::from_micros(micros)
    }

    /// A back-off with slots of 10 us and a DIFS of 30 us.
    fn backoff(cw_min: u64, cw_max: u64) -> Backoff {
        let time = |micros| Value::Duration(Duration::from_micros(micros));
        let values = MECHANISM.info.defaults().with("slot", time(10)).with("difs", time(30));
        let values = values.with("cw_min", Value::Count(cw_min)).with("cw_max", Value::Count(cw_max));
        Backoff::new(&values, Stream::named(1, "backoff"))
    }

    /// The window grows from 3 to 7, 15, and the maximum, and is reset by a success (802.11-2016 §10.3.3).
    #[test]
    fn the_window_doubles_after_each_failure() {
        let mut one = backoff(3, 20);
        let mut windows = vec![one.window];
        for is_settled in [false, false, false, false, true, false] {
            one.on_transmission_end(is_settled);
            windows.push(one.window);
        }
        assert_eq!(windows, [3, 7, 15, 20, 20, 3, 7]);
        assert_eq!(backoff(31, 7).max_window, 31);
    }

    /// Slots are uniform on 0 to the window, both included.
    #[test]
    fn slots_are_uniform() {
        let mut one = backoff(3, 3);
        let mut counts = [0u32; 4];
        for _ in 0..4000 {
            counts[one.slots as usize] += 1;
            one.on_transmission_end(true);
        }
        // The bound is five standard errors, sqrt(4000 / 4 x 3 / 4) each.
        assert!(counts.iter().all(|count| (f64::from(*count) - 1000.0).abs() < 137.0), "{counts:?}");
    }

    /// Only whole slots after the DIFS count.
    #[test]
    fn a_busy_medium_freezes_the_slots() {
        let mut one = backoff(3, 3);
        one.slots = 5;
        assert_eq!(one.ends_at(micros(100)), micros(100 + 30 + 50));
        one.freeze(micros(120), micros(100));
        assert_eq!(one.slots, 5, "the DIFS has not ended");
        one.freeze(micros(139), micros(100));
        assert_eq!(one.slots, 5);
        one.freeze(micros(155), micros(100));
        assert_eq!(one.slots, 3);
        one.freeze(micros(160), micros(100));
        assert_eq!(one.slots, 0);
    }

    /// 802.11-2016 §10.3.4.2: a station without a back-off transmits at once if the medium was idle for a DIFS, and
    /// draws a back-off otherwise. The window is large, so that a draw of 0 is unlikely.
    #[test]
    fn new_data_on_a_busy_medium_draws_a_back_off() {
        let after = |slots, now| {
            let mut one = backoff(1_000_000, 1_000_000);
            one.slots = slots;
            one.on_new_data(micros(now), micros(100));
            one.slots
        };
        assert!(after(0, 129) > 0);
        assert_eq!((after(0, 130), after(0, 200)), (0, 0));
        assert_eq!(after(1, 129), 1, "the back-off is already running");
    }
}

//! Load stations, which contend for the medium without sending packets of a simulated flow.

use lasthop_base::{Duration, Stream, Time, Values};

pub(super) struct Load {
    /// Time for which one transmission of a load station occupies the medium, ACK included.
    pub(super) access: Duration,
    pub(super) transmissions: u64,
    stations: u64,
    /// Mean time between two frames of all load stations; `None` if the stations are saturated.
    interval: Option<f64>,
    next: Time,
    random: Stream,
}

impl Load {
    pub(super) fn new(values: &Values, random: Stream) -> Load {
        let (load, access) = (values.number("load"), values.duration("access"));
        let stations = if load > 0.0 { values.count("stations") } else { 0 };
        let mut load = Load {
            access,
            transmissions: values.count("transmissions"),
            stations,
            interval: (load < 1.0).then(|| access.as_secs() / load),
            next: Time::NEVER,
            random,
        };
        load.schedule_next(Time::ZERO);
        load
    }

    pub(super) fn stations(&self) -> u64 {
        self.stations
    }

    /// Returns the number of frames that each load station has at the start of the run. Saturated stations never run
    /// out of frames.
    pub(super) fn pending(&self) -> u64 {
        if self.interval.is_some() { 0 } else { u64::MAX }
    }

    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Draws the load station at which a frame arrives now, and schedules the next arrival.
    pub(super) fn next_station(&mut self, now: Time) -> usize {
        self.schedule_next(now);
        (self.random.uniform() * self.stations as f64) as usize
    }

    fn schedule_next(&mut self, now: Time) {
        if let (Some(interval), 1..) = (self.interval, self.stations) {
            self.next = now + Duration::from_secs_f64(self.random.exponential(interval));
        }
    }
}

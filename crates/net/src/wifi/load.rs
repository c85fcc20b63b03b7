//! Stations that are load only: they contend for the medium, but have no packets.

use lasthop_base::{Duration, Stream, Time, Values};

pub(super) struct Load {
    /// Time of an access, ACK included.
    pub(super) access: Duration,
    pub(super) transmissions: u64,
    stations: u64,
    /// Mean time between two frames of all stations; `None`: saturated.
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

    /// Frames of a station at the beginning.
    pub(super) fn pending(&self) -> u64 {
        if self.interval.is_some() { 0 } else { u64::MAX }
    }

    pub(super) fn next(&self) -> Time {
        self.next
    }

    /// Draws the station of the frame that arrives now.
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

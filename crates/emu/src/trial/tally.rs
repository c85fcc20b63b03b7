//! Results of each stream.

use super::Stream;
use crate::kernel::Sighting;
use lasthop_base::{Duration, Time};
use lasthop_os::error::SystemError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Result of a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// Bytes delivered in order to the receiver's application.
    pub received: u64,
    /// Time from the stream's start to its end or the trial's.
    pub active: Duration,
    /// Whether all bytes arrived.
    pub is_complete: bool,
    /// Segments retransmitted by the sender.
    pub retransmissions: u64,
    /// Expiries of the sender's retransmission timer; `None` before Linux 6.7.
    pub timeouts: Option<u64>,
    /// Sender's smoothed RTT by time, ms, from the first RTT sample on.
    pub srtts_ms: Vec<(Time, f64)>,
}

pub(super) struct Tally {
    streams: Vec<Marks>,
    is_frozen: AtomicBool,
    /// Longest delay of a wake-up of our endpoints, ns.
    overslept: AtomicU64,
    error: Mutex<Option<SystemError>>,
}

#[derive(Default)]
struct Marks {
    received: AtomicU64,
    /// Time at which the receiver saw the end, ns; 0: not yet.
    completed: AtomicU64,
    sender: Mutex<Sender>,
}

#[derive(Clone, Default)]
struct Sender {
    retransmissions: u64,
    timeouts: Option<u64>,
    srtts_ms: Vec<(Time, f64)>,
}

impl Tally {
    pub(super) fn new(streams: usize) -> Tally {
        Tally {
            streams: (0..streams).map(|_| Marks::default()).collect(),
            is_frozen: AtomicBool::new(false),
            overslept: AtomicU64::new(0),
            error: Mutex::new(None),
        }
    }

    pub(super) fn receive(&self, stream: usize, bytes: u64) {
        if !self.is_frozen.load(Ordering::Relaxed) {
            self.streams[stream].received.store(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn complete(&self, stream: usize, now: Time) {
        if !self.is_frozen.load(Ordering::Relaxed) {
            self.streams[stream].completed.store(now.as_nanos().max(1), Ordering::Relaxed);
        }
    }

    pub(super) fn sight(
        &self,
        stream: usize,
        now: Time,
        retransmissions: u64,
        timeouts: Option<u64>,
        srtt: Duration,
    ) {
        let mut sender = self.streams[stream].sender.lock().unwrap_or_else(PoisonError::into_inner);
        sender.retransmissions = retransmissions;
        sender.timeouts = timeouts;
        // Zero: no RTT sample yet.
        if srtt > Duration::ZERO {
            sender.srtts_ms.push((now, srtt.as_millis()));
        }
    }

    pub(super) fn take(&self, sightings: &[Sighting]) {
        for Sighting { time, connection, .. } in sightings {
            if let Some(stream) = stream_of(connection.remote.port()).filter(|it| *it < self.streams.len()) {
                let timeouts = connection.timeouts.map(u64::from);
                self.sight(stream, *time, connection.retransmissions.into(), timeouts, connection.srtt);
            }
        }
    }

    pub(super) fn wake(&self, late: Duration) {
        self.overslept.fetch_max(late.as_nanos(), Ordering::Relaxed);
    }

    /// Complaint if our endpoints woke up too late to be fair senders.
    pub(super) fn complaint(&self) -> Option<String> {
        let late = Duration::from_nanos(self.overslept.load(Ordering::Relaxed));
        (late > LATEST).then(|| format!("an endpoint of our TCP woke up {:.0} ms late", late.as_millis()))
    }

    pub(super) fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    /// Returns whether all streams are complete or one has failed.
    pub(super) fn is_done(&self) -> bool {
        let is_done = |marks: &Marks| marks.completed.load(Ordering::Relaxed) > 0;
        self.streams.iter().all(is_done) || self.guarded().is_some()
    }

    pub(super) fn heed(&self, done: Result<(), SystemError>) {
        if let Err(error) = done {
            self.guarded().get_or_insert(error);
        }
    }

    pub(super) fn error(&self) -> Result<(), SystemError> {
        self.guarded().take().map_or(Ok(()), Err)
    }

    fn guarded(&self) -> std::sync::MutexGuard<'_, Option<SystemError>> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn progress(&self, streams: &[Stream], end: Time) -> Vec<Progress> {
        let one = |(marks, stream): (&Marks, &Stream)| {
            let completed = marks.completed.load(Ordering::Relaxed);
            let until = if completed > 0 { Time::from_nanos(completed) } else { end };
            let mut sender = marks.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
            sender.srtts_ms.retain(|(time, _)| *time <= until);
            Progress {
                received: marks.received.load(Ordering::Relaxed),
                active: until.since(stream.start),
                is_complete: completed > 0,
                retransmissions: sender.retransmissions,
                timeouts: sender.timeouts,
                srtts_ms: sender.srtts_ms,
            }
        };
        self.streams.iter().zip(streams).map(one).collect()
    }
}

/// Bound of late wake-ups: a later endpoint answers in bursts that its scenario does not have.
const LATEST: Duration = Duration::from_millis(20);

const FIRST_PORT: u16 = 5001;

pub(super) fn port_of(stream: usize) -> u16 {
    FIRST_PORT + stream as u16
}

fn stream_of(port: u16) -> Option<usize> {
    port.checked_sub(FIRST_PORT).map(usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(start_secs: u64) -> Stream {
        Stream {
            sender: crate::emulation::End::Server,
            start: Time::ZERO + Duration::from_secs(start_secs),
            bytes: None,
        }
    }

    #[test]
    fn only_what_came_before_the_end_counts() {
        let tally = Tally::new(2);
        tally.receive(0, 1000);
        tally.receive(1, 500);
        tally.complete(1, Time::ZERO + Duration::from_secs(3));
        assert!(!tally.is_done());
        tally.freeze();
        tally.receive(0, 9000);
        let progress = tally.progress(&[stream(2), stream(1)], Time::ZERO + Duration::from_secs(10));
        assert_eq!((progress[0].received, progress[0].active.as_secs()), (1000, 8.0));
        assert!(!progress[0].is_complete);
        assert_eq!((progress[1].active.as_secs(), progress[1].is_complete), (2.0, true));
    }

    #[test]
    fn sightings_that_had_no_round_trip_leave_none() {
        let tally = Tally::new(1);
        for (count, millis) in [(0, 0), (1, 20), (4, 40)] {
            tally.sight(0, Time::ZERO, count, Some(count / 2), Duration::from_millis(millis));
        }
        let progress = tally.progress(&[stream(0)], Time::ZERO + Duration::from_secs(1));
        assert_eq!((progress[0].retransmissions, progress[0].timeouts), (4, Some(2)));
        assert_eq!(progress[0].srtts_ms, [(Time::ZERO, 20.0), (Time::ZERO, 40.0)]);
    }
}

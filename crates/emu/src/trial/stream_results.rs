//! Results of each stream.

use super::TrialStream;
use crate::kernel::ConnectionSample;
use lasthop_base::{Duration, Time};
use lasthop_os::error::SystemError;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Result of a stream.
#[derive(Clone, PartialEq, Debug)]
pub struct StreamResult {
    /// Bytes delivered in order to the receiver's application.
    pub received: u64,
    /// Time from the start of the stream to its end or the end of the trial.
    pub active: Duration,
    /// Whether all bytes arrived.
    pub is_complete: bool,
    /// Segments retransmitted by the sender.
    pub retransmissions: u64,
    /// Expiries of the sender's retransmission timer; `None` before Linux 6.7.
    pub timeouts: Option<u64>,
    /// Samples of the sender's smoothed RTT in ms, each with its time. The samples start at the sender's first RTT
    /// measurement.
    pub srtts_ms: Vec<(Time, f64)>,
}

pub(super) struct StreamResults {
    streams: Vec<StreamCounters>,
    is_frozen: AtomicBool,
    /// Longest wake-up delay in ns of an endpoint of Lasthop's TCP.
    longest_delay: AtomicU64,
    error: Mutex<Option<SystemError>>,
}

#[derive(Default)]
struct StreamCounters {
    received: AtomicU64,
    /// Time in ns at which the receiver received the end of the stream; 0 before that time.
    completed: AtomicU64,
    sender: Mutex<SenderCounters>,
}

#[derive(Clone, Default)]
struct SenderCounters {
    retransmissions: u64,
    timeouts: Option<u64>,
    srtts_ms: Vec<(Time, f64)>,
}

impl StreamResults {
    pub(super) fn new(streams: usize) -> StreamResults {
        StreamResults {
            streams: (0..streams).map(|_| StreamCounters::default()).collect(),
            is_frozen: AtomicBool::new(false),
            longest_delay: AtomicU64::new(0),
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

    pub(super) fn record_sample(
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
        // A value of zero means that the connection has no RTT sample yet.
        if srtt > Duration::ZERO {
            sender.srtts_ms.push((now, srtt.as_millis()));
        }
    }

    pub(super) fn record_samples(&self, samples: &[ConnectionSample]) {
        for ConnectionSample { time, connection, .. } in samples {
            if let Some(stream) = stream_of(connection.remote.port()).filter(|it| *it < self.streams.len()) {
                let timeouts = connection.timeouts.map(u64::from);
                self.record_sample(
                    stream,
                    *time,
                    connection.retransmissions.into(),
                    timeouts,
                    connection.srtt,
                );
            }
        }
    }

    pub(super) fn record_wakeup(&self, late: Duration) {
        self.longest_delay.fetch_max(late.as_nanos(), Ordering::Relaxed);
    }

    /// Returns a complaint if an endpoint of Lasthop's TCP woke up too late for a fair comparison.
    pub(super) fn complaint(&self) -> Option<String> {
        let late = Duration::from_nanos(self.longest_delay.load(Ordering::Relaxed));
        (late > MAX_DELAY)
            .then(|| format!("an endpoint of Lasthop's TCP woke up {:.0} ms late", late.as_millis()))
    }

    pub(super) fn freeze(&self) {
        self.is_frozen.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_done(&self) -> bool {
        let is_done = |counters: &StreamCounters| counters.completed.load(Ordering::Relaxed) > 0;
        self.streams.iter().all(is_done) || self.guarded().is_some()
    }

    pub(super) fn record_error(&self, done: Result<(), SystemError>) {
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

    pub(super) fn per_stream(&self, streams: &[TrialStream], end: Time) -> Vec<StreamResult> {
        let one = |(counters, stream): (&StreamCounters, &TrialStream)| {
            let completed = counters.completed.load(Ordering::Relaxed);
            let until = if completed > 0 { Time::from_nanos(completed) } else { end };
            let mut sender = counters.sender.lock().unwrap_or_else(PoisonError::into_inner).clone();
            sender.srtts_ms.retain(|(time, _)| *time <= until);
            StreamResult {
                received: counters.received.load(Ordering::Relaxed),
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

/// Largest allowed wake-up delay. With a longer delay, an endpoint sends bursts that a simulated endpoint does not
/// send.
const MAX_DELAY: Duration = Duration::from_millis(20);

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

    fn stream(start_secs: u64) -> TrialStream {
        TrialStream {
            sender: crate::emulation::End::Server,
            start: Time::ZERO + Duration::from_secs(start_secs),
            bytes: None,
        }
    }

    #[test]
    fn only_what_came_before_the_end_counts() {
        let results = StreamResults::new(2);
        results.receive(0, 1000);
        results.receive(1, 500);
        results.complete(1, Time::ZERO + Duration::from_secs(3));
        assert!(!results.is_done());
        results.freeze();
        results.receive(0, 9000);
        let per_stream = results.per_stream(&[stream(2), stream(1)], Time::ZERO + Duration::from_secs(10));
        assert_eq!((per_stream[0].received, per_stream[0].active.as_secs()), (1000, 8.0));
        assert!(!per_stream[0].is_complete);
        assert_eq!((per_stream[1].active.as_secs(), per_stream[1].is_complete), (2.0, true));
    }

    #[test]
    fn samples_that_had_no_round_trip_leave_none() {
        let results = StreamResults::new(1);
        for (count, millis) in [(0, 0), (1, 20), (4, 40)] {
            results.record_sample(0, Time::ZERO, count, Some(count / 2), Duration::from_millis(millis));
        }
        let per_stream = results.per_stream(&[stream(0)], Time::ZERO + Duration::from_secs(1));
        assert_eq!((per_stream[0].retransmissions, per_stream[0].timeouts), (4, Some(2)));
        assert_eq!(per_stream[0].srtts_ms, [(Time::ZERO, 20.0), (Time::ZERO, 40.0)]);
    }
}

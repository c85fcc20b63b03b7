//! One side of a phase: its packets, its recording and its reports. This module has no clock and no socket. The drivers
//! ([`crate::client`], [`crate::server`]) and the simulated link of the tests poll packets and reports, and transmit
//! them.

use crate::message::{DataHeader, Message, RecordingPhase, Report};
use crate::phase_result::{PhaseResult, SenderResult};
use crate::receiver_log::ReceiverLog;
use crate::servo::Servo;
use lasthop_base::{Duration, Time};

/// Number of new packets after which a report is sent.
const REPORT_AFTER: u64 = 16;
const MAX_REPORT_DELAY: Duration = Duration::from_millis(5);
/// Maximum number of packets sent in one call, before received datagrams are processed.
const BURST: u32 = 32;
/// Maximum normal gap between two calls of `send` while the window is closed. The excess of a longer gap counts as lack
/// of processor time.
const MAX_GAP: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Saturation {
    session: u64,
    number: u8,
    zero: Time,
    sends_until: Time,
    servo: Option<Servo>,
    log: Option<ReceiverLog>,
    report: Report,
    /// Number of packets that arrived since the last report.
    unreported: u64,
    /// Arrival time of the first packet that arrived since the last report.
    since: Time,
    last_send: Time,
    /// Whether the window was still open after the last call of `send`.
    was_open: bool,
    behind: Duration,
}

impl Saturation {
    pub(crate) fn new(
        session: u64,
        phase: &RecordingPhase,
        zero: Time,
        sends: bool,
        records: bool,
    ) -> Saturation {
        let [warm, span] = [phase.warm_ms, phase.span_ms].map(|ms| Duration::from_millis(ms.into()));
        Saturation {
            session,
            number: phase.number,
            zero,
            // Sending continues for a fifth of the warm-up after the recording, because the opposite side may start one
            // round trip later. The warm-up lasts ten round trips, but at least 2 s and at most 60 s.
            sends_until: zero + warm + span + warm.divided_by(5),
            servo: sends.then(Servo::new),
            log: records.then(|| ReceiverLog::new(zero, phase)),
            report: Report { highest: 0, received: 0, waited_us: 0 },
            unreported: 0,
            since: zero,
            last_send: zero,
            was_open: false,
            behind: Duration::ZERO,
        }
    }

    pub(crate) fn is_over(&self, now: Time) -> bool {
        now >= self.sends_until
    }

    /// Handles a received message. `bytes` is the size of the message on the path.
    pub(crate) fn handle_message(&mut self, message: &Message, at: Time, bytes: usize) {
        match message {
            Message::Data { number, data, .. } if *number == self.number => {
                let Some(log) = &mut self.log else { return };
                let waited = log.record_data(at, *data, bytes);
                if self.unreported == 0 {
                    self.since = at;
                }
                self.unreported += 1;
                self.report.received += 1;
                self.report.highest = self.report.highest.max(data.packet);
                self.report.waited_us = u32::try_from(waited.as_nanos() / 1000).unwrap_or(u32::MAX);
            }
            other => {
                if let Some(log) = &mut self.log {
                    log.count_bytes(at, bytes);
                }
                if let (Message::Report { number, report, .. }, Some(servo)) = (other, &mut self.servo)
                    && *number == self.number
                {
                    servo.handle_report(report);
                }
            }
        }
    }

    pub(crate) fn poll_report(&mut self, now: Time) -> Option<Message> {
        let is_due =
            self.unreported >= REPORT_AFTER || (self.unreported > 0 && now >= self.since + MAX_REPORT_DELAY);
        is_due.then(|| {
            self.unreported = 0;
            Message::Report { session: self.session, number: self.number, report: self.report }
        })
    }

    /// Sends packets until the window is full. `out` returns false if the send buffer is full, and `send` then returns
    /// true.
    pub(crate) fn send(&mut self, clock: impl Fn() -> Time, mut out: impl FnMut(Message) -> bool) -> bool {
        let now = clock();
        let Some(servo) = self.servo.as_mut().filter(|_| now < self.sends_until) else { return false };
        let since = now.since(self.last_send);
        self.behind += if self.was_open { since } else { since.saturating_sub(MAX_GAP) };
        self.last_send = now;
        let mut left = BURST;
        let mut is_full = false;
        while left > 0 && !is_full && (servo.is_open() || now >= servo.next_probe()) {
            let now = clock();
            let packet = servo.count();
            let data = DataHeader { packet, sent: now.as_nanos() };
            is_full = !out(Message::Data { session: self.session, number: self.number, data });
            if !is_full {
                servo.send(now);
            }
            left -= 1;
        }
        self.was_open = servo.is_open() && !is_full;
        is_full
    }

    /// Returns the time of the next action if no datagram arrives.
    pub(crate) fn next_action(&self, now: Time) -> Time {
        let report = (self.unreported > 0).then(|| self.since + MAX_REPORT_DELAY);
        let sends = self.servo.as_ref().filter(|_| now < self.sends_until);
        let send = sends.map(|servo| if servo.is_open() { now } else { servo.next_probe() });
        [report, send, Some(self.sends_until)].into_iter().flatten().min().unwrap_or(now)
    }

    /// Returns the result. `dropped` is the number of datagrams dropped by the socket buffer.
    pub(crate) fn finish(self, dropped: u32) -> PhaseResult {
        let span = self.last_send.since(self.zero);
        let sent = self.servo.map(|servo| SenderResult { packets: servo.count(), behind: self.behind, span });
        PhaseResult { sent, recorded: self.log.map(|log| log.finish(dropped)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::receiver_log::ReceiverResult;
    use std::collections::VecDeque;

    /// A link with a varying rate, a queue in packets, and a delay in both directions.
    struct Link {
        /// Pairs of a start time in s and the rate in bit/s from that time on.
        rates: &'static [(u64, u64)],
        queue: usize,
        delay: Duration,
        /// Interval at which the sender runs.
        every: Duration,
    }

    const BYTES: u64 = 1428;
    const SPAN_S: u64 = 20;
    const STEP: Duration = Duration::from_micros(100);

    impl Link {
        fn rate(&self, now: Time) -> u64 {
            let begun = |(from, _): &&(u64, u64)| Time::ZERO + Duration::from_secs(*from) <= now;
            self.rates.iter().rfind(begun).unwrap().1
        }

        fn recorded(&self) -> ReceiverResult {
            self.run().0
        }

        fn run(&self) -> (ReceiverResult, SenderResult) {
            let phase = RecordingPhase {
                number: 0,
                directions: [true, false],
                warm_ms: 2000,
                span_ms: SPAN_S as u32 * 1000,
                jitter_us: 0,
            };
            let mut sender = Saturation::new(1, &phase, Time::ZERO, true, false);
            let mut receiver = Saturation::new(1, &phase, Time::ZERO, false, true);
            let (mut queue, mut air) = (VecDeque::new(), VecDeque::new());
            let mut back: VecDeque<(Time, Message)> = VecDeque::new();
            // Number of bits of the first queued packet that are already transmitted.
            let mut bits = 0;
            let mut now = Time::ZERO;
            while now < Time::ZERO + Duration::from_secs(SPAN_S + 6) {
                now += STEP;
                bits = if queue.is_empty() { 0 } else { bits + self.rate(now) / 10_000 };
                while bits >= BYTES * 8 && !queue.is_empty() {
                    bits -= BYTES * 8;
                    air.push_back((now + self.delay, queue.pop_front().unwrap()));
                }
                while air.front().is_some_and(|(at, _)| *at <= now) {
                    let (at, message) = air.pop_front().unwrap();
                    receiver.handle_message(&message, at, BYTES as usize);
                }
                back.extend(receiver.poll_report(now).map(|report| (now + self.delay, report)));
                while back.front().is_some_and(|(at, _)| *at <= now) {
                    sender.handle_message(&back.pop_front().unwrap().1, now, 100);
                }
                if !now.as_nanos().is_multiple_of(self.every.as_nanos()) {
                    continue;
                }
                sender.send(
                    || now,
                    |message| {
                        if queue.len() < self.queue {
                            queue.push_back(message);
                        }
                        true
                    },
                );
            }
            (receiver.finish(0).recorded.unwrap(), sender.finish(0).sent.unwrap())
        }
    }

    fn seconds(recorded: &ReceiverResult) -> Vec<u64> {
        recorded.bytes.chunks(1000).map(|second| second.iter().map(|it| u64::from(*it) * 8).sum()).collect()
    }

    fn is_near(rate: u64, given: u64) -> bool {
        rate.abs_diff(given) * 100 <= given
    }

    #[test]
    fn a_constant_rate_is_recorded_whatever_the_queue() {
        for (rate, queue) in [(8_000_000, 20), (8_000_000, 100), (2_000_000, usize::MAX), (40_000_000, 400)] {
            let rates: &'static [(u64, u64)] = Box::leak(Box::new([(0, rate)]));
            let recorded = Link { rates, queue, delay: Duration::from_millis(20), every: STEP }.recorded();
            for second in seconds(&recorded) {
                assert!(is_near(second, rate), "{second} of {rate}, queue of {queue}");
            }
            // A queue of 20 packets (28 ms at 8 Mbit/s) may run empty for short times.
            assert!(recorded.empty < Duration::from_millis(100), "{rate}, {queue}: {}", recorded.empty);
            println!("{rate}, {queue}: {} lost, {} empty", recorded.lost, recorded.empty);
            let share = recorded.lost as f64 / (recorded.lost + recorded.packets) as f64;
            assert!(share < 0.3, "{share} lost, queue of {queue}");
            if queue == usize::MAX {
                assert!((700..3000).contains(&recorded.wait_ms), "{}", recorded.wait_ms);
            }
        }
    }

    #[test]
    fn a_rate_that_changes_is_followed() {
        // The recording begins 2 s after the start.
        let rates = &[(0, 8_000_000), (7, 2_000_000), (12, 16_000_000), (17, 400_000)];
        for queue in [100, usize::MAX] {
            let recorded = Link { rates, queue, delay: Duration::from_millis(20), every: STEP }.recorded();
            let seconds = seconds(&recorded);
            for (second, given) in
                [(3, 8_000_000), (6, 2_000_000), (11, 16_000_000), (14, 16_000_000), (17, 400_000)]
            {
                let is_near = seconds[second].abs_diff(given) * 10 <= given;
                assert!(is_near, "{second} s: {} of {given}, queue of {queue}", seconds[second]);
            }
            assert!(recorded.empty < Duration::from_millis(400), "queue of {queue}: {}", recorded.empty);
        }
    }

    /// The sender runs ten times a second and sends at most 32 packets each time: 320 packets or 3.7 Mbit a second.
    #[test]
    fn a_sender_that_is_too_slow_is_found_out() {
        let every = Duration::from_millis(100);
        let delay = Duration::from_millis(20);
        let (recorded, sent) = Link { rates: &[(0, 8_000_000)], queue: 100, delay, every }.run();
        let direction = crate::DirectionResult { recorded, sent, drift: Duration::ZERO };
        assert!(direction.mean_bps() < 4e6, "{}", direction.mean_bps());
        // The link transmits 32 packets in 46 ms. The queue is empty for the remaining 54 ms of each 100 ms.
        assert!((0.5..0.6).contains(&direction.empty_share()), "{}", direction.empty_share());
        let complaints = direction.complaints().join("; ");
        assert!(complaints.contains("processor was the limit"), "{complaints}");
    }
}

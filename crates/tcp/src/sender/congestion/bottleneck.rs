//! Test path for congestion controls: one bottleneck with a constant or changing rate, an unlimited queue and one ACK
//! per segment.

use super::rounds::{MSS, Rounds};
use super::{AckEvent, Build, CongestionControl, LossEvent, LostSegment, RateSample, SentEvent};
use crate::ranges::Range;
use crate::sender::ack_counting::{self, AckCounting};
use lasthop_base::{Choice, Duration, Mechanism, Time};
use std::collections::VecDeque;

/// Bottleneck and duration of a test.
pub(super) struct Bottleneck {
    /// Rate in segments per second as a function of the time in seconds.
    pub(super) rate: fn(f64) -> f64,
    /// Base RTT, seconds.
    pub(super) base_rtt: f64,
    /// Duration, seconds.
    pub(super) seconds: f64,
    /// Start of the measurement, seconds.
    pub(super) from: f64,
    /// Time at which one segment is lost, seconds.
    pub(super) loss_at: f64,
}

/// Results of a test.
pub(super) struct Measured {
    /// Delivered share of the capacity.
    pub(super) share: f64,
    /// Queueing delay of each segment, seconds, in ascending order.
    pub(super) queueing: Vec<f64>,
    /// cwnd in segments after each ACK, with the time in seconds.
    pub(super) windows: Vec<(f64, f64)>,
}

impl Measured {
    pub(super) fn mean_queueing(&self) -> f64 {
        self.queueing.iter().sum::<f64>() / self.queueing.len().max(1) as f64
    }

    /// Returns the share of segments with a queueing delay of at most `bound` seconds.
    pub(super) fn share_within(&self, bound: f64) -> f64 {
        self.queueing.partition_point(|delay| *delay <= bound) as f64 / self.queueing.len().max(1) as f64
    }
}

/// A segment on the path.
struct Segment {
    ack_at: f64,
    rtt: f64,
    in_flight: u64,
    is_lost: bool,
}

impl Bottleneck {
    /// Returns a test of 30 s at a constant rate, measured over the last 20 s.
    pub(super) fn steady(rate: fn(f64) -> f64, base_rtt: f64) -> Bottleneck {
        Bottleneck { rate, base_rtt, seconds: 30.0, from: 10.0, loss_at: f64::INFINITY }
    }

    /// Runs `mechanism` with its default values over the bottleneck.
    pub(super) fn run(&self, mechanism: &Mechanism<Build>) -> Measured {
        self.run_control((mechanism.build)(&mechanism.info.defaults(), Rounds::start(10, 1 << 20)))
    }

    pub(super) fn run_control(&self, mut control: Box<dyn CongestionControl>) -> Measured {
        let counting = Choice::of(&ack_counting::DEFAULT);
        let mut counting = (counting.build)(&counting.values);
        let at = |seconds: f64| Time::ZERO + Duration::from_secs_f64(seconds);
        control.on_open(Some(Duration::from_secs_f64(self.base_rtt)));
        let mut path: VecDeque<Segment> = VecDeque::new();
        let (mut now, mut departure, mut free) = (0.0_f64, 0.0_f64, 0.0_f64);
        let (mut una, mut nxt, mut loss_is_due) = (1, 1, self.loss_at.is_finite());
        let mut measured = Measured { share: 0.0, queueing: Vec::new(), windows: Vec::new() };
        while now < self.seconds {
            let in_flight = nxt - una;
            let next_ack = path.front().map_or(f64::INFINITY, |segment| segment.ack_at);
            if in_flight + MSS <= control.window() && departure.max(now) <= next_ack {
                now = departure.max(now);
                nxt += MSS;
                let in_flight = nxt - una;
                control.on_sent(&SentEvent {
                    now: at(now),
                    una,
                    nxt,
                    start: nxt - MSS,
                    bytes: MSS,
                    in_flight,
                    limited: false,
                });
                free = free.max(now);
                free += 1.0 / (self.rate)(free);
                let is_lost = loss_is_due && now >= self.loss_at;
                loss_is_due &= !is_lost;
                let rtt = free - now + self.base_rtt;
                path.push_back(Segment { ack_at: now + rtt, rtt, in_flight, is_lost });
                let pace = control.pacing_rate().map_or(0.0, |rate| MSS as f64 * 8.0 / rate.bps() as f64);
                departure = now + pace;
                continue;
            }
            let Some(segment) = path.pop_front() else { panic!("neither data nor ACKs at {now} s") };
            now = segment.ack_at;
            self.acknowledge(&mut *control, &mut *counting, (at(now), una, nxt), &segment);
            una += MSS;
            if now >= self.from && !segment.is_lost {
                measured.queueing.push(segment.rtt - self.base_rtt);
                measured.windows.push((now, control.window() as f64 / MSS as f64));
            }
        }
        measured.share = measured.queueing.len() as f64 / self.capacity();
        measured.queueing.sort_by(f64::total_cmp);
        measured
    }

    /// Returns the number of segments that the bottleneck can deliver during the measurement.
    fn capacity(&self) -> f64 {
        let (mut time, mut count) = (self.from, 0.0);
        while time < self.seconds {
            (time, count) = (time + 1.0 / (self.rate)(time), count + 1.0);
        }
        count
    }

    fn acknowledge(
        &self,
        control: &mut dyn CongestionControl,
        counting: &mut dyn AckCounting,
        (now, una, nxt): (Time, u64, u64),
        segment: &Segment,
    ) {
        let range = Range { start: una, end: una + MSS };
        if segment.is_lost {
            let in_flight = segment.in_flight;
            control.on_lost(
                now,
                &LostSegment { range, in_flight, lost: MSS, delivered: una, app_limited: false },
            );
            let (flight, window) = (nxt - una, control.window());
            control.on_loss(&LossEvent { now, una, nxt, flight, window, ..LossEvent::default() });
            return;
        }
        let rtt = Some(Duration::from_secs_f64(segment.rtt));
        let rate = RateSample {
            delivered: MSS,
            interval: Duration::from_secs_f64(segment.rtt),
            reliable: true,
            prior: 0,
            total: una,
            app_limited: false,
            in_flight: segment.in_flight,
            lost: 0,
            rtt,
        };
        let ack = AckEvent {
            now,
            una: una + MSS,
            nxt,
            acked: MSS,
            delivered: MSS,
            segments: 1,
            rtt,
            srtt: rtt,
            in_flight: nxt - una - MSS,
            rate: Some(&rate),
            ..AckEvent::default()
        };
        control.on_ack(&ack, counting);
    }
}

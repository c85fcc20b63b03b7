//! Test path for congestion controls: rounds with one RTT each, and one ACK per segment.

use super::{AckEvent, Build, CongestionControl, LossEvent, Start};
use crate::sender::ack_counting::{self, AckCounting};
use lasthop_base::{Choice, Duration, Mechanism, Stream, Time};

pub(super) const MSS: u64 = 1000;

pub(super) struct Rounds {
    pub(super) control: Box<dyn CongestionControl>,
    ack_counting: Box<dyn AckCounting>,
    pub(super) now: Time,
    una: u64,
    nxt: u64,
}

impl Rounds {
    /// Returns a connection with a cwnd of `window` segments, in congestion avoidance.
    pub(super) fn of(mechanism: &Mechanism<Build>, window: u64) -> Rounds {
        Rounds::with_ssthresh(mechanism, window, 2)
    }

    pub(super) fn with_ssthresh(mechanism: &Mechanism<Build>, window: u64, ssthresh: u64) -> Rounds {
        Rounds::new((mechanism.build)(&mechanism.info.defaults(), Rounds::start(window, ssthresh)))
    }

    pub(super) fn start(window: u64, ssthresh: u64) -> Start {
        let random = Stream::named(1, "sender");
        Start { window: window * MSS, ssthresh: ssthresh * MSS, mss: MSS, selective: true, random }
    }

    pub(super) fn new(control: Box<dyn CongestionControl>) -> Rounds {
        let counting = Choice::of(&ack_counting::DEFAULT);
        let ack_counting = (counting.build)(&counting.values);
        let nxt = 1 + control.window();
        Rounds { control, ack_counting, now: Time::ZERO, una: 1, nxt }
    }

    pub(super) fn segments(&self) -> f64 {
        self.control.window() as f64 / MSS as f64
    }

    /// Simulates a round of `rtt_ms`: acknowledges all data in flight at its start. Returns cwnd in segments.
    pub(super) fn round(&mut self, rtt_ms: f64) -> f64 {
        self.marked_round(rtt_ms, 0.0)
    }

    /// Simulates a round like [`Rounds::round`]. The share `marked` of the segments carries congestion marks.
    pub(super) fn marked_round(&mut self, rtt_ms: f64, marked: f64) -> f64 {
        let rtt = Duration::from_secs_f64(rtt_ms / 1e3);
        let count = ((self.nxt - self.una) / MSS).max(1);
        let (begin, mut credit) = (self.now, 0.0);
        for number in 1..=count {
            self.una += MSS;
            self.now = begin + Duration::from_secs_f64(rtt_ms / 1e3 * number as f64 / count as f64);
            credit += marked;
            let is_marked = credit >= 1.0 - 1e-9;
            credit -= if is_marked { 1.0 } else { 0.0 };
            let ack = AckEvent {
                now: self.now,
                una: self.una,
                nxt: self.nxt,
                acked: MSS,
                segments: 1,
                delivered: MSS,
                marked: if is_marked { MSS } else { 0 },
                rtt: Some(rtt),
                srtt: Some(rtt),
                in_flight: self.nxt.saturating_sub(self.una),
                ..AckEvent::default()
            };
            self.control.on_ack(&ack, &mut *self.ack_counting);
            self.nxt = self.nxt.max(self.una + self.control.window());
        }
        self.segments()
    }

    /// Reports a loss while cwnd is fully used. Returns cwnd in segments.
    pub(super) fn lose(&mut self) -> f64 {
        let flight = self.control.window();
        let loss = LossEvent {
            now: self.now,
            una: self.una,
            nxt: self.nxt,
            flight,
            window: flight,
            ..LossEvent::default()
        };
        self.control.on_loss(&loss);
        self.nxt = self.una + self.control.window();
        self.segments()
    }
}

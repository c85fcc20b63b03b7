//! Test path for a congestion control: a constant round-trip time, without queue and losses.

#![allow(dead_code, reason = "each test file is a separate program and uses a part")]

use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_tcp::sender::ack_counting::{self, AckCounting};
use lasthop_tcp::sender::congestion::{
    self, AckEvent, CongestionControl, LossEvent, LossPhase, Recovered, Start,
};

/// Payload of a full segment, bytes.
pub const MSS: u64 = 1000;

/// Returns CUBIC with the parameters `values`. `window` and `ssthresh` are in segments.
pub fn cubic(values: &[(&'static str, Value)], window: u64, ssthresh: u64) -> Box<dyn CongestionControl> {
    let mut choice = Choice::named(congestion::ALL, "cubic");
    values.iter().for_each(|(name, value)| choice.values.set(name, value.clone()));
    let start = Start {
        window: window * MSS,
        ssthresh: ssthresh * MSS,
        mss: MSS,
        selective: true,
        random: Stream::named(1, "sender"),
    };
    (choice.build)(&choice.values, start)
}

/// A path with a constant RTT. The segments of a cwnd are spread evenly over the RTT, and each segment is acknowledged.
pub struct Path {
    pub control: Box<dyn CongestionControl>,
    pub ack_counting: Box<dyn AckCounting>,
    pub now: Time,
    pub rtt: Duration,
    /// Upper bound of the bytes in flight, set by the application.
    pub wanted: u64,
}

impl Path {
    pub fn new(control: Box<dyn CongestionControl>, rtt_ms: u64) -> Path {
        let ack_counting = Choice::named(ack_counting::ALL, "rfc5681");
        Path {
            control,
            ack_counting: (ack_counting.build)(&ack_counting.values),
            now: Time::ZERO + Duration::from_secs(100),
            rtt: Duration::from_millis(rtt_ms),
            wanted: u64::MAX,
        }
    }

    /// cwnd in segments, with fractions.
    pub fn window(&self) -> f64 {
        self.control.window() as f64 / MSS as f64
    }

    pub fn event(&self) -> AckEvent<'static> {
        let in_flight = self.control.window().min(self.wanted).saturating_sub(MSS);
        AckEvent {
            now: self.now,
            phase: LossPhase::Open,
            acked: MSS,
            segments: 1,
            delivered: MSS,
            rtt: Some(self.rtt),
            srtt: Some(self.rtt),
            in_flight,
            ..AckEvent::default()
        }
    }

    /// Advances the time by one segment's share of the round trip, and handles the next ACK.
    pub fn acknowledge(&mut self) {
        let in_flight = self.control.window().min(self.wanted) as f64 / MSS as f64;
        self.now += Duration::from_secs_f64(self.rtt.as_secs() / in_flight);
        let ack = self.event();
        self.control.on_ack(&ack, &mut *self.ack_counting);
    }

    pub fn acknowledge_for(&mut self, seconds: f64) {
        let end = self.now + Duration::from_secs_f64(seconds);
        while self.now < end {
            self.acknowledge();
        }
    }

    pub fn signal(&self) -> LossEvent {
        let flight = self.control.window().min(self.wanted);
        LossEvent { now: self.now, flight, window: flight, ..LossEvent::default() }
    }

    /// Reports a loss to the congestion control, and the end of recovery one round trip later.
    pub fn lose(&mut self) {
        self.control.on_loss(&self.signal());
        self.now += self.rtt;
        self.control.on_recovered(self.control.window(), Recovered::Kept);
    }
}

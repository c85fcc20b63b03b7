//! JTCP at the sender: a loss counts as congestion if the queue has grown over the last window of packets. Any other
//! loss leaves cwnd unchanged.
//!
//! `Jr = ((R_{n-1} - R_{n-w}) - (S_{n-1} - S_{n-w})) / (R_{n-1} - R_{n-w})`, with w the window in segments. `Jr > k/w`
//! means congestion: the queue has grown by more than k packets (hasegawa §2.2, Eq. 1). S is the sending time of a
//! segment. R is the receiver's timestamp in the ACK of that segment. Without timestamps, R is the arrival time of the
//! ACK, which includes the delay of the return path.
//!
//! Three duplicate ACKs leave cwnd unchanged ("immediate recovery") if Jr shows no congestion, or if the last reduction
//! was less than a round trip ago. Otherwise, three duplicate ACKs halve cwnd. A queue that stays full has a constant
//! delay, so that its overflow counts as a wireless loss.
//!
//! # Our choices
//! Eq. 1 is hasegawa's. The reactions to three duplicate ACKs are from memory. JTCP's reaction to a timeout is unknown;
//! the parameter `after_timeout` selects a reaction. The receiver's `loss_discrimination = "jtcp"` uses the same ratio
//! Jr.

use super::non_congestion::NonCongestion;
use super::{AckEvent, Build, CongestionControl, LossEvent, Nature, OnReno, Recovered, Reno, Start, Variant};
use crate::sender::ack_counting::AckCounting;
use crate::sender::recovery::AckNews;
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit, Values};
use std::collections::VecDeque;

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "jtcp",
        summary: "halves the window at a loss if the jitter ratio Jr over the last window exceeds k/w, else keeps the \
                  window",
        source: "Wu and Chen, IEEE JSAC 22(4), 2004, by hasegawa §2.2, Eq. 1; reactions from memory",
        parameters: &[
            Parameter {
                name: "k",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("1"),
                doc: "k: queue growth that means congestion, packets (hasegawa §2.2: 1 was best in JTCP's tests)",
            },
            Parameter {
                name: "after_timeout",
                unit: Unit::Word(&["half", "verdict"]),
                default: Some("half"),
                doc: "whether ssthresh becomes half of FlightSize (RFC 5681) after every timeout, or only if Jr shows \
                      congestion (our guess)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Jtcp::new(values, &start)),
};

struct Jtcp {
    k: f64,
    classifies_timeouts: bool,
    mss: u64,
    acked: u64,
    arrivals: VecDeque<AckTimes>,
    srtt: Option<Duration>,
    reduced_at: Option<Time>,
    non_congestion: NonCongestion,
}

#[derive(Clone, Copy)]
struct AckTimes {
    /// Total number of bytes acknowledged up to and including this ACK.
    end: u64,
    received: Time,
    sent: Time,
}

/// Number of ACKs stored. The number exceeds every window in the scenarios.
const MAX_ACKS: usize = 4096;

impl Jtcp {
    fn new(values: &Values, start: &Start) -> Jtcp {
        Jtcp {
            k: values.number("k"),
            classifies_timeouts: values.word("after_timeout") == "verdict",
            mss: start.mss,
            acked: 0,
            arrivals: VecDeque::new(),
            srtt: None,
            reduced_at: None,
            non_congestion: NonCongestion::default(),
        }
    }

    /// Returns whether Eq. 1 shows congestion over a window of `window` bytes; `false` before two ACKs have arrived.
    fn is_congested(&self, window: u64) -> bool {
        let segments = (window / self.mss).max(1);
        let Some(newest) = self.arrivals.back() else { return false };
        let wanted = newest.end.saturating_sub((segments - 1) * self.mss);
        let index = self.arrivals.partition_point(|arrival| arrival.end < wanted);
        let Some(oldest) = self.arrivals.get(index) else { return false };
        let received = newest.received.since(oldest.received).as_secs();
        let sent = newest.sent.since(oldest.sent).as_secs();
        received > 0.0 && (received - sent) / received > self.k / segments as f64
    }

    fn is_too_soon(&self, now: Time) -> bool {
        matches!((self.reduced_at, self.srtt), (Some(at), Some(srtt)) if now.since(at) < srtt)
    }
}

impl Variant for Jtcp {
    fn nature(&self) -> Nature {
        Nature { observes: true, ..Nature::FIXED }
    }

    fn observe(&mut self, news: &AckNews) {
        self.acked += news.acked;
        let Some(rtt) = news.rtt.filter(|_| news.acked > 0) else { return };
        if self.arrivals.len() == MAX_ACKS {
            self.arrivals.pop_front();
        }
        let sent = Time::from_nanos(news.now.as_nanos().saturating_sub(rtt.as_nanos()));
        self.arrivals.push_back(AckTimes { end: self.acked, received: news.clock.unwrap_or(news.now), sent });
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.srtt = ack.srtt;
        reno.on_ack(ack, ack_counting);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        if self.is_too_soon(loss.now) || !self.is_congested(reno.window()) {
            return self.non_congestion.note(reno);
        }
        self.reduced_at = Some(loss.now);
        self.non_congestion.forget();
        reno.on_loss(loss);
    }

    fn on_restart(&mut self, reno: &mut Reno, loss: &LossEvent) {
        self.on_timeout(reno, loss, true);
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        let keeps_window = self.classifies_timeouts && !self.is_congested(reno.window());
        if first && keeps_window {
            // The next slow start ends at the current cwnd.
            reno.set_ssthresh(reno.window());
        }
        self.non_congestion.forget();
        self.reduced_at = Some(loss.now);
        reno.on_timeout(loss, first && !keeps_window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }

    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        self.non_congestion.on_recovered(reno, flight, recovered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Stream;

    const MSS: u64 = 1000;

    fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// Returns a control after 100 segments, one sent every 10 ms. The delay of the data path grows by `later`
    /// microseconds from each segment to the next. The return path has a delay of 20 ms.
    fn seen(later: u64, stamped: bool) -> Box<dyn CongestionControl> {
        let random = Stream::named(1, "jtcp");
        let start = Start { window: 10 * MSS, ssthresh: 5 * MSS, mss: MSS, selective: true, random };
        let mut control = (MECHANISM.build)(&MECHANISM.info.defaults(), start);
        for n in 0..100u64 {
            let sent = Time::ZERO + micros(10_000 * n);
            let received = sent + micros(20_000 + later * n);
            let now = received + micros(20_000);
            let clock = stamped.then_some(received + Duration::from_secs(1000));
            let rtt = Some(now.since(sent));
            control.observe(&AckNews { now, acked: MSS, rtt, clock, mss: MSS, ..AckNews::default() });
        }
        control
    }

    fn lose(control: &mut dyn CongestionControl, millis: u64) -> u64 {
        let window = control.window();
        let now = Time::ZERO + Duration::from_millis(millis);
        control.on_loss(&LossEvent { now, flight: window, window, ..LossEvent::default() });
        let during = control.window();
        control.on_recovered(window, Recovered::Kept);
        assert_eq!(control.window(), during);
        during / MSS
    }

    /// The window is ten segments, so that Jr = 9 × later / (9 × (10 ms + later)), and the threshold k/w is 1/10. A
    /// delay growth of 1.1 ms gives Jr = 0.0991, and a delay growth of 1.2 ms gives Jr = 0.107.
    #[test]
    fn a_queue_that_grew_by_a_packet_is_congestion() {
        for stamped in [true, false] {
            assert_eq!([0, 1100, 1200].map(|later| lose(&mut *seen(later, stamped), 2000)), [10, 10, 5]);
        }
    }

    #[test]
    fn one_reduction_per_round_trip() {
        let mut control = seen(2000, true);
        let ack_counting = lasthop_base::Choice::of(&crate::sender::ack_counting::DEFAULT);
        let srtt = Some(Duration::from_millis(240));
        control.on_ack(
            &AckEvent { srtt, ..AckEvent::default() },
            &mut *(ack_counting.build)(&ack_counting.values),
        );
        assert_eq!([2000, 2100].map(|at| lose(&mut *control, at)), [5, 5]);
        // Over five segments, Jr = 2 ms / 12 ms is below 1/5, so that the loss is not congestion.
        assert_eq!(lose(&mut *control, 2300), 5);
        let mut control = seen(10_000, true);
        control.on_ack(
            &AckEvent { srtt, ..AckEvent::default() },
            &mut *(ack_counting.build)(&ack_counting.values),
        );
        assert_eq!([2000, 2100, 2300].map(|at| lose(&mut *control, at)), [5, 5, 2]);
    }

    #[test]
    fn it_forgets_the_oldest() {
        let random = Stream::named(1, "jtcp");
        let start = Start { window: 10 * MSS, ssthresh: 5 * MSS, mss: MSS, selective: true, random };
        let mut jtcp = Jtcp::new(&MECHANISM.info.defaults(), &start);
        for n in 0..10_000 {
            let rtt = Some(micros(100));
            let now = Time::ZERO + micros(1000 * n);
            jtcp.observe(&AckNews { now, acked: MSS, rtt, mss: MSS, ..AckNews::default() });
        }
        assert_eq!(jtcp.arrivals.len(), MAX_ACKS);
    }
}

//! TCP-Peach: low-priority dummy segments probe the path. The probing replaces slow start and speeds up fast recovery.
//!
//! A dummy is a copy of the last segment. Routers drop dummies first (the queue `low_first`), so that the arrival of a
//! dummy shows unused capacity. The receiver's D-SACK for a dummy serves as the ACK of the dummy.
//!
//! The parameter `most` is the largest cwnd that ACKs of dummies can reach, segments.
//!
//! * **Sudden Start**, at the start and after a timeout: cwnd is one segment. `most` - 1 dummies are sent evenly within
//!   one RTT. Each ACK of a dummy adds a segment to cwnd. Then congestion avoidance continues.
//! * **Rapid Recovery**, during a recovery: cwnd falls from W to W/2. W dummies are sent within one RTT. The first W/2
//!   ACKs of dummies do not count, because even a congested path has room for the W/2 segments removed. Each later ACK
//!   adds a segment to cwnd. After a wireless loss, cwnd is W again one RTT later.
//!
//! # Sources
//! We used the paper's abstract and surveys that describe the scheme, not the paper. These sources describe both
//! phases, the low priority, one segment per ACK of a dummy, and the spacing of the dummies (RTT / window). Our choices
//! are:
//! * Rapid Recovery sends W dummies, of which W/2 do not count. Only these numbers restore W after a wireless loss.
//! * Rapid Recovery spaces dummies evenly.
//! * A timeout begins Sudden Start.
//! * `most` is a parameter. In the paper, the limit is the advertised window.
//! * D-SACK reports dummies. In the paper, ACKs carry the priority of the dummy.
//!
//! # Limits of the model
//! * A lost ACK of a dummy counts as a lost dummy.
//! * The D-SACK of an unnecessary retransmission counts as the ACK of a dummy while ACKs of dummies are outstanding.
//! * If the original segment was lost, the dummy delivers the data of the original.
//! * Without D-SACK, dummies never raise cwnd.
//! * A gradual `reduction` (PRR) hides the growth of cwnd until recovery ends.

use super::{
    AckEvent, Build, CongestionControl, Level, LossEvent, Nature, RateHooks, Recovered, Reno, SentEvent,
    Start,
};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Duration, Info, Mechanism, Need, Parameter, Time, Unit, Values};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "peach",
        summary: "low-priority dummy segments probe the path at the start and after a loss (TCP-Peach)",
        source: "Akyildiz, Morabito and Palazzo, IEEE/ACM ToN 9(3), 2001 (abstract; the counts are ours)",
        parameters: &[Parameter {
            name: "most",
            unit: Unit::Count(2, 65_535),
            default: Some("64"),
            doc: "largest cwnd reached by dummies, segments; Sudden Start sends one dummy fewer (the paper: the \
                  advertised window)",
        }],
        needs: &[Need::Sack],
        ..Info::PLAIN
    },
    build: &|values, start| Box::new(Peach::new(values, &start)),
};

struct Peach {
    reno: Reno,
    mss: u64,
    most: u64,
    /// Round-trip time of the handshake, then the smoothed RTT.
    rtt: Option<Duration>,
    /// Whether the next transmission begins a Sudden Start.
    starts: bool,
    dummies: Dummies,
}

struct Dummies {
    left: u64,
    next: Time,
    gap: Duration,
    awaited: u64,
    /// Number of the next ACKs of dummies that do not raise cwnd.
    expected: u64,
}

impl Dummies {
    const NONE: Dummies =
        Dummies { left: 0, next: Time::NEVER, gap: Duration::ZERO, awaited: 0, expected: 0 };

    /// Schedules `left` dummies after `now`, with a spacing of `rtt` divided by `parts`. The first `expected` ACKs of
    /// dummies do not raise cwnd.
    fn over(now: Time, rtt: Duration, parts: u64, left: u64, expected: u64) -> Dummies {
        let gap = rtt.divided_by(parts.max(1));
        Dummies { left, next: if left > 0 { now + gap } else { Time::NEVER }, gap, awaited: 0, expected }
    }
}

impl Peach {
    fn new(values: &Values, start: &Start) -> Peach {
        let mut reno = Reno::plain(start);
        begin_suddenly(&mut reno);
        Peach {
            reno,
            mss: start.mss,
            most: values.count("most"),
            rtt: None,
            starts: true,
            dummies: Dummies::NONE,
        }
    }

    fn sudden_start(&mut self) {
        begin_suddenly(&mut self.reno);
        self.starts = true;
        self.dummies = Dummies::NONE;
    }

    fn rapid_recovery(&mut self, now: Time, before: u64) {
        let whole = before / self.mss;
        self.dummies = match self.rtt {
            Some(rtt) => Dummies::over(now, rtt, whole, whole, whole / 2),
            None => Dummies::NONE,
        };
    }
}

/// Sets cwnd to one segment and ssthresh to two segments, so that congestion avoidance begins at two segments.
fn begin_suddenly(reno: &mut Reno) {
    reno.restart();
    reno.set_ssthresh(0);
}

impl CongestionControl for Peach {
    fn window(&self) -> u64 {
        self.reno.window()
    }

    fn ssthresh(&self) -> u64 {
        self.reno.ssthresh()
    }

    fn nature(&self) -> Nature {
        Nature { uses_rate_samples: true, sends_extra: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.rtt = ack.srtt.or(self.rtt);
        self.reno.on_ack(ack, ack_counting);
    }

    fn on_loss(&mut self, loss: &LossEvent) {
        let before = self.reno.window();
        self.reno.on_loss(loss);
        self.rapid_recovery(loss.now, before);
    }

    fn on_restart(&mut self, _: &LossEvent) {
        self.sudden_start();
    }

    fn on_timeout(&mut self, _: &LossEvent, _: bool) {
        self.sudden_start();
    }

    fn on_mark(&mut self, loss: &LossEvent) {
        self.reno.on_mark(loss);
    }

    fn leave_slow_start(&mut self) {
        self.reno.leave_slow_start();
    }

    fn on_idle(&mut self, window: u64) {
        self.reno.on_idle(window);
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
        self.reno.on_segment(mss);
    }

    fn on_reordered(&mut self, to: Level) {
        self.reno.on_reordered(to);
    }

    /// Leaves cwnd unchanged at the end of a recovery, so that the segments added for ACKs of dummies remain.
    fn on_recovered(&mut self, flight: u64, recovered: Recovered) {
        if recovered != Recovered::Kept {
            self.reno.on_recovered(flight, recovered);
        }
    }
}

impl RateHooks for Peach {
    fn on_open(&mut self, rtt: Option<Duration>) {
        self.rtt = rtt;
    }

    fn on_sent(&mut self, sent: &SentEvent) {
        if let Some(rtt) = self.rtt.filter(|_| self.starts) {
            self.starts = false;
            self.dummies = Dummies::over(sent.now, rtt, self.most, self.most - 1, 0);
        }
    }

    fn extra_at(&self) -> Time {
        self.dummies.next
    }

    fn on_extra(&mut self, now: Time) {
        let dummies = &mut self.dummies;
        dummies.left = dummies.left.saturating_sub(1);
        dummies.awaited += 1;
        dummies.next = if dummies.left > 0 { now + dummies.gap } else { Time::NEVER };
    }

    fn on_dsack(&mut self) {
        let dummies = &mut self.dummies;
        if dummies.awaited == 0 {
            return;
        }
        dummies.awaited -= 1;
        if dummies.expected > 0 {
            dummies.expected -= 1;
        } else if self.reno.window() + self.mss <= self.most * self.mss {
            self.reno.set_cwnd(self.reno.exact_cwnd() + self.mss as f64);
            self.reno.set_ssthresh(self.reno.window());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::ack_counting;
    use lasthop_base::{Choice, Stream};

    const MSS: u64 = 1000;
    const RTT: Duration = Duration::from_millis(500);

    fn peach(most: u64) -> Box<dyn CongestionControl> {
        let values = MECHANISM.info.defaults().with("most", lasthop_base::Value::Count(most));
        let random = Stream::named(1, "peach");
        let start = Start { window: 10 * MSS, ssthresh: 1 << 30, mss: MSS, selective: true, random };
        let mut peach = (MECHANISM.build)(&values, start);
        peach.on_open(Some(RTT));
        peach
    }

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    fn sent(peach: &mut dyn CongestionControl, now: Time) {
        peach.on_sent(&SentEvent { now, bytes: MSS, in_flight: MSS, ..SentEvent::default() });
    }

    fn ack(peach: &mut dyn CongestionControl) {
        let ack_counting = Choice::of(&ack_counting::DEFAULT);
        let event = AckEvent { acked: MSS, segments: 1, srtt: Some(RTT), ..AckEvent::default() };
        peach.on_ack(&event, &mut *(ack_counting.build)(&ack_counting.values));
    }

    fn send_dummies(peach: &mut dyn CongestionControl) -> Vec<Time> {
        std::iter::from_fn(|| {
            let at = peach.extra_at();
            (at < Time::NEVER).then(|| {
                peach.on_extra(at);
                at
            })
        })
        .collect()
    }

    fn loss(now: Time, flight: u64) -> LossEvent {
        LossEvent { now, flight, window: flight, ..LossEvent::default() }
    }

    /// `most` is 10 and the RTT is 500 ms, so that nine dummies are 50 ms apart. Each ACK of data or of a dummy adds a
    /// segment to cwnd, up to ten segments.
    #[test]
    fn sudden_start_fills_the_window_in_a_round_trip() {
        let mut peach = peach(10);
        assert_eq!((peach.window(), peach.extra_at()), (MSS, Time::NEVER));
        sent(&mut *peach, at(1000));
        let times = send_dummies(&mut *peach);
        assert_eq!(times, (1..10).map(|number| at(1000 + 50 * number)).collect::<Vec<_>>());
        ack(&mut *peach);
        (0..8).for_each(|_| peach.on_dsack());
        assert_eq!(peach.window(), 10 * MSS);
        peach.on_dsack();
        assert_eq!(peach.window(), 10 * MSS, "dummies do not raise cwnd above `most`");
        // Then congestion avoidance follows: an ACK adds MSS² / cwnd.
        ack(&mut *peach);
        assert_eq!(peach.window(), 10 * MSS + MSS / 10);
    }

    /// A congested path delivers three of nine dummies. cwnd is one segment, plus one for the ACK of data and three for
    /// dummies. Slow start does not follow.
    #[test]
    fn dropped_dummies_leave_the_window_small() {
        let mut peach = peach(10);
        sent(&mut *peach, at(0));
        send_dummies(&mut *peach);
        ack(&mut *peach);
        (0..3).for_each(|_| peach.on_dsack());
        ack(&mut *peach);
        assert_eq!(peach.window(), 5 * MSS + MSS / 5);
    }

    fn grown(window: u64) -> Box<dyn CongestionControl> {
        let mut peach = peach(window);
        sent(&mut *peach, at(0));
        send_dummies(&mut *peach);
        ack(&mut *peach);
        (0..window - 2).for_each(|_| peach.on_dsack());
        assert_eq!(peach.window(), window * MSS);
        peach
    }

    /// W is 20 segments and the RTT is 500 ms, so that 20 dummies are 25 ms apart. If all dummies arrive, ten of their
    /// ACKs count, and cwnd is 20 segments again. If the path has room for only W/2 dummies, no ACK of a dummy counts,
    /// and cwnd is 10 segments.
    #[test]
    fn rapid_recovery_restores_the_window_if_the_path_is_free() {
        for (arrive, window) in [(20, 20), (10, 10), (14, 14), (0, 10)] {
            let mut peach = grown(20);
            peach.on_loss(&loss(at(5000), 20 * MSS));
            assert_eq!(peach.window(), 10 * MSS);
            let times = send_dummies(&mut *peach);
            assert_eq!(times, (1..=20).map(|number| at(5000 + 25 * number)).collect::<Vec<_>>());
            (0..arrive).for_each(|_| peach.on_dsack());
            peach.on_recovered(10 * MSS, Recovered::Kept);
            assert_eq!(peach.window(), window * MSS, "{arrive} arrive");
        }
    }

    #[test]
    fn a_timeout_begins_another_sudden_start() {
        let mut peach = grown(20);
        peach.on_loss(&loss(at(5000), 20 * MSS));
        peach.on_timeout(&loss(at(6000), 20 * MSS), true);
        assert_eq!((peach.window(), peach.extra_at()), (MSS, Time::NEVER));
        peach.on_dsack();
        assert_eq!(peach.window(), MSS, "ACKs of earlier dummies do not count");
        sent(&mut *peach, at(6000));
        assert_eq!(send_dummies(&mut *peach).len(), 19);
    }
}

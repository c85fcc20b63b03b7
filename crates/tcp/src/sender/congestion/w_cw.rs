//! TCP W_CW: a congestion mark means congestion; a loss without a mark is a random error (saad Fig. 4).
//!
//! * A marked ACK causes rate control (1): the control halves cwnd.
//! * Three duplicate ACKs mean congestion if the third is marked. The control halves cwnd.
//! * Three duplicate ACKs mean a random error if the third is unmarked. The control applies rate control (2): cwnd
//!   follows Westwood's estimate.
//! * A timeout sets ssthresh as in rate control (2), and cwnd to one segment.
//!
//! Marks show the state of the queue under two conditions. The router marks every packet while the queue is long
//! (`queue = "warn"`). The receiver echoes the mark of each packet (`ecn_echo = "per_packet"`).

use super::westwood::{IDLE, TIME_CONSTANT, TIMES, Westwood};
use super::{Build, CongestionControl, LossEvent, MarkPace, Nature, OnReno, Recovered, Reno, Variant};
use crate::sender::recovery::AckNews;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "w_cw",
        summary: "halves the window at marks; treats a loss without a mark as a random error, with Westwood's reaction",
        source: "saad §5, Fig. 4",
        parameters: &[
            Parameter {
                name: "marks",
                unit: Unit::Word(&["window", "rtt", "every"]),
                default: Some("window"),
                doc: "pace of halving by marked ACKs: once per window of data, once per smoothed RTT, or every ACK",
            },
            Parameter {
                name: "marked_loss",
                unit: Unit::Word(&["halve", "keep"]),
                default: Some("halve"),
                doc: "reaction to marked duplicate ACKs: retransmit and halve cwnd, or only retransmit (the text \
                      names only the retransmission)",
            },
            Parameter {
                name: "after_timeout",
                unit: Unit::Word(&["window_estimate", "half"]),
                default: Some("window_estimate"),
                doc: "ssthresh after a timeout: Westwood's, or half of FlightSize",
            },
            TIME_CONSTANT,
            IDLE,
            TIMES,
        ],
        ..Info::PLAIN
    },
    build: &|values, start| {
        let w_cw = WCw {
            westwood: Westwood::new(values, &start),
            pace: match values.word("marks") {
                "rtt" => MarkPace::Rtt,
                "every" => MarkPace::Every,
                _ => MarkPace::Window,
            },
            halves_at_loss: values.word("marked_loss") == "halve",
            halves_at_timeout: values.word("after_timeout") == "half",
        };
        OnReno::boxed(&start, w_cw)
    },
};

struct WCw {
    westwood: Westwood,
    pace: MarkPace,
    halves_at_loss: bool,
    halves_at_timeout: bool,
}

/// Rate control (1): halves cwnd.
fn halve(reno: &mut Reno, loss: &LossEvent) {
    reno.set_ssthresh(loss.flight.min(loss.window) / 2);
    reno.cap_at_ssthresh();
}

impl Variant for WCw {
    fn nature(&self) -> Nature {
        Nature { observes: true, mark_pace: self.pace, judges_by_mark: true, ..Nature::FIXED }
    }

    fn observe(&mut self, news: &AckNews) {
        self.westwood.observe(news);
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        match (loss.marked, self.halves_at_loss) {
            (true, true) => halve(reno, loss),
            (true, false) => reno.set_ssthresh(reno.window()),
            (false, _) => self.westwood.on_loss(reno, loss),
        }
    }

    fn on_timeout(&mut self, reno: &mut Reno, loss: &LossEvent, first: bool) {
        if self.halves_at_timeout && first {
            reno.set_ssthresh(loss.flight.min(reno.window()) / 2);
        }
        self.westwood.on_timeout(reno, loss, first && !self.halves_at_timeout);
    }

    fn on_mark(&mut self, reno: &mut Reno, loss: &LossEvent) {
        halve(reno, loss);
    }

    fn on_segment(&mut self, mss: u64) {
        self.westwood.on_segment(mss);
    }

    fn on_recovered(&mut self, reno: &mut Reno, flight: u64, recovered: Recovered) {
        self.westwood.on_recovered(reno, flight, recovered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender::congestion::Start;
    use lasthop_base::{Duration, Time, Value};

    fn at(millis: u64) -> Time {
        Time::ZERO + Duration::from_millis(millis)
    }

    /// Returns a control with a cwnd of 30 segments on a path with 100 kB/s and a smallest RTT of 200 ms. The
    /// bandwidth-delay product is 20 segments.
    fn loaded(changes: &[(&'static str, &'static str)]) -> Box<dyn CongestionControl> {
        let mut values = MECHANISM.info.defaults();
        for (name, word) in changes {
            values.set(name, Value::Word(word));
        }
        let start = Start {
            window: 30_000,
            ssthresh: 1 << 30,
            mss: 1000,
            selective: true,
            random: lasthop_base::Stream::named(1, "sender"),
        };
        let mut control = (MECHANISM.build)(&values, start);
        for k in 0..2000 {
            let rtt = Some(Duration::from_millis(200));
            control.observe(&AckNews { now: at(10 * k), acked: 1000, rtt, ..AckNews::default() });
        }
        control
    }

    fn loss(marked: bool) -> LossEvent {
        LossEvent { now: at(19_990), flight: 30_000, window: 30_000, marked, ..LossEvent::default() }
    }

    fn after(changes: &[(&'static str, &'static str)], act: fn(&mut dyn CongestionControl)) -> (u64, u64) {
        let mut control = loaded(changes);
        act(&mut *control);
        let nearest = |bytes: u64| (bytes + 500) / 1000;
        (nearest(control.window()), nearest(control.ssthresh()))
    }

    /// Tests all branches of Fig. 4. Each pair is cwnd and ssthresh, in segments.
    #[test]
    fn the_four_reactions() {
        assert_eq!(after(&[], |control| control.on_mark(&loss(true))), (15, 15));
        assert_eq!(after(&[], |control| control.on_loss(&loss(true))), (15, 15));
        assert_eq!(after(&[], |control| control.on_loss(&loss(false))), (20, 20));
        assert_eq!(after(&[], |control| control.on_timeout(&loss(false), true)), (1, 20));
    }

    #[test]
    fn the_other_readings() {
        let keep = [("marked_loss", "keep")];
        assert_eq!(after(&keep, |control| control.on_loss(&loss(true))), (30, 30));
        let half = [("after_timeout", "half")];
        assert_eq!(after(&half, |control| control.on_timeout(&loss(false), true)), (1, 15));
        assert_eq!(loaded(&[("marks", "every")]).nature().mark_pace, MarkPace::Every);
    }
}

//! DCTCP: cwnd falls in proportion to the share of marked bytes.
//!
//! Once per window of data, `alpha += g (F - alpha)`, where F is the share of the acknowledged bytes that were marked.
//! Marks lower cwnd by `cwnd × alpha / 2`, at most once per window of data. A loss halves cwnd.
//!
//! Packets carry ECT(0). Queues should mark at a low threshold.
//!
//! # Not modelled
//! The receiver's feedback of RFC 8257 §3.2 is not modelled. AccECN (RFC 9768) reports the same information in its
//! counters.

use super::{AckEvent, Build, CongestionControl, LossEvent, LossPhase, Nature, OnReno, Reno, Variant};
use crate::sender::ack_counting::AckCounting;
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "dctcp",
        summary: "reduces cwnd by half the share of marked bytes once per window of data; halves it at a loss",
        source: "RFC 8257 §3.3",
        parameters: &[Parameter {
            name: "gain",
            unit: Unit::Number(0.0001, 1.0),
            default: Some("0.0625"),
            doc: "g: weight of the last window of data in alpha (RFC 8257 §4.2: 1/16)",
        }],
        linux_name: Some("dctcp"),
        scalable: true,
        ..Info::PLAIN
    },
    build: &|values, start| {
        let gain = values.number("gain");
        let mss = start.mss;
        OnReno::boxed(
            &start,
            Dctcp { gain, mss, alpha: 1.0, acked: 0, marked: 0, until: 0, reduced_until: 0 },
        )
    },
};

struct Dctcp {
    gain: f64,
    mss: u64,
    alpha: f64,
    /// Bytes acknowledged in the current observation window (DCTCP.BytesAcked).
    acked: u64,
    /// Bytes acknowledged with a mark in the current observation window (DCTCP.BytesMarked).
    marked: u64,
    /// End of the observation window (DCTCP.WindowEnd).
    until: u64,
    /// Next byte to send (SND.NXT) at the last window reduction.
    reduced_until: u64,
}

impl Dctcp {
    fn measure(&mut self, ack: &AckEvent) {
        self.acked += ack.delivered;
        self.marked += ack.marked;
        if ack.una > self.until && self.acked > 0 {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
            (self.acked, self.marked, self.until) = (0, 0, ack.nxt);
        }
    }
}

impl Variant for Dctcp {
    fn nature(&self) -> Nature {
        Nature { is_scalable: true, ..Nature::FIXED }
    }

    fn on_ack(&mut self, reno: &mut Reno, ack: &AckEvent, ack_counting: &mut dyn AckCounting) {
        self.measure(ack);
        if ack.phase == LossPhase::Open && ack.marked > 0 && ack.una > self.reduced_until {
            let least = (2 * self.mss) as f64;
            let window = (reno.exact_cwnd() * (1.0 - self.alpha / 2.0)).max(least).min(reno.exact_cwnd());
            reno.set_ssthresh(window as u64);
            reno.set_cwnd(window);
            self.reduced_until = ack.nxt;
        } else {
            reno.on_ack(ack, ack_counting);
        }
    }

    fn on_loss(&mut self, reno: &mut Reno, loss: &LossEvent) {
        reno.on_loss(loss);
        self.reduced_until = loss.nxt;
    }

    fn on_segment(&mut self, mss: u64) {
        self.mss = mss;
    }
}

#[cfg(test)]
mod tests {
    use super::super::rounds::Rounds;
    use super::*;

    /// RFC 8257 §3.3: alpha begins at 1 and loses 1/16 in each unmarked window of data. The first ACK of a round ends a
    /// window of data. After n rounds and the first ACK of the marked round, alpha = (15/16)^(n + 1). The first mark
    /// removes the share alpha / 2 of cwnd.
    #[test]
    fn alpha_decays_with_its_gain() {
        for unmarked in [0, 5, 20] {
            let mut path = Rounds::of(&MECHANISM, 400);
            for _ in 0..unmarked {
                path.round(100.0);
            }
            let before = path.segments();
            let kept = path.marked_round(100.0, 1.2 / before) / before;
            let expected = 1.0 - libm::pow(15.0 / 16.0, f64::from(unmarked + 1)) / 2.0;
            assert!((kept - expected).abs() < 0.01, "{unmarked}: {kept} for {expected}");
        }
    }

    /// The share p of the segments is marked. A window reduction removes W p / 2 segments. The next reduction follows
    /// at the first mark after a window of data, at most 1 / p segments later. In the meantime, W grows by 1 to 1.5
    /// segments. Therefore 2 / p <= W <= 3 / p.
    #[test]
    fn the_window_is_inverse_to_the_share_of_marks() {
        for p in [0.02, 0.05, 0.1] {
            let mut path = Rounds::of(&MECHANISM, 30);
            for _ in 0..500 {
                path.marked_round(100.0, p);
            }
            let windows: Vec<f64> = (0..200).map(|_| path.marked_round(100.0, p)).collect();
            let mean = windows.iter().sum::<f64>() / windows.len() as f64;
            assert!((1.9..=3.1).contains(&(mean * p)), "{p}: {mean}");
        }
    }
}

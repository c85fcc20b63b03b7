//! Single or duplicated ACKs, depending on an estimate of the radio link's packet error probability (miyoshi §2.3,
//! §2.4).
//!
//! p is the share of lost segments in a period. The moving average of p has the paper's weights: 7/8 for the latest
//! period and 1/8 for the old average, the reverse of TCP's RTT filter. The packet error probability of the radio link,
//! p_err, is computed from p and from p_buff, the share of packets that a full buffer drops.
//!
//! # Source of p
//! In miyoshi §2.3, the sender counts triple duplicate ACKs and reports the count in an option (`source =
//! "duplicates"`). With `"retransmissions"`, the sender reports the number of all retransmissions. An unmodified server
//! sends no such option, so by default the receiver counts losses itself. The receiver counts segments missing at a
//! gap, and repeated segments, because a repeated segment indicates a lost ACK. Losses at the end of a window open no
//! gap and are not counted, so the estimate is too low for small windows.
//!
//! # Not modelled
//! The size and the delay of the option. Here, the receiver obtains the sender's current counts when a segment arrives.

use super::{AckForm, AckSplitting, Arrived, Build, DueAck, Needs};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Time, Unit};
use lasthop_wire::{SenderCounts, UplinkCounts};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "by_loss",
        summary: "sends identical ACKs while the radio link's loss exceeds the threshold, else one ACK",
        source: "miyoshi §2.2, §2.3, Eqs. 1 to 4",
        parameters: &[
            Parameter {
                name: "count",
                unit: Unit::Count(1, 64),
                default: Some("2"),
                doc: "number of identical ACKs for each ACK due while p_err is above the threshold",
            },
            Parameter {
                name: "threshold",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.1"),
                doc: "packet error probability of the radio link above which ACKs are duplicated",
            },
            Parameter {
                name: "source",
                unit: Unit::Word(&["receiver", "duplicates", "retransmissions"]),
                default: Some("receiver"),
                doc: "source of p: the receiver, or the sender's count of triple duplicate ACKs or of all \
                      retransmissions",
            },
            Parameter {
                name: "weight",
                unit: Unit::Number(0.0, 1.0),
                default: Some("0.875"),
                doc: "weight of the latest period in the moving average (Eq. 4: 7/8)",
            },
            Parameter {
                name: "k",
                unit: Unit::Number(0.0, 1000.0),
                default: Some("2.5"),
                doc: "packet error probability of the downlink divided by the probability of the uplink (Eq. 3; \
                      for packets of 100 and 40 bytes)",
            },
            Parameter {
                name: "buffer_loss",
                unit: Unit::Probability(0.0, 0.999),
                default: Some("0.0"),
                doc: "p_buff if buffer is fixed: probability that a full buffer drops a packet",
            },
            Parameter {
                name: "buffer",
                unit: Unit::Word(&["fixed", "counted"]),
                default: Some("fixed"),
                doc: "source of p_buff: fixed, as with RED, or counted at this host's uplink queue and smoothed like p",
            },
            Parameter {
                name: "period",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(3600)),
                default: Some("1 s"),
                doc: "counting period of p (Fig. 4: every second)",
            },
        ],
        only_if: &[OnlyIf { parameters: &["buffer_loss"], other: "buffer", is: Is::This("fixed") }],
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(ByLoss {
            count: values.count("count") as u32,
            threshold: values.number("threshold"),
            source: match values.word("source") {
                "duplicates" => LossSource::Duplicates,
                "retransmissions" => LossSource::Retransmissions,
                _ => LossSource::Receiver,
            },
            weight: values.number("weight"),
            k: values.number("k"),
            buffer_loss: values.number("buffer_loss"),
            counts_buffer: values.word("buffer") == "counted",
            period: values.duration("period"),
            period_ends: Time::ZERO,
            path: LossShare::default(),
            buffer: LossShare::default(),
            repeats: false,
        })
    },
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum LossSource {
    Receiver,
    Duplicates,
    Retransmissions,
}

struct ByLoss {
    count: u32,
    threshold: f64,
    source: LossSource,
    weight: f64,
    k: f64,
    buffer_loss: f64,
    counts_buffer: bool,
    period: Duration,
    period_ends: Time,
    /// p: number of lost segments and of segments whose ACKs were lost, divided by the number of sent segments.
    path: LossShare,
    /// p_buff: share of the uplink's packets that a full buffer dropped.
    buffer: LossShare,
    repeats: bool,
}

/// Totals of sent and lost packets, and the moving average of the share of lost packets in each period (Eq. 4).
#[derive(Default)]
struct LossShare {
    sent: u64,
    lost: u64,
    before: (u64, u64),
    smoothed: Option<f64>,
}

impl LossShare {
    fn end_period(&mut self, weight: f64) {
        let (sent, lost) = (self.sent - self.before.0, self.lost - self.before.1);
        if sent == 0 {
            return;
        }
        let latest = (lost as f64 / sent as f64).min(1.0);
        let smoothed = self.smoothed.map_or(latest, |old| weight * latest + (1.0 - weight) * old);
        self.smoothed = Some(smoothed);
        self.before = (self.sent, self.lost);
    }
}

/// Upper bound of p_buff, because p_buff = 1 would leave p_err undetermined.
const LARGEST_BUFFER_LOSS: f64 = 0.999;

impl AckSplitting for ByLoss {
    fn split(&mut self, _: &DueAck, _: &PathEstimate) -> AckForm {
        if self.repeats { AckForm::Copies(self.count) } else { AckForm::Single }
    }

    fn on_arrival(&mut self, arrived: &Arrived) {
        if arrived.now >= self.period_ends {
            self.end_period();
            self.period_ends = arrived.now + self.period;
        }
        if self.source == LossSource::Receiver {
            self.path.sent += 1 + arrived.missing;
            self.path.lost += arrived.missing + u64::from(arrived.repeated);
        }
    }

    fn on_counts(&mut self, sender: &SenderCounts, uplink: &UplinkCounts) {
        match self.source {
            LossSource::Receiver => {}
            LossSource::Duplicates => {
                (self.path.sent, self.path.lost) = (sender.sent, sender.detected_by_duplicates)
            }
            LossSource::Retransmissions => {
                (self.path.sent, self.path.lost) = (sender.sent, sender.retransmitted)
            }
        }
        (self.buffer.sent, self.buffer.lost) = (uplink.offered, uplink.dropped);
    }

    fn needs(&self) -> Needs {
        let counts = self.source != LossSource::Receiver || self.counts_buffer;
        Needs { arrivals: true, counts, ..Needs::default() }
    }
}

impl ByLoss {
    fn end_period(&mut self) {
        self.path.end_period(self.weight);
        self.buffer.end_period(self.weight);
        let buffer_loss = if self.counts_buffer {
            self.buffer.smoothed.map_or(0.0, |loss| loss.min(LARGEST_BUFFER_LOSS))
        } else {
            self.buffer_loss
        };
        if let Some(p) = self.path.smoothed {
            self.repeats = radio_loss(p, buffer_loss, self.k) > self.threshold;
        }
    }
}

/// Returns p_err, the smaller root of p = 1 - (1 - p_err)(1 - p_buff)(1 - k p_err); 0 if p < p_buff (miyoshi Eqs. 1 to
/// 3).
pub fn radio_loss(p: f64, buffer_loss: f64, k: f64) -> f64 {
    let survives = (1.0 - p.min(1.0)) / (1.0 - buffer_loss);
    if survives >= 1.0 {
        return 0.0;
    }
    // Solves k x^2 - (1 + k) x + (1 - survives) = 0 in a form that also works for k = 0.
    let (half, rest) = ((1.0 + k) / 2.0, 1.0 - survives);
    rest / (half + (half * half - k * rest).max(0.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Values;

    fn by_loss(changes: &[(&'static str, &str)]) -> Box<dyn AckSplitting> {
        let mut values: Values = MECHANISM.info.defaults();
        for (name, text) in changes {
            let parameter = MECHANISM.info.parameters.iter().find(|one| one.name == *name).unwrap();
            values.set(name, parameter.unit.parse(text).unwrap());
        }
        (MECHANISM.build)(&values)
    }

    fn form_of(ack_splitting: &mut dyn AckSplitting) -> AckForm {
        let estimator = (crate::receiver::window_estimate::ALL[0].build)(
            &crate::receiver::window_estimate::ALL[0].info.defaults(),
        );
        let advance = crate::ranges::Range { start: 0, end: 100 };
        let due = DueAck { advance, segment: 100, uplink: Default::default() };
        ack_splitting.split(&due, estimator.path())
    }

    #[test]
    fn the_root_solves_equation_1() {
        for (x, buffer, k) in
            [(0.01, 0.0, 2.5), (0.1, 0.01, 2.5), (0.3, 0.05, 0.4), (0.2, 0.01, 0.0), (0.3, 0.0, 1.0)]
        {
            let p = 1.0 - (1.0 - x) * (1.0 - buffer) * (1.0 - k * x);
            assert!((radio_loss(p, buffer, k) - x).abs() < 1e-12, "{x} {buffer} {k}");
        }
        // p is smaller than p_buff, so no packet was lost on the radio link.
        assert_eq!(radio_loss(0.005, 0.01, 2.5), 0.0);
    }

    #[test]
    fn a_lossy_second_repeats_acks_and_a_good_one_ends_it() {
        let mut ack_splitting = by_loss(&[("k", "0.0")]);
        let mut second = |missing: u64, at: u64| {
            for tenth in 0..10 {
                let now = Time::ZERO + Duration::from_millis(1000 * at + 100 * tenth);
                ack_splitting.on_arrival(&Arrived {
                    now,
                    missing: missing * u64::from(tenth == 0),
                    repeated: false,
                });
            }
            form_of(&mut *ack_splitting)
        };
        // With k = 0 and no buffer loss, p_err = p. In the first second, 3 of 13 segments are lost. The receiver
        // computes this share when the first second has ended.
        assert_eq!(second(3, 1), AckForm::Single);
        assert_eq!(second(0, 2), AckForm::Copies(2));
        // The new share, 0, has weight 7/8; the old share, 3/13, has weight 1/8. The sum is 0.029 < 0.1.
        assert_eq!(second(0, 3), AckForm::Single);
    }

    #[test]
    fn a_repeated_segment_tells_of_a_lost_ack() {
        let mut ack_splitting = by_loss(&[("k", "0.0"), ("threshold", "0.4")]);
        for step in 0..10u64 {
            let now = Time::ZERO + Duration::from_millis(1000 + 100 * step);
            ack_splitting.on_arrival(&Arrived { now, missing: 0, repeated: step % 2 == 1 });
        }
        let now = Time::ZERO + Duration::from_millis(2000);
        ack_splitting.on_arrival(&Arrived { now, missing: 0, repeated: false });
        assert_eq!(form_of(&mut *ack_splitting), AckForm::Copies(2));
    }

    fn form_after(
        ack_splitting: &mut dyn AckSplitting,
        second: u64,
        sender: SenderCounts,
        uplink: UplinkCounts,
    ) -> AckForm {
        ack_splitting.on_counts(&sender, &uplink);
        let now = Time::ZERO + Duration::from_secs(second);
        ack_splitting.on_arrival(&Arrived { now, missing: 0, repeated: false });
        form_of(ack_splitting)
    }

    #[test]
    fn the_sender_reports_p_in_one_of_two_ways() {
        // The sender sends 100 segments in each second. 20 of these segments are retransmissions, 5 of which follow
        // duplicate ACKs.
        let counts = |second| SenderCounts {
            sent: 100 * second,
            retransmitted: 20 * second,
            detected_by_duplicates: 5 * second,
        };
        for (source, expected) in [("duplicates", AckForm::Single), ("retransmissions", AckForm::Copies(2))] {
            let mut ack_splitting = by_loss(&[("k", "0.0"), ("source", source)]);
            assert!(ack_splitting.needs().counts);
            let last = (1..=3)
                .map(|second| form_after(&mut *ack_splitting, second, counts(second), Default::default()))
                .last();
            // With k = 0 and no buffer loss, p_err = p: 0.05 by duplicate ACKs, 0.2 by retransmissions. The threshold
            // is 0.1.
            assert_eq!(last, Some(expected), "{source}");
        }
        assert!(!by_loss(&[]).needs().counts);
    }

    #[test]
    fn what_the_own_buffer_drops_is_not_held_against_the_air() {
        // p is 0.2. If the uplink buffer drops 15 % of the packets, p_err = 1 - 0.8 / 0.85 = 0.059. If the buffer drops
        // nothing, p_err is 0.2.
        let sender = |second| SenderCounts {
            sent: 100 * second,
            retransmitted: 20 * second,
            detected_by_duplicates: 0,
        };
        for (dropped, expected) in [(15, AckForm::Single), (0, AckForm::Copies(2))] {
            let mut ack_splitting =
                by_loss(&[("k", "0.0"), ("source", "retransmissions"), ("buffer", "counted")]);
            let uplink = |second| UplinkCounts { offered: 100 * second, dropped: dropped * second };
            let last = (1..=3)
                .map(|second| form_after(&mut *ack_splitting, second, sender(second), uplink(second)))
                .last();
            assert_eq!(last, Some(expected), "{dropped} dropped");
        }
    }
}

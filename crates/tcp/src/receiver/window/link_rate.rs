//! Window computed from link-layer information (koga §5.2.2, Eqs. 5.1 and 5.2).
//!
//! awnd = rate x T / segment, with T = (segment / rate + 2 x delay) x retransmissions. T is the time in which a segment
//! uses all its link layer retransmissions. For 384 kbit/s the dissertation states 9.6 packets, but the numbers of the
//! dissertation give 6.6. The dissertation uses 10 packets at 384 kbit/s and 4 packets at 64 kbit/s. The formula
//! `published` uses these two windows, and interpolates linearly between 64 and 384 kbit/s.

use super::{AdvertisedWindow, Build, WindowInput};
use lasthop_base::{Duration, Info, Is, Live, Mechanism, OnlyIf, Parameter, Rate, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "link_rate",
        summary: "segments that the link carries while one segment uses all its link layer retransmissions",
        source: "koga §5.2.2, §5.4.1, Eqs. 5.1 and 5.2",
        parameters: &[
            Parameter {
                name: "formula",
                unit: Unit::Word(&["published", "eq5.2", "fixed"]),
                default: Some("published"),
                doc: "4 segments up to 64 kbit/s, 10 from 384 kbit/s, linear in between; or Eq. 5.2; or `packets`",
            },
            Parameter {
                name: "packets",
                unit: Unit::Count(1, 10_000),
                default: Some("10"),
                doc: "segments, for formula = \"fixed\"",
            },
            Parameter {
                name: "rate",
                unit: Unit::Rate,
                default: Some("384 kbit/s"),
                doc: "link rate until the link layer reports a rate",
            },
            Parameter {
                name: "adaptive",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "follow the rate reported by the link layer",
            },
            Parameter {
                name: "delay",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(10)),
                default: Some("5 ms"),
                doc: "Eq. 5.1: one-way propagation delay of the link",
            },
            Parameter {
                name: "retransmissions",
                unit: Unit::Count(1, 1000),
                default: Some("5"),
                doc: "Eq. 5.1: largest number of link layer retransmissions",
            },
            Parameter {
                name: "edge",
                unit: Unit::Word(&["held", "shrinks"]),
                default: Some("held"),
                doc: "right edge if the window shrinks: stays until data reaches the edge, or moves left",
            },
        ],
        only_if: &[
            OnlyIf { parameters: &["packets"], other: "formula", is: Is::This("fixed") },
            OnlyIf { parameters: &["rate", "adaptive"], other: "formula", is: Is::Not("fixed") },
            OnlyIf { parameters: &["delay", "retransmissions"], other: "formula", is: Is::This("eq5.2") },
        ],
        live: Some(Live { word: "link-rate", parameter: "rate", usual: None, without_discrimination: None }),
        ..Info::PLAIN
    },
    build: &|values| {
        Box::new(LinkRate {
            formula: match values.word("formula") {
                "eq5.2" => Formula::Equation {
                    delay: values.duration("delay"),
                    retransmissions: values.count("retransmissions"),
                },
                "fixed" => Formula::Fixed(values.count("packets")),
                _ => Formula::Published,
            },
            rate: values.rate("rate"),
            is_adaptive: values.flag("adaptive"),
            shrinks: values.word("edge") == "shrinks",
        })
    },
};

/// Largest window, bytes; this value determines the window scale.
const LARGEST: u64 = 1 << 20;

struct LinkRate {
    formula: Formula,
    rate: Rate,
    is_adaptive: bool,
    shrinks: bool,
}

enum Formula {
    Published,
    Equation { delay: Duration, retransmissions: u64 },
    Fixed(u64),
}

impl LinkRate {
    /// Window in segments, before rounding.
    fn segments(&self, segment: u64) -> f64 {
        let bps = self.rate.bps() as f64;
        match self.formula {
            Formula::Published => 4.0 + 6.0 * ((bps - 64e3) / (384e3 - 64e3)).clamp(0.0, 1.0),
            Formula::Equation { delay, retransmissions } => {
                let bits = (8 * segment) as f64;
                let worst = (bits / bps + 2.0 * delay.as_secs()) * retransmissions as f64;
                bps * worst / bits
            }
            Formula::Fixed(packets) => packets as f64,
        }
    }
}

impl AdvertisedWindow for LinkRate {
    fn bytes(&mut self, input: &WindowInput) -> u64 {
        // Rounds to the nearest number of segments, as the dissertation rounds 9.6 to 10.
        let segments = (self.segments(input.segment) + 0.5).max(1.0) as u64;
        (segments.saturating_mul(input.segment)).min(LARGEST).saturating_sub(input.unread)
    }

    fn largest(&self) -> u64 {
        LARGEST
    }

    fn on_link_rate(&mut self, rate: Rate) {
        if self.is_adaptive && rate.bps() > 0 {
            self.rate = rate;
        }
    }

    fn shrinks(&self) -> bool {
        self.shrinks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(formula: Formula, is_adaptive: bool) -> LinkRate {
        LinkRate { formula, rate: Rate::from_bps(384_000), is_adaptive, shrinks: false }
    }

    const EQUATION: Formula = Formula::Equation { delay: Duration::from_millis(5), retransmissions: 5 };

    #[test]
    fn equation_5_2_with_the_stated_numbers() {
        // At 384 kbit/s, T = (31.25 ms + 10 ms) × 5 = 206.25 ms, which gives 6.6 packets. At 64 kbit/s, T = 987.5 ms
        // gives 5.27 packets.
        let mut window = window(EQUATION, true);
        assert!((window.segments(1500) - 6.6).abs() < 1e-9);
        window.on_link_rate(Rate::from_bps(64_000));
        assert!((window.segments(1500) - 5.266_666_666).abs() < 1e-6);
        assert_eq!(window.bytes(&WindowInput { unread: 0, segment: 1500 }), 7500);
    }

    #[test]
    fn published_windows_follow_the_rate_if_they_may() {
        let bytes = |window: &mut LinkRate| window.bytes(&WindowInput { unread: 0, segment: 1500 });
        for (is_adaptive, slow) in [(true, 6000), (false, 15_000)] {
            let mut window = window(Formula::Published, is_adaptive);
            assert_eq!(bytes(&mut window), 15_000);
            window.on_link_rate(Rate::from_bps(64_000));
            assert_eq!(bytes(&mut window), slow);
            window.on_link_rate(Rate::from_bps(384_000));
            assert_eq!(bytes(&mut window), 15_000);
        }
    }
}

//! RTT method (hasegawa §3.2.3, Eq. 3): a random decision. The probability of congestion is the position of the latest
//! RTT between the smallest RTT (0) and the largest RTT (1).

use super::{Build, Cause, Gap, LossDiscriminator, Observation};
use crate::receiver::window_estimate::PathEstimate;
use lasthop_base::{Info, Mechanism, Parameter, Stream, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "rtt",
        summary: "treats a loss as congestion with probability (RTT - RTTmin) / (RTTmax - RTTmin)",
        source: "hasegawa §3.2.3, Eq. 3",
        parameters: &[Parameter {
            name: "probability",
            unit: Unit::Word(&["eq3", "sentence"]),
            default: Some("eq3"),
            doc: "meaning of P_c: probability of congestion (Eq. 3) or of a wireless loss (the sentence after Eq. 3)",
        }],
        ..Info::PLAIN
    },
    build: &|values| Box::new(RttSpread { inverted: values.word("probability") == "sentence" }),
};

struct RttSpread {
    inverted: bool,
}

impl LossDiscriminator for RttSpread {
    fn observe(&mut self, _: &Observation) {}

    fn discriminate(&mut self, _: &Gap, path: &PathEstimate, random: &mut Stream) -> Cause {
        let spread = path.max_rtt.saturating_sub(path.min_rtt).as_secs();
        let risen = path.latest_rtt.saturating_sub(path.min_rtt).as_secs();
        let p_c = if spread > 0.0 { risen / spread } else { 0.0 };
        if (random.uniform() < p_c) != self.inverted { Cause::Congestion } else { Cause::Wireless }
    }

    fn needs_estimate(&self) -> bool {
        true
    }
}

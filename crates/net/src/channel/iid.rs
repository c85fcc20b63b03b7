//! Independent losses with a constant probability.

use super::{Build, Channel, PacketDraws, Reception, Threshold, Transmission};
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "iid",
        summary: "each transmission is lost with the same probability",
        source: "saad §4 (packet loss rate); netem `loss random`",
        parameters: &[Parameter {
            name: "loss",
            unit: Unit::Probability(0.0, 1.0),
            default: Some("0.01"),
            doc: "loss probability of a transmission of any size",
        }],
        ..Info::PLAIN
    },
    build: &|values, stream| {
        let loss = values.number("loss");
        Box::new(Iid { draws: PacketDraws::new(stream), loss: Threshold::of(loss), probability: loss })
    },
};

struct Iid {
    draws: PacketDraws,
    loss: Threshold,
    probability: f64,
}

impl Channel for Iid {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        if self.draws.happens(transmission.attempt, self.loss) { Reception::Lost } else { Reception::Intact }
    }

    fn loss_probability(&self) -> Option<f64> {
        Some(self.probability)
    }

    fn set_loss_probability(&mut self, share: f64) {
        (self.loss, self.probability) = (Threshold::of(share), share);
    }

    /// A lost transmission has one error at a random position. The probability that this error is in the header is
    /// proportional to the header's length (our choice).
    fn has_intact_header(&self, transmission: &Transmission, header: u32) -> bool {
        let part = f64::from(header.min(transmission.bytes)) / f64::from(transmission.bytes.max(1));
        self.draws.spares(transmission.attempt, Threshold::of(self.probability * part))
    }
}

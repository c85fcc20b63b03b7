//! Independent bit errors. With bit error rate b, a transmission of n bits is lost with probability 1 - (1 - b)^n.

use super::{Build, Channel, PacketDraws, Reception, Threshold, Transmission};
use lasthop_base::{Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "bit_error",
        summary: "independent bit errors: larger packets are lost more often",
        source: "hasegawa §4.1",
        parameters: &[Parameter {
            name: "rate",
            unit: Unit::Probability(0.0, 1.0),
            default: Some("1e-5"),
            doc: "bit error rate",
        }],
        ..Info::PLAIN
    },
    build: &|values, stream| {
        let rate = values.number("rate");
        Box::new(BitError {
            draws: PacketDraws::new(stream),
            // The probability that a byte has no error is (1 - b)^8, where b is the bit error rate. `log_intact_byte`
            // is the logarithm of this probability. `log1p` is accurate for small b.
            log_intact_byte: 8.0 * libm::log1p(-rate),
            bytes: 0,
            loss: Threshold::of(0.0),
        })
    },
};

struct BitError {
    draws: PacketDraws,
    log_intact_byte: f64,
    bytes: u32,
    loss: Threshold,
}

impl Channel for BitError {
    fn transmit(&mut self, transmission: &Transmission) -> Reception {
        if self.bytes != transmission.bytes {
            self.bytes = transmission.bytes;
            self.loss = Threshold::of(-libm::expm1(self.log_intact_byte * f64::from(transmission.bytes)));
        }
        if self.draws.happens(transmission.attempt, self.loss) { Reception::Lost } else { Reception::Intact }
    }

    /// The header is damaged if the packet's random draw is below the probability of an error in the header alone. A
    /// lost packet then has an intact header with probability ((1 - b)^h - (1 - b)^n) / (1 - (1 - b)^n), as for
    /// independent errors. Here b is the bit error rate, and the header has h of the packet's n bits.
    fn has_intact_header(&self, transmission: &Transmission, header: u32) -> bool {
        let hit = -libm::expm1(self.log_intact_byte * f64::from(header.min(transmission.bytes)));
        self.draws.spares(transmission.attempt, Threshold::of(hit))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::{Stream, Time};
    use lasthop_wire::Priority;

    /// The share of lost packets with an intact header must be ((1 - b)^h - (1 - b)^n) / (1 - (1 - b)^n), for a bit
    /// error rate b and a header of h of the packet's n bits.
    #[test]
    fn headers_are_spared_as_often_as_the_formula_says() {
        for rate in [1e-5, 1e-4] {
            let mut values = MECHANISM.info.defaults();
            values.set("rate", lasthop_base::Value::Number(rate));
            let mut channel = (MECHANISM.build)(&values, Stream::named(1, "air"));
            let (start, end, priority) = (Time::ZERO, Time::ZERO, Priority::NORMAL);
            let transmission = Transmission { start, end, bytes: 1040, priority, attempt: 0 };
            let (mut lost, mut spared) = (0.0, 0.0);
            for _ in 0..200_000 {
                if channel.transmit(&transmission) == Reception::Lost {
                    lost += 1.0;
                    spared += f64::from(u8::from(channel.has_intact_header(&transmission, 40)));
                }
            }
            let intact = |bytes: f64| libm::pow(1.0 - rate, 8.0 * bytes);
            let expected = (intact(40.0) - intact(1040.0)) / (1.0 - intact(1040.0));
            let error = libm::sqrt(expected * (1.0 - expected) / lost);
            assert!(
                (spared / lost - expected).abs() < 4.0 * error,
                "{rate}: {} of {expected}",
                spared / lost
            );
        }
    }
}

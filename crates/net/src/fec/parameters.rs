//! Parameters of an erasure code on a link.

use super::FecLayer;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit, Values};

/// Link layer `fec`; the module `fec` describes the model.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "fec",
        summary: "forward error correction: parity packets rebuild lost packets, without retransmission",
        source: "huang §1; saad §2; block codes as in RFC 6363, RFC 6865",
        parameters: &[
            Parameter {
                name: "block",
                unit: Unit::Count(1, 255),
                default: Some("10"),
                doc: "block size n, packets, parity included",
            },
            Parameter {
                name: "rate",
                unit: Unit::Probability(0.01, 1.0),
                default: Some("0.8"),
                doc: "code rate k/n: k is the nearest whole number of data packets, at least 1",
            },
            Parameter {
                name: "excess",
                unit: Unit::Count(0, 254),
                default: Some("0"),
                doc: "packets beyond k that a block of k data packets needs to be decoded; 0: an ideal code",
            },
            Parameter {
                name: "depth",
                unit: Unit::Count(1, 64),
                default: Some("1"),
                doc: "interleaving depth: number of blocks to which consecutive packets belong in turn; 1: no \
                      interleaving",
            },
            Parameter {
                name: "wait",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(10)),
                default: Some("10 ms"),
                doc: "idle time after which incomplete blocks are closed and their parity is sent",
            },
            Parameter {
                name: "order",
                unit: Unit::Word(&["at_once", "kept"]),
                default: Some("at_once"),
                doc: "at_once: intact packets do not wait for lost packets; kept: packets after a lost packet \
                      wait for it",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| {
        LinkLayer::Full(Box::new(FecLayer { code: Code::of(values), wait: values.duration("wait") }))
    },
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Code {
    /// Number of data packets of a full block (k).
    pub(super) data: usize,
    /// Number of parity packets of each block (n - k).
    pub(super) parity: usize,
    /// Number of packets that decoding needs in addition to the number of data packets.
    pub(super) excess: usize,
    pub(super) depth: usize,
    pub(super) keeps_order: bool,
}

impl Code {
    fn of(values: &Values) -> Code {
        let block = values.count("block") as usize;
        let data = libm::round(values.number("rate") * block as f64) as usize;
        let data = data.clamp(1, block);
        Code {
            data,
            parity: block - data,
            excess: values.count("excess") as usize,
            depth: values.count("depth") as usize,
            keeps_order: values.word("order") == "kept",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_base::Value;

    #[test]
    fn the_rate_is_met_as_closely_as_whole_packets_allow() {
        for (block, rate, data) in
            [(10, 0.8, 8), (12, 0.667, 8), (10, 0.85, 9), (3, 0.01, 1), (1, 1.0, 1), (255, 1.0, 255)]
        {
            let values = MECHANISM
                .info
                .defaults()
                .with("block", Value::Count(block))
                .with("rate", Value::Number(rate));
            let code = Code::of(&values);
            assert_eq!((code.data, code.parity), (data, block as usize - data), "{rate} of {block}");
        }
    }
}

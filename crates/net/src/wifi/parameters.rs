//! Parameters of a Wi-Fi cell.

use super::WifiLayer;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

const SHORT: Unit = Unit::Duration(Duration::ZERO, Duration::from_millis(10));

/// Link layer `wifi`; the module `wifi` describes the model.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "wifi",
        summary: "Wi-Fi: shared medium with contention; frames are aggregated, acknowledged and retransmitted",
        source: "IEEE 802.11 (DCF, A-MPDU, block ACK); Bianchi 2000",
        parameters: &[
            Parameter {
                name: "transmissions",
                unit: Unit::Count(1, 1000),
                default: Some("7"),
                doc: "largest number of transmissions of a frame, the first included; then the frame is \
                      discarded (dot11ShortRetryLimit)",
            },
            Parameter {
                name: "frames",
                unit: Unit::Count(1, 256),
                default: Some("64"),
                doc: "largest aggregate, frames (the block ACK's window); 1: no aggregation",
            },
            Parameter {
                name: "airtime",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(100)),
                default: Some("4 ms"),
                doc: "largest duration of an aggregate with several frames",
            },
            Parameter {
                name: "slot",
                unit: SHORT,
                default: Some("9 us"),
                doc: "length of a back-off slot (OFDM)",
            },
            Parameter {
                name: "sifs",
                unit: SHORT,
                default: Some("16 us"),
                doc: "time between a frame and its link-layer ACK (5 GHz)",
            },
            Parameter {
                name: "difs",
                unit: SHORT,
                default: Some("34 us"),
                doc: "time for which the medium must be free before the back-off continues",
            },
            Parameter {
                name: "preamble",
                unit: SHORT,
                default: Some("40 us"),
                doc: "preamble of an aggregate",
            },
            Parameter {
                name: "ack",
                unit: SHORT,
                default: Some("32 us"),
                doc: "duration of an ACK, preamble included",
            },
            Parameter {
                name: "overhead",
                unit: Unit::Bytes(0, 1000),
                default: Some("40 bytes"),
                doc: "bytes of a frame beyond the packet: MAC and LLC headers, checksum, delimiter",
            },
            Parameter {
                name: "cw_min",
                unit: Unit::Count(1, 32_767),
                default: Some("15"),
                doc: "smallest contention window: back-off of 0 to this many slots",
            },
            Parameter {
                name: "cw_max",
                unit: Unit::Count(1, 32_767),
                default: Some("1023"),
                doc: "largest contention window, after doubling at failures",
            },
            Parameter {
                name: "stations",
                unit: Unit::Count(0, 1000),
                default: Some("0"),
                doc: "number of load stations in the cell, which contend without simulated packets; one link of \
                      the cell may set this number for all links",
            },
            Parameter {
                name: "load",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "total offered load of the load stations, as a share of the time (Poisson arrivals); 1: \
                      saturated",
            },
            Parameter {
                name: "access",
                unit: Unit::Duration(Duration::from_micros(1), Duration::from_millis(100)),
                default: Some("1 ms"),
                doc: "time for which a transmission of a load station occupies the medium, preamble and ACK \
                      included",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| LinkLayer::Full(Box::new(WifiLayer { values: values.clone() })),
};

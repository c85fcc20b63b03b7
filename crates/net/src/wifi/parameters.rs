//! What can be set of a Wi-Fi cell.

use super::Cell;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

const SHORT: Unit = Unit::Duration(Duration::ZERO, Duration::from_millis(10));

/// See the folder.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "wifi",
        summary: "Wi-Fi's medium: both directions contend for it, frames are aggregated, acknowledged and repeated",
        source: "IEEE 802.11 (DCF, A-MPDU, block ACK); Bianchi 2000",
        parameters: &[
            Parameter {
                name: "transmissions",
                unit: Unit::Count(1, 1000),
                default: Some("7"),
                doc: "transmissions of a frame in all, the first one counted; then it is discarded (dot11ShortRetryLimit)",
            },
            Parameter {
                name: "frames",
                unit: Unit::Count(1, 256),
                default: Some("64"),
                doc: "most frames of an aggregate (the block ACK's window); 1: none are aggregated",
            },
            Parameter {
                name: "airtime",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(100)),
                default: Some("4 ms"),
                doc: "an aggregate takes no frame beyond this, but one it has",
            },
            Parameter { name: "slot", unit: SHORT, default: Some("9 us"), doc: "of the back-off (OFDM)" },
            Parameter {
                name: "sifs",
                unit: SHORT,
                default: Some("16 us"),
                doc: "between frames and their ACK (5 GHz)",
            },
            Parameter {
                name: "difs",
                unit: SHORT,
                default: Some("34 us"),
                doc: "how long the medium is free before back-off goes on",
            },
            Parameter { name: "preamble", unit: SHORT, default: Some("40 us"), doc: "before an aggregate" },
            Parameter {
                name: "ack",
                unit: SHORT,
                default: Some("32 us"),
                doc: "length of an ACK, preamble included",
            },
            Parameter {
                name: "overhead",
                unit: Unit::Bytes(0, 1000),
                default: Some("40 bytes"),
                doc: "of a frame beside its packet: MAC and LLC headers, checksum, delimiter",
            },
            Parameter {
                name: "cw_min",
                unit: Unit::Count(1, 32_767),
                default: Some("15"),
                doc: "back-off is 0 to this many slots",
            },
            Parameter {
                name: "cw_max",
                unit: Unit::Count(1, 32_767),
                default: Some("1023"),
                doc: "after failures it doubles up to this",
            },
            Parameter {
                name: "stations",
                unit: Unit::Count(0, 1000),
                default: Some("0"),
                doc: "other stations in the cell, which take the medium, but whose packets are not simulated; one link of it may say so for all",
            },
            Parameter {
                name: "load",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("1"),
                doc: "share of time that they would take together, alone (Poisson); 1: each always has something to send",
            },
            Parameter {
                name: "access",
                unit: Unit::Duration(Duration::from_micros(1), Duration::from_millis(100)),
                default: Some("1 ms"),
                doc: "how long one of them takes the medium at a time, preamble and ACK included",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| LinkLayer::Whole(Box::new(Cell { values: values.clone() })),
};

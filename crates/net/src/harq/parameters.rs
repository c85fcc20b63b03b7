//! Parameters of hybrid ARQ and of RLC. The defaults are those of LTE, from these sources:
//!
//! * Timers and polls: srsRAN 4G's bearer of QCI 9 (`rb.conf`: t-PollRetransmit 120 ms, t-Reordering 50 ms,
//!   t-StatusProhibit 50 ms, pollPDU 64, pollByte 750 KB, maxRetxThreshold 32).
//! * PDCP's t-Reordering: srsRAN Project's 5QI 9 (`qos.yml`: 220 ms).
//! * Eight processes and a round trip of eight subframes: TS 36.321.
//! * Four transmissions, one misread NACK in a thousand, and 8 bytes of headers: usual values, from memory.

use super::HarqLayer;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Unit};

const SHORTEST: Duration = Duration::from_nanos(62_500);
const LONGEST: Duration = Duration::from_secs(1000);

/// Link layer `harq`; the module `harq` describes the model.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "harq",
        summary: "LTE and 5G NR: hybrid ARQ of transport blocks under RLC (acknowledged or unacknowledged mode)",
        source: "3GPP TS 36.321, 36.322, 38.322, 38.323; combining: Simu5G",
        parameters: &[
            Parameter {
                name: "mode",
                unit: Unit::Word(&["am", "um"]),
                default: Some("am"),
                doc: "RLC mode: am (acknowledged, with status reports) or um (unacknowledged: HARQ's losses are \
                      final)",
            },
            Parameter {
                name: "slot",
                unit: Unit::Duration(SHORTEST, Duration::from_millis(10)),
                default: Some("1 ms"),
                doc: "duration of a transport block (LTE 1 ms; NR at 15 kHz 1 ms, at 30 kHz 0.5 ms, at 120 kHz 0.125 ms)",
            },
            Parameter {
                name: "processes",
                unit: Unit::Count(1, 32),
                default: Some("8"),
                doc: "stop-and-wait processes, one block each (LTE FDD 8, NR up to 16)",
            },
            Parameter {
                name: "round_trip",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("8 ms"),
                doc: "time from a transmission to its retransmission, in whole slots (LTE FDD 8)",
            },
            Parameter {
                name: "transmissions",
                unit: Unit::Count(1, 1000),
                default: Some("4"),
                doc: "largest number of transmissions of a block, the first included",
            },
            Parameter {
                name: "combining",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.2"),
                doc: "probability that the n-th retransmission fails if the channel destroys it: this value to \
                      the power n",
            },
            Parameter {
                name: "misread",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.001"),
                doc: "probability that a NACK is misread as an ACK, which loses the block",
            },
            Parameter {
                name: "header",
                unit: Unit::Bytes(0, 100),
                default: Some("8 bytes"),
                doc: "header bytes of each SDU segment in a block (MAC, RLC, PDCP)",
            },
            Parameter {
                name: "order",
                unit: Unit::Word(&["rlc", "pdcp", "none"]),
                default: Some("rlc"),
                doc: "layer that delivers SDUs in order: rlc (LTE), pdcp (NR; waits for at most t_reordering), or none",
            },
            Parameter {
                name: "t_reassembly",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("50 ms"),
                doc: "time that HARQ has to deliver a missing segment (LTE's t-Reordering); afterwards the \
                      receiver sends a status report (am) or gives the segment up (um)",
            },
            Parameter {
                name: "t_reordering",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("220 ms"),
                doc: "longest time that PDCP waits for a missing SDU, with order = \"pdcp\"",
            },
            Parameter {
                name: "t_poll_retransmit",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("120 ms"),
                doc: "time without a status report after which a poll is repeated (am)",
            },
            Parameter {
                name: "t_status_prohibit",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("50 ms"),
                doc: "smallest time between two status reports (am)",
            },
            Parameter {
                name: "poll_pdus",
                unit: Unit::Count(0, 1_000_000),
                default: Some("64"),
                doc: "number of PDUs after which a block carries a poll (am); 0: no such polls",
            },
            Parameter {
                name: "poll_bytes",
                unit: Unit::Bytes(0, 1_000_000_000),
                default: Some("750 KB"),
                doc: "number of bytes after which a block carries a poll (am); 0: no such polls",
            },
            Parameter {
                name: "retransmissions",
                unit: Unit::Count(1, 1000),
                default: Some("32"),
                doc: "largest number of retransmissions of an SDU (am, maxRetxThreshold); then the SDU is given up",
            },
            Parameter {
                name: "window",
                unit: Unit::Count(1, 131_072),
                default: Some("131072"),
                doc: "transmit window: largest number of unacknowledged SDUs (am; TS 38.322 §7.2: 2048 or 131072)",
            },
        ],
        only_if: &[
            OnlyIf {
                parameters: &[
                    "t_poll_retransmit",
                    "t_status_prohibit",
                    "poll_pdus",
                    "poll_bytes",
                    "retransmissions",
                    "window",
                ],
                other: "mode",
                is: Is::This("am"),
            },
            OnlyIf { parameters: &["t_reordering"], other: "order", is: Is::This("pdcp") },
        ],
        ..Info::PLAIN
    },
    build: &|values| LinkLayer::Full(Box::new(HarqLayer { values: values.clone() })),
};

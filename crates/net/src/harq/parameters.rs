//! What can be set of hybrid ARQ and of RLC above it. Defaults are LTE's.
//!
//! Of timers and polls: srsRAN 4G's bearer of QCI 9 (`rb.conf`: 120, 50 and 50 ms, 64 PDUs, 750 KB, 32 retransmissions);
//! t-Reordering of PDCP: srsRAN Project's of 5QI 9 (`qos.yml`: 220 ms). Eight processes, eight subframes: TS 36.321. Four
//! transmissions, one NACK in a thousand taken for an ACK, 8 bytes of headers: usual, from memory.

use super::Radio;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Unit};

const SHORTEST: Duration = Duration::from_nanos(62_500);
const LONGEST: Duration = Duration::from_secs(1000);

/// See the folder.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "harq",
        summary: "LTE and 5G NR: hybrid ARQ of transport blocks under RLC, acknowledged or not, with their timers",
        source: "3GPP TS 36.321, 36.322, 38.322, 38.323; combining: Simu5G",
        parameters: &[
            Parameter {
                name: "mode",
                unit: Unit::Word(&["am", "um"]),
                default: Some("am"),
                doc: "RLC: acknowledged (status, retransmissions), or not (what HARQ loses is lost)",
            },
            Parameter {
                name: "slot",
                unit: Unit::Duration(SHORTEST, Duration::from_millis(10)),
                default: Some("1 ms"),
                doc: "a block's length (LTE 1 ms; NR 1 ms at 15 kHz, 0.5 at 30, 0.125 at 120); it has the link's rate times this",
            },
            Parameter {
                name: "processes",
                unit: Unit::Count(1, 32),
                default: Some("8"),
                doc: "blocks under way at once, each stop-and-wait (LTE FDD 8, NR up to 16)",
            },
            Parameter {
                name: "round_trip",
                unit: Unit::Duration(SHORTEST, LONGEST),
                default: Some("8 ms"),
                doc: "from a transmission to its repeat, in whole slots (LTE FDD 8)",
            },
            Parameter {
                name: "transmissions",
                unit: Unit::Count(1, 1000),
                default: Some("4"),
                doc: "of a block in all, the first one counted",
            },
            Parameter {
                name: "combining",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.2"),
                doc: "a repeat fails as the channel says times this to the power of the transmissions before it",
            },
            Parameter {
                name: "misread",
                unit: Unit::Probability(0.0, 1.0),
                default: Some("0.001"),
                doc: "probability that a NACK is taken for an ACK, so that a block is lost",
            },
            Parameter {
                name: "header",
                unit: Unit::Bytes(0, 100),
                default: Some("8 bytes"),
                doc: "of each piece of an SDU in a block (MAC, RLC, PDCP)",
            },
            Parameter {
                name: "order",
                unit: Unit::Word(&["rlc", "pdcp", "none"]),
                default: Some("rlc"),
                doc: "who keeps SDUs in order: RLC (LTE), PDCP for as long as t_reordering (NR), or nobody",
            },
            Parameter {
                name: "t_reassembly",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("50 ms"),
                doc: "how long a missing piece may be with HARQ (LTE's t-Reordering); then status (am), or it is given up (um)",
            },
            Parameter {
                name: "t_reordering",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("220 ms"),
                doc: "how long PDCP waits for a missing SDU, with order = \"pdcp\"",
            },
            Parameter {
                name: "t_poll_retransmit",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("120 ms"),
                doc: "time without an answer after which a poll is sent again (am)",
            },
            Parameter {
                name: "t_status_prohibit",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("50 ms"),
                doc: "shortest time from one status to the next (am)",
            },
            Parameter {
                name: "poll_pdus",
                unit: Unit::Count(0, 1_000_000),
                default: Some("64"),
                doc: "PDUs after which a block polls (am); 0: their number does not count",
            },
            Parameter {
                name: "poll_bytes",
                unit: Unit::Bytes(0, 1_000_000_000),
                default: Some("750 KB"),
                doc: "bytes after which a block polls (am); 0: their number does not count",
            },
            Parameter {
                name: "retransmissions",
                unit: Unit::Count(1, 1000),
                default: Some("32"),
                doc: "most retransmissions of an SDU (am, maxRetxThreshold); then it is given up",
            },
            Parameter {
                name: "window",
                unit: Unit::Count(1, 131_072),
                default: Some("131072"),
                doc: "most SDUs begun and not acknowledged (am; TS 38.322 §7.2: 2048 or 131072)",
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
    build: &|values| LinkLayer::Whole(Box::new(Radio { values: values.clone() })),
};

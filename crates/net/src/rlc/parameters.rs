//! What can be set of RLC.

use super::Acknowledged;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Unit};

const LONGEST: Duration = Duration::from_secs(1000);

/// See the folder.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "rlc",
        summary: "RLC acknowledged mode: selective repeat of PDUs in transport blocks, reordering with a timer",
        source: "3GPP TS 25.322; koga §4.2, §5.2.1",
        parameters: &[
            Parameter {
                name: "tti",
                unit: Unit::Duration(Duration::from_millis(1), Duration::from_secs(1)),
                default: Some("20 ms"),
                doc: "transmission time interval; a block has the link's rate times this",
            },
            Parameter {
                name: "pdu",
                unit: Unit::Bytes(1, 10_000),
                default: Some("42 bytes"),
                doc: "a PDU on the air, header included; a block has as many as fit, or one, which then takes several intervals",
            },
            Parameter {
                name: "header",
                unit: Unit::Bytes(0, 100),
                default: Some("2 bytes"),
                doc: "of it header",
            },
            Parameter {
                name: "concatenate",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "whether an SDU may begin in the PDU in which the one before ends",
            },
            Parameter {
                name: "retransmissions",
                unit: Unit::Count(0, 1000),
                default: Some("5"),
                doc: "most retransmissions of a PDU, where the discard goes by them",
            },
            Parameter {
                name: "discard",
                unit: Unit::Word(&["retransmissions", "timer", "never"]),
                default: Some("retransmissions"),
                doc: "when an SDU is given up: after too many retransmissions of a PDU, after its lifetime, or never",
            },
            Parameter {
                name: "lifetime",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("3 s"),
                doc: "time in the buffer after which discard = \"timer\" gives an SDU up",
            },
            Parameter {
                name: "announce",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether the receiving side is told of a discarded SDU; else it waits for it",
            },
            Parameter {
                name: "wait",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("300 ms"),
                doc: "waiting timer WT: how long whole SDUs wait for earlier ones; 0: out of order",
            },
            Parameter {
                name: "status_delay",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(10)),
                default: Some("0 ms"),
                doc: "from a block's arrival (polled: from a poll's) until its status leaves, beside the propagation delay",
            },
            Parameter {
                name: "status",
                unit: Unit::Word(&["constant", "polled"]),
                default: Some("constant"),
                doc: "how the sending side hears: of every block after status_delay, or by status PDUs that polls ask for",
            },
            Parameter {
                name: "poll_pdus",
                unit: Unit::Count(0, 1_000_000),
                default: Some("16"),
                doc: "PDUs after which a block polls (Poll_PDU), where status is polled; 0: their number does not count",
            },
            Parameter {
                name: "poll_last",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether the last PDU in the buffer, or of those to be sent again, polls",
            },
            Parameter {
                name: "poll_timer",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("300 ms"),
                doc: "time without status, while something is unacknowledged, after which a poll is sent again (Timer_Poll)",
            },
            Parameter {
                name: "prohibit",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("0 ms"),
                doc: "shortest time from one status to the next (Timer_Status_Prohibit)",
            },
            Parameter {
                name: "loses",
                unit: Unit::Word(&["block", "pdu"]),
                default: Some("block"),
                doc: "what one answer of the channel is about: a block as a whole, or each PDU",
            },
            Parameter {
                name: "holds",
                unit: Unit::Word(&["unacknowledged", "unsent"]),
                default: Some("unacknowledged"),
                doc: "which SDUs count in the queue: all not yet acknowledged, or those not yet wholly sent once",
            },
            Parameter {
                name: "number_overflow",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "whether an SDU that finds the queue full has its number already, so that the receiver waits for it",
            },
        ],
        only_if: &[
            OnlyIf { parameters: &["retransmissions"], other: "discard", is: Is::This("retransmissions") },
            OnlyIf { parameters: &["lifetime"], other: "discard", is: Is::This("timer") },
            OnlyIf { parameters: &["announce"], other: "discard", is: Is::Not("never") },
            OnlyIf {
                parameters: &["poll_pdus", "poll_last", "poll_timer", "prohibit"],
                other: "status",
                is: Is::This("polled"),
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| LinkLayer::Whole(Box::new(Acknowledged { values: values.clone() })),
};

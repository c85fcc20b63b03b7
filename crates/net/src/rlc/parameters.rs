//! Parameters of RLC.

use super::RlcLayer;
use crate::arq::{Build, LinkLayer};
use lasthop_base::{Duration, Info, Is, Mechanism, OnlyIf, Parameter, Unit};

const LONGEST: Duration = Duration::from_secs(1000);

/// Link layer `rlc`; the module `rlc` describes the model.
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
                doc: "transmission time interval (TTI); a block's size is the link's rate times this interval",
            },
            Parameter {
                name: "pdu",
                unit: Unit::Bytes(1, 10_000),
                default: Some("42 bytes"),
                doc: "PDU size, header included; a transport block has as many PDUs as fit; if not even one fits, a PDU takes several intervals",
            },
            Parameter {
                name: "header",
                unit: Unit::Bytes(0, 100),
                default: Some("2 bytes"),
                doc: "header of a PDU",
            },
            Parameter {
                name: "concatenate",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "an SDU may begin in the PDU in which the previous SDU ends",
            },
            Parameter {
                name: "retransmissions",
                unit: Unit::Count(0, 1000),
                default: Some("5"),
                doc: "largest number of retransmissions of a PDU, with discard = \"retransmissions\"",
            },
            Parameter {
                name: "discard",
                unit: Unit::Word(&["retransmissions", "timer", "never"]),
                default: Some("retransmissions"),
                doc: "condition under which an SDU is discarded: too many retransmissions of a PDU, end of the \
                      SDU's lifetime, or never",
            },
            Parameter {
                name: "lifetime",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("3 s"),
                doc: "time in the buffer after which discard = \"timer\" discards an SDU",
            },
            Parameter {
                name: "announce",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "announces discarded SDUs to the receiver; if false, the receiver waits for them",
            },
            Parameter {
                name: "wait",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("300 ms"),
                doc: "reordering timer WT: longest time that complete SDUs wait for earlier SDUs; 0: delivery \
                      out of order",
            },
            Parameter {
                name: "status_delay",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(10)),
                default: Some("0 ms"),
                doc: "time from the arrival of a block (with polled status: of a poll) to its status report, \
                      without propagation delay",
            },
            Parameter {
                name: "status",
                unit: Unit::Word(&["constant", "polled"]),
                default: Some("constant"),
                doc: "constant: a status report for every block, after status_delay; polled: status PDUs, after polls",
            },
            Parameter {
                name: "poll_pdus",
                unit: Unit::Count(0, 1_000_000),
                default: Some("16"),
                doc: "number of PDUs after which a block carries a poll (Poll_PDU); 0: no such polls",
            },
            Parameter {
                name: "poll_last",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "sends a poll with the last PDU in the buffer, and with the last retransmission",
            },
            Parameter {
                name: "poll_timer",
                unit: Unit::Duration(Duration::from_millis(1), LONGEST),
                default: Some("300 ms"),
                doc: "time without a status report, while data is unacknowledged, after which a poll is repeated \
                      (Timer_Poll)",
            },
            Parameter {
                name: "prohibit",
                unit: Unit::Duration(Duration::ZERO, LONGEST),
                default: Some("0 ms"),
                doc: "smallest time between two status reports (Timer_Status_Prohibit)",
            },
            Parameter {
                name: "loses",
                unit: Unit::Word(&["block", "pdu"]),
                default: Some("block"),
                doc: "unit that the channel loses: the whole block, or each PDU",
            },
            Parameter {
                name: "holds",
                unit: Unit::Word(&["unacknowledged", "unsent"]),
                default: Some("unacknowledged"),
                doc: "SDUs that count towards the queue limit: all unacknowledged SDUs, or those not sent \
                      completely yet",
            },
            Parameter {
                name: "number_overflow",
                unit: Unit::Flag,
                default: Some("true"),
                doc: "gives a sequence number to an SDU that the full queue drops, so that the receiver waits \
                      for this SDU",
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
    build: &|values| LinkLayer::Full(Box::new(RlcLayer { values: values.clone() })),
};

//! What the paper leaves open, and the values other than the default (spec: "What the paper leaves open").

use super::setting::{Receiver, Setting};

type Changes = &'static [(&'static str, &'static str)];

/// Every other answer to every open question.
pub(super) fn all() -> Vec<Setting> {
    let mut settings: Vec<Setting> = ANSWERS
        .iter()
        .map(|(question, answer, changes)| Setting { question, answer, changes, ..Setting::default() })
        .collect();
    settings.push(Setting {
        question: "P_c",
        answer: "the sentence after Eq. 3",
        changes: &[("flow.bulk.receiver.cause.probability", "sentence")],
        only: Some(Receiver::Rtt),
        ..Setting::default()
    });
    settings.push(Setting {
        question: "newest packet in Jr",
        answer: "n, the first above the gap",
        changes: &[("flow.bulk.receiver.cause.newest", "after_gap")],
        only: Some(Receiver::Jtcp),
        ..Setting::default()
    });
    settings.push(Setting {
        question: "errors on the uplink",
        answer: "the same BER and ARQ",
        errors_on_uplink: true,
        ..Setting::default()
    });
    settings
}

const ANSWERS: &[(&str, &str, Changes)] = &[
    ("delay of a repeat", "per repeat, in order", &[("link.wireless.down.arq.mode", "per_repeat")]),
    ("delay of a repeat", "per repeat, overtaking", &[("link.wireless.down.arq.mode", "overtaking")]),
    ("delay of a repeat", "the link is held", &[("link.wireless.down.arq.mode", "stop_and_wait")]),
    ("transmissions in all", "3", &[("link.wireless.down.arq.transmissions", "3")]),
    ("delayed ACKs", "on", &[("flow.bulk.receiver.timing", "delayed")]),
    ("smallest RTO", "1 s", &[("flow.bulk.sender.min_rto", "1 s")]),
    (
        "cwnd_r at a loss",
        "halved, re-estimated every RTT",
        &[("flow.bulk.receiver.estimate.at_loss", "halve_and_refresh")],
    ),
    ("cwnd_r at a loss", "never halved", &[("flow.bulk.receiver.estimate.at_loss", "keep")]),
    ("cwnd_r in slow start", "+1 per ACK", &[("flow.bulk.receiver.estimate.slow_start", "one_per_ack")]),
    ("what a split covers", "the last segment only", &[("flow.bulk.receiver.shape.covers", "last_segment")]),
    ("r_queue, s_queue", "count the ACK in service", &[("flow.bulk.receiver.shape.queue", "with_service")]),
    ("sender", "NewReno", &[("flow.bulk.sender.recovery", "new_reno")]),
    ("sender", "Reno", &[("flow.bulk.sender.recovery", "reno")]),
    ("clock of S", "1 ms", &[("flow.bulk.timestamp_tick", "1 ms")]),
    ("clock of S", "10 ms", &[("flow.bulk.timestamp_tick", "10 ms")]),
    ("oracle", "the sender's true cwnd", &[("flow.bulk.receiver.estimate", "oracle")]),
    (
        "ACK size",
        "true headers (52 bytes and SACK blocks)",
        &[("headers", "real"), ("flow.bulk.dsack", "false")],
    ),
    (ACK_COUNTING, "rfc5681: bytes in slow start", &[("flow.bulk.sender.counting", "rfc5681")]),
    (ACK_COUNTING, "bytes (RFC 3465)", &[("flow.bulk.sender.counting", "bytes")]),
    (ACK_COUNTING, "packets (Linux)", &[("flow.bulk.sender.counting", "packets")]),
];

/// The question whose answers say what is left of the gain today.
pub(super) const ACK_COUNTING: &str = "the sender's ACK counting";

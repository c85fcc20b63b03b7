//! What the paper leaves open, and the values other than the default.

use super::setting::{Change, Setting};
use Change::{Flow, LossesUp, Queue, Reno, Shared, WCw};

/// Every other answer to every open question.
pub(super) fn all() -> Vec<Setting> {
    settings(ANSWERS).collect()
}

/// The same for Table I, whose topology is lost: all of them and its own.
pub(super) fn of_table_1() -> Vec<Setting> {
    settings(ANSWERS).chain(settings(OF_FIG_7)).collect()
}

type Answers = &'static [(&'static str, &'static str, &'static [Change])];

fn settings(answers: Answers) -> impl Iterator<Item = Setting> {
    answers.iter().map(|(question, answer, changes)| Setting { question, answer, changes })
}

/// The question whose answers decide which kind starves the other.
pub(super) const THRESHOLD: &str = "marking threshold";

const OF_FIG_7: Answers = &[
    ("delay of the shared link (Fig. 7)", "1 ms", &[Shared("one_way_delay", "1 ms")]),
    ("delay of the shared link (Fig. 7)", "10 ms", &[Shared("one_way_delay", "10 ms")]),
];

const ANSWERS: Answers = &[
    (THRESHOLD, "1", &[Queue("threshold", "1")]),
    (THRESHOLD, "10", &[Queue("threshold", "10")]),
    (THRESHOLD, "20", &[Queue("threshold", "20")]),
    (THRESHOLD, "30", &[Queue("threshold", "30")]),
    (THRESHOLD, "40", &[Queue("threshold", "40")]),
    (THRESHOLD, "45", &[Queue("threshold", "45")]),
    (THRESHOLD, "50 (never)", &[Queue("threshold", "50")]),
    ("weight", "0.02", &[Queue("weight", "0.02")]),
    ("weight", "0.2", &[Queue("weight", "0.2")]),
    ("weight", "1 (the queue itself)", &[Queue("weight", "1")]),
    ("buffer", "10 packets", &[Queue("packets", "10")]),
    ("buffer", "20 packets", &[Queue("packets", "20")]),
    ("buffer", "100 packets", &[Queue("packets", "100")]),
    ("echo", "latched (RFC 3168)", &[WCw("receiver.echo", "latched")]),
    ("marked ACKs halve", "once per smoothed RTT", &[WCw("sender.congestion.marks", "rtt")]),
    ("marked ACKs halve", "each of them", &[WCw("sender.congestion.marks", "every")]),
    ("marked duplicates", "retransmit without halving", &[WCw("sender.congestion.marked_loss", "keep")]),
    ("after a timeout", "half of FlightSize", &[WCw("sender.congestion.after_timeout", "half")]),
    ("ssthresh", "estimate x latest RTT", &[WCw("sender.congestion.times", "latest")]),
    ("time constant", "100 ms", &[WCw("sender.congestion.time_constant", "100 ms")]),
    ("time constant", "2 s", &[WCw("sender.congestion.time_constant", "2 s")]),
    ("recovery of both", "NewReno", &[Flow("sender.recovery", "new_reno")]),
    ("recovery of W_CW", "NewReno", &[WCw("sender.recovery", "new_reno")]),
    ("Reno hears marks", "ECN, latched", &[Reno("ecn", "true")]),
    ("Reno hears marks", "and the threshold is 1", &[Reno("ecn", "true"), Queue("threshold", "1")]),
    ("Reno hears marks", "and the threshold is 20", &[Reno("ecn", "true"), Queue("threshold", "20")]),
    ("Reno hears marks", "and the weight is 0.02", &[Reno("ecn", "true"), Queue("weight", "0.02")]),
    ("advertised window", "20 packets (ns-2)", &[Flow("receiver.window.size", "20000 bytes")]),
    ("packets", "1460 bytes", &[Flow("segment", "1460 bytes")]),
    ("packets", "500 bytes", &[Flow("segment", "500 bytes")]),
    ("delayed ACKs", "on", &[Flow("receiver.timing", "delayed")]),
    ("smallest RTO", "1 s", &[Flow("sender.min_rto", "1 s")]),
    ("errors", "on ACKs too", &[LossesUp]),
];

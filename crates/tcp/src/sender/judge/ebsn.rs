//! Explicit bad state notification, the sender's half: while the base station says that it is still trying, the
//! retransmission timer starts anew (Bakshi, Krishna, Vaidya and Pradhan, ICDCS 1997). A loss is congestion as always. The
//! other half is the middlebox of the same name.
//!
//! # What is ours
//! The paper was not at hand; the rule is from memory. `limit` is ours: anybody can write a notice, and a peer that is
//! silent for so long is not waited for any longer.

use super::{Build, LossJudge};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ebsn",
        summary: "every loss is congestion, but a base station's notice that it still tries restarts the timer",
        source: "Bakshi et al., ICDCS 1997 (from memory)",
        parameters: &[
            Parameter {
                name: "undo",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "whether a notice is heeded after the timer has expired already",
            },
            Parameter {
                name: "limit",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(3600)),
                default: Some("10 s"),
                doc: "silence of the receiver after which notices are not heeded",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| Some(Box::new(Ebsn { undoes: values.flag("undo"), limit: values.duration("limit") })),
};

struct Ebsn {
    undoes: bool,
    limit: Duration,
}

impl LossJudge for Ebsn {
    fn on_bad_state(&mut self, now: Time, backed_off: bool, heard_at: Time) -> bool {
        (self.undoes || !backed_off) && now.since(heard_at) <= self.limit
    }

    fn judges(&self) -> bool {
        false
    }
}

//! Explicit bad state notification, sender side (Bakshi, Krishna, Vaidya and Pradhan, ICDCS 1997). The base station
//! notifies the sender of each link-layer retransmission, and the notice restarts the sender's retransmission timer.
//! Every loss counts as congestion. The middlebox `ebsn` sends the notices.
//!
//! # Our choices
//! The rule is from memory. The parameter `limit` is ours. Because notices can be forged, they have no effect after the
//! receiver has been silent for `limit`.

use super::{Build, LossDiscriminator};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ebsn",
        summary: "restarts the timer on a base station's notice of link retries; every loss is congestion",
        source: "Bakshi et al., ICDCS 1997 (from memory)",
        parameters: &[
            Parameter {
                name: "undo",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "accept a notice after the timer has expired",
            },
            Parameter {
                name: "limit",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(3600)),
                default: Some("10 s"),
                doc: "silence of the receiver after which notices are ignored",
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

impl LossDiscriminator for Ebsn {
    fn on_bad_state(&mut self, now: Time, backed_off: bool, heard_at: Time) -> bool {
        (self.undoes || !backed_off) && now.since(heard_at) <= self.limit
    }

    fn discriminates_losses(&self) -> bool {
        false
    }
}

//! No early end of slow start: only a loss, a mark or ssthresh ends slow start.

use super::Build;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "none",
        summary: "only a loss, a mark or ssthresh ends slow start",
        source: "RFC 5681 §3.1",
        ..Info::PLAIN
    },
    build: &|_| None,
};

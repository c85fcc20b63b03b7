//! None: slow start goes on until something is lost or marked, or cwnd reaches ssthresh.

use super::Build;
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "none",
        summary: "a loss, a mark or ssthresh, nothing else",
        source: "RFC 5681 §3.1",
        ..Info::PLAIN
    },
    build: &|_| None,
};

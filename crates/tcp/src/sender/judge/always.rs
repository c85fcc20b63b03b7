//! Every loss is congestion: what TCP believes, and nobody is asked.

use super::Build;
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "always",
        summary: "every loss is taken for congestion",
        source: "RFC 5681 §3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| None,
};

//! No discrimination: every loss counts as congestion.

use super::Build;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "always",
        summary: "treats every loss as congestion",
        source: "RFC 5681 §3",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| None,
};

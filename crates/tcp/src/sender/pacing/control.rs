//! No pacing, except by congestion controls that set a pacing rate (BBR, Copa, Prague).

use super::Build;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "control",
        summary: "paces only if the congestion control sets a pacing rate",
        source: "RFC 5681 (ACK clock)",
        as_linux: true,
        ..Info::PLAIN
    },
    build: &|_| None,
};

//! Immediate reduction (RFC 5681, RFC 6675): cwnd falls at once, and sending pauses until the bytes in flight are below
//! cwnd.

use super::Build;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "at_once",
        summary: "reduces the window at once",
        source: "RFC 5681 §3.2; RFC 6675 §5",
        ..Info::PLAIN
    },
    build: &|_| None,
};

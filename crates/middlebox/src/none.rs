//! A node that only forwards.

use super::Build;
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info { name: "none", summary: "nothing: it forwards", source: "RFC 1812", ..Info::PLAIN },
    build: &|_, _| None,
};

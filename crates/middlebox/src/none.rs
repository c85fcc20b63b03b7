//! No middlebox: the node only forwards packets.

use super::Build;
use lasthop_base::{Info, Mechanism};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info { name: "none", summary: "only forwards packets", source: "RFC 1812", ..Info::PLAIN },
    build: &|_, _| None,
};

//! At once (RFC 5681, RFC 6675): nothing goes out until what is in flight is below the reduced window.

use super::Build;
use lasthop_base::{Info, Mechanism};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "at_once",
        summary: "the reduced window holds from the first",
        source: "RFC 5681 §3.2; RFC 6675 §5",
        ..Info::PLAIN
    },
    build: &|_| None,
};

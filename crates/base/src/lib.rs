//! Types that all other crates use. These types do not depend on packets.
//!
//! * [`time`]: instants and durations in integer nanoseconds.
//! * [`rate`]: rates in bits per second, and transmission times.
//! * [`random`]: named random streams, derived from one seed.
//! * [`spread`]: probability distributions of sizes and times.
//! * [`mechanism`]: descriptions of mechanisms, from which scenario keys, `lasthop list` and the JSON Schema are
//!   derived.
//! * [`quantity`]: parsing of quantities such as `45 ms`, `2 Mbit/s`, `1 %`.

pub mod mechanism;
pub mod quantity;
pub mod random;
pub mod rate;
pub mod spread;
pub mod time;

pub use mechanism::{
    Choice, Info, Is, Limit, Live, Mechanism, Need, OneOf, OnlyIf, Parameter, Seam, SeamInfo, Selection,
    Unit, Value, Values, find,
};
pub use random::Stream;
pub use rate::Rate;
pub use spread::Spread;
pub use time::{Duration, Time};

/// Hash of the source files of this crate, 16 hexadecimal digits.
pub const SOURCES: &str = lasthop_sources::hash!();

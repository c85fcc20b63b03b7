//! What every other crate stands on, and nothing that knows a packet.
//!
//! * [`time`]: instants and durations in integer nanoseconds.
//! * [`rate`]: bits per second, and how long bytes take at that rate.
//! * [`random`]: one seed, many named streams.
//! * [`spread`]: how sizes and times spread about their mean.
//! * [`mechanism`]: how a strategy describes itself and its parameters, so that
//!   scenarios, `lasthop list` and the JSON Schema are derived from one table.
//! * [`quantity`]: `45 ms`, `2 Mbit/s`, `1 %` read as people write them.

pub mod mechanism;
pub mod quantity;
pub mod random;
pub mod rate;
pub mod spread;
pub mod time;

pub use mechanism::{
    Answer, Choice, Info, Is, Limit, Live, Mechanism, Need, OneOf, OnlyIf, Parameter, Question, Seam, Unit,
    Value, Values, find,
};
pub use random::Stream;
pub use rate::Rate;
pub use spread::Spread;
pub use time::{Duration, Time};

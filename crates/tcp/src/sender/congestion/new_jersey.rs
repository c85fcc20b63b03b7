//! New Jersey: [Jersey](super::jersey) with the receiver's clock in the place of the arrival of ACKs.
//!
//! The time stamps of ACKs say when the receiver sent them, so that ACKs that are lost or bunched on the way back do no harm to
//! the estimate. A clock that ticks more slowly than segments arrive makes them join until it moves.
//!
//! # Where it comes from
//! That the receiver's timestamps take the arrivals' place is from the abstract; the equation is Jersey's, with differences of
//! the receiver's clock (from memory).

use super::jersey::{Clock, Jersey, PARAMETERS};
use super::{Build, OnReno};
use lasthop_base::{Info, Mechanism, Need};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "new_jersey",
        summary: "Jersey, with the rate by the receiver's timestamps",
        source: "Xu, Tian, Ansari, Computer Networks 47, 2005 (abstract); the rest as jersey",
        parameters: PARAMETERS,
        needs: &[Need::Timestamps],
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Jersey::new(values, &start, Clock::Receiver)),
};

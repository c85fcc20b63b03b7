//! New Jersey: [Jersey](super::jersey) with the receiver's clock instead of the arrival times of ACKs.
//!
//! Timestamps in the ACKs show when the receiver sent each ACK, so that lost ACKs and bursts of ACKs do not distort the
//! estimate. Segments within one tick of the receiver's clock form one sample. The source for the timestamps is the
//! paper's abstract. The equation is Jersey's, from memory.

use super::jersey::{DeliveryClock, Jersey, PARAMETERS};
use super::{Build, OnReno};
use lasthop_base::{Info, Mechanism, Need};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "new_jersey",
        summary: "Jersey with the rate from the receiver's timestamps",
        source: "Xu, Tian, Ansari, Computer Networks 47, 2005 (abstract); the rest as in jersey",
        parameters: PARAMETERS,
        needs: &[Need::Timestamps],
        ..Info::PLAIN
    },
    build: &|values, start| OnReno::boxed(&start, Jersey::new(values, &start, DeliveryClock::Receiver)),
};

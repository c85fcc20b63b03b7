//! Delayed ACKs (RFC 1122 §4.2.3.2, RFC 5681 §4.2): one ACK for every second full segment, or an ACK when the delayed
//! ACK timer expires.

use super::{AckPolicy, AckTime, Build, DataArrival};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "delayed",
        summary: "delayed ACKs: an ACK for every second segment, or after a timer",
        source: "RFC 5681 §4.2; RFC 9293 §3.8.6.3",
        parameters: &[
            Parameter {
                name: "after",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("40 ms"),
                doc: "delayed ACK timer (less than half a second)",
            },
            Parameter {
                name: "every",
                unit: Unit::Count(1, 64),
                default: Some("2"),
                doc: "full segments per ACK (RFC 5681: at most 2)",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values| Box::new(Delayed { after: values.duration("after"), every: values.count("every") }),
};

struct Delayed {
    after: Duration,
    every: u64,
}

impl AckPolicy for Delayed {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        if arrival.urgent || arrival.unacknowledged >= self.every * arrival.segment {
            AckTime::Now
        } else {
            AckTime::After(self.after)
        }
    }
}

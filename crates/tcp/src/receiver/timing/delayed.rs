//! Delayed ACKs (RFC 1122 §4.2.3.2, RFC 5681 §4.2): every second full segment is acknowledged, the rest after a short
//! while.

use super::{AckTiming, Arrival, Build, When};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "delayed",
        summary: "every second segment, or when the timer runs out",
        source: "RFC 5681 §4.2; RFC 9293 §3.8.6.3",
        parameters: &[
            Parameter {
                name: "after",
                unit: Unit::Duration(Duration::ZERO, Duration::from_millis(499)),
                default: Some("40 ms"),
                doc: "how long an ACK waits for a second segment (less than half a second)",
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

impl AckTiming for Delayed {
    fn on_data(&mut self, arrival: &Arrival) -> When {
        match arrival.urgent || arrival.unacknowledged >= self.every * arrival.segment {
            true => When::Now,
            false => When::After(self.after),
        }
    }
}

//! An ACK policy in a separate crate. The receiver acknowledges every segment at first, while the sender's window is
//! small, and later every second segment (roughly Linux's quick ACKs).

use lasthop_base::{Duration, Info, Mechanism, Parameter, Unit};
use lasthop_scenario::{Catalogue, Problem};
use lasthop_tcp::receiver::ack_policy::{AckPolicy, AckTime, Build, DataArrival};

/// Description of the mechanism, for the catalogue.
pub const QUICK: Mechanism<Build> = Mechanism {
    info: Info {
        name: "quick",
        summary: "immediate ACKs at first, then one for every second segment",
        source: "Linux tcp_enter_quickack_mode, without its exit and re-entry",
        parameters: &[Parameter {
            name: "first",
            unit: Unit::Count(0, 1_000_000),
            default: Some("16"),
            doc: "number of segments at the start that are acknowledged immediately",
        }],
        ..Info::PLAIN
    },
    build: &|values| Box::new(Quick { left: values.count("first") }),
};

struct Quick {
    left: u64,
}

impl AckPolicy for Quick {
    fn on_data(&mut self, arrival: &DataArrival) -> AckTime {
        let is_early = self.left > 0;
        self.left = self.left.saturating_sub(1);
        if is_early || arrival.urgent || arrival.unacknowledged >= 2 * arrival.segment {
            AckTime::Now
        } else {
            AckTime::After(Duration::from_millis(40))
        }
    }
}

/// Returns the number of ACKs that the receiver sends in a transfer of 100 segments.
pub fn acks(ack_policy: &str) -> Result<u64, Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.tcp.ack_policy.add(&QUICK);
    let mut draft = catalogue.load("rate=10Mbit/s,rtt=40ms,transfer=100000bytes,segment=1000bytes")?;
    draft.set("ack_policy", ack_policy)?;
    Ok(lasthop_sim::run(&draft.check()?, 1).flows[0].destination.acks_sent)
}

/// Prints one line for each of four ACK policies.
pub fn main() -> Result<(), Problem> {
    for ack_policy in ["immediate", "delayed", "quick", r#"{ kind = "quick", first = 50 }"#] {
        println!("{ack_policy}: {} ACKs", acks(ack_policy)?);
    }
    Ok(())
}

//! A middlebox in a separate crate: a base station that forwards only every second pure ACK. Real routers that filter
//! ACKs on the uplink drop an ACK only if a later ACK of the same connection is in the queue (RFC 3449 §5.2.1).

use lasthop_base::{Info, Mechanism, Parameter, Time, Unit};
use lasthop_middlebox::{Build, Decision, Middlebox};
use lasthop_scenario::{Catalogue, Problem};
use lasthop_wire::{Flags, LossReason, Packet, Segment};

/// Description of the mechanism, for the catalogue.
pub const THINNED: Mechanism<Build> = Mechanism {
    info: Info {
        name: "thinned",
        summary: "forwards only the first of each group of pure ACKs",
        source: "RFC 3449 §5.2.1, much simplified",
        parameters: &[Parameter {
            name: "one_of",
            unit: Unit::Count(1, 1000),
            default: Some("2"),
            doc: "number of pure ACKs in a group; only the first is forwarded",
        }],
        ..Info::PLAIN
    },
    build: &|values, _| Some(Box::new(Thinned { one_of: values.count("one_of"), seen: 0 })),
};

struct Thinned {
    one_of: u64,
    seen: u64,
}

impl Middlebox for Thinned {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Decision>) {
        let is_pure = |segment: &Segment| segment.len == 0 && segment.flags == Flags::ACK;
        let is_ack = !packet.forward && packet.segment().is_some_and(is_pure);
        // Forwards the first of each `one_of` pure ACKs, and drops the other ACKs.
        let ends = is_ack && !self.seen.is_multiple_of(self.one_of);
        self.seen += u64::from(is_ack);
        out.push(if ends {
            Decision::Drop(packet, LossReason::MiddleboxRemoved)
        } else {
            Decision::Forward(packet)
        });
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn draws(&self) -> bool {
        false
    }
}

/// Runs a transfer over the path of the paper hasegawa. Returns three numbers: segments received, ACKs sent by the
/// receiver, and ACKs lost.
pub fn over(middlebox: &str) -> Result<(u64, u64, u64), Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.node.middlebox.add(&THINNED);
    let mut draft = catalogue.load("hasegawa")?;
    draft.set("duration", "20 s")?;
    draft.set("node.bs.middlebox", middlebox)?;
    let flow = &lasthop_sim::run(&draft.check()?, 1).flows[0];
    Ok((flow.destination.data_received, flow.destination.acks_sent, flow.account.lost_backward.total()))
}

/// Prints one line without the middlebox and one line with the middlebox.
pub fn main() -> Result<(), Problem> {
    for middlebox in ["none", "thinned"] {
        let (data, acks, ended) = over(middlebox)?;
        println!("{middlebox}: {data} segments arrived, {acks} ACKs were sent, {ended} ACKs were lost");
    }
    Ok(())
}

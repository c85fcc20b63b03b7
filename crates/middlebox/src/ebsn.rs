//! Explicit bad state notification: when the link layer fails to deliver a packet and tries again, the station tells the
//! packet's source, whose retransmission timer then starts anew (Bakshi, Krishna, Vaidya and Pradhan, ICDCS 1997). The
//! source's half is its judge of the same name. The station reads no TCP header: encrypted flows are helped as others.
//!
//! # What is ours
//! The paper was not at hand; the rules are from memory. A notice has 40 bytes, and may be lost or wait in a queue as any
//! packet; captures have it as an ICMP message of a type for experiments. `gap` is ours. A link reports
//! failures if it transmits packet by packet (`none`, `repeat`, `wifi`), whatever queue it has. `rlc` and `harq` transmit
//! segments, and `fec` retransmits nothing: a note says that they report none.

use crate::{Build, Middlebox, Onward, Site};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Ecn, NodeNotice, Packet, Priority};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ebsn",
        summary: "tells the source that the link layer fails and tries again",
        source: "Bakshi et al., ICDCS 1997 (from memory)",
        parameters: &[
            Parameter {
                name: "attempts",
                unit: Unit::Count(1, 1000),
                default: Some("1"),
                doc: "failed transmissions of a packet from which on each brings a notice",
            },
            Parameter {
                name: "gap",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "from one notice of a flow to the next, at least",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        Some(Box::new(Ebsn::new(values.count("attempts") as u32, values.duration("gap"), place)))
    },
};

/// See the file.
struct Ebsn {
    attempts: u32,
    gap: Duration,
    /// For each flow and direction whether its packets go down, and when its source was told last.
    flows: Vec<[(bool, Option<Time>); 2]>,
}

impl Ebsn {
    fn new(attempts: u32, gap: Duration, place: &Site) -> Ebsn {
        let goes_down = |flow, forward| place.exit(flow, forward).is_some_and(|exit| exit.down);
        let flows = (0..place.flows.len())
            .map(|flow| [(goes_down(flow, true), None), (goes_down(flow, false), None)]);
        Ebsn { attempts, gap, flows: flows.collect() }
    }
}

impl Middlebox for Ebsn {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Onward>) {
        out.push(Onward::Same(packet));
    }

    fn handle_failure(&mut self, now: Time, packet: &Packet, attempt: u32, out: &mut Vec<Onward>) {
        let Some(ways) = self.flows.get_mut(packet.flow.0 as usize) else { return };
        let (goes_down, told) = &mut ways[usize::from(!packet.forward)];
        let is_soon = told.is_some_and(|told| now.since(told) < self.gap);
        // An ACK that fails is nothing that a timer waits for at its source.
        let is_data = packet.segment().is_none_or(|segment| segment.len > 0);
        if attempt < self.attempts || is_soon || !*goes_down || !is_data {
            return;
        }
        *told = Some(now);
        out.push(Onward::New(Packet {
            forward: !packet.forward,
            again: false,
            early: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Priority::Normal,
            body: Body::Notice(NodeNotice::BadState),
            ..*packet
        }));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Onward>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn asks_link(&self) -> bool {
        true
    }

    fn reads_headers(&self) -> bool {
        false
    }

    fn draws(&self) -> bool {
        false
    }
}

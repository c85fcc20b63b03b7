//! Explicit bad state notification (EBSN): when a link-layer transmission fails and is retried, the base station
//! notifies the packet's source. The source then restarts its retransmission timer (Bakshi, Krishna, Vaidya and
//! Pradhan, ICDCS 1997). The source must use the loss discrimination `ebsn`. The station does not read TCP headers, and
//! therefore serves encrypted flows, too.
//!
//! # Our choices
//! The rules are from memory; the paper was not available. A notice has 40 bytes, and may be lost or queued like any
//! packet. Captures show a notice as an ICMP message of an experimental type. The parameter `gap` is our addition. Link
//! layers that transmit packet by packet (`none`, `repeat`, `wifi`) report failures. `rlc` and `harq` report no
//! failures, because they segment packets; `fec` reports no failures, because it does not retransmit. If a link layer
//! reports no failures, a note warns the user.

use crate::{Build, Decision, Middlebox, Site};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Body, Ecn, NodeNotice, Packet, Priority};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "ebsn",
        summary: "notifies the source of failed link-layer transmissions",
        source: "Bakshi et al., ICDCS 1997 (from memory)",
        parameters: &[
            Parameter {
                name: "attempts",
                unit: Unit::Count(1, 1000),
                default: Some("1"),
                doc: "number of failed transmissions of a packet after which the first notice is sent; each \
                      further failure causes another notice",
            },
            Parameter {
                name: "gap",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "smallest time between two notices of a flow",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        Some(Box::new(Ebsn::new(values.count("attempts") as u32, values.duration("gap"), site)))
    },
};

struct Ebsn {
    attempts: u32,
    gap: Duration,
    /// For each flow and direction, two values: whether the direction's packets go down to the last hop, and the time
    /// of the last notice about these packets.
    flows: Vec<[(bool, Option<Time>); 2]>,
}

impl Ebsn {
    fn new(attempts: u32, gap: Duration, site: &Site) -> Ebsn {
        let goes_down = |flow, forward| site.exit(flow, forward).is_some_and(|exit| exit.down);
        let flows =
            (0..site.flows.len()).map(|flow| [(goes_down(flow, true), None), (goes_down(flow, false), None)]);
        Ebsn { attempts, gap, flows: flows.collect() }
    }
}

impl Middlebox for Ebsn {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Decision>) {
        out.push(Decision::Forward(packet));
    }

    fn handle_failure(&mut self, now: Time, packet: &Packet, attempt: u32, out: &mut Vec<Decision>) {
        let Some(directions) = self.flows.get_mut(packet.flow.0 as usize) else { return };
        let (goes_down, notified_at) = &mut directions[usize::from(!packet.forward)];
        let is_soon = notified_at.is_some_and(|notified_at| now.since(notified_at) < self.gap);
        // The source has no retransmission timer for a pure ACK.
        let is_data = packet.segment().is_none_or(|segment| segment.len > 0);
        if attempt < self.attempts || is_soon || !*goes_down || !is_data {
            return;
        }
        *notified_at = Some(now);
        out.push(Decision::Emit(Packet {
            forward: !packet.forward,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: Ecn::NotEct,
            priority: Priority::NORMAL,
            body: Body::Notice(NodeNotice::BadState),
            ..*packet
        }));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn needs_failures(&self) -> bool {
        true
    }

    fn reads_headers(&self) -> bool {
        false
    }

    fn draws(&self) -> bool {
        false
    }
}

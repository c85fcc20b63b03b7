//! The snoop agent at a base station: caches data to the mobile until it is acknowledged, retransmits wireless losses,
//! and suppresses the duplicate ACKs that such a loss causes (Balakrishnan, Seshan, Amir and Katz, MobiCom 1995;
//! Wireless Networks 1(4), 1995). Both endpoints are unchanged.
//!
//! * `flow`: the rules, for one direction of one flow.
//! * `cache`: the cached packets.
//! * `selective`: the mechanism `snoop_sack`, which retransmits the holes that SACK blocks show.
//!
//! Only data towards the last hop is cached ([`crate::Exit::down`]). Data that the mobile sends is not recovered.
//!
//! # With SACK
//! An ACK that the agent forwards may report further holes to a SACK sender. The sender then retransmits the same data
//! as the agent. A NewReno sender does not see these holes. docs/explanation/middleboxes.md has results for SACK and
//! NewReno senders.
//!
//! # Not modelled
//! A retransmission enters the station's queue at its tail, not at its head, so local recovery takes at least the
//! queueing delay. Handoff is not modelled, nor are caches that the next base station fills in advance. The state of a
//! flow is kept until the run ends.

mod cache;
mod flow;
mod selective;

pub use selective::MECHANISM as SELECTIVE;

use crate::{Build, Decision, Middlebox, Site};
use flow::{Limits, SnoopFlow, SnoopRules};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Flags, Packet};

/// The snoop agent; the module describes the rules.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "snoop",
        summary: "caches data to the mobile until it is acknowledged, and retransmits wireless losses",
        source: "Balakrishnan et al., MobiCom 1995; ns-2 tcp/snoop.cc",
        parameters: &[
            Parameter {
                name: "cache",
                unit: Unit::Count(1, 1_000_000),
                default: Some("100"),
                doc: "cache size per flow, packets; further packets are forwarded without local recovery",
            },
            Parameter {
                name: "max_repeats",
                unit: Unit::Count(0, 1000),
                default: Some("10"),
                doc: "largest number of retransmissions of a packet; then the sender has to recover the loss",
            },
            Parameter {
                name: "threshold",
                unit: Unit::Count(1, 100),
                default: Some("1"),
                doc: "number of the duplicate ACK that triggers a retransmission; earlier duplicates are \
                      forwarded (ns-2: 2)",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "smallest timeout (ns-2: 100 ms); the timeout also exceeds the smoothed round trip by at \
                      least the link's round trip plus 10 ms",
            },
            Parameter {
                name: "chase",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "if a partial ACK shows a hole, retransmits this hole at once",
            },
            Parameter {
                name: "acked_data",
                unit: Unit::Word(&["forward", "answer"]),
                default: Some("forward"),
                doc: "action for data that the mobile has acknowledged: forward to the mobile, or answer with \
                      the last ACK",
            },
            Parameter {
                name: "old_acks",
                unit: Unit::Word(&["forward", "drop"]),
                default: Some("forward"),
                doc: "action for ACKs below the last ACK: forward or drop",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let rules = SnoopRules {
            cache: values.count("cache") as usize,
            max_repeats: values.count("max_repeats") as u32,
            threshold: values.count("threshold") as u32,
            chases: values.flag("chase"),
            answers: values.word("acked_data") == "answer",
            drops_old: values.word("old_acks") == "drop",
            selective: None,
        };
        Some(Box::new(Snoop::new(rules, values.duration("floor"), site)))
    },
};

/// Returns the default rules, for other middleboxes that retransmit as the snoop agent does.
pub(crate) fn snoop_rules() -> SnoopRules {
    SnoopRules {
        cache: 100,
        max_repeats: 10,
        threshold: 1,
        chases: false,
        answers: false,
        drops_old: false,
        selective: None,
    }
}

pub(crate) struct Snoop {
    rules: SnoopRules,
    /// Two states for each flow: first the state for the forward data, then the state for the reverse data. The state
    /// for data that the mobile sends is `None`.
    flows: Vec<[Option<SnoopFlow>; 2]>,
    next: Time,
}

/// Allowance for the processing time of mobile and base station, in addition to the link's round trip.
const MARGIN: Duration = Duration::from_millis(10);

impl Snoop {
    pub(crate) fn new(rules: SnoopRules, floor: Duration, site: &Site) -> Snoop {
        let new_flow = |flow, forward| {
            let exit = site.exit(flow, forward).filter(|exit| exit.down)?;
            Some(SnoopFlow::new(Limits { floor, margin: exit.round_trip + MARGIN }))
        };
        let flows = (0..site.flows.len()).map(|flow| [new_flow(flow, true), new_flow(flow, false)]);
        Snoop { rules, flows: flows.collect(), next: Time::NEVER }
    }

    pub(crate) fn cached_bytes_for(&mut self, packet: &Packet) -> u64 {
        let [_, acknowledged] = self.by_direction(packet);
        acknowledged.map_or(0, |flow| flow.cached_bytes())
    }

    /// Returns two states: the state for data in the packet's direction, and the state for data in the opposite
    /// direction.
    fn by_direction(&mut self, packet: &Packet) -> [Option<&mut SnoopFlow>; 2] {
        match self.flows.get_mut(packet.flow.0 as usize) {
            Some([forward, reverse]) => {
                if packet.forward {
                    [forward.as_mut(), reverse.as_mut()]
                } else {
                    [reverse.as_mut(), forward.as_mut()]
                }
            }
            None => [None, None],
        }
    }
}

impl Middlebox for Snoop {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let rules = self.rules;
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let [data, acknowledged] = self.by_direction(&packet);
        let mut next = Time::NEVER;
        if segment.flags.has(Flags::RST) {
            data.into_iter().chain(acknowledged).for_each(SnoopFlow::reset);
            return out.push(Decision::Forward(packet));
        }
        let mut is_forwarded = true;
        if let Some(flow) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            is_forwarded = flow.on_ack(now, &rules, &packet, segment, out);
            next = next.min(flow.deadline());
        }
        if let Some(flow) = data
            && is_forwarded
        {
            is_forwarded = flow.on_data(now, &rules, &packet, segment, out);
            next = next.min(flow.deadline());
        }
        self.next = self.next.min(next);
        if is_forwarded {
            out.push(Decision::Forward(packet));
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        let mut next = Time::NEVER;
        for flow in self.flows.iter_mut().flatten().flatten() {
            flow.on_timeout(now, &self.rules, out);
            next = next.min(flow.deadline());
        }
        self.next = next;
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_queue_drop(&mut self, now: Time, packet: &Packet) {
        let rules = self.rules;
        if let ([Some(data), _], Some(segment)) = (self.by_direction(packet), packet.segment()) {
            data.on_queue_drop(now, &rules, segment.seq);
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

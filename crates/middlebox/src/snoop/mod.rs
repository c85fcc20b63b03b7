//! The snoop agent at a base station: it keeps what goes down to the mobile until that is acknowledged, repeats what
//! the air lost, and keeps the duplicate ACKs that tell of such a loss from the sender (Balakrishnan, Seshan, Amir and
//! Katz, MobiCom 1995; Wireless Networks 1(4), 1995). Both endpoints stay as they are.
//!
//! * `watched`: the rules, for one direction of one flow.
//! * `cache`: what is kept.
//! * `selective`: what SACK blocks say is missing, and the box of its own that heeds them.
//!
//! Only data that goes down is watched ([`crate::Exit::down`]); a mobile that sends gets no help.
//!
//! # With SACK
//! An ACK that passes tells a SACK sender of every further hole, and it repairs what the box is about to repair; with
//! NewReno it does not know. docs/middleboxes.md has the figures.
//!
//! # What is not modelled
//! A repeat joins the queue at its end, not at its head: where packets wait at the base station, a repair takes as long
//! as the queue. There is no handoff, so no neighbour's cache is filled. A flow is watched as long as the run lasts.

mod cache;
mod selective;
mod watched;

pub use selective::MECHANISM as SELECTIVE;

use crate::{Build, Middlebox, Onward, Site};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Flags, Packet};
use watched::{Limits, Rules, Watched};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "snoop",
        summary: "keeps data that goes down until it is acknowledged, and repeats what the air lost",
        source: "Balakrishnan et al., MobiCom 1995; ns-2 tcp/snoop.cc",
        parameters: &[
            Parameter {
                name: "cache",
                unit: Unit::Count(1, 1_000_000),
                default: Some("100"),
                doc: "most packets of a flow that it keeps; what finds no room goes on without its help",
            },
            Parameter {
                name: "max_repeats",
                unit: Unit::Count(0, 1000),
                default: Some("10"),
                doc: "repeats of one packet after which its timer leaves it to the sender",
            },
            Parameter {
                name: "threshold",
                unit: Unit::Count(1, 100),
                default: Some("1"),
                doc: "duplicate ACK that makes it repeat; those before go on (ns-2: 2)",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "smallest timeout (ns-2: 100 ms); later than the smoothed round trip by that of the link and 10 ms anyway",
            },
            Parameter {
                name: "chase",
                unit: Unit::Flag,
                default: Some("false"),
                doc: "whether a repair that shows the next hole makes it repeat that at once",
            },
            Parameter {
                name: "acked_data",
                unit: Unit::Word(&["forward", "answer"]),
                default: Some("forward"),
                doc: "data that is acknowledged already goes on, or is answered with the last ACK",
            },
            Parameter {
                name: "old_acks",
                unit: Unit::Word(&["forward", "drop"]),
                default: Some("forward"),
                doc: "ACKs older than the last one go on, or not",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let rules = Rules {
            cache: values.count("cache") as usize,
            max_repeats: values.count("max_repeats") as u32,
            threshold: values.count("threshold") as u32,
            chases: values.flag("chase"),
            answers: values.word("acked_data") == "answer",
            drops_old: values.word("old_acks") == "drop",
            selective: None,
        };
        Some(Box::new(Snoop::new(rules, values.duration("floor"), place)))
    },
};

/// The rules of its defaults, for boxes that keep and repeat as it does.
pub(crate) fn snoop_rules() -> Rules {
    Rules {
        cache: 100,
        max_repeats: 10,
        threshold: 1,
        chases: false,
        answers: false,
        drops_old: false,
        selective: None,
    }
}

/// See the file.
pub(crate) struct Snoop {
    rules: Rules,
    /// For each flow its data on the way there, and on the way back; `None` where it does not go down.
    flows: Vec<[Option<Watched>; 2]>,
    /// No timer expires before.
    next: Time,
}

/// Beside the link's round trip, what the mobile and the base station may take to answer.
const MARGIN: Duration = Duration::from_millis(10);

impl Snoop {
    pub(crate) fn new(rules: Rules, floor: Duration, place: &Site) -> Snoop {
        let watched = |flow, forward| {
            let exit = place.exit(flow, forward).filter(|exit| exit.down)?;
            Some(Watched::new(Limits { floor, margin: exit.round_trip + MARGIN }))
        };
        let flows = (0..place.flows.len()).map(|flow| [watched(flow, true), watched(flow, false)]);
        Snoop { rules, flows: flows.collect(), next: Time::NEVER }
    }

    /// Bytes that it keeps of the data that this packet acknowledges.
    pub(crate) fn kept_for(&mut self, packet: &Packet) -> u64 {
        let [_, acknowledged] = self.of(packet);
        acknowledged.map_or(0, |watched| watched.kept_bytes())
    }

    /// The data on a packet's own way, and that on the other one.
    fn of(&mut self, packet: &Packet) -> [Option<&mut Watched>; 2] {
        match self.flows.get_mut(packet.flow.0 as usize) {
            Some([there, back]) => {
                if packet.forward {
                    [there.as_mut(), back.as_mut()]
                } else {
                    [back.as_mut(), there.as_mut()]
                }
            }
            None => [None, None],
        }
    }
}

impl Middlebox for Snoop {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Onward>) {
        let rules = self.rules;
        let Some(segment) = packet.segment() else { return out.push(Onward::Same(packet)) };
        let [data, acknowledged] = self.of(&packet);
        let mut next = Time::NEVER;
        if segment.flags.has(Flags::RST) {
            data.into_iter().chain(acknowledged).for_each(Watched::reset);
            return out.push(Onward::Same(packet));
        }
        let mut goes_on = true;
        if let Some(watched) = acknowledged
            && segment.flags.has(Flags::ACK)
        {
            goes_on = watched.acknowledge(now, &rules, &packet, segment, out);
            next = next.min(watched.deadline());
        }
        if let Some(watched) = data
            && goes_on
        {
            goes_on = watched.data(now, &rules, &packet, segment, out);
            next = next.min(watched.deadline());
        }
        self.next = self.next.min(next);
        if goes_on {
            out.push(Onward::Same(packet));
        }
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Onward>) {
        let mut next = Time::NEVER;
        for watched in self.flows.iter_mut().flatten().flatten() {
            watched.expire(now, &self.rules, out);
            next = next.min(watched.deadline());
        }
        self.next = next;
    }

    fn poll_timeout(&self) -> Time {
        self.next
    }

    fn handle_refused(&mut self, now: Time, packet: &Packet) {
        let rules = self.rules;
        if let ([Some(data), _], Some(segment)) = (self.of(packet), packet.segment()) {
            data.refused(now, &rules, segment.seq);
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

//! Snoop that heeds SACK blocks: what they show to be missing is repeated at once, all of it, and not only the first packet
//! (the rule of a Linux module by Keberlein, 2005/06). An ACK without blocks is dealt with as the snoop agent does.
//!
//! `gap` reads them as FACK does (Mathis and Mahdavi 1996): what lies so far below the highest byte that arrived is lost.
//! "Snoop with FACK" (Furat et al. 2006) is another matter: what it decides there is not known here.
//!
//! # What is ours
//! A packet may be repeated a first time at once, whatever its age; `resend_after` is from one repeat to the next. A new ACK
//! with blocks brings repeats, too, and goes on to the sender, which then knows of the holes.

use super::cache::Cache;
use super::watched::Rules;
use super::{Snoop, snoop_rules};
use crate::numbers::{distance, is_before};
use crate::{Build, Onward};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Segment, Seq};

/// What SACK blocks bring about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selective {
    /// A hole is lost once so many segments lie above it.
    pub(super) gap: u32,
    /// From one repeat to the next, smoothed round trips.
    pub(super) resend_after: u32,
}

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "snoop_sack",
        summary: "a snoop agent that repeats all that SACK blocks show to be missing",
        source: "Keberlein's snoop module for Linux, 2005/06; FACK's gap: Mathis and Mahdavi 1996 (our construction)",
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
                doc: "repeats of one packet after which it is left to the sender",
            },
            Parameter {
                name: "gap",
                unit: Unit::Count(0, 1000),
                default: Some("0"),
                doc: "segments between a hole and the highest byte that arrived from which on it is lost (FACK: 3)",
            },
            Parameter {
                name: "resend_after",
                unit: Unit::Count(0, 1000),
                default: Some("2"),
                doc: "smoothed round trips of the air from one repeat of a packet to the next",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "smallest timeout; later than the smoothed round trip by that of the link and 10 ms anyway",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, place| {
        let rules = Rules {
            cache: values.count("cache") as usize,
            max_repeats: values.count("max_repeats") as u32,
            selective: Some(Selective {
                gap: values.count("gap") as u32,
                resend_after: values.count("resend_after") as u32,
            }),
            ..snoop_rules()
        };
        Some(Box::new(Snoop::new(rules, values.duration("floor"), place)))
    },
};

/// Repeats what lies in the gaps below the blocks; whether the cache can fill them all. Limits: how many segments have to lie
/// above a hole, how long after its last repeat a packet is repeated again, and how often.
pub(super) fn fill(
    cache: &mut Cache,
    now: Time,
    segment: &Segment,
    (gap, wait, most): (u32, Duration, u32),
    out: &mut Vec<Onward>,
) -> bool {
    let blocks = || {
        let told = segment.sack.as_slice().iter();
        told.filter(|(left, right)| is_before(*left, *right) && is_before(segment.ack, *right))
    };
    let above = |seq: Seq| distance(segment.ack, seq);
    let Some(highest) = blocks().map(|(_, right)| *right).max_by_key(|right| above(*right)) else {
        return false;
    };
    // What no ACK has told of, and is not kept here, nobody here can fill.
    let mut missing = i64::from(above(highest));
    for kept in cache.iter_mut().take_while(|kept| is_before(kept.seq, highest)) {
        let bytes = distance(kept.seq, kept.end);
        // An ACK has room for the newest blocks only: what an earlier one told of stays told.
        let is_inside =
            |(left, right): &(Seq, Seq)| !is_before(kept.seq, *left) && !is_before(*right, kept.end);
        kept.reported |= blocks().any(is_inside);
        if kept.reported {
            missing -= i64::from(bytes);
            continue;
        }
        if is_before(highest, kept.end) || kept.again || kept.repeats >= most {
            continue;
        }
        missing -= i64::from(bytes);
        let is_below = i64::from(distance(kept.end, highest)) >= i64::from(gap) * i64::from(bytes);
        let is_due = kept.repeats == 0 || now >= kept.sent_at + wait;
        if is_below && is_due {
            kept.sent_at = now;
            kept.repeats += 1;
            out.push(Onward::Again(kept.packet));
        }
    }
    missing <= 0
}

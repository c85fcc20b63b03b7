//! Snoop with SACK: the agent retransmits all holes that SACK blocks show at once, not only the first missing packet.
//! This is the rule of a Linux module by Keberlein, 2005/06. For ACKs without SACK blocks, the snoop agent's rules
//! apply.
//!
//! The parameter `gap` applies FACK's rule (Mathis and Mahdavi 1996). A hole counts as lost if it lies at least `gap`
//! segments below the highest byte that arrived. "Snoop with FACK" (Furat et al. 2006) is a different scheme, whose
//! rules were not available.
//!
//! # Our choices
//! The first retransmission of a packet may happen at any time after its transmission. The parameter `resend_after`
//! sets the time between further retransmissions. A new ACK with SACK blocks also triggers retransmissions. The agent
//! forwards such an ACK, so the ACK reports the holes to the sender, too.

use super::cache::Cache;
use super::flow::SnoopRules;
use super::{Snoop, snoop_rules};
use crate::sequence::{distance, is_before};
use crate::{Build, Decision};
use lasthop_base::{Duration, Info, Mechanism, Parameter, Time, Unit};
use lasthop_wire::{Segment, Seq};

#[derive(Clone, Copy, Debug)]
pub(super) struct Selective {
    /// Number of segments that must have arrived above a hole before the hole counts as lost.
    pub(super) gap: u32,
    /// Time between two retransmissions of a packet, in smoothed round trips.
    pub(super) resend_after: u32,
}

/// The snoop agent for SACK; the module describes the rules.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "snoop_sack",
        summary: "a snoop agent that retransmits all holes shown by SACK blocks",
        source: "Keberlein's snoop module for Linux, 2005/06; FACK's gap: Mathis and Mahdavi 1996 (our construction)",
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
                name: "gap",
                unit: Unit::Count(0, 1000),
                default: Some("0"),
                doc: "a hole counts as lost if the highest byte received is at least this many segments above it \
                      (FACK: 3)",
            },
            Parameter {
                name: "resend_after",
                unit: Unit::Count(0, 1000),
                default: Some("2"),
                doc: "time between two retransmissions of a packet, in smoothed round trips over the air",
            },
            Parameter {
                name: "floor",
                unit: Unit::Duration(Duration::ZERO, Duration::from_secs(60)),
                default: Some("0 s"),
                doc: "smallest timeout; the timeout also exceeds the smoothed round trip by at least the link's \
                      round trip plus 10 ms",
            },
        ],
        ..Info::PLAIN
    },
    build: &|values, site| {
        let rules = SnoopRules {
            cache: values.count("cache") as usize,
            max_repeats: values.count("max_repeats") as u32,
            selective: Some(Selective {
                gap: values.count("gap") as u32,
                resend_after: values.count("resend_after") as u32,
            }),
            ..snoop_rules()
        };
        Some(Box::new(Snoop::new(rules, values.duration("floor"), site)))
    },
};

/// Retransmits the holes below the SACK blocks. Returns whether the agent can fill all holes from the cache. The tuple
/// has three limits: the number of segments above a hole, the time between retransmissions of a packet, and the number
/// of retransmissions per packet.
pub(super) fn retransmit_holes(
    cache: &mut Cache,
    now: Time,
    segment: &Segment,
    (gap, wait, max_retransmissions): (u32, Duration, u32),
    out: &mut Vec<Decision>,
) -> bool {
    let blocks = || {
        let reported = segment.sack.as_slice().iter();
        reported.filter(|(left, right)| is_before(*left, *right) && is_before(segment.ack, *right))
    };
    let above = |seq: Seq| distance(segment.ack, seq);
    let Some(highest) = blocks().map(|(_, right)| *right).max_by_key(|right| above(*right)) else {
        return false;
    };
    // Number of bytes that are neither reported by SACK nor available from the cache. The sender has to retransmit
    // these bytes.
    let mut missing = i64::from(above(highest));
    for cached in cache.iter_mut().take_while(|cached| is_before(cached.seq, highest)) {
        let bytes = distance(cached.seq, cached.end);
        // An ACK has room only for the newest blocks, so blocks of earlier ACKs stay valid.
        let is_inside =
            |(left, right): &(Seq, Seq)| !is_before(cached.seq, *left) && !is_before(*right, cached.end);
        cached.is_reported |= blocks().any(is_inside);
        if cached.is_reported {
            missing -= i64::from(bytes);
            continue;
        }
        if is_before(highest, cached.end)
            || cached.is_sender_retransmission
            || cached.retransmissions >= max_retransmissions
        {
            continue;
        }
        missing -= i64::from(bytes);
        let is_below = i64::from(distance(cached.end, highest)) >= i64::from(gap) * i64::from(bytes);
        let is_due = cached.retransmissions == 0 || now >= cached.sent_at + wait;
        if is_below && is_due {
            cached.sent_at = now;
            cached.retransmissions += 1;
            out.push(Decision::Retransmit(cached.packet));
        }
    }
    missing <= 0
}

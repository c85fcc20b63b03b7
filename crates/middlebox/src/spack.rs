//! SPACK: the base station splits the ACK that ends the recovery of a wireless loss. If a sender's congestion window
//! grows by a fixed amount per ACK, the window then soon has its former size again (Jin, Kim and Lee, TENCON 1999, as
//! described in hasegawa §2.3). Sender and receiver are unchanged. A sender with byte counting (RFC 3465, Linux) is not
//! affected.
//!
//! # Our choices
//! The sources are an abstract and two sentences of hasegawa. hasegawa splits an ACK of N bytes into N ACKs of one byte
//! each; the parameter `most` limits their number. The source assumes Reno, whose recovery ends with the first new ACK.
//! With NewReno or SACK, each piece below the recovery point is a partial ACK, for which the window does not grow.
//! `when = after_recovery` therefore waits for the ACK that ends recovery. A loss before the station or in its queue
//! counts as congestion.

use crate::acks::AckKind;
use crate::directions::{PerDirection, Toward};
use crate::forwarded::ForwardedData;
use crate::sequence::{distance, end_of, is_before};
use crate::{Build, Decision, Middlebox};
use lasthop_base::{Info, Is, Mechanism, OnlyIf, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, Packet, Segment, Seq};

pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "spack",
        summary: "splits the first new ACK after a wireless loss into many",
        source: "Jin, Kim and Lee, TENCON 1999, by hasegawa §2.3 (abstract; bounds and NewReno's case are ours)",
        parameters: &[
            Parameter {
                name: "pieces",
                unit: Unit::Word(&["bytes", "number", "enough"]),
                default: Some("bytes"),
                doc: "number of ACKs into which an ACK is split: one per byte (bytes); `number`; or enough to double a \
                      halved window in congestion avoidance, 3/8 of the squared window in segments (enough)",
            },
            Parameter {
                name: "number",
                unit: Unit::Count(1, 100_000),
                default: Some("10"),
                doc: "number of ACKs per split ACK, with pieces = \"number\"",
            },
            Parameter {
                name: "most",
                unit: Unit::Count(1, 100_000),
                default: Some("1460"),
                doc: "upper limit of the number of ACKs per split ACK",
            },
            Parameter {
                name: "when",
                unit: Unit::Word(&["first", "after_recovery"]),
                default: Some("first"),
                doc: "ACK to split: the first new ACK (Reno), or the first that covers all data sent before the loss",
            },
            Parameter {
                name: "place",
                unit: Unit::Word(&["behind", "before"]),
                default: Some("behind"),
                doc: "behind: packets that the next queue drops do not count as forwarded; before: these packets count",
            },
        ],
        only_if: &[OnlyIf { parameters: &["number"], other: "pieces", is: Is::This("number") }],
        ..Info::PLAIN
    },
    build: &|values, site| {
        Some(Box::new(Spack {
            rules: SpackRules {
                pieces: match values.word("pieces") {
                    "bytes" => Pieces::Bytes,
                    "number" => Pieces::Number(values.count("number") as u32),
                    _ => Pieces::Enough,
                },
                max_pieces: values.count("most") as u32,
                waits_for_recovery: values.word("when") == "after_recovery",
                sees_queue: values.word("place") == "behind",
            },
            flows: PerDirection::new(site, Toward::Mobile, |_| SpackFlow::default()),
        }))
    },
};

const MAX_RANGES: usize = 1000;
/// Number of duplicate ACKs that indicate a loss (RFC 5681 §3.2).
const DUPLICATE_THRESHOLD: u32 = 3;

#[derive(Clone, Copy)]
enum Pieces {
    Bytes,
    Number(u32),
    Enough,
}

#[derive(Clone, Copy)]
struct SpackRules {
    pieces: Pieces,
    max_pieces: u32,
    waits_for_recovery: bool,
    sees_queue: bool,
}

struct Spack {
    rules: SpackRules,
    flows: PerDirection<SpackFlow>,
}

#[derive(Default)]
struct SpackFlow {
    forwarded: ForwardedData,
    duplicates: u32,
    /// Size of the largest segment seen, bytes.
    mss: u32,
    wireless_loss: Option<Loss>,
}

/// A wireless loss from which the sender is recovering.
#[derive(Clone, Copy)]
struct Loss {
    recover: Seq,
    /// Number of bytes outstanding when the loss was detected.
    window: u32,
}

impl Middlebox for Spack {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Decision>) {
        let Some(segment) = packet.segment() else { return out.push(Decision::Forward(packet)) };
        let rules = self.rules;
        let [data, acknowledged] = self.flows.by_direction(&packet);
        if let Some(flow) = data {
            flow.on_data(segment);
        }
        if let Some(flow) = acknowledged
            && segment.flags.has(Flags::ACK)
            && !segment.flags.has(Flags::RST)
            && let Some((from, pieces)) = flow.on_ack(segment, &rules)
        {
            let bytes = distance(from, segment.ack).unsigned_abs();
            for piece in 1..pieces {
                let part = u64::from(bytes) * u64::from(piece) / u64::from(pieces);
                let ack = Seq(from.0.wrapping_add(part as u32));
                let flags = Flags(segment.flags.0 & !(Flags::FIN.0 | Flags::PSH.0));
                let slice = Segment { ack, len: 0, flags, ..*segment };
                out.push(Decision::Emit(Packet { body: Body::Tcp(slice), ..packet }));
            }
        }
        out.push(Decision::Forward(packet));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Decision>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_queue_drop(&mut self, _: Time, packet: &Packet) {
        if self.rules.sees_queue
            && let ([Some(flow), _], Some(segment)) = (self.flows.by_direction(packet), packet.segment())
        {
            flow.forwarded.remove(segment.seq, end_of(segment));
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

impl SpackFlow {
    fn on_data(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            *self = SpackFlow::default();
        }
        self.mss = self.mss.max(segment.len);
        self.forwarded.on_data(segment, MAX_RANGES);
    }

    /// Handles an ACK. If the ACK must be split, returns the acknowledgement number of the previous ACK, and the number
    /// of pieces.
    fn on_ack(&mut self, segment: &Segment, rules: &SpackRules) -> Option<(Seq, u32)> {
        match self.forwarded.on_ack(segment) {
            AckKind::Duplicate => {
                self.duplicates += 1;
                let highest = self.forwarded.acks.highest()?;
                if self.duplicates == DUPLICATE_THRESHOLD
                    && self.wireless_loss.is_none()
                    && self.forwarded.contains(segment.ack)
                {
                    let window = distance(segment.ack, highest).unsigned_abs();
                    self.wireless_loss = Some(Loss { recover: highest, window });
                }
                None
            }
            AckKind::New(from) => {
                self.duplicates = 0;
                let loss = self.wireless_loss?;
                if rules.waits_for_recovery && is_before(segment.ack, loss.recover) {
                    return None;
                }
                self.wireless_loss = None;
                let bytes = distance(from, segment.ack).unsigned_abs();
                let wanted = match rules.pieces {
                    Pieces::Bytes => bytes,
                    Pieces::Number(number) => number,
                    Pieces::Enough => {
                        let segments = loss.window / self.mss.max(1);
                        segments.saturating_mul(segments) / 8 * 3
                    }
                };
                Some((from, wanted.min(rules.max_pieces).min(bytes)))
            }
            AckKind::Old | AckKind::Other => None,
        }
    }
}

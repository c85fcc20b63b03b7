//! SPACK: the base station splits the ACK that ends the repair of a loss on the air, so that a sender which counts ACKs soon
//! has its old window back (Jin, Kim and Lee, TENCON 1999, as hasegawa §2.3 has it). Both ends stay as they are; a sender
//! that counts bytes (RFC 3465, Linux) takes no notice.
//!
//! # What is ours
//! An abstract and hasegawa's two sentences were at hand. hasegawa has an ACK of N bytes split into N ACKs of a byte each;
//! `most` bounds that. With NewReno or SACK each piece below the point where recovery ends is a partial ACK, which makes
//! no window grow: `when = after_recovery` waits for the one that ends it. The source assumes Reno, whose recovery ends with
//! the first. A byte that the station never passed on is congestion, and so is what its own queue refuses.

use crate::acks::Kind;
use crate::directions::{Directions, Toward};
use crate::numbers::{distance, end_of, is_before};
use crate::passed::Passed;
use crate::{Build, Middlebox, Onward};
use lasthop_base::{Info, Is, Mechanism, OnlyIf, Parameter, Time, Unit};
use lasthop_wire::{Body, Flags, Packet, Segment, Seq};

/// See the file.
pub const MECHANISM: Mechanism<Build> = Mechanism {
    info: Info {
        name: "spack",
        summary: "splits the first ACK after a loss on the air into many",
        source: "Jin, Kim and Lee, TENCON 1999, by hasegawa §2.3 (abstract; bounds and NewReno's case are ours)",
        parameters: &[
            Parameter {
                name: "pieces",
                unit: Unit::Word(&["bytes", "number", "enough"]),
                default: Some("bytes"),
                doc: "one for each byte acknowledged; so many as `number`; or 3/8 of the square of the window in segments, \
                      which takes congestion avoidance from half of it back to the whole",
            },
            Parameter {
                name: "number",
                unit: Unit::Count(1, 100_000),
                default: Some("10"),
                doc: "pieces with pieces = number",
            },
            Parameter {
                name: "most",
                unit: Unit::Count(1, 100_000),
                default: Some("1460"),
                doc: "pieces at most, whatever was asked for",
            },
            Parameter {
                name: "when",
                unit: Unit::Word(&["first", "after_recovery"]),
                default: Some("first"),
                doc: "which ACK is split: the first new one (Reno), or the first of all that was outstanding at the loss",
            },
            Parameter {
                name: "place",
                unit: Unit::Word(&["behind", "before"]),
                default: Some("behind"),
                doc: "whether it knows what the queue behind it refuses; before the queue, that counts as passed on",
            },
        ],
        only_if: &[OnlyIf { parameters: &["number"], other: "pieces", is: Is::This("number") }],
        ..Info::PLAIN
    },
    build: &|values, place| {
        Some(Box::new(Spack {
            rules: Rules {
                pieces: match values.word("pieces") {
                    "bytes" => Pieces::Bytes,
                    "number" => Pieces::Number(values.count("number") as u32),
                    _ => Pieces::Enough,
                },
                most: values.count("most") as u32,
                waits: values.word("when") == "after_recovery",
                sees_queue: values.word("place") == "behind",
            },
            flows: Directions::new(place, Toward::Mobile, |_| Watched::default()),
        }))
    },
};

/// Stretches of data that are remembered.
const MOST_RUNS: usize = 1000;
/// The duplicate that says loss (RFC 5681 §3.2).
const THRESHOLD: u32 = 3;

#[derive(Clone, Copy)]
enum Pieces {
    Bytes,
    Number(u32),
    Enough,
}

#[derive(Clone, Copy)]
struct Rules {
    pieces: Pieces,
    most: u32,
    waits: bool,
    sees_queue: bool,
}

/// See the file.
struct Spack {
    rules: Rules,
    flows: Directions<Watched>,
}

/// One direction of a flow's data.
#[derive(Default)]
struct Watched {
    passed: Passed,
    duplicates: u32,
    /// The largest segment so far, bytes.
    mss: u32,
    armed: Option<Loss>,
}

/// A loss on the air that the sender repairs.
#[derive(Clone, Copy)]
struct Loss {
    /// The number behind all that was outstanding.
    recover: Seq,
    /// That was so many bytes.
    window: u32,
}

impl Middlebox for Spack {
    fn handle_packet(&mut self, _: Time, packet: Packet, out: &mut Vec<Onward>) {
        let Some(segment) = packet.segment() else { return out.push(Onward::Same(packet)) };
        let rules = self.rules;
        let [data, acknowledged] = self.flows.of(&packet);
        if let Some(watched) = data {
            watched.pass_data(segment);
        }
        if let Some(watched) = acknowledged
            && segment.flags.has(Flags::ACK)
            && !segment.flags.has(Flags::RST)
            && let Some((from, pieces)) = watched.acknowledge(segment, &rules)
        {
            let bytes = distance(from, segment.ack).unsigned_abs();
            for piece in 1..pieces {
                let part = u64::from(bytes) * u64::from(piece) / u64::from(pieces);
                let ack = Seq(from.0.wrapping_add(part as u32));
                let flags = Flags(segment.flags.0 & !(Flags::FIN.0 | Flags::PSH.0));
                let slice = Segment { ack, len: 0, flags, ..*segment };
                out.push(Onward::New(Packet { body: Body::Tcp(slice), ..packet }));
            }
        }
        out.push(Onward::Same(packet));
    }

    fn handle_timeout(&mut self, _: Time, _: &mut Vec<Onward>) {}

    fn poll_timeout(&self) -> Time {
        Time::NEVER
    }

    fn handle_refused(&mut self, _: Time, packet: &Packet) {
        if self.rules.sees_queue
            && let ([Some(watched), _], Some(segment)) = (self.flows.of(packet), packet.segment())
        {
            watched.passed.remove(segment.seq, end_of(segment));
        }
    }

    fn draws(&self) -> bool {
        false
    }
}

impl Watched {
    fn pass_data(&mut self, segment: &Segment) {
        if segment.flags.has(Flags::SYN | Flags::RST) {
            *self = Watched::default();
        }
        self.mss = self.mss.max(segment.len);
        self.passed.pass_data(segment, MOST_RUNS);
    }

    /// The ACK before this one, and in how many pieces it goes on, if it is split.
    fn acknowledge(&mut self, segment: &Segment, rules: &Rules) -> Option<(Seq, u32)> {
        match self.passed.acknowledge(segment) {
            Kind::Duplicate => {
                self.duplicates += 1;
                let highest = self.passed.acks.highest()?;
                if self.duplicates == THRESHOLD && self.armed.is_none() && self.passed.has(segment.ack) {
                    let window = distance(segment.ack, highest).unsigned_abs();
                    self.armed = Some(Loss { recover: highest, window });
                }
                None
            }
            Kind::New(from) => {
                self.duplicates = 0;
                let loss = self.armed?;
                if rules.waits && is_before(segment.ack, loss.recover) {
                    return None;
                }
                self.armed = None;
                let bytes = distance(from, segment.ack).unsigned_abs();
                let wanted = match rules.pieces {
                    Pieces::Bytes => bytes,
                    Pieces::Number(number) => number,
                    Pieces::Enough => {
                        let segments = loss.window / self.mss.max(1);
                        segments.saturating_mul(segments) / 8 * 3
                    }
                };
                Some((from, wanted.min(rules.most).min(bytes)))
            }
            Kind::Old | Kind::Other => None,
        }
    }
}

//! The scoreboard's running sums must agree with a simple model, which evaluates the definitions of RFC 6675 §4 at each
//! step.

use lasthop_base::{Duration, Time};
use lasthop_tcp::Range;
use lasthop_tcp::sender::scoreboard::Scoreboard;
use proptest::prelude::*;

const MSS: u64 = 100;

/// A segment of the model. An ACK of part of the segment moves `start`.
#[derive(Clone, Copy, Debug)]
struct Segment {
    start: u64,
    end: u64,
    sent_at: Time,
    sacked: bool,
    /// Whether a fast retransmit or a timeout has marked the segment lost, even if IsLost is false.
    given_up: bool,
    /// Whether the segment was retransmitted since the segment was last marked lost (`S1 <= HighRxt`).
    copy_in_flight: bool,
    ever_retransmitted: bool,
}

#[derive(Debug, Default)]
struct Model {
    una: u64,
    nxt: u64,
    segments: Vec<Segment>,
}

/// An event at the sender. Values from 0 to 1 select positions in the outstanding data.
#[derive(Clone, Copy, Debug)]
enum Op {
    Send(u64),
    /// An ACK of `segments` whole segments and `bytes` bytes of the next segment, with two SACK blocks. `whole`: the
    /// blocks begin and end at segment boundaries.
    Ack {
        segments: usize,
        bytes: u64,
        blocks: [(f64, f64); 2],
        whole: bool,
    },
    /// Retransmits lost segments by NextSeg rule 1; the value is the largest number of segments.
    Repair(usize),
    /// Retransmits one segment by NextSeg rule 3, if rule 1 finds no segment.
    Doubt,
    /// Retransmits the last segment by NextSeg rule 4.
    Rescue,
    FastRetransmit,
    Timeout,
    /// Splits segments into pieces of at most this number of bytes, because the path MTU has shrunk.
    Cut(u64),
}

impl Model {
    fn outstanding(&self) -> u64 {
        self.nxt - self.una
    }

    fn highest_sacked(&self) -> Option<u64> {
        self.segments.iter().rev().find(|segment| segment.sacked).map(|segment| segment.end)
    }

    /// IsLost (SeqNum): "either DupThresh discontiguous SACKed sequences have arrived above SeqNum or more than
    /// (DupThresh - 1) * SMSS bytes with sequence numbers greater than SeqNum have been SACKed".
    fn is_lost(&self, index: usize) -> bool {
        let above = &self.segments[index + 1..];
        let bytes: u64 = above.iter().filter(|segment| segment.sacked).map(Segment::len).sum();
        let mut sequences = 0;
        let mut inside = false;
        for segment in above {
            sequences += u32::from(segment.sacked && !inside);
            inside = segment.sacked;
        }
        sequences >= 3 || bytes > 2 * MSS
    }

    fn lost(&self, index: usize) -> bool {
        !self.segments[index].sacked && (self.segments[index].given_up || self.is_lost(index))
    }

    /// SetPipe: each octet that is not SACKed counts if IsLost is false, and once more if `S1 <= HighRxt`.
    fn pipe(&self) -> u64 {
        let count =
            |index: usize| u64::from(!self.lost(index)) + u64::from(self.segments[index].copy_in_flight);
        let unsacked = (0..self.segments.len()).filter(|index| !self.segments[*index].sacked);
        unsacked.map(|index| count(index) * self.segments[index].len()).sum()
    }

    fn next_lost(&self) -> Option<Range> {
        let found =
            (0..self.segments.len()).find(|index| self.lost(*index) && !self.segments[*index].copy_in_flight);
        found.map(|index| self.segments[index].range())
    }

    fn next_doubtful(&self) -> Option<Range> {
        let highest = self.highest_sacked()?;
        let found = self
            .segments
            .iter()
            .find(|segment| !segment.sacked && !segment.copy_in_flight && segment.end <= highest);
        found.map(Segment::range)
    }

    fn last_doubtful(&self) -> Option<Range> {
        self.segments.last().filter(|segment| !segment.sacked && !segment.copy_in_flight).map(Segment::range)
    }

    /// Applies a cumulative ACK. Returns the acknowledged bytes, the completed segments, the bytes not SACKed before,
    /// and, for a valid RTT sample, the sending time of the sampled segment.
    fn acknowledge(&mut self, ack: u64) -> (u64, u32, u64, Option<Time>) {
        let bytes = ack - self.una;
        let covered = |segment: &Segment| ack.min(segment.end) - segment.start.min(ack);
        let fresh = self.segments.iter().filter(|segment| !segment.sacked).map(covered).sum();
        let whole: Vec<Segment> =
            self.segments.iter().copied().filter(|segment| segment.end <= ack).collect();
        let repeated = whole.iter().any(|segment| segment.ever_retransmitted);
        let sample = whole.last().filter(|last| !last.sacked && !repeated).map(|last| last.sent_at);
        self.segments.retain(|segment| segment.end > ack);
        if let Some(first) = self.segments.first_mut() {
            first.start = first.start.max(ack);
        }
        self.una = ack;
        let completed = whole.iter().filter(|segment| !segment.sacked).count();
        (bytes, completed as u32, fresh, sample)
    }

    fn sack(&mut self, block: Range) -> u64 {
        if block.is_empty() || block.start < self.una || block.end > self.nxt {
            return 0;
        }
        let inside = |segment: &&mut Segment| {
            !segment.sacked && block.start <= segment.start && segment.end <= block.end
        };
        let mut fresh = 0;
        for segment in self.segments.iter_mut().filter(inside) {
            segment.sacked = true;
            segment.copy_in_flight = false;
            fresh += segment.len();
        }
        fresh
    }

    fn timeout(&mut self) {
        if self.segments.first().is_some_and(|first| first.sacked) {
            self.segments.iter_mut().for_each(|segment| segment.sacked = false);
        }
        for segment in &mut self.segments {
            segment.copy_in_flight = false;
            segment.given_up = true;
        }
    }

    fn at(&mut self, start: u64) -> &mut Segment {
        self.segments
            .iter_mut()
            .find(|segment| segment.start == start)
            .expect("a segment begins at this offset")
    }
}

impl Segment {
    fn len(&self) -> u64 {
        self.end - self.start
    }

    fn range(&self) -> Range {
        Range { start: self.start, end: self.end }
    }
}

struct Both {
    scoreboard: Scoreboard,
    model: Model,
    now: Time,
}

impl Both {
    fn apply(&mut self, op: Op) {
        self.now += Duration::from_millis(1);
        match op {
            Op::Send(len) => {
                self.scoreboard.record_new(len, self.now);
                let (start, end) = (self.model.nxt, self.model.nxt + len);
                self.model.nxt = end;
                self.model.segments.push(Segment {
                    start,
                    end,
                    sent_at: self.now,
                    sacked: false,
                    given_up: false,
                    copy_in_flight: false,
                    ever_retransmitted: false,
                });
            }
            Op::Ack { segments, bytes, blocks, whole } => {
                let end = match segments.min(self.model.segments.len()) {
                    0 => self.model.una,
                    count => self.model.segments[count - 1].end,
                };
                let next = self.model.segments.iter().find(|segment| segment.start >= end);
                let ack = next.map_or(end, |next| end + bytes.min(next.len() - 1));
                let acked = self.scoreboard.acknowledge(ack);
                let modelled = self.model.acknowledge(ack);
                assert_eq!((acked.bytes, acked.segments, acked.delivered, acked.sent_at), modelled);
                for (from, to) in blocks {
                    let block = self.block(from, to, whole);
                    assert_eq!(self.scoreboard.sack(block), self.model.sack(block), "{block:?}");
                }
                self.scoreboard.mark_lost_by_sack(MSS);
            }
            Op::Repair(most) => {
                for _ in 0..most {
                    let next = self.scoreboard.next_lost();
                    assert_eq!(next, self.model.next_lost());
                    let Some(range) = next else { break };
                    self.record_retransmission(range.start);
                }
            }
            Op::Doubt => {
                if self.scoreboard.next_lost().is_none() {
                    let next = self.scoreboard.next_doubtful();
                    assert_eq!(next, self.model.next_doubtful());
                    if let Some(range) = next {
                        self.record_retransmission(range.start);
                    }
                }
            }
            Op::Rescue => {
                let last = self.scoreboard.last_doubtful();
                assert_eq!(last, self.model.last_doubtful());
                if let Some(range) = last {
                    self.scoreboard.record_rescue(range.start, self.now);
                    let segment = self.model.at(range.start);
                    (segment.ever_retransmitted, segment.sent_at) = (true, self.now);
                }
            }
            Op::FastRetransmit => {
                self.scoreboard.mark_first_lost();
                if let Some(first) = self.scoreboard.first() {
                    self.model.at(first.start).given_up = true;
                    self.record_retransmission(first.start);
                }
            }
            Op::Timeout => {
                self.scoreboard.mark_all_lost();
                self.model.timeout();
            }
            Op::Cut(longest) => {
                self.scoreboard.split_segments(longest);
                let whole = std::mem::take(&mut self.model.segments);
                for segment in whole {
                    let starts = (segment.start..segment.end).step_by(longest as usize);
                    let piece = |start| Segment { start, end: segment.end.min(start + longest), ..segment };
                    self.model.segments.extend(starts.map(piece));
                }
            }
        }
        self.compare();
    }

    fn record_retransmission(&mut self, start: u64) {
        self.scoreboard.record_retransmission(start, self.now);
        let segment = self.model.at(start);
        segment.copy_in_flight = !segment.sacked;
        segment.ever_retransmitted = true;
        segment.sent_at = self.now;
    }

    /// Returns a SACK block between two positions in the outstanding data, given as fractions. `whole`: the positions
    /// are rounded down to segment boundaries.
    fn block(&self, from: f64, to: f64, whole: bool) -> Range {
        let (una, outstanding) = (self.model.una, self.model.outstanding() as f64);
        let place = |share: f64| una + (outstanding * share) as u64;
        let (start, end) = (place(from.min(to)), place(from.max(to)));
        if !whole {
            return Range { start, end };
        }
        let edge = |offset: u64| {
            let below = self.model.segments.iter().rev().find(|segment| segment.start <= offset);
            below.map_or(una, |segment| segment.start)
        };
        Range { start: edge(start), end: edge(end) }
    }

    fn compare(&mut self) {
        let (scoreboard, model) = (&mut self.scoreboard, &self.model);
        let indices = 0..model.segments.len();
        let sum = |chosen: &dyn Fn(usize) -> bool| -> u64 {
            indices.clone().filter(|index| chosen(*index)).map(|index| model.segments[index].len()).sum()
        };
        assert_eq!(
            (scoreboard.una(), scoreboard.nxt(), scoreboard.outstanding()),
            (model.una, model.nxt, model.outstanding())
        );
        assert_eq!(scoreboard.sacked(), sum(&|index| model.segments[index].sacked), "bytes SACKed");
        assert_eq!(scoreboard.lost(), sum(&|index| model.lost(index)), "bytes lost");
        assert_eq!(scoreboard.pipe(), model.pipe(), "pipe");
        assert_eq!(
            scoreboard.left_network(),
            model.outstanding().saturating_sub(model.pipe()),
            "bytes that have left the network"
        );
        assert_eq!(scoreboard.highest_sacked(), model.highest_sacked());
        assert_eq!(scoreboard.first(), model.segments.first().map(Segment::range));
        assert_eq!(scoreboard.first_is_lost(), !model.segments.is_empty() && model.lost(0));
        assert_eq!(scoreboard.next_lost(), model.next_lost(), "NextSeg rule 1");
        assert_eq!(scoreboard.next_doubtful(), model.next_doubtful(), "NextSeg rule 3");
        assert_eq!(scoreboard.last_doubtful(), model.last_doubtful(), "NextSeg rule 4");
    }
}

fn op() -> impl Strategy<Value = Op> {
    let share = || 0.0..1.01f64;
    let ack = (
        0..4usize,
        prop_oneof![3 => Just(0u64), 1 => 1..MSS],
        [(share(), share()), (share(), share())],
        any::<bool>(),
    );
    prop_oneof![
        8 => prop_oneof![4 => Just(MSS), 1 => 1..MSS].prop_map(Op::Send),
        6 => ack.prop_map(|(segments, bytes, blocks, whole)| Op::Ack { segments: segments / 2, bytes, blocks, whole }),
        2 => (1..4usize).prop_map(Op::Repair),
        1 => Just(Op::Doubt),
        1 => Just(Op::Rescue),
        1 => Just(Op::FastRetransmit),
        1 => Just(Op::Timeout),
        1 => (MSS / 4..MSS).prop_map(Op::Cut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_sums_are_what_rfc_6675_says(window in 1..30usize, ops in prop::collection::vec(op(), 1..150)) {
        let (now, start) = (Time::ZERO, 1);
        let model = Model { una: start, nxt: start, segments: Vec::new() };
        let mut both = Both { scoreboard: Scoreboard::starting_at(start), model, now };
        (0..window).for_each(|_| both.apply(Op::Send(MSS)));
        ops.into_iter().for_each(|op| both.apply(op));
    }
}

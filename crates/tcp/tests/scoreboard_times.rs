//! The scoreboard's sending times and its loss detection by time must agree with a simple model, which examines every
//! segment (RFC 8985 §6.2).

use lasthop_base::{Duration, Time};
use lasthop_tcp::Range;
use lasthop_tcp::sender::scoreboard::{Newest, Scoreboard};
use proptest::prelude::*;

const MSS: u64 = 100;

#[derive(Clone, Copy, Debug)]
struct Segment {
    end: u64,
    sent_at: Time,
    sacked: bool,
    lost: bool,
    copy_in_flight: bool,
    ever_retransmitted: bool,
}

#[derive(Default)]
struct Model {
    segments: Vec<Segment>,
    una: u64,
    nxt: u64,
    lost_total: u64,
    highest: u64,
    reordered: bool,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Send,
    /// Acknowledges `segments` segments, and SACKs a range of `len` segments above them. `from`, 0 to 1, selects where
    /// the range begins.
    Ack {
        segments: usize,
        from: f64,
        len: usize,
    },
    Repair,
    /// Retransmits the last segment even if it is not lost, as a tail loss probe does.
    Probe,
    Look {
        wait_ms: u64,
        bounded: bool,
    },
}

impl Model {
    /// Applies an ACK. Returns the most recently sent of the newly delivered segments.
    fn ack(&mut self, ack: u64, block: Range) -> Option<Newest> {
        let before = self.highest;
        let mut newest: Option<Newest> = None;
        for segment in &mut self.segments {
            let is_covered = segment.end <= ack;
            let is_reported = segment.end - MSS >= block.start && segment.end <= block.end;
            if segment.sacked || !(is_covered || is_reported) {
                continue;
            }
            segment.sacked = true;
            segment.copy_in_flight &= is_covered;
            self.reordered |= !segment.ever_retransmitted && segment.end < before;
            self.highest = self.highest.max(segment.end);
            if newest.is_none_or(|known| (known.sent_at, known.end) < (segment.sent_at, segment.end)) {
                let Segment { end, sent_at, ever_retransmitted: is_retransmitted, .. } = *segment;
                newest = Some(Newest { end, sent_at, is_retransmitted });
            }
        }
        self.segments.retain(|segment| segment.end > ack);
        self.una = ack;
        newest
    }

    fn detect(&mut self, now: Time, newest: (Time, u64), wait: Duration) -> Time {
        let mut next = Time::NEVER;
        for segment in self.segments.iter_mut().filter(|segment| !segment.sacked) {
            let waits_for_repair = segment.lost && !segment.copy_in_flight;
            if waits_for_repair || (segment.sent_at, segment.end) >= newest {
                continue;
            }
            if segment.sent_at + wait > now {
                next = next.min(segment.sent_at + wait);
                continue;
            }
            self.lost_total += MSS * (u64::from(!segment.lost) + u64::from(segment.copy_in_flight));
            (segment.lost, segment.copy_in_flight) = (true, false);
        }
        next
    }

    fn pipe(&self) -> u64 {
        let open = self.segments.iter().filter(|segment| !segment.sacked);
        open.map(|segment| MSS * (u64::from(!segment.lost) + u64::from(segment.copy_in_flight))).sum()
    }

    fn retransmit(&mut self, end: u64, now: Time) {
        if let Some(segment) = self.segments.iter_mut().find(|segment| segment.end == end) {
            segment.sent_at = now;
            segment.ever_retransmitted = true;
            segment.copy_in_flight = !segment.sacked;
        }
    }
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        4 => Just(Op::Send),
        3 => (0..3usize, 0.0..1.0f64, 0..4usize).prop_map(|(segments, from, len)| Op::Ack { segments, from, len }),
        3 => Just(Op::Repair),
        1 => Just(Op::Probe),
        3 => (0..30u64, any::<bool>()).prop_map(|(wait_ms, bounded)| Op::Look { wait_ms, bounded }),
    ]
}

proptest! {
    #[test]
    fn the_board_agrees_with_a_look_at_every_segment(ops in prop::collection::vec((1..10u64, op()), 1..120)) {
        let (mut model, mut scoreboard) = (Model::default(), Scoreboard::starting_at(0));
        scoreboard.keep_times();
        let mut now = Time::ZERO;
        let mut newest = None;
        for (passes, op) in ops {
            now += Duration::from_millis(passes);
            match op {
                Op::Send => {
                    model.nxt += MSS;
                    let end = model.nxt;
                    let (sacked, lost, copy_in_flight, ever_retransmitted) = (false, false, false, false);
                    model.segments.push(Segment { end, sent_at: now, sacked, lost, copy_in_flight, ever_retransmitted });
                    scoreboard.record_new(MSS, now);
                }
                Op::Ack { segments, from, len } => {
                    let outstanding = (model.nxt - model.una) / MSS;
                    let ack = model.una + MSS * (segments as u64).min(outstanding);
                    let start = ack + MSS * (1 + (from * (model.nxt - ack) as f64) as u64 / MSS);
                    let block = Range { start, end: (start + MSS * len as u64).min(model.nxt) };
                    scoreboard.begin_ack();
                    if ack > model.una {
                        scoreboard.acknowledge(ack);
                    }
                    scoreboard.sack(block);
                    let seen = model.ack(ack, block);
                    prop_assert_eq!(scoreboard.newest(), seen);
                    newest = newest.max(seen.map(|seen| (seen.sent_at, seen.end)));
                }
                Op::Repair => {
                    let next = scoreboard.next_lost();
                    // Lost segments are retransmitted in sequence order, no matter whether the original or a copy was
                    // lost (RFC 6675 §4, NextSeg rule 1).
                    let first = model.segments.iter().find(|it| it.lost && !it.copy_in_flight && !it.sacked);
                    prop_assert_eq!(next.map(|range| range.end), first.map(|it| it.end));
                    if let Some(range) = next {
                        scoreboard.record_retransmission(range.start, now);
                        model.retransmit(range.end, now);
                    }
                }
                Op::Probe => {
                    if let Some(range) = scoreboard.last() {
                        scoreboard.record_retransmission(range.start, now);
                        model.retransmit(range.end, now);
                    }
                }
                Op::Look { wait_ms, bounded } => {
                    let until = if bounded { newest } else { Some((Time::NEVER, u64::MAX)) };
                    if let Some(until) = until {
                        let wait = Duration::from_millis(wait_ms);
                        let next = scoreboard.mark_lost_by_time(now, until, wait);
                        prop_assert_eq!(next, model.detect(now, until, wait));
                    }
                }
            }
            prop_assert_eq!(scoreboard.pipe(), model.pipe());
            prop_assert_eq!(scoreboard.lost_total(), model.lost_total);
            prop_assert_eq!(scoreboard.has_reordered(), model.reordered);
        }
    }
}

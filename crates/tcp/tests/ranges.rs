//! `Reassembly` and `RangeSet` must agree with a simple model: a set of bytes.

use lasthop_tcp::Range;
use lasthop_tcp::ranges::RangeSet;
use lasthop_tcp::receiver::reassembly::Reassembly;
use proptest::prelude::*;
use std::collections::BTreeSet;

const BYTES: u64 = 120;

fn range() -> impl Strategy<Value = Range> {
    (0..BYTES, 1..20u64).prop_map(|(start, len)| Range { start, end: start + len })
}

fn runs(bytes: &BTreeSet<u64>) -> Vec<Range> {
    let mut runs: Vec<Range> = Vec::new();
    for byte in bytes {
        match runs.last_mut().filter(|run| run.end == *byte) {
            Some(run) => run.end += 1,
            None => runs.push(Range { start: *byte, end: byte + 1 }),
        }
    }
    runs
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Insert(Range),
    RemoveBelow(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![5 => range().prop_map(Op::Insert), 1 => (0..BYTES).prop_map(Op::RemoveBelow)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_range_set_is_a_set_of_bytes(ops in prop::collection::vec(op(), 1..60), segments in 1..6usize, limit in 0..40u64) {
        let (mut set, mut bytes) = (RangeSet::default(), BTreeSet::new());
        for op in ops {
            match op {
                Op::Insert(range) => {
                    bytes.extend(range.start..range.end);
                    let merged = set.insert(range);
                    prop_assert!(runs(&bytes).contains(&merged), "{merged:?}");
                }
                Op::RemoveBelow(offset) => {
                    set.remove_below(offset);
                    bytes = bytes.split_off(&offset);
                }
            }
            let runs = runs(&bytes);
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), runs.clone());
            prop_assert_eq!((set.len(), set.is_empty()), (runs.len(), runs.is_empty()));
            prop_assert_eq!((set.first(), set.last()), (runs.first().copied(), runs.last().copied()));
            for offset in 0..BYTES + 25 {
                let around = runs.iter().copied().find(|run| run.start <= offset && offset < run.end);
                prop_assert_eq!(set.containing(offset), around);
                let end = offset + limit;
                let change = (offset..end).find(|byte| bytes.contains(byte) != around.is_some()).unwrap_or(end);
                prop_assert_eq!(set.run_at(offset, end), (around.is_some(), change));
            }
            // Expected value of `edge_above`: start of the highest range for which one of two conditions holds. This
            // range and the ranges above it are at least `segments` ranges, or have more than `limit` bytes in total.
            let far_enough = |first: &usize| {
                let above = &runs[*first..];
                above.len() >= segments || above.iter().map(Range::len).sum::<u64>() > limit
            };
            let edge = (0..runs.len()).rev().find(far_enough).map(|first| runs[first].start);
            prop_assert_eq!(set.edge_above(segments, limit), edge);
        }
    }

    #[test]
    fn reassembly_puts_bytes_in_order(ranges in prop::collection::vec(range(), 1..60)) {
        let (mut received, mut bytes) = (Reassembly::starting_at(10), BTreeSet::new());
        let mut next = 10;
        for range in ranges {
            let had_holes = bytes.iter().any(|byte| *byte >= next);
            let highest = bytes.last().map_or(next, |last| next.max(last + 1));
            let fresh = (range.start.max(next)..range.end).any(|byte| !bytes.contains(&byte));
            bytes.extend(range.start..range.end);
            let before = next;
            while bytes.contains(&next) {
                next += 1;
            }
            let change = received.insert(range);
            prop_assert_eq!(change.advanced, next - before);
            prop_assert_eq!(change.had_holes, had_holes);
            prop_assert_eq!(change.fresh, fresh);
            let opened = (range.start > highest).then_some(Range { start: highest, end: range.start });
            prop_assert_eq!(change.opened, opened);
            prop_assert_eq!(received.next(), next);
            let beyond = runs(&bytes.split_off(&next));
            bytes.extend(beyond.iter().flat_map(|run| run.start..run.end));
            prop_assert_eq!(received.beyond().iter().collect::<Vec<_>>(), beyond.clone());
            prop_assert_eq!(received.highest(), beyond.last().map_or(next, |run| run.end));
            prop_assert_eq!(received.has_holes(), !beyond.is_empty());
            // RFC 2018 §4: SACK blocks are whole contiguous ranges above the cumulative ACK. Each range appears once,
            // and the most recently received range comes first.
            let blocks: Vec<Range> = received.sack_ranges(4).collect();
            prop_assert!(blocks.iter().all(|block| beyond.contains(block)), "{blocks:?}");
            let distinct: BTreeSet<u64> = blocks.iter().map(|block| block.start).collect();
            prop_assert_eq!(distinct.len(), blocks.len());
            prop_assert_eq!(blocks.len(), beyond.len().min(4));
            if range.start > before && range.start >= next {
                prop_assert!(blocks[0].start <= range.start && range.end <= blocks[0].end, "{blocks:?}");
            }
        }
    }
}

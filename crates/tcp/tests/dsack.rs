//! D-SACK (RFC 2883): the receiver reports each duplicate segment once, and the sender counts the report without any
//! other effect. The last test is about SACK blocks on data segments (RFC 6691, RFC 9293 §3.7.1).

mod script;

use lasthop_tcp::Config;
use lasthop_wire::{SackBlocks, Segment};
use script::Step::*;
use script::{IRS, Peer, Script, config};

/// Returns the SACK blocks of the next ACK, as byte offsets in the peer's stream.
fn blocks(script: &mut Script) -> Vec<(u64, u64)> {
    let segment = script.sent("an ACK").segment;
    let offset = |seq| IRS.offset_of(seq, 1).unwrap() - 1;
    segment.sack.as_slice().iter().map(|(from, to)| (offset(*from), offset(*to))).collect()
}

fn arrive(script: &mut Script, from: u64, to: u64) -> Vec<(u64, u64)> {
    script.run([DataBytes(from, to)]);
    blocks(script)
}

/// Examples of RFC 2883 §4.1.1 to §4.1.3, in bytes from 0. The D-SACK block comes first in three cases: duplicates of
/// acknowledged data without a hole above, the same duplicates with a hole above, and duplicates above a hole.
#[test]
fn duplicates_come_first() {
    let mut script = Script::receiver(config("sack"));
    assert_eq!(arrive(&mut script, 0, 500), []);
    assert_eq!(arrive(&mut script, 500, 1000), []);
    assert_eq!(arrive(&mut script, 0, 500), [(0, 500)]);
    assert_eq!(arrive(&mut script, 1500, 2000), [(1500, 2000)]);
    assert_eq!(arrive(&mut script, 0, 500), [(0, 500), (1500, 2000)]);
    assert_eq!(arrive(&mut script, 2000, 2500), [(1500, 2500)]);
    assert_eq!(arrive(&mut script, 2000, 2500), [(2000, 2500), (1500, 2500)]);
    // RFC 2883 §4, rule 2: each duplicate is reported at most once.
    assert_eq!(arrive(&mut script, 2500, 3000), [(1500, 3000)]);
    // RFC 2883 §4, rule 4: the second block contains the duplicate, although another block was received more recently.
    assert_eq!(arrive(&mut script, 4000, 4500), [(4000, 4500), (1500, 3000)]);
    assert_eq!(arrive(&mut script, 2000, 2500), [(2000, 2500), (1500, 3000), (4000, 4500)]);
}

/// RFC 2883 §4.2: if part of a segment is new, only the part received before is reported as a duplicate.
#[test]
fn partial_duplicates() {
    let mut script = Script::receiver(config("sack"));
    arrive(&mut script, 0, 500);
    arrive(&mut script, 1000, 1500);
    assert_eq!(arrive(&mut script, 0, 1000), [(0, 500)]);
    let mut script = Script::receiver(config("sack"));
    arrive(&mut script, 1000, 1500);
    assert_eq!(
        arrive(&mut script, 0, 1200),
        [(1000, 1200)],
        "bytes 1000 to 1200 were received before, the other bytes fill the hole"
    );
    let mut script = Script::receiver(config("sack"));
    arrive(&mut script, 1000, 1500);
    assert_eq!(
        arrive(&mut script, 700, 2000),
        [(1000, 1500), (700, 2000)],
        "bytes 1000 to 1500 were received before"
    );
}

/// The SACK option has at most four blocks, or three with timestamps. This limit includes the D-SACK block.
#[test]
fn the_option_stays_within_its_room() {
    for (timestamps, most) in [(false, SackBlocks::CAPACITY), (true, SackBlocks::CAPACITY - 1)] {
        let peer = Peer { timestamps, mss: 1012, ..Peer::default() };
        let mut script = Script::opened(Config { timestamps, ..config("sack") }, peer);
        for hole in 1..=6 {
            arrive(&mut script, 1000 * hole, 1000 * hole + 500);
        }
        let blocks = arrive(&mut script, 1000, 1500);
        assert_eq!((blocks.len(), blocks[0], blocks[1]), (most, (1000, 1500), (1000, 1500)));
    }
}

/// Duplicates are not reported in four cases: D-SACK is off, SACK is not in use, PAWS rejects the segment, or the
/// segment lies outside the window.
#[test]
fn when_nothing_is_told() {
    let mut script = Script::receiver(Config { dsack: false, ..config("sack") });
    arrive(&mut script, 0, 500);
    assert_eq!(arrive(&mut script, 0, 500), []);
    let mut script = Script::receiver(config("reno"));
    arrive(&mut script, 0, 500);
    assert_eq!(arrive(&mut script, 0, 500), []);
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    let old = script.stamps(0);
    script.run([Tick(10)]);
    arrive(&mut script, 0, 500);
    let late = Segment { seq: IRS.at(1), len: 500, timestamps: Some(old), ..script.plain() };
    script.arrive(late);
    assert_eq!(blocks(&mut script), []);
    let beyond = Segment { seq: IRS.at(1 + (5 << 20)), len: 500, ..script.plain() };
    script.arrive(beyond);
    assert_eq!(blocks(&mut script), []);
}

/// RFC 2883 §5: the sender recognises and counts D-SACK blocks below the ACK number and D-SACK blocks inside the second
/// block. D-SACKs have no other effects: no duplicate ACK is counted, and no data is marked as SACKed.
#[test]
fn the_sender_recognises_them() {
    let mut script = Script::with_window(config("sack"), 8);
    let count = |script: &Script| script.endpoint.counters().duplicates_reported;
    script.run([Ack(3), News(9, 11)]);
    for reported in 1..=4 {
        script.run([Sack(3, &[(1, 2)]), Nothing, InFlight(9)]);
        assert_eq!(count(&script), reported);
    }
    assert_eq!(script.endpoint.counters().duplicate_acks, 0);
    assert_eq!(script.endpoint.sender().scoreboard().sacked(), 0);
    // A first block above the ACK number is a D-SACK only if it lies inside the second block. The second block reports
    // new data.
    script.run([Sack(3, &[(5, 7)])]);
    assert_eq!(count(&script), 4);
    script.run([Sack(3, &[(5, 6), (5, 7)])]);
    assert_eq!((count(&script), script.endpoint.sender().scoreboard().sacked()), (5, 2000));
    assert_eq!(script.endpoint.counters().duplicate_acks, 1);
}

/// Data segments with SACK blocks do not exceed the MSS, options included (RFC 6691 §3). A retransmission carries only
/// the SACK blocks that fit.
#[test]
fn blocks_beside_data() {
    for timestamps in [false, true] {
        let setup = Config { timestamps, initial_window: 6, ..config("sack") };
        let peer = Peer { timestamps, mss: if timestamps { 1012 } else { 1000 }, ..Peer::default() };
        let mut script = Script::opened(setup, peer);
        let limit = u32::from(peer.mss);
        script.run([Write(100_000), News(1, 2), Data(2)]);
        let long = script.sent("data").segment;
        assert_eq!((long.len + long.option_bytes(), long.sack.len()), (limit, 1));
        script.run([Data(4), Data(6), Data(8), Data(10)]);
        let longer = script.sent("data").segment;
        let most = if timestamps { 3 } else { 4 };
        assert_eq!((longer.len + longer.option_bytes(), longer.sack.len()), (limit, most));
        // The retransmission has as much payload as the original segment, which carried no SACK blocks. No block fits
        // beside this payload.
        script.run([Timeout]);
        let again = script.sent("the first segment retransmitted").segment;
        assert_eq!((again.len, again.sack.len()), (1000, 0));
        script.run([Data(1), Data(3), Data(5), Data(7), Data(9)]);
        script.run([AckBytes(2000 + u64::from(long.len + longer.len))]);
        assert_eq!(script.sent("data").segment.len, 1000);
    }
}

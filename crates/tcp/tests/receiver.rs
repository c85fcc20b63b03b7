//! ACKs of the receiver: when and how many are sent (RFC 5681 §4.2), their SACK blocks (RFC 2018) and their echoes of
//! marks (RFC 3168 §6.1.3).

mod script;

use lasthop_base::{Choice, Duration, Unit, Value};
use lasthop_tcp::Config;
use lasthop_tcp::receiver::{ack_policy, ack_splitting};
use lasthop_wire::{Flags, Segment};
use script::Step::*;
use script::{IRS, Peer, Script, choose, config};

fn delayed() -> Script {
    let ack_policy =
        choose(ack_policy::ALL, "delayed", &[("after", Value::Duration(Duration::from_millis(200)))]);
    Script::receiver(Config { ack_policy, ..config("sack") })
}

/// RFC 5681 §4.2: a delayed ACK is sent at the second full segment, and at the latest after the delay, here 200 ms.
#[test]
fn delayed_acks() {
    let mut script = delayed();
    script.run([Data(1), Nothing, Deadline(200), Data(2), Acked(3), Nothing, NoDeadline]);
    script.run([Data(3), Nothing, Tick(150), Nothing, Tick(50), Acked(4), Nothing, NoDeadline]);
    // If segments are small, the ACK waits until the bytes of two full segments have arrived, 2000 here.
    script.run([DataBytes(3000, 3100), DataBytes(3100, 3200), DataBytes(3200, 3300), Nothing]);
    script.run([DataBytes(3300, 4300), Nothing, DataBytes(4300, 5000), AckedBytes(5000), Nothing]);
    script.run([Data(6), Tick(100), DataBytes(6000, 6100), Deadline(100), Tick(100), AckedBytes(6100)]);
}

/// RFC 9293, MUST-40: the delay of an ACK "MUST be less than 0.5 seconds". The default is 40 ms (SHLD-18), and no ACK
/// policy accepts a delay of 0.5 s or more.
#[test]
fn an_ack_waits_for_less_than_half_a_second() {
    let mut script = Script::receiver(Config { ack_policy: Config::default().ack_policy, ..config("sack") });
    script.run([Data(1), Nothing, Deadline(40), Tick(40), Acked(2), Nothing, NoDeadline]);
    let parameters = ack_policy::ALL.iter().flat_map(|mechanism| mechanism.info.parameters);
    let longest: Vec<_> = parameters
        .filter_map(|parameter| match parameter.unit {
            Unit::Duration(_, longest) => Some(longest),
            _ => None,
        })
        .collect();
    assert!(!longest.is_empty() && longest.iter().all(|longest| *longest < Duration::from_millis(500)));
}

/// RFC 9293, MUST-58 and MUST-59: segments that arrive at the same time are all processed before the ACK is sent. A
/// single ACK covers all these segments.
#[test]
fn what_arrives_together_is_acknowledged_together() {
    for config in [config("sack"), Config { ack_policy: Config::default().ack_policy, ..config("sack") }] {
        let mut script = Script::receiver(config);
        script.run([Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Acked(7), Nothing, NoDeadline]);
    }
}

/// RFC 5681 §4.2: a segment is acknowledged at once, not delayed, if it is out of order, fills all or part of a hole,
/// or is a duplicate.
#[test]
fn what_is_acknowledged_at_once() {
    let mut script = delayed();
    script.run([
        Data(2),
        AckedBytes(0),
        Data(4),
        AckedBytes(0),
        Data(1),
        Acked(3),
        Data(3),
        Acked(5),
        Nothing,
    ]);
    script.run([Data(3), Acked(5), Nothing, Data(5), Nothing, Data(6), Acked(7), Nothing]);
}

#[test]
fn data_carries_the_acknowledgement() {
    let mut script = delayed();
    script.run([Data(1), Write(1000)]);
    assert_eq!(script.sent("data").segment.ack, IRS.at(1001));
    script.run([Nothing, Deadline(1000)]);
}

/// miyoshi §2.2: every ACK is sent `count` times. The handshake's ACK and challenge ACKs are sent once.
#[test]
fn copies() {
    let ack_splitting = choose(ack_splitting::ALL, "copies", &[("count", Value::Count(3))]);
    let mut script = Script::receiver(Config { ack_splitting, ..config("sack") });
    script.run([
        Nothing,
        Data(1),
        Acked(2),
        Acked(2),
        Acked(2),
        Nothing,
        Data(3),
        Acked(2),
        Acked(2),
        Acked(2),
        Nothing,
    ]);
    script.arrive(Segment { seq: IRS.at(2500), flags: Flags::RST, ..Segment::default() });
    script.run([Acked(2), Nothing]);
}

#[test]
fn delayed_copies_and_slices() {
    let ack_policy = Choice::named(ack_policy::ALL, "delayed");
    let ack_splitting = choose(ack_splitting::ALL, "copies", &[("count", Value::Count(2))]);
    let mut script =
        Script::receiver(Config { ack_policy: ack_policy.clone(), ack_splitting, ..config("sack") });
    script.run([Data(1), Nothing, Data(2), Acked(3), Acked(3), Nothing]);
    let ack_splitting =
        choose(ack_splitting::ALL, "split", &[("when", Value::Word("always")), ("count", Value::Count(4))]);
    let mut script = Script::receiver(Config { ack_policy, ack_splitting, ..config("sack") });
    script.run([
        Data(1),
        Nothing,
        Data(2),
        AckedBytes(500),
        AckedBytes(1000),
        AckedBytes(1500),
        AckedBytes(2000),
        Nothing,
    ]);
    script.run([Write(1000), New(1), Data(3), Data(4), AckedBytes(2500), AckedBytes(3000)]);
    script.run([AckedBytes(3500), AckedBytes(4000), Nothing]);
}

fn blocks(script: &mut Script) -> Vec<(u64, u64)> {
    let segment = script.sent("an ACK").segment;
    let offset = |number| IRS.offset_of(number, 1).unwrap() - 1;
    segment.sack.as_slice().iter().map(|(left, right)| (offset(*left), offset(*right))).collect()
}

/// RFC 2018 §4: while a hole exists, every ACK carries SACK blocks. The block that contains the segment just received
/// comes first, then the most recently reported blocks.
#[test]
fn sack_blocks() {
    let mut script = Script::receiver(config("sack"));
    let mut after = |number| {
        script.run([Data(number)]);
        blocks(&mut script)
    };
    assert_eq!(after(1), []);
    assert_eq!(after(3), [(2000, 3000)]);
    assert_eq!(after(5), [(4000, 5000), (2000, 3000)]);
    assert_eq!(after(7), [(6000, 7000), (4000, 5000), (2000, 3000)]);
    assert_eq!(after(9), [(8000, 9000), (6000, 7000), (4000, 5000), (2000, 3000)]);
    assert_eq!(after(11), [(10_000, 11_000), (8000, 9000), (6000, 7000), (4000, 5000)]);
    // A duplicate of segment 5 is reported as D-SACK (RFC 2883), and the block that contains it moves to the front.
    assert_eq!(after(5), [(4000, 5000), (4000, 5000), (10_000, 11_000), (8000, 9000)]);
    assert_eq!(after(4), [(2000, 5000), (10_000, 11_000), (8000, 9000), (6000, 7000)]);
    assert_eq!(after(2), [(10_000, 11_000), (8000, 9000), (6000, 7000)]);
}

/// RFC 2018 §4: "as many distinct SACK blocks as possible". Blocks that did not fit in an earlier ACK are reported
/// again when other blocks have merged.
#[test]
fn sack_blocks_that_were_left_out_come_back() {
    let mut script = Script::receiver(config("sack"));
    for number in [3, 5, 7, 9, 11] {
        script.run([Data(number), Acked(1)]);
    }
    script.run([Data(8)]);
    assert_eq!(blocks(&mut script), [(6000, 9000), (10_000, 11_000), (4000, 5000), (2000, 3000)]);
}

/// RFC 2018 §3 and RFC 7323: only three SACK blocks fit beside timestamps. If only one end offers SACK, ACKs carry no
/// SACK blocks.
#[test]
fn sack_blocks_and_options() {
    let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
    let mut script = Script::opened(Config { timestamps: true, ..config("sack") }, peer);
    script.run([Data(3), Acked(1), Data(5), Acked(1), Data(7), Acked(1), Data(9)]);
    assert_eq!(blocks(&mut script).len(), 3);
    for (offers, peer_offers) in [(true, false), (false, true)] {
        let peer = Peer { sack: peer_offers, ..Peer::default() };
        let mut script = Script::opened(Config { sack: offers, ..config("sack") }, peer);
        script.run([Data(3)]);
        assert_eq!(blocks(&mut script), []);
    }
}

#[test]
fn sack_blocks_on_data() {
    let mut script = Script::receiver(config("sack"));
    script.run([Data(3), Acked(1), Write(1000)]);
    assert_eq!(blocks(&mut script), [(2000, 3000)]);
}

/// RFC 3168 §6.1.3: after a mark, every ACK has ECE until CWR arrives. If the segment with CWR is itself marked, ECE
/// continues.
#[test]
fn marks_are_echoed_until_cwr() {
    let peer = Peer { ecn: true, ..Peer::default() };
    let mut script = Script::opened(Config { ecn: true, ..config("sack") }, peer);
    let echoes = |script: &mut Script| script.sent("an ACK").segment.flags.has(Flags::ECE);
    script.run([Data(1)]);
    assert!(!echoes(&mut script));
    script.run([Marked(2)]);
    assert!(echoes(&mut script));
    script.run([Data(3)]);
    assert!(echoes(&mut script));
    script.run([Write(1000)]);
    let data = script.sent("data");
    assert!(data.segment.flags.has(Flags::ECE) && data.ecn == lasthop_wire::Ecn::Ect0);
    for (number, marked, echoed) in [(4, false, false), (5, true, true)] {
        script.run([Marked(number)]);
        assert!(echoes(&mut script));
        let mut cwr = Segment { len: 10, ..script.plain() };
        cwr.flags = cwr.flags | Flags::CWR;
        let arriving = lasthop_tcp::Arriving::marked(marked);
        script.endpoint.handle_segment(script.now, &cwr, &arriving);
        assert_eq!(echoes(&mut script), echoed);
    }
}

#[test]
fn cwr_with_an_old_acknowledgement() {
    let peer = Peer { ecn: true, ..Peer::default() };
    let mut script = Script::opened(Config { ecn: true, initial_window: 2, ..config("sack") }, peer);
    script.run([Write(2000), News(1, 2), Marked(1)]);
    let mut cwr = Segment { seq: IRS.at(1001), len: 10, ..script.plain() };
    cwr.flags = cwr.flags | Flags::CWR;
    script.run([Ack(3)]);
    script.arrive(cwr);
    assert!(!script.sent("an ACK").segment.flags.has(Flags::ECE));
}

#[test]
fn marks_without_ecn() {
    let mut script = Script::receiver(config("sack"));
    script.run([Marked(1)]);
    assert!(!script.sent("an ACK").segment.flags.has(Flags::ECE));
}

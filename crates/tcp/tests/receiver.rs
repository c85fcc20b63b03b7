//! Times and number of the receiver's ACKs: RFC 5681 §4.2, RFC 2018, RFC 3168 §6.1.3.

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

/// RFC 5681 §4.2: an ACK is sent at least for every second full segment, and within the delay.
#[test]
fn delayed_acks() {
    let mut script = delayed();
    script.run([Data(1), Nothing, Deadline(200), Data(2), Acked(3), Nothing, NoDeadline]);
    script.run([Data(3), Nothing, Tick(150), Nothing, Tick(50), Acked(4), Nothing, NoDeadline]);
    // If segments are small, the ACK waits for two segments' worth of bytes.
    script.run([DataBytes(3000, 3100), DataBytes(3100, 3200), DataBytes(3200, 3300), Nothing]);
    script.run([DataBytes(3300, 4300), Nothing, DataBytes(4300, 5000), AckedBytes(5000), Nothing]);
    script.run([Data(6), Tick(100), DataBytes(6000, 6100), Deadline(100), Tick(100), AckedBytes(6100)]);
}

/// MUST-40, "MUST be less than 0.5 seconds", and SHLD-18: 40 ms by default, and half a second is rejected.
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

/// MUST-58, MUST-59: segments that arrive together are all processed before a single ACK is sent for them.
#[test]
fn what_arrives_together_is_acknowledged_together() {
    for config in [config("sack"), Config { ack_policy: Config::default().ack_policy, ..config("sack") }] {
        let mut script = Script::receiver(config);
        script.run([Data(1), Data(2), Data(3), Data(4), Data(5), Data(6), Acked(7), Nothing, NoDeadline]);
    }
}

/// RFC 5681 §4.2: segments that are out of order, fill a hole (partly or completely), or are duplicates are
/// acknowledged at once.
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

/// miyoshi §2.2: every ACK is sent several times, except in the handshake and as a challenge.
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

/// RFC 2018 §4: the block of the segment just received comes first, then the latest ones, on every ACK with a gap.
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
    // A duplicate is reported (RFC 2883), and moves its block to the front.
    assert_eq!(after(5), [(4000, 5000), (4000, 5000), (10_000, 11_000), (8000, 9000)]);
    assert_eq!(after(4), [(2000, 5000), (10_000, 11_000), (8000, 9000), (6000, 7000)]);
    assert_eq!(after(2), [(10_000, 11_000), (8000, 9000), (6000, 7000)]);
}

/// RFC 2018 §4: "as many distinct SACK blocks as possible", also if more exist than fit.
#[test]
fn sack_blocks_that_were_left_out_come_back() {
    let mut script = Script::receiver(config("sack"));
    for number in [3, 5, 7, 9, 11] {
        script.run([Data(number), Acked(1)]);
    }
    script.run([Data(8)]);
    assert_eq!(blocks(&mut script), [(6000, 9000), (10_000, 11_000), (4000, 5000), (2000, 3000)]);
}

/// RFC 2018 §3 and RFC 7323: three SACK blocks fit beside timestamps. Without negotiation of SACK, ACKs carry no SACK
/// blocks.
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

/// RFC 3168 §6.1.3: after a mark every ACK echoes it, until CWR; a mark on the segment with CWR starts a new echo.
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

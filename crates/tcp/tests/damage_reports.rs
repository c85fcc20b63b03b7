//! Tests the receiver's reports of damaged segments (HACK: Balan et al. 2001).

mod script;

use lasthop_base::Value;
use lasthop_tcp::receiver::loss_discrimination;
use lasthop_tcp::{Config, Notice, Role};
use lasthop_wire::LinkReport;
use script::Step::*;
use script::{IRS, Peer, Script, choose, config};

fn hack() -> Config {
    let receiver_discrimination = choose(loss_discrimination::ALL, "hack", &[("copies", Value::Count(2))]);
    Config { receiver_discrimination, ..config("sack") }
}

/// The link layer reports `len` bytes at this offset as damaged. Returns whether a report to the sender is due.
fn damaged(script: &mut Script, offset: u64, len: u32, readable: bool) -> bool {
    let report = LinkReport::Discarded { seq: IRS.at(offset), len, readable };
    script.endpoint.handle_notice(script.now, Notice::Link(report));
    script.endpoint.has_special_segment()
}

/// A damaged segment whose header is intact is reported twice. The report names the segment.
#[test]
fn readable_segments_are_reported() {
    let mut script = Script::receiver(hack());
    assert!(!damaged(&mut script, 1, 1000, false), "the header is damaged, too");
    assert!(!damaged(&mut script, 1, 0, true), "a pure ACK is not reported");
    assert!(damaged(&mut script, 1, 1000, true));
    for _ in 0..2 {
        assert_eq!(script.sent("a report").segment.damaged(), Some(IRS.at(1)));
    }
    script.run([Nothing]);
    assert!(!script.endpoint.has_special_segment());
    let mut other = Script::receiver(config("sack"));
    assert!(!damaged(&mut other, 1, 1000, true), "without HACK, no damage is reported");
    let mut closed = Script::closed(hack(), Role::Active, Peer::default());
    closed.endpoint.open(closed.now);
    assert!(!damaged(&mut closed, 1, 1000, true), "the connection is not open");
}

/// Segments that have arrived, and segments beyond the advertised window, are not reported.
#[test]
fn only_missing_segments_within_the_window_are_reported() {
    let mut script = Script::receiver(hack());
    script.run([Data(1), Acked(2), Data(3), AckedBytes(1000)]);
    assert!(!damaged(&mut script, 1, 1000, true), "the segment was received in order");
    assert!(!damaged(&mut script, 2001, 1000, true), "the segment was received after a gap");
    let edge = script.endpoint.receiver().edge();
    assert!(!damaged(&mut script, edge - 999, 1000, true));
    assert!(damaged(&mut script, edge - 1000, 1000, true));
    assert_eq!(script.sent("a report").segment.damaged(), Some(IRS.at(edge - 1000)));
    // While reports are due, another damaged segment does not replace them.
    assert!(damaged(&mut script, 1001, 1000, true));
    assert_eq!(script.sent("a report").segment.damaged(), Some(IRS.at(edge - 1000)));
    assert!(damaged(&mut script, 1001, 1000, true));
    assert_eq!(script.sent("a report").segment.damaged(), Some(IRS.at(1001)));
}

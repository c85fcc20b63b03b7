//! Content and handling of single segments: PSH, data on a SYN or reset, windows, and timestamps of resets.

mod script;

use lasthop_tcp::{Config, Role, State};
use lasthop_wire::{Flags, Segment};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

const SYN_ACK: Flags = Flags(0x12);

/// RFC 9293 §3.9.1.2: only the last segment of the written data has PSH. A FIN without data has no PSH.
#[test]
fn push_ends_what_was_written() {
    let setup = Config { initial_window: 8, nagle: false, ..config("sack") };
    let mut script = Script::opened(setup, Peer::default());
    let pushes = |script: &mut Script| script.sent("data").segment.flags.has(Flags::PSH);
    script.run([Write(2500)]);
    assert_eq!([(); 3].map(|()| pushes(&mut script)), [false, false, true]);
    script.run([Nothing, AckBytes(2500), Write(500), Write(500)]);
    assert!(pushes(&mut script), "SHLD-27: two writes in one segment have one PSH");
    script.run([Nothing, AckBytes(3500), Close]);
    assert!(!pushes(&mut script), "a FIN without data has no PSH");
    let mut script = Script::opened(config("sack"), Peer::default());
    script.run([Write(300), Bytes(0, 300), Timeout]);
    assert!(pushes(&mut script));
}

/// RFC 9293 §3.4: an endpoint may store or drop data on a SYN. Our listener drops this data and acknowledges only the
/// SYN.
#[test]
fn data_on_a_syn_is_not_acknowledged() {
    let mut script = Script::closed(config("sack"), Role::Passive, Peer::default());
    script.endpoint.open(script.now);
    let syn = Segment { len: 500, ..script.syn(Flags::SYN, None) };
    script.arrive(syn);
    let answer = script.sent("the SYN-ACK").segment;
    assert_eq!((answer.flags, answer.ack), (SYN_ACK, IRS.at(1)));
    script.run([Ack(1), In(State::Established)]);
    assert_eq!(script.endpoint.delivered(), 0);
    script.run([DataBytes(0, 500), AckedBytes(500)]);
}

/// Returns an endpoint that was in SYN-SENT and has received the peer's SYN or SYN-ACK (`flags`) with `len` bytes of
/// data.
fn answered(config: Config, flags: Flags, len: u32) -> Script {
    let mut script = Script::closed(config, Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN");
    let answer = Segment { len, ..script.syn(flags, None) };
    script.arrive(answer);
    script
}

/// RFC 9293 §3.10.7.3: "other controls or text in the segment" of the SYN-ACK are processed, that is, its data and its
/// FIN.
#[test]
fn data_on_a_syn_ack_is_taken() {
    let mut script = answered(config("sack"), SYN_ACK, 500);
    script.run([In(State::Established), AckedBytes(500), Nothing]);
    assert_eq!(script.endpoint.delivered(), 500);
    let again = Segment { len: 500, ..script.syn(SYN_ACK, None) };
    script.arrive(again);
    script.run([AckedBytes(500), Nothing, DataBytes(500, 900), AckedBytes(900), Nothing]);
    assert_eq!(script.endpoint.delivered(), 900);
    let ack_policy = Config::default().ack_policy;
    answered(Config { ack_policy, ..config("sack") }, SYN_ACK, 500).run([
        AckedBytes(500),
        Nothing,
        NoDeadline,
    ]);
    for len in [500, 0] {
        let mut script = answered(config("sack"), SYN_ACK | Flags::FIN, len);
        script.run([In(State::CloseWait), AckedBytes(u64::from(len) + 1), Nothing]);
        assert_eq!(script.endpoint.delivered(), u64::from(len));
    }
    // Data on the SYN-ACK is accepted only within the window advertised in the SYN, 400 bytes. A FIN beyond this window
    // is ignored.
    let window = script::choose(
        lasthop_tcp::receiver::window::ALL,
        "buffer",
        &[("size", lasthop_base::Value::Bytes(400))],
    );
    let mut script = answered(Config { window, ..config("sack") }, SYN_ACK | Flags::FIN, 500);
    script.run([In(State::Established), AckedBytes(400), Nothing]);
    // In a simultaneous open (RFC 9293 §3.5, Fig. 7), data on the SYN is dropped, and data on the SYN-ACK is accepted.
    let mut script = answered(config("sack"), Flags::SYN, 500);
    assert_eq!(script.sent("the SYN-ACK").segment.ack, IRS.at(1));
    let crossed = Segment { len: 500, ..script.syn(SYN_ACK, None) };
    script.arrive(crossed);
    script.run([In(State::Established), AckedBytes(500), Nothing]);
    assert_eq!(script.endpoint.delivered(), 500);
}

/// RFC 9293, SHLD-2: a reset with data is accepted as a reset, and its data is ignored.
#[test]
fn a_reset_with_data() {
    let mut script = Script::opened(config("sack"), Peer::default());
    script.arrive(Segment { seq: IRS.at(1), len: 20, flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), Nothing]);
    assert_eq!(script.endpoint.delivered(), 0);
}

/// RFC 9293, MUST-66: at a closed receive window, URG segments are processed and a reset is accepted.
#[test]
fn a_reset_at_a_closed_window() {
    let window = script::choose(
        lasthop_tcp::receiver::window::ALL,
        "buffer",
        &[("size", lasthop_base::Value::Bytes(2000))],
    );
    let mut script = Script::opened(Config { window, ..config("sack") }, Peer::default());
    script.run([Data(1)]);
    script.endpoint.hold_unread(1000);
    script.run([Acked(2), Data(2)]);
    script.endpoint.hold_unread(2000);
    assert_eq!(script.sent("an ACK").segment.window, 0);
    let urgent = Segment { len: 10, flags: Flags::ACK | Flags::URG, ..script.plain() };
    script.arrive(urgent);
    script.run([Acked(3), In(State::Established)]);
    script.arrive(Segment { seq: IRS.at(2001), flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed)]);
}

/// RFC 9293, MUST-1: the window is an unsigned number. A field of 65,535 means 65,535 bytes, and with a shift of 14
/// bits 1 GiB.
#[test]
fn the_window_is_unsigned() {
    let setup = Config { initial_window: 66, ..config("sack") };
    let mut script = Script::opened(setup.clone(), Peer { window: u16::MAX, ..Peer::default() });
    script.run([Write(1 << 40), News(1, 65), Nothing]);
    let mut script = Script::opened(
        Config { initial_window: 2000, ..setup },
        Peer { window: u16::MAX, scale: Some(14), ..Peer::default() },
    );
    script.run([Write(1 << 40), Ack(1), News(1, 2000), Nothing]);
}

/// RFC 7323 §3.2: a reset with the ACK flag echoes the peer's last timestamp. A reset without the ACK flag echoes 0.
#[test]
fn timestamps_of_resets() {
    let stamped = || {
        let peer = Peer { timestamps: true, mss: 1012, ..Peer::default() };
        Script::opened(Config { timestamps: true, ..config("sack") }, peer)
    };
    let mut script = stamped();
    let heard = script.millis();
    script.run([Tick(10)]);
    script.endpoint.abort();
    assert_eq!(script.sent("a reset").segment.timestamps.map(|stamps| stamps.echo), Some(heard));
    let stray = Segment { ack: ISS.at(9), ..script.plain() };
    script.arrive(stray);
    let reset = script.sent("a reset").segment;
    assert_eq!((reset.flags, reset.timestamps.map(|stamps| stamps.echo)), (Flags::RST, Some(0)));
}

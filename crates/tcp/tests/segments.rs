//! Content and handling of single segments: PSH, data on a SYN, data on a reset, header fields.

mod script;

use lasthop_tcp::{Config, Role, State};
use lasthop_wire::{Flags, Segment};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

const SYN_ACK: Flags = Flags(0x12);

/// RFC 9293 §3.9.1.2: PSH is set only on the last segment of written data; a FIN alone has no PSH.
#[test]
fn push_ends_what_was_written() {
    let setup = Config { initial_window: 8, nagle: false, ..config("sack") };
    let mut script = Script::opened(setup, Peer::default());
    let pushes = |script: &mut Script| script.sent("data").segment.flags.has(Flags::PSH);
    script.run([Write(2500)]);
    assert_eq!([(); 3].map(|()| pushes(&mut script)), [false, false, true]);
    script.run([Nothing, AckBytes(2500), Write(500), Write(500)]);
    assert!(pushes(&mut script), "SHLD-27: two writes, one segment, one PSH");
    script.run([Nothing, AckBytes(3500), Close]);
    assert!(!pushes(&mut script), "a FIN alone");
    let mut script = Script::opened(config("sack"), Peer::default());
    script.run([Write(300), Bytes(0, 300), Timeout]);
    assert!(pushes(&mut script));
}

/// RFC 9293 §3.4: data on a SYN may wait or be dropped; a listener drops it without acknowledgement.
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

/// Returns an endpoint that has received, in SYN-SENT, the peer's SYN with these flags and this many bytes.
fn answered(config: Config, flags: Flags, len: u32) -> Script {
    let mut script = Script::closed(config, Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN");
    let answer = Segment { len, ..script.syn(flags, None) };
    script.arrive(answer);
    script
}

/// RFC 9293 §3.10.7.3: "other controls or text in the segment" of the SYN-ACK are processed.
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
    // At most the window advertised in the SYN is accepted. A FIN beyond that window does not count.
    let window = script::choose(
        lasthop_tcp::receiver::window::ALL,
        "buffer",
        &[("size", lasthop_base::Value::Bytes(400))],
    );
    let mut script = answered(Config { window, ..config("sack") }, SYN_ACK | Flags::FIN, 500);
    script.run([In(State::Established), AckedBytes(400), Nothing]);
    // In a simultaneous open (Fig. 7), data on the crossing SYN is not accepted yet; data on the SYN-ACK is.
    let mut script = answered(config("sack"), Flags::SYN, 500);
    assert_eq!(script.sent("the SYN-ACK").segment.ack, IRS.at(1));
    let crossed = Segment { len: 500, ..script.syn(SYN_ACK, None) };
    script.arrive(crossed);
    script.run([In(State::Established), AckedBytes(500), Nothing]);
    assert_eq!(script.endpoint.delivered(), 500);
}

/// SHLD-2: data on a reset is ignored.
#[test]
fn a_reset_with_data() {
    let mut script = Script::opened(config("sack"), Peer::default());
    script.arrive(Segment { seq: IRS.at(1), len: 20, flags: Flags::RST, ..Segment::default() });
    script.run([In(State::Closed), Nothing]);
    assert_eq!(script.endpoint.delivered(), 0);
}

/// MUST-66: a reset is accepted at a closed window.
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

/// MUST-1: windows above 2^15 are not negative; scaled by 14 bits they are 1 GiB.
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

/// RFC 7323 §3.2: the echo of a reset without an ACK is 0; with an ACK, it is the peer's last timestamp.
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

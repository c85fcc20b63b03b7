//! Tests the read-only views of an endpoint, of its sender and of its receiver.

mod script;

use lasthop_base::{Choice, Duration};
use lasthop_tcp::event::Event;
use lasthop_tcp::receiver::loss_discrimination as receiver_loss;
use lasthop_tcp::sender::{congestion, loss_discrimination as sender_loss};
use lasthop_tcp::{Config, Role, State};
use lasthop_wire::Flags;
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

/// The initial window has four segments. 4000 of 10,000 bytes are in flight, and 6000 wait. The SYN has measured a
/// round-trip time of 100 ms.
#[test]
fn views_of_data_in_flight() {
    let mut script = Script::opened(Config { initial_window: 4, ..config("sack") }, Peer::default());
    assert_eq!((script.endpoint.unsent(), script.endpoint.number_after()), (0, ISS.at(1)));
    script.run([Write(10_000), News(1, 4), Nothing]);
    let endpoint = &script.endpoint;
    assert_eq!((endpoint.unsent(), endpoint.delivered(), endpoint.window_in_segments()), (6000, 0, 4.0));
    assert_eq!(endpoint.number_after(), ISS.at(4001));
    assert!(!endpoint.has_detected_loss() && endpoint.ended().is_none());
    let sender = endpoint.sender();
    assert_eq!((sender.window(), sender.in_flight(), sender.inflated_window()), (4000, 4000, 4000));
    assert_eq!((sender.unsent(), sender.segment(), sender.scoreboard().outstanding()), (6000, 1000, 4000));
    assert!(sender.ssthresh() > 1 << 20 && !sender.is_recovering() && !sender.is_finished());
    assert_eq!(sender.rtt().srtt(), Some(Duration::from_millis(100)));
    // RFC 6298: the first RTO is SRTT + 4 RTTVAR = 100 + 4 x 50 ms, but at least 1 s here.
    assert_eq!(sender.timer().since(script.now), Duration::from_secs(1));
    assert!(!endpoint.has_reached_r1());
}

/// Three SACKed segments above segment 2 begin a recovery. Papers plot cwnd plus the data that has left the network.
#[test]
fn views_of_a_recovery() {
    let mut script = Script::opened(Config { initial_window: 8, ..config("sack") }, Peer::default());
    script.run([Write(100_000), News(1, 8), Nothing, Tick(100)]);
    script.sack(1, &[(2, 5)]);
    script.sack(1, &[(2, 6)]);
    script.sack(1, &[(2, 7)]);
    while script.endpoint.poll_segment(script.now).is_some() {}
    let sender = script.endpoint.sender();
    assert!(sender.is_recovering() && script.endpoint.has_detected_loss());
    let (outstanding, in_flight) = (sender.scoreboard().outstanding(), sender.in_flight());
    assert_eq!(sender.scoreboard().sacked(), 5000);
    assert_eq!(outstanding - in_flight, 5000, "the first segment is retransmitted, so that it is in flight");
    assert_eq!(sender.inflated_window(), sender.window() + 5000);
    assert_eq!(script.endpoint.counters().recoveries, 1);
    assert_eq!(script.endpoint.counters().retransmitted, 1);
    // SND.UNA passes the end of the recovery.
    let end = sender.scoreboard().nxt() - 1;
    script.run([AckBytes(end)]);
    assert!(!script.endpoint.sender().is_recovering());
}

/// A sender is finished as soon as its FIN is acknowledged. The peer's data counts as delivered in order.
#[test]
fn views_of_the_end() {
    let mut script = Script::opened(Config { initial_window: 4, ..config("sack") }, Peer::default());
    script.run([Write(500), Close, Bytes(0, 500), AckBytes(500)]);
    assert!(!script.endpoint.sender().is_finished(), "the FIN is not acknowledged");
    script.run([AckBytes(501)]);
    assert!(script.endpoint.sender().is_finished());
    assert_eq!(script.endpoint.state(), State::FinWait2);
    script.run([Data(1), Acked(2), Data(3), AckedBytes(1000)]);
    assert_eq!(script.endpoint.delivered(), 1000);
    assert_eq!(script.endpoint.receiver().reassembly().highest(), 3001);
}

/// Offsets count from the initial sequence numbers, also if the numbers wrap. Before the peer's SYN, only a SYN has a
/// known offset.
#[test]
fn offsets_of_sequence_numbers() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    let syn = script.sent("the SYN").segment;
    let answer = script.syn(Flags::SYN | Flags::ACK, syn.timestamps);
    assert_eq!(script.endpoint.payload_offset(&answer), Some(1));
    assert_eq!(script.endpoint.payload_offset(&script.plain()), None);
    script.arrive(answer);
    let mut segment = script.plain();
    for offset in [1, 500, 5000] {
        segment.seq = IRS.at(offset);
        assert_eq!(script.endpoint.payload_offset(&segment), Some(offset));
        assert_eq!(script.endpoint.offset_from_peer(IRS.at(offset)), Some(offset));
        assert_eq!(script.endpoint.offset_to_peer(ISS.at(offset)), Some(offset));
    }
    (segment.seq, segment.flags) = (IRS, Flags::SYN);
    assert_eq!(script.endpoint.payload_offset(&segment), Some(1), "the SYN takes a sequence number");
}

/// Events are queued in order. A traced endpoint reports the handshake.
#[test]
fn events_are_polled() {
    let mut script = Script::opened(config("sack"), Peer::default());
    assert!(script.endpoint.has_events());
    assert!(matches!(script.endpoint.poll_event(), Some((_, Event::Established))));
    while script.endpoint.poll_event().is_some() {}
    assert!(!script.endpoint.has_events());
}

fn controls(is: impl Fn(&Script) -> bool) -> Vec<&'static str> {
    let mut names: Vec<&str> = Vec::new();
    for mechanism in congestion::ALL {
        let config = Config { congestion: Choice::of(mechanism), ..config("sack") };
        if is(&Script::opened(config, Peer::default())) {
            names.push(mechanism.info.name);
        }
    }
    names.sort_unstable();
    names
}

/// A sender has the properties of its congestion control (`catalogue.rs` tests these properties).
#[test]
fn properties_of_the_congestion_control() {
    assert_eq!(controls(|script| script.endpoint.sender().draws()), ["bbr", "bbr3", "vivace"]);
    assert_eq!(controls(|script| script.endpoint.sender().is_scalable()), ["dctcp", "prague"]);
    assert_eq!(controls(|script| script.endpoint.sender().sends_ect1()), ["prague"]);
    let by_mark = ["jersey", "new_jersey", "w_cw"];
    assert_eq!(controls(|script| script.endpoint.sender().judges_by_mark()), by_mark);
    assert_eq!(controls(|script| script.endpoint.sender().discriminates_each_loss()), by_mark);
    assert_eq!(controls(|script| script.endpoint.sender().discriminates_losses()), by_mark);
}

/// A sender and a receiver have the properties of their loss discrimination (`mechanisms.rs` tests these properties).
#[test]
fn properties_of_loss_discrimination() {
    let senders = |is: fn(&Script) -> bool| {
        let of = |name: &str| Config {
            sender_discrimination: Choice::named(sender_loss::ALL, name),
            ..config("sack")
        };
        let names = ["always", "tagged", "ecn", "trend", "ebsn"];
        names.into_iter().filter(|name| is(&Script::opened(of(name), Peer::default()))).collect::<Vec<_>>()
    };
    assert_eq!(senders(|script| script.endpoint.sender().discriminates_losses()), ["tagged", "ecn", "trend"]);
    assert_eq!(senders(|script| script.endpoint.sender().discriminates_each_loss()), ["ecn", "trend"]);
    let receivers = |is: fn(&Script) -> bool| {
        let of = |name: &str| Config {
            receiver_discrimination: Choice::named(receiver_loss::ALL, name),
            ..config("sack")
        };
        let names = ["always", "mac", "jtcp", "rtt", "hack"];
        names.into_iter().filter(|name| is(&Script::opened(of(name), Peer::default()))).collect::<Vec<_>>()
    };
    assert_eq!(receivers(|script| script.endpoint.receiver().discriminates()), ["mac", "jtcp", "rtt"]);
    assert_eq!(receivers(|script| script.endpoint.receiver().draws()), ["rtt"]);
}

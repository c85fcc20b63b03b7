//! Tests of retransmissions by middleboxes: their duration, several retransmissions in one window, and their effect on
//! RTT samples. Also tests ACK splitting.

use super::{AIR, MIDDLEBOX, Setting, UNFILLED, flow, observed, path, window_at};
use lasthop_base::{Duration, Time};
use lasthop_engine::MiddleboxAction;
use lasthop_tcp::Event;

/// RTT of the radio link, s: 5 ms each way, and 4.16 ms for the transmission of a packet.
const AIR_ROUND_TRIP: f64 = 0.0142;

/// Without queueing, the packet after the hole causes the first duplicate ACK. The middlebox must then retransmit at
/// once, so the repair must take at most two RTTs of the radio link.
#[test]
fn a_repair_takes_two_round_trips_of_the_air_at_most() {
    for name in ["snoop", "snoop_sack", "wtcp", "atcp"] {
        let script: &[Setting<'_>] =
            &[(AIR, "{ kind = \"scripted\", packets = \"400\" }"), (MIDDLEBOX, name)];
        let (outcome, _, recorded) = observed(&path(false, &[UNFILLED, script]), 1);
        assert_eq!((outcome.source.duplicate_acks, outcome.source.retransmitted), (0, 0), "{name}");
        let repeats: Vec<Time> = recorded
            .nodes
            .iter()
            .filter(|(.., action)| *action == MiddleboxAction::Repeated)
            .map(|(at, ..)| *at)
            .collect();
        assert_eq!(repeats.len(), 1, "{name}");
        let (lost_at, packet, _) =
            recorded.on(1, true).find(|(.., arrives)| arrives.is_none()).expect("a loss");
        let seq = packet.segment().expect("TCP").seq;
        let whole = recorded.on(1, true).find(|(now, packet, arrives)| {
            *now >= repeats[0]
                && arrives.is_some()
                && packet.segment().is_some_and(|segment| segment.seq == seq)
        });
        let gap = whole
            .and_then(|(.., arrives)| arrives)
            .expect("the retransmission arrives")
            .since(lost_at)
            .as_secs();
        assert!(gap < 2.0 * AIR_ROUND_TRIP + 0.005, "{name}: {gap} s");
    }
}

/// Three packets of a window are lost. With SACK blocks, the middlebox must retransmit all three within one RTT of the
/// radio link. Without SACK blocks, each further loss takes one more RTT.
#[test]
fn three_losses_in_a_window() {
    let script: &[Setting<'_>] = &[(AIR, "{ kind = \"scripted\", packets = \"400, 402, 404\" }")];
    let span = |name| {
        let (outcome, _, recorded) = observed(&path(false, &[UNFILLED, script, &[(MIDDLEBOX, name)]]), 1);
        let repeats: Vec<Time> = recorded
            .nodes
            .iter()
            .filter(|(.., action)| *action == MiddleboxAction::Repeated)
            .map(|(at, ..)| *at)
            .collect();
        let last = *repeats.last().expect("a repeat");
        (last.since(repeats[0]).as_secs(), repeats.len(), outcome.source.retransmitted)
    };
    let (selective, repeats, again) = span("snoop_sack");
    assert_eq!((repeats, again), (3, 0), "three retransmissions by the middlebox, none by the sender");
    // Two successive lost packets are 8 ms apart (two transmission times of 4.16 ms).
    assert!(selective < AIR_ROUND_TRIP + 0.009, "{selective}");
    let (cumulative, _, again) = span("snoop");
    println!(
        "three losses: {selective} s by blocks, {cumulative} s without, then {again} retransmissions of the sender"
    );
    assert!(cumulative > 2.0 * selective || again > 0, "{cumulative}");
}

/// Runs a flow with a fade. The fade destroys `packets` consecutive packets, retransmissions included.
fn fade(name: &str, packets: u32) -> (Option<f64>, f64, u64) {
    let numbers = (400..400 + packets).map(|number| number.to_string()).collect::<Vec<String>>().join(", ");
    let script = format!("{{ kind = \"scripted\", packets = \"{numbers}\" }}");
    let stamps: &[Setting<'_>] = &[(AIR, &script), (MIDDLEBOX, name), ("timestamp_tick", "1 ms")];
    let (outcome, samples, _) = observed(&path(false, &[UNFILLED, stamps]), 1);
    let rto = samples.flows.iter().filter(|sample| sample.time > Time::ZERO + Duration::from_secs(2));
    let longest = rto.map(|sample| sample.rto_ms).fold(0.0, f64::max);
    (outcome.largest_rtt_s, longest, outcome.source.timeouts)
}

/// While the station repairs losses, the sender's RTT must exclude the repair time with `wtcp` and include it with
/// `snoop` (Ratnam and Matta 1998). An RTO that excludes repair times may expire too early.
#[test]
fn a_fade_is_hidden_from_the_senders_clock() {
    let (clean, floor, _) = fade("wtcp", 0);
    let [(snoop, longer, none), (wtcp, rto, timeouts)] = ["snoop", "wtcp"].map(|name| fade(name, 5));
    println!(
        "five packets: snoop {snoop:?} s, RTO to {longer} ms; wtcp {wtcp:?} s, {rto} ms; clean {clean:?} s, {floor} ms"
    );
    assert!(snoop.expect("samples") > clean.expect("samples") + 0.05);
    assert!(longer > 1.5 * floor);
    assert!((wtcp.expect("samples") - clean.expect("samples")).abs() < 0.001);
    assert_eq!((rto, timeouts, none), (floor, 0, 0));
    // WTCP's RTO does not include the repair times, so the RTO must expire in a long fade.
    let [(.., snoop), (.., wtcp)] = ["snoop", "wtcp"].map(|name| fade(name, 26));
    println!("26 packets: {snoop} timeouts with snoop, {wtcp} with wtcp");
    assert!(wtcp > snoop, "{wtcp} {snoop}");
}

/// Reno is in congestion avoidance, and one packet is lost over the air. The first new ACK must be split into as many
/// pieces as it acknowledges bytes (at most 1460). The halved window must then regain its size within a round trip. A
/// sender with byte counting must ignore the pieces.
#[test]
fn split_acks_bring_the_window_back_within_a_round_trip() {
    let reno: &[Setting<'_>] = &[
        ("recovery", "reno"),
        ("sack", "false"),
        ("ack_counting", "per_ack"),
        ("initial_ssthresh", "16000 bytes"),
        (AIR, "{ kind = \"scripted\", packets = \"400\" }"),
        // The path's queue of 100 packets could not hold 1460 ACKs at once.
        ("link.wired.up.queue", "unlimited"),
    ];
    let (outcome, samples, recorded) = observed(&path(false, &[UNFILLED, reno, &[(MIDDLEBOX, "spack")]]), 1);
    let entered = recorded.events.iter().find(|(_, event)| matches!(event, Event::RecoveryEntered { .. }));
    let left = recorded
        .events
        .iter()
        .find(|(_, event)| matches!(event, Event::RecoveryLeft { .. }))
        .expect("the end of recovery")
        .0;
    let entered = entered.expect("a recovery").0;
    let before = window_at(&samples, entered - Duration::from_millis(6));
    let halved = window_at(&samples, left - Duration::from_millis(1));
    let after = window_at(&samples, left + Duration::from_millis(125));
    println!(
        "spack: cwnd {before}, in recovery {halved}, a round trip after it {after}; {} pieces",
        outcome.account.created[1]
    );
    assert_eq!(outcome.source.recoveries, 1);
    assert_eq!(outcome.account.created, [0, 1459]);
    let without = flow(&path(false, &[UNFILLED, reno]), 1);
    assert!(without.cwnd_bytes < outcome.cwnd_bytes);
    assert!(after >= before, "{after}, before {before}");

    let bytes: &[Setting<'_>] = &[("ack_counting", "bytes")];
    let (with, without) = (
        flow(&path(false, &[UNFILLED, reno, bytes, &[(MIDDLEBOX, "spack")]]), 1),
        flow(&path(false, &[UNFILLED, reno, bytes]), 1),
    );
    let more = with.source.data_sent.abs_diff(without.source.data_sent);
    println!(
        "counting bytes: {} segments with pieces, {} without",
        with.source.data_sent, without.source.data_sent
    );
    assert!(more * 200 < without.source.data_sent, "{more}");
    assert!(
        with.cwnd_bytes.abs_diff(without.cwnd_bytes) <= 1000,
        "{} {}",
        with.cwnd_bytes,
        without.cwnd_bytes
    );

    let wired: &[Setting<'_>] =
        &[(AIR, "none"), ("link.wired.down.channel", "{ kind = \"scripted\", packets = \"400\" }")];
    let wired = flow(&path(false, &[UNFILLED, reno, wired, &[(MIDDLEBOX, "spack")]]), 1);
    assert_eq!((wired.source.recoveries, wired.account.created), (1, [0, 0]));
}

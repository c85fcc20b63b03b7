//! Timeouts if the peer is silent: R1, R2 and the user timeout (RFC 9293 §3.8.3), keep-alive (§3.8.4), and zero-window
//! probes (§3.8.6.1). Numbers such as MUST-20 are those of RFC 9293, Appendix B.

mod script;

use lasthop_base::Duration;
use lasthop_tcp::config::UserTimeouts;
use lasthop_tcp::endpoint::{EndReason, KeepAlive};
use lasthop_tcp::{Config, Event, Role, State};
use lasthop_wire::{Flags, Segment, Seq};
use script::Step::*;
use script::{IRS, ISS, Peer, Script, config};

const HOUR: u64 = 3_600_000;

fn patient(data: u64) -> Config {
    let user_timeouts = UserTimeouts { data: Some(Duration::from_secs(data)), ..UserTimeouts::default() };
    Config { user_timeouts, initial_window: 4, ..config("sack") }
}

fn opened(config: Config) -> Script {
    Script::opened(config, Peer::default())
}

fn r1_events(script: &mut Script) -> usize {
    std::iter::from_fn(|| script.endpoint.poll_event())
        .filter(|(_, event)| *event == Event::R1Reached)
        .count()
}

/// R2 for data (MUST-20): unacknowledged data is retransmitted after 1, 3 and 7 s. The connection ends at the user
/// timeout of 10 s, although the retransmission timer would expire only after 15 s.
#[test]
fn data_without_an_answer() {
    let mut script = opened(patient(10));
    script.run([Write(1000), New(1), Deadline(1000)]);
    script.run([Tick(1000), Again(1), Deadline(2000), Tick(2000), Again(1), Deadline(4000)]);
    script.run([Tick(4000), Again(1), Nothing, Deadline(3000), Tick(3000)]);
    script.run([In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

#[test]
fn progress_renews_patience() {
    let mut script = opened(patient(10));
    script.run([Write(2000), News(1, 2), Tick(1000), Again(1), Tick(2000), Again(1), Tick(4000), Again(1)]);
    script.run([Tick(2900), Ack(2), Tick(9000), In(State::Established)]);
    // Without a user timeout the connection never aborts: the RTO doubles up to 64 s, and the data is retransmitted for
    // ever.
    let mut config = patient(10);
    config.user_timeouts.data = None;
    let mut script = opened(config);
    script.run([Write(1000), New(1)]);
    for _ in 0..100 {
        script.run([Timeout, Again(1), In(State::Established)]);
    }
}

/// RFC 9293, MUST-21: the application may set the user timeout (R2) at any time, here to 6 s after two retransmissions.
#[test]
fn the_application_sets_the_user_timeout() {
    let mut script = opened(patient(1000));
    script.run([Write(1000), New(1), Tick(1000), Again(1), Tick(2000), Again(1)]);
    script.endpoint.set_user_timeout(Some(Duration::from_secs(6)));
    script.run([Tick(4000), In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

/// R1 (MUST-20, SHLD-9, SHLD-10): the third retransmission of the same data is reported once, as an event. Further
/// retransmissions are not reported until an ACK arrives.
#[test]
fn three_retransmissions_are_trouble() {
    let mut script = opened(patient(1000));
    script.run([Write(1000), New(1), Timeout, Again(1), Timeout, Again(1)]);
    assert!(!script.endpoint.has_reached_r1() && r1_events(&mut script) == 0);
    script.run([Timeout, Again(1)]);
    assert!(script.endpoint.has_reached_r1() && r1_events(&mut script) == 1);
    script.run([Timeout, Again(1)]);
    assert_eq!(r1_events(&mut script), 0);
    script.run([Ack(2)]);
    assert!(!script.endpoint.has_reached_r1());
}

/// Defaults of the timeouts: R1 is at least three retransmissions (SHLD-10), R2 at least 100 s (SHLD-11), and 3 minutes
/// for a SYN (MUST-23). Keep-alive is off, and its idle time is at least two hours (MUST-28).
#[test]
fn the_defaults() {
    let UserTimeouts { r1, data, syn } = Config::default().user_timeouts;
    assert!(r1 >= 3);
    assert!(data >= Some(Duration::from_secs(100)) && syn >= Some(Duration::from_secs(180)));
    assert_eq!(Config::default().keep_alive, None);
    assert!(KeepAlive::default().idle >= Duration::from_secs(7200));
}

/// SHLD-20: events are reported only to an application that requests them. The state, such as R1, can always be
/// queried.
#[test]
fn events_are_told_if_asked_for() {
    let random = lasthop_base::Stream::named(1, "quiet");
    let mut endpoint = lasthop_tcp::Endpoint::new(patient(1000), Role::Active, ISS, random);
    let mut now = lasthop_base::Time::ZERO;
    endpoint.open(now);
    for _ in 0..4 {
        while endpoint.poll_segment(now).is_some() {}
        now = endpoint.poll_timeout();
        endpoint.handle_timeout(now);
    }
    assert!(endpoint.has_reached_r1() && endpoint.poll_event().is_none());
}

/// MUST-22, MUST-23: the SYN is retransmitted with a doubling RTO for three minutes. The connection then ends as timed
/// out, not as refused.
#[test]
fn a_syn_without_an_answer() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN");
    for wait in [1, 2, 4, 8, 16, 32, 64] {
        script.run([Deadline(wait * 1000), Tick(wait * 1000)]);
        assert_eq!(script.sent("the retransmitted SYN").segment.flags, Flags::SYN);
        assert_eq!(script.endpoint.has_reached_r1(), wait >= 4);
    }
    script.run([Deadline((180 - 127) * 1000), Timeout, In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

#[test]
fn a_syn_ack_without_an_answer() {
    let mut script = Script::closed(config("sack"), Role::Passive, Peer::default());
    script.endpoint.open(script.now);
    let syn = script.syn(Flags::SYN, None);
    script.arrive(syn);
    script.sent("the SYN-ACK");
    for _ in 0..7 {
        script.run([Timeout]);
        script.sent("the retransmitted SYN-ACK");
    }
    script.run([Timeout, In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

/// MUST-36, MUST-37: a closed window is probed as long as the peer answers, here for a day. The user timeout of 10 s
/// does not end the connection.
#[test]
fn a_closed_window_that_is_told_again_and_again() {
    let mut script = opened(patient(10));
    script.run([Write(10_000), News(1, 4), PeerWindow(0), Ack(5), Nothing]);
    let end = script.now + Duration::from_secs(86_400);
    while script.now < end {
        script.run([Timeout, Bytes(4000, 4001), Nothing, Tick(100), Ack(5), In(State::Established)]);
    }
    script.run([PeerWindow(60_000), Ack(5), New(5)]);
}

/// If the peer does not answer zero-window probes, the connection ends 10 s (R2) after the first unanswered probe.
#[test]
fn a_closed_window_and_silence() {
    let mut script = opened(patient(10));
    script.run([Write(10_000), News(1, 4), PeerWindow(0), Ack(5), Nothing, Tick(1000), Bytes(4000, 4001)]);
    // Two further probes follow, 2 s after the first probe and 4 s after the second probe. The next probe would follow
    // 14 s after the first, but R2 ends the connection after 10 s.
    script.run([Nothing, Tick(2000), Bytes(4000, 4001), Nothing, Tick(4000), Bytes(4000, 4001), Nothing]);
    script.run([Deadline(4000), Tick(4000), In(State::Closed), Nothing, NoDeadline]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

/// The peer has shrunk the window, so the right edge of the window is left of data already sent (SHLD-17). The
/// connection stays open as long as the peer answers retransmissions, and ends after R2 if the peer is silent.
#[test]
fn a_window_that_closes_on_what_was_sent() {
    let mut script = opened(patient(10));
    script.run([Write(10_000), News(1, 4), PeerWindow(0), Ack(2)]);
    for _ in 0..50 {
        script.run([Timeout, Again(2), Nothing, Tick(10), Ack(2), In(State::Established)]);
    }
    let mut script = opened(patient(10));
    script.run([Write(10_000), News(1, 4), PeerWindow(0), Ack(2), Timeout, Again(2), Timeout, Again(2)]);
    script.run([Timeout, Again(2), Timeout, In(State::Closed)]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
}

/// The application can distinguish why a connection ended: refused, reset, timed out, closed or aborted (MUST-12).
#[test]
fn the_ends_are_told_apart() {
    let mut script = Script::closed(config("sack"), Role::Active, Peer::default());
    script.endpoint.open(script.now);
    script.sent("the SYN");
    assert_eq!(script.endpoint.ended(), None);
    let refusal = Segment { flags: Flags::RST | Flags::ACK, ack: ISS.at(1), ..Segment::default() };
    script.arrive(refusal);
    assert_eq!(script.endpoint.ended(), Some(EndReason::Refused));
    let mut script = opened(patient(10));
    script.arrive(Segment { seq: IRS.at(1), flags: Flags::RST, ..Segment::default() });
    assert_eq!(script.endpoint.ended(), Some(EndReason::Reset));
    let mut script = opened(patient(10));
    script.endpoint.abort();
    assert_eq!(script.endpoint.ended(), Some(EndReason::Aborted));
}

fn with_keep_alive() -> Config {
    Config { keep_alive: Some(KeepAlive::default()), ..config("sack") }
}

/// Expects a keep-alive probe: an ACK without data, whose sequence number was already acknowledged (SHLD-12).
#[track_caller]
fn expect_probe(script: &mut Script, bytes: u64) {
    let segment = script.sent("a probe").segment;
    assert_eq!((segment.seq, segment.len, segment.flags), (ISS.at(bytes), 0, Flags::ACK));
    script.run([Nothing]);
}

/// Keep-alive is off by default (MUST-25). If the application turns keep-alive on, a probe is sent after two hours of
/// silence (MUST-24, MUST-27, MUST-28).
#[test]
fn keep_alive_is_off_unless_asked_for() {
    let mut script = opened(config("sack"));
    script.run([NoDeadline]);
    script.endpoint.set_keep_alive(script.now, Some(KeepAlive::default()));
    script.run([Deadline(2 * HOUR), Tick(2 * HOUR)]);
    expect_probe(&mut script, 0);
    script.endpoint.set_keep_alive(script.now, None);
    script.run([NoDeadline, Nothing]);
}

/// MUST-26: keep-alive probes are sent only after two hours without a segment of the peer, and only while no data is
/// unacknowledged.
#[test]
fn keep_alive_asks_only_when_all_is_quiet() {
    let mut script = opened(with_keep_alive());
    script.run([Tick(HOUR), Data(1), Acked(2), Tick(HOUR), Nothing, Deadline(HOUR), Tick(HOUR)]);
    expect_probe(&mut script, 0);
    let mut script = opened(Config {
        user_timeouts: UserTimeouts { data: None, ..UserTimeouts::default() },
        ..with_keep_alive()
    });
    script.run([Write(1000), New(1)]);
    for _ in 0..200 {
        script.run([Timeout]);
        while let Some(sending) = script.endpoint.poll_segment(script.now) {
            assert_eq!(
                (sending.segment.seq, sending.segment.len),
                (ISS.at(1), 1000),
                "data is retransmitted, no probe is sent"
            );
        }
    }
}

/// MUST-29: a single unanswered probe does not end the connection. After nine unanswered probes, 75 s apart, the
/// connection ends as timed out.
#[test]
fn keep_alive_gives_up_after_nine_probes() {
    let mut script = opened(with_keep_alive());
    script.run([Tick(2 * HOUR)]);
    for _ in 0..3 {
        expect_probe(&mut script, 0);
        script.run([Deadline(75_000), Tick(75_000)]);
    }
    expect_probe(&mut script, 0);
    script.run([Tick(10), Ack(1), Tick(75_000 - 10), Nothing, Deadline(2 * HOUR - 75_000 + 10)]);
    script.run([Tick(2 * HOUR - 75_000 + 10)]);
    for _ in 0..9 {
        script.run([In(State::Established)]);
        expect_probe(&mut script, 0);
        script.run([Tick(75_000)]);
    }
    script.run([In(State::Closed)]);
    assert_eq!(script.endpoint.ended(), Some(EndReason::TimedOut));
    assert_eq!(script.sent("a reset").segment.flags, Flags::RST | Flags::ACK);
    script.run([Nothing, NoDeadline]);
}

/// MUST-27: idle time, interval and number of probes can be configured, here 10 s, 3 s and two probes.
#[test]
fn keep_alive_is_what_was_asked_for() {
    let span = Duration::from_secs;
    let keep_alive = KeepAlive { idle: span(10), interval: span(3), probes: 2 };
    let mut script = opened(Config { keep_alive: Some(keep_alive), ..config("sack") });
    script.run([Deadline(10_000), Tick(10_000)]);
    for _ in 0..2 {
        expect_probe(&mut script, 0);
        script.run([In(State::Established), Deadline(3000), Tick(3000)]);
    }
    script.run([In(State::Closed)]);
}

#[test]
fn keep_alive_with_an_interval_longer_than_the_idle_time() {
    let span = Duration::from_secs;
    let keep_alive = KeepAlive { idle: span(10), interval: span(75), probes: 2 };
    let mut script = opened(Config { keep_alive: Some(keep_alive), ..config("sack") });
    for _ in 0..20 {
        script.run([Timeout]);
        while script.endpoint.poll_segment(script.now).is_some() {}
        script.run([Tick(100), Ack(1), In(State::Established)]);
    }
}

/// The receiving end answers a keep-alive probe with an ACK. The probe has the sequence number before RCV.NXT, and is
/// empty or has one byte of garbage.
#[test]
fn keep_alive_probes_are_answered() {
    let mut script = opened(config("sack"));
    script.run([Data(1), Acked(2)]);
    for len in [0, 1] {
        script.run([Tick(HOUR)]);
        let before = Seq(script.plain().seq.0.wrapping_sub(1));
        let probe = Segment { seq: before, len, ..script.plain() };
        script.arrive(probe);
        script.run([Acked(2), Nothing]);
    }
    assert_eq!(script.endpoint.delivered(), 1000);
}

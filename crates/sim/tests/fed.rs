//! Tests of fed transfers (`transfer = "external"`): a session writes the data of the source, and ends the data.

#[path = "../examples/outcomes/fingerprint.rs"]
mod fingerprint;

use fingerprint::Fingerprint;
use lasthop_base::{Duration, Time};
use lasthop_scenario::Draft;
use lasthop_sim::{Act, Observation, Refused, Session, Stopped, Until, run, run_observed};
use std::sync::Arc;

type Scenario = Arc<lasthop_scenario::Scenario>;

/// Returns a path of 8 Mbit/s and 100 ms, on which headers have no bytes, with one flow with these keys. Further tables
/// may follow the keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\nduration = \"20 s\"\nheaders = \"none\"\n[link.l]\nfrom = \"server\"\nto = \"client\"\n\
         rate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\nqueue = \"200 packets\"\n\
         [flow.data]\nfrom = \"server\"\nto = \"client\"\nsegment = \"1000 bytes\"\n{keys}"
    );
    let draft = Draft::parse(&text, "test").unwrap_or_else(|problem| panic!("{problem}"));
    Arc::new(draft.check().unwrap_or_else(|problem| panic!("{problem}")))
}

fn session(keys: &str) -> Session {
    Session::new(scenario(keys), 1, &[], Observation::default())
}

fn fed(more: &str) -> Session {
    session(&format!("transfer = \"external\"\n{more}"))
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn write(session: &mut Session, bytes: u64) {
    session.act(Act::Write(0, bytes)).unwrap_or_else(|why| panic!("{why}"));
}

fn close(session: &mut Session) {
    session.act(Act::Close(0)).unwrap_or_else(|why| panic!("{why}"));
}

/// Runs until the destination has all data. Returns the time, s.
fn complete(session: &mut Session) -> f64 {
    assert_eq!(session.run_until(Until::Complete { flow: 0 }, at(20.0)), Stopped::Met);
    session.now().as_secs()
}

fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e-6
}

fn observation() -> Observation {
    Observation { observers: vec![Box::new(Fingerprint::new())], ..Observation::default() }
}

/// The handshake is over before the data, so five segments must take 5 ms of transmission and 50 ms of propagation. Data
/// that follows 2 ms later must wait until the link is idle: ten segments are within the initial window.
#[test]
fn written_data_takes_its_transmission_and_the_delay() {
    let mut session = fed("");
    session.run_to(at(1.0));
    write(&mut session, 5000);
    assert!(is_near(complete(&mut session), 1.055));
    session.run_to(at(2.0));
    write(&mut session, 5000);
    session.run_to(at(2.002));
    write(&mut session, 5000);
    assert!(is_near(complete(&mut session), 2.060));
    assert_eq!(session.look(0).delivered_bytes, 15_000);
}

/// Data that is written before the start, at the start or during the handshake must follow the handshake of 100 ms. The
/// data then takes 55 ms.
#[test]
fn early_data_waits_for_the_handshake() {
    for written_at in [0.0, 0.5, 2.0, 2.03] {
        let mut session = fed("start = \"2 s\"");
        session.run_to(at(written_at));
        write(&mut session, 5000);
        assert_eq!(session.look(0).unsent_bytes, 5000, "{written_at}");
        assert!(is_near(complete(&mut session), 2.155), "{written_at}");
    }
}

/// Keys of transfers that use different parts of the engine: losses, loss discrimination at both ends, delays within the
/// host, and a random start.
const PATHS: &[(u64, &str)] = &[
    (1_000_000, ""),
    (2, "start = \"1 s\"\n"),
    (
        3_000_000,
        "profile = \"linux\"\nsender.congestion = \"bbr3\"\n[link.l.down]\nchannel = { kind = \"iid\", loss = 0.02 }\n",
    ),
    (
        700_000,
        "processing = \"2 ms\"\nstart_spread = \"3 s\"\n[link.l.up]\nchannel = { kind = \"iid\", loss = 0.1 }\n",
    ),
    (
        500_000,
        "receiver.loss_discrimination = \"rtt\"\nreceiver.ack_splitting = \"split\"\n\
         [link.l.down]\nchannel = { kind = \"iid\", loss = 0.02 }\n",
    ),
];

/// A transfer that is written and closed before the flow begins must have the packets, events and outcome of a transfer
/// of the same size. The number of writes must not matter, because no connection exists yet.
#[test]
fn data_written_before_the_start_is_a_transfer_of_this_size() {
    for (bytes, more) in PATHS {
        let fixed = scenario(&format!("transfer = \"{bytes} bytes\"\n{more}"));
        let driven = scenario(&format!("transfer = \"external\"\n{more}"));
        let feed = |writes: &[u64], observation| {
            let mut session = Session::new(Arc::clone(&driven), 1, &[], observation);
            writes.iter().for_each(|bytes| write(&mut session, *bytes));
            close(&mut session);
            session.finish()
        };
        let whole = run(&fixed, 1);
        assert!(whole.flows[0].account.completed.is_some(), "{more}");
        for writes in [&[*bytes][..], &[1, bytes - 1]] {
            assert_eq!(feed(writes, Observation::default()).0, whole, "{more}");
            let (_, _, observers) = run_observed(&fixed, 1, observation());
            let [one, other] = [feed(writes, observation()).2, observers].map(fingerprint::of);
            assert_eq!((one.value, one.count), (other.value, other.count), "{more}");
            assert!(one.count > 5, "{} packets and events", one.count);
        }
    }
}

/// The FIN of a close at 2 s must arrive 50 ms later. The transfer then has the size of all data. On the idle path, the
/// handshake takes 100 ms, and 10,000 bytes take 60 ms.
#[test]
fn a_close_ends_a_finite_transfer() {
    let mut session = fed("");
    session.run_to(at(1.0));
    write(&mut session, 10_000);
    session.run_to(at(2.0));
    close(&mut session);
    let outcome = session.finish().0;
    let flow = &outcome.flows[0];
    assert!(is_near(flow.active_s, 2.05) && is_near(flow.idle_s, 0.16), "{} {}", flow.active_s, flow.idle_s);
    assert_eq!((flow.is_finite, flow.size_bytes, flow.delivered_bytes), (true, 10_000, 10_000));
    assert_eq!(flow.transfers().count(), 1);
}

/// A close with outstanding data must not cut off the data: the last of 100 segments of 1 ms carries the FIN. Slow start
/// sends 10, 20, 40 and 30 segments in round trips of 100 ms plus the transmission of the first segment, 1 ms. (Each
/// segment has an ACK.)
#[test]
fn a_close_waits_for_outstanding_data() {
    let mut session = fed("receiver.ack_policy = \"immediate\"");
    session.run_to(at(1.0));
    write(&mut session, 100_000);
    close(&mut session);
    let last = 1.0 + 3.0 * 0.101 + 0.030 + 0.050;
    assert!(is_near(complete(&mut session), last), "{}", session.now());
    assert!(is_near(session.finish().0.flows[0].active_s, last));
}

/// A close without data must end the connection, also before and during the handshake. The FIN follows the handshake of
/// 100 ms and takes 50 ms.
#[test]
fn a_close_without_data_ends_the_connection() {
    for (closed_at, completed) in [(0.0, 0.15), (0.02, 0.15), (1.0, 1.05)] {
        let mut session = fed("");
        session.run_to(at(closed_at));
        close(&mut session);
        let flow = &session.finish().0.flows[0];
        assert_eq!((flow.is_finite, flow.size_bytes, flow.delivered_bytes), (true, 0, 0));
        assert_eq!((flow.account.completed, flow.source.retransmitted), (Some(at(completed)), 0));
    }
}

/// Without data, the link carries the handshake only: SYN and ACK in one direction, SYN-ACK in the other direction
/// (RFC 9293 §3.5).
#[test]
fn an_ordinary_run_only_opens_the_connection() {
    let outcome = run(&scenario("transfer = \"external\"\n"), 1);
    let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
    assert_eq!((link.down.offered, link.up.offered), (2, 1));
    assert_eq!((flow.delivered_bytes, flow.is_finite, flow.account.completed), (0, false, None));
    assert_eq!((flow.transfers().count(), flow.restricted_s()), (0, None));
}

/// Acts that a flow does not accept.
#[test]
fn impossible_writes_are_refused() {
    let refused = |session: &mut Session, act, why| {
        let before = session.look(0).unsent_bytes;
        assert_eq!(session.act(act), Err(Refused(why)));
        assert_eq!(session.look(0).unsent_bytes, before);
    };
    let (not_external, neither) =
        ("its size is not external", "neither its size nor its responses are external");
    for keys in
        ["", "transfer = \"1 MB\"", "write_rate = \"1 Mbit/s\"", "request = \"1 KB\"\nresponse = \"1 KB\""]
    {
        let mut session = session(keys);
        session.run_to(at(1.0));
        refused(&mut session, Act::Write(0, 1), not_external);
        refused(&mut session, Act::Close(0), neither);
    }
    refused(&mut session("request = \"1 KB\"\nresponse = \"external\""), Act::Write(0, 1), not_external);
    let amount = "data has at least 1 byte, and all data of a flow has at most 1 PB";
    let mut session = fed("");
    for bytes in [0, 1_000_000_000_000_001, u64::MAX] {
        refused(&mut session, Act::Write(0, bytes), amount);
    }
    write(&mut session, 1000);
    refused(&mut session, Act::Write(0, 999_999_999_999_001), amount);
    refused(&mut session, Act::Ask(0, 1), "the flow has no responses that are decided during the run");
    close(&mut session);
    refused(&mut session, Act::Write(0, 1), "the flow has ended");
    session.run_to(at(5.0));
    refused(&mut session, Act::Write(0, 1), "the flow has ended");
    refused(&mut session, Act::Close(0), "the flow has ended");
    let mut open = fed("");
    open.run_to(at(20.0));
    refused(&mut open, Act::Write(0, 1), "the run has ended");
    refused(&mut open, Act::Close(0), "the run has ended");
}

/// A fork repeats writes and the close.
#[test]
fn a_fork_repeats_the_data() {
    let mut one = fed("[link.l.down]\nchannel = { kind = \"iid\", loss = 0.02 }\n");
    for bytes in [20_000, 300_000, 1] {
        write(&mut one, bytes);
        complete(&mut one);
    }
    write(&mut one, 50_000);
    close(&mut one);
    let mut two = one.fork(Observation::default());
    assert_eq!(two.now(), one.now());
    assert!(is_near(complete(&mut two), complete(&mut one)));
    assert_eq!(one.finish().0, two.finish().0);
}

/// On a path with losses, the destination must have exactly the written data at the end of each step. A step without
/// outstanding data must end at once.
#[test]
fn each_step_delivers_what_was_written() {
    let mut session = fed("[link.l.down]\nchannel = { kind = \"iid\", loss = 0.05 }\n");
    for bytes in [1, 999, 1000, 1001, 20_000, 100_000] {
        write(&mut session, bytes);
        complete(&mut session);
        assert_eq!(session.look(0).delivered_bytes, bytes);
        let now = session.now();
        assert_eq!(
            session.run_until(Until::Complete { flow: 0 }, at(20.0)),
            Stopped::Met,
            "nothing is outstanding"
        );
        assert_eq!(session.now(), now);
    }
    write(&mut session, 20_000);
    let soon = session.now() + Duration::from_millis(49);
    assert_ne!(session.run_until(Until::Complete { flow: 0 }, soon), Stopped::Met, "the delay is 50 ms");
    assert_eq!(session.now(), soon);
}

/// A middlebox that reads each segment must not change the equality with a transfer of the same size.
#[test]
fn snoop_treats_written_data_as_a_transfer_of_this_size() {
    let with = |transfer: &str| {
        let mut draft = Draft::load("hasegawa").unwrap_or_else(|problem| panic!("{problem}"));
        for (key, value) in [("duration", "60 s"), ("middlebox", "snoop"), ("transfer", transfer)] {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
        }
        Arc::new(draft.check().unwrap_or_else(|problem| panic!("{problem}")))
    };
    let whole = run(&with("1 MB"), 1);
    let mut session = Session::new(with("external"), 1, &[], Observation::default());
    write(&mut session, 1_000_000);
    close(&mut session);
    assert_eq!(session.finish().0, whole);
    assert!(whole.flows[0].account.lost.total() > 0 && whole.flows[0].account.completed.is_some());
}

/// A finite transfer is complete at its completion time. Two responses on demand are complete when both have arrived.
/// A bulk flow is never complete.
#[test]
fn other_flows_are_complete_too() {
    let mut finite = session("transfer = \"40 KB\"");
    let time = complete(&mut finite);
    assert!(is_near(time, finite.finish().0.flows[0].active_s));
    let mut web = session("request = \"100 bytes\"\nresponse = \"external\"\nnagle = false");
    web.run_to(at(1.0));
    for bytes in [2000, 3000] {
        web.act(Act::Ask(0, bytes)).expect("requests on demand");
    }
    // Two requests of 100 bytes take 0.2 ms. The responses follow each other on the link.
    let time = complete(&mut web);
    assert!(is_near(time, 1.1051), "{time}");
    let mut bulk = session("");
    assert_ne!(bulk.run_until(Until::Complete { flow: 0 }, at(3.0)), Stopped::Met);
    assert_eq!(bulk.now(), at(3.0));
}

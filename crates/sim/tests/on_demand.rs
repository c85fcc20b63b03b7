//! Tests of requests on demand (`response = "external"`): the driver of the engine decides each request and response.

#[path = "../examples/outcomes/fingerprint.rs"]
mod fingerprint;

use fingerprint::Fingerprint;
use lasthop_base::{Duration, Time};
use lasthop_engine::{Engine, Exchange, RequestRefused};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble;
use lasthop_wire::FlowId;

const WEB: FlowId = FlowId(0);

/// Returns a path of 8 Mbit/s and 100 ms, on which headers have no bytes, with one flow with these keys.
fn scenario(keys: &str) -> Scenario {
    let text = format!(
        "title = \"t\"\nduration = \"20 s\"\nheaders = \"none\"\n[link.l]\nfrom = \"server\"\nto = \"client\"\n\
         rate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\nqueue = \"200 packets\"\n\
         [flow.web]\nfrom = \"server\"\nto = \"client\"\nsegment = \"1000 bytes\"\n{keys}"
    );
    let draft = Draft::parse(&text, "test").unwrap_or_else(|problem| panic!("{problem}"));
    draft.check().unwrap_or_else(|problem| panic!("{problem}"))
}

fn external(more: &str) -> Engine {
    assemble(&scenario(&format!("request = \"100 bytes\"\nresponse = \"external\"\n{more}")), 1)
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn exchanges(engine: &Engine) -> &[Exchange] {
    engine.application(WEB).and_then(|it| it.requests()).expect("requests")
}

fn completed(engine: &Engine) -> usize {
    engine.application(WEB).expect("an application").completed()
}

/// Response times of the complete responses, s.
fn times(engine: &Engine) -> Vec<f64> {
    exchanges(engine).iter().filter_map(|it| it.response_time).map(|time| time.as_secs()).collect()
}

fn are_near(times: &[f64], expected: &[f64]) -> bool {
    times.len() == expected.len() && times.iter().zip(expected).all(|(one, other)| (one - other).abs() < 1e-6)
}

/// Runs the engine until so many responses are complete.
fn run_until_completed(engine: &mut Engine, count: usize) {
    while completed(engine) < count && engine.advance(at(20.0), 1) {}
}

/// A request of 100 bytes must take 0.1 ms of transmission and 50 ms of propagation. A response of five segments must
/// take 5 ms of transmission and 50 ms of propagation, so the total is 105.1 ms. The handshake is over before the
/// request, so the request must not wait for it.
#[test]
fn a_response_takes_a_round_trip_and_its_transmission() {
    let mut engine = external("");
    engine.run_until(at(1.0));
    assert_eq!(engine.ask(WEB, 5000), Ok(()));
    engine.run_until(at(1.1050));
    assert_eq!(completed(&engine), 0);
    engine.run_until(at(1.1052));
    assert_eq!(completed(&engine), 1);
    assert!(are_near(&times(&engine), &[0.1051]), "{:?}", times(&engine));
    assert_eq!((exchanges(&engine)[0].requested, exchanges(&engine)[0].bytes), (at(1.0), 5000));
}

/// A request at the start must wait for the handshake of 100 ms, whether it precedes the event that opens the connection
/// or not.
#[test]
fn a_request_at_the_start_waits_for_the_handshake() {
    for runs_first in [false, true] {
        let mut engine = external("start = \"2 s\"");
        engine.run_until(if runs_first { at(2.0) } else { at(2.0) - Duration::from_nanos(1) });
        if !runs_first {
            assert_eq!(engine.ask(WEB, 5000), Err(RequestRefused::NotBegun));
            while engine.now() < at(2.0) {
                engine.advance(at(2.0), 1);
            }
        }
        assert_eq!(engine.ask(WEB, 5000), Ok(()));
        engine.run_until(at(3.0));
        assert!(are_near(&times(&engine), &[0.2051]), "{runs_first}: {:?}", times(&engine));
    }
}

/// The server must respond to two requests of the same instant in their order. The first request of 100 bytes and its
/// response of two segments take 0.1 + 50 + 2 + 50 ms. The second request arrives 0.1 ms after the first request. The
/// second response of three segments follows on the link, and takes 3 ms more.
///
/// With Nagle's algorithm (RFC 9293 §3.7.4), the second request waits for the ACK in the first segment of the first
/// response: 0.1 + 50 + 1 + 50 ms. The second exchange then takes 0.1 + 50 + 3 + 50 ms.
#[test]
fn responses_to_requests_of_one_instant_follow_each_other() {
    for (nagle, second) in [(false, 0.1051), (true, 0.1011 + 0.1031)] {
        let mut engine = external(&format!("nagle = {nagle}"));
        engine.run_until(at(1.0));
        assert_eq!((engine.ask(WEB, 2000), engine.ask(WEB, 3000)), (Ok(()), Ok(())));
        run_until_completed(&mut engine, 1);
        assert_eq!(engine.now(), at(1.1021));
        engine.run_until(at(2.0));
        assert!(are_near(&times(&engine), &[0.1021, second]), "nagle = {nagle}: {:?}", times(&engine));
        assert_eq!(exchanges(&engine).iter().map(|it| it.bytes).collect::<Vec<_>>(), [2000, 3000]);
    }
}

/// A close while a response is outstanding must not cut off the response. After the close, no request is accepted.
#[test]
fn a_close_waits_for_outstanding_responses() {
    let mut engine = external("");
    engine.run_until(at(1.0));
    assert_eq!((engine.ask(WEB, 5000), engine.close(WEB)), (Ok(()), Ok(())));
    assert_eq!(
        (engine.ask(WEB, 5000), engine.close(WEB)),
        (Err(RequestRefused::Ended), Err(RequestRefused::Ended))
    );
    engine.run_until(at(2.0));
    assert!(are_near(&times(&engine), &[0.1051]), "{:?}", times(&engine));
    assert_eq!(engine.account(WEB).completed, Some(at(1.1051)));
    assert!(engine.is_done());
}

/// A close before the handshake is over must not prevent the handshake. The client's FIN follows the handshake of 100 ms.
#[test]
fn a_close_without_requests_ends_the_connection() {
    for closes_at in [0.0, 0.02, 1.0] {
        let mut engine = external("");
        if closes_at > 0.0 {
            engine.run_until(at(closes_at));
        }
        assert_eq!(engine.close(WEB), Ok(()), "{closes_at}");
        engine.run_until(at(3.0));
        assert!(engine.is_done(), "{closes_at}");
        assert_eq!(engine.account(WEB).completed, Some(at(closes_at)));
        let (server, client) = engine.endpoints(WEB).expect("TCP");
        assert_eq!((server.delivered(), client.delivered(), client.counters().retransmitted), (0, 0, 0));
    }
}

#[test]
fn requests_that_are_impossible_are_refused() {
    let mut engine = external("start = \"2 s\"");
    assert_eq!(engine.ask(WEB, 1), Err(RequestRefused::NotBegun));
    assert_eq!(engine.close(WEB), Err(RequestRefused::NotBegun));
    assert_eq!(engine.ask(FlowId(7), 1), Err(RequestRefused::NotOnDemand));
    engine.run_until(at(3.0));
    for size in [0, 1_000_000_000_001, u64::MAX] {
        assert_eq!(engine.ask(WEB, size), Err(RequestRefused::Size));
    }
    for keys in
        ["", "transfer = \"1 MB\"", "request = \"1 KB\"\nresponse = \"1 KB\"", "write_rate = \"1 Mbit/s\""]
    {
        let mut engine = assemble(&scenario(keys), 1);
        assert_eq!(engine.ask(WEB, 1), Err(RequestRefused::NotOnDemand), "{keys}");
        assert_eq!(engine.close(WEB), Err(RequestRefused::NotDriven), "{keys}");
    }
    assert_eq!(RequestRefused::NotBegun.to_string(), "the flow has not begun");
}

/// A driver that makes the requests of a script, at the same times and with the same sizes, must cause the same packets
/// and events. The path has losses, so that the packets depend on all state of the connection.
#[test]
fn requests_of_a_script_cause_the_same_packets() {
    let fixed = "think = \"130 ms\"\nexchanges = 25\n";
    for (script, link) in [
        (format!("response = \"20 KB\"\nsizes = \"web\"\nperiod = \"exponential\"\n{fixed}"), ""),
        (format!("response = \"20 KB\"\nsizes = \"web\"\n{fixed}"), "iid"),
        ("response = \"60 KB\"\nevery = \"500 ms\"\nexchanges = 25\n".to_owned(), "iid"),
        ("response = \"300 KB\"\nexchanges = 5\n".to_owned(), "iid"),
    ] {
        let with = |keys: &str| {
            let channel = if link.is_empty() {
                String::new()
            } else {
                format!("channel = {{ kind = \"{link}\", loss = 0.02 }}\n")
            };
            scenario(&format!(
                "request = \"400 bytes\"\n{keys}[link.l.down]\n{channel}[link.l.up]\n{channel}"
            ))
        };
        let observed = |scenario: &Scenario| {
            let mut engine = assemble(scenario, 3);
            engine.observe(Box::new(Fingerprint::new()));
            engine
        };
        let mut fixed = observed(&with(&script));
        fixed.run_until(at(20.0));
        let requests = exchanges(&fixed).to_vec();
        let mut driven = observed(&with("response = \"external\"\n"));
        for it in &requests {
            driven.run_until(it.requested);
            assert_eq!(driven.ask(WEB, it.bytes), Ok(()));
        }
        assert_eq!(driven.close(WEB), Ok(()));
        driven.run_until(at(20.0));
        assert!(requests.len() >= 5, "{} requests", requests.len());
        assert_eq!(exchanges(&driven), requests, "{script}");
        assert_eq!(driven.account(WEB), fixed.account(WEB), "{script}");
        let [one, other] = [driven, fixed].map(|mut engine| {
            let Fingerprint { value, count } = fingerprint::of(engine.take_observer().into_iter().collect());
            (value, count)
        });
        assert_eq!(one, other, "{script}");
        assert!(one.1 > 100, "{} packets and events", one.1);
    }
}

//! Tests of applications over QUIC: requests and responses, sources that pause, and flows that leave.

use lasthop_base::{Duration, Time};
use lasthop_engine::{
    Application, Engine, Exchange, Fate, FlowSide, Observer, PipeId, RequestRefused, StackFlow,
};
use lasthop_scenario::Draft;
use lasthop_sim::assemble::assemble;
use lasthop_sim::{FlowOutcome, Outcome, run};
use lasthop_stack::Layer;
use lasthop_tcp::Event;
use lasthop_wire::{FlowId, Packet};
use std::any::Any;

const NOQ: &str = "\"noq\"";
const QUINN: &str = "\"quinn\"";

/// Returns a path of 8 Mbit/s and 100 ms for 20 s with these flows.
fn draft(flows: &str) -> Draft {
    let text = format!(
        "title = \"applications\"\nduration = \"20 s\"\n\
         [link.l]\nfrom = \"server\"\nto = \"client\"\nrate = \"8 Mbit/s\"\none_way_delay = \"50 ms\"\nqueue = \"200 packets\"\n\
         {flows}"
    );
    Draft::parse(&text, "test").unwrap_or_else(|problem| panic!("{problem}"))
}

/// Runs the [`draft`] with these flows.
fn outcome(flows: &str) -> Outcome {
    let draft = draft(flows);
    run(&draft.check().unwrap_or_else(|problem| panic!("{problem}")), 1)
}

fn flow(name: &str, stack: &str, more: &str) -> String {
    format!("[flow.{name}]\nfrom = \"server\"\nto = \"client\"\nkind = \"quic\"\nstack = {stack}\n{more}\n")
}

fn times(flow: &FlowOutcome) -> Vec<f64> {
    let all = flow.exchanges.as_deref().expect("requests");
    all.iter().filter(|it| it.is_complete).map(|it| it.response_time_s).collect()
}

const WEB: FlowId = FlowId(0);

/// Returns the engine of the flow `web` on the path of [`outcome`].
fn engine(stack: &str, keys: &str) -> Engine {
    let draft = draft(&flow("web", stack, keys));
    assemble(&draft.check().unwrap_or_else(|problem| panic!("{problem}")), 1)
}

fn exchanges(engine: &Engine) -> &[Exchange] {
    engine.application(WEB).and_then(|it| it.requests()).expect("requests")
}

fn at(seconds: f64) -> Time {
    Time::ZERO + Duration::from_secs_f64(seconds)
}

fn megabits(flow: &FlowOutcome) -> f64 {
    flow.delivered_bytes as f64 * 8.0 / 1e6
}

/// A request and its response take one RTT of 100 ms and the transmission of four datagrams (5000 bytes of payload, at
/// most 65 bytes of headers each): 5.3 ms, and 0.2 ms for the request. The first request also waits for the handshake:
/// one RTT and the transmission of at most four datagrams of 1500 bytes. Pacing spreads a response: at 1.25 times the
/// initial window of 14,720 bytes per RTT, 5000 bytes take at most 27 ms.
#[test]
fn a_response_takes_a_round_trip_and_its_transmission() {
    for (stack, pacing) in [("{ kind = \"noq\", pacing = false }", 0.0), (NOQ, 0.027), (QUINN, 0.027)] {
        let keys = "request = \"100 bytes\"\nresponse = \"5000 bytes\"\nthink = \"300 ms\"\nexchanges = 10";
        let outcome = outcome(&flow("web", stack, keys));
        let web = &outcome.flows[0];
        assert_eq!(web.failure, None, "{stack}");
        let times = times(web);
        assert_eq!((times.len(), web.delivered_bytes, web.requested_bytes), (10, 50_000, 1000), "{stack}");
        assert!((0.205..0.2115 + pacing).contains(&times[0]), "{stack}: {times:?}");
        assert!(times[1..].iter().all(|time| (0.105..0.1055 + pacing).contains(time)), "{stack}: {times:?}");
        let total = times.iter().sum::<f64>() + 9.0 * 0.3;
        assert!((web.active_s - total).abs() < 1e-6, "{stack}: {} {total}", web.active_s);
    }
}

/// A request on demand takes the same time on an open connection: one RTT of 100 ms and the transmission of 5.5 ms at
/// most. If two requests have the same instant, the second request arrives 0.2 ms later at most, and its response follows
/// the first response. A close lets both responses arrive.
#[test]
fn responses_on_demand_take_a_round_trip_and_their_transmission() {
    let stack = "{ kind = \"noq\", pacing = false }";
    let mut engine = engine(stack, "request = \"100 bytes\"\nresponse = \"external\"");
    assert_eq!(engine.ask(FlowId(1), 5000), Err(RequestRefused::NotOnDemand));
    engine.run_until(at(1.0));
    assert_eq!(engine.ask(WEB, 5000), Ok(()));
    engine.run_until(at(2.0));
    assert_eq!(engine.application(WEB).map(Application::completed), Some(1));
    let requests = [engine.ask(WEB, 2000), engine.ask(WEB, 3000), engine.close(WEB), engine.ask(WEB, 1)];
    assert_eq!(requests, [Ok(()), Ok(()), Ok(()), Err(RequestRefused::Ended)]);
    engine.run_until(at(5.0));
    let all = exchanges(&engine);
    let times: Vec<f64> = all.iter().filter_map(|it| it.response_time).map(|time| time.as_secs()).collect();
    assert!(matches!(times[..], [_, one, two] if one < two), "{times:?}");
    // Without pacing, a response of 2000 bytes takes 2.3 ms of transmission at most, and a further 3000 bytes take 3.2 ms.
    let limits = [0.105..0.1055, 0.102..0.1045, 0.105..0.1060];
    assert!(times.iter().zip(&limits).all(|(time, limits)| limits.contains(time)), "{times:?}");
    let (failure, is_done) = (engine.stack_flow(WEB).and_then(StackFlow::failure), engine.is_done());
    assert_eq!((failure, is_done, engine.account(WEB).completed.is_some()), (None, true, true));
}

/// A close at the start must not prevent the handshake, and must end the connection.
#[test]
fn a_close_without_requests_ends_the_connection() {
    for stack in [NOQ, QUINN] {
        let mut engine = engine(stack, "request = \"100 bytes\"\nresponse = \"external\"");
        assert_eq!(engine.close(WEB), Ok(()), "{stack}");
        engine.run_until(at(5.0));
        assert!(engine.is_done() && engine.stack_flow(WEB).and_then(StackFlow::failure).is_none(), "{stack}");
        assert_eq!(
            (exchanges(&engine).len(), engine.stack_flow(WEB).map(StackFlow::in_flight)),
            (0, Some(0))
        );
    }
}

/// A driver that makes the requests of a script, at the same times and with the same sizes, must cause the same packets.
/// The link loses packets, so that the packets depend on all state of both stacks.
#[test]
fn requests_of_a_script_cause_the_same_packets() {
    let with = |stack: &str, keys: &str| {
        let lossy = "[link.l.down]\nchannel = { kind = \"iid\", loss = 0.02 }\n";
        let mut engine = engine(stack, &format!("request = \"400 bytes\"\n{keys}{lossy}"));
        engine.observe(Box::new(PacketLog::default()));
        engine
    };
    for stack in [NOQ, QUINN] {
        let script = "response = \"20 KB\"\nsizes = \"web\"\nthink = \"130 ms\"\nexchanges = 25\n";
        let mut fixed = with(stack, script);
        fixed.run_until(at(20.0));
        let requests = exchanges(&fixed).to_vec();
        let mut driven = with(stack, "response = \"external\"\n");
        for it in &requests {
            driven.run_until(it.requested);
            assert_eq!(driven.ask(WEB, it.bytes), Ok(()));
        }
        assert_eq!(driven.close(WEB), Ok(()));
        driven.run_until(at(20.0));
        assert_eq!(exchanges(&driven), requests, "{stack}");
        assert_eq!(driven.account(WEB), fixed.account(WEB), "{stack}");
        let (driven, fixed) = (packets(driven), packets(fixed));
        assert!(driven.len() > 200, "{stack}: {} packets", driven.len());
        assert_eq!(driven, fixed, "{stack}");
    }
}

/// A fed transfer that is written and closed before the flow begins must have the packets and the completion time of a
/// transfer of the same size. The link loses packets, so that the packets depend on all state of both stacks.
#[test]
fn data_written_before_the_start_is_a_transfer_of_this_size() {
    let lossy = "[link.l.down]\nchannel = { kind = \"iid\", loss = 0.02 }\n";
    for stack in [NOQ, QUINN] {
        let with = |transfer: &str| {
            let mut engine = engine(stack, &format!("start = \"1 s\"\ntransfer = \"{transfer}\"\n{lossy}"));
            engine.observe(Box::new(PacketLog::default()));
            engine
        };
        let (mut fixed, mut driven) = (with("300 KB"), with("external"));
        fixed.run_until(at(20.0));
        assert_eq!(driven.write(WEB, 100_000), Ok(()));
        driven.run_until(at(0.5));
        assert_eq!((driven.write(WEB, 200_000), driven.close(WEB)), (Ok(()), Ok(())));
        assert_eq!(driven.write(WEB, 1), Err(RequestRefused::Ended));
        driven.run_until(at(20.0));
        assert_eq!(driven.account(WEB), fixed.account(WEB), "{stack}");
        assert!(driven.account(WEB).completed.is_some() && driven.is_done(), "{stack}");
        assert_eq!(driven.application(WEB).and_then(Application::fed_size), Some(300_000));
        let (driven, fixed) = (packets(driven), packets(fixed));
        assert!(driven.len() > 200, "{stack}: {} packets", driven.len());
        assert_eq!(driven, fixed, "{stack}");
    }
}

/// Data on an open connection takes 50 ms and the transmission of four datagrams (5000 bytes of payload, at most 65 bytes
/// of headers each), 5.3 ms at most. Without data, the source sends nothing after the handshake.
#[test]
fn written_data_takes_its_transmission_and_the_delay() {
    let mut engine = engine("{ kind = \"noq\", pacing = false }", "transfer = \"external\"");
    let delivered =
        |engine: &Engine| engine.stack_flow(WEB).map(|flow| flow.delivered()[0]).unwrap_or_default();
    for (begins, bytes) in [(1.0, 5000), (2.0, 10_000)] {
        engine.run_until(at(begins - 0.5));
        let before = engine.packets_sent();
        engine.run_until(at(begins));
        assert_eq!(engine.packets_sent(), before);
        assert_eq!(engine.write(WEB, 5000), Ok(()));
        engine.run_until(at(begins + 0.0545));
        assert!(delivered(&engine) < bytes, "{}", delivered(&engine));
        engine.run_until(at(begins + 0.0555));
        assert_eq!(delivered(&engine), bytes);
    }
    assert_eq!((engine.account(WEB).completed, engine.close(WEB)), (None, Ok(())));
    // The end of the stream takes 50 ms and the transmission of a datagram, 0.1 ms at most.
    let closed = engine.now().as_secs();
    engine.run_until(at(5.0));
    let completed = engine.account(WEB).completed.expect("complete").as_secs() - closed;
    assert!((0.050..0.0501).contains(&completed), "{completed}");
    assert_eq!(engine.stack_flow(WEB).and_then(StackFlow::failure), None);
}

/// A close without data must end the connection, also before the flow begins. The end of the stream arrives after the
/// handshake of 100 ms and the delay of 50 ms. The handshake's datagrams take 4 times 1.5 ms at most.
#[test]
fn a_close_without_data_ends_a_fed_transfer() {
    for stack in [NOQ, QUINN] {
        for (closed_at, earliest) in [(0.0, 0.15), (1.0, 1.05)] {
            let mut engine = engine(stack, "transfer = \"external\"");
            if closed_at > 0.0 {
                engine.run_until(at(closed_at));
            }
            assert_eq!(engine.close(WEB), Ok(()), "{stack}");
            engine.run_until(at(5.0));
            let completed = engine.account(WEB).completed.expect("complete").as_secs();
            assert!((earliest..earliest + 0.006).contains(&completed), "{stack}: {completed}");
            assert_eq!(engine.application(WEB).and_then(Application::fed_size), Some(0));
            assert_eq!(engine.stack_flow(WEB).and_then(StackFlow::failure), None, "{stack}");
        }
    }
}

/// An ordinary run of a fed transfer opens the connection, and sends no data.
#[test]
fn an_ordinary_run_of_a_fed_transfer_sends_no_data() {
    for stack in [NOQ, QUINN] {
        let outcome = outcome(&flow("web", stack, "transfer = \"external\""));
        let web = &outcome.flows[0];
        assert_eq!((web.delivered_bytes, web.is_finite, &web.failure), (0, false, &None), "{stack}");
        assert!(outcome.links[0].down.offered > 0 && outcome.links[0].up.offered > 0, "{stack}");
    }
}

/// Returns the packets of a run with a [`PacketLog`].
fn packets(mut engine: Engine) -> Vec<String> {
    let observer: Box<dyn Any> = engine.take_observer().expect("an observer");
    observer.downcast::<PacketLog>().expect("a log of packets").0
}

/// Observer that stores all packets as text.
#[derive(Default)]
struct PacketLog(Vec<String>);

impl Observer for PacketLog {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        self.0.push(format!("{now} {pipe:?} {packet:?} {fate:?}"));
    }

    fn on_datagram(&mut self, _: FlowId, _: u64, _: Layer, bytes: &[u8]) {
        self.0.push(format!("{bytes:?}"));
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// Sizes and pauses are drawn from the same streams as in a TCP flow.
#[test]
fn both_transports_draw_the_same_responses() {
    let keys = "request = \"100 bytes\"\nresponse = \"5000 bytes\"\nsizes = \"web\"\nthink = \"100 ms\"\n\
                period = \"exponential\"\nexchanges = 20";
    let sizes = |flows: &str| {
        let outcome = outcome(flows);
        let all = outcome.flows[0].exchanges.clone().expect("requests");
        all.iter().map(|it| it.bytes).collect::<Vec<_>>()
    };
    let quic = flow("web", NOQ, keys);
    let tcp = quic.replace("kind = \"quic\"", "kind = \"tcp\"");
    assert_eq!(sizes(&quic), sizes(&tcp));
}

#[test]
fn requests_survive_losses_in_both_directions() {
    for stack in [NOQ, QUINN] {
        let mut draft = Draft::load("rate=10Mbit/s,rtt=40ms,loss=3%,duration=120s").expect("a path");
        for (key, value) in [
            ("flow.bulk.kind", "quic"),
            ("flow.bulk.stack", stack.trim_matches('"')),
            ("flow.bulk.request", "4 KB"),
            ("flow.bulk.response", "60 KB"),
            ("flow.bulk.exchanges", "100"),
            ("link.path.up.channel", "{kind=\"iid\", loss=0.03}"),
        ] {
            draft.set(key, value).unwrap_or_else(|problem| panic!("{problem}"));
        }
        let outcome = run(&draft.check().expect("a scenario"), 5);
        let web = &outcome.flows[0];
        assert_eq!((times(web).len(), web.delivered_bytes, &web.failure), (100, 6_000_000, &None), "{stack}");
    }
}

/// The source sends at 4 Mbit/s for 2 s and is silent for 3 s. In 20 s, it sends four bursts of 1 MB.
#[test]
fn bursts_at_a_rate_carry_that_rate() {
    let outcome = outcome(&flow("bursts", NOQ, "on = \"2 s\"\noff = \"3 s\"\nwrite_rate = \"4 Mbit/s\""));
    let delivered = outcome.flows[0].delivered_bytes;
    // `write_rate` counts whole datagrams. Each burst has at most one write more than 1 MB.
    assert!((4_000_000..4_000_000 + 4 * 1500).contains(&delivered), "{delivered}");
}

/// Without a rate, the source fills the link in its on periods: 4 of 20 s twice. Data that is unsent at the end of an on
/// period follows in the off period: at most the queue (200 datagrams) and about two windows.
#[test]
fn bursts_without_a_rate_fill_the_link() {
    for stack in [NOQ, QUINN] {
        let outcome = outcome(&flow("bursts", stack, "on = \"4 s\"\noff = \"6 s\""));
        let megabits = megabits(&outcome.flows[0]);
        // Headers leave 95 % of the link's 64 Mbit. Slow start, twice, takes less than 1 s.
        assert!((0.95 * 56.0..0.95 * 64.0 + 2.0 * 8.0).contains(&megabits), "{stack}: {megabits} Mbit");
    }
}

/// From 5 s to 10 s, a flow that leaves at 10 s shares the link with a flow that stays. After at most 2 s more, the flow
/// that stays has the whole link again.
#[test]
fn a_flow_that_stops_leaves_the_link() {
    let flows = flow("stays", NOQ, "") + &flow("leaves", NOQ, "start = \"5 s\"\nstop = \"10 s\"");
    let outcome = outcome(&flows);
    let [stays, leaves] = &outcome.flows[..] else { panic!("two flows") };
    assert!(
        leaves.account.completed.is_some() && (5.0..7.0).contains(&leaves.active_s),
        "{}",
        leaves.active_s
    );
    assert!((8.0..40.0).contains(&megabits(leaves)), "{}", megabits(leaves));
    let total = megabits(stays) + megabits(leaves);
    assert!(total > 0.95 * 0.95 * 160.0 && total < 0.96 * 160.0, "{total}");
}

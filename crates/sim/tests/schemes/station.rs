//! Tests of a base station that crashes and loses its state. With a split connection, data that is acknowledged but not
//! delivered is lost. With a snoop agent, no data is lost. The last test measures how much data a split connection
//! holds.

use super::{AIR, Setting, path};
use lasthop_base::{Choice, Duration, Stream, Time};
use lasthop_engine::{Engine, NodeId};
use lasthop_middlebox::{ALL, Decision, Exit, Middlebox, Site};
use lasthop_scenario::Scenario;
use lasthop_sim::assemble::{assemble, pipe_of};
use lasthop_wire::{Body, FlowId, Packet};

/// Wraps a middlebox. The wrapper resets the middlebox at a given time, and drops a share of its notices.
pub(super) struct Tampered {
    inner: Box<dyn Middlebox>,
    name: &'static str,
    down: bool,
    forgets_at: Time,
    loses: f64,
    random: Stream,
}

fn built(name: &str, down: bool) -> Box<dyn Middlebox> {
    let exit = |down| Some(Exit { down, round_trip: Duration::from_millis(16) });
    let place = Site { flows: vec![[exit(down), exit(!down)]], random: Stream::named(1, "box") };
    let choice = Choice::named(ALL, name);
    (choice.build)(&choice.values, &place).expect("a box")
}

impl Tampered {
    fn tamper(&mut self, now: Time, from: usize, out: &mut Vec<Decision>) {
        if now >= self.forgets_at {
            self.forgets_at = Time::NEVER;
            self.inner = built(self.name, self.down);
        }
        let mut at = from;
        while at < out.len() {
            let is_notice =
                matches!(&out[at], Decision::Emit(packet) if matches!(packet.body, Body::Notice(_)));
            if is_notice && self.random.uniform() < self.loses {
                out.remove(at);
            } else {
                at += 1;
            }
        }
    }
}

impl Middlebox for Tampered {
    fn handle_packet(&mut self, now: Time, packet: Packet, out: &mut Vec<Decision>) {
        let from = out.len();
        self.inner.handle_packet(now, packet, out);
        self.tamper(now, from, out);
    }

    fn handle_timeout(&mut self, now: Time, out: &mut Vec<Decision>) {
        let from = out.len();
        self.inner.handle_timeout(now, out);
        self.tamper(now, from, out);
    }

    fn handle_failure(&mut self, now: Time, packet: &Packet, attempt: u32, out: &mut Vec<Decision>) {
        let from = out.len();
        self.inner.handle_failure(now, packet, attempt, out);
        self.tamper(now, from, out);
    }

    fn handle_queue_drop(&mut self, now: Time, packet: &Packet) {
        self.inner.handle_queue_drop(now, packet);
    }

    fn poll_timeout(&self) -> Time {
        self.inner.poll_timeout()
    }

    fn needs_failures(&self) -> bool {
        self.inner.needs_failures()
    }

    fn reads_headers(&self) -> bool {
        self.inner.reads_headers()
    }
}

/// Builds an engine of the scenario in which the base station has a [`Tampered`] middlebox.
pub(super) fn with_box(
    scenario: &Scenario,
    seed: u64,
    name: &'static str,
    forgets_at: Time,
    loses: f64,
) -> Engine {
    let mut engine = assemble(scenario, seed);
    let inner = built(name, true);
    let random = Stream::named(seed, "notices");
    let tampered = Tampered { inner, name, down: true, forgets_at, loses, random };
    engine.attach_middlebox(NodeId(1), Box::new(tampered), &[pipe_of(0, true), pipe_of(1, false)]);
    engine
}

const BYTES: u64 = 3_000_000;
const TRANSFER: &[Setting<'_>] =
    &[("transfer", "3 MB"), ("duration", "200 s"), (AIR, "{ kind = \"iid\", loss = 0.01 }")];

/// Returns the bytes acknowledged to the server, and the bytes delivered to the client.
fn counts(engine: &Engine) -> [u64; 2] {
    let (server, client) = engine.endpoints(FlowId(0)).expect("TCP");
    [server.sender().scoreboard().una().saturating_sub(1).min(BYTES), client.delivered()]
}

/// Data that is acknowledged but not delivered at the crash must never arrive, because the server continues with later
/// data.
#[test]
fn what_a_split_connection_holds_is_lost_with_its_station() {
    let scenario = path(false, &[TRANSFER]);
    let crash = Time::ZERO + Duration::from_secs(5);
    let mut engine = with_box(&scenario, 1, "split", crash, 0.0);
    engine.run_until(crash);
    let [acknowledged, delivered] = counts(&engine);
    println!("at the crash {acknowledged} bytes are acknowledged and {delivered} delivered");
    assert!(acknowledged > delivered + 10_000, "{acknowledged} {delivered}");
    engine.run_until(Time::ZERO + scenario.duration);
    let [_, at_last] = counts(&engine);
    assert!(at_last < acknowledged && at_last < BYTES, "{at_last} of {acknowledged}");
    assert!(engine.account(FlowId(0)).completed.is_none());
}

/// A snoop agent holds only copies. The sender still has all data that is not delivered, so the whole transfer must
/// arrive.
#[test]
fn what_a_snoop_agent_knows_is_not_missed() {
    let scenario = path(false, &[TRANSFER]);
    let crash = Time::ZERO + Duration::from_secs(5);
    for name in ["snoop", "snoop_sack", "wtcp", "mtcp", "atcp"] {
        let mut engine = with_box(&scenario, 1, name, crash, 0.0);
        engine.run_until(crash);
        let [acknowledged, delivered] = counts(&engine);
        assert!(acknowledged <= delivered, "{name}: {acknowledged} {delivered}");
        engine.run_until(Time::ZERO + scenario.duration);
        assert_eq!(counts(&engine)[1], BYTES, "{name}");
    }
}

/// The wired link is five times as fast as the radio link, so the station's receive window of 64 KiB limits the server.
/// At most 2 Mbit/s x 100 ms are in flight on the wired link. The rest of the 64 KiB must wait at the station.
#[test]
fn a_split_connection_holds_what_the_wire_leaves_of_its_buffer() {
    let scenario = path(false, &[TRANSFER]);
    let mut engine = with_box(&scenario, 1, "split", Time::NEVER, 0.0);
    let mut held = Vec::new();
    for millis in (3000..10_000).step_by(10) {
        engine.run_until(Time::ZERO + Duration::from_millis(millis));
        let [acknowledged, delivered] = counts(&engine);
        held.push(acknowledged.saturating_sub(delivered));
    }
    let mean = held.iter().sum::<u64>() as f64 / held.len() as f64;
    let most = held.iter().max().copied().unwrap_or(0);
    println!("a split connection holds {mean:.0} bytes in the mean, {most} at most");
    assert!(most <= 65_536, "{most}");
    let left = 65_536.0 - 2e6 / 8.0 * 0.1;
    assert!((0.5 * left..1.1 * left).contains(&mean), "{mean} of {left}");
}

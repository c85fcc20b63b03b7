//! Tests of L4S over simulated links: short queues, fairness, and behaviour without marks.

use lasthop_base::{Duration, Time};
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::{FlowOutcome, Observation, run, run_observed};
use lasthop_tcp::Event;
use lasthop_wire::{Ecn, FlowId, Packet};
use std::any::Any;
use std::collections::BTreeMap;

fn scenario(path: &str, settings: &[(&str, &str)]) -> Scenario {
    let mut draft = Draft::load(path).expect("a path");
    for (key, value) in settings {
        draft.set(key, value).unwrap_or_else(|why| panic!("{key}: {why:?}"));
    }
    draft.check().expect("a valid scenario")
}

/// Records the queueing delays, s, of L4S packets on the first link after slow start.
struct LowQueue {
    from: Time,
    bps: f64,
    delay: Duration,
    joined: BTreeMap<u64, Time>,
    waits: Vec<f64>,
    bytes: u64,
}

impl Observer for LowQueue {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if pipe == PipeId(0) && now >= self.from {
            if packet.ecn == Ecn::Ect1 {
                self.joined.insert(packet.number, now);
            }
            self.on_fate(now, pipe, packet, fate);
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let (Fate::Arrives(at), PipeId(0)) = (fate, pipe) else { return };
        if at < self.from {
            return;
        }
        self.bytes += u64::from(packet.wire_bytes);
        if let Some(joined) = self.joined.remove(&packet.number) {
            let sending = f64::from(packet.wire_bytes) * 8.0 / self.bps;
            self.waits.push(at.since(joined).as_secs() - self.delay.as_secs() - sending);
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

/// RFC 9332 §1.1 and RFC 9331 §5.2 promise "consistently low" queueing. The queueing delay must be below 1 ms on
/// average, and below 2 ms for 99 of 100 packets, at 95 % utilisation. The test has one flow alone, four flows, and a
/// flow together with CUBIC.
#[test]
fn the_low_queue_is_short_and_the_link_in_use() {
    let (rate, seconds) = (50e6, 30.0);
    let alone = scenario("rate=50Mbit/s,rtt=20ms,queue=dualpi2,congestion=prague,duration=30s", &[]);
    let four = scenario(
        "rate=50Mbit/s,rtt=20ms,queue=dualpi2,congestion=prague,duration=30s,count=4,start_spread=100ms",
        &[],
    );
    let beside = scenario("l4s", &[("duration", "30 s")]);
    for (name, scenario) in [("alone", alone), ("four", four), ("beside", beside)] {
        let queue = LowQueue {
            from: Time::ZERO + Duration::from_secs(10),
            bps: rate,
            delay: Duration::from_millis(10),
            joined: BTreeMap::new(),
            waits: Vec::new(),
            bytes: 0,
        };
        let observation = Observation { observers: vec![Box::new(queue)], ..Observation::default() };
        let (_, _, mut observers) = run_observed(&scenario, 1, observation);
        let observer: Box<dyn Any> = observers.swap_remove(0);
        let mut queue = *observer.downcast::<LowQueue>().expect("the observer");
        queue.waits.sort_by(f64::total_cmp);
        let mean = queue.waits.iter().sum::<f64>() / queue.waits.len() as f64;
        let p99 = queue.waits[queue.waits.len() * 99 / 100];
        let utilisation = queue.bytes as f64 * 8.0 / rate / (seconds - 10.0);
        assert!(mean < 0.001 && p99 < 0.002, "{name}: mean {mean} s, p99 {p99} s");
        assert!(utilisation > 0.95, "{name}: {utilisation}");
    }
}

/// Two or four Prague flows must have equal shares (Jain's index above 0.99; heistp/l4s-tests measured 1.000).
#[test]
fn prague_beside_prague_is_fair() {
    for (count, rtt) in [("2", "20ms"), ("2", "80ms"), ("4", "10ms")] {
        let path = format!(
            "rate=50Mbit/s,rtt={rtt},queue=dualpi2,congestion=prague,duration=60s,count={count},start_spread=100ms"
        );
        let flows = run(&scenario(&path, &[]), 3).flows;
        let goodputs: Vec<f64> = flows.iter().map(FlowOutcome::goodput_kbps).collect();
        let (sum, squares) = (goodputs.iter().sum::<f64>(), goodputs.iter().map(|it| it * it).sum::<f64>());
        let jain = sum * sum / (goodputs.len() as f64 * squares);
        assert!(jain > 0.99, "{count} at {rtt}: {jain}, {goodputs:?}");
    }
}

/// Without AccECN or without marks, Prague must behave as Reno does. At the same loss rate, Prague's goodput must equal
/// Reno's within a tenth.
#[test]
fn without_marks_prague_is_reno() {
    let goodput = |settings: &str| {
        let path = format!("rate=10Mbit/s,rtt=40ms,queue=1bdp,loss=0.3%,duration=60s,{settings}");
        let flows = (1..=3).map(|seed| run(&scenario(&path, &[]), seed).flows.swap_remove(0));
        flows.map(|flow| flow.goodput_kbps()).sum::<f64>()
    };
    let reno = goodput("congestion=reno");
    for settings in ["congestion=prague", "congestion=prague,ecn_feedback=classic"] {
        let ratio = goodput(settings) / reno;
        assert!((0.9..1.1).contains(&ratio), "{settings}: {ratio}");
    }
}

//! Tests directions that can change at run time. Without changes, packets must arrive as on a plain direction. After a
//! change, packets must arrive as the rule of the link computes.
//!
//! * This file: directions without changes. `driver`: the test fixture.
//! * `rates`, `delays`, `losses`, `queues`: changes of each setting. `random`: random changes.

mod delays;
mod driver;
mod losses;
mod queues;
mod random;
mod rates;

use driver::{Fates, adjustable, fates, plain, secs, wire, with_channel, with_layer, with_queue};
use lasthop_base::{Duration, Rate, Stream, Time, Value};
use lasthop_net::service::{RatePlan, Service, Trace};
use lasthop_net::steps::Steps;
use lasthop_net::{Config, admission, queue};
use lasthop_wire::LossReason;
use std::sync::Arc;

fn arrivals(count: usize, apart: f64) -> Vec<(Time, u32)> {
    let mut random = Stream::named(3, "arrivals");
    let mut now = Time::ZERO;
    let one = |_| {
        now += Duration::from_secs_f64(random.exponential(apart));
        (now, if random.uniform() < 0.5 { 1040 } else { 40 })
    };
    (0..count).map(one).collect()
}

fn assert_unchanged(config: &Config, arrivals: &[(Time, u32)]) -> Fates {
    let expected = fates(plain(config), arrivals, &[]);
    assert_eq!(expected.len(), arrivals.len(), "{config:?}");
    assert!(fates(adjustable(config), arrivals, &[]) == expected, "{config:?}");
    expected
}

fn planned() -> Service {
    let plan = "2 Mbit/s for 1 s, 0 bit/s for 300 ms, 500 kbit/s..3 Mbit/s for 700 ms";
    Service::Plan(Arc::new(RatePlan::parse(plan).expect("a plan")))
}

/// Rates of a link layer. Wi-Fi sends at 1 bit/s in a planned outage, so its plan has none.
fn services(layer: &str) -> [Service; 3] {
    let steady = RatePlan::parse("2 Mbit/s for 1 s, 3 Mbit/s for 700 ms").expect("a plan");
    let plan = if layer == "wifi" { Service::Plan(Arc::new(steady)) } else { planned() };
    [Service::Rate(Rate::from_bps(2_000_000)), plan, recorded()]
}

/// A recording with two opportunities every 9 ms, that is, of 2.67 Mbit/s.
fn recorded() -> Service {
    Service::Trace(Arc::new(Trace::parse("4\n9\n").expect("a trace")))
}

#[test]
fn unchanged_it_is_a_link() {
    let arrivals = arrivals(5000, 0.004);
    for mode in ["once", "per_repeat", "overtaking", "stop_and_wait"] {
        for queue in ["drop_tail", "red", "policer"] {
            let mut config =
                with_queue(with_channel(with_layer(wire(2_000_000), "repeat"), "bit_error"), queue);
            match queue {
                "drop_tail" => config.queue.values.set("packets", Value::Count(5)),
                "policer" => config.queue.values.set("rate", Value::Rate(Rate::from_bps(1_000_000))),
                _ => {}
            }
            config.channel.values.set("rate", Value::Number(1e-4));
            config.arq.values.set("mode", Value::Word(mode));
            let unchanged = assert_unchanged(&config, &arrivals);
            assert!(unchanged.iter().any(|fate| fate.2 == Some(LossReason::Channel)), "{mode}, {queue}");
            // The buffer of the recording's opportunities counts packets that wait for an opportunity.
            for service in [planned(), recorded()] {
                assert_unchanged(&Config { service, ..config.clone() }, &arrivals);
            }
        }
    }
}

/// Each queue, at each kind of rate, must keep and drop the same packets.
#[test]
fn unchanged_each_queue_is_the_same() {
    let arrivals = arrivals(3000, 0.0025);
    for name in admission::ALL.iter().chain(queue::ALL).map(|one| one.info.name) {
        for service in [Service::Rate(Rate::from_bps(2_000_000)), planned(), recorded()] {
            let config = Config { service, ..with_queue(with_channel(wire(1), "iid"), name) };
            assert_unchanged(&config, &arrivals);
        }
    }
}

/// Each link layer, with a channel whose state changes, planned losses, and a delay that varies.
#[test]
fn unchanged_each_link_layer_is_the_same() {
    let arrivals = arrivals(2000, 0.004);
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for channel in ["none", "iid", "two_state", "fading"] {
            for service in services(layer) {
                let config = with_channel(with_layer(Config { service, ..wire(1) }, layer), channel);
                assert_unchanged(&config, &arrivals);
                let loss_plan = Some(Steps::parse("0 for 900 ms, 50 % for 100 ms").expect("a plan"));
                let delay_plan = Some(Steps::parse("0 s for 700 ms, 30 ms for 300 ms").expect("a plan"));
                assert_unchanged(&Config { loss_plan, delay_plan, ..config }, &arrivals);
            }
        }
    }
}

/// With polled status, RLC and HARQ need the messages of the opposite direction.
#[test]
fn unchanged_polled_rlc_is_the_same() {
    let mut config = with_channel(with_layer(wire(2_000_000), "rlc"), "two_state");
    config.arq.values.set("status", Value::Word("polled"));
    let arrivals = arrivals(1000, 0.004);
    let unchanged = assert_unchanged(&config, &arrivals);
    assert!(unchanged.iter().all(|fate| fate.1 < secs(100.0)));
}

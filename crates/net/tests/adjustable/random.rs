//! Random changes of random directions.

use super::driver::{
    Change, adjustable, at, delay, fates, loss, queue, rate, wire, with_channel, with_layer, with_queue,
};
use super::{arrivals, services};
use lasthop_base::{Choice, Duration, Stream, Time, Value};
use lasthop_net::{Config, admission, channel, jitter, queue as queues};

fn pick<T: Clone>(random: &mut Stream, all: &[T]) -> T {
    all[(random.uniform() * all.len() as f64) as usize].clone()
}

fn queue_names() -> Vec<&'static str> {
    admission::ALL.iter().chain(queues::ALL).map(|one| one.info.name).collect()
}

fn config(random: &mut Stream, layer: &str) -> Config {
    let service = pick(random, &services(layer));
    let channels: Vec<&str> = channel::ALL.iter().map(|one| one.info.name).collect();
    let config = with_queue(
        with_channel(Config { service, ..wire(1) }, pick(random, &channels)),
        pick(random, &queue_names()),
    );
    let mut config = with_layer(config, layer);
    let mut set = |name: &'static str, values: &[Value]| config.arq.values.set(name, pick(random, values));
    match layer {
        "rlc" => {
            set("status", &["constant", "polled"].map(Value::Word));
            set("discard", &["retransmissions", "timer", "never"].map(Value::Word));
            set("holds", &["unacknowledged", "unsent"].map(Value::Word));
            set("concatenate", &[Value::Flag(true), Value::Flag(false)]);
            set("number_overflow", &[Value::Flag(true), Value::Flag(false)]);
            set("announce", &[Value::Flag(true), Value::Flag(false)]);
        }
        "harq" => {
            set("mode", &["am", "um"].map(Value::Word));
            set("order", &["rlc", "pdcp", "none"].map(Value::Word));
        }
        _ => {}
    }
    if config.queue.values.iter().any(|(name, _)| name == "packets") {
        config.queue.values.set("packets", pick(random, &[1, 5, 20, 1000].map(Value::Count)));
    }
    if random.uniform() < 0.3 {
        config.jitter = Choice::named(jitter::ALL, "random");
        config.jitter.values.set("most", Value::Duration(Duration::from_millis(5)));
    }
    config
}

fn changes(random: &mut Stream) -> Vec<(Time, Change)> {
    let mut times: Vec<u64> = (0..8).map(|_| (random.uniform() * 3000.0) as u64).collect();
    times.sort_unstable();
    let mut one = |time: u64| {
        let change = match (random.uniform() * 5.0) as u32 {
            0 => rate(pick(random, &[0, 9_600, 400_000, 20_000_000])),
            1 => delay(pick(random, &[0, 10, 500])),
            2 => loss(pick(random, &[0.0, 0.1, 0.7])),
            _ => {
                let mut config = with_queue(wire(1), pick(random, &queue_names()));
                if config.queue.values.iter().any(|(name, _)| name == "packets") {
                    config.queue.values.set("packets", pick(random, &[1, 5, 1000].map(Value::Count)));
                }
                queue(&config)
            }
        };
        (at(time), change)
    };
    let mut all: Vec<(Time, Change)> = times.into_iter().map(&mut one).collect();
    // At the end, each direction sends all packets that wait.
    all.extend([(at(3500), rate(10_000_000)), (at(3500), loss(0.0))]);
    all
}

/// After all changes, each packet must have arrived or be lost, and only once.
#[test]
fn each_packet_has_one_end() {
    for layer in ["none", "repeat", "rlc", "harq", "wifi", "fec"] {
        for seed in 0..150 {
            let random = &mut Stream::named(seed, layer);
            let config = config(random, layer);
            let arrivals = arrivals(700, 0.004);
            let fates = fates(adjustable(&config), &arrivals, &changes(random));
            let ends: Vec<u64> = fates.iter().map(|fate| fate.0).collect();
            assert_eq!(ends, (0..700).collect::<Vec<u64>>(), "{layer}, seed {seed}: {config:?}");
        }
    }
}

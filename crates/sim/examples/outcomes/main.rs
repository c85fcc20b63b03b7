//! Prints one line per run with a hash over all packets and events, to verify that a change does not alter any run.
//!
//! ```text
//! cargo run --example outcomes > before.txt   # then change the code
//! cargo run --example outcomes > after.txt
//! diff before.txt after.txt
//! ```
//!
//! * `set`: the runs.
//! * `fingerprint`: the hash.

mod fingerprint;
mod set;

use fingerprint::Fingerprint;
use lasthop_sim::{Watch, run_watched};

fn main() {
    set::each(6, 10, |named, scenario| {
        let Some(scenario) = scenario else { return println!("{named} is rejected") };
        let watch = Watch { observers: vec![Box::new(Fingerprint::new())], ..Watch::default() };
        let (outcome, _, observers) = run_watched(&scenario, 3, watch);
        let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
        let Fingerprint { value, told } = fingerprint::of(observers);
        println!("{named}: {value:016x} of {told}, {delivered} bytes");
    });
}

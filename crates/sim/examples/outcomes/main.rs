//! Prints one line per run with a hash over all packets and events, to verify that a change does not alter any run.
//!
//! ```text
//! cargo run --example outcomes > before.txt   # then change the code
//! cargo run --example outcomes > after.txt
//! diff before.txt after.txt
//! ```

mod fingerprint;
mod set;

use fingerprint::Fingerprint;
use lasthop_sim::{Observation, run_observed};

fn main() {
    set::each(6, 10, |named, scenario| {
        let Some(scenario) = scenario else { return println!("{named} is rejected") };
        let observation =
            Observation { observers: vec![Box::new(Fingerprint::new())], ..Observation::default() };
        let (outcome, _, observers) = run_observed(&scenario, 3, observation);
        let delivered: u64 = outcome.flows.iter().map(|flow| flow.delivered_bytes).sum();
        let Fingerprint { value, count } = fingerprint::of(observers);
        println!("{named}: {value:016x} of {count}, {delivered} bytes");
    });
}

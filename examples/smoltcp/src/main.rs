//! Compares smoltcp's TCP with Lasthop's over one path, with the same losses: `cargo run --release`.

use lasthop_scenario::{Catalogue, Problem};
use lasthop_smoltcp::SMOLTCP;

const PATH: &str = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=60s";
const RUNS: u64 = 8;

/// Mean goodput of the runs, kbit/s.
fn goodput_kbps(settings: &[(&str, &str)]) -> Result<f64, Problem> {
    let mut catalogue = Catalogue::default();
    catalogue.transport.stack.add(&SMOLTCP);
    let mut draft = catalogue.load(PATH)?;
    for (key, value) in settings {
        draft.set(key, value)?;
    }
    let scenario = draft.check()?;
    let total: f64 = (1..=RUNS).map(|seed| lasthop_sim::run(&scenario, seed).flows[0].goodput_kbps()).sum();
    Ok(total / RUNS as f64)
}

fn main() -> Result<(), Problem> {
    for control in ["cubic", "reno"] {
        let own = goodput_kbps(&[("congestion", control)])?;
        let smoltcp = [("flow.bulk.kind", "quic"), ("stack", "smoltcp"), ("stack.control", control)];
        println!("{control}: Lasthop {own:.0} kbit/s, smoltcp {:.0} kbit/s", goodput_kbps(&smoltcp)?);
    }
    Ok(())
}

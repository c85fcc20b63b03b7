//! Command `lasthop check PATH`: checks a scenario and prints a summary in one line.

use crate::failure::Failure;
use crate::output;
use crate::scenario_args::ScenarioArgs;
use clap::Args;
use lasthop_net::service::Service;
use lasthop_scenario::Scenario;

/// Check a scenario, and print a summary in one line, or the first error with its position
#[derive(Args)]
pub(crate) struct Check {
    #[command(flatten)]
    source: ScenarioArgs,
}

impl Check {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let scenario = self.source.scenario()?;
        output::print_line(&format!("{}: {}", self.source.path, summary(&scenario)))
    }
}

/// Describes a scenario in one line, for example: `3 nodes, 2 links, 1 flow; 60 s, 10 runs; link.air.down: trace of
/// 1234 delivery opportunities in 60 s, mean 3.2 Mbit/s`. A delivery opportunity is a time in the trace at which the
/// link can deliver a packet.
fn summary(scenario: &Scenario) -> String {
    let mut parts = vec![
        [
            counted(scenario.nodes.len(), "node"),
            counted(scenario.links.len(), "link"),
            counted(scenario.flows.len(), "flow"),
        ]
        .join(", "),
        format!("{}, {}", scenario.duration, counted(scenario.runs as usize, "run")),
    ];
    for link in &scenario.links {
        for (direction, config) in [("down", &link.down), ("up", &link.up)] {
            if let Service::Trace(trace) = &config.service {
                parts.push(format!(
                    "link.{}.{direction}: trace of {} delivery opportunities in {} s, mean {}",
                    link.name,
                    trace.opportunities(),
                    trace.length_millis() as f64 / 1e3,
                    trace.mean_rate(),
                ));
            }
        }
    }
    parts.join("; ")
}

fn counted(count: usize, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    }
}

//! Command `lasthop agent measure`: measures the agent's effect on a path with real senders.
//!
//! * `companion`: the agent in the client's namespace.

mod companion;

use super::Mechanisms;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::output::{self, Format};
use crate::path::{self, CarriedFlows};
use crate::provenance_chapter;
use crate::real_sender::RealSender;
use crate::scenario_args::ScenarioArgs;
use crate::table;
use crate::target::{Target, interrupts};
use crate::values;
use clap::Args;
use companion::Companion;
use lasthop_emu::Trial;
use lasthop_emu::trial::{KernelSettings, Tcp, TrialOutcome};
use lasthop_lab::progress::Progress;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::report;
use lasthop_lab::trials::agent::{self, AgentResults, Setup};
use lasthop_os::SystemError;
use lasthop_os::ends::PathEnds;
use lasthop_scenario::Scenario;
use std::any::Any;
use std::path::PathBuf;

/// Measure the agent's effect on a path: real senders over the emulated path, with and without the agent
///
/// The client is this kernel with its current settings. The sender is this kernel with each congestion control, or
/// Lasthop's endpoint with the scenario's mechanisms (`lasthop-to-kernel`). Needs root.
///
/// Try: sudo lasthop agent measure umts --window dynamic --report agent.html
#[derive(Args)]
pub(super) struct Measure {
    #[command(flatten)]
    source: ScenarioArgs,
    #[command(flatten)]
    mechanisms: Mechanisms,
    /// Senders: congestion controls of the kernel, or `lasthop-to-kernel`
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', default_value = "cubic,reno,bbr")]
    senders: Vec<RealSender>,
    /// Number of repetitions per sender, each with and without the agent
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = values::runs)]
    runs: u32,
    /// Seed of the first repetition; each further repetition adds 1. Default: the scenario's seed
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write an offline page with charts
    #[arg(long, value_name = "FILE.html")]
    report: Option<PathBuf>,
}

impl Measure {
    pub(super) fn execute(&self) -> Result<(), Failure> {
        let draft = self.source.draft()?;
        let scenario = draft.check()?;
        self.mechanisms.settings()?;
        let carried = path::carried_flows(&scenario)?;
        let trials = self
            .senders
            .iter()
            .map(|sender| trial(sender, &scenario, &carried))
            .collect::<Result<Vec<Trial>, Failure>>()?;
        let report = self.report.as_deref().map(Target::create).transpose()?;
        path::remove_leftovers();
        let bar = Bar::default();
        bar.begin("measure", 2 * trials.len() as u64 * u64::from(self.runs));
        let done = interrupts::handle_during(|| {
            let pairs = self.senders.iter().zip(trials);
            let one = |(sender, trial)| self.repeat(sender, &trial, &scenario, carried.replaced, &bar);
            pairs.map(one).collect::<Result<Vec<AgentResults>, Failure>>()
        });
        bar.end();
        let done = done?;
        let words = self.mechanisms.words();
        let (title, duration) = (scenario.title.as_str(), scenario.duration);
        let setup = Setup { title, duration, agent_actions: &words, runs: self.runs };
        if let Some(target) = report {
            let mut document = agent::document(&setup, &done);
            document
                .chapters
                .push(provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]));
            target.write_and_note(&report::html(&document))?;
        }
        output::print(&match self.format {
            Format::Table => {
                let table = table::text(&agent::table(&done));
                agent::heading(&setup) + &table + &agent::notes(&done)
            }
            Format::Json => done.iter().map(|results| format!("{}\n", results.object())).collect(),
            Format::Csv => agent::csv(&done),
        })
    }

    /// Runs each repetition of a sender twice: without and with the agent. If one of these two runs had late packets,
    /// the repetition is rerun. Fails if there were more reruns than repetitions.
    fn repeat(
        &self,
        sender: &RealSender,
        trial: &Trial,
        scenario: &Scenario,
        replaced: usize,
        bar: &Bar,
    ) -> Result<AgentResults, Failure> {
        let first = self.seed.unwrap_or(scenario.seed);
        let mut results = AgentResults { sender: sender.to_string(), pairs: Vec::new(), late_runs: 0 };
        while results.pairs.len() < self.runs as usize {
            let seed = seed_of(first, results.pairs.len() as u32);
            let run = |has_agent| -> Result<TrialOutcome, Failure> {
                let plan = path::plan(scenario, replaced, seed);
                let prepare = |ends: &PathEnds| -> Result<Box<dyn Any>, SystemError> {
                    if has_agent {
                        Ok(Box::new(Companion::begin(ends, &self.mechanisms.arguments())?))
                    } else {
                        Ok(Box::new(()))
                    }
                };
                let outcome = trial.run(plan, prepare, &interrupts::is_interrupted).map_err(failure)?;
                if interrupts::is_interrupted() { Err(Failure::interrupted()) } else { Ok(outcome) }
            };
            let pair = [run(false)?, run(true)?];
            if let Some(late) = pair.iter().find(|outcome| !outcome.complaints.is_empty()) {
                results.late_runs += 1;
                if results.late_runs > self.runs {
                    return Err(path::late_packets(sender, late, results.late_runs));
                }
                continue;
            }
            results.pairs.push(pair.map(path::streams));
            bar.step();
            bar.step();
        }
        Ok(results)
    }
}

fn trial(sender: &RealSender, scenario: &Scenario, carried: &CarriedFlows) -> Result<Trial, Failure> {
    // Empty settings leave the client's kernel settings unchanged.
    let settings = KernelSettings::default();
    let tcp = match sender {
        RealSender::Kernel(name) => {
            Tcp::Kernel { congestion: vec![name.clone(); carried.streams.len()], settings }
        }
        RealSender::OwnToKernel => Tcp::OwnToKernel { configs: carried.configs.clone(), settings },
        RealSender::Own => {
            return Err(Failure::bad_input(
                "the sender `lasthop` also places Lasthop's endpoint at the client, whose ACKs the agent cannot see",
                "use lasthop-to-kernel",
            ));
        }
    };
    Ok(Trial { tcp, streams: carried.streams.clone(), duration: scenario.duration, mtu: carried.mtu })
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}

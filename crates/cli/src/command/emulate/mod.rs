//! `lasthop emulate PATH -- COMMAND`.
//!
//! * `stage`: the namespaces, the devices and the programs.
//! * `summary`: what came out, as a table and as JSON.

mod stage;
mod summary;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::source::Source;
use crate::target::{self, Target, patience};
use crate::values;
use clap::Args;
use lasthop_base::{Duration, quantity};
use lasthop_capture::Capture;
use lasthop_emu::emulation::machine::Ticks;
use lasthop_emu::emulation::{Bounds, Charge, Plan};
use lasthop_emu::{Emulation, Trouble, urgency};
use lasthop_scenario::{Headers, Scenario, Traffic};
use lasthop_sim::assemble::{OUTSIDE_FLOWS, assemble_around};
use stage::Stage;
use std::path::PathBuf;
use std::time::Instant;
use summary::Summary;

/// Run a command with the scenario's path between it and the other end, in real time.
///
/// COMMAND runs in a network namespace of its own, as the scenario's client: behind the path is the other end.
/// With --server that is a second namespace, in which another command runs.
/// The TCP flows between the same two ends of the scenario are COMMAND's to make; all other flows are simulated.
/// COMMAND's exit status is passed on; 3 means that the run was not in time and must not be trusted.
#[derive(Args)]
pub(crate) struct Emulate {
    #[command(flatten)]
    source: Source,
    /// Run this at the other end, by the shell; `{server}` in COMMAND becomes its address
    #[arg(long, value_name = "COMMAND")]
    server: String,
    /// How to print the summary, on standard error or to DIR/summary.json
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Write the summary, a capture and a report into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Capture both ends, and what is lost between them, as pcapng
    #[arg(long, value_name = "FILE")]
    pcap: Option<PathBuf>,
    /// Keep at most so many bytes of each captured packet
    #[arg(long, value_name = "BYTES", value_parser = values::snap)]
    snap: Option<u32>,
    /// Seed of the path's randomness; the scenario's own by default
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Stop sleeping so long before a packet is due: better timing for more processor time
    #[arg(long, value_name = "TIME", default_value = "0 ms", value_parser = quantity::duration)]
    spin: Duration,
    /// Largest packet of the devices, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..))]
    mtu: u16,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// How long the loop sleeps at most before it looks after the command.
const PATIENCE: Duration = Duration::from_millis(10);

impl Emulate {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let scenario = self.source.draft()?.check()?;
        let replaced = replaced(&scenario)?;
        let plan = self.plan(&scenario, replaced);
        let files = self.files(&plan.pipes)?;
        let (status, summary) = patience::during(|| self.run(plan, files))?;
        self.tell(&summary)?;
        if patience::is_interrupted() {
            return Err(Failure::interrupted());
        }
        match (summary.complaints.is_empty(), status) {
            (false, _) => Err(invalid(&summary)),
            (true, 0) => Ok(()),
            (true, status) => Err(Failure::Command(status)),
        }
    }

    fn plan(&self, scenario: &Scenario, replaced: usize) -> Plan {
        let seed = self.seed.unwrap_or(scenario.seed);
        let pipes = scenario.links.iter();
        Plan {
            engine: assemble_around(scenario, replaced, seed),
            lanes: OUTSIDE_FLOWS as u32,
            charge: match scenario.headers {
                Headers::Real => Charge::Real,
                Headers::None => Charge::Payload(0),
                Headers::Nominal(bytes) => Charge::Payload(bytes),
            },
            spin: self.spin,
            sample: self.out.is_some().then_some(scenario.sample),
            pipes: pipes
                .flat_map(|link| ["down", "up"].map(|side| format!("{} {side}", link.name)))
                .collect(),
        }
    }

    /// Begins every file, so that a mistake in a path shows before anything runs.
    fn files(&self, pipes: &[String]) -> Result<Option<Capture<Target>>, Failure> {
        let Some(path) = &self.pcap else { return Ok(None) };
        let target = Target::create(path)?;
        let names = Emulation::<Target>::interfaces(pipes);
        let capture = match self.snap {
            Some(snap) => Capture::with_snap_length(target, &names, snap),
            None => Capture::new(target, &names),
        };
        capture.map(Some).map_err(|error| target::unfinished(path, &error))
    }

    fn run(&self, plan: Plan, capture: Option<Capture<Target>>) -> Result<(u8, Summary), Failure> {
        let mut stage = Stage::build(self.mtu).map_err(failure)?;
        let Some([server, client]) = stage.take_devices() else { unreachable!("they are taken once") };
        let mut emulation = Emulation::new(plan, server, client);
        if let Some(capture) = capture {
            emulation.capture(capture);
        }
        stage.start(&self.server, &self.command).map_err(failure)?;
        let began = Instant::now();
        let (ticks, urgent) = (Ticks::now(), urgency::hurry());
        let status = loop {
            emulation.turn(PATIENCE).map_err(failure)?;
            if let Some(status) = stage.ended().map_err(failure)? {
                break status;
            }
        };
        let took = began.elapsed();
        let load = ticks.zip(Ticks::now()).and_then(|(before, after)| before.until(&after));
        let lost_in_devices = stage.lost_in_devices();
        let measured = emulation.measured().clone();
        if let Some(target) = emulation.finish().map_err(failure)? {
            target.finish()?;
        }
        let complaints = measured.complaints(&Bounds::USUAL, lost_in_devices);
        Ok((status, Summary { measured, complaints, lost_in_devices, load, urgent, status, took }))
    }

    fn tell(&self, summary: &Summary) -> Result<(), Failure> {
        match self.format {
            Format::Json => output::note(&summary.object().to_string()),
            _ => output::note(summary.table().trim_end()),
        }
        Ok(())
    }
}

/// The flow whose place the real traffic takes: the first one of TCP.
fn replaced(scenario: &Scenario) -> Result<usize, Failure> {
    scenario.flows.iter().position(|flow| matches!(flow.traffic, Traffic::Tcp { .. })).ok_or_else(|| {
        Failure::bad_input(
            "the scenario has no TCP flow whose place the command's traffic could take",
            "add one: [flow.bulk] with from = the server's node and to = the client's",
        )
    })
}

fn invalid(summary: &Summary) -> Failure {
    Failure::invalid(
        format!("the run is invalid: {}", summary.complaints.join("; ")),
        format!(
            "{}; run it on a quiet machine, as root, with --spin '200 us', or at a lower rate",
            summary.machine()
        ),
    )
}

pub(super) fn failure(trouble: Trouble) -> Failure {
    Failure::failed(trouble.message, trouble.help)
}

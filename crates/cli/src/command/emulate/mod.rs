//! Command `lasthop emulate PATH -- COMMAND`: runs a command behind the scenario's path, in real time.
//!
//! * `actions`: the three actions of the command.
//! * `set`: changes the rate, delay or loss of a path in use.
//! * `record`: records traces of a real path.
//! * `live`: display and control of a run in progress.
//! * `testbed`: namespaces, devices and programs.
//! * `path_args`: flags that describe the path.
//! * `remote_end`: server namespace or outside network at the remote end of the path.
//! * `privileges`: runs as root, or in the user's own namespaces.
//! * `assertions`: bounds on the results, given by `--assert`.
//! * `ending`: ends the command after Ctrl-C or at the time limit.
//! * `shell`: the default command.
//! * `guard`: clean-up after a kill.
//! * `files`: output files.
//! * `events`: JSON lines during the run.
//! * `document`: the report.
//! * `processor_waits`: time for which the programs waited for a processor.
//! * `congestion`: congestion control of each connection.
//! * `summary`: results as a table and as JSON.

mod actions;
mod assertions;
mod congestion;
mod document;
mod ending;
mod events;
mod files;
mod guard;
mod live;
mod path_args;
mod privileges;
mod processor_waits;
mod record;
mod remote_end;
mod set;
mod shell;
mod summary;
mod testbed;

pub(crate) use actions::Actions;
pub(crate) use guard::DRAWN_MESSAGE;
pub(crate) use live::screen::restore_terminal;
pub(crate) use privileges::run_unprivileged;

use crate::failure::Failure;
use crate::output;
use crate::path;
use crate::provenance_chapter;
use crate::target::{Target, interrupts};
use crate::values;
use assertions::Assertion;
use clap::{Args, ValueEnum};
use congestion::CongestionControls;
use files::{EmulateFiles, OpenFiles};
use lasthop_base::{Duration, quantity};
use lasthop_emu::Emulation;
use lasthop_emu::census::Census;
use lasthop_emu::emulation::machine::Ticks;
use lasthop_emu::emulation::{Bounds, EmulationPlan};
use lasthop_emu::kernel::ConnectionSampler;
use lasthop_lab::document::Chapter;
use lasthop_os::SystemError;
use lasthop_os::ends;
use lasthop_os::priority::RealTimePriority;
use lasthop_scenario::{Draft, Scenario};
use lasthop_sim::assemble::assemble_changeable;
use live::Live;
use path_args::PathArgs;
use privileges::Privileges;
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;
use summary::Summary;
use testbed::Testbed;

/// Run a command behind the scenario's path, in real time
///
/// COMMAND runs in its own network namespace as the scenario's client. The other end is a second namespace in which the
/// command of --server runs, or, without --server, this host and its network.
/// COMMAND replaces the scenario's TCP flows between these two ends; all other flows are simulated.
/// Under `sudo`, both commands run as the calling user. Without root, everything runs in your own namespaces.
/// Exit status: that of COMMAND; 3 (or --invalid-status) if the run is invalid, for example if packets were late; 1 if
/// COMMAND succeeds and an assertion fails. The summary always includes COMMAND's status.
#[derive(Args)]
pub(crate) struct Emulate {
    #[command(flatten)]
    path_args: PathArgs,
    /// Run this command in a shell at the other end; COMMAND may contain `{server}` (its IPv4 address) and `{server6}`
    /// (IPv6)
    #[arg(long, value_name = "COMMAND")]
    server: Option<String>,
    /// Fail (exit status 1) unless this condition holds, for example goodput > 5 Mbit/s, lost_pct@up < 1 % or
    /// duration < 3 s; @down is the default direction
    #[arg(long = "assert", value_name = "METRIC<VALUE", value_delimiter = ',', value_parser = assertions::parse)]
    assertions: Vec<Assertion>,
    /// Write results of the assertions as JUnit XML
    #[arg(long, value_name = "FILE.xml", requires = "assertions")]
    junit: Option<PathBuf>,
    /// Format of the summary on standard error
    #[arg(long, value_enum, default_value = "table")]
    format: SummaryFormat,
    #[command(flatten)]
    files: EmulateFiles,
    #[command(flatten)]
    live: live::LiveArgs,
    /// Congestion control of all TCP connections at both ends, from the first packet: cubic, reno, bbr; by default that
    /// of the kernel or of the program
    #[arg(long, value_name = "NAME", value_parser = congestion::name)]
    congestion: Option<String>,
    /// Seed of the path's random numbers; the scenario's seed by default
    #[arg(long, value_name = "S", value_parser = values::seed)]
    seed: Option<u64>,
    /// Busy-wait for this time before a packet is due: improves timing, but takes more processor time
    #[arg(long, value_name = "TIME", default_value = "0 ms", value_parser = quantity::duration)]
    spin: Duration,
    /// MTU of the devices, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..))]
    mtu: u16,
    /// Run both commands as root instead of the user who called sudo; without sudo: with all rights in their namespaces
    #[arg(long)]
    as_root: bool,
    /// End COMMAND after this time, with exit status 124
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    time_limit: Option<Duration>,
    /// Exit status of an invalid run, for commands that use 3 themselves
    #[arg(long, value_name = "STATUS", default_value_t = crate::failure::INVALID, value_parser = clap::value_parser!(u8).range(1..))]
    invalid_status: u8,
    /// Command and its arguments; by default your shell
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Output format of the summary.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum SummaryFormat {
    /// Aligned table
    Table,
    /// One JSON object in one line
    Json,
}

const MIN_SAMPLE_INTERVAL: Duration = Duration::from_millis(20);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

impl Emulate {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        // `acquire` must be called first, while the process has only one thread and no open files.
        let privileges = Privileges::acquire().map_err(failure)?;
        let source = self.path_args.source()?;
        let draft = source.draft()?;
        let scenario = draft.check()?;
        let provenance = provenance_chapter::chapter(vec![provenance_chapter::scenario(draft.show()?)]);
        self.check_family()?;
        let replaced = path::replaced(&scenario)?;
        let notes = self.notes(&draft, &scenario, replaced);
        notes.iter().for_each(|note| output::note(note));
        let plan = self.plan(&scenario, replaced);
        let open = self.files.open(&plan.pipes)?;
        let seen = self.live.open(!self.command.is_empty())?;
        let events = seen.events.clone();
        let junit = self.junit.as_deref().map(Target::create).transpose()?;
        events.write("start", json!({ "path": source.path, "command": self.command }));
        let ran = interrupts::handle_during(|| {
            self.run(privileges, (&source.path, &scenario, replaced), (provenance, notes), plan, (open, seen))
        });
        let (summary, written) = ran.inspect_err(|failure| events.write_failure(failure))?;
        events.write("end", summary.object());
        match self.format {
            SummaryFormat::Json => output::note(&summary.object().to_string()),
            SummaryFormat::Table => output::note(summary.table().trim_end()),
        }
        summary.later_notes().iter().for_each(|note| output::note(note));
        written?;
        if interrupts::is_interrupted() {
            return Err(Failure::interrupted());
        }
        match (summary.complaints.is_empty(), summary.status) {
            (false, _) => Err(invalid(&summary, self.invalid_status)),
            (true, 0) => {
                let suite = format!("lasthop emulate {}", source.path);
                assertions::report_assertions(&self.assertions, &summary, &suite, junit)
            }
            (true, status) => {
                if status == self.invalid_status {
                    output::note(&format!(
                        "note: the run is valid; the exit status {status} is that of the command"
                    ));
                }
                Err(Failure::Command(status))
            }
        }
    }

    fn notes(&self, draft: &Draft, scenario: &Scenario, replaced: usize) -> Vec<String> {
        let flow = &scenario.flows[replaced];
        let keys = draft.given_endpoint_keys(&flow.name);
        let mut notes: Vec<String> = self.path_args.note(scenario).into_iter().collect();
        if !keys.is_empty() {
            let help = if keys.iter().any(|key| key == "sender.congestion") {
                "; set the kernel's congestion control with --congestion"
            } else {
                ""
            };
            notes.push(format!(
                "note: the kernel's TCP carries flow `{}`, so these keys have no effect: {}{help}",
                flow.name,
                keys.join(", ")
            ));
        }
        notes
    }

    fn check_family(&self) -> Result<(), Failure> {
        if !self.command.iter().any(|word| word.contains("{server6}")) {
            return Ok(());
        }
        match (&self.server, self.mtu >= ends::MIN_MTU6) {
            (None, _) => {
                let help =
                    "start a server: --server 'COMMAND'; the path to this host's network has IPv4 only";
                Err(Failure::bad_input("`{server6}` needs --server", help))
            }
            (_, false) => {
                let message = format!("an MTU of {} bytes is too small for IPv6", self.mtu);
                Err(Failure::bad_input(message, format!("use --mtu {} or more", ends::MIN_MTU6)))
            }
            _ if !ends::kernel_has_ipv6() => Err(Failure::failed(
                "the kernel has no IPv6",
                "use {server}, which is the other end's IPv4 address",
            )),
            _ => Ok(()),
        }
    }

    fn plan(&self, scenario: &Scenario, replaced: usize) -> EmulationPlan {
        let seed = self.seed.unwrap_or(scenario.seed);
        EmulationPlan {
            engine: assemble_changeable(scenario, replaced, seed),
            spin: self.spin,
            sample: self.files.needs_samples().then_some(scenario.sample.max(MIN_SAMPLE_INTERVAL)),
            ..path::plan(scenario, replaced, seed)
        }
    }

    /// Runs the command. Returns the summary, and the first error in writing files.
    fn run(
        &self,
        privileges: Privileges,
        (path, scenario, replaced): (&str, &Scenario, usize),
        (provenance, notes): (Chapter, Vec<String>),
        plan: EmulationPlan,
        (mut open, mut seen): (OpenFiles, live::LiveOutputs),
    ) -> Result<(Summary, Result<(), Failure>), Failure> {
        let sample = plan.sample;
        let command = if self.command.is_empty() { shell::words(path) } else { self.command.clone() };
        let (mut testbed, [server, client]) =
            Testbed::build(privileges, self.server.is_some(), self.mtu, self.as_root).map_err(failure)?;
        if let Some(name) = &self.congestion {
            testbed.set_congestion_control(name).map_err(unusable)?;
        }
        seen.take_terminal(testbed.guard(), &format!("lasthop emulate {path}"))?;
        if let Some(line) = &self.server {
            testbed.start_server(line).map_err(failure)?;
        }
        // The path's clock starts here, just before the command.
        let mut emulation = Emulation::new(plan, server, client);
        if let Some(capture) = open.take_capture() {
            emulation.capture(capture);
        }
        let watch = sample.map(|span| testbed.watch(span, emulation.clock())).transpose().map_err(failure)?;
        let mut live = self.live.begin(scenario, replaced, seen, &testbed, &emulation);
        let census = Census::begin(testbed.senders());
        let limit = self.time_limit.map(|span| std::time::Duration::from_nanos(span.as_nanos()));
        testbed.start_command(&command, limit).map_err(unusable)?;
        let (began, ticks) = (Instant::now(), Ticks::now());
        let priority = RealTimePriority::begin();
        let status = carry_packets(&mut emulation, &mut testbed, &mut live, &census).map_err(failure)?;
        let urgent = priority.is_granted();
        drop(priority);
        let load = ticks.zip(Ticks::now()).and_then(|(before, after)| before.until(&after));
        let setting_changes = live.finish(&mut emulation);
        let lost_in_devices = testbed.lost_in_devices();
        let measured = emulation.measurements().clone();
        let took = began.elapsed();
        let waits = testbed.processor_waits(took);
        let mut complaints = measured.complaints(&Bounds::USUAL, lost_in_devices);
        complaints.extend(waits.complaints());
        let sees_entries = emulation.sees_entries();
        let summary = Summary {
            measured,
            under_way: emulation.in_flight(),
            controls: CongestionControls::new(
                census.finish(),
                testbed.default_congestion(),
                self.congestion.is_some(),
            ),
            sees_entries,
            complaints,
            lost_in_devices,
            waits,
            load,
            urgent,
            status,
            took,
            setting_changes,
            notes,
        };
        let connection_samples = watch.map_or(Vec::new(), ConnectionSampler::finish);
        let document = || {
            let samples = emulation.samples();
            let mut document = document::document(scenario, &command, &summary, samples, &connection_samples);
            document.chapters.push(provenance);
            document
        };
        let filled = open.fill(&summary, document);
        let (capture, captured) = match emulation.finish() {
            Ok(capture) => (capture, Ok(())),
            Err(error) => (None, Err(failure(error))),
        };
        let finished = open.finish(capture);
        Ok((summary, captured.and(filled).and(finished)))
    }
}

/// Carries packets until the command ends. Returns the exit status of the command.
fn carry_packets(
    emulation: &mut Emulation<Target>,
    testbed: &mut Testbed,
    live: &mut Live,
    census: &Census,
) -> Result<u8, SystemError> {
    let clock = emulation.clock();
    let mut next_poll = clock.now();
    loop {
        emulation.turn(POLL_INTERVAL)?;
        if clock.now() >= next_poll {
            next_poll = clock.now() + POLL_INTERVAL;
            live.poll(clock.now(), emulation);
            census.set_begun(emulation.begun());
            if let Some(status) = testbed.poll_command()? {
                return Ok(status);
            }
        }
    }
}

fn invalid(summary: &Summary, status: u8) -> Failure {
    Failure::invalid_as(
        status,
        format!("the run is invalid: {}", summary.complaints.join("; ")),
        format!(
            "{}; repeat on an idle machine, as root, with --spin '200 us', or at a lower rate",
            summary.machine()
        ),
    )
}

fn unusable(error: SystemError) -> Failure {
    Failure::bad_input(error.message, error.help)
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}

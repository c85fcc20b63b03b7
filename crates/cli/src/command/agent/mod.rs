//! Command `lasthop agent`: applies receiver mechanisms to the TCP connections of this host's programs.

mod measure;
mod offload;
mod summary;

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::target::interrupts;
use clap::{Args, Subcommand, ValueEnum};
use lasthop_agent::daemon::{AgentOptions, DataPath};
use lasthop_agent::{AckSettings, Agent as RunningAgent, SystemError, report, watchdog};
use lasthop_base::{Choice, Need};
use lasthop_tcp::receiver::loss_discrimination;
use lasthop_tcp::receiver::window;
use measure::Measure;
use std::path::PathBuf;
use std::time::Duration;

/// Apply receiver mechanisms to this host's TCP connections
///
/// The agent reduces the window that the kernel advertises, or splits ACKs: in the kernel (BPF) where possible,
/// otherwise by intercepting pure ACKs (NFQUEUE). Connections opened earlier are unchanged. If the agent ends or hangs,
/// all connections continue without the agent.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Agent {
    #[command(subcommand)]
    command: Option<AgentCommand>,
    #[command(flatten)]
    run: AgentRun,
}

#[derive(Subcommand)]
enum AgentCommand {
    Run(AgentRun),
    Status(Status),
    Measure(Measure),
    #[command(hide = true)]
    Watchdog(Watchdog),
}

/// Run until Ctrl-C or SIGTERM. Needs root
///
/// Try: sudo lasthop agent run --window dynamic
#[derive(Args)]
pub(crate) struct AgentRun {
    #[command(flatten)]
    mechanisms: Mechanisms,
    /// Number of the NFQUEUE, if the agent uses one
    #[arg(long, value_name = "N", default_value_t = 6868)]
    queue: u16,
    /// Maximum number of ACKs that wait in the NFQUEUE for the agent; further ACKs pass unchanged
    #[arg(long, value_name = "ACKS", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=1024))]
    queue_length: u32,
    /// Serve counters for Prometheus on this port of 127.0.0.1
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    metrics: Option<u16>,
    #[command(flatten)]
    folder: RunDir,
}

/// Mechanisms applied to ACKs.
#[derive(Args)]
struct Mechanisms {
    /// Limit of the advertised window: dynamic (2 x rate x smallest RTT, estimated), dynamic=K, link-rate=RATE,
    /// fixed=BYTES
    #[arg(long, value_name = "WINDOW", value_parser = AckSettings::window)]
    window: Option<Choice<window::Build>>,
    /// Replace each ACK by N ACKs: split=N acknowledges the data in N steps, copies=N sends N equal ACKs (default N: 2)
    #[arg(long, value_name = "ACKS", value_parser = acks)]
    acks: Option<String>,
    /// Split ACKs only after losses classified as wireless, until the window has recovered: jtcp, rtt, always
    #[arg(long, value_name = "DISCRIMINATOR", requires = "acks", value_parser = AckSettings::loss_discrimination)]
    loss_discrimination: Option<Choice<loss_discrimination::Build>>,
    /// Place where ACKs are rewritten: bpf (in the kernel: Linux 5.8 or later; not with --loss-discrimination), nfqueue
    /// (in the agent), or auto (in the kernel where possible)
    #[arg(
        long = "path",
        value_name = "BPF|NFQUEUE|AUTO",
        value_enum,
        default_value = "auto",
        hide_possible_values = true
    )]
    rewrite_path: RewritePath,
}

/// Place where ACKs are rewritten.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RewritePath {
    Auto,
    Bpf,
    #[value(hide = true)]
    Clsact,
    Nfqueue,
}

/// Print the state of the running agent and its connections
#[derive(Args)]
struct Status {
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    #[command(flatten)]
    folder: RunDir,
}

/// Remove the rules of a running agent if the agent stops responding; started by `agent run`
#[derive(Args)]
struct Watchdog {
    #[arg(long, value_name = "N")]
    queue: u16,
    #[command(flatten)]
    folder: RunDir,
}

#[derive(Args)]
struct RunDir {
    /// Directory of locks and status socket; only its owner may write to the directory
    #[arg(long, value_name = "DIR", default_value = "/run/lasthop")]
    run_dir: PathBuf,
}

/// Interval at which `agent run` checks for Ctrl-C and for errors of the agent.
const POLL_INTERVAL: Duration = Duration::from_millis(100);

impl Agent {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        match &self.command {
            Some(AgentCommand::Run(run)) => run.execute(),
            Some(AgentCommand::Status(status)) => status.execute(),
            Some(AgentCommand::Measure(measure)) => measure.execute(),
            Some(AgentCommand::Watchdog(watchdog)) => watchdog.execute(),
            None => self.run.execute(),
        }
    }
}

impl AgentRun {
    fn execute(&self) -> Result<(), Failure> {
        let options = self.options()?;
        let needs_times = |discrimination: &Choice<loss_discrimination::Build>| {
            discrimination.info.needs.contains(&Need::Timestamps)
        };
        if self.mechanisms.loss_discrimination.as_ref().is_some_and(needs_times) {
            offload::warn();
        }
        interrupts::handle_during(|| {
            let agent = RunningAgent::start(options).map_err(failure)?;
            if !agent.is_urgent() {
                output::note(
                    "note: the agent has no real-time priority (CAP_SYS_NICE, SCHED_FIFO): a busy machine will \
                     delay ACKs",
                );
            }
            if let Some(why) = agent.fallback_reason() {
                output::note(&format!("note: BPF in the kernel is not used: {why}"));
            }
            output::note(&self.greeting(&agent));
            while !interrupts::is_interrupted() {
                std::thread::sleep(POLL_INTERVAL);
                if let Some(error) = agent.failure() {
                    return Err(failure(error));
                }
            }
            drop(agent);
            output::note("the agent has ended; its rules are removed");
            Ok(())
        })
    }

    fn greeting(&self, agent: &RunningAgent) -> String {
        let families = if agent.has_ipv6() { "IPv4 and IPv6" } else { "IPv4 (no rules for IPv6)" };
        format!(
            "the agent runs for new connections over {families}, {}: {}; Ctrl-C ends the agent",
            match agent.path() {
                DataPath::Bpf => "in the kernel (BPF)",
                _ => "by NFQUEUE",
            },
            self.mechanisms.words()
        )
    }

    fn options(&self) -> Result<AgentOptions, Failure> {
        Ok(AgentOptions {
            settings: self.mechanisms.settings()?,
            words: self.mechanisms.words(),
            path: match self.mechanisms.rewrite_path {
                RewritePath::Auto => DataPath::Auto,
                RewritePath::Bpf => DataPath::Bpf,
                RewritePath::Clsact => DataPath::Clsact,
                RewritePath::Nfqueue => DataPath::Nfqueue,
            },
            queue: self.queue,
            length: self.queue_length,
            folder: self.folder.run_dir.clone(),
            metrics: self.metrics,
            watchdog_arguments: ["agent", "watchdog"].map(str::to_owned).to_vec(),
        })
    }
}

impl Mechanisms {
    fn settings(&self) -> Result<AckSettings, Failure> {
        if self.window.is_none() && self.acks.is_none() {
            return Err(Failure::bad_input(
                "no mechanism is given",
                "give one: --window dynamic, or --acks split=2",
            ));
        }
        let ack_splitting = self
            .acks
            .as_deref()
            .map(|text| AckSettings::ack_splitting(text, self.loss_discrimination.is_some()));
        let ack_splitting = ack_splitting
            .transpose()
            .map_err(|why| Failure::bad_input(why, "see `lasthop agent run --help`"))?;
        Ok(AckSettings {
            window: self.window.clone(),
            ack_splitting,
            loss_discrimination: self.loss_discrimination.clone(),
            ..AckSettings::default()
        })
    }

    fn words(&self) -> String {
        let window = self.window.as_ref().map(|choice| format!("window {}", AckSettings::words(choice)));
        let acks = self.acks.as_ref().map(|text| format!("acks {text}"));
        let discrimination = self
            .loss_discrimination
            .as_ref()
            .map(|discrimination| format!("loss discrimination {}", discrimination.info.name));
        [window, acks, discrimination].into_iter().flatten().collect::<Vec<String>>().join(", ")
    }

    fn arguments(&self) -> Vec<String> {
        let window = self.window.as_ref().map(|choice| ["--window".to_owned(), AckSettings::words(choice)]);
        let acks = self.acks.as_ref().map(|text| ["--acks".to_owned(), text.clone()]);
        let discrimination = self
            .loss_discrimination
            .as_ref()
            .map(|discrimination| ["--loss-discrimination".to_owned(), discrimination.info.name.to_owned()]);
        let rewrite_path = self
            .rewrite_path
            .to_possible_value()
            .map(|rewrite_path| ["--path".to_owned(), rewrite_path.get_name().to_owned()]);
        [window, acks, discrimination, rewrite_path].into_iter().flatten().flatten().collect()
    }
}

impl Watchdog {
    fn execute(&self) -> Result<(), Failure> {
        // This process must ignore Ctrl-C: the agent handles Ctrl-C, and the watchdog ends after the agent.
        interrupts::handle_during(|| watchdog::run(self.queue, &self.folder.run_dir).map_err(failure))
    }
}

impl Status {
    fn execute(&self) -> Result<(), Failure> {
        let object = report::status(&self.folder.run_dir).map_err(failure)?;
        match self.format {
            Format::Json => output::print_line(&object.to_string()),
            Format::Csv => Err(Failure::bad_input("status has no CSV format", "use --format json")),
            Format::Table => output::print(&summary::text(&object)),
        }
    }
}

/// Checks the value of `--acks` as if `--loss-discrimination` were given. Every value that is valid without
/// `--loss-discrimination` is also valid with this flag.
fn acks(text: &str) -> Result<String, String> {
    AckSettings::ack_splitting(text, true).map(|_| text.to_owned())
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}

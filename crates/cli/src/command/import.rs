//! Command `lasthop import FILE`: converts a recording to a scenario.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use crate::values::KnownNames;
use clap::Args;
use clap::builder::TypedValueParser;
use lasthop_base::{Duration, quantity};
use lasthop_import::losses::LossModel;
use lasthop_import::{Assumed, ImportError, ImportOptions, ImportResult, Light, RecordingFormat, Service};
use lasthop_scenario::Draft;
use std::path::{Path, PathBuf};

const MORE: &str = "\
Formats of FILE, detected from its contents:
  csv        times and rates: any table, with --time, --rate and --unit; logs of the 4G and 5G data sets without flags
  mahimahi   delivery opportunities, one time in ms per line
  iperf3     output of iperf3 --json
  ping       output of ping, also as JSON; tables of timestamp and rtt
  pcap       pcap or pcapng: one TCP connection's rate, round trips, losses and queue
  losses     0 or 1 per packet; with --packets N the numbers of lost packets
A folder must be a CellReplay recording: light and heavy traces of both directions.
Values missing from the file are assumed, or set by --link-rate, --up-rate, --rtt and --queue. Comments in the scenario
give the source of each value. See docs/how-to/import-a-recording.md.";

/// Convert a recording (rates over time, pings, a capture, or a record of losses) to a scenario
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Import {
    /// Recording, or folder of a CellReplay recording
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Recording of the other direction: a table or a Mahimahi trace
    #[arg(long, value_name = "FILE")]
    up: Option<PathBuf>,
    /// Scenario to write, with trace files beside it; by default FILE's name with .toml, in the current directory
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Format of the recording; detected by default
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<RecordingFormat>,
    /// Time column: name, or number from 1
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// Unit of the time column: s, ms, us or ns
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<String>,
    /// Rate column: name, or number from 1
    #[arg(long, value_name = "COLUMN")]
    rate: Option<String>,
    /// Unit of the rate column: Mbit/s, kbit/s, MB/s …
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Captures: connection to import, given by its rank in size or by a part of its addresses; by default the largest
    #[arg(long, value_name = "N|TEXT")]
    flow: Option<String>,
    /// Captures: write the deliveries over time as a trace, instead of a constant rate
    #[arg(long)]
    varying: bool,
    /// Total number of packets, if FILE lists the numbers of lost packets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    packets: Option<u64>,
    /// Loss model to write; the best fit by default
    #[arg(long, value_name = "MODEL", value_parser = models())]
    model: Option<LossModel>,
    /// Downlink rate, if missing from the recording
    #[arg(long, value_name = "RATE", value_parser = rate)]
    link_rate: Option<String>,
    /// Uplink rate, if missing from the recording
    #[arg(long, value_name = "RATE", value_parser = rate)]
    up_rate: Option<String>,
    /// Round-trip time without queueing, if missing from the recording
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    rtt: Option<Duration>,
    /// Downlink queue, if missing from the recording: 100packets, 64KB, 1bdp
    #[arg(long, value_name = "AMOUNT")]
    queue: Option<String>,
}

fn formats() -> impl TypedValueParser<Value = RecordingFormat> {
    let parse = |name: &str| {
        RecordingFormat::named(name).ok_or_else(|| known(RecordingFormat::ALL.iter().map(|(_, name)| *name)))
    };
    KnownNames { names: || RecordingFormat::ALL.iter().map(|(_, name)| *name).collect(), parse }
}

fn models() -> impl TypedValueParser<Value = LossModel> {
    let parse = |name: &str| {
        LossModel::named(name).ok_or_else(|| known(LossModel::ALL.iter().map(|(_, name)| *name)))
    };
    KnownNames { names: || LossModel::ALL.iter().map(|(_, name)| *name).collect(), parse }
}

fn known<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}

fn rate(text: &str) -> Result<String, String> {
    quantity::rate(text).map(|_| text.to_owned())
}

impl Import {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let out = self.target()?;
        let trace = |side: &str| out.with_extension(side);
        let (down_name, up_name) = (trace("down"), trace("up"));
        for made in [&out, &down_name, &up_name] {
            if [Some(&self.file), self.up.as_ref()].into_iter().flatten().any(|given| same(given, made)) {
                return Err(Failure::bad_input(
                    format!("the output would overwrite the recording `{}`", shown(made)),
                    "give the scenario another name: --out NAME.toml",
                ));
            }
        }
        let (mut down, mut up) = (Target::create(&down_name)?, Target::create(&up_name)?);
        let ask = self.ask();
        let found = lasthop_import::read(&self.file, &ask, &mut down, &mut up).map_err(refused)?;
        let [down_shown, up_shown] = [&down_name, &up_name].map(|path| file_name(path));
        let text =
            |found: &ImportResult| found.scenario(&ask, &file_name(&self.file), [&down_shown, &up_shown]);
        // Checks that `run` accepts the scenario, because a queue or rate given by the user may be invalid. Mean rates
        // replace the trace files, which are not written yet.
        Draft::parse(&text(&without_traces(&found)), &out.display().to_string())?.check()?;
        let text = text(&found);
        let mut written = Vec::new();
        for (service, target) in [(&found.down, down), (&found.up, up)] {
            if service.as_ref().is_some_and(|said| matches!(said.value, Service::Trace { .. })) {
                written.push(target.path().to_owned());
                target.finish()?;
            }
        }
        for (name, light) in [(&down_name, &found.light_traces[0]), (&up_name, &found.light_traces[1])] {
            for (ending, text) in light.iter().flat_map(tables) {
                let path = PathBuf::from(format!("{}.{ending}", name.display()));
                Target::create(&path)?.write_and_finish(text)?;
                written.push(path);
            }
        }
        Target::create(&out)?.write_and_finish(&text)?;
        output::print(&format!("{}: {}\n", shown(&self.file), output::plain(&found.kind)))?;
        for line in &found.findings {
            output::print(&format!("  {}\n", output::plain(line)))?;
        }
        if !found.fit.is_empty() {
            let lines: String = found.fit.iter().map(|line| format!("  {}\n", line.trim_end())).collect();
            output::print(&format!("\n{lines}"))?;
        }
        output::print(&format!("\n{}\n", summary(&text)))?;
        for path in written {
            output::note(&format!("{}: trace", shown(&path)));
        }
        let shown = shown(&out);
        output::note(&format!("{shown}: scenario; try: lasthop run {shown}, or lasthop advise {shown}"));
        Ok(())
    }

    /// Returns the path of the scenario. Fails if a file with the default name already exists.
    fn target(&self) -> Result<PathBuf, Failure> {
        if let Some(out) = &self.out {
            return Ok(out.clone());
        }
        let stem = self
            .file
            .file_stem()
            .map_or_else(|| "imported".into(), |stem| stem.to_string_lossy().into_owned());
        let out = PathBuf::from(format!("{stem}.toml"));
        if out.exists() {
            Err(Failure::bad_input(
                format!("`{}` exists already", shown(&out)),
                "name the scenario: --out NAME.toml",
            ))
        } else {
            Ok(out)
        }
    }

    fn ask(&self) -> ImportOptions {
        ImportOptions {
            format: self.format,
            up: self.up.clone(),
            time: self.time.clone(),
            time_unit: self.time_unit.clone(),
            rate: self.rate.clone(),
            unit: self.unit.clone(),
            flow: self.flow.clone(),
            varying: self.varying,
            packets: self.packets,
            model: self.model,
            assumed: Assumed {
                rate: self.link_rate.clone(),
                up: self.up_rate.clone(),
                rtt: self.rtt,
                queue: self.queue.clone(),
            },
        }
    }
}

/// Returns the suffix and the contents of each file that accompanies a trace.
fn tables(light: &Light) -> Vec<(&'static str, &str)> {
    let sizes = light.sizes.as_deref().map(|text| ("sizes", text));
    [("light", light.text.as_str())].into_iter().chain(sizes).collect()
}

fn without_traces(found: &ImportResult) -> ImportResult {
    let mut found = ImportResult { light_traces: [None, None], ..found.clone() };
    for said in [&mut found.down, &mut found.up].into_iter().flatten() {
        said.value = Service::Rate(said.value.mean().max(1000.0));
    }
    found
}

/// Extracts the values of the path, and the source of each value, from the scenario's text.
fn summary(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let (mut table, mut comment) = ("", "");
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            table = name.trim_end_matches(']').trim_start_matches("link.");
        } else if let Some(said) = line.strip_prefix("# ") {
            comment = said;
        } else if let Some((key, value)) = line.split_once(" = ")
            && table.starts_with("path")
            && !["from", "to"].contains(&key)
        {
            lines.push(format!(
                "  {:<20} {value}: {}",
                format!("{table} {key}"),
                comment.trim_end_matches('.')
            ));
        }
    }
    lines.join("\n")
}

fn shown(path: &Path) -> String {
    output::plain(&path.display().to_string())
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn refused(ImportError { message, help }: ImportError) -> Failure {
    Failure::bad_input(message, help)
}

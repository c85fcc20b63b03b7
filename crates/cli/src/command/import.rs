//! `lasthop import FILE`.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use crate::values::Named;
use clap::Args;
use clap::builder::TypedValueParser;
use lasthop_base::{Duration, quantity};
use lasthop_import::losses::Model;
use lasthop_import::{Ask, Assumed, Format, Found, Light, Refusal, Service};
use lasthop_scenario::Draft;
use std::path::{Path, PathBuf};

/// What is good to know of it.
const MORE: &str = "\
FILE is found out to be one of:
  csv        times and rates: any table, by --time, --rate and --unit; the 4G and 5G data sets' logs by themselves
  mahimahi   opportunities to send, one a line, ms
  iperf3     what iperf3 --json prints
  ping       what ping prints, also as JSON; tables of timestamp and rtt
  pcap       pcap or pcapng: one TCP connection's rate, round trips, losses and queue
  losses     0 and 1 for each packet; with --packets N the numbers of those lost
A folder is one of CellReplay's recordings: light and heavy traces of both directions.
What the file does not tell is assumed, or given by --link-rate, --up-rate, --rtt and --queue; the scenario says of each
value how it is known. docs/import.md has the rest.";

/// Make a scenario of a recording: rates over time, pings, a capture, a record of losses.
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Import {
    /// The recording, or the folder of CellReplay's
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The same for the other direction: a table, or a trace of Mahimahi's
    #[arg(long, value_name = "FILE")]
    up: Option<PathBuf>,
    /// The scenario to write; FILE's name with .toml, here, by default. Traces stand beside it
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// What the recording is; found out by default
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// The column of time: its name, or its number from 1
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// The unit of that column: s, ms, us or ns
    #[arg(long, value_name = "UNIT")]
    time_unit: Option<String>,
    /// The column of the rate: its name, or its number from 1
    #[arg(long, value_name = "COLUMN")]
    rate: Option<String>,
    /// The unit of that column: Mbit/s, kbit/s, MB/s …
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// Of a capture: another connection than the largest, by its number in order of size, or a part of its addresses
    #[arg(long, value_name = "N|TEXT")]
    flow: Option<String>,
    /// Of a capture: write the course of what came through as a trace, instead of one rate
    #[arg(long)]
    varying: bool,
    /// The file lists the lost packets by number, out of so many
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000))]
    packets: Option<u64>,
    /// The model of losses to write; the best one by default
    #[arg(long, value_name = "MODEL", value_parser = models())]
    model: Option<Model>,
    /// The link's rate down, if the recording tells none
    #[arg(long, value_name = "RATE", value_parser = rate)]
    link_rate: Option<String>,
    /// The link's rate up, if the recording tells none
    #[arg(long, value_name = "RATE", value_parser = rate)]
    up_rate: Option<String>,
    /// The round-trip time without queueing, if the recording tells none
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    rtt: Option<Duration>,
    /// The queue down, if the recording tells none: 100packets, 64KB, 1bdp
    #[arg(long, value_name = "AMOUNT")]
    queue: Option<String>,
}

fn formats() -> impl TypedValueParser<Value = Format> {
    let parse =
        |name: &str| Format::named(name).ok_or_else(|| known(Format::ALL.iter().map(|(_, name)| *name)));
    Named { names: || Format::ALL.iter().map(|(_, name)| *name).collect(), parse }
}

fn models() -> impl TypedValueParser<Value = Model> {
    let parse =
        |name: &str| Model::named(name).ok_or_else(|| known(Model::ALL.iter().map(|(_, name)| *name)));
    Named { names: || Model::ALL.iter().map(|(_, name)| *name).collect(), parse }
}

fn known<'n>(names: impl Iterator<Item = &'n str>) -> String {
    format!("expected one of {}", names.collect::<Vec<_>>().join(", "))
}

/// A rate as it was written, if it is one.
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
                    format!("the recording `{}` would be written over", shown(made)),
                    "give the scenario another name: --out NAME.toml",
                ));
            }
        }
        let (mut down, mut up) = (Target::create(&down_name)?, Target::create(&up_name)?);
        let ask = self.ask();
        let found = lasthop_import::read(&self.file, &ask, &mut down, &mut up).map_err(refused)?;
        let [down_shown, up_shown] = [&down_name, &up_name].map(|path| file_name(path));
        let text = |found: &Found| found.scenario(&ask, &file_name(&self.file), [&down_shown, &up_shown]);
        // What is written is what `run` takes, or the message says why not: a queue or a rate that was given may be none.
        // The traces need not be read for that.
        Draft::parse(&text(&without_traces(&found)), &out.display().to_string())?.check()?;
        let text = text(&found);
        let mut written = Vec::new();
        for (service, target) in [(&found.down, down), (&found.up, up)] {
            if service.as_ref().is_some_and(|said| matches!(said.value, Service::Trace { .. })) {
                written.push(target.path().to_owned());
                target.finish()?;
            }
        }
        for (name, light) in [(&down_name, &found.lights[0]), (&up_name, &found.lights[1])] {
            for (ending, text) in light.iter().flat_map(tables) {
                let path = PathBuf::from(format!("{}.{ending}", name.display()));
                Target::create(&path)?.write_and_finish(text)?;
                written.push(path);
            }
        }
        Target::create(&out)?.write_and_finish(&text)?;
        output::print(&format!("{}: {}\n", shown(&self.file), output::plain(&found.kind)))?;
        for line in &found.says {
            output::print(&format!("  {}\n", output::plain(line)))?;
        }
        if !found.fit.is_empty() {
            let lines: String = found.fit.iter().map(|line| format!("  {}\n", line.trim_end())).collect();
            output::print(&format!("\n{lines}"))?;
        }
        output::print(&format!("\n{}\n", summary(&text)))?;
        for path in written {
            output::note(&format!("{}: the trace", shown(&path)));
        }
        let shown = shown(&out);
        output::note(&format!("{shown}: the scenario; try: lasthop run {shown}, or lasthop advise {shown}"));
        Ok(())
    }

    /// Where the scenario goes. A name of our own choice is not written over.
    fn target(&self) -> Result<PathBuf, Failure> {
        if let Some(out) = &self.out {
            return Ok(out.clone());
        }
        let stem = self
            .file
            .file_stem()
            .map_or_else(|| "imported".into(), |stem| stem.to_string_lossy().into_owned());
        let out = PathBuf::from(format!("{stem}.toml"));
        match out.exists() {
            false => Ok(out),
            true => Err(Failure::bad_input(
                format!("`{}` is there already", shown(&out)),
                "name the scenario: --out NAME.toml",
            )),
        }
    }

    fn ask(&self) -> Ask {
        Ask {
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

/// What stands beside a trace: endings and texts.
fn tables(light: &Light) -> Vec<(&'static str, &str)> {
    let sizes = light.sizes.as_deref().map(|text| ("sizes", text));
    [("light", light.text.as_str())].into_iter().chain(sizes).collect()
}

/// With mean rates in the place of traces.
fn without_traces(found: &Found) -> Found {
    let mut found = Found { lights: [None, None], ..found.clone() };
    for said in [&mut found.down, &mut found.up].into_iter().flatten() {
        said.value = Service::Rate(said.value.mean().max(1000.0));
    }
    found
}

/// Values of the path with how they are known, from the scenario's own text.
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

/// A file's name on one line.
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

fn refused(Refusal { message, help }: Refusal) -> Failure {
    Failure::bad_input(message, help)
}

//! Command `lasthop results FILE`: lists, filters and exports the contents of a sweep's store, and merges stores.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::rounded;
use crate::table;
use crate::values::{self, Choices};
use clap::{Args, ValueEnum};
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_lab::runs::classes::is_named;
use lasthop_scenario::nearest;
use lasthop_sweep::results::{self, BaseRuns, ResultSelection, TableRows};
use lasthop_sweep::store::{Combination, Contents, Error, Store, StoreReader, StoredSweep};
use std::path::PathBuf;

const MORE: &str = "\
--format csv prints one row per run and flow: lasthop results FILE --format csv > runs.csv
The Python package writes Parquet: --format parquet prints the command";

/// Show the contents of a sweep's store: list, filter or export the runs, or merge shards
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Results {
    /// File written by `lasthop sweep --store`
    store: PathBuf,
    /// Number of the sweep to show; all sweeps by default
    #[arg(long, value_name = "N")]
    sweep: Option<i64>,
    /// Only points with one of these values: recovery=sack,reno
    #[arg(long = "where", value_name = "PATH=A,B")]
    filter: Vec<Choices>,
    /// Print differences from this value at the same values of the other keys, paired by seed: congestion=reno
    #[arg(long, value_name = "PATH=VALUE")]
    against: Vec<Choices>,
    /// Only this flow, or all replicas of this flow
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Metrics to print: goodput_kbps,timeouts; repeatable
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity)]
    metric: Vec<Quantity>,
    /// With --format csv: print link directions instead of flows
    #[arg(long, conflicts_with_all = ["flow", "metric"])]
    links: bool,
    /// Output format
    #[arg(long, value_enum, default_value = "table")]
    format: ResultsFormat,
    /// First merge these stores into STORE, which is created if missing
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
}

/// Output format of results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum ResultsFormat {
    /// Aligned table
    Table,
    /// One JSON object per line
    Json,
    /// CSV: a header line, then one row per run and flow
    Csv,
    /// Print the command with which the Python package writes Parquet
    Parquet,
}

impl Results {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let format = self.format()?;
        if self.links && format != Format::Csv {
            return Err(Failure::bad_input(
                "--links needs --format csv",
                "JSON includes links and flows: --format json",
            ));
        }
        if !self.against.is_empty() && format == Format::Csv {
            return Err(Failure::bad_input(
                "--against needs means, and CSV has one row per run",
                "choose --format table or json",
            ));
        }
        values::refuse_invalid("--against", self.against.iter())?;
        if let Some(Choices { path, values }) = self.against.iter().find(|it| it.values.len() > 1) {
            return Err(Failure::bad_input(
                format!("--against has {} values of `{path}`", values.len()),
                format!("give one value: --against {path}={}", values[0]),
            ));
        }
        self.merge()?;
        let reader = StoreReader::open(&self.store)?;
        let contents = reader.contents();
        let sweeps = self.sweeps(&contents, format)?;
        let wanted = ResultSelection {
            quantities: self.metric.clone(),
            flow: self.flow.clone(),
            filter: self.filter.iter().map(Variation::from).collect(),
            against: self.against.iter().map(Variation::from).collect(),
        };
        self.refuse_unknown(&sweeps)?;
        self.refuse_unknown_value(&contents, &sweeps)?;
        self.refuse_unknown_flow(&contents)?;
        for (at, sweep) in sweeps.iter().enumerate() {
            if at > 0 && format == Format::Table {
                output::print("\n")?;
            }
            if self.links {
                links(&contents, sweep, &wanted)?
            } else {
                show_sweep(&contents, sweep, &wanted, format)?
            }
        }
        Ok(())
    }

    /// Returns the format, or the error for Parquet. Only the Python package writes Parquet: compiling a Rust library
    /// for Parquet would take half as long as compiling this whole program.
    fn format(&self) -> Result<Format, Failure> {
        match self.format {
            ResultsFormat::Table => Ok(Format::Table),
            ResultsFormat::Json => Ok(Format::Json),
            ResultsFormat::Csv => Ok(Format::Csv),
            ResultsFormat::Parquet => {
                let store = quoted(&self.store.display().to_string());
                let sweep = self.sweep.map_or(String::new(), |number| format!(", {number}"));
                Err(Failure::bad_input(
                    "only the Python package writes Parquet",
                    format!(
                        "pip install . pyarrow; then: python3 -c \"import lasthop; \
                         lasthop.read_store({store}{sweep}).to_parquet('runs.parquet')\""
                    ),
                ))
            }
        }
    }

    fn merge(&self) -> Result<(), Failure> {
        if self.merge.is_empty() {
            return Ok(());
        }
        // Opens each store first, so that a wrong name is reported before STORE is created.
        for other in &self.merge {
            StoreReader::open(other)?;
        }
        let mut store = Store::open(&self.store)?;
        for other in &self.merge {
            let merged = store.merge(other)?;
            let known =
                if merged.known > 0 { format!(", {} known already", merged.known) } else { String::new() };
            output::note(&format!("{}: {} new runs{known}", other.display(), merged.new));
        }
        store.close();
        Ok(())
    }

    fn sweeps(&self, contents: &Contents<'_>, format: Format) -> Result<Vec<StoredSweep>, Failure> {
        let all = contents.sweeps()?;
        let (count, shown) = (all.len(), self.store.display());
        let Some(number) = self.sweep else {
            return match (count, format) {
                (2.., Format::Csv) => Err(Failure::bad_input(
                    format!("`{shown}` has {count} sweeps with different columns"),
                    "choose a sweep, like --sweep 1; `lasthop results` lists the sweeps",
                )),
                _ => Ok(all),
            };
        };
        let found: Vec<StoredSweep> = all.into_iter().filter(|sweep| sweep.number == number).collect();
        if found.is_empty() {
            Err(Failure::bad_input(
                format!("`{shown}` has no sweep {number}"),
                format!("number of sweeps in the store: {count}; `lasthop results` lists the sweeps"),
            ))
        } else {
            Ok(found)
        }
    }

    /// Refuses a filter or baseline (`--against`) for a key that no sweep varies.
    fn refuse_unknown(&self, sweeps: &[StoredSweep]) -> Result<(), Failure> {
        let paths = || sweeps.iter().flat_map(|sweep| &sweep.paths);
        match self.filter.iter().chain(&self.against).find(|wanted| !paths().any(|path| *path == wanted.path))
        {
            Some(wanted) => {
                let known: Vec<&str> = paths().map(String::as_str).collect();
                let help = if known.is_empty() {
                    "no key varies in the store".to_owned()
                } else {
                    format!("varied keys: {}", known.join(", "))
                };
                Err(Failure::bad_input(format!("no sweep varies `{}`", wanted.path), help))
            }
            None => Ok(()),
        }
    }

    /// Refuses a filter or baseline (`--against`) with a value that no point has.
    fn refuse_unknown_value(&self, contents: &Contents<'_>, sweeps: &[StoredSweep]) -> Result<(), Failure> {
        for wanted in self.filter.iter().chain(&self.against).map(Variation::from) {
            let mut known: Vec<String> = Vec::new();
            for sweep in sweeps {
                let Some(at) = sweep.paths.iter().position(|path| *path == wanted.path) else { continue };
                for combination in contents.combinations(sweep.number)? {
                    let value = &combination.x[at];
                    if !known.contains(value) {
                        known.push(value.clone());
                    }
                }
            }
            let Some(value) = wanted.values.iter().find(|value| !known.contains(value)) else { continue };
            let meant = nearest(value, known.iter().map(String::as_str))
                .map_or(String::new(), |meant| format!("did you mean `{meant}`? "));
            return Err(Failure::bad_input(
                format!("no point has {} = {value}", wanted.path),
                format!("{meant}values in the store: {}", known.join(", ")),
            ));
        }
        Ok(())
    }

    fn refuse_unknown_flow(&self, contents: &Contents<'_>) -> Result<(), Failure> {
        let Some(flow) = &self.flow else { return Ok(()) };
        let known = contents.flows()?;
        if known.iter().any(|name| is_named(name, flow)) {
            Ok(())
        } else {
            Err(Failure::bad_input(format!("unknown flow `{flow}`"), format!("flows: {}", known.join(", "))))
        }
    }
}

/// Returns the text as a Python string literal for use between a shell's double quotes.
fn quoted(text: &str) -> String {
    let escape = |c: char| match c {
        '\'' => "\\'".to_owned(),
        '\\' | '"' | '$' | '`' => format!("\\x{:02x}", u32::from(c)),
        c => c.to_string(),
    };
    format!("'{}'", text.chars().map(escape).collect::<String>())
}

pub(crate) fn show(
    contents: &Contents<'_>,
    sweep: i64,
    wanted: &ResultSelection,
    format: Format,
) -> Result<(), Failure> {
    match contents.sweeps()?.iter().find(|known| known.number == sweep) {
        Some(sweep) => show_sweep(contents, sweep, wanted, format),
        None => Ok(()),
    }
}

fn show_sweep(
    contents: &Contents<'_>,
    sweep: &StoredSweep,
    wanted: &ResultSelection,
    format: Format,
) -> Result<(), Failure> {
    let all = contents.combinations(sweep.number)?;
    let combinations = || all.iter().filter(|combination| wanted.selects(sweep, combination));
    let base = |combination| results::base(sweep, &all, combination, &wanted.against);
    match format {
        Format::Table => {
            let mut rows = TableRows::of(sweep, wanted);
            let numbers = contents.of_flows(&rows.names())?;
            contents.with_snapshot(|| {
                combinations().try_for_each(|combination| {
                    let runs = |of: &Combination| contents.runs_with(&of.digest, &numbers);
                    let base = base(combination).map(runs).transpose()?;
                    rows.add(combination, &runs(combination)?, base.as_deref());
                    Ok::<_, Error>(())
                })
            })?;
            output::print(&(output::prose(&heading(sweep)) + &table::text(&rows.table())))
        }
        Format::Csv => {
            output::print(&results::flow_header(&sweep.paths, wanted))?;
            combinations().try_for_each(|combination| {
                output::print(&results::flow_rows(
                    combination,
                    &contents.runs(&combination.digest, true)?,
                    wanted,
                ))
            })
        }
        Format::Json => {
            for combination in combinations() {
                let runs = |of: &Combination| contents.runs(&of.digest, true);
                let base = base(combination).map(|it| Ok::<_, Error>((it, runs(it)?))).transpose()?;
                let base = base.as_ref().map(|(combination, runs)| BaseRuns { combination, runs });
                for object in results::objects(sweep, combination, &runs(combination)?, base, wanted) {
                    output::print_line(&object.to_string())?;
                }
            }
            Ok(())
        }
    }
}

fn links(contents: &Contents<'_>, sweep: &StoredSweep, wanted: &ResultSelection) -> Result<(), Failure> {
    output::print(&results::link_header(&sweep.paths))?;
    for combination in
        contents.combinations(sweep.number)?.iter().filter(|combination| wanted.selects(sweep, combination))
    {
        output::print(&results::link_rows(combination, &contents.runs(&combination.digest, true)?))?;
    }
    Ok(())
}

fn heading(sweep: &StoredSweep) -> String {
    let StoredSweep { number, title, combinations, done, failed, wall_s, engines, .. } = sweep;
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!(
        "sweep {number}: {title}\n{}, {}{failed}, {} on one thread; means ± half of the 95 % interval\nengine {}\n\n",
        count(*combinations, "point"),
        count(*done, "run"),
        rounded::time(*wall_s),
        engines.join(", ")
    )
}

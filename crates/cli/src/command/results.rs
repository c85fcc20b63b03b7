//! `lasthop results STORE`.

use crate::failure::Failure;
use crate::output::{self, Format};
use crate::spoken;
use crate::table;
use crate::values::{self, Choices};
use clap::Args;
use lasthop_lab::compare::{Quantity, Variation};
use lasthop_sweep::results::{self, Rows, Wanted};
use lasthop_sweep::store::{Contents, Reader, Store, Sweep};
use std::path::PathBuf;

/// What is good to know of it.
const MORE: &str = "\
--format csv has a row for each run and flow: lasthop results FILE --format csv > runs.csv
It writes no Parquet; of these rows pandas does: read_csv('runs.csv').to_parquet('runs.parquet')";

/// Show what is in a sweep's store: list, filter, export, merge shards.
#[derive(Args)]
#[command(after_help = MORE)]
pub(crate) struct Results {
    /// The file that `lasthop sweep --store` made
    store: PathBuf,
    /// One sweep of several, by its number; all by default
    #[arg(long, value_name = "N")]
    sweep: Option<i64>,
    /// Only points with one of these values: recovery=sack,reno
    #[arg(long = "where", value_name = "PATH=A,B")]
    filter: Vec<Choices>,
    /// Only this flow
    #[arg(long, value_name = "NAME")]
    flow: Option<String>,
    /// Which numbers: goodput_kbps,timeouts; once or more
    #[arg(long, value_name = "A,B,C", value_delimiter = ',', value_parser = values::quantity)]
    metric: Vec<Quantity>,
    /// With --format csv: directions of links instead of flows
    #[arg(long, conflicts_with_all = ["flow", "metric"])]
    links: bool,
    /// How to print
    #[arg(long, value_enum, default_value = "table")]
    format: Format,
    /// Add what these stores have first; STORE is made if it is not there
    #[arg(long, value_name = "FILE", num_args = 1..)]
    merge: Vec<PathBuf>,
}

impl Results {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if self.links && self.format != Format::Csv {
            return Err(Failure::bad_input(
                "--links is about --format csv",
                "JSON has links beside flows: --format json",
            ));
        }
        self.merge()?;
        let reader = Reader::open(&self.store)?;
        let contents = reader.contents();
        let sweeps = self.sweeps(&contents)?;
        let wanted = Wanted {
            quantities: self.metric.clone(),
            flow: self.flow.clone(),
            filter: self.filter.iter().map(Variation::from).collect(),
        };
        self.refuse_unknown(&sweeps)?;
        self.refuse_unknown_flow(&contents)?;
        for (at, sweep) in sweeps.iter().enumerate() {
            if at > 0 && self.format == Format::Table {
                output::print("\n")?;
            }
            match self.links {
                true => links(&contents, sweep, &wanted)?,
                false => one(&contents, sweep, &wanted, self.format)?,
            }
        }
        Ok(())
    }

    fn merge(&self) -> Result<(), Failure> {
        if self.merge.is_empty() {
            return Ok(());
        }
        // A mistake in a name shows before anything is made.
        for other in &self.merge {
            Reader::open(other)?;
        }
        let mut store = Store::open(&self.store)?;
        for other in &self.merge {
            let merged = store.merge(other)?;
            let known =
                if merged.known > 0 { format!(", {} were there", merged.known) } else { String::new() };
            output::note(&format!("{}: {} new runs{known}", other.display(), merged.new));
        }
        store.close();
        Ok(())
    }

    /// Those that are meant.
    fn sweeps(&self, contents: &Contents<'_>) -> Result<Vec<Sweep>, Failure> {
        let all = contents.sweeps()?;
        let (count, shown) = (all.len(), self.store.display());
        let Some(number) = self.sweep else {
            return match (count, self.format) {
                (2.., Format::Csv) => Err(Failure::bad_input(
                    format!("`{shown}` has {count} sweeps, whose columns differ"),
                    "choose one, like --sweep 1; `lasthop results` lists them",
                )),
                _ => Ok(all),
            };
        };
        let found: Vec<Sweep> = all.into_iter().filter(|sweep| sweep.number == number).collect();
        match found.is_empty() {
            true => Err(Failure::bad_input(
                format!("`{shown}` has no sweep {number}"),
                format!("it has {count}; `lasthop results` lists them"),
            )),
            false => Ok(found),
        }
    }

    /// A filter for a key that no sweep varies takes nothing, which nobody means.
    fn refuse_unknown(&self, sweeps: &[Sweep]) -> Result<(), Failure> {
        let paths = || sweeps.iter().flat_map(|sweep| &sweep.paths);
        match self.filter.iter().find(|wanted| !paths().any(|path| *path == wanted.path)) {
            Some(wanted) => {
                let known: Vec<&str> = paths().map(String::as_str).collect();
                let help = match known.is_empty() {
                    true => "nothing is varied there".to_owned(),
                    false => format!("varied are: {}", known.join(", ")),
                };
                Err(Failure::bad_input(format!("no sweep varies `{}`", wanted.path), help))
            }
            None => Ok(()),
        }
    }

    fn refuse_unknown_flow(&self, contents: &Contents<'_>) -> Result<(), Failure> {
        let Some(flow) = &self.flow else { return Ok(()) };
        let known = contents.flows()?;
        match known.contains(flow) {
            true => Ok(()),
            false => Err(Failure::bad_input(
                format!("no flow is called `{flow}`"),
                format!("there are: {}", known.join(", ")),
            )),
        }
    }
}

/// Prints a sweep of a store, by its number.
pub(crate) fn show(
    contents: &Contents<'_>,
    sweep: i64,
    wanted: &Wanted,
    format: Format,
) -> Result<(), Failure> {
    match contents.sweeps()?.iter().find(|known| known.number == sweep) {
        Some(sweep) => one(contents, sweep, wanted, format),
        None => Ok(()),
    }
}

fn one(contents: &Contents<'_>, sweep: &Sweep, wanted: &Wanted, format: Format) -> Result<(), Failure> {
    let mut rows = Rows::of(sweep, wanted);
    if format == Format::Csv {
        output::print(&results::flow_header(&sweep.paths, wanted))?;
    }
    for place in contents.places(sweep.number)?.iter().filter(|place| wanted.takes(sweep, place)) {
        let runs = contents.runs(&place.digest, true)?;
        match format {
            Format::Table => rows.add(place, &runs),
            Format::Csv => output::print(&results::flow_rows(place, &runs, wanted))?,
            Format::Json => {
                for object in results::objects(sweep, place, &runs, wanted) {
                    output::print_line(&object.to_string())?;
                }
            }
        }
    }
    match format {
        Format::Table => output::print(&(heading(sweep) + &table::text(&rows.table()))),
        _ => Ok(()),
    }
}

fn links(contents: &Contents<'_>, sweep: &Sweep, wanted: &Wanted) -> Result<(), Failure> {
    output::print(&results::link_header(&sweep.paths))?;
    for place in contents.places(sweep.number)?.iter().filter(|place| wanted.takes(sweep, place)) {
        output::print(&results::link_rows(place, &contents.runs(&place.digest, true)?))?;
    }
    Ok(())
}

/// What ran, and what the numbers are.
fn heading(sweep: &Sweep) -> String {
    let Sweep { number, title, places, done, failed, wall_s, engines, .. } = sweep;
    let count = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let failed = if *failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!(
        "sweep {number}: {title}\n{}, {}{failed}, {} on one thread; means ± half of the 95 % interval\nengine {}\n\n",
        count(*places, "point"),
        count(*done, "run"),
        spoken::time(*wall_s),
        engines.join(", ")
    )
}

//! Implements `lasthop reproduce --again FILE`: reruns archived rows and compares the new rows byte for byte.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::items;
use crate::output;
use crate::provenance::Provenance;
use lasthop_lab::papers::{self, Paper, ReproductionSettings};
use lasthop_lab::repeat::on_threads;
use lasthop_lab::study::run_store::RunStore;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// Provenance fields of a row.
#[derive(Deserialize, PartialEq)]
struct Origin {
    paper: String,
    version: String,
    seed: u64,
    quick: bool,
    digest: String,
    command: String,
}

struct Archived {
    origin: Origin,
    rows: Vec<String>,
}

/// Reruns every row of a file written by `reproduce --format json` and compares the new row with the archived row.
/// Stored results are not used.
///
/// # Errors
/// If the file is unreadable or has other contents, or if a row differs.
pub(crate) fn run(file: &Path, jobs: Option<usize>) -> Result<(), Failure> {
    let mut differing = 0;
    for archived in read(file)? {
        let Origin { paper: name, version, seed, quick, digest, .. } = &archived.origin;
        let paper = paper(&archived.origin)?;
        if paper.study.digest()? != *digest {
            output::note(&format!("{name}: the paper's files have changed, so expect other numbers"));
        }
        let settings = ReproductionSettings { quick: *quick, seed: *seed };
        let reproduction =
            on_threads(jobs, || paper.reproduce(&settings, &RunStore::none(), &Bar::default()))?;
        let provenance = Provenance::new(&paper.study.source.origin(), paper.study.digest()?, &settings);
        let now = items::json(&reproduction.items, &provenance);
        let now: Vec<&str> = now.lines().collect();
        let then = &archived.rows;
        let differing_rows: Vec<(&str, &str)> = then
            .iter()
            .zip(&now)
            .map(|(then, now)| (then.as_str(), *now))
            .filter(|(then, now)| compared(then) != compared(now))
            .collect();
        let missing = then.len().abs_diff(now.len());
        let count = then.len();
        match differing_rows.len() + missing {
            0 => output::print_line(&format!(
                "{name}: {count} rows, all byte for byte the same as in {version}"
            ))?,
            several => {
                differing += several;
                let rows = format!("{name}: {several} of {count} rows differ from those of {version}");
                let first = differing_rows.first().map_or(
                    format!("the file has {count} rows, and this run gave {}", now.len()),
                    |(then, now)| format!("the first difference:\n  then: {then}\n  now:  {now}"),
                );
                output::print_line(&format!("{rows}; {first}"))?;
            }
        }
    }
    match differing {
        0 => Ok(()),
        _ => Err(Failure::failed(
            format!("number of archived rows that differ: {differing}"),
            "rows are equal if the version and the paper's files are equal; CHANGELOG.md lists the changes of results",
        )),
    }
}

/// Returns a row without the fields `version` and `digest`, because these two fields describe only the row's origin.
fn compared(row: &str) -> String {
    let mut rest = row.to_owned();
    for key in ["\"version\":\"", "\"digest\":\""] {
        if let Some(begin) = rest.rfind(key)
            && let Some(length) = rest[begin + key.len()..].find('"')
        {
            rest.replace_range(begin..begin + key.len() + length + 1, "");
        }
    }
    rest
}

fn read(file: &Path) -> Result<Vec<Archived>, Failure> {
    let name = file.display();
    let text = fs::read_to_string(file).map_err(|error| {
        Failure::bad_input(
            format!("cannot read `{name}`: {error}"),
            "name a file written by `lasthop reproduce --format json > FILE`",
        )
    })?;
    let mut archived: Vec<Archived> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let origin: Origin = serde_json::from_str(line).map_err(|error| {
            Failure::bad_input(
                format!(
                    "line {number} of `{name}` is not a row of `lasthop reproduce --format json`: {error}"
                ),
                "a row is an object with the keys paper, version, seed, quick, digest and command",
            )
        })?;
        match archived.last_mut() {
            Some(last) if last.origin == origin => last.rows.push(line.to_owned()),
            _ => archived.push(Archived { origin, rows: vec![line.to_owned()] }),
        }
    }
    if archived.is_empty() {
        Err(Failure::bad_input(
            format!("`{name}` has no rows"),
            "name a file written by `lasthop reproduce --format json > FILE`",
        ))
    } else {
        Ok(archived)
    }
}

/// Returns the paper that the command of the archived rows names: a built-in paper, or the paper in a folder.
fn paper(origin: &Origin) -> Result<Paper, Failure> {
    let folder = origin.command.strip_prefix("lasthop reproduce ").unwrap_or(&origin.paper);
    let folder = folder.split(" --").next().unwrap_or(folder);
    let named = papers::NAMES.iter().find(|name| **name == folder).and_then(|name| Paper::named(name));
    Ok(match named {
        Some(paper) => paper?,
        None => Paper::in_folder(Path::new(folder))?,
    })
}

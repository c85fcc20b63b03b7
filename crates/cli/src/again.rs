//! `lasthop reproduce --again FILE`: archived rows are measured again and compared byte for byte.

use crate::bar::Bar;
use crate::failure::Failure;
use crate::items;
use crate::output;
use crate::provenance::Provenance;
use lasthop_lab::papers::{self, Paper, Settings};
use lasthop_lab::repeat::on_threads;
use lasthop_lab::study::store::Store;
use serde::Deserialize;
use std::fs;
use std::path::Path;

/// What a row says of where it is from.
#[derive(Deserialize, PartialEq)]
struct Origin {
    paper: String,
    version: String,
    seed: u64,
    quick: bool,
    digest: String,
    command: String,
}

/// The rows of one paper, as they were printed.
struct Archived {
    origin: Origin,
    rows: Vec<String>,
}

/// Runs all that a file of rows (`reproduce --format json`) has, everything anew, and compares.
///
/// # Errors
/// If the file cannot be read or is none of rows; if a row is not the same.
pub(crate) fn run(file: &Path, jobs: Option<usize>) -> Result<(), Failure> {
    let mut differing = 0;
    for archived in read(file)? {
        let Origin { paper: name, version, seed, quick, digest, .. } = &archived.origin;
        let paper = paper(&archived.origin)?;
        if paper.study.digest()? != *digest {
            output::note(&format!(
                "{name}: its files are not those of then: other numbers are to be expected"
            ));
        }
        let settings = Settings { quick: *quick, seed: *seed };
        let reproduction = on_threads(jobs, || paper.reproduce(&settings, &Store::none(), &Bar::default()))?;
        let provenance = Provenance::new(&paper.study.source.origin(), paper.study.digest()?, &settings);
        let now = items::json(&reproduction.items, &provenance);
        let now: Vec<&str> = now.lines().collect();
        let then = &archived.rows;
        let apart: Vec<(&str, &str)> = then
            .iter()
            .zip(&now)
            .map(|(then, now)| (then.as_str(), *now))
            .filter(|(then, now)| compared(then) != compared(now))
            .collect();
        let missing = then.len().abs_diff(now.len());
        let count = then.len();
        match apart.len() + missing {
            0 => {
                output::print_line(&format!("{name}: {count} rows, the same byte for byte as by {version}"))?
            }
            several => {
                differing += several;
                let rows = format!("{name}: {several} of {count} rows are not the same as by {version}");
                let first = apart.first().map_or(
                    format!("there were {count} rows and there are {} now", now.len()),
                    |(then, now)| format!("the first of them\n  then: {then}\n  now:  {now}"),
                );
                output::print_line(&format!("{rows}; {first}"))?;
            }
        }
    }
    match differing {
        0 => Ok(()),
        _ => Err(Failure::failed(
            format!("archived rows that came out otherwise: {differing}"),
            "rows are the same for the same version and the same files of a paper; CHANGELOG.md says what moved since",
        )),
    }
}

/// A row less the program's version and the digest of the files: these say where it is from.
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
            "name a file that `lasthop reproduce --format json > FILE` has written",
        )
    })?;
    let mut archived: Vec<Archived> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let origin: Origin = serde_json::from_str(line).map_err(|error| {
            Failure::bad_input(
                format!("line {number} of `{name}` is no row of `lasthop reproduce --format json`: {error}"),
                "a row is an object with paper, version, seed, quick, digest and command",
            )
        })?;
        match archived.last_mut() {
            Some(last) if last.origin == origin => last.rows.push(line.to_owned()),
            _ => archived.push(Archived { origin, rows: vec![line.to_owned()] }),
        }
    }
    match archived.is_empty() {
        true => Err(Failure::bad_input(
            format!("`{name}` has no rows"),
            "name a file that `lasthop reproduce --format json > FILE` has written",
        )),
        false => Ok(archived),
    }
}

/// The paper of archived rows: a folder, if their command names one.
fn paper(origin: &Origin) -> Result<Paper, Failure> {
    let folder = origin.command.strip_prefix("lasthop reproduce ").unwrap_or(&origin.paper);
    let folder = folder.split(" --").next().unwrap_or(folder);
    let named = papers::NAMES.iter().find(|name| **name == folder).and_then(|name| Paper::named(name));
    Ok(match named {
        Some(paper) => paper?,
        None => Paper::in_folder(Path::new(folder))?,
    })
}

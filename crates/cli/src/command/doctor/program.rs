//! Facts about the program: version, simulation engine (identified by a hash of its sources), file, and whether stores
//! and pages were made by another engine.

use crate::command::lab;
use crate::failure::Failure;
use crate::provenance;
use lasthop_sweep::digest::ENGINE;
use lasthop_sweep::store::StoreReader;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(super) struct Fact {
    /// Name of the fact, or path of the file.
    pub(super) name: String,
    /// Value of the fact, or description of the file, in words.
    pub(super) found: String,
    /// Whether the file was made by this program's engine; `None` for facts about the program.
    pub(super) is_of_this_engine: Option<bool>,
}

impl Fact {
    fn of_program(name: &str, found: String) -> Fact {
        Fact { name: name.to_owned(), found, is_of_this_engine: None }
    }
}

/// Returns facts about this program, and about other programs called `lasthop` in the directories of PATH.
pub(super) fn facts() -> Vec<Fact> {
    let mut facts =
        vec![Fact::of_program("version", provenance::version()), Fact::of_program("engine", ENGINE.clone())];
    let Ok(program) = env::current_exe() else { return facts };
    let origin = origin(&program).map_or(String::new(), |origin| format!(", {origin}"));
    facts.push(Fact::of_program("program", format!("{}{origin}", program.display())));
    for other in others(&program, &env::var_os("PATH").unwrap_or_default()) {
        let found = format!("{}: {}", other.display(), version_of(&other));
        facts.push(Fact::of_program("also in PATH", found));
    }
    facts
}

/// Returns the method of installation, derived from the program's path. Returns `None` if the method is unknown.
fn origin(program: &Path) -> Option<&'static str> {
    let folder = program.parent()?;
    let ends_with = |end: &str| folder.ends_with(end);
    if ends_with("target/release") || ends_with("target/quick") || ends_with("target/debug") {
        Some("built in a clone")
    } else if folder.parent().is_some_and(|above| above.join("pyvenv.cfg").is_file()) {
        Some("of a Python environment")
    } else if ends_with(".cargo/bin") {
        Some("installed by cargo")
    } else {
        None
    }
}

/// Returns the other files called `lasthop` in the directories of PATH. Links to this program are omitted.
fn others(program: &Path, path: &std::ffi::OsStr) -> Vec<PathBuf> {
    let this = fs::canonicalize(program).ok();
    let name = format!("lasthop{}", env::consts::EXE_SUFFIX);
    let mut found = Vec::new();
    for folder in env::split_paths(path) {
        let Ok(file) = fs::canonicalize(folder.join(&name)) else { continue };
        if Some(&file) != this.as_ref() && !found.contains(&file) {
            found.push(file);
        }
    }
    found
}

fn version_of(program: &Path) -> String {
    let output = Command::new(program).arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    text.ok().filter(|text| !text.is_empty()).unwrap_or_else(|| "does not run".to_owned())
}

/// Reports whether this program's simulation engine made the results in a sweep's store, or a page of `lasthop lab`.
///
/// # Errors
/// Fails if the file cannot be read, or if the file is neither a store nor a page of `lasthop lab`.
pub(super) fn file(path: &Path) -> Result<Fact, Failure> {
    let name = path.display().to_string();
    if path.extension().is_some_and(|end| end.eq_ignore_ascii_case("html")) {
        let text = fs::read_to_string(path).map_err(|error| {
            Failure::bad_input(format!("cannot read `{name}`: {error}"), "choose a page of `lasthop lab`")
        })?;
        let Some(engine) = lab::engine_of(&text) else {
            return Err(Failure::bad_input(
                format!("the page `{name}` does not say which engine it contains"),
                "choose a page that `lasthop lab` wrote, or a sweep's store",
            ));
        };
        let is_same = engine == *ENGINE;
        let found = if is_same {
            "page of this engine".to_owned()
        } else {
            format!(
                "page of another engine, {engine}: its numbers may differ; write it again: lasthop lab --export"
            )
        };
        return Ok(Fact { name, found, is_of_this_engine: Some(is_same) });
    }
    let reader = StoreReader::open(path)?;
    let mut engines: Vec<String> =
        reader.contents().sweeps()?.into_iter().flat_map(|sweep| sweep.engines).collect();
    engines.sort();
    engines.dedup();
    let others: Vec<&str> = engines.iter().map(String::as_str).filter(|engine| *engine != *ENGINE).collect();
    let found = match (engines.is_empty(), others.is_empty()) {
        (true, _) => "store without runs".to_owned(),
        (false, true) => "store of this engine".to_owned(),
        (false, false) => {
            format!("store with runs of {}: a sweep with this program repeats those runs", others.join(", "))
        }
    };
    Ok(Fact { name, found, is_of_this_engine: Some(others.is_empty()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_tells_how_the_program_was_installed() {
        let folder = tempfile::tempdir().expect("a folder");
        let bin = folder.path().join("venv/bin");
        fs::create_dir_all(&bin).expect("a folder");
        fs::write(folder.path().join("venv/pyvenv.cfg"), "").expect("a file");
        assert_eq!(origin(&bin.join("lasthop")), Some("of a Python environment"));
        assert_eq!(origin(Path::new("/home/me/.cargo/bin/lasthop")), Some("installed by cargo"));
        assert_eq!(origin(Path::new("/home/me/lasthop/target/release/lasthop")), Some("built in a clone"));
        assert_eq!(origin(Path::new("/usr/local/bin/lasthop")), None);
    }

    #[test]
    fn other_programs_in_path_are_found_once_and_links_to_this_one_are_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let name = format!("lasthop{}", env::consts::EXE_SUFFIX);
        for place in ["this", "other"] {
            fs::create_dir(folder.path().join(place)).expect("a folder");
            fs::write(folder.path().join(place).join(&name), "").expect("a file");
        }
        let folders = ["other", "this", "absent", "other"].map(|place| folder.path().join(place));
        let path = env::join_paths(folders).expect("a list");
        let found = others(&folder.path().join("this").join(&name), &path);
        assert_eq!(found, [fs::canonicalize(folder.path().join("other").join(&name)).expect("a file")]);
    }
}

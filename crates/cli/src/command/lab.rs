//! Command `lasthop lab`: writes and opens the self-contained page with the simulator.

use crate::failure::Failure;
use crate::output;
use crate::scenario_args;
use crate::target::Target;
use clap::Args;
use lasthop_scenario::{Catalogue, Disk, FileSource};
use lasthop_sweep::digest::ENGINE;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

/// Self-contained page of the lab, built by `make page`.
const PAGE: &str = include_str!("../../lab.html");
/// Element of the page that holds the initial scenario as JSON.
const GIVEN: &str = "<script type=\"application/json\" id=\"given\">";

/// Title element of the page. The program inserts the name of its simulation engine before this element.
const TITLE: &str = "<title>";
/// Start of the `meta` element that names the simulation engine of the page. The engine's name follows this text.
const GENERATOR: &str = "<meta name=\"generator\" content=\"lasthop ";

/// Returns the name of the simulation engine from the `meta` element of a page.
pub(super) fn engine_of(page: &str) -> Option<&str> {
    page.split_once(GENERATOR)?.1.split('"').next()
}

/// Open the lab: an offline page with the simulator, where you change paths and mechanisms and see the effect at once
///
/// The page needs no network and sends nothing. If no browser opens, the command prints the path of the page.
///
/// Try: lasthop lab umts --export lab.html
#[derive(Args)]
pub(crate) struct Lab {
    /// Initial scenario: a file, the name of a ready path, or one line: rate=10Mbit/s,rtt=20ms,loss=1%
    path: Option<String>,
    /// Write the page to this file instead; any static host can serve the file
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        let page = match &self.path {
            Some(path) => Cow::Owned(page_with(path)?),
            None => Cow::Borrowed(PAGE),
        };
        let page = page.replacen(TITLE, &format!("{GENERATOR}{}\">\n{TITLE}", *ENGINE), 1);
        if let Some(file) = &self.export {
            return Target::create(file)?.write_and_finish(&page);
        }
        let file = folder()?.join("lab.html");
        Target::create(&file)?.write_and_finish(&page)?;
        if !open_in_browser(&file) {
            output::note("no browser opened; open this file in a browser:");
        }
        output::print(&format!("{}\n", file.display()))
    }
}

fn page_with(path: &str) -> Result<String, Failure> {
    let disk = Arc::new(RecordingDisk::default());
    let scenario =
        scenario_args::checked(&Catalogue { files: disk.clone(), ..Catalogue::default() }.load(path)?)?;
    let mut files = std::mem::take(&mut *disk.0.lock().unwrap_or_else(PoisonError::into_inner));
    // PATH may be a scenario file and, after a comma, changes of keys. The page looks for further files in the folder
    // of the scenario file.
    let name =
        [path, path.split(',').next().unwrap_or_default()].into_iter().find(|it| files.contains_key(*it));
    let name = name.filter(|_| !path.split(',').next().is_some_and(|first| first.contains('=')));
    let toml = name.and_then(|name| files.remove(name));
    let folder = name.and_then(|name| Path::new(name).parent()).unwrap_or(Path::new(""));
    let files: Vec<Value> = files
        .iter()
        .map(|(name, text)| {
            let beside = Path::new(name).strip_prefix(folder).unwrap_or(Path::new(name));
            json!([beside.to_string_lossy(), text])
        })
        .collect();
    let changes = name.map_or("", |name| path[name.len()..].trim_start_matches(','));
    let line = if toml.is_some() { changes } else { path };
    let given = json!({ "line": line, "toml": toml, "files": files,
                        "seed": scenario.seed.to_string(), "runs": scenario.runs });
    // Without `<`, the scenario's text cannot close the script element that holds the text.
    let given = given.to_string().replace('<', "\\u003c");
    Ok(PAGE.replacen(GIVEN, &format!("{GIVEN}{given}"), 1))
}

/// Reads files from disk, and records the contents of each file read.
#[derive(Debug, Default)]
struct RecordingDisk(Mutex<BTreeMap<String, String>>);

impl FileSource for RecordingDisk {
    fn exists(&self, name: &str) -> bool {
        Disk.exists(name)
    }

    fn read(&self, name: &str, largest: u64) -> Result<Vec<u8>, String> {
        let bytes = Disk.read(name, largest)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(name.to_owned(), text);
        Ok(bytes)
    }
}

fn folder() -> Result<PathBuf, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let folder = std::env::temp_dir().join(format!("lasthop-lab-{}-{now:x}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| {
        let message = format!("cannot create the folder `{}`: {error}", folder.display());
        Failure::failed(message, "choose a file for the page: lasthop lab --export lab.html")
    })?;
    Ok(folder)
}

/// Opens the page in the browser. Returns true if the system's program for opening files reports success. Returns false
/// if no graphical display is available.
fn open_in_browser(file: &Path) -> bool {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let mut opener = match std::env::consts::OS {
        "macos" => Command::new("open"),
        "windows" => Command::new("explorer"),
        _ if has_screen => Command::new("xdg-open"),
        _ => return false,
    };
    opener.arg(file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    opener.status().is_ok_and(|status| status.success())
}

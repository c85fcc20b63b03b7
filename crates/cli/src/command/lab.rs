//! `lasthop lab`.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

/// The whole page: it needs no network and no other file. `make page` builds it.
const PAGE: &str = include_str!("../../../page/lab.html");

/// Open the lab: a page with the engine in it, where paths and mechanisms are changed and seen at once
///
/// The page needs no network and sends nothing anywhere. Without a browser it prints where the page is.
#[derive(Args)]
pub(crate) struct Lab {
    /// Writes the page to this file instead: one file for any static host
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
}

impl Lab {
    pub(crate) fn execute(&self) -> Result<(), Failure> {
        if let Some(file) = &self.export {
            return write(file);
        }
        let file = folder()?.join("lab.html");
        write(&file)?;
        if !is_opened(&file) {
            output::note("no browser opened; open this file in one:");
        }
        output::print(&format!("{}\n", file.display()))
    }
}

fn write(file: &Path) -> Result<(), Failure> {
    Target::create(file)?.write_and_finish(PAGE)
}

/// A new folder for temporary files, which nobody else has made.
fn folder() -> Result<PathBuf, Failure> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let folder = std::env::temp_dir().join(format!("lasthop-lab-{}-{now:x}", std::process::id()));
    std::fs::create_dir(&folder).map_err(|error| {
        let message = format!("cannot make the folder `{}`: {error}", folder.display());
        Failure::failed(message, "write the page where you want it: lasthop lab --export lab.html")
    })?;
    Ok(folder)
}

/// Whether the system's program for pages has taken it. Without a screen none is asked.
fn is_opened(file: &Path) -> bool {
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

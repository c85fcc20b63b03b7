//! `lasthop agent` beside unmodified sockets of the kernel.
//!
//! Each test has network namespaces of its own: no address outside them is used. Where the machine lacks something, the
//! tests say so and do nothing.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

/// In real time: what waits more than it computes is called so, and `make test` runs it beside the others.
mod live {
    mod judges;
    mod kernel;
    pub mod path;
    mod pieces;
    mod planted;
    pub mod stopped;
    pub mod transfer;
    pub mod trust;
    mod windows;
}

use common::{lasthop, objects};
use live::path::{self, Path};
use live::{stopped, transfer, trust};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Whether this machine can run an agent; says what is missing if not.
fn can_run() -> bool {
    let output = lasthop().args(["doctor", "--format", "json"]).output().unwrap();
    let missing: Vec<String> = objects(&String::from_utf8(output.stdout).unwrap())
        .into_iter()
        .filter(|finding| finding["is_there"] != true && finding["name"] != "ip" && finding["name"] != "BPF")
        .map(|finding| format!("{}: {}", finding["name"], finding["found"]))
        .collect();
    if !missing.is_empty() {
        println!("skipped: this machine cannot run an agent: {}", missing.join("; "));
    }
    missing.is_empty()
}

/// Paths in real time must not take each other's processor; `None` if an agent cannot run here.
pub fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    can_run().then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// An agent in the client's namespace; killed with this if it still runs.
pub(crate) struct Agent {
    pub(crate) child: Child,
    /// What it said at its start.
    pub(crate) said: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Agent {
    /// Starts one and waits until it says that it runs.
    pub fn start(path: &Path, arguments: &[&str]) -> Agent {
        let folder = tempfile::tempdir().unwrap();
        let (child, said) = Agent::start_in(path, folder.path(), arguments).expect("the agent starts");
        Agent { child, said, folder }
    }

    /// The same in a given folder, with what it said; that alone if it does not start.
    pub fn start_in(
        path: &Path,
        folder: &std::path::Path,
        arguments: &[&str],
    ) -> Result<(Child, String), String> {
        let mut command = lasthop();
        command.args(["agent", "run", "--run-dir"]).arg(folder).args(arguments);
        Agent::begin(path, command)
    }

    /// The same with a command that is one.
    #[expect(clippy::zombie_processes, reason = "who gets the child waits for it")]
    pub fn begin(path: &Path, mut command: Command) -> Result<(Child, String), String> {
        command.stderr(Stdio::piped());
        let mut child = path.at_client(|| command.spawn().unwrap());
        let mut lines = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        loop {
            let before = said.len();
            if lines.read_line(&mut said).unwrap() == 0 {
                child.wait().unwrap();
                return Err(said);
            }
            if said[before..].contains("the agent runs") {
                // What it says at its end must find a reader.
                std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
                return Ok((child, said));
            }
        }
    }

    /// Its status.
    pub fn status(&self) -> serde_json::Map<String, serde_json::Value> {
        let folder = self.folder.path().to_str().unwrap();
        let text = common::stdout(&["agent", "status", "--format", "json", "--run-dir", folder]);
        objects(&text).remove(0)
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &pid]).status().unwrap().success());
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A path with a deep buffer, if this machine lets us make one.
pub fn deep_path() -> Option<Path> {
    Path::open("rate=10Mbit/s,rtt=20ms,queue=500packets")
}

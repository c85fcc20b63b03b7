//! `lasthop agent` with unmodified kernel sockets.
//!
//! Each test uses its own network namespaces, and no address outside these namespaces. A test that the machine cannot
//! run is skipped with a message.
#![cfg(target_os = "linux")]

#[path = "../common/mod.rs"]
mod common;

/// Tests in real time, which mostly wait. `make test` runs these tests in parallel with other tests.
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

fn can_run() -> bool {
    let output = lasthop().args(["doctor", "--format", "json"]).output().unwrap();
    let missing: Vec<String> = objects(&String::from_utf8(output.stdout).unwrap())
        .into_iter()
        .filter(|finding| finding.get("is_there").is_some_and(|is_there| *is_there != true))
        .filter(|finding| finding["name"] != "ip" && finding["name"] != "BPF")
        .map(|finding| format!("{}: {}", finding["name"], finding["found"]))
        .collect();
    if !missing.is_empty() {
        println!("skipped: this machine cannot run an agent: {}", missing.join("; "));
    }
    missing.is_empty()
}

/// Takes a lock, so that only one test at a time uses a path in real time. Returns `None` if this machine cannot run an
/// agent.
pub fn alone() -> Option<MutexGuard<'static, ()>> {
    static ONE: Mutex<()> = Mutex::new(());
    can_run().then(|| ONE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// An agent in the client's network namespace, killed on drop.
pub(crate) struct Agent {
    pub(crate) child: Child,
    pub(crate) said: String,
    pub(crate) folder: tempfile::TempDir,
}

impl Agent {
    pub fn start(path: &Path, arguments: &[&str]) -> Agent {
        let folder = tempfile::tempdir().unwrap();
        let (child, said) = Agent::start_in(path, folder.path(), arguments).expect("the agent starts");
        Agent { child, said, folder }
    }

    /// Starts an agent in a given folder. Returns the process and its messages, or the messages as an error if the
    /// agent does not start.
    pub fn start_in(
        path: &Path,
        folder: &std::path::Path,
        arguments: &[&str],
    ) -> Result<(Child, String), String> {
        let mut command = lasthop();
        command.args(["agent", "run", "--run-dir"]).arg(folder).args(arguments);
        Agent::begin(path, command)
    }

    /// Starts an agent like [`Agent::start_in`], but with a given command line.
    #[expect(clippy::zombie_processes, reason = "the caller waits for the child")]
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
                // The messages that the agent prints when it ends need a reader.
                std::thread::spawn(move || std::io::copy(&mut lines, &mut std::io::sink()));
                return Ok((child, said));
            }
        }
    }

    pub fn status(&self) -> serde_json::Map<String, serde_json::Value> {
        let folder = self.folder.path().to_str().unwrap();
        let text = common::stdout(&["agent", "status", "--format", "json", "--run-dir", folder]);
        objects(&text).remove(0)
    }

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

/// Opens a path with a deep buffer. Returns `None` if the machine cannot emulate paths.
pub fn deep_path() -> Option<Path> {
    Path::open("rate=10Mbit/s,rtt=20ms,queue=500packets")
}

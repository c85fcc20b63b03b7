//! Who asks a running emulation for something: a socket in a directory that only its owner may write to.
//!
//! A thread listens, and hands each request to the loop that carries the packets, which answers between two of them.

use super::super::ground;
use super::knobs::{Refusal, Request};
use lasthop_agent::folder::Folder;
use lasthop_os::SystemError;
use nix::unistd::geteuid;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// What is answered.
#[derive(Serialize, Deserialize)]
pub(in super::super) enum Answer {
    #[serde(rename = "done")]
    Done(Value),
    #[serde(rename = "refused")]
    Refused(Refusal),
}

/// A request that waits for its answer.
pub(super) struct Asked {
    pub(super) request: Request,
    answer: SyncSender<Answer>,
}

impl Asked {
    /// Answers it; who has gone gets none.
    pub(super) fn answer(self, answer: Result<Value, Refusal>) {
        let _ = self.answer.send(answer.map_or_else(Answer::Refused, Answer::Done));
    }
}

/// The socket of this run.
pub(super) struct Control {
    path: PathBuf,
    asked: Receiver<Asked>,
    /// What the path leads through.
    _folder: Folder,
}

/// How long the two ends wait for each other.
const PATIENCE: Duration = Duration::from_secs(2);
/// Longest request, bytes.
const LONGEST: u64 = 1 << 16;

impl Control {
    /// Listens from now on.
    ///
    /// # Errors
    /// If there is no directory that may be trusted, or the system refuses.
    pub(super) fn listen() -> Result<Control, SystemError> {
        let mut refused = None;
        for place in places() {
            match Folder::open(&place) {
                Ok(folder) => return Control::listen_in(folder),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| SystemError {
            message: "there is no directory for its socket".to_owned(),
            help: "set XDG_RUNTIME_DIR to a directory of your own".to_owned(),
        }))
    }

    fn listen_in(folder: Folder) -> Result<Control, SystemError> {
        let name = format!("{PREFIX}{}{SUFFIX}", ground::run());
        let path = folder.inside(&name);
        // A run of the same number that was killed.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(|error| SystemError {
            message: format!("cannot listen at `{}`: {error}", folder.shown(&name).display()),
            help: "may that directory be written to?".to_owned(),
        })?;
        let (ask, asked) = sync_channel(0);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // Who has gone, or asks nothing that can be read, gets no answer.
                let Ok(stream) = stream else { continue };
                if serve(&stream, &ask).is_err() {
                    continue;
                }
            }
        });
        Ok(Control { path, asked, _folder: folder })
    }

    /// The next request, if there is one.
    pub(super) fn poll(&self) -> Option<Asked> {
        self.asked.try_recv().ok()
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn serve(mut stream: &UnixStream, ask: &SyncSender<Asked>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new(stream.take(LONGEST)).read_line(&mut line)?;
    let request = serde_json::from_str(&line)?;
    let (answer, answered) = sync_channel(1);
    ask.send(Asked { request, answer }).map_err(io::Error::other)?;
    let answer = answered.recv_timeout(PATIENCE).map_err(io::Error::other)?;
    writeln!(stream, "{}", serde_json::to_string(&answer)?)
}

/// Names of sockets: this, the process's number, and that.
const PREFIX: &str = "emulate-";
const SUFFIX: &str = ".sock";

/// Where sockets are: root's, or the user's own. Who is root in a namespace of an ordinary user's has the latter.
fn places() -> Vec<PathBuf> {
    let root = geteuid().is_root().then(|| PathBuf::from("/run/lasthop"));
    let own = env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("lasthop"));
    root.into_iter().chain(own).collect()
}

/// A run that listens.
pub(in super::super) struct Run {
    /// Its process.
    pub(in super::super) pid: u32,
    path: PathBuf,
}

/// All runs that listen; sockets of killed ones are removed.
pub(in super::super) fn runs() -> Vec<Run> {
    let mut runs = Vec::new();
    for entry in places().iter().flat_map(|place| fs::read_dir(place).into_iter().flatten()).flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let Some(pid) = number.and_then(|number| number.parse().ok()) else { continue };
        let path = entry.path();
        match fs::exists(format!("/proc/{pid}")) {
            Ok(false) => drop(fs::remove_file(&path)),
            _ => runs.push(Run { pid, path }),
        }
    }
    runs.sort_by_key(|run| run.pid);
    runs
}

impl Run {
    /// Asks it.
    ///
    /// # Errors
    /// If it does not answer.
    pub(in super::super) fn ask(&self, request: &Request) -> io::Result<Answer> {
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(2 * PATIENCE))?;
        writeln!(stream, "{}", serde_json::to_string(request)?)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

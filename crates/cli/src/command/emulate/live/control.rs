//! Receives requests to a running emulation through a socket. Only the owner of the socket's directory may write to
//! this directory.
//!
//! A thread receives the requests. The packet loop handles each request between two packets.

use super::super::privileges;
use super::settings::{SetRefusal, SetRequest};
use lasthop_agent::run_directory::RunDirectory;
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

#[derive(Serialize, Deserialize)]
pub(in super::super) enum SetAnswer {
    #[serde(rename = "done")]
    Done(Value),
    #[serde(rename = "refused")]
    Refused(SetRefusal),
}

pub(super) struct PendingRequest {
    pub(super) request: SetRequest,
    answer: SyncSender<SetAnswer>,
}

impl PendingRequest {
    /// Sends the answer. Does nothing if the requester has closed the connection.
    pub(super) fn answer(self, answer: Result<Value, SetRefusal>) {
        let _ = self.answer.send(answer.map_or_else(SetAnswer::Refused, SetAnswer::Done));
    }
}

pub(super) struct ControlSocket {
    path: PathBuf,
    requests: Receiver<PendingRequest>,
    /// Directory of the socket, which stays open during the run.
    _folder: RunDirectory,
}

/// Timeout of the emulation for each of three steps: reading a request, computing the answer, and writing the answer.
/// The requester's timeout is twice this time.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(2);
const MAX_REQUEST_BYTES: u64 = 1 << 16;

impl ControlSocket {
    /// Creates the socket and listens for requests.
    ///
    /// # Errors
    /// If no directory can be trusted, or a system call fails.
    pub(super) fn listen() -> Result<ControlSocket, SystemError> {
        let mut refused = None;
        for folder in folders() {
            match RunDirectory::open(&folder) {
                Ok(folder) => return ControlSocket::listen_in(folder),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| SystemError {
            message: "no directory for the control socket".to_owned(),
            help: "set XDG_RUNTIME_DIR to your own directory".to_owned(),
        }))
    }

    fn listen_in(folder: RunDirectory) -> Result<ControlSocket, SystemError> {
        let name = format!("{PREFIX}{}{SUFFIX}", privileges::run_pid());
        let path = folder.inside(&name);
        // Removes the socket of a killed run that had the same PID.
        let _ = fs::remove_file(&path);
        let listener = UnixListener::bind(&path).map_err(|error| SystemError {
            message: format!("cannot listen at `{}`: {error}", folder.shown(&name).display()),
            help: "check that you may write to the directory".to_owned(),
        })?;
        let (ask, requests) = sync_channel(0);
        thread::spawn(move || {
            for stream in listener.incoming() {
                // Closed connections and malformed requests get no answer.
                let Ok(stream) = stream else { continue };
                if serve(&stream, &ask).is_err() {
                    continue;
                }
            }
        });
        Ok(ControlSocket { path, requests, _folder: folder })
    }

    pub(super) fn poll(&self) -> Option<PendingRequest> {
        self.requests.try_recv().ok()
    }
}

impl Drop for ControlSocket {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn serve(mut stream: &UnixStream, ask: &SyncSender<PendingRequest>) -> io::Result<()> {
    stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(MAX_REQUEST_BYTES)).read_line(&mut line)?;
    let request = serde_json::from_str(&line)?;
    let (answer, answered) = sync_channel(1);
    ask.send(PendingRequest { request, answer }).map_err(io::Error::other)?;
    let answer = answered.recv_timeout(SOCKET_TIMEOUT).map_err(io::Error::other)?;
    writeln!(stream, "{}", serde_json::to_string(&answer)?)
}

const PREFIX: &str = "emulate-";
const SUFFIX: &str = ".sock";

/// Returns the possible directories of the socket, in order of preference: root's directory (only for root), then the
/// user's own directory. A process that is root only in a user namespace cannot use root's directory and falls back to
/// the user's own.
fn folders() -> Vec<PathBuf> {
    let root = geteuid().is_root().then(|| PathBuf::from("/run/lasthop"));
    let own = env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("lasthop"));
    root.into_iter().chain(own).collect()
}

pub(in super::super) struct RunningEmulation {
    pub(in super::super) pid: u32,
    path: PathBuf,
}

/// Returns all runs that accept requests. Removes the sockets of killed runs.
pub(in super::super) fn running_emulations() -> Vec<RunningEmulation> {
    let mut running_emulations = Vec::new();
    for entry in folders().iter().flat_map(|folder| fs::read_dir(folder).into_iter().flatten()).flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX));
        let Some(pid) = number.and_then(|number| number.parse().ok()) else { continue };
        let path = entry.path();
        match fs::exists(format!("/proc/{pid}")) {
            Ok(false) => drop(fs::remove_file(&path)),
            _ => running_emulations.push(RunningEmulation { pid, path }),
        }
    }
    running_emulations.sort_by_key(|run| run.pid);
    running_emulations
}

impl RunningEmulation {
    /// Sends a request and waits for the answer.
    ///
    /// # Errors
    /// If the run does not answer in time.
    pub(in super::super) fn ask(&self, request: &SetRequest) -> io::Result<SetAnswer> {
        let mut stream = UnixStream::connect(&self.path)?;
        stream.set_read_timeout(Some(2 * SOCKET_TIMEOUT))?;
        writeln!(stream, "{}", serde_json::to_string(request)?)?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(serde_json::from_str(&text)?)
    }
}

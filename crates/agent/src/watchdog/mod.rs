//! Watchdog: a separate process that removes the firewall rules if the agent does not respond.
//!
//! A stopped process (SIGSTOP, a debugger) does not close its queue. The kernel then still holds ACKs for the process,
//! which stalls connections with few segments in flight. Therefore a second process, the watchdog process, owns the
//! rules. The agent sends heartbeats to the watchdog process. Without heartbeats the rules are removed until the next
//! heartbeat. When the agent ends for any reason, the watchdog process removes the rules and ends.

mod process;

use crate::daemon::AgentOptions;
use crate::rules::FirewallRules;
use lasthop_base::Duration;
use lasthop_os::SystemError;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

pub use process::run;

/// Interval of the watchdog process's checks; heartbeats are twice as frequent.
const CHECK_INTERVAL_MS: u8 = 100;
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_millis(CHECK_INTERVAL_MS as u64);
/// Number of successive checks without a heartbeat after which the rules are removed. The limit is not a time: after a
/// suspension of the machine, the agent would seem silent.
const MAX_MISSED: u8 = 3;
/// Time of [`MAX_MISSED`] checks, after which the agent counts as silent.
pub(crate) const SILENCE: Duration = Duration::from_millis(CHECK_INTERVAL_MS as u64 * MAX_MISSED as u64);
/// Time limit for removing the rules; other programs may hold the firewall's lock.
const END_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(12);

#[derive(Debug, Default)]
struct HeartbeatState {
    missed: u8,
    is_silent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum HeartbeatChange {
    Stopped,
    Resumed,
}

impl HeartbeatState {
    /// Records the result of a check; returns the change of state, if any.
    fn check(&mut self, has_heartbeat: bool) -> Option<HeartbeatChange> {
        self.missed = if has_heartbeat { 0 } else { self.missed.saturating_add(1) };
        let was_silent = std::mem::replace(&mut self.is_silent, self.missed >= MAX_MISSED);
        match (was_silent, self.is_silent) {
            (false, true) => Some(HeartbeatChange::Stopped),
            (true, false) => Some(HeartbeatChange::Resumed),
            _ => None,
        }
    }
}

/// The agent's handle of the watchdog process. Drop this handle last, after the heartbeat.
pub(crate) struct Watchdog {
    child: Child,
    has_ipv6: bool,
}

/// Pipe for the agent's heartbeats. The watchdog process removes the rules when the pipe closes.
pub(crate) struct Heartbeat(ChildStdin);

impl Watchdog {
    /// Starts the watchdog process before the queue is opened. The kernel closes the queue only with its last
    /// descriptor, so the watchdog process must not inherit a descriptor.
    pub(crate) fn start(options: &AgentOptions) -> Result<(Watchdog, Heartbeat), SystemError> {
        let refused = |error: io::Error| {
            SystemError {
            message: format!("cannot start the agent's watchdog: {error}"),
            help:
                "the watchdog is a second process of this program, started through /proc/self/exe: check that the program's file may be executed"
                    .to_owned(),
        }
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lasthop").args(&options.watchdog_arguments);
        command.arg("--queue").arg(options.queue.to_string()).arg("--run-dir").arg(&options.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(refused)?;
        let pipe = child.stdin.take();
        // If a later step fails, dropping the pipe ends the watchdog process.
        let watchdog = Watchdog { child, has_ipv6: false };
        let pipe = pipe.ok_or_else(|| refused(ErrorKind::BrokenPipe.into()))?;
        // A watchdog process that does not read must not block the agent.
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| refused(error.into()))?;
        Ok((watchdog, Heartbeat(pipe)))
    }

    /// Sends the first heartbeat and waits until the watchdog process has added the rules. The process adds the rules
    /// when the first heartbeat arrives.
    pub(crate) fn add_rules(&mut self, heartbeat: &mut Heartbeat) -> Result<(), SystemError> {
        // If the watchdog process has ended, reading its message reports the reason.
        let _ = heartbeat.send();
        self.has_ipv6 = read_start_message(&mut self.child)?;
        Ok(())
    }

    pub(crate) fn has_ipv6(&self) -> bool {
        self.has_ipv6
    }

    /// Waits until the watchdog process ends; the heartbeat must be closed. Returns whether the rules are removed.
    fn end(&mut self) -> bool {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if start.elapsed() < END_TIMEOUT => sleep(std::time::Duration::from_millis(2)),
                _ => {
                    let _ = self.child.kill();
                    let _ = self.child.wait();
                    return false;
                }
            }
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if !self.end() {
            FirewallRules::remove_stale();
        }
    }
}

impl Heartbeat {
    pub(crate) fn send(&mut self) -> io::Result<()> {
        match self.0.write(b".") {
            // A watchdog process that is stopped reads the heartbeat later.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                Err(io::Error::new(ErrorKind::BrokenPipe, "the watchdog has ended"))
            }
            outcome => outcome.map(|_| ()),
        }
    }
}

/// Reads the first message of the watchdog process; returns whether rules for IPv6 were added.
fn read_start_message(child: &mut Child) -> Result<bool, SystemError> {
    let mut line = String::new();
    if let Some(output) = child.stdout.take() {
        // Unreadable output counts as no message.
        let _ = BufReader::new(output).read_line(&mut line);
    }
    let message: Value = serde_json::from_str(&line).unwrap_or_default();
    match message["has_ipv6"].as_bool() {
        Some(has_ipv6) => Ok(has_ipv6),
        None => Err(SystemError {
            message: message["message"]
                .as_str()
                .unwrap_or("the agent's watchdog ended without a message")
                .to_owned(),
            help: message["help"].as_str().unwrap_or("see `lasthop doctor`").to_owned(),
        }),
    }
}

fn start_message(started: Result<bool, &SystemError>) -> String {
    let object = match started {
        Ok(has_ipv6) => json!({ "has_ipv6": has_ipv6 }),
        Err(error) => json!({ "message": error.message, "help": error.help }),
    };
    format!("{object}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_looks_without_a_word_are_silence_and_the_next_word_ends_it() {
        let mut state = HeartbeatState::default();
        let checks = [true, false, false, true, false, false, false, false, true, true];
        let changes: Vec<Option<HeartbeatChange>> =
            checks.into_iter().map(|has_heartbeat| state.check(has_heartbeat)).collect();
        let mut expected = [None; 10];
        expected[6] = Some(HeartbeatChange::Stopped);
        expected[8] = Some(HeartbeatChange::Resumed);
        assert_eq!(changes, expected);
    }
}

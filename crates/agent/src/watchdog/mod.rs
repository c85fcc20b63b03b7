//! Watchdog: a separate process that removes the rules if the agent does not answer.
//!
//! A stopped process (SIGSTOP, a debugger) does not close its queue: the kernel goes on holding ACKs for it, which
//! stops connections with few segments in flight. Therefore a second process, the `keeper`, owns the rules. The agent
//! sends it a heartbeat; without heartbeats the rules are removed until the next one. When the agent ends in any way,
//! the keeper removes the rules and ends.

mod keeper;

use crate::daemon::Options;
use crate::rules::Rules;
use lasthop_base::Duration;
use lasthop_os::SystemError;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

pub use keeper::keep;

/// Interval of the keeper's checks; heartbeats are twice as frequent.
const LOOK_MS: u8 = 100;
pub(crate) const LOOK: Duration = Duration::from_millis(LOOK_MS as u64);
/// Number of checks without a heartbeat after which the rules are removed. Counts checks, not time: a suspended machine
/// must not look like a silent agent.
const MISSED: u8 = 3;
/// [`MISSED`] as time.
pub(crate) const SILENCE: Duration = Duration::from_millis(LOOK_MS as u64 * MISSED as u64);
/// Time limit for removing the rules; other programs may hold the firewall's lock.
const ENDS_WITHIN: std::time::Duration = std::time::Duration::from_secs(12);

#[derive(Debug, Default)]
struct Pulse {
    missed: u8,
    is_silent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    FellSilent,
    AnswersAgain,
}

impl Pulse {
    /// Records a check; returns a change of state.
    fn look(&mut self, is_heard: bool) -> Option<Turn> {
        self.missed = if is_heard { 0 } else { self.missed.saturating_add(1) };
        let was_silent = std::mem::replace(&mut self.is_silent, self.missed >= MISSED);
        match (was_silent, self.is_silent) {
            (false, true) => Some(Turn::FellSilent),
            (true, false) => Some(Turn::AnswersAgain),
            _ => None,
        }
    }
}

/// Agent's handle of the keeper. Drops last; the heartbeat stops first.
pub(crate) struct Watchdog {
    child: Child,
    has_ipv6: bool,
}

/// Heartbeat of the agent; the rules are removed when it closes.
pub(crate) struct Heart(ChildStdin);

impl Watchdog {
    /// Starts the keeper. It must not inherit the queue, which the kernel closes only with its last descriptor: start
    /// it first.
    pub(crate) fn start(options: &Options) -> Result<(Watchdog, Heart), SystemError> {
        let refused = |error: io::Error| SystemError {
            message: format!("cannot start the agent's watchdog: {error}"),
            help:
                "the watchdog is this program, started by /proc/self/exe: check that the file may be executed"
                    .to_owned(),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lasthop").args(&options.keeper);
        command.arg("--queue").arg(options.queue.to_string()).arg("--run-dir").arg(&options.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(refused)?;
        let pipe = child.stdin.take();
        // If the rest fails, dropping the pipe ends the keeper.
        let watchdog = Watchdog { child, has_ipv6: false };
        let pipe = pipe.ok_or_else(|| refused(ErrorKind::BrokenPipe.into()))?;
        // A keeper that does not read must not block the agent.
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| refused(error.into()))?;
        Ok((watchdog, Heart(pipe)))
    }

    /// Makes the keeper add the rules, at the first heartbeat, and waits for them.
    pub(crate) fn begin(&mut self, heart: &mut Heart) -> Result<(), SystemError> {
        // If the keeper has ended, its message says so.
        let _ = heart.beat();
        self.has_ipv6 = hear(&mut self.child)?;
        Ok(())
    }

    pub(crate) fn has_ipv6(&self) -> bool {
        self.has_ipv6
    }

    /// Waits for the keeper's end, after the heartbeat has closed; returns whether the rules are removed.
    fn end(&mut self) -> bool {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) if start.elapsed() < ENDS_WITHIN => sleep(std::time::Duration::from_millis(2)),
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
            Rules::remove_stale();
        }
    }
}

impl Heart {
    /// Sends a heartbeat; fails if the keeper has ended.
    pub(crate) fn beat(&mut self) -> io::Result<()> {
        match self.0.write(b".") {
            // A stopped keeper reads it later.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                Err(io::Error::new(ErrorKind::BrokenPipe, "the watchdog has ended"))
            }
            outcome => outcome.map(|_| ()),
        }
    }
}

/// Reads the keeper's first message: whether IPv6 has rules.
fn hear(child: &mut Child) -> Result<bool, SystemError> {
    let mut line = String::new();
    if let Some(said) = child.stdout.take() {
        // Unreadable output counts as no message.
        let _ = BufReader::new(said).read_line(&mut line);
    }
    let word: Value = serde_json::from_str(&line).unwrap_or_default();
    match word["has_ipv6"].as_bool() {
        Some(has_ipv6) => Ok(has_ipv6),
        None => Err(SystemError {
            message: word["message"]
                .as_str()
                .unwrap_or("the agent's watchdog ended without a message")
                .to_owned(),
            help: word["help"].as_str().unwrap_or("see `lasthop doctor`").to_owned(),
        }),
    }
}

fn word(begun: Result<bool, &SystemError>) -> String {
    let object = match begun {
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
        let mut pulse = Pulse::default();
        let heard = [true, false, false, true, false, false, false, false, true, true];
        let turns: Vec<Option<Turn>> = heard.into_iter().map(|heard| pulse.look(heard)).collect();
        let mut expected = [None; 10];
        expected[6] = Some(Turn::FellSilent);
        expected[8] = Some(Turn::AnswersAgain);
        assert_eq!(turns, expected);
    }
}

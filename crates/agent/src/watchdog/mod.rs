//! Who takes the rules away when the agent does not answer: a process of its own.
//!
//! A stopped process (SIGSTOP, a debugger) does not close its queue, so the kernel goes on holding ACKs for it. Few of
//! them are enough to stop a connection with few segments in flight. Therefore the rules belong to a second process,
//! which the agent tells ten times a second that it is alive. While it does not hear that, there are no rules; when the
//! agent ends, however it ends, the rules are removed and the second process ends, too.
//!
//! * `keeper`: that process.
//! * here: the agent's side, and how long is too long.

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

/// How often the agent is looked after; it says that it is alive twice as often.
const LOOK_MS: u8 = 100;
pub(crate) const LOOK: Duration = Duration::from_millis(LOOK_MS as u64);
/// After so many looks without a word of it its rules are taken away. Looks are counted, not time: a machine that
/// stands still as a whole does not make the agent silent.
const MISSED: u8 = 3;
/// The same as time.
pub(crate) const SILENCE: Duration = Duration::from_millis(LOOK_MS as u64 * MISSED as u64);
/// How long the keeper has for removing the rules; others may be changing theirs.
const ENDS_WITHIN: std::time::Duration = std::time::Duration::from_secs(12);

/// Whether the agent answers.
#[derive(Debug, Default)]
struct Pulse {
    missed: u8,
    is_silent: bool,
}

/// A change of that.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    FellSilent,
    AnswersAgain,
}

impl Pulse {
    /// A look: whether something was heard since the last one.
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

/// The process that keeps the rules, as its agent has it. They are gone after this, and its heart must be before.
pub(crate) struct Watchdog {
    child: Child,
    has_ipv6: bool,
}

/// By which the agent says that it is alive; the rules go with it.
pub(crate) struct Heart(ChildStdin);

impl Watchdog {
    /// Starts it. It must not inherit the queue, which the kernel closes only when nobody has it open any more:
    /// therefore this comes first.
    pub(crate) fn start(options: &Options) -> Result<(Watchdog, Heart), SystemError> {
        let refused = |error: io::Error| SystemError {
            message: format!("cannot start the agent's watchdog: {error}"),
            help: "it is this program once more, by /proc/self/exe: may it be run?".to_owned(),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lasthop").args(&options.keeper);
        command.arg("--queue").arg(options.queue.to_string()).arg("--run-dir").arg(&options.folder);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(refused)?;
        let pipe = child.stdin.take();
        // It goes with its pipe if this fails.
        let watchdog = Watchdog { child, has_ipv6: false };
        let pipe = pipe.ok_or_else(|| refused(ErrorKind::BrokenPipe.into()))?;
        // Who does not read must not stop us.
        fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK)).map_err(|error| refused(error.into()))?;
        Ok((watchdog, Heart(pipe)))
    }

    /// Has it make the rules, at the heart's first beat, and waits for them.
    pub(crate) fn begin(&mut self, heart: &mut Heart) -> Result<(), SystemError> {
        // That it has ended already shows in what it says.
        let _ = heart.beat();
        self.has_ipv6 = hear(&mut self.child)?;
        Ok(())
    }

    /// Whether IPv6 has its rules.
    pub(crate) fn has_ipv6(&self) -> bool {
        self.has_ipv6
    }

    /// Waits until the rules are gone, once the heart is.
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
    /// Says that the agent is alive.
    ///
    /// # Errors
    /// If nobody can hear it any more.
    pub(crate) fn beat(&mut self) -> io::Result<()> {
        match self.0.write(b".") {
            // One that is stopped itself hears it later.
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                Err(io::Error::new(ErrorKind::BrokenPipe, "its watchdog has ended"))
            }
            outcome => outcome.map(|_| ()),
        }
    }
}

/// What the keeper says when it has made the rules: whether there are some for IPv6.
fn hear(child: &mut Child) -> Result<bool, SystemError> {
    let mut line = String::new();
    if let Some(said) = child.stdout.take() {
        // What cannot be read is no word.
        let _ = BufReader::new(said).read_line(&mut line);
    }
    let word: Value = serde_json::from_str(&line).unwrap_or_default();
    match word["has_ipv6"].as_bool() {
        Some(has_ipv6) => Ok(has_ipv6),
        None => Err(SystemError {
            message: word["message"]
                .as_str()
                .unwrap_or("the agent's watchdog ended without a word")
                .to_owned(),
            help: word["help"].as_str().unwrap_or("see `lasthop doctor`").to_owned(),
        }),
    }
}

/// The keeper's first word.
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

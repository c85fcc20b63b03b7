//! The process that has the rules.

use super::{LOOK_MS, Pulse, Turn, word};
use crate::folder::Folder;
use crate::privilege;
use crate::rules::Rules;
use lasthop_os::SystemError;
use nix::errno::Errno;
use nix::fcntl::Flock;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::{read, setsid};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::time::Duration;

/// The lock of whoever has the rules.
const LOCK: &str = "rules.lock";
/// How long the keeper of an agent that was killed has for removing its rules.
const PATIENCE: Duration = Duration::from_secs(12);

/// What is heard of the agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Heard {
    Alive,
    Nothing,
    Over,
}

/// Keeps the rules for an agent that says on standard input that it is alive, from its first word until that is closed;
/// says on standard output when it has made them, or why it cannot. Signals are the caller's to ignore: it ends with its agent.
///
/// # Errors
/// If the rules cannot be made again after the agent was silent. That they cannot be made at all is told to the agent.
pub fn keep(queue: u16, folder: &Path) -> Result<(), SystemError> {
    // What stops the agent's terminal or its group does not stop us. A leader of a group, which only one started by
    // hand can be, stays where it is.
    let _ = setsid();
    let stdin = io::stdin();
    loop {
        match listen(stdin.as_fd())? {
            Heard::Alive => break,
            Heard::Nothing => {}
            Heard::Over => return Ok(()),
        }
    }
    let begun = begin(queue, folder);
    let said = word(begun.as_ref().map(|begun| begun.rules.has_ipv6()));
    // Who has gone already shows below.
    let _ = io::stdout().write_all(said.as_bytes()).and_then(|()| io::stdout().flush());
    let Ok(Begun { rules, _lock }) = begun else { return Ok(()) };
    let (mut rules, mut pulse) = (Some(rules), Pulse::default());
    loop {
        let heard = listen(stdin.as_fd())?;
        if heard == Heard::Over {
            return Ok(());
        }
        match pulse.look(heard == Heard::Alive) {
            Some(Turn::FellSilent) => drop(rules.take()),
            Some(Turn::AnswersAgain) => drop(rules.replace(Rules::add(queue)?)),
            None => {}
        }
    }
}

/// Rules, and the lock that goes after them.
struct Begun {
    rules: Rules,
    _lock: Flock<File>,
}

fn begin(queue: u16, folder: &Path) -> Result<Begun, SystemError> {
    let folder = Folder::open(folder)?;
    let lock = folder.lock(LOCK, PATIENCE).map_err(|error| {
        error.unwrap_or_else(|| SystemError {
            message: format!(
                "the rules of an earlier agent are not removed yet: `{}` is locked",
                folder.shown(LOCK).display()
            ),
            help: "end the process `lasthop agent watchdog`, or choose another directory: --run-dir DIR"
                .to_owned(),
        })
    })?;
    privilege::drop_rest()?;
    Rules::remove_stale();
    Ok(Begun { rules: Rules::add(queue)?, _lock: lock })
}

/// Waits for a word of the agent's, as long as a look takes.
fn listen(agent: BorrowedFd<'_>) -> Result<Heard, SystemError> {
    let failed = |error: Errno| SystemError {
        message: format!("the agent's watchdog cannot hear the agent: {error}"),
        help: "`lasthop agent run` starts it: it is not run by hand".to_owned(),
    };
    let mut polled = [PollFd::new(agent, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::from(LOOK_MS)) {
        // An interruption is no silence.
        Err(Errno::EINTR) => return Ok(Heard::Alive),
        Err(error) => return Err(failed(error)),
        Ok(0) => return Ok(Heard::Nothing),
        Ok(_) => {}
    }
    match read(agent, &mut [0; 4096]) {
        Ok(0) => Ok(Heard::Over),
        Ok(_) | Err(Errno::EINTR) => Ok(Heard::Alive),
        Err(error) => Err(failed(error)),
    }
}

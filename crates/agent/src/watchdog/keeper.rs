//! The process that owns the rules.

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

const LOCK: &str = "rules.lock";
/// Time limit for the keeper of a killed agent to remove its rules.
const PATIENCE: Duration = Duration::from_secs(12);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Heard {
    Alive,
    Nothing,
    Over,
}

/// Keeps the rules while heartbeats arrive on standard input, until that is closed. Reports on standard output that the
/// rules exist, or the error. The caller must ignore signals: the keeper ends with its agent.
///
/// # Errors
/// If the rules cannot be added again after a silence. A failure at the start is reported to the agent.
pub fn keep(queue: u16, folder: &Path) -> Result<(), SystemError> {
    // Detaches from the agent's terminal and process group. Fails for a group leader, which only a keeper started by
    // hand can be.
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
    // If the agent has ended, the loop below notices.
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

/// Rules with their lock, which drops last.
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

fn listen(agent: BorrowedFd<'_>) -> Result<Heard, SystemError> {
    let failed = |error: Errno| SystemError {
        message: format!("the agent's watchdog cannot read heartbeats: {error}"),
        help: "do not start the watchdog by hand: `lasthop agent run` does".to_owned(),
    };
    let mut polled = [PollFd::new(agent, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::from(LOOK_MS)) {
        // An interruption is not silence.
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

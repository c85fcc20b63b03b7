//! The watchdog process, which owns the rules.

use super::{CHECK_INTERVAL_MS, HeartbeatChange, HeartbeatState, start_message};
use crate::privilege;
use crate::rules::FirewallRules;
use crate::run_directory::RunDirectory;
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
/// Time limit for the watchdog process of a killed agent to remove its rules and release the lock.
const LOCK_TIMEOUT: Duration = Duration::from_secs(12);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Received {
    Heartbeat,
    Nothing,
    Closed,
}

/// Keeps the rules while heartbeats arrive on standard input, and ends when standard input closes. Reports on standard
/// output that the rules exist, or the error. The caller must ignore signals: the watchdog process must not end before
/// its agent.
///
/// # Errors
/// Fails if the rules cannot be added again after a silence. A failure at the start is reported to the agent.
pub fn run(queue: u16, folder: &Path) -> Result<(), SystemError> {
    // Leaves the agent's terminal session and process group. The call fails only if this process is already a group
    // leader, after a start by hand.
    let _ = setsid();
    let stdin = io::stdin();
    loop {
        match listen(stdin.as_fd())? {
            Received::Heartbeat => break,
            Received::Nothing => {}
            Received::Closed => return Ok(()),
        }
    }
    let locked = lock_and_add_rules(queue, folder);
    let message = start_message(locked.as_ref().map(|locked| locked.rules.has_ipv6()));
    // If the agent has ended, the write fails and the loop below notices the end.
    let _ = io::stdout().write_all(message.as_bytes()).and_then(|()| io::stdout().flush());
    let Ok(LockedRules { rules, _lock }) = locked else { return Ok(()) };
    let (mut rules, mut state) = (Some(rules), HeartbeatState::default());
    loop {
        let received = listen(stdin.as_fd())?;
        if received == Received::Closed {
            return Ok(());
        }
        match state.check(received == Received::Heartbeat) {
            Some(HeartbeatChange::Stopped) => drop(rules.take()),
            Some(HeartbeatChange::Resumed) => drop(rules.replace(FirewallRules::add(queue)?)),
            None => {}
        }
    }
}

/// Rules with their lock; the lock drops last.
struct LockedRules {
    rules: FirewallRules,
    _lock: Flock<File>,
}

fn lock_and_add_rules(queue: u16, folder: &Path) -> Result<LockedRules, SystemError> {
    let folder = RunDirectory::open(folder)?;
    let lock = folder.lock(LOCK, LOCK_TIMEOUT).map_err(|error| {
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
    FirewallRules::remove_stale();
    Ok(LockedRules { rules: FirewallRules::add(queue)?, _lock: lock })
}

fn listen(agent: BorrowedFd<'_>) -> Result<Received, SystemError> {
    let failed = |error: Errno| SystemError {
        message: format!("the agent's watchdog cannot read heartbeats: {error}"),
        help: "do not start the watchdog by hand: `lasthop agent run` starts the watchdog".to_owned(),
    };
    let mut polled = [PollFd::new(agent, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::from(CHECK_INTERVAL_MS)) {
        // An interrupted poll does not count as silence.
        Err(Errno::EINTR) => return Ok(Received::Heartbeat),
        Err(error) => return Err(failed(error)),
        Ok(0) => return Ok(Received::Nothing),
        Ok(_) => {}
    }
    match read(agent, &mut [0; 4096]) {
        Ok(0) => Ok(Received::Closed),
        Ok(_) | Err(Errno::EINTR) => Ok(Received::Heartbeat),
        Err(error) => Err(failed(error)),
    }
}

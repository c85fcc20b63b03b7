//! Privileges of a run: as root on the machine; otherwise in the user's own namespaces, by a second call of this
//! program.

use super::failure;
use super::guard::Guard;
use crate::failure::Failure;
use crate::output;
use crate::path;
use crate::target::{self, patience};
use lasthop_os::ends::Network;
use lasthop_os::nat::Nat;
use lasthop_os::program::number;
use lasthop_os::user::{Caller, Runner, is_emulation};
use lasthop_os::{Namespace, SystemError, apart, group};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::env;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;
use std::time::Duration;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ground {
    Root,
    Apart,
}

const AGAIN: &str = "apart";
/// Interval at which the first process checks for an interruption.
const PATIENCE: Duration = Duration::from_millis(20);

pub(super) fn run() -> u32 {
    apart::run().unwrap_or_else(std::process::id)
}

impl Ground {
    /// Determines the privileges. Without root, replaces the process by a second call of this program.
    pub(super) fn find() -> Result<Ground, SystemError> {
        if apart::run().is_some() {
            apart::arrive()?;
            return Ok(Ground::Apart);
        }
        if apart::is_root() {
            return Ok(Ground::Root);
        }
        // A process must have a single thread to enter a user namespace.
        let error = again().arg(AGAIN).args(env::args_os().skip(1)).exec();
        Err(not_again(&error))
    }

    /// Removes leftovers of earlier runs, and starts the process that cleans up after a kill. In own namespaces the
    /// kernel cleans up.
    pub(super) fn guard(self) -> Result<Option<Guard>, SystemError> {
        match self {
            Ground::Root => {
                path::tidy();
                Guard::begin().map(Some)
            }
            Ground::Apart => {
                group::remove_stale();
                output::note(
                    "note: without root: own namespaces, no real-time priority; timing is better as root",
                );
                Ok(None)
            }
        }
    }

    pub(super) fn namespace(self, role: &str) -> Result<Namespace, SystemError> {
        match self {
            Ground::Root => Namespace::create(role),
            Ground::Apart => Namespace::unnamed(),
        }
    }

    /// Identity of a program; with `as_root`, the run's own rights. A nested emulation keeps these rights, to change
    /// this run's network; the programs that it runs do not.
    pub(super) fn runner(self, words: &[String], as_root: bool) -> Runner {
        match self {
            _ if as_root || is_emulation(words) => Runner::Us,
            Ground::Root => Caller::of_sudo().map_or(Runner::Us, Runner::Caller),
            Ground::Apart => Runner::Bare,
        }
    }

    pub(super) fn may_change_network(self) -> bool {
        self == Ground::Root || apart::may_change_network()
    }

    /// Forwarding rules of the path in this thread's network namespace. In own namespaces, TCP may be redirected if no
    /// other program uses the namespace.
    pub(super) fn nat(
        self,
        device: &str,
        ends: Network,
        redirected: Option<u16>,
    ) -> Result<Nat, SystemError> {
        match self {
            Ground::Root => Nat::begin(device, &ends.to_string()),
            Ground::Apart => Nat::begin_apart(device, &ends.to_string(), redirected),
        }
    }
}

/// Handles a second call of this program: runs the command in the user's own namespaces.
pub(crate) fn apart() -> Option<ExitCode> {
    let mut words = env::args_os().skip(1);
    if words.next()? != AGAIN {
        return None;
    }
    Some(match enter(words.collect()) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let failure: Failure = failure(error);
            output::note(&failure.told());
            ExitCode::from(failure.status())
        }
    })
}

/// Starts the second process; returns its status.
fn enter(words: Vec<OsString>) -> Result<u8, SystemError> {
    apart::own_rights()?;
    // Forwards interruptions to the second process, and ends after that process.
    target::discard_all_when_interrupted();
    let second = Arc::new(AtomicI32::new(0));
    let told = Arc::clone(&second);
    thread::spawn(move || {
        loop {
            thread::sleep(PATIENCE);
            let pid = told.load(Ordering::SeqCst);
            if pid > 0 && patience::is_interrupted() {
                return kill(Pid::from_raw(pid), Signal::SIGTERM);
            }
        }
    });
    patience::during(|| {
        apart::own_processes()?;
        let mut command = again();
        command.args(words).env(apart::RUN, std::process::id().to_string());
        let mut child = command.spawn().map_err(|error| not_again(&error))?;
        second.store(child.id() as i32, Ordering::SeqCst);
        let status = child.wait().map_err(|error| not_again(&error))?;
        second.store(0, Ordering::SeqCst);
        Ok(number(status))
    })
}

fn again() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("lasthop");
    command
}

fn not_again(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot start this program again: {error}"), "/proc/self/exe must be executable")
}

//! Privileges of a run. With root, the run changes the machine's own network. Without root, the program starts itself
//! again within a new user namespace and a new network namespace.

use super::failure;
use super::guard::Guard;
use crate::failure::Failure;
use crate::output;
use crate::path;
use crate::target::{self, interrupts};
use lasthop_os::ends::Network;
use lasthop_os::nat::Nat;
use lasthop_os::program::shell_status;
use lasthop_os::user::{Caller, Runner, is_emulation};
use lasthop_os::{Namespace, SystemError, control_group, unprivileged};
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
pub(super) enum Privileges {
    Root,
    Unprivileged,
}

const SECOND_CALL: &str = "apart";
/// Interval at which the first process checks for Ctrl-C.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

pub(super) fn run_pid() -> u32 {
    unprivileged::first_process().unwrap_or_else(std::process::id)
}

impl Privileges {
    /// Determines the privileges. Without root, replaces this process by a second call of the program.
    pub(super) fn acquire() -> Result<Privileges, SystemError> {
        if unprivileged::first_process().is_some() {
            unprivileged::prepare_second_process()?;
            return Ok(Privileges::Unprivileged);
        }
        if unprivileged::is_root() {
            return Ok(Privileges::Root);
        }
        // Only a process with a single thread can enter a user namespace, so the program restarts itself.
        let error = this_program().arg(SECOND_CALL).args(env::args_os().skip(1)).exec();
        Err(cannot_restart(&error))
    }

    /// Removes leftovers of earlier runs, and starts the guard, which cleans up after a kill. Without root, no guard is
    /// needed: the kernel removes the user's namespaces.
    pub(super) fn guard(self) -> Result<Option<Guard>, SystemError> {
        match self {
            Privileges::Root => {
                path::remove_leftovers();
                Guard::begin().map(Some)
            }
            Privileges::Unprivileged => {
                control_group::remove_stale();
                output::note(
                    "note: without root, the run uses your own namespaces without real-time priority; \
                     timing is better as root",
                );
                Ok(None)
            }
        }
    }

    pub(super) fn namespace(self, role: &str) -> Result<Namespace, SystemError> {
        match self {
            Privileges::Root => Namespace::create(role),
            Privileges::Unprivileged => Namespace::unnamed(),
        }
    }

    /// Returns the identity under which a program runs. With `as_root`, the program has the privileges of the run. A
    /// nested emulation also has these privileges, because the nested emulation must change this run's network. The
    /// programs of a nested emulation do not have these privileges.
    pub(super) fn runner(self, words: &[String], as_root: bool) -> Runner {
        match self {
            _ if as_root || is_emulation(words) => Runner::Own,
            Privileges::Root => Caller::of_sudo().map_or(Runner::Own, Runner::Caller),
            Privileges::Unprivileged => Runner::Unprivileged,
        }
    }

    pub(super) fn may_change_network(self) -> bool {
        self == Privileges::Root || unprivileged::may_change_network()
    }

    /// Adds the path's forwarding rules in this thread's network namespace. Without root, the rules may redirect TCP to
    /// the port `redirected`, if no other program uses the namespace.
    pub(super) fn nat(
        self,
        device: &str,
        ends: Network,
        redirected: Option<u16>,
    ) -> Result<Nat, SystemError> {
        match self {
            Privileges::Root => Nat::begin(device, &ends.to_string()),
            Privileges::Unprivileged => Nat::begin_unprivileged(device, &ends.to_string(), redirected),
        }
    }
}

/// Handles a second call of this program: runs the command in the user's own namespaces. Returns `None` if this call is
/// not a second call.
pub(crate) fn run_unprivileged() -> Option<ExitCode> {
    let mut words = env::args_os().skip(1);
    if words.next()? != SECOND_CALL {
        return None;
    }
    Some(match start_second_process(words.collect()) {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            let failure: Failure = failure(error);
            output::note(&failure.render());
            ExitCode::from(failure.status())
        }
    })
}

/// Starts the second process and waits until it ends. Returns the exit status of the second process.
fn start_second_process(words: Vec<OsString>) -> Result<u8, SystemError> {
    unprivileged::enter_user_namespace()?;
    // This process forwards interruptions to the second process, and ends after the second process.
    target::discard_all_when_interrupted();
    let second = Arc::new(AtomicI32::new(0));
    let child_pid = Arc::clone(&second);
    thread::spawn(move || {
        loop {
            thread::sleep(POLL_INTERVAL);
            let pid = child_pid.load(Ordering::SeqCst);
            if pid > 0 && interrupts::is_interrupted() {
                return kill(Pid::from_raw(pid), Signal::SIGTERM);
            }
        }
    });
    interrupts::handle_during(|| {
        unprivileged::enter_pid_namespace()?;
        let mut command = this_program();
        command.args(words).env(unprivileged::FIRST_PROCESS, std::process::id().to_string());
        let mut child = command.spawn().map_err(|error| cannot_restart(&error))?;
        second.store(child.id() as i32, Ordering::SeqCst);
        let status = child.wait().map_err(|error| cannot_restart(&error))?;
        second.store(0, Ordering::SeqCst);
        Ok(shell_status(status))
    })
}

fn this_program() -> Command {
    let mut command = Command::new("/proc/self/exe");
    command.arg0("lasthop");
    command
}

fn cannot_restart(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot start this program again: {error}"), "/proc/self/exe must be executable")
}

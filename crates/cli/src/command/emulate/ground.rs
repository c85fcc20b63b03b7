//! Where a run makes what it makes: on the machine, as root; or, without root's rights, in namespaces of the user's own, by
//! this program once more.

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

/// One of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ground {
    Root,
    Apart,
}

/// The word by which this program knows that it is called once more.
const AGAIN: &str = "apart";
/// How often the first process asks itself whether the second has to be told to end.
const PATIENCE: Duration = Duration::from_millis(20);

/// The run that we are, as others know it.
pub(super) fn run() -> u32 {
    apart::run().unwrap_or_else(std::process::id)
}

impl Ground {
    /// Finds out. Where we are not root, this program is called once more and all begins anew.
    pub(super) fn find() -> Result<Ground, SystemError> {
        if apart::run().is_some() {
            apart::arrive()?;
            return Ok(Ground::Apart);
        }
        if apart::is_root() {
            return Ok(Ground::Root);
        }
        // A user namespace is entered by a process of one thread, and we have more.
        let error = again().arg(AGAIN).args(env::args_os().skip(1)).exec();
        Err(not_again(&error))
    }

    /// Tidies up what others have left, and has somebody there who tidies up after us. In namespaces of our own that is the
    /// kernel.
    pub(super) fn guard(self) -> Result<Option<Guard>, SystemError> {
        match self {
            Ground::Root => {
                path::tidy();
                Guard::begin().map(Some)
            }
            Ground::Apart => {
                group::remove_stale();
                output::note(
                    "note: without root, in namespaces of your own: no real-time priority; as root it keeps time better",
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

    /// As whom a program runs; `as_root` if with our rights. An emulation inside this one has them, too, to be led on
    /// through this one's network as it is; what it runs has not.
    pub(super) fn runner(self, words: &[String], as_root: bool) -> Runner {
        match self {
            _ if as_root || is_emulation(words) => Runner::Us,
            Ground::Root => Caller::of_sudo().map_or(Runner::Us, Runner::Caller),
            Ground::Apart => Runner::Bare,
        }
    }

    /// Whether the network that we are in may be changed.
    pub(super) fn may_change_network(self) -> bool {
        self == Ground::Root || apart::may_change_network()
    }

    /// The rules by which the path leads on, in this thread's network namespace. There TCP may be redirected, if nobody
    /// else uses it.
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

/// If this program is called once more: does what the words say in namespaces of the user's own.
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

/// The first process of both: the status of the second.
fn enter(words: Vec<OsString>) -> Result<u8, SystemError> {
    apart::own_rights()?;
    // An interruption is the second one's business: it is told, and we end when it has.
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
    SystemError::new(
        format!("cannot run this program once more: {error}"),
        "it is called by /proc/self/exe: may it be run?",
    )
}

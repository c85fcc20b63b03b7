//! Programs in namespaces.

use crate::apart::{self, give_up_rights};
use crate::error::SystemError;
use crate::group::Group;
use crate::namespace::Namespace;
use crate::resolver::Names;
use crate::user::Runner;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Attachment of a program to this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attached {
    /// With standard input and output of this process, and signals of the terminal.
    Foreground,
    /// Without input; output to standard error; no signals of the terminal.
    Background,
}

/// A running program, killed on drop.
#[derive(Debug)]
pub struct Program {
    child: Child,
    attached: Attached,
}

impl Program {
    /// Starts a program, with its user, its control group and its resolvers; `None` means those of this process.
    ///
    /// # Errors
    /// If the program is missing or not executable.
    pub fn start(
        namespace: &Namespace,
        words: &[String],
        attached: Attached,
        runner: &Runner,
        group: Option<&Group>,
        names: Option<&Names>,
    ) -> Result<Program, SystemError> {
        let Some((name, arguments)) = words.split_first() else {
            return Err(SystemError::new("no command is given", "give a command after `--`"));
        };
        let mut command = Command::new(name);
        command.args(arguments).env_remove(apart::RUN);
        if attached == Attached::Background {
            command.stdin(Stdio::null()).stdout(io::stderr()).process_group(0);
        }
        if let Runner::Caller(user) = runner {
            user.runs(&mut command);
        }
        let mut spawn = || {
            namespace.within(|| {
                if let Some(names) = names {
                    names.show()?;
                }
                if *runner == Runner::Bare {
                    give_up_rights();
                }
                command.spawn()
            })
        };
        let child = match group.map(|group| group.within(&mut spawn)) {
            Some(Ok(child)) => child,
            // A program outside its group is only not measured.
            None | Some(Err(_)) => spawn(),
        };
        let child = child?.map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::NotFound => "check the name; to run a shell line: -- sh -c 'LINE'",
                io::ErrorKind::PermissionDenied => "check that the file is an executable program",
                _ => "see the system's error above",
            };
            SystemError::new(format!("cannot run `{name}`: {error}"), help)
        })?;
        Ok(Program { child, attached })
    }

    /// Exit status once ended; 128 plus the signal number after a signal, as in shells.
    ///
    /// # Errors
    /// If the system call fails.
    pub fn ended(&mut self) -> Result<Option<u8>, SystemError> {
        let status = self.child.try_wait().map_err(|error| {
            SystemError::new(format!("cannot wait for the command: {error}"), "see the system's error above")
        })?;
        Ok(status.map(number))
    }

    /// Sends SIGTERM, or SIGKILL if `at_once`.
    pub fn stop(&self, at_once: bool) {
        let pid = self.child.id() as i32;
        let signal = if at_once { Signal::SIGKILL } else { Signal::SIGTERM };
        let whom = if self.attached == Attached::Background { -pid } else { pid };
        let _ = kill(Pid::from_raw(whom), signal);
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            self.stop(true);
            let _ = self.child.wait();
        }
    }
}

/// Exit status as in shells: 128 plus the signal number after a signal.
pub fn number(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_count_as_in_shells() {
        assert_eq!(number(ExitStatus::from_raw(0)), 0);
        assert_eq!(number(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(number(ExitStatus::from_raw(15)), 143);
    }
}

//! A program in a namespace.

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

/// How a program is attached to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attached {
    /// It has our standard input and output, and gets the terminal's signals.
    Foreground,
    /// It reads nothing, writes to our standard error, and gets no signal but ours.
    Background,
}

/// A program that runs.
#[derive(Debug)]
pub struct Program {
    child: Child,
    attached: Attached,
}

impl Program {
    /// Starts it, as we or as somebody else, in a control group or in ours, with resolvers of its own or with ours.
    ///
    /// # Errors
    /// If there is no such program, or it may not be run.
    pub fn start(
        namespace: &Namespace,
        words: &[String],
        attached: Attached,
        runner: &Runner,
        group: Option<&Group>,
        names: Option<&Names>,
    ) -> Result<Program, SystemError> {
        let Some((name, arguments)) = words.split_first() else {
            return Err(SystemError::new("there is no command to run", "give one behind `--`"));
        };
        let mut command = Command::new(name);
        // What it may start is another run.
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
            // A group that cannot be entered only counts nothing.
            None | Some(Err(_)) => spawn(),
        };
        let child = child?.map_err(|error| {
            let help = match error.kind() {
                io::ErrorKind::NotFound => "check its name; a line for the shell is run by: -- sh -c 'LINE'",
                io::ErrorKind::PermissionDenied => "is it a program, and may it be run?",
                _ => "see what the system says",
            };
            SystemError::new(format!("cannot run `{name}`: {error}"), help)
        })?;
        Ok(Program { child, attached })
    }

    /// Its exit status once it has ended: 128 and the signal's number if a signal ended it, as shells count.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn ended(&mut self) -> Result<Option<u8>, SystemError> {
        let status = self.child.try_wait().map_err(|error| {
            SystemError::new(format!("cannot wait for the command: {error}"), "see what the system says")
        })?;
        Ok(status.map(number))
    }

    /// Asks it to end, or makes it.
    pub fn stop(&self, at_once: bool) {
        let pid = self.child.id() as i32;
        let signal = if at_once { Signal::SIGKILL } else { Signal::SIGTERM };
        // A background program is the leader of a group of its own.
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

/// A status as shells count it: 128 and the signal's number if a signal ended the program.
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

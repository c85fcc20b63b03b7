//! Starts programs in namespaces.

use crate::control_group::ControlGroup;
use crate::error::SystemError;
use crate::namespace::Namespace;
use crate::resolver::ResolvConf;
use crate::unprivileged::{self, drop_capabilities};
use crate::user::Runner;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Relation of a started program to the terminal and the streams of this process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attachment {
    /// The program uses the standard input and output of this process, and receives signals from the terminal.
    Foreground,
    /// The program has no input, writes its output to standard error, and receives no signals from the terminal.
    Background,
}

/// A running program, killed on drop.
#[derive(Debug)]
pub struct Program {
    child: Child,
    attachment: Attachment,
}

impl Program {
    /// Starts a program in a namespace, as the user of `runner`. If the control group is `None`, the program runs in
    /// the control group of this process. If the resolvers are `None`, the program uses the resolvers of this process.
    ///
    /// # Errors
    /// Fails if the program does not exist or is not executable.
    pub fn start(
        namespace: &Namespace,
        words: &[String],
        attachment: Attachment,
        runner: &Runner,
        group: Option<&ControlGroup>,
        resolv_conf: Option<&ResolvConf>,
    ) -> Result<Program, SystemError> {
        let Some((name, arguments)) = words.split_first() else {
            return Err(SystemError::new("no command is given", "give a command after `--`"));
        };
        let mut command = Command::new(name);
        command.args(arguments).env_remove(unprivileged::FIRST_PROCESS);
        if attachment == Attachment::Background {
            command.stdin(Stdio::null()).stdout(io::stderr()).process_group(0);
        }
        if let Runner::Caller(user) = runner {
            user.apply_to(&mut command);
        }
        let mut spawn = || {
            namespace.within(|| {
                if let Some(resolv_conf) = resolv_conf {
                    resolv_conf.bind_mount()?;
                }
                if *runner == Runner::Unprivileged {
                    drop_capabilities();
                }
                command.spawn()
            })
        };
        let child = match group.map(|group| group.within(&mut spawn)) {
            Some(Ok(child)) => child,
            // A program that cannot start in the control group starts outside the group. Only the program's waiting
            // time for a processor is then not measured.
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
        Ok(Program { child, attachment })
    }

    /// Exit status if the program has ended, otherwise `None`. After a signal, the status is 128 plus the signal
    /// number, as in shells.
    ///
    /// # Errors
    /// Fails if the system call fails.
    pub fn try_wait(&mut self) -> Result<Option<u8>, SystemError> {
        let status = self.child.try_wait().map_err(|error| {
            SystemError::new(format!("cannot wait for the command: {error}"), "see the system's error above")
        })?;
        Ok(status.map(shell_status))
    }

    /// Sends SIGKILL to the program if `kills` is true, otherwise SIGTERM.
    pub fn stop(&self, kills: bool) {
        let pid = self.child.id() as i32;
        let signal = if kills { Signal::SIGKILL } else { Signal::SIGTERM };
        let target = if self.attachment == Attachment::Background { -pid } else { pid };
        let _ = kill(Pid::from_raw(target), signal);
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
pub fn shell_status(status: ExitStatus) -> u8 {
    let signal = || status.signal().map(|signal| 128 + signal);
    status.code().or_else(signal).and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_count_as_in_shells() {
        assert_eq!(shell_status(ExitStatus::from_raw(0)), 0);
        assert_eq!(shell_status(ExitStatus::from_raw(7 << 8)), 7);
        assert_eq!(shell_status(ExitStatus::from_raw(15)), 143);
    }
}

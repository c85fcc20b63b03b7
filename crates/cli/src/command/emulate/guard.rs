//! Starts the guard: a second process of this program. If the run is killed, the guard undoes the run's changes to this
//! machine.
//!
//! The guard reads a pipe from the run. The word `done` means that the run has undone its changes itself. End of file
//! without `done` means that the run was killed.

use crate::command::linux::TIDY;
use lasthop_os::SystemError;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// Message to the guard that the run draws on the terminal, so that the guard also restores the terminal after a kill.
pub(crate) const DRAWN_MESSAGE: &str = "drawn\n";

pub(super) struct Guard {
    child: Child,
    /// Pipe to the guard. Closed at the end of the run.
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts the guard in its own process group, so that signals to the run's process group do not reach the guard.
    ///
    /// # Errors
    /// If the program cannot be started a second time.
    pub(super) fn begin() -> Result<Guard, SystemError> {
        let refused = |error: io::Error| SystemError {
            message: format!("cannot start the process that cleans up after a kill: {error}"),
            help: "/proc/self/exe must be executable".to_owned(),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lasthop").arg(TIDY).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(refused)?;
        let pipe = child.stdin.take().ok_or_else(|| refused(ErrorKind::BrokenPipe.into()))?;
        Ok(Guard { child, pipe: Some(pipe) })
    }

    /// Makes the guard also restore the terminal if the run is killed.
    pub(super) fn restore_terminal_on_kill(&mut self) {
        if let Some(pipe) = &mut self.pipe {
            let _ = pipe.write_all(DRAWN_MESSAGE.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.child.wait();
    }
}

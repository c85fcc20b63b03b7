//! Who takes back what a run has changed on this machine if it is killed: a process of its own, this program once more.
//!
//! It reads its standard input, whose other end is ours. `done` there means that all has been taken back; an end without
//! it, that we were killed.

use crate::command::linux::TIDY;
use lasthop_os::SystemError;
use std::io::{self, ErrorKind, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};

/// What it is told if we draw on the terminal.
pub(crate) const DRAWN: &str = "drawn\n";

/// That process, as the run has it.
pub(super) struct Guard {
    child: Child,
    /// Until this ends.
    pipe: Option<ChildStdin>,
}

impl Guard {
    /// Starts it, out of reach of what stops our terminal or our group.
    ///
    /// # Errors
    /// If this program cannot be run once more.
    pub(super) fn begin() -> Result<Guard, SystemError> {
        let refused = |error: io::Error| SystemError {
            message: format!("cannot start the process that tidies up after a kill: {error}"),
            help: "it is this program once more, by /proc/self/exe: may it be run?".to_owned(),
        };
        let mut command = Command::new("/proc/self/exe");
        command.arg0("lasthop").arg(TIDY).process_group(0).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(refused)?;
        let pipe = child.stdin.take().ok_or_else(|| refused(ErrorKind::BrokenPipe.into()))?;
        Ok(Guard { child, pipe: Some(pipe) })
    }

    /// If we are killed from now on, it gives the terminal back, too.
    pub(super) fn gives_back_terminal(&mut self) {
        if let Some(pipe) = &mut self.pipe {
            let _ = pipe.write_all(DRAWN.as_bytes());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // It is closed with that.
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"done\n");
        }
        let _ = self.child.wait();
    }
}

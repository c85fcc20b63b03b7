//! Draws the run on the terminal's alternate screen (`--live`).
//!
//! * `captured_output`: output of the command during the run.
//! * `picture`: draws the observations.
//!
//! During `--live`, a pseudo-terminal receives the output that COMMAND and Lasthop write to the terminal. The screen
//! shows the last lines. When the terminal is restored, the whole output is written to the terminal. Redirected output
//! is unaffected.

mod captured_output;
pub(super) mod picture;

use crate::failure::Failure;
use captured_output::CapturedOutput;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{OpenptyResult, Winsize, openpty};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::termios::{FlushArg, LocalFlags, OutputFlags, SetArg, Termios, tcflush, tcgetattr, tcsetattr};
use nix::unistd::{dup, dup2_stderr, dup2_stdin, dup2_stdout};
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen};
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Terminal in use by `--live`. Restored on drop.
pub(super) struct Screen {
    tty: File,
    before: Termios,
    /// Saved file descriptors of standard input, output and error; `None` for a stream that is not a terminal.
    saved: [Option<OwnedFd>; 3],
    output: Arc<Mutex<CapturedOutput>>,
    is_over: Arc<AtomicBool>,
    reader: Option<JoinHandle<()>>,
}

/// Interval at which the reading thread checks whether the run has ended, ms.
const DRAIN_MILLIS: u8 = 50;

/// Opens the controlling terminal of this process.
///
/// # Errors
/// If the process has no controlling terminal.
pub(super) fn terminal() -> Result<File, Failure> {
    OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|error| {
        Failure::bad_input(
            format!("--live needs a terminal: {error}"),
            "run in a terminal, or write JSON lines: --watch FILE",
        )
    })
}

impl Screen {
    /// Switches to the alternate screen.
    ///
    /// # Errors
    /// If a system call fails.
    pub(super) fn enter(tty: File) -> Result<Screen, Failure> {
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot draw on the terminal: {error}"), "omit --live")
        };
        let (columns, rows) = ratatui::crossterm::terminal::size().map_err(failed)?;
        let size =
            Winsize { ws_row: picture::output_rows(rows), ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        let OpenptyResult { master, slave } = openpty(&size, None).map_err(|error| failed(error.into()))?;
        let before = tcgetattr(&tty).map_err(|error| failed(error.into()))?;
        // Line ends must not be converted twice. The real terminal converts line ends, so the pseudo-terminal must not.
        let mut plain = tcgetattr(&slave).map_err(|error| failed(error.into()))?;
        plain.output_flags.remove(OutputFlags::OPOST);
        tcsetattr(&slave, SetArg::TCSANOW, &plain).map_err(|error| failed(error.into()))?;
        let output = Arc::new(Mutex::new(CapturedOutput::default()));
        let is_over = Arc::new(AtomicBool::new(false));
        let reader = {
            let (output, is_over) = (Arc::clone(&output), Arc::clone(&is_over));
            thread::spawn(move || read(File::from(master), &output, &is_over))
        };
        let mut screen = Screen {
            tty,
            before: before.clone(),
            saved: [None, None, None],
            output,
            is_over,
            reader: Some(reader),
        };
        // Typed text is not echoed, because no program reads it. The kernel still handles Ctrl-C.
        let mut quiet = before;
        quiet.local_flags.remove(LocalFlags::ECHO);
        tcsetattr(&screen.tty, SetArg::TCSANOW, &quiet).map_err(|error| failed(error.into()))?;
        execute!(screen.tty, EnterAlternateScreen, Hide).map_err(failed)?;
        screen.redirect(slave).map_err(failed)?;
        Ok(screen)
    }

    /// Redirects output for the terminal to the pseudo-terminal, and input from the terminal to /dev/null.
    fn redirect(&mut self, slave: OwnedFd) -> io::Result<()> {
        if io::stdin().is_terminal() {
            self.saved[0] = Some(dup(io::stdin())?);
            dup2_stdin(File::open("/dev/null")?)?;
        }
        if io::stdout().is_terminal() {
            self.saved[1] = Some(dup(io::stdout())?);
            dup2_stdout(&slave)?;
        }
        if io::stderr().is_terminal() {
            self.saved[2] = Some(dup(io::stderr())?);
            dup2_stderr(&slave)?;
        }
        Ok(())
    }

    pub(super) fn output(&self) -> Arc<Mutex<CapturedOutput>> {
        Arc::clone(&self.output)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = io::stdout().flush();
        let [stdin, stdout, stderr] = self.saved.each_mut().map(Option::take);
        // No error is expected, because the descriptors are open.
        let _ = stdin.map(dup2_stdin);
        let _ = stdout.map(dup2_stdout);
        let _ = stderr.map(dup2_stderr);
        self.is_over.store(true, Ordering::Relaxed);
        if let Some(reader) = self.reader.take() {
            let _ = reader.join();
        }
        let _ = execute!(self.tty, LeaveAlternateScreen, Show);
        let _ = tcsetattr(&self.tty, SetArg::TCSAFLUSH, &self.before);
        let _ = captured_output::lock(&self.output).write_all(&mut self.tty);
    }
}

/// Reads output until `is_over` is set and no more output arrives.
fn read(mut master: File, output: &Mutex<CapturedOutput>, is_over: &AtomicBool) {
    use std::io::Read;
    let mut buffer = [0; 4096];
    loop {
        let was_over = is_over.load(Ordering::Relaxed);
        let mut ready = [PollFd::new(master.as_fd(), PollFlags::POLLIN)];
        match poll(&mut ready, PollTimeout::from(DRAIN_MILLIS)) {
            Ok(0) if was_over => return,
            Ok(0) => continue,
            Ok(_) => {}
            Err(_) => continue,
        }
        match master.read(&mut buffer) {
            Ok(size) if size > 0 => captured_output::lock(output).add(&buffer[..size]),
            // Reading fails if no process has the pseudo-terminal open, which is the case after the terminal is
            // restored.
            _ => return,
        }
    }
}

/// Restores the terminal after the run was killed.
pub(crate) fn restore_terminal() {
    let Ok(mut tty) = OpenOptions::new().read(true).write(true).open("/dev/tty") else { return };
    // A background process must block SIGTTOU to change the terminal.
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGTTOU);
    let _ = signals.thread_block();
    let _ = execute!(tty, LeaveAlternateScreen, Show);
    if let Ok(mut modes) = tcgetattr(&tty) {
        modes.local_flags.insert(LocalFlags::ECHO);
        let _ = tcsetattr(&tty, SetArg::TCSANOW, &modes);
    }
    let _ = tcflush(&tty, FlushArg::TCIFLUSH);
}

//! Ends a command after Ctrl-C or at the time limit.

use crate::output;
use crate::target::interrupts;
use lasthop_os::{Program, SystemError};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Time between Ctrl-C and SIGTERM, and between SIGTERM and SIGKILL. The terminal also sends Ctrl-C to the command, so
/// the command can end by itself before SIGTERM.
const GRACE_PERIOD: Duration = Duration::from_secs(2);
/// Exit status of a command that reaches the time limit, as in timeout(1).
const TIME_LIMIT_STATUS: u8 = 124;

pub(super) struct Ending {
    /// Instant at which the time limit expires, and the time limit.
    limit: Option<(Instant, Duration)>,
    /// Instant at which the user or the time limit requested the end of the command, and the time from this instant
    /// until SIGTERM.
    since: Option<(Instant, Duration)>,
    is_terminated: bool,
    is_over: bool,
}

impl Ending {
    /// Creates the state for a command that starts now. `limit` is the maximum duration of the command.
    pub(super) fn new(limit: Option<Duration>) -> Ending {
        let limit = limit.map(|span| (Instant::now() + span, span));
        Ending { limit, since: None, is_terminated: false, is_over: false }
    }

    /// Returns the exit status of the command if the command has ended. If the user or the time limit
    /// requested the end of the command, sends SIGTERM and later SIGKILL.
    pub(super) fn poll(&mut self, command: &mut Program) -> Result<Option<u8>, SystemError> {
        if self.since.is_none() && interrupts::is_interrupted() {
            let is_on_terminal = io::stdin().is_terminal();
            self.since = Some((Instant::now(), if is_on_terminal { GRACE_PERIOD } else { Duration::ZERO }));
        }
        if let (None, Some((end, span))) = (self.since, self.limit)
            && Instant::now() >= end
        {
            output::note(&format!(
                "note: the command is ended after {} s (--time-limit)",
                span.as_secs_f64()
            ));
            (self.since, self.is_over) = (Some((Instant::now(), Duration::ZERO)), true);
        }
        if let Some((since, delay)) = self.since {
            if since.elapsed() >= delay && !self.is_terminated {
                command.stop(false);
                self.is_terminated = true;
            }
            if since.elapsed() >= delay + GRACE_PERIOD {
                command.stop(true);
            }
        }
        let status = command.try_wait()?;
        Ok(status.map(|status| if self.is_over { TIME_LIMIT_STATUS } else { status }))
    }
}

//! End of a command: after Ctrl-C, or at the time limit.

use crate::output;
use crate::target::patience;
use lasthop_os::{Program, SystemError};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// Time for a command to end after Ctrl-C, which the terminal also sends to the command. SIGTERM follows, and after the
/// same time again SIGKILL.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
/// Exit status at the time limit, as in timeout(1).
const TIME_OVER: u8 = 124;

pub(super) struct Ending {
    /// Instant of the time limit, and its length.
    limit: Option<(Instant, Duration)>,
    /// Instant of the stop request, and time until SIGTERM.
    since: Option<(Instant, Duration)>,
    is_asked: bool,
    is_over: bool,
}

impl Ending {
    /// `limit`: maximum duration of a command that begins now.
    pub(super) fn new(limit: Option<Duration>) -> Ending {
        let limit = limit.map(|span| (Instant::now() + span, span));
        Ending { limit, since: None, is_asked: false, is_over: false }
    }

    /// Status of the command once ended. After Ctrl-C on the terminal, the command first gets time to end by itself.
    pub(super) fn of(&mut self, command: &mut Program) -> Result<Option<u8>, SystemError> {
        if self.since.is_none() && patience::is_interrupted() {
            let is_told = io::stdin().is_terminal();
            self.since = Some((Instant::now(), if is_told { ENDS_WITHIN } else { Duration::ZERO }));
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
        if let Some((since, asked_after)) = self.since {
            if since.elapsed() >= asked_after && !self.is_asked {
                command.stop(false);
                self.is_asked = true;
            }
            if since.elapsed() >= asked_after + ENDS_WITHIN {
                command.stop(true);
            }
        }
        let status = command.ended()?;
        Ok(status.map(|status| if self.is_over { TIME_OVER } else { status }))
    }
}

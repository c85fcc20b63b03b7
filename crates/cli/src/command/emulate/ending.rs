//! When a command has to end: after Ctrl-C, or when its time is over.

use crate::output;
use crate::target::patience;
use lasthop_os::{Program, SystemError};
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

/// How long a command has to end by itself after the terminal's Ctrl-C, which it gets, too; then it is asked to, and as
/// long after that it is made to.
const ENDS_WITHIN: Duration = Duration::from_secs(2);
/// The exit status of a command whose time was over, as timeout(1) has it.
const TIME_OVER: u8 = 124;

/// How far a command's end has got.
pub(super) struct Ending {
    /// When its time is over.
    limit: Option<(Instant, Duration)>,
    /// Since when it is to end, and how long after that it is asked to.
    since: Option<(Instant, Duration)>,
    is_asked: bool,
    is_over: bool,
}

impl Ending {
    /// A command that begins now, and may run so long.
    pub(super) fn new(limit: Option<Duration>) -> Ending {
        let limit = limit.map(|span| (Instant::now() + span, span));
        Ending { limit, since: None, is_asked: false, is_over: false }
    }

    /// Its status once it has ended. After Ctrl-C it has time to end by itself, if the terminal has told it, too; then it
    /// is asked to, and later made to.
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

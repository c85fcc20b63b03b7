//! Errors of commands, their messages and exit statuses.

use crate::output;
use crate::troubleshooting;
use lasthop_scenario::{PlainProblem, Problem};
use lasthop_sim::Outcome;
use miette::{MietteHandlerOpts, Report};
use std::io::IsTerminal;

const FAILED: u8 = 1;
pub(crate) const BAD_INPUT: u8 = 2;
/// Exit status of a real-time run that is invalid, for example because packets were late.
#[cfg(target_os = "linux")]
pub(crate) const INVALID: u8 = 3;
pub(crate) const INTERRUPTED: u8 = 130;

pub(crate) enum Failure {
    Scenario(Problem),
    Other(u8, PlainProblem),
    /// Exit status of the user's command. The command has printed its own message.
    #[cfg(target_os = "linux")]
    Command(u8),
    /// Interruption by the user, with a message about the progress.
    Interrupted(String),
    /// Standard output is closed.
    ClosedPipe,
}

impl Failure {
    pub(crate) fn bad_input(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(BAD_INPUT, PlainProblem::new(message, help))
    }

    /// Creates an interruption without a message.
    #[cfg(target_os = "linux")]
    pub(crate) fn interrupted() -> Failure {
        Failure::Command(INTERRUPTED)
    }

    pub(crate) fn no_threads(error: std::io::Error) -> Failure {
        Failure::failed(
            format!("cannot start a thread: {error}"),
            "the limit of processes may be reached: see ulimit -u",
        )
    }

    pub(crate) fn failed(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(FAILED, PlainProblem::new(message, help))
    }

    /// Checks that a run reached its end.
    ///
    /// # Errors
    /// If the simulated time of the run stopped advancing.
    pub(crate) fn check_stuck(outcome: &Outcome) -> Result<(), Failure> {
        match &outcome.stuck {
            None => Ok(()),
            Some(stuck) => Err(Failure::failed(&stuck.message, &stuck.help)),
        }
    }

    /// Prints a note about the first flow that ended because its transport implementation failed, and the number of
    /// further flows that ended for this reason.
    pub(crate) fn note_ended_flows(outcome: &Outcome) {
        let mut failed = outcome.flows.iter().filter_map(|flow| Some((flow, flow.failure.as_ref()?)));
        let Some((flow, (at_s, reason))) = failed.next() else { return };
        let others = match failed.count() {
            0 => String::new(),
            count => format!(" (and {count} more)"),
        };
        output::note(&format!(
            "note: flow.{}{others} ended at {at_s:.3} s with seed {}, because its transport failed: {reason}; the \
             flow's numbers cover the time until then",
            flow.name, outcome.seed
        ));
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn invalid(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::invalid_as(INVALID, message, help)
    }

    /// Creates a [`Failure::invalid`] with an exit status chosen by the user.
    #[cfg(target_os = "linux")]
    pub(crate) fn invalid_as(status: u8, message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(status, PlainProblem::new(message, help))
    }

    /// Returns the message as one line, without the help text.
    pub(crate) fn message(&self) -> String {
        match self {
            Failure::Scenario(problem) => problem.to_string(),
            Failure::Other(_, problem) => problem.message.clone(),
            Failure::Interrupted(progress) => progress.clone(),
            #[cfg(target_os = "linux")]
            Failure::Command(_) => String::new(),
            Failure::ClosedPipe => String::new(),
        }
    }

    pub(crate) fn status(&self) -> u8 {
        match self {
            Failure::Scenario(_) => BAD_INPUT,
            Failure::Other(status, _) => *status,
            #[cfg(target_os = "linux")]
            Failure::Command(status) => *status,
            Failure::Interrupted(_) => INTERRUPTED,
            Failure::ClosedPipe => 0,
        }
    }

    /// Formats the complete message. Underlines the faulty text if its position is known. If the troubleshooting page
    /// has an entry about the message, the last line names this entry.
    pub(crate) fn render(self: &Failure) -> String {
        let report = match self {
            Failure::Scenario(problem) => Report::new(problem.clone()),
            Failure::Other(_, problem) => Report::new(problem.clone()),
            #[cfg(target_os = "linux")]
            Failure::Command(_) => return String::new(),
            Failure::Interrupted(progress) => return progress.clone(),
            Failure::ClosedPipe => return String::new(),
        };
        let mut text = format!("{report:?}").trim_end().to_owned();
        if let Some(pointer) = troubleshooting::pointer(&self.message()) {
            text.push_str("\n  ");
            text.push_str(&pointer);
        }
        text
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Scenario(problem)
    }
}

impl From<lasthop_sweep::store::Error> for Failure {
    /// Creates a failure (exit status 1) if the result store is in use, full or broken. Other errors are bad input
    /// (exit status 2).
    fn from(error: lasthop_sweep::store::Error) -> Failure {
        use lasthop_sweep::store::Error;
        let (message, help) = (error.to_string(), error.help());
        match error {
            Error::InUse(_) | Error::Full(_) | Error::Broken(..) => Failure::failed(message, help),
            _ => Failure::bad_input(message, help),
        }
    }
}

/// Sets the style of error messages: coloured and wrapped on a terminal, otherwise unwrapped.
pub(crate) fn install_style() {
    let is_terminal = std::io::stderr().is_terminal();
    // The error is ignored, because only a second call of `set_hook` fails.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(MietteHandlerOpts::new().terminal_links(false).wrap_lines(is_terminal).build())
    }));
}

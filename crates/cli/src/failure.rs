//! What can go wrong, as the user is told.

use lasthop_scenario::{Complaint, Problem};
use lasthop_sim::Outcome;
use miette::{MietteHandlerOpts, Report};
use std::io::IsTerminal;

/// Exit status of a command that could not be done.
const FAILED: u8 = 1;
/// Exit status if what the user gave cannot be used.
pub(crate) const BAD_INPUT: u8 = 2;
/// Exit status of a run in real time that was not in time.
#[cfg(target_os = "linux")]
pub(crate) const INVALID: u8 = 3;
/// Exit status after Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;

/// Why a command ends early.
pub(crate) enum Failure {
    /// A scenario is wrong.
    Scenario(Problem),
    /// Something else is, with its exit status.
    Other(u8, Complaint),
    /// A command that was run for the user ended with this status, and has said itself why.
    #[cfg(target_os = "linux")]
    Command(u8),
    /// The user wanted no more; how far it came.
    Interrupted(String),
    /// Nobody reads standard output any more.
    ClosedPipe,
}

impl Failure {
    /// The user gave something that cannot be used.
    pub(crate) fn bad_input(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(BAD_INPUT, Complaint::new(message, help))
    }

    /// The user wants no more.
    #[cfg(target_os = "linux")]
    pub(crate) fn interrupted() -> Failure {
        Failure::Command(INTERRUPTED)
    }

    /// The system gives no thread to work on.
    pub(crate) fn no_threads(error: std::io::Error) -> Failure {
        Failure::failed(
            format!("cannot start a thread: {error}"),
            "are there too many of them? see ulimit -u",
        )
    }

    /// Something failed that might work another time.
    pub(crate) fn failed(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(FAILED, Complaint::new(message, help))
    }

    /// Refuses a run that did not come to its end.
    ///
    /// # Errors
    /// A run whose time stands still, and how to mend it.
    pub(crate) fn of_stuck(outcome: &Outcome) -> Result<(), Failure> {
        match &outcome.stuck {
            None => Ok(()),
            Some(stuck) => Err(Failure::failed(&stuck.message, &stuck.help)),
        }
    }

    /// What came out must not be used.
    #[cfg(target_os = "linux")]
    pub(crate) fn invalid(message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::invalid_as(INVALID, message, help)
    }

    /// The same with an exit status of the user's choice.
    #[cfg(target_os = "linux")]
    pub(crate) fn invalid_as(status: u8, message: impl Into<String>, help: impl Into<String>) -> Failure {
        Failure::Other(status, Complaint::new(message, help))
    }

    /// What is wrong, in one line.
    #[cfg(target_os = "linux")]
    pub(crate) fn message(&self) -> String {
        match self {
            Failure::Scenario(problem) => problem.to_string(),
            Failure::Other(_, complaint) => complaint.message.clone(),
            Failure::Interrupted(how_far) => how_far.clone(),
            Failure::Command(_) | Failure::ClosedPipe => String::new(),
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

    /// The whole message, drawn with the text underlined where there is one.
    pub(crate) fn told(self: &Failure) -> String {
        let report = match self {
            Failure::Scenario(problem) => Report::new(problem.clone()),
            Failure::Other(_, complaint) => Report::new(complaint.clone()),
            #[cfg(target_os = "linux")]
            Failure::Command(_) => return String::new(),
            Failure::Interrupted(how_far) => return how_far.clone(),
            Failure::ClosedPipe => return String::new(),
        };
        format!("{report:?}").trim_end().to_owned()
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Failure {
        Failure::Scenario(problem)
    }
}

impl From<lasthop_sweep::store::Error> for Failure {
    /// What a store is not is a mistake in what was given; what happens to it is a failure.
    fn from(error: lasthop_sweep::store::Error) -> Failure {
        use lasthop_sweep::store::Error;
        let (message, help) = (error.to_string(), error.help());
        match error {
            Error::InUse(_) | Error::Full(_) | Error::Broken(..) => Failure::failed(message, help),
            _ => Failure::bad_input(message, help),
        }
    }
}

/// Colours and wrapping on a terminal; whole lines where a program reads them.
pub(crate) fn install_style() {
    let is_terminal = std::io::stderr().is_terminal();
    // Only a second call could fail, and there is none.
    let _ = miette::set_hook(Box::new(move |_| {
        Box::new(MietteHandlerOpts::new().terminal_links(false).wrap_lines(is_terminal).build())
    }));
}

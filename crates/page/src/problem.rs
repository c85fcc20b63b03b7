//! Errors in the form that a page shows.

use lasthop_scenario::Problem;
use serde_json::{Value, json};

pub(crate) enum Refusal {
    Scenario(Problem),
    /// An error in the request itself, one sentence.
    Request(String),
}

impl Refusal {
    pub(crate) fn plain(message: String) -> Refusal {
        Refusal::Request(message)
    }

    /// The command line's message, with the place in a browser's units.
    pub(crate) fn told(&self) -> Value {
        match self {
            Refusal::Request(message) => json!({ "message": message }),
            Refusal::Scenario(problem) => {
                let place = problem.utf16();
                json!({
                    "message": problem.message(),
                    "help": problem.advice(),
                    "file": problem.file(),
                    "line": problem.line(),
                    "column": problem.column(),
                    "from": place.start,
                    "to": place.end,
                    "underlined": problem.underlined(),
                })
            }
        }
    }
}

impl From<Problem> for Refusal {
    fn from(problem: Problem) -> Refusal {
        Refusal::Scenario(problem)
    }
}

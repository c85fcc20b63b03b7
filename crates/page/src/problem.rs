//! What is wrong, as a page shows it.

use lasthop_scenario::Problem;
use serde_json::{Value, json};

/// Why there is no answer.
pub(crate) enum Refusal {
    /// Something in a scenario.
    Scenario(Problem),
    /// Something in the request itself, a sentence.
    Request(String),
}

impl Refusal {
    pub(crate) fn plain(message: String) -> Refusal {
        Refusal::Request(message)
    }

    /// What the command line says, and the place as a browser counts it.
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

//! Errors of requests, in the form in which a page shows them.

use lasthop_scenario::Problem;
use serde_json::{Value, json};

pub(crate) enum RequestError {
    Scenario(Problem),
    /// An error in the request itself. The text is one sentence.
    Request(String),
}

impl RequestError {
    pub(crate) fn plain(message: String) -> RequestError {
        RequestError::Request(message)
    }

    /// Returns the error as JSON, with the message of the command line. Positions count UTF-16 units, like browsers.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            RequestError::Request(message) => json!({ "message": message }),
            RequestError::Scenario(problem) => {
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

impl From<Problem> for RequestError {
    fn from(problem: Problem) -> RequestError {
        RequestError::Scenario(problem)
    }
}

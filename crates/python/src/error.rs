//! Conversion of errors to the Python exception `lasthop.Error`. The exception has a message, the position in the
//! scenario, and help. Its text looks like an error message of the command `lasthop`.

use lasthop_scenario::{PlainProblem, Problem};
use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use std::fmt;

/// Creates a `lasthop.Error` for a problem of a scenario.
pub fn of_problem(py: Python<'_>, problem: &Problem) -> PyErr {
    let span = (problem.file(), problem.line(), problem.column(), problem.underlined());
    to_py_err(py, problem.message(), problem.advice(), Some(span), &rendered(problem))
}

/// Creates a `lasthop.Error` for a problem without a position in a scenario.
pub fn bad_input(py: Python<'_>, message: impl Into<String>, help: impl Into<String>) -> PyErr {
    let problem = PlainProblem::new(message, help);
    to_py_err(py, &problem.message, Some(&problem.help), None, &rendered(&problem))
}

type SourceSpan<'a> = (&'a str, usize, usize, &'a str);

fn to_py_err(
    py: Python<'_>,
    message: &str,
    help: Option<&str>,
    span: Option<SourceSpan<'_>>,
    rendered: &str,
) -> PyErr {
    static ERROR: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let (file, line, column, underlined) = match span {
        Some((file, line, column, underlined)) => (Some(file), Some(line), Some(column), Some(underlined)),
        None => (None, None, None, None),
    };
    let error = ERROR
        .import(py, "lasthop._error", "Error")
        .and_then(|class| class.call1((message, help, file, line, column, underlined, rendered)));
    match error {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Renders a problem like the command `lasthop` on a terminal without colours.
fn rendered(problem: &dyn Diagnostic) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_links(false)
        .with_wrap_lines(false);
    match handler.render_report(&mut text, problem) {
        Ok(()) => text.trim_end().to_owned(),
        Err(fmt::Error) => problem.to_string(),
    }
}

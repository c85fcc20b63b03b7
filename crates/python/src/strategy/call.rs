//! Copies of a strategy's Python object, and calls of the object's hooks.

use super::{Strategy, fail};
use crate::error::bad_input;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Smallest time that means never, s.
pub const NEVER_S: f64 = 1e9;

/// A Python object with hooks. After a hook has raised an exception, no hook is called.
pub struct Object {
    name: String,
    /// The object; `None` after an exception.
    object: Option<Py<PyAny>>,
}

impl Object {
    /// Makes a deep copy of the object of a strategy.
    pub fn new(strategy: &Strategy) -> Object {
        Python::attach(|py| match strategy.copied(py) {
            Ok(object) => Object { name: strategy.name.clone(), object: Some(object) },
            Err(error) => {
                fail(error);
                Object { name: strategy.name.clone(), object: None }
            }
        })
    }

    /// Calls `work` with the object. Returns `None` if this call or an earlier call has raised an exception.
    #[inline]
    pub fn attempt<T>(&mut self, work: impl FnOnce(&Hooks<'_, '_>) -> PyResult<T>) -> Option<T> {
        let object = self.object.as_ref()?;
        let done = Python::attach(|py| work(&Hooks { name: &self.name, object: object.bind(py) }));
        match done {
            Ok(value) => Some(value),
            Err(error) => {
                self.object = None;
                fail(error);
                None
            }
        }
    }

    /// Returns the value of a Boolean attribute. Returns false if a hook has raised an exception.
    pub fn flag(&mut self, name: &str) -> bool {
        self.attempt(|hooks| hooks.flag(name)).unwrap_or(false)
    }

    /// Returns whether the object's class overrides a hook of the base class `base`.
    pub fn overrides(&mut self, base: &str, hook: &str) -> bool {
        self.attempt(|hooks| overrides(hooks, base, hook)).unwrap_or(false)
    }
}

/// Access to a Python object while this thread holds Python's global interpreter lock.
pub struct Hooks<'a, 'py> {
    name: &'a str,
    pub object: &'a Bound<'py, PyAny>,
}

impl<'py> Hooks<'_, 'py> {
    pub fn py(&self) -> Python<'py> {
        self.object.py()
    }

    pub fn call(
        &self,
        name: &Bound<'py, PyString>,
        arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>
        + pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.object.call_method1(name, arguments)
    }

    /// Returns a numeric attribute; fails if its value is below `least`.
    #[inline]
    pub fn number(&self, name: &Bound<'py, PyString>, least: f64) -> PyResult<f64> {
        let value = self.object.getattr(name)?;
        match value.extract::<f64>() {
            Ok(number) if number >= least => Ok(number),
            _ => Err(self.wrong(&name.to_string_lossy(), &value, &format!("a number, at least {least}"))),
        }
    }

    /// Returns the numeric result of a hook; fails if the result is below `least`.
    pub fn checked_number(&self, hook: &str, value: &Bound<'py, PyAny>, least: f64) -> PyResult<f64> {
        match value.extract::<f64>() {
            Ok(number) if number >= least => Ok(number),
            _ => Err(self.wrong(&format!("{hook}()"), value, &format!("a number, at least {least}"))),
        }
    }

    pub fn flag(&self, name: &str) -> PyResult<bool> {
        self.object.getattr(name)?.is_truthy()
    }

    /// Creates an error like `Aimd.cwnd is nan: expected …`.
    pub fn wrong(&self, what: &str, value: &Bound<'py, PyAny>, expected: &str) -> PyErr {
        let shown = value.repr().map_or_else(|_| "something".to_owned(), |text| text.to_string());
        let short: String = shown.chars().take(60).collect();
        bad_input(
            self.py(),
            format!("{}.{what} is {short}: expected {expected}", self.name),
            "see docs/how-to/own-mechanism-python.md, or the class's own documentation: help(lasthop.CongestionControl)",
        )
    }
}

/// Returns whether the object's class overrides a hook of the base class `base`.
pub fn overrides(hooks: &Hooks<'_, '_>, base: &str, hook: &str) -> PyResult<bool> {
    let py = hooks.py();
    let base = py.import(intern!(py, "lasthop.strategy"))?.getattr(base)?.getattr(hook)?;
    Ok(!hooks.object.get_type().getattr(hook)?.is(&base))
}

//! Errors of the operating system, each with a help text.

use std::fmt;
use std::io;

/// An error message, and a help text that describes the remedy.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemError {
    /// Description of the error, and of the object concerned.
    pub message: String,
    /// Remedy for the error.
    pub help: String,
}

impl SystemError {
    /// Creates an error from a message and a help text.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> SystemError {
        SystemError { message: message.into(), help: help.into() }
    }

    /// Describes an error of a system call. The help text depends on the kind of error. Kinds without a specific help
    /// text get the text `otherwise`.
    pub fn of_system(what: &str, error: &io::Error, otherwise: &str) -> SystemError {
        let help = match error.kind() {
            io::ErrorKind::PermissionDenied => {
                "run it as root, or set the capability: setcap cap_net_admin+ep lasthop"
            }
            io::ErrorKind::ResourceBusy => "another program uses this name: choose another name",
            _ => otherwise,
        };
        SystemError::new(format!("{what}: {error}"), help)
    }
}

impl fmt::Display for SystemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.help)
    }
}

impl std::error::Error for SystemError {}

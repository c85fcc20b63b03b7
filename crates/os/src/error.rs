//! An error of the system: what it refuses, and how to mend that.

use std::fmt;
use std::io;

/// What went wrong where, and what to do about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SystemError {
    /// What went wrong, and with what.
    pub message: String,
    /// How to mend it.
    pub help: String,
}

impl SystemError {
    /// A message and its help.
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> SystemError {
        SystemError { message: message.into(), help: help.into() }
    }

    /// The help that belongs to an error of the system's; `otherwise` if it is none of the usual ones.
    pub fn of_system(what: &str, error: &io::Error, otherwise: &str) -> SystemError {
        let help = match error.kind() {
            io::ErrorKind::PermissionDenied => {
                "run it as root, or give it the capability: setcap cap_net_admin+ep lasthop"
            }
            io::ErrorKind::NotFound => "the kernel has no TUN devices here: modprobe tun",
            io::ErrorKind::ResourceBusy => "another program has it: choose another name",
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

//! The course of a script: its steps, with the segments both ways and the sender's state after each, told when a test
//! fails.

use super::Step;
use lasthop_base::Time;
use lasthop_tcp::Endpoint;
use std::fmt::{self, Write};
use std::panic::Location;

/// What has happened so far, a line each.
#[derive(Default)]
pub struct Course {
    text: String,
    /// Whether the last line is a step whose outcome is not known.
    is_open: bool,
}

impl Course {
    /// A step of [`super::Script::run`] begins.
    #[track_caller]
    pub fn step(&mut self, now: Time, index: usize, step: &Step) {
        let line = Location::caller().line();
        self.line(now, format_args!("line {line}, step {index}: {step:?}"));
        self.is_open = true;
    }

    /// It is done, and left the sender so.
    pub fn stands(&mut self, endpoint: &Endpoint) {
        let sender = endpoint.sender();
        let (cwnd, ssthresh, in_flight) = (sender.window(), sender.ssthresh(), sender.in_flight());
        self.is_open = false;
        let _ = writeln!(self.text, "{:14}cwnd {cwnd}, ssthresh {ssthresh}, in flight {in_flight}", "");
    }

    /// A segment goes out.
    pub fn out(&mut self, now: Time, what: &str) {
        self.line(now, format_args!("  out: {what}"));
    }

    /// One of the peer's arrives.
    pub fn arrives(&mut self, now: Time, what: &str) {
        self.line(now, format_args!("  in: {what}"));
    }

    fn line(&mut self, now: Time, what: fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{:9.3} ms  {what}", now.as_nanos() as f64 / 1e6);
    }
}

impl fmt::Display for Course {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_open { "              the last step failed" } else { "" };
        write!(f, "{}{end}", self.text)
    }
}

impl Drop for Course {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("every step so far:\n{self}");
        }
    }
}

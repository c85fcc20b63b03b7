//! Log of a script: steps, segments in both directions, and the sender's state, printed if a test fails.

use super::Step;
use lasthop_base::Time;
use lasthop_tcp::Endpoint;
use std::fmt::{self, Write};
use std::panic::Location;

#[derive(Default)]
pub struct StepLog {
    text: String,
    /// Whether the last step in `text` has not ended yet.
    is_open: bool,
}

impl StepLog {
    /// Records the beginning of a step of [`super::Script::run`].
    #[track_caller]
    pub fn step(&mut self, now: Time, index: usize, step: &Step) {
        let line = Location::caller().line();
        self.line(now, format_args!("line {line}, step {index}: {step:?}"));
        self.is_open = true;
    }

    /// Records the end of a step and the sender's state.
    pub fn end_step(&mut self, endpoint: &Endpoint) {
        let sender = endpoint.sender();
        let (cwnd, ssthresh, in_flight) = (sender.window(), sender.ssthresh(), sender.in_flight());
        self.is_open = false;
        let _ = writeln!(self.text, "{:14}cwnd {cwnd}, ssthresh {ssthresh}, in flight {in_flight}", "");
    }

    pub fn sent(&mut self, now: Time, what: &str) {
        self.line(now, format_args!("  out: {what}"));
    }

    pub fn arrived(&mut self, now: Time, what: &str) {
        self.line(now, format_args!("  in: {what}"));
    }

    fn line(&mut self, now: Time, what: fmt::Arguments<'_>) {
        let _ = writeln!(self.text, "{:9.3} ms  {what}", now.as_nanos() as f64 / 1e6);
    }
}

impl fmt::Display for StepLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = if self.is_open { "              the last step failed" } else { "" };
        write!(f, "{}{end}", self.text)
    }
}

impl Drop for StepLog {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("all steps so far:\n{self}");
        }
    }
}

//! A stack whose panic ends only the stack's own flow.

use crate::{Layer, Observed, SentDatagram, Stack};
use lasthop_base::Time;
use lasthop_wire::Ecn;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Catches the panics of a stack. After a panic, the stack is not called again, and [`Stack::failure`] has the panic's
/// message.
pub struct Guarded {
    stack: Box<dyn Stack>,
    panic: Option<String>,
}

impl Guarded {
    /// Wraps a stack.
    pub fn new(stack: Box<dyn Stack>) -> Guarded {
        Guarded { stack, panic: None }
    }

    fn call<R>(&mut self, otherwise: R, call: impl FnOnce(&mut dyn Stack) -> R) -> R {
        if self.panic.is_some() {
            return otherwise;
        }
        let stack = &mut self.stack;
        match catch_unwind(AssertUnwindSafe(move || call(&mut **stack))) {
            Ok(answer) => answer,
            Err(cause) => {
                let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
                let text = text.or_else(|| cause.downcast_ref::<String>().cloned());
                self.panic =
                    Some(format!("panic: {}", text.unwrap_or_else(|| "without a message".to_owned())));
                otherwise
            }
        }
    }
}

impl Stack for Guarded {
    fn layer(&self) -> Layer {
        self.stack.layer()
    }

    fn open(&mut self, now: Time) {
        self.call((), |stack| stack.open(now));
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        self.call((), |stack| stack.handle_datagram(now, datagram, ecn));
    }

    fn handle_timeout(&mut self, now: Time) {
        self.call((), |stack| stack.handle_timeout(now));
    }

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        self.call(None, |stack| stack.poll_datagram(now, datagram))
    }

    fn poll_timeout(&mut self, now: Time) -> Time {
        self.call(Time::NEVER, |stack| stack.poll_timeout(now))
    }

    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.call(0, |stack| stack.write(now, bytes))
    }

    fn finish(&mut self, now: Time) {
        self.call((), |stack| stack.finish(now));
    }

    fn read(&mut self, now: Time) -> u64 {
        self.call(0, |stack| stack.read(now))
    }

    fn is_at_end(&self) -> bool {
        self.panic.is_none() && self.stack.is_at_end()
    }

    fn observe(&self) -> Observed {
        if self.panic.is_none() { self.stack.observe() } else { Observed::default() }
    }

    fn write_log(&mut self, writer: Box<dyn Write + Send + Sync>) -> bool {
        self.call(false, |stack| stack.write_log(writer))
    }

    fn failure(&self) -> Option<String> {
        self.panic.clone().or_else(|| self.stack.failure())
    }
}

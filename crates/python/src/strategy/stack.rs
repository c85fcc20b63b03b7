//! Transport stacks in Python.

use super::Strategy;
use super::call::{NEVER_S, Object};
use lasthop_base::{Duration, Time, Values};
use lasthop_stack::transport::{Build, Connection, Transport};
use lasthop_stack::{Layer, SentDatagram, Stack};
use lasthop_wire::Ecn;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

pub fn build(strategy: Strategy) -> Arc<Build> {
    let strategy = Arc::new(strategy);
    Arc::new(move |_: &Values| {
        let strategy = Arc::clone(&strategy);
        Transport::Own(Arc::new(move |connection| {
            [true, false].map(|is_source| -> Box<dyn Stack> {
                Box::new(PythonStack::new(&strategy, is_source, connection))
            })
        }))
    })
}

struct PythonStack {
    object: Object,
    layer: Layer,
    is_at_end: bool,
}

impl PythonStack {
    fn new(strategy: &Strategy, is_source: bool, connection: &Connection) -> PythonStack {
        let mut object = Object::new(strategy);
        let carries_ip = object.attempt(|hooks| {
            let layer = hooks.object.getattr(intern!(hooks.py(), "layer"))?;
            match layer.extract::<String>().as_deref() {
                Ok("udp") => Ok(false),
                Ok("ip") => Ok(true),
                _ => Err(hooks.wrong("layer", &layer, "\"udp\" or \"ip\"")),
            }
        });
        let is_client = is_source == connection.source_opens;
        object.attempt(|hooks| hooks.object.setattr(intern!(hooks.py(), "is_client"), is_client));
        let arguments = (is_source, connection.datagram, connection.seed >> 1);
        object.attempt(|hooks| hooks.call(intern!(hooks.py(), "on_start"), arguments).map(drop));
        let layer = if carries_ip == Some(true) { Layer::Ip } else { Layer::Udp };
        PythonStack { object, layer, is_at_end: false }
    }

    /// Calls a hook that returns a number of bytes. If `offered` is given, the hook receives this number as its
    /// argument, and must not return more.
    fn bytes(&mut self, hook: &'static str, now: Time, offered: Option<u64>) -> u64 {
        let bytes = self.object.attempt(|hooks| {
            let answer = match offered {
                Some(bytes) => hooks.object.call_method1(hook, (now.as_secs(), bytes))?,
                None => hooks.object.call_method1(hook, (now.as_secs(),))?,
            };
            match answer.extract::<u64>() {
                Ok(bytes) if offered.is_none_or(|offered| bytes <= offered) => Ok(bytes),
                _ => Err(hooks.wrong(
                    &format!("{hook}()"),
                    &answer,
                    "a number of bytes, at most the number offered",
                )),
            }
        });
        bytes.unwrap_or(0)
    }
}

impl Stack for PythonStack {
    fn layer(&self) -> Layer {
        self.layer
    }

    fn open(&mut self, now: Time) {
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "open"), (now.as_secs(),)).map(drop));
    }

    fn handle_datagram(&mut self, now: Time, datagram: &[u8], ecn: Ecn) {
        let is_marked = ecn == Ecn::Ce;
        self.object.attempt(|hooks| {
            let arguments = (now.as_secs(), PyBytes::new(hooks.py(), datagram), is_marked);
            hooks.call(intern!(hooks.py(), "handle_datagram"), arguments).map(drop)
        });
    }

    fn handle_timeout(&mut self, now: Time) {
        self.object
            .attempt(|hooks| hooks.call(intern!(hooks.py(), "handle_timeout"), (now.as_secs(),)).map(drop));
    }

    fn poll_datagram(&mut self, now: Time, datagram: &mut Vec<u8>) -> Option<SentDatagram> {
        let is_sent = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "poll_datagram"), (now.as_secs(),))?;
            if answer.is_none() {
                return Ok(false);
            }
            let Ok(bytes) = answer.cast::<PyBytes>() else {
                return Err(hooks.wrong("poll_datagram()", &answer, "bytes, or None"));
            };
            datagram.extend_from_slice(bytes.as_bytes());
            Ok(true)
        });
        (is_sent == Some(true)).then(SentDatagram::default)
    }

    fn poll_timeout(&mut self, now: Time) -> Time {
        let at_s = self.object.attempt(|hooks| {
            let answer = hooks.call(intern!(hooks.py(), "poll_timeout"), (now.as_secs(),))?;
            if answer.is_none() {
                Ok(None)
            } else {
                hooks.checked_number("poll_timeout", &answer, 0.0).map(Some)
            }
        });
        at_s.flatten().filter(|at_s| *at_s < NEVER_S).map_or(Time::NEVER, at_or_after)
    }

    fn write(&mut self, now: Time, bytes: u64) -> u64 {
        self.bytes("write", now, Some(bytes))
    }

    fn finish(&mut self, now: Time) {
        self.object.attempt(|hooks| hooks.call(intern!(hooks.py(), "finish"), (now.as_secs(),)).map(drop));
    }

    fn read(&mut self, now: Time) -> u64 {
        let bytes = self.bytes("read", now, None);
        self.is_at_end = self
            .object
            .attempt(|hooks| hooks.object.call_method0(intern!(hooks.py(), "is_at_end"))?.is_truthy())
            .unwrap_or(false);
        bytes
    }

    fn is_at_end(&self) -> bool {
        self.is_at_end
    }
}

/// Returns the first instant whose value in seconds is not below `at_s`. At an earlier instant, an object that compares
/// times would find its deadline not reached, and would request the same deadline for ever.
fn at_or_after(at_s: f64) -> Time {
    let mut at = Time::ZERO + Duration::from_secs_f64(at_s);
    while at.as_secs() < at_s {
        at += Duration::from_nanos(1);
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_is_reached_at_its_instant() {
        for at_s in [0.0, 0.1, 1.0 / 3.0, 12.345_678_912_345, 99_999.999_999_999_9] {
            let at = at_or_after(at_s);
            assert!(at.as_secs() >= at_s && at.as_secs() - at_s < 2e-9 + at_s * 1e-15, "{at_s}");
        }
    }
}

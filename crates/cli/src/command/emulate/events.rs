//! Writes events of a run as JSON lines (`--json`), separate from the output of the command and the server.
//!
//! The events are `start`, then `look` at each interval, then `end`, or `failed` if the run fails. The first key of
//! each object is `event`.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Default)]
pub(super) struct Events(Option<Arc<Mutex<EventOutput>>>);

struct EventOutput {
    /// Value of `--json`.
    to: String,
    writer: Option<Box<dyn Write + Send>>,
}

impl Events {
    /// Opens the destination: a file descriptor inherited from the caller, a listening socket `unix:PATH`, or a file.
    pub(super) fn open(to: &str) -> Result<Events, Failure> {
        let wrong = |error: &io::Error, help: &str| {
            Failure::bad_input(format!("--json {to}: cannot write: {error}"), help)
        };
        let writer: Box<dyn Write + Send> = match (to.parse::<u32>(), to.strip_prefix("unix:")) {
            (Ok(number), _) => {
                let file = OpenOptions::new().append(true).open(format!("/dev/fd/{number}"));
                let help = "open the descriptor in the shell: lasthop emulate … --json 3 3>run.jsonl; name a socket \
                            by its path: --json unix:PATH";
                Box::new(file.map_err(|error| wrong(&error, help))?)
            }
            (_, Some(path)) => {
                let socket = UnixStream::connect(path);
                Box::new(
                    socket.map_err(|error| wrong(&error, "a program must listen on this stream socket"))?,
                )
            }
            _ => Box::new(Target::growing(Path::new(to))?),
        };
        Ok(Events(Some(Arc::new(Mutex::new(EventOutput { to: to.to_owned(), writer: Some(writer) })))))
    }

    pub(super) fn is_open(&self) -> bool {
        self.0.is_some()
    }

    /// Writes an event as one line. After the first write error, prints a note and writes no further lines.
    pub(super) fn write(&self, event: &str, what: Value) {
        let Some(out) = &self.0 else { return };
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = &mut out.writer else { return };
        let mut object = Map::new();
        object.insert("event".to_owned(), json!(event));
        if let Value::Object(keys) = what {
            object.extend(keys);
        }
        // One call writes the whole line, so that readers never see part of a line.
        let line = format!("{}\n", Value::Object(object));
        if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
            output::note(&format!("note: --json {}: {error}; the run continues without these lines", out.to));
            out.writer = None;
        }
    }

    pub(super) fn write_failure(&self, failure: &Failure) {
        self.write("failed", json!({ "message": failure.message(), "status": failure.status() }));
    }
}

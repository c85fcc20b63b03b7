//! A run as lines of JSON, by a way that neither the command's output nor the server's takes.
//!
//! `start` first, `look` again and again, `end` last; `failed` in its place if there is no end. Each line is an object
//! whose first key is `event`.

use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use serde_json::{Map, Value, json};
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// Where the lines go; nowhere if nobody wants them.
#[derive(Clone, Default)]
pub(super) struct Events(Option<Arc<Mutex<Out>>>);

struct Out {
    /// As the user wrote it.
    to: String,
    /// `None` once it could not be written.
    writer: Option<Box<dyn Write + Send>>,
}

impl Events {
    /// To a file descriptor that the caller has opened, `unix:PATH` where somebody listens, or a file.
    pub(super) fn open(to: &str) -> Result<Events, Failure> {
        let wrong = |error: &io::Error, help: &str| {
            Failure::bad_input(format!("--json {to}: cannot write there: {error}"), help)
        };
        let writer: Box<dyn Write + Send> = match (to.parse::<u32>(), to.strip_prefix("unix:")) {
            (Ok(number), _) => {
                let file = OpenOptions::new().append(true).open(format!("/dev/fd/{number}"));
                let help = "open it first, in the shell: lasthop emulate … --json 3 3>run.jsonl; a socket is \
                            reached by its name: --json unix:PATH";
                Box::new(file.map_err(|error| wrong(&error, help))?)
            }
            (_, Some(path)) => {
                let socket = UnixStream::connect(path);
                Box::new(socket.map_err(|error| wrong(&error, "somebody has to listen there (a stream)"))?)
            }
            _ => Box::new(Target::growing(Path::new(to))?),
        };
        Ok(Events(Some(Arc::new(Mutex::new(Out { to: to.to_owned(), writer: Some(writer) })))))
    }

    /// Whether anybody wants them.
    pub(super) fn are_wanted(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a line; if that fails, says so and writes no more.
    pub(super) fn tell(&self, event: &str, what: Value) {
        let Some(out) = &self.0 else { return };
        let mut out = out.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(writer) = &mut out.writer else { return };
        let mut object = Map::new();
        object.insert("event".to_owned(), json!(event));
        if let Value::Object(keys) = what {
            object.extend(keys);
        }
        // In one piece: whoever reads gets whole lines.
        let line = format!("{}\n", Value::Object(object));
        if let Err(error) = writer.write_all(line.as_bytes()).and_then(|()| writer.flush()) {
            output::note(&format!("note: --json {}: {error}; the run goes on without", out.to));
            out.writer = None;
        }
    }

    /// What becomes of the run, if it has no end.
    pub(super) fn failed(&self, failure: &Failure) {
        self.tell("failed", json!({ "message": failure.message(), "status": failure.status() }));
    }
}

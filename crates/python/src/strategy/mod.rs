//! Mechanisms in Python. Each seam (kind of mechanism) has an adapter that calls the hooks of the Python object.
//!
//! If a hook raises an exception, no other hook of that object is called. The exception ends the run before the next
//! group of events. The exception is stored in a thread-local variable, because a run with Python mechanisms stays on
//! one thread.

mod call;
mod congestion;
mod link;
mod receiver;
mod stack;

pub use congestion::{Ack, Loss, LostSegment, Recovered, Start};
pub use link::{Backlog, Packet, QueueState};
pub use receiver::{Arrival, Due, Gap, PathEstimate, SenderCounts, UplinkCounts};

use crate::error::bad_input;
use lasthop_base::Info;
use lasthop_scenario::Catalogue;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

thread_local! {
    static FAILURE: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Clears the exception of an earlier run.
pub fn begin() {
    FAILURE.take();
}

/// Returns the first exception of a hook since [`begin`].
pub fn failure() -> PyResult<()> {
    FAILURE.take().map_or(Ok(()), Err)
}

fn fail(error: PyErr) {
    FAILURE.with_borrow_mut(|first| {
        first.get_or_insert(error);
    });
}

/// A Python object that implements a mechanism, with its name in scenarios.
pub struct Strategy {
    name: String,
    object: Py<PyAny>,
}

impl Strategy {
    pub fn new(name: &str, object: Py<PyAny>) -> Strategy {
        Strategy { name: name.to_owned(), object }
    }

    /// Returns the description of the mechanism. Each pair of a name and a value of `scalable` has one description,
    /// which is never freed, because the engine requires static descriptions.
    fn info(&self, scalable: bool) -> &'static Info {
        static KNOWN: Mutex<BTreeMap<(String, bool), &'static Info>> = Mutex::new(BTreeMap::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        known.entry((self.name.clone(), scalable)).or_insert_with(|| {
            let name: &'static str = Box::leak(self.name.clone().into_boxed_str());
            Box::leak(Box::new(Info {
                name,
                summary: "a Python object",
                source: "user's code",
                scalable,
                ..Info::PLAIN
            }))
        })
    }

    /// Returns a deep copy of the object, for one use.
    fn copied(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let copy = py.import("copy")?.getattr("deepcopy")?;
        Ok(copy.call1((self.object.bind(py),))?.unbind())
    }
}

/// A Python mechanism to add: its kind (seam), its name in scenarios, and the object, which is copied for each use.
pub type Named = (String, String, Py<PyAny>);

/// Returns the engine's catalogue with these strategies.
pub fn catalogue(py: Python<'_>, strategies: Vec<Named>) -> PyResult<Catalogue> {
    let mut catalogue = Catalogue::default();
    for (seam, name, object) in strategies {
        add(py, &mut catalogue, &seam, Strategy::new(&name, object))?;
    }
    Ok(catalogue)
}

/// Adds a strategy to the catalogue of the seam (kind of mechanism) with this name.
fn add(py: Python<'_>, catalogue: &mut Catalogue, seam: &str, strategy: Strategy) -> PyResult<()> {
    let is_scalable = seam == "congestion" && strategy.object.getattr(py, "is_scalable")?.is_truthy(py)?;
    let (info, tcp) = (strategy.info(is_scalable), &mut catalogue.tcp);
    match seam {
        "congestion" => tcp.congestion.add_with_constructor(info, congestion::build(strategy)),
        "ack_policy" => tcp.ack_policy.add_with_constructor(info, receiver::ack_policy(strategy)),
        "ack_splitting" => tcp.ack_splitting.add_with_constructor(info, receiver::ack_splitting(strategy)),
        "window" => tcp.window.add_with_constructor(info, receiver::window(py, strategy)?),
        "receiver.loss_discrimination" => {
            tcp.receiver_discrimination.add_with_constructor(info, receiver::loss_discriminator(strategy))
        }
        "admission" => catalogue.link.queue.add_with_constructor(info, link::admission(strategy)),
        "queue" => catalogue.link.queue.add_with_constructor(info, link::queue(strategy)),
        "stack" => catalogue.transport.stack.add_with_constructor(info, stack::build(strategy)),
        other => return Err(bad_input(py, format!("there is no seam `{other}`"), "")),
    }
    Ok(())
}

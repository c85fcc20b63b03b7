//! Which congestion control each connection of the kernels has used.
//!
//! A thread asks the kernels when a connection has begun on the path, for a while after that, and each second. A connection
//! that is over before the thread has asked is not known.

use crate::emulation::End;
use crate::kernel::{Connection, Control, Kernel};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// A connection's congestion controls at both ends, each in the order in which it was seen; none where it was not.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Used {
    /// At the server, at the client.
    pub controls: [Vec<Control>; 2],
}

/// Connections by their client's address and port.
pub type Seen = BTreeMap<SocketAddr, Used>;

/// The thread.
pub struct Census {
    begun: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Seen>>,
}

/// Time between two looks whether a connection has begun.
const REST: Duration = Duration::from_millis(5);
/// Time after a connection's begin in which the kernels are asked each time: programs choose a congestion control then.
const NEW: Duration = Duration::from_millis(200);
/// Time between two questions otherwise.
const USUAL: Duration = Duration::from_secs(1);
/// A question takes at most this share of a processor: with many connections the next one waits.
const SHARE: u32 = 50;
/// Most connections kept.
const MOST: usize = 10_000;

impl Census {
    /// Begins it, for the kernels of these ends.
    pub fn begin(mut kernels: Vec<(End, Kernel)>) -> Census {
        let (begun, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, over) = (Arc::clone(&begun), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let mut seen = Seen::new();
            let (mut known, mut new_until) = (0, Instant::now());
            let mut next = Instant::now() + USUAL;
            loop {
                let is_last = over.load(Ordering::Relaxed);
                let now = Instant::now();
                let count = count.load(Ordering::Relaxed);
                if count != known {
                    (known, new_until, next) = (count, now + NEW, next.min(now));
                }
                if now >= next || is_last {
                    for (end, kernel) in &mut kernels {
                        kernel.connections().iter().for_each(|one| note(&mut seen, *end, one));
                    }
                    let wait = if now < new_until { REST } else { USUAL };
                    next = now + wait.max(now.elapsed() * SHARE);
                }
                if is_last {
                    return seen;
                }
                sleep(REST);
            }
        });
        Census { begun, is_over, thread: Some(thread) }
    }

    /// Number of connections that have begun so far.
    pub fn tell(&self, begun: u32) {
        self.begun.store(begun, Ordering::Relaxed);
    }

    /// Asks once more, and ends: everything seen.
    pub fn finish(mut self) -> Seen {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn note(seen: &mut Seen, end: End, connection: &Connection) {
    let client = if end == End::Client { connection.local } else { connection.remote };
    // Within one machine: not on the path.
    if connection.remote.ip().is_loopback() || (seen.len() >= MOST && !seen.contains_key(&client)) {
        return;
    }
    let controls = &mut seen.entry(client).or_default().controls[end as usize];
    if !connection.control.name().is_empty() && controls.last() != Some(&connection.control) {
        controls.push(connection.control);
    }
}

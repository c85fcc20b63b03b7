//! Congestion controls that each kernel connection has used.
//!
//! A thread queries the kernels when a connection begins on the path, for 200 ms after that, and every second.
//! A connection that ends before the first query is not recorded.

use crate::emulation::End;
use crate::kernel::{Connection, Control, Kernel};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Congestion controls of a connection at both ends, in the order seen; empty if none was seen.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Used {
    /// Server, client.
    pub controls: [Vec<Control>; 2],
}

/// Connections by the address and port of the client.
pub type Seen = BTreeMap<SocketAddr, Used>;

/// Thread that queries the kernels.
pub struct Census {
    begun: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Seen>>,
}

/// Interval at which the thread checks for new connections.
const REST: Duration = Duration::from_millis(5);
/// Time after a connection's begin with frequent queries: programs choose a congestion control then.
const NEW: Duration = Duration::from_millis(200);
const USUAL: Duration = Duration::from_secs(1);
/// After a query the thread waits this many times the query's duration: at most 2 % of a processor.
const SHARE: u32 = 50;
const MOST: usize = 10_000;

impl Census {
    /// Starts the thread for the kernels of these ends.
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

    /// Sets the number of connections that have begun so far.
    pub fn tell(&self, begun: u32) {
        self.begun.store(begun, Ordering::Relaxed);
    }

    /// Queries once more, stops the thread and returns all connections seen.
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
    // A loopback connection is not on the path.
    if connection.remote.ip().is_loopback() || (seen.len() >= MOST && !seen.contains_key(&client)) {
        return;
    }
    let controls = &mut seen.entry(client).or_default().controls[end as usize];
    if !connection.control.name().is_empty() && controls.last() != Some(&connection.control) {
        controls.push(connection.control);
    }
}

//! Records the congestion controls that each connection of the kernels uses.
//!
//! A thread queries the kernels every second, and frequently in the first 200 ms of each connection on the path. A
//! connection that ends before the first query is not recorded.

use crate::emulation::End;
use crate::kernel::{CongestionName, Kernel, KernelConnection};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

/// Congestion controls that a connection has used.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UsedControls {
    /// Congestion controls at the server, then those at the client. Each list is in the order of use, and empty if the
    /// thread did not find the connection at that end.
    pub controls: [Vec<CongestionName>; 2],
}

/// Congestion controls by the client's address and port.
pub type ControlsByClient = BTreeMap<SocketAddr, UsedControls>;

/// Thread that queries the kernels.
pub struct Census {
    begun: Arc<AtomicU32>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<ControlsByClient>>,
}

/// Interval at which the thread checks for new connections.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);
/// Duration of frequent queries after the start of a connection: programs choose a congestion control in this time.
const FREQUENT_QUERIES_FOR: Duration = Duration::from_millis(200);
const QUERY_INTERVAL: Duration = Duration::from_secs(1);
/// Ratio of the pause after a query to the duration of that query. With this ratio, the thread uses at most 2 % of a
/// processor.
const PAUSE_FACTOR: u32 = 50;
const MAX_CONNECTIONS: usize = 10_000;

impl Census {
    /// Starts the thread for the kernels of these ends.
    pub fn begin(mut kernels: Vec<(End, Kernel)>) -> Census {
        let (begun, is_over) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
        let (count, over) = (Arc::clone(&begun), Arc::clone(&is_over));
        let thread = std::thread::spawn(move || {
            let mut controls_by_client = ControlsByClient::new();
            let (mut known, mut new_until) = (0, Instant::now());
            let mut next = Instant::now() + QUERY_INTERVAL;
            loop {
                let is_last = over.load(Ordering::Relaxed);
                let now = Instant::now();
                let count = count.load(Ordering::Relaxed);
                if count != known {
                    (known, new_until, next) = (count, now + FREQUENT_QUERIES_FOR, next.min(now));
                }
                if now >= next || is_last {
                    for (end, kernel) in &mut kernels {
                        kernel
                            .connections()
                            .iter()
                            .for_each(|one| record(&mut controls_by_client, *end, one));
                    }
                    let wait = if now < new_until { CHECK_INTERVAL } else { QUERY_INTERVAL };
                    next = now + wait.max(now.elapsed() * PAUSE_FACTOR);
                }
                if is_last {
                    return controls_by_client;
                }
                sleep(CHECK_INTERVAL);
            }
        });
        Census { begun, is_over, thread: Some(thread) }
    }

    /// Passes the number of connections that have begun so far to the thread.
    pub fn set_begun(&self, begun: u32) {
        self.begun.store(begun, Ordering::Relaxed);
    }

    /// Makes a last query, stops the thread and returns all connections found so far.
    pub fn finish(mut self) -> ControlsByClient {
        self.is_over.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Census {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

fn record(controls_by_client: &mut ControlsByClient, end: End, connection: &KernelConnection) {
    let client = if end == End::Client { connection.local } else { connection.remote };
    // A loopback connection is not on the path.
    if connection.remote.ip().is_loopback()
        || (controls_by_client.len() >= MAX_CONNECTIONS && !controls_by_client.contains_key(&client))
    {
        return;
    }
    let controls = &mut controls_by_client.entry(client).or_default().controls[end as usize];
    if !connection.control.name().is_empty() && controls.last() != Some(&connection.control) {
        controls.push(connection.control);
    }
}

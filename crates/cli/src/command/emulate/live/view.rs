//! Observations of the path, and the thread that writes the observations. The packet loop does not write the
//! observations itself, because writing may block.

use super::super::events::Events;
use super::json_lines::{self, JsonLines};
use super::screen::picture::Picture;
use lasthop_emu::emulation::{DirectionState, End, PathState};
use lasthop_emu::kernel::Kernel;
use lasthop_wire::{LossReason, PerReason};
use serde_json::Value;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// Observation of the path: counts and rates between two samples, and the state at the second sample.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// Time of the second sample, s.
    pub(super) time: f64,
    /// Time since the first sample, s.
    pub(super) span: f64,
    pub(super) directions: [DirectionView; 2],
    /// Lateness of delivery, us: 99th percentile and maximum. `None` if no packet was delivered.
    pub(super) late: Option<[f64; 2]>,
    pub(super) current: Value,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct DirectionView {
    /// Rate of delivered bytes (headers included) since the previous sample, kbit/s.
    pub(super) kbps: f64,
    pub(super) delivered: u64,
    pub(super) lost: PerReason<u64>,
    /// Queue length, packets.
    pub(super) packets: u64,
    /// Queue length, bytes.
    pub(super) bytes: u64,
    /// Queueing delay that a packet enqueued now would have, ms; `None` if unknown.
    pub(super) wait_ms: Option<f64>,
    /// Smoothed round-trip time measured by the sending kernel, ms. The value belongs to the connection that sent the
    /// most data in this direction. `None` if the sender is outside the run, or sends no TCP.
    pub(super) rtt_ms: Option<f64>,
}

impl View {
    fn between(before: &PathState, now: &PathState, current: Value, rtts: [Option<f64>; 2]) -> View {
        let span = now.time.since(before.time).as_secs();
        let direction = |end: End| {
            let (before, now) = (&before.directions[end as usize], &now.directions[end as usize]);
            let bytes = now.counters.delivered_bytes - before.counters.delivered_bytes;
            DirectionView {
                kbps: if span > 0.0 { bytes as f64 * 8e-3 / span } else { 0.0 },
                delivered: now.counters.delivered - before.counters.delivered,
                lost: PerReason::new(|reason: LossReason| {
                    now.counters.lost[reason] - before.counters.lost[reason]
                }),
                packets: now.packets,
                bytes: now.bytes,
                wait_ms: now.wait.map(|wait| wait.as_millis()),
                rtt_ms: rtts[end as usize],
            }
        };
        View {
            time: now.time.as_secs(),
            span,
            directions: End::BOTH.map(direction),
            late: now.late.map(|late| late.map(|span| span.as_nanos() as f64 / 1e3)),
            current,
        }
    }
}

pub(super) struct Viewer {
    samples: Option<SyncSender<(PathState, Value)>>,
    thread: Option<JoinHandle<()>>,
}

pub(super) struct Outputs {
    pub(super) events: Events,
    pub(super) json_lines: Option<JsonLines>,
    pub(super) picture: Option<Picture>,
}

/// Maximum number of samples that wait for the thread. Further samples are discarded; the next accepted sample also
/// covers the time of the discarded samples.
const WAITING: usize = 16;

impl Viewer {
    /// Starts the thread. The thread queries `kernels` for round-trip times. Dropping the viewer waits for the last
    /// output.
    pub(super) fn begin(outputs: Outputs, kernels: Vec<(End, Kernel)>) -> Viewer {
        let (sender, receiver) = sync_channel(WAITING);
        let thread = thread::spawn(move || report(&receiver, outputs, kernels));
        Viewer { samples: Some(sender), thread: Some(thread) }
    }

    /// Passes a sample to the thread without blocking. If too many samples wait, this sample is discarded.
    pub(super) fn show(&self, now: PathState, current: Value) {
        if let Some(samples) = &self.samples {
            let _ = samples.try_send((now, current));
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.samples.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn report(samples: &Receiver<(PathState, Value)>, mut outputs: Outputs, mut kernels: Vec<(End, Kernel)>) {
    let mut before: Option<PathState> = None;
    for (now, current) in samples {
        let rtts = rtts(&mut kernels);
        let since = before.unwrap_or_else(|| nothing(&now));
        let view = View::between(&since, &now, current, rtts);
        if outputs.events.is_open() {
            outputs.events.write("look", json_lines::object(&view));
        }
        if let Some(lines) = &mut outputs.json_lines {
            lines.write(&view);
        }
        if let Some(picture) = &mut outputs.picture {
            picture.update(&view);
        }
        before = Some(now);
    }
}

fn nothing(now: &PathState) -> PathState {
    PathState { time: lasthop_base::Time::ZERO, directions: [DirectionState::default(); 2], late: now.late }
}

/// Returns a smoothed round-trip time for each end, ms. The time belongs to the connection that sends to this end and
/// has the most acknowledged bytes.
fn rtts(kernels: &mut [(End, Kernel)]) -> [Option<f64>; 2] {
    let mut rtts = [None; 2];
    for (end, kernel) in kernels {
        // The kernel counts the handshake as one acknowledged byte.
        let sent = kernel.connections().into_iter().filter(|connection| connection.acked_bytes > 1);
        let to = if *end == End::Server { End::Client } else { End::Server };
        rtts[to as usize] = sent.max_by_key(|one| one.acked_bytes).map(|one| one.srtt.as_millis());
    }
    rtts
}

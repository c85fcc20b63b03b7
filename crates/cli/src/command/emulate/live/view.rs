//! What is seen from one look to the next, and the thread that tells it: writing may take its time.

use super::super::events::Events;
use super::lines::{self, Lines};
use super::screen::picture::Picture;
use lasthop_emu::emulation::{End, Now};
use lasthop_emu::kernel::Kernel;
use lasthop_wire::{LossReason, PerReason};
use serde_json::Value;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};

/// What has happened between two looks, and what is so at the second one.
#[derive(Clone, Debug)]
pub(super) struct View {
    /// When, s.
    pub(super) time: f64,
    /// Since the look before, s.
    pub(super) span: f64,
    /// To the server, to the client.
    pub(super) ways: [Seen; 2],
    /// How late packets were delivered, us: 99 of 100, and the latest; `None` if there were none.
    pub(super) late: Option<[f64; 2]>,
    /// What is set.
    pub(super) holds: Value,
}

/// One direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Delivered since the look before, headers included, kbit/s.
    pub(super) kbps: f64,
    /// Packets delivered since then.
    pub(super) delivered: u64,
    /// Packets lost since then.
    pub(super) lost: PerReason<u64>,
    /// What waits now: packets, bytes, and for how long one that joins now would wait, ms.
    pub(super) packets: u64,
    pub(super) bytes: u64,
    pub(super) wait_ms: Option<f64>,
    /// Smoothed round-trip time of the connection that has sent most in this direction, ms, as the kernel that sends
    /// knows it; `None` where the sender is beyond the path's end, or nobody sends TCP.
    pub(super) rtt_ms: Option<f64>,
}

impl View {
    fn between(before: &Now, now: &Now, holds: Value, rtts: [Option<f64>; 2]) -> View {
        let span = now.time.since(before.time).as_secs();
        let way = |end: End| {
            let (before, now) = (&before.ways[end as usize], &now.ways[end as usize]);
            let bytes = now.tally.delivered_bytes - before.tally.delivered_bytes;
            Seen {
                kbps: if span > 0.0 { bytes as f64 * 8e-3 / span } else { 0.0 },
                delivered: now.tally.delivered - before.tally.delivered,
                lost: PerReason::new(|reason: LossReason| now.tally.lost[reason] - before.tally.lost[reason]),
                packets: now.packets,
                bytes: now.bytes,
                wait_ms: now.wait.map(|wait| wait.as_millis()),
                rtt_ms: rtts[end as usize],
            }
        };
        View {
            time: now.time.as_secs(),
            span,
            ways: End::BOTH.map(way),
            late: now.late.map(|late| late.map(|span| span.as_nanos() as f64 / 1e3)),
            holds,
        }
    }
}

/// Tells what is seen.
pub(super) struct Viewer {
    looks: Option<SyncSender<(Now, Value)>>,
    thread: Option<JoinHandle<()>>,
}

/// Where it is told.
pub(super) struct Told {
    pub(super) events: Events,
    pub(super) lines: Option<Lines>,
    pub(super) picture: Option<Picture>,
}

/// Looks that wait to be told; what comes when there are more is left out, and the next one has it all.
const WAITING: usize = 16;

impl Viewer {
    /// Tells of looks from now on, with what these kernels know of their connections; dropped, it waits until all is told.
    pub(super) fn begin(told: Told, kernels: Vec<(End, Kernel)>) -> Viewer {
        let (looks, seen) = sync_channel(WAITING);
        let thread = thread::spawn(move || tell(&seen, told, kernels));
        Viewer { looks: Some(looks), thread: Some(thread) }
    }

    /// Hands a look over; never waits.
    pub(super) fn show(&self, now: Now, holds: Value) {
        if let Some(looks) = &self.looks {
            let _ = looks.try_send((now, holds));
        }
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.looks.take();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn tell(seen: &Receiver<(Now, Value)>, mut told: Told, mut kernels: Vec<(End, Kernel)>) {
    let mut before: Option<Now> = None;
    for (now, holds) in seen {
        let rtts = rtts(&mut kernels);
        let since = before.unwrap_or_else(|| nothing(&now));
        let view = View::between(&since, &now, holds, rtts);
        if told.events.are_wanted() {
            told.events.tell("look", lines::object(&view));
        }
        if let Some(lines) = &mut told.lines {
            lines.tell(&view);
        }
        if let Some(picture) = &mut told.picture {
            picture.tell(&view);
        }
        before = Some(now);
    }
}

/// Before the first look nothing had happened.
fn nothing(now: &Now) -> Now {
    Now { time: lasthop_base::Time::ZERO, ways: [lasthop_emu::emulation::Way::default(); 2], late: now.late }
}

/// To the server, to the client: of the connection that has had most acknowledged.
fn rtts(kernels: &mut [(End, Kernel)]) -> [Option<f64>; 2] {
    let mut rtts = [None; 2];
    for (end, kernel) in kernels {
        // A handshake counts one byte.
        let sent = kernel.connections().into_iter().filter(|connection| connection.acked_bytes > 1);
        let to = if *end == End::Server { End::Client } else { End::Server };
        rtts[to as usize] = sent.max_by_key(|one| one.acked_bytes).map(|one| one.srtt.as_millis());
    }
    rtts
}

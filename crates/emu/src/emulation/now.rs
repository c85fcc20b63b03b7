//! The path while it runs: what is seen of it at a moment, and what of it may be set.

use super::{Emulation, End, Tally};
use hdrhistogram::Histogram;
use lasthop_base::{Duration, Time};
use lasthop_engine::{Change, Fixed, PipeId, Setting};
use std::io::Write;

/// The path at a moment.
#[derive(Clone, Debug)]
pub struct Now {
    /// When.
    pub time: Time,
    /// The way to the server, and the way to the client.
    pub ways: [Way; 2],
    /// How late packets were since somebody looked last; of none if there were none: 99 of 100 packets, and the latest.
    pub late: Option<[Duration; 2]>,
}

/// One direction at a moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Way {
    /// What has arrived and what was lost so far.
    pub tally: Tally,
    /// Packets that wait at its links.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// How long a packet that joins now would wait at all its links, as far as they can say.
    pub wait: Option<Duration>,
}

/// Lateness of the packets since somebody looked last, ns; two digits.
#[derive(Debug)]
pub(super) struct Recent(Option<Histogram<u64>>);

impl Default for Recent {
    fn default() -> Recent {
        Recent(Histogram::new_with_bounds(1, 60_000_000_000, 2).ok())
    }
}

impl Recent {
    pub(super) fn deliver(&mut self, late: Duration) {
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(late.as_nanos().max(1));
        }
    }

    fn take(&mut self) -> Option<[Duration; 2]> {
        let histogram = self.0.as_mut().filter(|histogram| !histogram.is_empty())?;
        let seen = [histogram.value_at_quantile(0.99), histogram.max()].map(Duration::from_nanos);
        histogram.reset();
        Some(seen)
    }
}

impl<W: Write> Emulation<W> {
    /// What is seen now of the ways to the server and to the client, which are these pipes.
    pub fn look(&mut self, ways: [&[PipeId]; 2]) -> Now {
        let time = self.clock.now();
        self.plan.engine.run_until(time);
        let way = |end: End| {
            let mut way = Way { tally: self.measured.tallies[end as usize], ..Way::default() };
            let mut wait = Some(Duration::ZERO);
            for pipe in ways[end as usize] {
                let backlog = self.plan.engine.backlog(*pipe);
                way.packets += u64::from(backlog.waiting);
                way.bytes += backlog.bytes;
                wait = wait.zip(self.plan.engine.wait(*pipe)).map(|(so_far, here)| so_far + here);
            }
            Way { wait, ..way }
        };
        let ways = End::BOTH.map(way);
        Now { time, ways, late: self.recent.take() }
    }

    /// What holds on a pipe; `None` if that cannot be said in a few numbers.
    pub fn setting(&self, pipe: PipeId) -> Option<Setting> {
        self.plan.engine.setting(pipe)
    }

    /// Changes pipes from now on, all of them or none; when.
    ///
    /// # Errors
    /// The first pipe that refuses, and why.
    pub fn set(&mut self, changes: &[(PipeId, Change)]) -> Result<Time, (PipeId, Fixed)> {
        let engine = &mut self.plan.engine;
        let refusal = |(pipe, change): &(PipeId, Change)| Some((*pipe, engine.refuses(*pipe, change)?));
        if let Some(refused) = changes.iter().find_map(refusal) {
            return Err(refused);
        }
        let now = self.clock.now();
        engine.run_until(now);
        changes.iter().for_each(|(pipe, change)| engine.change(*pipe, change));
        Ok(now)
    }
}

//! State of the running path, and changes of its settings.

use super::{Emulation, End, EndCounters};
use hdrhistogram::Histogram;
use lasthop_base::{Duration, Time};
use lasthop_engine::{ChangeRefused, LinkChange, LinkSettings, PipeId};
use std::io::Write;

/// State of the path at an instant.
#[derive(Clone, Debug)]
pub struct PathState {
    /// Time of the observation.
    pub time: Time,
    /// State of the direction to the server, then state of the direction to the client.
    pub directions: [DirectionState; 2],
    /// 99th percentile and maximum of the lateness since the last observation; `None` if no packet was delivered.
    pub late: Option<[Duration; 2]>,
}

/// State of one direction at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub struct DirectionState {
    /// Counters so far.
    pub counters: EndCounters,
    /// Packets that wait at the links.
    pub packets: u64,
    /// Bytes that wait at the links.
    pub bytes: u64,
    /// Waiting time of a packet that joins now, summed over all links; `None` if a link cannot estimate its waiting
    /// time.
    pub wait: Option<Duration>,
}

/// Histogram of the lateness in ns since the last observation, with two significant digits.
#[derive(Debug)]
pub(super) struct RecentLateness(Option<Histogram<u64>>);

impl Default for RecentLateness {
    fn default() -> RecentLateness {
        RecentLateness(Histogram::new_with_bounds(1, 60_000_000_000, 2).ok())
    }
}

impl RecentLateness {
    pub(super) fn deliver(&mut self, late: Duration) {
        if let Some(histogram) = &mut self.0 {
            histogram.saturating_record(late.as_nanos().max(1));
        }
    }

    fn take(&mut self) -> Option<[Duration; 2]> {
        let histogram = self.0.as_mut().filter(|histogram| !histogram.is_empty())?;
        let lateness = [histogram.value_at_quantile(0.99), histogram.max()].map(Duration::from_nanos);
        histogram.reset();
        Some(lateness)
    }
}

impl<W: Write> Emulation<W> {
    /// Returns the state of both directions. `directions` lists the pipes (link directions) on the way to the server,
    /// then those on the way to the client.
    pub fn observe(&mut self, directions: [&[PipeId]; 2]) -> PathState {
        let time = self.clock.now();
        self.plan.engine.run_until(time);
        let direction = |end: End| {
            let mut direction = DirectionState {
                counters: self.measurements.counters[end as usize],
                ..DirectionState::default()
            };
            let mut wait = Some(Duration::ZERO);
            for pipe in directions[end as usize] {
                let backlog = self.plan.engine.backlog(*pipe);
                direction.packets += u64::from(backlog.waiting);
                direction.bytes += backlog.bytes;
                wait = wait.zip(self.plan.engine.queueing_delay(*pipe)).map(|(so_far, here)| so_far + here);
            }
            DirectionState { wait, ..direction }
        };
        let directions = End::BOTH.map(direction);
        PathState { time, directions, late: self.recent.take() }
    }

    /// Current settings of a pipe; `None` if [`LinkSettings`] cannot express them.
    pub fn settings(&self, pipe: PipeId) -> Option<LinkSettings> {
        self.plan.engine.settings(pipe)
    }

    /// Applies all changes and returns the time of the change. If a pipe refuses a change, applies no change; the error
    /// names the first such pipe and the reason.
    pub fn set(&mut self, changes: &[(PipeId, LinkChange)]) -> Result<Time, (PipeId, ChangeRefused)> {
        let engine = &mut self.plan.engine;
        let refusal = |(pipe, change): &(PipeId, LinkChange)| Some((*pipe, engine.refusal(*pipe, change)?));
        if let Some(refused) = changes.iter().find_map(refusal) {
            return Err(refused);
        }
        let now = self.clock.now();
        engine.run_until(now);
        changes.iter().for_each(|(pipe, change)| engine.change(*pipe, change));
        Ok(now)
    }
}

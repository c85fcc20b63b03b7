//! Any number of sources with any times, in groups of eight.

use super::precedes;
use lasthop_base::Time;

/// Sources of a group.
pub(super) const GROUP: usize = 8;

/// Sources compete in groups of eight, whose times fill one line of the cache; the winners of eight groups compete in the
/// next round, until one group is left. A source that neither was its group's winner nor becomes it ends the matter there;
/// else a round looks at eight times at most.
#[derive(Debug)]
pub(super) struct Groups {
    first: (Time, u32),
    /// The times of all rounds, the last round's first: the winner of the group that begins at 8 (i + 1) stands at i.
    times: Vec<Time>,
    /// Whose they are.
    sources: Vec<u32>,
    /// Where the first round begins, in which all sources compete.
    leaves: usize,
}

impl Groups {
    /// Of so many sources none has anything due.
    pub(super) fn new(count: usize) -> Groups {
        let (mut leaves, mut room) = (0, GROUP);
        while room < count {
            leaves = GROUP * (leaves + 1);
            room *= GROUP;
        }
        let places = leaves + count.next_multiple_of(GROUP);
        let mut sources = vec![0; places];
        for place in (0..places).rev() {
            let first_below = sources.get(GROUP * (place + 1)).copied().unwrap_or(0);
            sources[place] = if place >= leaves { (place - leaves) as u32 } else { first_below };
        }
        Groups { first: (Time::NEVER, 0), times: vec![Time::NEVER; places], sources, leaves }
    }

    /// When a source is next due.
    pub(super) fn time_of(&self, source: u32) -> Time {
        self.times[self.leaves + source as usize]
    }

    /// A source is next due at `time`; returns the first one then. Round by round, as far as something changes.
    #[inline(never)]
    pub(super) fn set(&mut self, source: u32, time: Time) -> (Time, u32) {
        let (mut winner, mut before) = ((time, source), source);
        let mut place = self.leaves + source as usize;
        loop {
            self.times[place] = winner.0;
            self.sources[place] = winner.1;
            let group = place / GROUP;
            let known = match group {
                0 => self.first,
                group => (self.times[group - 1], self.sources[group - 1]),
            };
            if known.1 == before {
                // It was the group's winner; if it is later now, another one may be.
                if winner.0 > known.0
                    && let Some(times) = self.times[GROUP * group..].first_chunk()
                {
                    let (time, place) = earliest::<GROUP>(times);
                    winner = (time, self.sources[GROUP * group + place]);
                }
            } else if !precedes(winner, known) {
                return self.first;
            }
            if group == 0 {
                self.first = winner;
                return winner;
            }
            before = known.1;
            place = group - 1;
        }
    }
}

/// The earliest of a group, and its place: among equals the first.
#[inline]
fn earliest<const N: usize>(times: &[Time; N]) -> (Time, usize) {
    let mut first = (times[0], 0);
    for (place, time) in times.iter().enumerate() {
        first = if *time < first.0 { (*time, place) } else { first };
    }
    first
}

//! Consumes results of concurrent runs in order, until all are done or the user interrupts.

use crate::bar::Bar;
use crate::cost;
use crate::failure::Failure;
use crate::target::patience;
use lasthop_lab::in_order::{InOrder, NextResult};
use lasthop_lab::progress::Progress;
use std::time::{Duration, Instant};

pub(crate) const SOON: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    All,
    /// The user interrupted after `done` of `of` runs.
    Interrupted {
        done: usize,
        of: usize,
    },
}

impl Ended {
    /// [`Ended::All`] if all runs are done, even if the user interrupted.
    pub(crate) fn of(done: usize, of: usize) -> Ended {
        if done == of { Ended::All } else { Ended::Interrupted { done, of } }
    }

    pub(crate) fn into_result(self) -> Result<(), Failure> {
        match self {
            Ended::All => Ok(()),
            Ended::Interrupted { done, of } => {
                Err(Failure::Interrupted(format!("interrupted: {done} of {of} runs are done")))
            }
        }
    }
}

/// Number of further results wanted.
pub(crate) enum Onward {
    All,
    /// Probably this many in total.
    Expect(u64),
    /// None; runs under way are abandoned.
    Enough,
}

/// Passes results in order to `take`, each as soon as all earlier ones are finished. `take` may end the work early.
///
/// # Errors
/// The first error of `take`; runs under way are then abandoned.
pub(crate) fn each_until<T: Send + 'static>(
    part: &str,
    mut work: InOrder<T>,
    mut take: impl FnMut(T) -> Result<Onward, Failure>,
) -> Result<Ended, Failure> {
    let bar = Bar::default();
    bar.begin(part, work.count() as u64);
    let (mut taken, mut finished) = (0, 0);
    let (begun, mut expected) = (Instant::now(), work.count());
    let ended = patience::during(|| {
        loop {
            let next = work.next_within(SOON);
            bar.advance((work.finished() - finished) as u64);
            let is_first = finished == 0 && work.finished() > 0;
            let since = begun.elapsed();
            finished = work.finished();
            match next {
                NextResult::Item(result) => {
                    let onward = take(result)?;
                    taken += 1;
                    match onward {
                        Onward::All => {}
                        Onward::Expect(runs) => {
                            expected = runs as usize;
                            bar.expect(runs);
                        }
                        Onward::Enough => return Ok(Ended::All),
                    }
                }
                NextResult::NotYet => {}
                NextResult::End => return Ok(Ended::All),
            }
            if is_first && let Some(note) = cost::by_the_first(expected, work.threads(), since) {
                bar.note(&note);
            }
            if patience::is_interrupted() {
                return Ok(Ended::of(taken, work.count()));
            }
        }
    });
    bar.end();
    ended
}

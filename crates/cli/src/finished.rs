//! Consumes results of concurrent runs in order, until all are done or the user interrupts.

use crate::bar::Bar;
use crate::cost;
use crate::failure::Failure;
use crate::target::interrupts;
use lasthop_lab::in_order::{InOrder, NextResult};
use lasthop_lab::progress::Progress;
use std::time::{Duration, Instant};

pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Completion {
    All,
    /// The user interrupted after `done` of `of` runs.
    Interrupted {
        done: usize,
        of: usize,
    },
}

impl Completion {
    /// [`Completion::All`] if all runs are done, even if the user interrupted.
    pub(crate) fn of(done: usize, of: usize) -> Completion {
        if done == of { Completion::All } else { Completion::Interrupted { done, of } }
    }

    pub(crate) fn into_result(self) -> Result<(), Failure> {
        match self {
            Completion::All => Ok(()),
            Completion::Interrupted { done, of } => {
                Err(Failure::Interrupted(format!("interrupted: {done} of {of} runs are done")))
            }
        }
    }
}

/// Results that the consumer still wants.
pub(crate) enum Demand {
    All,
    /// Further results, probably this many in total.
    Expect(u64),
    /// No further results. Runs in progress are abandoned.
    Enough,
}

/// Passes the results to `consume` in order. A result is passed as soon as this result and all earlier results are
/// available. `consume` may end the work early.
///
/// # Errors
/// The first error of `consume`. Runs in progress are then abandoned.
pub(crate) fn consume_in_order<T: Send + 'static>(
    part: &str,
    mut work: InOrder<T>,
    mut consume: impl FnMut(T) -> Result<Demand, Failure>,
) -> Result<Completion, Failure> {
    let bar = Bar::default();
    bar.begin(part, work.count() as u64);
    let (mut consumed, mut finished) = (0, 0);
    let (begun, mut expected) = (Instant::now(), work.count());
    let completion = interrupts::handle_during(|| {
        loop {
            let next = work.next_within(POLL_INTERVAL);
            bar.advance((work.finished() - finished) as u64);
            let is_first = finished == 0 && work.finished() > 0;
            let since = begun.elapsed();
            finished = work.finished();
            match next {
                NextResult::Item(result) => {
                    let demand = consume(result)?;
                    consumed += 1;
                    match demand {
                        Demand::All => {}
                        Demand::Expect(runs) => {
                            expected = runs as usize;
                            bar.expect(runs);
                        }
                        Demand::Enough => return Ok(Completion::All),
                    }
                }
                NextResult::NotYet => {}
                NextResult::End => return Ok(Completion::All),
            }
            if is_first && let Some(note) = cost::estimate_from_first(expected, work.threads(), since) {
                bar.note(&note);
            }
            if interrupts::is_interrupted() {
                return Ok(Completion::of(consumed, work.count()));
            }
        }
    });
    bar.end();
    completion
}

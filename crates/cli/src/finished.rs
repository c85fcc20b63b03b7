//! Consumes the results of concurrent runs in order, until all runs are done or the user interrupts.

use crate::bar::Bar;
use crate::cost;
use crate::failure::Failure;
use crate::target::interrupts;
use lasthop_lab::in_order::{InOrder, NextResult};
use lasthop_lab::progress::Progress;
use lasthop_lab::runs::Repetition;
use lasthop_lab::runs::clock::VirtualClock;
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
    /// Returns [`Completion::All`] if all `of` runs are done, even if the user interrupted.
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

/// Decision of the consumer of results after each result: whether the remaining runs continue.
pub(crate) enum Demand {
    All,
    /// Continue; the consumer expects to need this number of results in total.
    Expect(u64),
    /// Stop; the runs in progress are abandoned.
    Enough,
}

/// Passes the results to `consume` in order. A result is passed as soon as this result and all earlier results are
/// available. `consume` may end the work early. If the user interrupts before the first run is complete, `consume`
/// receives the results of the first run up to the interruption.
///
/// # Errors
/// The first error of `consume`. The runs in progress are then abandoned.
pub(crate) fn consume_in_order(
    part: &str,
    mut work: InOrder<Repetition>,
    mut consume: impl FnMut(Repetition) -> Result<Demand, Failure>,
) -> Result<Completion, Failure> {
    let bar = Bar::default();
    bar.begin_runs(part, work.count() as u64, work.clock().map_or(0.0, VirtualClock::total_s));
    let (mut consumed, mut finished) = (0, 0);
    let (begun, mut expected) = (Instant::now(), work.count());
    let completion = interrupts::handle_during(|| {
        loop {
            let next = work.next_within(POLL_INTERVAL);
            bar.advance((work.finished() - finished) as u64);
            bar.simulated(work.clock().map_or(0.0, VirtualClock::simulated_s));
            let is_first = finished == 0 && work.finished() > 0;
            let since = begun.elapsed();
            finished = work.finished();
            match next {
                NextResult::Item(result) => {
                    let is_whole = result.is_whole;
                    let demand = consume(result)?;
                    if !is_whole {
                        return Ok(Completion::of(consumed, work.count()));
                    }
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
                if consumed > 0 || work.clock().is_none() {
                    return Ok(Completion::of(consumed, work.count()));
                }
                // No run is complete. The next result is the first run, cut off at the interruption.
                work.begin_no_more();
                work.clock().inspect(|clock| clock.stop());
            }
        }
    });
    bar.end();
    completion
}

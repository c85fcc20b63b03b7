//! Runs under way: what is finished is taken at once, until all is or the user wants no more.

use crate::bar::Bar;
use crate::cost;
use crate::failure::Failure;
use crate::target::patience;
use lasthop_lab::in_order::{InOrder, Next};
use lasthop_lab::progress::Progress;
use std::time::{Duration, Instant};

/// How soon an interruption is noticed.
pub(crate) const SOON: Duration = Duration::from_millis(20);

/// What became of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ended {
    /// All are done.
    All,
    /// The user wanted no more when so many were done of so many.
    Interrupted { done: usize, of: usize },
}

impl Ended {
    /// So many are done of so many, whether or not the user interrupted.
    pub(crate) fn of(done: usize, of: usize) -> Ended {
        if done == of { Ended::All } else { Ended::Interrupted { done, of } }
    }

    /// Ctrl-C is an exit status of its own.
    pub(crate) fn into_result(self) -> Result<(), Failure> {
        match self {
            Ended::All => Ok(()),
            Ended::Interrupted { done, of } => {
                Err(Failure::Interrupted(format!("interrupted: {done} of {of} runs are done")))
            }
        }
    }
}

/// What is to follow.
pub(crate) enum Onward {
    /// All there is.
    All,
    /// Probably so many in all.
    Expect(u64),
    /// No more: what is under way is left to itself.
    Enough,
}

/// Hands each result to `take` as soon as it and all before it are there, for who may have enough before the end.
///
/// # Errors
/// The first of `take`; what is under way then is left to itself.
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
                Next::Item(result) => {
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
                Next::NotYet => {}
                Next::End => return Ok(Ended::All),
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

//! Runs the repetitions of a sender: several concurrently while the machine keeps up, otherwise one after the other.

use super::case::SenderCase;
use super::printer::Printer;
use crate::bar::Bar;
use crate::failure::Failure;
use crate::path;
use crate::target::interrupts;
use lasthop_emu::trial::TrialOutcome;
use lasthop_lab::progress::Progress;
use lasthop_lab::repeat::seed_of;
use lasthop_lab::trials::crosscheck::{CrosscheckResults, Pair};
use lasthop_os::SystemError;
use std::any::Any;
use std::thread;

/// Number of concurrent runs. The number falls to 1 for the rest of the command if the machine does not keep up.
pub(super) struct ConcurrentRuns {
    pub(super) jobs: usize,
    pub(super) fell_behind: bool,
}

impl ConcurrentRuns {
    /// Runs the repetitions of a sender until all are done or the user interrupts. A repetition with late packets is
    /// discarded and rerun without concurrent runs. Fails if more of these reruns have late packets than there are
    /// repetitions.
    pub(super) fn repeat(
        &mut self,
        case: &SenderCase,
        results: &mut CrosscheckResults,
        printer: &Printer,
        bar: &Bar,
    ) -> Result<(), Failure> {
        let mut alone = 0;
        while results.pairs.len() < results.runs as usize && !interrupts::is_interrupted() {
            let first = results.pairs.len() as u32;
            let count = (self.jobs as u32).min(results.runs - first);
            let seeds: Vec<u64> = (first..first + count).map(|run| seed_of(results.seed, run)).collect();
            let outcomes = emulate_concurrently(case, &seeds)?;
            if interrupts::is_interrupted() {
                break;
            }
            // Repetitions after a repetition with late packets are also rerun, so that the results are in the order of
            // the seeds.
            let in_time = outcomes.iter().take_while(|outcome| outcome.complaints.is_empty()).count();
            if let Some(late) = outcomes.get(in_time) {
                match seeds.len() {
                    1 => {
                        results.late_runs += 1;
                        alone += 1;
                        if alone > results.runs {
                            return Err(path::late_packets(&case.sender, late, alone));
                        }
                    }
                    several => {
                        results.late_concurrent_runs += (several - in_time) as u32;
                        (self.jobs, self.fell_behind) = (1, true);
                    }
                }
            }
            for (outcome, seed) in outcomes.into_iter().take(in_time).zip(seeds) {
                let lateness = [outcome.lateness.p99, outcome.lateness.max];
                let emulated = path::streams(outcome);
                let pair = Pair { seed, simulated: case.simulate(seed), emulated, lateness };
                bar.suspended(|| printer.pair(results, &pair))?;
                results.pairs.push(pair);
                bar.step();
            }
        }
        Ok(())
    }
}

fn emulate_concurrently(case: &SenderCase, seeds: &[u64]) -> Result<Vec<TrialOutcome>, Failure> {
    if let [seed] = seeds {
        return emulate(case, *seed).map(|outcome| vec![outcome]);
    }
    thread::scope(|scope| {
        let running: Vec<_> = seeds.iter().map(|seed| scope.spawn(|| emulate(case, *seed))).collect();
        let ended = running
            .into_iter()
            .map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // All runs must end before the first error is returned, so the outcomes are collected first.
        ended.collect::<Vec<_>>().into_iter().collect()
    })
}

fn emulate(case: &SenderCase, seed: u64) -> Result<TrialOutcome, Failure> {
    let plan = path::plan(&case.scenario, case.replaced, seed);
    let nothing = |_: &_| Ok(Box::new(()) as Box<dyn Any>);
    case.trial(seed).run(plan, nothing, &interrupts::is_interrupted).map_err(failure)
}

fn failure(error: SystemError) -> Failure {
    Failure::failed(error.message, error.help)
}

//! Advice for a network path. The module simulates cures (changes that may improve TCP), each under the same random
//! losses, and ranks the cures.
//!
//! * [`candidates`]: cures to try, and the party that deploys each cure.
//! * `scenarios`: two scenarios for each candidate. In the first, short transfers share the path with the user's flows.
//!   In the second, one flow without the candidate's changes (the neighbour) shares the path.
//! * `repetition`: numbers measured in one repetition.
//! * [`ranking`]: order of the candidates, and whether the order is statistically certain.
//! * [`sender`]: replacement of the sender of the user's flows.
//! * `presentation`: the advice as a table, a page and JSON.
//!
//! The advice ignores the cost of a cure and does not search for the best parameters. Each mechanism is tried with its
//! defaults or with the candidate's values.

pub mod candidates;
mod presentation;
pub mod ranking;
mod repetition;
mod scenarios;
pub mod sender;

pub use candidates::{Candidate, DeploymentSite};
pub use ranking::{CandidateResults, ScoredCandidate};
pub use repetition::{Aim, RepetitionMeasures};

use crate::progress::Progress;
use crate::repeat::seed_of;
use lasthop_base::Duration;
use lasthop_scenario::{Draft, Problem, Scenario};
use lasthop_sim::Stuck;
use rayon::prelude::*;
use scenarios::CandidateScenarios;

/// Number of repetitions that are added at a time. After each addition, the certainty of the ranking is checked.
const BLOCK: usize = 4;
const MAX_RUNS: usize = 40;
/// Limit of the simulation work, in data packets of 1500 bytes over all repetitions. The limit is not in seconds
/// because the advice would then depend on the speed of the machine.
const BUDGET: f64 = 100e6;
/// Limit of a run's duration, in packets of 1500 bytes that the bottleneck can transmit in that duration. The limit is
/// at least [`SHORTEST`].
const PACKETS: f64 = 25_000.0;
/// Lower bound of the limit that `PACKETS` sets.
const SHORTEST: Duration = Duration::from_secs(10);
/// Number of candidates at the top of the ranking whose order must be certain.
pub const TOP: usize = 3;

/// Scope of the advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Ranking criterion.
    pub aim: Aim,
    /// Seed of the first repetition. `None` selects the scenario's seed.
    pub seed: Option<u64>,
    /// Sites at which cures may be deployed. An empty list allows all sites.
    pub sites: Vec<DeploymentSite>,
    /// Names of the flows that a cure may change. A name includes all replicas of the flow. An empty list allows all
    /// TCP flows. Flows that are not named keep their keys.
    pub flows: Vec<String>,
}

impl Question {
    /// Returns the widest scope: all sites, all TCP flows, and the scenario's seed.
    pub const fn general(aim: Aim) -> Question {
        Question { aim, seed: None, sites: Vec::new(), flows: Vec::new() }
    }
}

/// Advice for one network path.
#[derive(Clone, Debug)]
pub struct Advice {
    /// The scenario's title.
    pub title: String,
    /// Parameters of the path.
    pub path: PathParameters,
    /// Ranking criterion.
    pub aim: Aim,
    /// First seed.
    pub seed: u64,
    /// Sites at which cures were tried. An empty list means all sites.
    pub sites: Vec<DeploymentSite>,
    /// Results of the unchanged path, which is the baseline of all comparisons.
    pub base: CandidateResults,
    /// Results of the candidates, sorted from best to worst.
    pub rows: Vec<CandidateResults>,
    /// Whether the order of the first [`TOP`] candidates is certain, according to the rule in [`ranking`].
    pub is_certain: bool,
    /// Candidates without a rank, each with the reason for the omission.
    pub left_out: Vec<String>,
}

/// Parameters of the path that the advice depends on.
#[derive(Clone, Debug, PartialEq)]
pub struct PathParameters {
    /// Names of the TCP flows that a cure may change.
    pub flows: Vec<String>,
    /// Bottleneck: the slowest link direction on the first flow's route. If several directions are equally slow, the
    /// bottleneck is the last of these directions.
    pub bottleneck: LinkDirection,
    /// Mean rate of the bottleneck, bit/s.
    pub rate_bps: u64,
    /// Sum of the propagation delays on the forward route and the return route.
    pub rtt: Duration,
    /// Duration of each run.
    pub duration: Duration,
}

/// One direction of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkDirection {
    /// Name of the link.
    pub link: String,
    /// `down` or `up`.
    pub direction: &'static str,
}

impl LinkDirection {
    /// Returns the scenario key of a setting of this direction, such as `link.wireless.down.queue`.
    pub fn key(&self, last: &str) -> String {
        format!("link.{}.{}.{last}", self.link, self.direction)
    }
}

/// Simulates and ranks cures. Returns `None` if the user cancels. `name` is the scenario's file name. Relative names of
/// trace files refer to the folder of this file.
///
/// # Errors
/// Fails if the scenario is invalid, has no TCP flow, or lacks a flow that `question.flows` names.
pub fn advise(
    draft: &Draft,
    name: &str,
    question: &Question,
    progress: &dyn Progress,
) -> Result<Option<Advice>, Problem> {
    let scenario = draft.check()?;
    let path = facts(draft, &scenario, name, &question.flows)?;
    let (aim, seed) = (question.aim, question.seed.unwrap_or(scenario.seed));
    let mut left_out = Vec::new();
    let mut candidates = vec![CandidateRuns::new(draft, &path, (name, aim), candidates::unchanged())?];
    let mut make = |list: Vec<Candidate>| -> Vec<CandidateRuns> {
        let each = list.into_iter().filter_map(|candidate| {
            let what = candidate.name.clone();
            let candidates = CandidateRuns::new(draft, &path, (name, aim), candidate);
            candidates.map_err(|why| left_out.push(format!("{what}: {}", why.message()))).ok()
        });
        each.collect()
    };
    let run = |candidates: &mut [CandidateRuns], repetitions, part| {
        let is_whole = run(candidates, repetitions, seed, progress, part);
        is_whole.map_err(|stuck| path_problem(name, &stuck.message).advise(stuck.help))
    };
    let rwnd_limited_pct = candidates[0].scenarios.rwnd_limited_pct(seed);
    candidates.extend(make(candidates::single(&scenario, &path, rwnd_limited_pct, &question.sites)));
    let mut most = most_runs(&path, candidates.len());
    if !run(&mut candidates, 0..BLOCK.min(most), "single cures")? {
        return Ok(None);
    }
    let mut pairs = make(candidates::pairs(&ranking::scored(&candidates)));
    if !pairs.is_empty() {
        most = most_runs(&path, candidates.len() + pairs.len());
        let is_whole = run(&mut pairs, 0..BLOCK.min(most), "pairs of cures")?;
        candidates.append(&mut pairs);
        if !is_whole {
            return Ok(None);
        }
    }
    let mut done = BLOCK.min(most);
    while done < most && !ranking::is_certain(&candidates) {
        ranking::screen_out(&mut candidates);
        let next = (done + BLOCK).min(most);
        if !run(&mut candidates, done..next, "more runs, until the order is certain")? {
            return Ok(None);
        }
        done = next;
    }
    let is_certain = ranking::is_certain(&candidates);
    let idle = candidates.iter().filter(|one| ranking::is_redundant_pair(&candidates, one));
    let why = |one: &CandidateRuns| {
        format!("{}: not surely better than each of its two cures alone", one.candidate.name)
    };
    left_out.extend(idle.map(why));
    let base = ranking::row(&candidates[0], &candidates[0]);
    let rows = ranking::rows(&candidates);
    let sites = question.sites.clone();
    Ok(Some(Advice { title: scenario.title, path, aim, seed, sites, base, rows, is_certain, left_out }))
}

/// A candidate and the results of its repetitions.
pub struct CandidateRuns {
    /// The candidate.
    pub candidate: Candidate,
    /// Ranking criterion.
    pub aim: Aim,
    scenarios: CandidateScenarios,
    /// Measured numbers of each repetition.
    pub repetitions: Vec<RepetitionMeasures>,
    /// Whether the candidate is certainly not among the first [`TOP`]. A candidate that is screened out gets no further
    /// repetitions.
    pub is_screened_out: bool,
}

impl CandidateRuns {
    fn new(
        draft: &Draft,
        path: &PathParameters,
        (name, aim): (&str, Aim),
        candidate: Candidate,
    ) -> Result<CandidateRuns, Problem> {
        let mut changed = draft.clone();
        for (key, value) in &candidate.set {
            changed.set(key, value)?;
        }
        let scenarios = CandidateScenarios::new(&changed, draft, path, name)?;
        Ok(CandidateRuns { candidate, aim, scenarios, repetitions: Vec::new(), is_screened_out: false })
    }
}

/// Runs the given repetitions of all candidates that are not screened out. Returns `false` if the user cancels. Fails
/// if a run gets stuck: virtual time no longer advances.
fn run(
    candidates: &mut [CandidateRuns],
    repetitions: std::ops::Range<usize>,
    seed: u64,
    progress: &dyn Progress,
    part: &str,
) -> Result<bool, Stuck> {
    let jobs: Vec<(usize, usize)> = repetitions
        .flat_map(|run| (0..candidates.len()).map(move |at| (at, run)))
        .filter(|(at, _)| !candidates[*at].is_screened_out)
        .collect();
    progress.begin(part, jobs.len() as u64);
    let seen: Result<Vec<Option<RepetitionMeasures>>, Stuck> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|(at, run)| {
            if progress.is_cancelled() {
                return Ok(None);
            }
            let repetitions = candidates[*at].scenarios.run(seed_of(seed, *run as u32))?;
            progress.step();
            Ok(Some(repetitions))
        })
        .collect();
    progress.end();
    let seen = seen?;
    let is_whole = seen.iter().all(Option::is_some);
    for ((at, _), repetitions) in jobs.into_iter().zip(seen) {
        candidates[at].repetitions.extend(repetitions);
    }
    Ok(is_whole)
}

fn most_runs(path: &PathParameters, candidates: usize) -> usize {
    let packets = (path.rate_bps as f64 * path.duration.as_secs() / 8.0 / 1500.0).max(1.0);
    // Each repetition of a candidate consists of two runs.
    let runs = BUDGET / (2.0 * packets * candidates as f64);
    ((runs as usize) / BLOCK * BLOCK).clamp(BLOCK, MAX_RUNS)
}

fn facts(
    draft: &Draft,
    scenario: &Scenario,
    name: &str,
    chosen: &[String],
) -> Result<PathParameters, Problem> {
    let known = scenarios::tcp_flows(draft)?;
    if let Some(unknown) = chosen.iter().find(|flow| !known.contains(flow)) {
        let message = format!("there is no TCP flow `{unknown}`");
        return Err(path_problem(name, &message).advise(format!("the TCP flows: {}", known.join(", "))));
    }
    let flows = if chosen.is_empty() { known } else { chosen.to_vec() };
    let is_own = |at: &usize| {
        let flow = &scenario.flows[*at];
        flow.is_tcp() && flows.iter().any(|own| scenarios::belongs_to(&flow.name, own))
    };
    let Some(first) = (0..scenario.flows.len()).find(is_own) else {
        let why = "the scenario has no TCP flow: advice needs at least one";
        let help = if scenario.flows.iter().any(|flow| flow.stack.is_some()) {
            "set kind = \"tcp\"; `lasthop reproduce quic` shows which changes also help QUIC, and `lasthop compare` with \
             --vary measures changes on this path"
        } else {
            "add [flow.bulk] with from and to; `lasthop show umts` prints an example"
        };
        return Err(path_problem(name, why).advise(help));
    };
    let route = &scenario.routes[first];
    let config = |hop: &lasthop_scenario::Hop| {
        let link = &scenario.links[hop.link];
        if hop.is_down { &link.down } else { &link.up }
    };
    let rate = |hop: &lasthop_scenario::Hop| config(hop).service.mean_rate().bps();
    // If several directions are equally slow, the last of these directions (the last hop) is the bottleneck.
    let bottleneck = route.there.iter().rev().min_by_key(|hop| rate(hop)).copied();
    let Some(bottleneck) = bottleneck else {
        return Err(path_problem(name, "the first TCP flow crosses no link"));
    };
    let rate_bps = rate(&bottleneck).max(1);
    let packets = Duration::from_secs_f64(PACKETS * 1500.0 * 8.0 / rate_bps as f64);
    let hops = route.there.iter().chain(&route.back);
    Ok(PathParameters {
        flows,
        bottleneck: LinkDirection {
            link: scenario.links[bottleneck.link].name.clone(),
            direction: if bottleneck.is_down { "down" } else { "up" },
        },
        rate_bps,
        rtt: hops.map(|hop| config(hop).delay).fold(Duration::ZERO, |sum, delay| sum + delay),
        duration: scenario.duration.min(packets.max(SHORTEST)),
    })
}

fn path_problem(name: &str, why: &str) -> Problem {
    Problem::at(name, name, 0..name.len(), why)
}

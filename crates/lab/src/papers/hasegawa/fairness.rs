//! Splitting receivers beside plain ones on a congested wire (hasegawa §3.3, which claims an equal share and gives no numbers).
//!
//! # The congested wire is ours
//! The paper does not say which wire. Here each client has the paper's wireless link
//! to itself, with hardly an error or at BER 2e-5, and all share a wire of 1 Mbit/s per flow
//! with 50 packets of buffer: half of what the wireless links could carry. All senders
//! use SACK, so that only the receivers differ. Flows start within the first second at
//! times drawn for each repetition, because flows of equal round-trip times on a
//! drop-tail queue lock into phases; a control in which nobody splits shows what is
//! left of that.

use super::PAPER;
use crate::item::Item;
use crate::progress::Progress;
use crate::repeat::{estimate_by, run_all, seed_of};
use crate::stats::Estimate;
use lasthop_base::Stream;
use lasthop_scenario::{Draft, Problem, Scenario};
use lasthop_sim::Outcome;

/// One mixture of receivers.
pub(super) struct Mixture {
    /// How the splitting ones judge losses.
    pub(super) judge: &'static str,
    /// Bit error rate of each client's wireless link.
    pub(super) ber: f64,
    /// Of each kind.
    pub(super) each: usize,
    /// Jain's index over all flows.
    pub(super) jain: Option<Estimate>,
    /// Mean goodput of the splitting flows over that of the plain ones.
    pub(super) ratio: Option<Estimate>,
}

/// How those of the first kind judge losses; the first is the control: they do not split.
const JUDGES: [&str; 4] = ["nobody", "mac", "jtcp", "rtt"];
const EACH: [usize; 2] = [1, 5];
/// The first loses nothing on the air (p^4 = 5e-9), but repeats enough that repetitions differ.
const BERS: [f64; 2] = [1e-6, 2e-5];

pub(super) fn steps(runs: u32) -> u64 {
    (EACH.len() * BERS.len() * JUDGES.len()) as u64 * u64::from(runs)
}

pub(super) fn run(runs: u32, seed: u64, progress: &dyn Progress) -> Result<Vec<Mixture>, Problem> {
    let mut mixtures = Vec::new();
    for judge in JUDGES {
        for (each, ber) in EACH.into_iter().flat_map(|each| BERS.map(|ber| (each, ber))) {
            let seeds = (0..runs).map(|run| seed_of(seed, run));
            let scenarios = seeds
                .map(|seed| Ok((Draft::parse(&text(each, judge, ber, seed), "fairness")?.check()?, seed)))
                .collect::<Result<Vec<(Scenario, u64)>, Problem>>()?;
            let jobs: Vec<(&Scenario, u64)> =
                scenarios.iter().map(|(scenario, seed)| (scenario, *seed)).collect();
            let outcomes: Vec<Outcome> = run_all(&jobs, progress).into_iter().flatten().collect();
            mixtures.push(Mixture {
                judge,
                ber,
                each,
                jain: estimate_by(&outcomes, |outcome| Some(jain(&goodputs(outcome)))),
                ratio: estimate_by(&outcomes, |outcome| {
                    let goodputs = goodputs(outcome);
                    let split: f64 = goodputs.iter().step_by(2).sum();
                    let plain: f64 = goodputs.iter().skip(1).step_by(2).sum();
                    Some(split / plain)
                }),
            });
        }
    }
    Ok(mixtures)
}

pub(super) fn items(mixtures: &[Mixture]) -> Vec<Item> {
    let item = |mixture: &Mixture, metric: &str, estimate: Option<Estimate>| {
        let is_control = mixture.judge == JUDGES[0];
        let series = match is_control {
            true => "control: nobody splits".into(),
            false => format!("{} beside plain", mixture.judge),
        };
        let item = Item::new(PAPER.name, format!("fairness-{0}+{0}", mixture.each), series)
            .metric(metric, "")
            .at("ber", mixture.ber)
            .measured(estimate)
            .note("§3.3 claims an equal share, without numbers; the congested wire is ours");
        // An equal share is 1 for both; what counts as equal is 5 per cent or the interval.
        if is_control { item } else { item.published(1.0, 0.05, false) }
    };
    mixtures
        .iter()
        .flat_map(|mixture| {
            [
                item(mixture, "Jain's index", mixture.jain),
                item(mixture, "ratio of mean goodputs", mixture.ratio),
            ]
        })
        .collect()
}

fn goodputs(outcome: &Outcome) -> Vec<f64> {
    outcome.flows.iter().map(|flow| flow.goodput_kbps()).collect()
}

/// Jain's index: 1 if all are equal, 1/n if one has all.
fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    if squares == 0.0 { 1.0 } else { sum * sum / (shares.len() as f64 * squares) }
}

/// The scenario: every second client is of the first kind.
fn text(each: usize, judge: &str, ber: f64, seed: u64) -> String {
    let flows = 2 * each;
    let mut starts = Stream::named(seed, "fairness.starts");
    let mut text = format!(
        "title = \"hasegawa §3.3: {each} splitting and {each} plain receivers\"\n\
         duration = \"300 s\"\nheaders = \"40 bytes\"\n\
         [link.wired]\nfrom = \"server\"\nto = \"bs\"\nrate = \"{flows} Mbit/s\"\n\
         one_way_delay = \"45 ms\"\nqueue = \"50 packets\"\n"
    );
    for client in 0..flows {
        let split = format!("shape = \"split\"\ncause = \"{judge}\"\n");
        let splits = client % 2 == 0 && judge != JUDGES[0];
        let receiver = if splits { split.as_str() } else { "" };
        let start = (1000.0 * starts.uniform()) as u64;
        text.push_str(&format!(
            "[link.air{client}]\nfrom = \"bs\"\nto = \"client{client}\"\none_way_delay = \"1 ms\"\n\
             [link.air{client}.down]\nrate = \"2 Mbit/s\"\nqueue = \"50 packets\"\n\
             channel = {{ kind = \"bit_error\", rate = {ber:e} }}\narq = \"repeat\"\n\
             [link.air{client}.up]\nrate = \"384 kbit/s\"\nqueue = \"unlimited\"\n\
             [flow.f{client}]\nfrom = \"server\"\nto = \"client{client}\"\nstart = \"{start} ms\"\n\
             segment = \"1000 bytes\"\ntimestamp_tick = \"1 us\"\n\
             [flow.f{client}.sender]\nrecovery = \"sack\"\ncounting = \"per_ack\"\ninitial_window = 2\n\
             min_rto = \"200 ms\"\ntick = \"10 ms\"\n\
             [flow.f{client}.receiver]\ntiming = \"immediate\"\n{receiver}"
        ));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jains_index() {
        assert_eq!(jain(&[1.0, 1.0, 1.0]), 1.0);
        assert_eq!(jain(&[1.0, 0.0]), 0.5);
    }

    #[test]
    fn the_scenarios_are_valid() {
        for each in EACH {
            let scenario =
                Draft::parse(&text(each, "mac", 2e-5, 1), "fairness").and_then(|draft| draft.check());
            assert_eq!(scenario.map(|scenario| scenario.flows.len()).ok(), Some(2 * each));
        }
    }
}

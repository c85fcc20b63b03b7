//! Splitting receivers beside plain ones on a congested wire (hasegawa §3.3, which claims an equal share and gives no numbers).
//!
//! # The congested wire is ours
//! The paper does not say which wire. Here each client has the paper's wireless link
//! to itself, with hardly an error or at BER 2e-5, and all share a wire of 1 Mbit/s per flow
//! with 50 packets of buffer: half of what the wireless links could carry. All senders
//! use SACK, so that only the receivers differ.

use super::PAPER;
use super::setting::Receiver;
use crate::item::{Item, Verdict, x};
use crate::progress::Progress;
use crate::repeat::{estimate_by, repeat};
use crate::stats::Estimate;
use lasthop_scenario::{Draft, Problem};
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

const EACH: [usize; 2] = [1, 5];
/// The first loses nothing on the air (p^4 = 5e-9), but repeats enough that repetitions differ.
const BERS: [f64; 2] = [1e-6, 2e-5];

pub(super) fn steps(runs: u32) -> u64 {
    (EACH.len() * BERS.len() * Receiver::SPLITTING.len()) as u64 * u64::from(runs)
}

pub(super) fn run(runs: u32, seed: u64, progress: &dyn Progress) -> Result<Vec<Mixture>, Problem> {
    let mut mixtures = Vec::new();
    for judge in Receiver::SPLITTING.map(Receiver::name) {
        for (each, ber) in EACH.into_iter().flat_map(|each| BERS.map(|ber| (each, ber))) {
            let scenario = Draft::parse(&text(each, judge, ber), "fairness")?.check()?;
            let outcomes = repeat(&[&scenario], runs, seed, progress).swap_remove(0);
            mixtures.push(Mixture {
                judge,
                ber,
                each,
                jain: estimate_by(&outcomes, |outcome| Some(jain(&goodputs(outcome)))),
                ratio: estimate_by(&outcomes, |outcome| {
                    let goodputs = goodputs(outcome);
                    let (split, plain) = goodputs.split_at(each);
                    Some(split.iter().sum::<f64>() / plain.iter().sum::<f64>())
                }),
            });
        }
    }
    Ok(mixtures)
}

pub(super) fn items(mixtures: &[Mixture]) -> Vec<Item> {
    let item = |mixture: &Mixture, metric: &str, estimate: Option<Estimate>| {
        // An equal share is 1 for both; what counts as equal is 5 per cent or the interval.
        let verdict = estimate.map(|estimate| Verdict::of(1.0, &estimate, 0.05, false));
        Item {
            paper: PAPER.name.into(),
            item: format!("fairness-{0}+{0}", mixture.each),
            series: format!("{} beside plain", mixture.judge),
            x: x("ber", mixture.ber),
            metric: metric.into(),
            unit: String::new(),
            published: Some(1.0),
            measured: estimate.map(|estimate| estimate.mean),
            ci95: estimate.map(|estimate| estimate.ci95),
            runs: estimate.map_or(0, |estimate| estimate.runs),
            verdict,
            note: "§3.3 claims an equal share, without numbers; the congested wire is ours".into(),
        }
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

/// The scenario: the first half of the clients splits.
fn text(each: usize, judge: &str, ber: f64) -> String {
    let flows = 2 * each;
    let mut text = format!(
        "title = \"hasegawa §3.3: {each} splitting and {each} plain receivers\"\n\
         duration = \"300 s\"\nheaders = \"40 bytes\"\n\
         [link.wired]\nfrom = \"server\"\nto = \"bs\"\nrate = \"{flows} Mbit/s\"\n\
         one_way_delay = \"45 ms\"\nqueue = \"50 packets\"\n"
    );
    for client in 0..flows {
        let split = format!("shape = \"split\"\ncause = \"{judge}\"\n");
        let receiver = if client < each { split.as_str() } else { "" };
        text.push_str(&format!(
            "[link.air{client}]\nfrom = \"bs\"\nto = \"client{client}\"\none_way_delay = \"1 ms\"\n\
             [link.air{client}.down]\nrate = \"2 Mbit/s\"\nqueue = \"50 packets\"\n\
             channel = {{ kind = \"bit_error\", rate = {ber:e} }}\narq = \"repeat\"\n\
             [link.air{client}.up]\nrate = \"384 kbit/s\"\n\
             [flow.f{client}]\nfrom = \"server\"\nto = \"client{client}\"\nstart = \"{} ms\"\n\
             segment = \"1000 bytes\"\ntimestamp_tick = \"1 us\"\n\
             [flow.f{client}.sender]\nrecovery = \"sack\"\ncounting = \"per-ack\"\ninitial_window = 2\n\
             min_rto = \"200 ms\"\ntick = \"10 ms\"\n\
             [flow.f{client}.receiver]\ntiming = \"immediate\"\n{receiver}",
            client * 37
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
            let scenario = Draft::parse(&text(each, "mac", 2e-5), "fairness").and_then(|draft| draft.check());
            assert_eq!(scenario.map(|scenario| scenario.flows.len()).ok(), Some(2 * each));
        }
    }
}

//! Verdicts on numbers, computed by an equivalence test. The rules are the same for all papers.
//!
//! The band of agreement is the published number ± the margin. The class of the number determines the margin. The
//! margin is at least half of the last printed digit.
//!
//! *Mean*: a row *agrees* if the whole 95 % interval of our mean lies within the band. The row *differs* if the whole
//! interval lies outside the band. Otherwise, the row is *inconclusive*. A wide interval therefore never agrees (two
//! one-sided tests: Schuirmann, J. Pharmacokinet. Biopharm. 15(6), 1987).
//!
//! *One run*: the published number is the result of one random run. The number is compared with the 95 % prediction
//! interval of one more run of ours: Student's t with s sqrt(1 + 1/n) (Hahn and Meeker, Statistical Intervals, 1991,
//! §4.7). This rule applies to the classes `one_run` and `one_run_quantity`. The rule also applies if the paper does
//! not report its number of runs and single runs vary by more than the margin. A prediction interval is informative if
//! its half width is at most five margins and at most half of the published number. The row *agrees* if the published
//! number lies in an informative interval, or if our mean agrees. The row *differs* if the published number lies
//! outside the interval and our mean differs. The row is *undecidable* if no number of repetitions makes the interval
//! informative.
//!
//! *The paper's own spread*: some margins are the spread between two runs of the paper (`undecidable` in `study.toml`).
//! The true spread between runs may be half or twice such a margin. An inconclusive row is therefore *undecidable* if
//! the distance of the mean from the published number is between half a margin and two margins.

use crate::item::Verdict;
use crate::papers::cells::number;
use crate::stats::{Estimate, quantile};
use serde::Deserialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Class of a published number. The class determines the margin and the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Goodput, time or a similar quantity. The margin is 5 % of the published number.
    Quantity,
    /// Gain in per cent. The margin is 5 percentage points, but at most half of the gain. Our gain must have the same
    /// sign as the published gain.
    Gain,
    /// Share as a fraction. The margin is 0.02.
    Share,
    /// Share in per cent. The margin is 2 percentage points.
    #[serde(rename = "share_pct")]
    SharePercent,
    /// Index such as Jain's. The margin is 0.02.
    Index,
    /// Mean of counts. The margin is half a count or 5 %, whichever is larger.
    Count,
    /// Count in one run. The margin is the same as for `Count`. The published number is compared with one more run of
    /// ours.
    OneRun,
    /// Goodput, time or a similar quantity of one run. The margin is 5 %. The published number is compared with one
    /// more run of ours.
    OneRunQuantity,
    /// Position on an axis. The margin is half of the distance to the nearest axis value.
    Place,
    /// Computed number. The margin is half of the last printed digit.
    Exact,
}

impl Class {
    /// Returns the margin around a published number, in the number's unit.
    pub fn margin(self, published: f64) -> f64 {
        let size = published.abs();
        match self {
            Class::Quantity | Class::OneRunQuantity => 0.05 * size,
            Class::Gain => (0.5 * size).min(5.0),
            Class::Share | Class::Index => 0.02,
            Class::SharePercent => 2.0,
            Class::Count | Class::OneRun => (0.05 * size).max(0.5),
            Class::Place | Class::Exact => 0.0,
        }
    }

    /// Whether the published number comes from one run of the paper.
    pub const fn is_one_run(self) -> bool {
        matches!(self, Class::OneRun | Class::OneRunQuantity)
    }

    const fn is_of_runs(self) -> bool {
        !matches!(self, Class::Place | Class::Exact)
    }

    /// Returns the mean of the repetitions' values and its 95 % confidence interval, limited to the values that this class
    /// can have.
    pub fn interval(self, values: &[f64]) -> Option<Estimate> {
        let plain = Estimate::of(values)?;
        let n = values.len() as f64;
        let all = |value: f64| values.len() > 1 && values.iter().all(|one| *one == value);
        let ci95 = match self {
            // If n runs have no event, the upper limit of the rate is 3.7 / n (Poisson, 97.5 %: -ln 0.025 = 3.7).
            Class::Count | Class::OneRun if all(0.0) => Some([0.0, 3.7 / n]),
            Class::Count | Class::OneRun => plain.ci95.map(|[low, high]| [low.max(0.0), high]),
            Class::Share | Class::Index => bounded(&plain, 1.0, all(0.0), all(1.0)),
            Class::SharePercent => bounded(&plain, 100.0, all(0.0), all(100.0)),
            _ => plain.ci95,
        };
        Some(Estimate { ci95, ..plain })
    }
}

/// Returns the margin of a position on an axis. If the position is an axis value, the margin is half of the distance to
/// the nearer neighbouring value. If the position is between two axis values, the margin is half of the distance
/// between these values.
pub fn margin_of_place(published: f64, grid: &[f64]) -> Option<f64> {
    let slack = 1e-9 * published.abs();
    let below = grid.iter().copied().filter(|value| *value < published - slack).reduce(f64::max);
    let above = grid.iter().copied().filter(|value| *value > published + slack).reduce(f64::min);
    let is_on_it = grid.iter().any(|value| (value - published).abs() <= slack);
    if !is_on_it {
        return Some((above? - below?) / 2.0);
    }
    let gaps = [below.map(|below| published - below), above.map(|above| above - published)];
    gaps.into_iter().flatten().reduce(f64::min).map(|gap| gap / 2.0)
}

/// Returns the interval of a share between 0 and `whole`: Student's t of the share's logit. If all values are 0, or all
/// are `whole`, the rule of three gives the interval.
fn bounded(plain: &Estimate, whole: f64, is_none: bool, is_all: bool) -> Option<[f64; 2]> {
    let (share, half) = (plain.mean / whole, plain.half_width()? / whole);
    let of_three = 3.0 / plain.runs as f64;
    let ends = match () {
        () if is_none => [0.0, of_three.min(1.0)],
        () if is_all => [(1.0 - of_three).max(0.0), 1.0],
        () if share <= 0.0 || share >= 1.0 => [share - half, share + half],
        () => {
            let half = half / (share * (1.0 - share));
            let logit = libm::log(share / (1.0 - share));
            [logit - half, logit + half].map(|one| 1.0 / (1.0 + libm::exp(-one)))
        }
    };
    Some(ends.map(|end| end * whole))
}

/// Returns the largest plausible count in one more run after `n` runs without an event. If all runs have the same rate,
/// an event falls into the additional run with probability 1/(n + 1). The result is the largest k for which (1/(n +
/// 1))^k, the probability that all of k events do so, exceeds 2.5 %.
fn largest_unseen_count(n: f64) -> f64 {
    (libm::log(1.0 / 0.025) / libm::log(n + 1.0)).floor()
}

/// Returns half of the last printed digit: 0.05 for `15.2`, 0.5 for `83`.
pub fn half_digit(printed: &str) -> f64 {
    let digits = printed.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    0.5 * libm::pow(10.0, f64::from(exponent - decimals))
}

/// A measured and a published number to compare.
#[derive(Clone, Copy, Debug)]
pub struct NumberComparison<'a> {
    /// Published number.
    pub published: f64,
    /// Margin, in the number's unit.
    pub margin: f64,
    /// Class of the number.
    pub class: Class,
    /// Our mean with its interval.
    pub ours: &'a Estimate,
    /// Whether the scenario has no randomness. If so, one run suffices.
    pub is_exact: bool,
    /// Standard deviation of the repetitions.
    pub spread: f64,
    /// Number of requested repetitions. In some of these repetitions, our value may be undefined.
    pub of_runs: usize,
    /// Facts about the paper's runs.
    pub paper: PaperRuns<'a>,
}

/// Facts about the runs from which the paper computed a published number.
#[derive(Clone, Copy, Debug)]
pub struct PaperRuns<'a> {
    /// Whether the paper does not report the number of its runs.
    pub is_unknown: bool,
    /// Duration of our run divided by the duration of the paper's run. The spread between runs is inversely
    /// proportional to the square root of their duration.
    pub times_shorter: f64,
    /// Reason for an uncertain margin. Set only if the margin is the spread of the paper's own runs.
    pub undecidable: Option<&'a str>,
}

impl Default for PaperRuns<'_> {
    fn default() -> Self {
        PaperRuns { is_unknown: false, times_shorter: 1.0, undecidable: None }
    }
}

/// A verdict with its note.
#[derive(Clone, Debug, PartialEq)]
pub struct NotedVerdict {
    /// Verdict on the agreement of our result with the paper's number.
    pub verdict: Verdict,
    /// Note for the reader, such as the number of runs needed.
    pub note: String,
    /// One-sided probability of a deviation at least this large if the paper's number is correct. Set only by the rule
    /// for one run.
    pub chance: Option<f64>,
}

impl NumberComparison<'_> {
    /// Compares the measured with the published number by the rules of this module.
    pub fn verdict(&self) -> NotedVerdict {
        let of = |verdict, note: &str| NotedVerdict { verdict, note: note.into(), chance: None };
        let ci95 = if self.is_exact { Some([self.ours.mean; 2]) } else { self.ours.ci95 };
        let Some(ci95) = ci95 else {
            let few = if self.ours.runs == 1 { "one repetition has" } else { "too few repetitions have" };
            return of(Verdict::Inconclusive, &format!("{few} no interval"));
        };
        if 5 * self.ours.runs < 4 * self.of_runs {
            let note = format!("defined in {} of {} runs", self.ours.runs, self.of_runs);
            return of(Verdict::Inconclusive, &note);
        }
        let mean_verdict = match self.side(ci95) {
            BandPosition::Apart => of(Verdict::Differs, ""),
            BandPosition::Within
                if self.class != Class::Gain || ci95.iter().all(|end| end * self.published > 0.0) =>
            {
                of(Verdict::Agrees, "")
            }
            BandPosition::Within => of(Verdict::Inconclusive, "not significantly different from 0"),
            BandPosition::Across => of(Verdict::Inconclusive, &self.runs_needed()),
        };
        if !self.is_exact && self.is_one_run() {
            return self.one_run_verdict(mean_verdict);
        }
        let distance = (self.ours.mean - self.published).abs();
        let is_at_edge = 0.5 * self.margin <= distance && distance <= 2.0 * self.margin;
        match self.paper.undecidable {
            Some(why) if mean_verdict.verdict == Verdict::Inconclusive && is_at_edge => {
                of(Verdict::Undecidable, &format!("no number of repetitions decides: {why}"))
            }
            _ => mean_verdict,
        }
    }

    /// Returns the position of an interval relative to the band.
    fn side(&self, ci95: [f64; 2]) -> BandPosition {
        let band = self.band();
        // The tolerance prevents rounding errors of sums from changing the result at the ends of the band.
        let slack = 1e-9 * self.published.abs().max(self.margin);
        match () {
            () if ci95[1] < band[0] - slack || ci95[0] > band[1] + slack => BandPosition::Apart,
            () if band[0] - slack <= ci95[0] && ci95[1] <= band[1] + slack => BandPosition::Within,
            () => BandPosition::Across,
        }
    }

    fn band(&self) -> [f64; 2] {
        [self.published - self.margin, self.published + self.margin]
    }

    /// Whether the published number counts as the result of one run. Numbers of some classes always do. A number of any
    /// other class counts as the result of one run if two conditions hold: the paper does not report its number of
    /// runs, and single runs vary by more than the margin.
    fn is_one_run(&self) -> bool {
        let may_be = self.paper.is_unknown && self.class.is_of_runs() && self.spread > self.margin;
        self.class.is_one_run() || may_be
    }

    /// Returns the largest half width of an informative prediction interval: five margins, but at most half of the
    /// published number.
    fn widest(&self) -> f64 {
        (5.0 * self.margin).min(0.5 * self.published.abs())
    }

    /// Returns the verdict on a number from one run of the paper. The verdict depends on the number's position in the
    /// prediction interval of one more run of ours.
    fn one_run_verdict(&self, mean_verdict: NotedVerdict) -> NotedVerdict {
        let n = self.ours.runs as f64;
        let freedom = self.ours.runs.saturating_sub(1).max(1);
        // The deviation combines two variances: the variance between runs of the paper's duration, and the variance of
        // our mean.
        let deviation = self.spread * libm::sqrt(self.paper.times_shorter.max(1.0) + 1.0 / n);
        let half = quantile(freedom) * deviation;
        // A count that was 0 in all runs may be above 0 in the next run. A quantity that was equal in all runs is
        // assumed to be constant.
        let is_count = matches!(self.class, Class::Count | Class::OneRun);
        let is_unseen = is_count && self.ours.mean == 0.0 && self.spread == 0.0;
        let one_more = if is_unseen {
            [0.0, largest_unseen_count(n)]
        } else {
            [self.ours.mean - half, self.ours.mean + half]
        };
        let is_in = one_more[0] <= self.published && self.published <= one_more[1];
        let distance = (self.published - self.ours.mean).abs();
        let chance = match StudentsT::new(0.0, 1.0, freedom as f64) {
            Ok(students) if deviation > 0.0 => Some(students.sf(distance / deviation)),
            _ => None,
        };
        let of = |verdict, note: String| NotedVerdict { verdict, note, chance };
        match () {
            () if mean_verdict.verdict == Verdict::Agrees => NotedVerdict { chance, ..mean_verdict },
            () if is_in && is_unseen => of(
                Verdict::Inconclusive,
                format!("no event in {n} runs: one more run may have up to {}", one_more[1]),
            ),
            () if is_in && half <= self.widest() => of(Verdict::Agrees, String::new()),
            () if is_in => {
                let (half, widest) = (number(half), number(self.widest()));
                let words = format!(
                    "no number of repetitions decides: single runs vary by ± {half}, but the test needs at most \
                     ± {widest}"
                );
                if quantile(INFINITE) * self.spread * libm::sqrt(self.paper.times_shorter) > self.widest() {
                    of(Verdict::Undecidable, words)
                } else {
                    of(Verdict::Inconclusive, "needs a few more runs".into())
                }
            }
            () if mean_verdict.verdict == Verdict::Differs => of(Verdict::Differs, String::new()),
            () => NotedVerdict { chance, ..mean_verdict },
        }
    }

    /// Returns a note with the number of repetitions that would make the interval narrow enough, if the mean and the
    /// spread stay the same.
    fn runs_needed(&self) -> String {
        let distance =
            self.band().iter().map(|end| (end - self.ours.mean).abs()).fold(f64::INFINITY, f64::min);
        let times = self.ours.half_width().unwrap_or(f64::INFINITY) / distance;
        let runs = (self.ours.runs as f64 * times * times).ceil();
        match runs {
            runs if runs <= self.ours.runs as f64 => "needs a few more runs".into(),
            runs if runs < 10_000.0 => format!("needs about {runs} runs"),
            _ => "the mean is at the edge of the margin: 10,000 runs would not decide".into(),
        }
    }
}

enum BandPosition {
    Within,
    Across,
    Apart,
}

/// Number of degrees of freedom for which Student's t practically equals the normal distribution.
const INFINITE: usize = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(class: Class, published: f64, mean: f64, half: f64) -> Verdict {
        let ours = Estimate { mean, ci95: Some([mean - half, mean + half]), runs: 10 };
        let margin = class.margin(published);
        let comparison = NumberComparison {
            published,
            margin,
            class,
            ours: &ours,
            is_exact: false,
            spread: half,
            of_runs: 10,
            paper: PaperRuns::default(),
        };
        comparison.verdict().verdict
    }

    #[test]
    fn a_wide_interval_buys_nothing() {
        assert_eq!(verdict(Class::Quantity, 100.0, 102.0, 2.0), Verdict::Agrees);
        assert_eq!(verdict(Class::Quantity, 100.0, 102.0, 4.0), Verdict::Inconclusive);
        assert_eq!(verdict(Class::Quantity, 100.0, 108.0, 2.0), Verdict::Differs);
        assert_eq!(verdict(Class::Quantity, 100.0, 108.0, 4.0), Verdict::Inconclusive);
        assert_eq!(verdict(Class::Quantity, 1.2, 2.058, 1.1), Verdict::Inconclusive);
    }

    #[test]
    fn a_gain_is_on_its_side_of_zero() {
        assert_eq!(verdict(Class::Gain, -2.2, 0.0, 0.0), Verdict::Differs);
        assert_eq!(verdict(Class::Gain, -2.2, -2.0, 0.5), Verdict::Agrees);
        assert_eq!(verdict(Class::Gain, 83.0, 77.8, 8.2), Verdict::Inconclusive);
    }

    #[test]
    fn nothing_is_said_of_one_run() {
        let ours = Estimate::of(&[5.0]).unwrap();
        let comparison = NumberComparison {
            published: 5.0,
            margin: 1.0,
            class: Class::Quantity,
            ours: &ours,
            is_exact: false,
            spread: 0.0,
            of_runs: 1,
            paper: PaperRuns::default(),
        };
        assert_eq!(comparison.verdict().verdict, Verdict::Inconclusive);
        assert_eq!(NumberComparison { is_exact: true, ..comparison }.verdict().verdict, Verdict::Agrees);
    }

    #[test]
    fn many_undefined_runs_decide_nothing() {
        let ours = Estimate { mean: 1.0, ci95: Some([1.0, 1.0]), runs: 7 };
        let comparison = NumberComparison {
            published: 1.0,
            margin: 0.1,
            class: Class::Index,
            ours: &ours,
            is_exact: false,
            spread: 0.0,
            of_runs: 10,
            paper: PaperRuns::default(),
        };
        assert_eq!(comparison.verdict().verdict, Verdict::Inconclusive);
        assert_eq!(NumberComparison { of_runs: 8, ..comparison }.verdict().verdict, Verdict::Agrees);
    }

    #[test]
    fn a_count_of_one_run_is_judged_as_one_run() {
        let of = |mean, spread| {
            let ours = Estimate { mean, ci95: Some([mean - 1.0, mean + 1.0]), runs: 20 };
            let comparison = NumberComparison {
                published: 67.0,
                margin: 3.35,
                class: Class::OneRun,
                ours: &ours,
                is_exact: false,
                spread,
                of_runs: 20,
                paper: PaperRuns::default(),
            };
            comparison.verdict().verdict
        };
        assert_eq!(of(66.0, 3.0), Verdict::Agrees);
        // With t(19) = 2.093, one more run lies within 72 ± 6.4. This interval includes the published number 67.
        assert_eq!(of(72.0, 3.0), Verdict::Agrees);
        assert_eq!(of(80.0, 3.0), Verdict::Differs);
        // An interval is informative if its half width is at most 16.75 (five margins). With a spread of 7, the
        // interval 80 ± 15.0 is informative. With a spread of 9, infinitely many runs would still leave a half width of
        // 1.96 * 9 = 17.6, which is not informative.
        assert_eq!(of(80.0, 7.0), Verdict::Agrees);
        assert_eq!(of(80.0, 9.0), Verdict::Undecidable);
        // With a spread of 8, the interval 80 ± 17.2 is not informative. Infinitely many runs would leave a half width
        // of 1.96 * 8 = 15.7, which is informative.
        assert_eq!(of(80.0, 8.0), Verdict::Inconclusive);
    }

    #[test]
    fn a_number_of_unknown_runs_is_one_run_if_one_run_varies_by_more_than_the_margin() {
        let of = |spread, paper| {
            let half = 2.262 * spread / 10_f64.sqrt();
            let ours = Estimate { mean: 112.0, ci95: Some([112.0 - half, 112.0 + half]), runs: 10 };
            let comparison = NumberComparison {
                published: 100.0,
                margin: 5.0,
                class: Class::Quantity,
                ours: &ours,
                is_exact: false,
                spread,
                of_runs: 10,
                paper,
            };
            comparison.verdict().verdict
        };
        let unknown = PaperRuns { is_unknown: true, ..PaperRuns::default() };
        assert_eq!(of(6.0, PaperRuns::default()), Verdict::Differs);
        // With a spread of 6, one more run lies within 112 ± 14.2, which includes the published number 100. A spread of
        // 4 is below the margin, so that the published number counts as a mean.
        assert_eq!((of(6.0, unknown), of(4.0, unknown)), (Verdict::Agrees, Verdict::Differs));
        // The paper's run is a fifth as long as our run, so that its results vary 2.24 times as much. With infinitely
        // many runs of ours, the interval is 112 ± 26.3. An informative interval is at most ± 25.
        let shorter = PaperRuns { times_shorter: 5.0, ..unknown };
        assert_eq!(of(6.0, shorter), Verdict::Undecidable);
    }

    #[test]
    fn at_the_edge_of_the_papers_own_spread_nothing_is_decided() {
        let of = |mean, half| {
            let ours = Estimate { mean, ci95: Some([mean - half, mean + half]), runs: 8 };
            let comparison = NumberComparison {
                published: 80.0,
                margin: 0.2,
                class: Class::Quantity,
                ours: &ours,
                is_exact: false,
                spread: half,
                of_runs: 8,
                paper: PaperRuns {
                    undecidable: Some("the margin is the paper's own spread"),
                    ..PaperRuns::default()
                },
            };
            comparison.verdict()
        };
        let edge = of(80.25, 0.1);
        assert_eq!(edge.verdict, Verdict::Undecidable);
        assert_eq!(edge.note, "no number of repetitions decides: the margin is the paper's own spread");
        assert_eq!((of(80.05, 0.1).verdict, of(80.35, 0.1).verdict), (Verdict::Agrees, Verdict::Differs));
        assert_eq!(
            (of(80.05, 0.3).verdict, of(81.0, 1.0).verdict),
            (Verdict::Inconclusive, Verdict::Inconclusive)
        );
    }

    #[test]
    fn what_a_few_runs_have_not_seen_may_still_happen() {
        let of = |runs: usize, published| {
            let ours = Class::OneRun.interval(&vec![0.0; runs]).unwrap();
            let margin = Class::OneRun.margin(published);
            let comparison = NumberComparison {
                published,
                margin,
                class: Class::OneRun,
                ours: &ours,
                is_exact: false,
                spread: 0.0,
                of_runs: runs,
                paper: PaperRuns::default(),
            };
            comparison.verdict().verdict
        };
        // Eight runs have no event. A single event falls into the ninth run with probability 1/9. Two events both fall
        // into the ninth run with probability 1/81, which is below 2.5 %.
        assert_eq!(of(8, 1.0), Verdict::Inconclusive);
        assert_eq!(of(8, 3.0), Verdict::Differs);
        assert_eq!(of(38, 1.0), Verdict::Inconclusive);
        assert_eq!(of(40, 1.0), Verdict::Differs);
    }

    #[test]
    fn intervals_of_shares_and_counts_keep_their_bounds() {
        assert_eq!(Class::Share.interval(&[0.0; 30]).unwrap().ci95, Some([0.0, 0.1]));
        assert_eq!(Class::Index.interval(&[1.0; 30]).unwrap().ci95, Some([0.9, 1.0]));
        assert_eq!(Class::Count.interval(&[0.0; 10]).unwrap().ci95, Some([0.0, 0.37]));
        let [low, high] = Class::Share.interval(&[0.99, 1.0, 0.9]).unwrap().ci95.unwrap();
        assert!(low > 0.0 && high < 1.0, "{low} {high}");
        let values = [0.49, 0.5, 0.51, 0.5];
        let (logit, plain) = (Class::Share.interval(&values).unwrap(), Estimate::of(&values).unwrap());
        assert!((logit.ci95.unwrap()[0] - plain.ci95.unwrap()[0]).abs() < 1e-4);
    }

    #[test]
    fn a_place_is_one_value_of_the_grid() {
        let grid = [0.0, 0.01, 0.05, 0.1, 0.2];
        let margin = |published| margin_of_place(published, &grid).map(|margin| (1e9 * margin).round() / 1e9);
        assert_eq!(margin(0.05), Some(0.02));
        assert_eq!(margin(0.1), Some(0.025));
        // The last axis value has only one neighbour. The number 0.06 lies between two axis values, so that the margin
        // is half of the distance between these values.
        assert_eq!(margin(0.2), Some(0.05));
        assert_eq!(margin(0.06), Some(0.025));
        assert_eq!(margin(0.3), None);
    }

    #[test]
    fn half_of_the_last_digit() {
        for (printed, half) in
            [("15.2", 0.05), ("83", 0.5), ("0.044", 0.0005), ("-80", 0.5), ("7e-5", 0.5e-5)]
        {
            assert!((half_digit(printed) / half - 1.0).abs() < 1e-12, "{printed}");
        }
    }
}

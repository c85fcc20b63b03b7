//! The verdict on a number: an equivalence test, the same in all papers.
//!
//! The band is the published number ± the larger of its class's margin and half of its last printed digit. A row
//! *agrees* if our whole 95 % interval lies within the band, *differs* if it lies outside, and is *inconclusive*
//! otherwise: more repetitions would tell. So a wide interval never buys an agreement (two one-sided tests: Schuirmann,
//! J. Pharmacokinet. Biopharm. 15(6), 1987).

use crate::item::Verdict;
use crate::stats::{Estimate, quantile};
use serde::Deserialize;

/// What kind of number a published one is: how near is near, and which interval ours has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// A goodput, a time …: 5 % of the published number.
    Quantity,
    /// A gain in per cent: 5 points, and at most half of it; and on its side of 0.
    Gain,
    /// A share, as a fraction: 0.02.
    Share,
    /// A share in per cent: 2 points.
    #[serde(rename = "share_pct")]
    SharePercent,
    /// An index such as Jain's: 0.02.
    Index,
    /// A mean of counts: half a count, or 5 %.
    Count,
    /// The count of one run of the paper's: the same margin, but against what one more run of ours would give.
    OneRun,
    /// A place on an axis: half of the way to the next values of the grid.
    Place,
    /// Computed: half of the last printed digit.
    Exact,
}

impl Class {
    /// The margin around a published number, in its unit.
    pub fn margin(self, published: f64) -> f64 {
        let size = published.abs();
        match self {
            Class::Quantity => 0.05 * size,
            Class::Gain => (0.5 * size).min(5.0),
            Class::Share | Class::Index => 0.02,
            Class::SharePercent => 2.0,
            Class::Count | Class::OneRun => (0.05 * size).max(0.5),
            Class::Place | Class::Exact => 0.0,
        }
    }

    /// The rule in words, as it is printed beside the rows.
    pub const fn words(self) -> &'static str {
        match self {
            Class::Quantity => "5 %",
            Class::Gain => "5 points, at most half of it, and on its side of 0",
            Class::Share | Class::Index => "0.02",
            Class::SharePercent => "2 points",
            Class::Count => "half a count or 5 %",
            Class::OneRun => "half a count or 5 %; one run of the paper's against one more run of ours",
            Class::Place => "half of the way to the grid's next values",
            Class::Exact => "half of the last printed digit",
        }
    }

    /// Our interval, from the values of the repetitions.
    pub fn interval(self, values: &[f64]) -> Option<Estimate> {
        let plain = Estimate::of(values)?;
        let n = values.len() as f64;
        let all = |value: f64| values.len() > 1 && values.iter().all(|one| *one == value);
        let ci95 = match self {
            // Nothing seen in n runs: fewer than 3.7 in n expected (Poisson, 97.5 %).
            Class::Count | Class::OneRun if all(0.0) => [0.0, 3.7 / n],
            Class::Count | Class::OneRun => [plain.ci95[0].max(0.0), plain.ci95[1]],
            Class::Share | Class::Index => bounded(&plain, 1.0, all(0.0), all(1.0)),
            Class::SharePercent => bounded(&plain, 100.0, all(0.0), all(100.0)),
            _ => plain.ci95,
        };
        Some(Estimate { ci95, ..plain })
    }
}

/// The margin of a place: half of the way to the nearer of the grid's next values, so that no other value of the grid
/// lies within; of a place between two values, half of the step that it lies in.
pub fn margin_of_place(published: f64, grid: &[f64]) -> Option<f64> {
    let slack = 1e-9 * published.abs();
    let below = grid.iter().copied().filter(|value| *value < published - slack).reduce(f64::max);
    let above = grid.iter().copied().filter(|value| *value > published + slack).reduce(f64::min);
    let is_on_it = grid.iter().any(|value| (value - published).abs() <= slack);
    if !is_on_it {
        return Some((above? - below?) / 2.0);
    }
    let ways = [below.map(|below| published - below), above.map(|above| above - published)];
    ways.into_iter().flatten().reduce(f64::min).map(|way| way / 2.0)
}

/// The interval of a share: Student's t of its logit, which stays within 0 and `whole`; the rule of three at the ends.
fn bounded(plain: &Estimate, whole: f64, is_none: bool, is_all: bool) -> [f64; 2] {
    let (share, half) = (plain.mean / whole, plain.half_width() / whole);
    let of_three = 3.0 / plain.runs as f64;
    let ends = match () {
        () if is_none => [0.0, of_three.min(1.0)],
        () if is_all => [(1.0 - of_three).max(0.0), 1.0],
        () if !half.is_finite() || share <= 0.0 || share >= 1.0 => [share - half, share + half],
        () => {
            let half = half / (share * (1.0 - share));
            let logit = libm::log(share / (1.0 - share));
            [logit - half, logit + half].map(|one| 1.0 / (1.0 + libm::exp(-one)))
        }
    };
    ends.map(|end| end * whole)
}

/// The most that one more run may count of what none of `n` runs has seen: if all have the same rate, each of k events
/// falls into that run with probability 1/(n + 1); k as long as that is above 2.5 %.
fn most_unseen(n: f64) -> f64 {
    (libm::log(1.0 / 0.025) / libm::log(n + 1.0)).floor()
}

/// Half of the last printed digit of a number: 0.05 of `15.2`, 0.5 of `83`.
pub fn half_digit(printed: &str) -> f64 {
    let digits = printed.trim_start_matches(['-', '+']);
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let decimals = mantissa.split_once('.').map_or(0, |(_, decimals)| decimals.len() as i32);
    let exponent: i32 = exponent.parse().unwrap_or(0);
    0.5 * libm::pow(10.0, f64::from(exponent - decimals))
}

/// A number that is judged.
#[derive(Clone, Copy, Debug)]
pub struct Judged<'a> {
    /// The published number.
    pub published: f64,
    /// How far from it is near, in its unit.
    pub margin: f64,
    /// What kind it is.
    pub class: Class,
    /// Ours.
    pub ours: &'a Estimate,
    /// Whether nothing is random: one run says all.
    pub is_exact: bool,
    /// Standard deviation of the repetitions.
    pub spread: f64,
    /// Repetitions asked for, of which some may be undefined.
    pub of_runs: usize,
}

/// A verdict, and what would help.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// What a reader should know: how many runs would tell.
    pub note: String,
}

impl Judged<'_> {
    /// The verdict.
    pub fn verdict(&self) -> Judgement {
        let of = |verdict, note: &str| Judgement { verdict, note: note.into() };
        let band = [self.published - self.margin, self.published + self.margin];
        let ci95 = if self.is_exact { [self.ours.mean; 2] } else { self.ours.ci95 };
        if ci95.iter().any(|end| !end.is_finite()) {
            let few = if self.ours.runs == 1 { "one repetition has" } else { "so few repetitions have" };
            return of(Verdict::Inconclusive, &format!("{few} no interval"));
        }
        if 5 * self.ours.runs < 4 * self.of_runs {
            let note = format!("defined in {} of {} runs", self.ours.runs, self.of_runs);
            return of(Verdict::Inconclusive, &note);
        }
        if self.class == Class::OneRun && !self.is_exact {
            return self.of_one_run(band);
        }
        let is_on_its_side = self.class != Class::Gain || ci95.iter().all(|end| end * self.published > 0.0);
        // Rounding of sums must not decide at the band's very end.
        let slack = 1e-9 * self.published.abs().max(self.margin);
        match () {
            () if ci95[1] < band[0] - slack || ci95[0] > band[1] + slack => of(Verdict::Differs, ""),
            () if band[0] - slack <= ci95[0] && ci95[1] <= band[1] + slack => match is_on_its_side {
                true => of(Verdict::Agrees, ""),
                false => of(Verdict::Inconclusive, "not told from 0"),
            },
            () => Judgement { verdict: Verdict::Inconclusive, note: self.runs_that_tell(band) },
        }
    }

    /// One run of the paper's is one draw: it differs if it lies outside of where one more run of ours would.
    fn of_one_run(&self, band: [f64; 2]) -> Judgement {
        let n = self.ours.runs as f64;
        let half =
            quantile(self.ours.runs.saturating_sub(1).max(1)) * self.spread * libm::sqrt(1.0 + 1.0 / n);
        let one_more = match self.ours.mean == 0.0 && self.spread == 0.0 {
            true => [0.0, most_unseen(n)],
            false => [self.ours.mean - half, self.ours.mean + half],
        };
        let is_apart = one_more[1] < band[0] || one_more[0] > band[1];
        let is_near = band[0] <= self.ours.ci95[0] && self.ours.ci95[1] <= band[1];
        let note = |note: &str| note.to_owned();
        match (is_apart, is_near) {
            (true, _) => Judgement { verdict: Verdict::Differs, note: String::new() },
            (false, true) => Judgement { verdict: Verdict::Agrees, note: String::new() },
            (false, false) if one_more[1] - self.ours.mean > self.margin => Judgement {
                verdict: Verdict::Inconclusive,
                note: note("one run of the paper's cannot tell: single runs vary by more than the margin"),
            },
            (false, false) => Judgement { verdict: Verdict::Inconclusive, note: self.runs_that_tell(band) },
        }
    }

    /// How many repetitions would make the interval narrow enough, if mean and spread stay.
    fn runs_that_tell(&self, band: [f64; 2]) -> String {
        let distance = band.iter().map(|end| (end - self.ours.mean).abs()).fold(f64::INFINITY, f64::min);
        let times = self.ours.half_width() / distance;
        let runs = (self.ours.runs as f64 * times * times).ceil();
        match runs {
            runs if runs <= self.ours.runs as f64 => "a few more runs would tell".into(),
            runs if runs < 10_000.0 => format!("about {runs} runs would tell"),
            _ => "on the edge of the margin: no number of runs would tell".into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(class: Class, published: f64, mean: f64, half: f64) -> Verdict {
        let ours = Estimate { mean, ci95: [mean - half, mean + half], runs: 10 };
        let margin = class.margin(published);
        let judged =
            Judged { published, margin, class, ours: &ours, is_exact: false, spread: half, of_runs: 10 };
        judged.verdict().verdict
    }

    #[test]
    fn a_wide_interval_buys_nothing() {
        // 5 % of 100: the band is 95 to 105.
        assert_eq!(verdict(Class::Quantity, 100.0, 102.0, 2.0), Verdict::Agrees);
        assert_eq!(verdict(Class::Quantity, 100.0, 102.0, 4.0), Verdict::Inconclusive);
        assert_eq!(verdict(Class::Quantity, 100.0, 108.0, 2.0), Verdict::Differs);
        assert_eq!(verdict(Class::Quantity, 100.0, 108.0, 4.0), Verdict::Inconclusive);
        assert_eq!(verdict(Class::Quantity, 1.2, 2.058, 1.1), Verdict::Inconclusive);
    }

    #[test]
    fn a_gain_is_on_its_side_of_zero() {
        // Half of 2.2 at most: the band is -3.3 to -1.1, and 0 lies outside.
        assert_eq!(verdict(Class::Gain, -2.2, 0.0, 0.0), Verdict::Differs);
        assert_eq!(verdict(Class::Gain, -2.2, -2.0, 0.5), Verdict::Agrees);
        assert_eq!(verdict(Class::Gain, 83.0, 77.8, 8.2), Verdict::Inconclusive);
    }

    #[test]
    fn nothing_is_said_of_one_run() {
        let ours = Estimate::of(&[5.0]).unwrap();
        let judged = Judged {
            published: 5.0,
            margin: 1.0,
            class: Class::Quantity,
            ours: &ours,
            is_exact: false,
            spread: 0.0,
            of_runs: 1,
        };
        assert_eq!(judged.verdict().verdict, Verdict::Inconclusive);
        assert_eq!(Judged { is_exact: true, ..judged }.verdict().verdict, Verdict::Agrees);
    }

    #[test]
    fn many_undefined_runs_decide_nothing() {
        let ours = Estimate { mean: 1.0, ci95: [1.0, 1.0], runs: 7 };
        let judged = Judged {
            published: 1.0,
            margin: 0.1,
            class: Class::Index,
            ours: &ours,
            is_exact: false,
            spread: 0.0,
            of_runs: 10,
        };
        assert_eq!(judged.verdict().verdict, Verdict::Inconclusive);
        assert_eq!(Judged { of_runs: 8, ..judged }.verdict().verdict, Verdict::Agrees);
    }

    #[test]
    fn a_count_of_one_run_is_judged_as_one_run() {
        let of = |mean, spread| {
            let ours = Estimate { mean, ci95: [mean - 1.0, mean + 1.0], runs: 20 };
            let judged = Judged {
                published: 67.0,
                margin: 3.35,
                class: Class::OneRun,
                ours: &ours,
                is_exact: false,
                spread,
                of_runs: 20,
            };
            judged.verdict().verdict
        };
        assert_eq!(of(66.0, 3.0), Verdict::Agrees);
        // t(19) = 2.093: one more run lies within 80 ± 6.4, the band ends at 70.35.
        assert_eq!(of(80.0, 3.0), Verdict::Differs);
        assert_eq!(of(80.0, 8.0), Verdict::Inconclusive);
    }

    #[test]
    fn what_a_few_runs_have_not_seen_may_still_happen() {
        let of = |runs: usize, published| {
            let ours = Class::OneRun.interval(&vec![0.0; runs]).unwrap();
            let margin = Class::OneRun.margin(published);
            let judged = Judged {
                published,
                margin,
                class: Class::OneRun,
                ours: &ours,
                is_exact: false,
                spread: 0.0,
                of_runs: runs,
            };
            judged.verdict().verdict
        };
        // One event falls into the ninth of nine runs with probability 1/9; two do with 1/81, below 2.5 %.
        assert_eq!(of(8, 1.0), Verdict::Inconclusive);
        assert_eq!(of(8, 3.0), Verdict::Differs);
        // 1/40 is 2.5 %, 1/41 is less.
        assert_eq!(of(38, 1.0), Verdict::Inconclusive);
        assert_eq!(of(40, 1.0), Verdict::Differs);
    }

    #[test]
    fn intervals_of_shares_and_counts_keep_their_bounds() {
        assert_eq!(Class::Share.interval(&[0.0; 30]).unwrap().ci95, [0.0, 0.1]);
        assert_eq!(Class::Index.interval(&[1.0; 30]).unwrap().ci95, [0.9, 1.0]);
        assert_eq!(Class::Count.interval(&[0.0; 10]).unwrap().ci95, [0.0, 0.37]);
        let [low, high] = Class::Share.interval(&[0.99, 1.0, 0.9]).unwrap().ci95;
        assert!(low > 0.0 && high < 1.0, "{low} {high}");
        // Far from the ends it is Student's.
        let values = [0.49, 0.5, 0.51, 0.5];
        let (logit, plain) = (Class::Share.interval(&values).unwrap(), Estimate::of(&values).unwrap());
        assert!((logit.ci95[0] - plain.ci95[0]).abs() < 1e-4);
    }

    #[test]
    fn a_place_is_one_value_of_the_grid() {
        let grid = [0.0, 0.01, 0.05, 0.1, 0.2];
        let margin = |published| margin_of_place(published, &grid).map(|margin| (1e9 * margin).round() / 1e9);
        assert_eq!(margin(0.05), Some(0.02));
        assert_eq!(margin(0.1), Some(0.025));
        // At the grid's end there is one way only; between two values both are as near as can be.
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

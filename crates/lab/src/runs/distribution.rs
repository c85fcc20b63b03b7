//! Distribution of completion times in reports, JSON and CSV. The distribution is the share of transfers that are
//! complete by each time.

use super::classes::class_of;
use super::completion::Completion;
use super::csv::line;
use super::sizes::NamedTransfers;
use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_sim::Outcome;

const MAX_CURVES: usize = 8;
/// Largest number of points of a curve in JSON. A curve with more points is thinned to one point for each hundredth of
/// the share.
pub const POINTS: usize = 100;
/// Smallest ratio of the largest to the smallest time for which the time axis is logarithmic.
const LOG_AXIS_RATIO: f64 = 30.0;

/// Returns the times (s) at which the share of completed transfers rises, each with the new share (0 to 1). The share
/// is 1 minus the product-limit estimate that [`Completion::quantiles`] cites. `times` must be sorted by
/// [`Completion::sort`].
pub(super) fn completion_curve(times: &[(f64, bool)]) -> Vec<[f64; 2]> {
    let (mut left, mut steps) = (1.0, Vec::<[f64; 2]>::new());
    for (at, (seconds, _)) in times.iter().enumerate().filter(|(_, (_, complete))| *complete) {
        let observations = (times.len() - at) as f64;
        left *= (observations - 1.0) / observations;
        match steps.last_mut() {
            Some(last) if last[0] == *seconds => last[1] = 1.0 - left,
            _ => steps.push([*seconds, 1.0 - left]),
        }
    }
    steps
}

/// Keeps the last point of the curve, and the first point in each hundredth of the share. A curve of at most `POINTS`
/// points is returned unchanged.
pub(super) fn thinned(completion_curve: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    if completion_curve.len() <= POINTS {
        return completion_curve;
    }
    let last = completion_curve.last().copied();
    let (mut kept, mut due) = (Vec::<[f64; 2]>::new(), 1.0 / POINTS as f64);
    for step in completion_curve {
        if step[1] >= due - 1e-9 {
            kept.push(step);
            due = ((step[1] * POINTS as f64 + 1e-9).floor() + 1.0) / POINTS as f64;
        }
    }
    if kept.last() != last.as_ref() {
        kept.extend(last);
    }
    kept
}

/// Returns the figure of the distributions over all repetitions, with one curve for each name. Returns `None` if no
/// name has at least two transfers.
pub fn of_transfers(named: &[NamedTransfers]) -> Option<Figure> {
    let times = |(name, transfers): &NamedTransfers| {
        (name.clone(), transfers.iter().map(|it| (it.took_s, it.is_complete)).collect())
    };
    figure(named.iter().take(MAX_CURVES).map(times).collect())
}

/// Returns a figure with one curve for each name. Each transfer is given as its observed time, s, and whether it
/// completed. Returns `None` if no name has at least two transfers of which at least one completed.
pub fn figure(named: Vec<(String, Vec<(f64, bool)>)>) -> Option<Figure> {
    let (mut curves, mut cut) = (Vec::new(), 0);
    let (mut least, mut most) = (f64::INFINITY, 0.0_f64);
    for (name, mut times) in named {
        Completion::sort(&mut times);
        let steps = completion_curve(&times);
        if times.len() < 2 || steps.is_empty() {
            continue;
        }
        cut += times.iter().filter(|(_, complete)| !complete).count();
        let observations = times.last().map_or(0.0, |(seconds, _)| *seconds);
        least = least.min(steps[0][0]);
        most = most.max(observations);
        let mut points = vec![Point::exact(steps[0][0], 0.0)];
        points.extend(steps.iter().map(|[seconds, share]| Point::exact(*seconds, 100.0 * share)));
        if let Some(last) = steps.last().filter(|last| last[0] < observations) {
            points.push(Point::exact(observations, 100.0 * last[1]));
        }
        curves.push(Curve { name, kind: CurveKind::Steps, points });
    }
    if curves.is_empty() {
        return None;
    }
    let cut = match cut {
        0 => String::new(),
        _ => format!(
            " Transfers and requests cut off by the run's end ({cut}) are censored (Kaplan and Meier)."
        ),
    };
    Some(Figure {
        id: "completions".into(),
        title: "Completion times".into(),
        caption: format!(
            "Share of transfers or requests that complete within the time on the x axis, over all repetitions.{cut}"
        ),
        x_label: "time to complete, s".into(),
        y_label: "complete, %".into(),
        x_log: least > 0.0 && most > LOG_AXIS_RATIO * least,
        y_bounds: Some([0.0, 100.0]),
        curves,
        ..Figure::default()
    })
}

/// Returns the column names of [`rows`]. `before` lists additional leading columns.
pub fn header(before: &[&str]) -> String {
    let own = COLUMNS.iter().map(|(name, _)| *name);
    line(before.iter().copied().chain(own))
}

/// Columns of [`rows`], each with its description.
pub const COLUMNS: &[(&str, &str)] = &[
    ("flow", "name of the flow"),
    ("run", "number of the repetition, from 1"),
    ("seed", "seed of the repetition"),
    ("transfer", "number of the request in its flow, from 1; 1 for a transfer"),
    ("began_s", "start of the transfer, or time of the request, from the run's beginning, s"),
    ("took_s", "duration from `began_s` to the last byte, or to the run's end, s"),
    ("complete", "1 if complete; 0 if cut off by the run's end"),
    ("class", "name of the flow without the number of the replica"),
    ("bytes", "size of the transfer or response, bytes"),
    ("slowdown", "`took_s` relative to the time on an idle path without slow start"),
];

/// Returns one row for each transfer and each request of a repetition. `before` lists additional leading fields. `run`
/// is the number of the repetition, from 1.
pub fn rows(before: &[&str], run: usize, outcome: &Outcome) -> String {
    let mut text = String::new();
    for flow in &outcome.flows {
        for (number, it) in flow.transfers().enumerate() {
            let own = [
                flow.name.clone(),
                run.to_string(),
                outcome.seed.to_string(),
                (number + 1).to_string(),
                it.began_s.to_string(),
                it.took_s.to_string(),
                u8::from(it.is_complete).to_string(),
                class_of(&flow.name).to_owned(),
                it.bytes.to_string(),
                it.slowdown().to_string(),
            ];
            text += &line(before.iter().map(|it| (*it).to_owned()).chain(own));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_course_of_times_that_all_end_is_their_distribution() {
        let times: Vec<(f64, bool)> = [1.0, 2.0, 2.0, 4.0].map(|time| (time, true)).to_vec();
        let completion_curve = completion_curve(&times);
        let expected = [[1.0, 0.25], [2.0, 0.75], [4.0, 1.0]];
        assert!(
            completion_curve
                .iter()
                .zip(expected)
                .all(|(is, was)| is[0] == was[0] && (is[1] - was[1]).abs() < 1e-12)
        );
        assert_eq!(completion_curve.len(), 3);
    }

    /// The expected shares are computed by hand for four transfers. At 1 s, one of four transfers completes: the share
    /// is 1/4. At 2 s, a second transfer is cut off. At 3 s, one of the remaining two transfers completes: the share is
    /// 1 - 3/4 · 1/2 = 0.625.
    #[test]
    fn what_is_cut_off_counts_as_later() {
        let completion_curve = completion_curve(&[(1.0, true), (2.0, false), (3.0, true), (5.0, false)]);
        assert_eq!(completion_curve.len(), 2);
        assert!(
            (completion_curve[0][1] - 0.25).abs() < 1e-12 && (completion_curve[1][1] - 0.625).abs() < 1e-12,
            "{completion_curve:?}"
        );
    }

    #[test]
    fn a_thinned_course_has_a_point_for_each_hundredth_and_the_last() {
        let times: Vec<(f64, bool)> = (1..=1000).map(|time| (f64::from(time), true)).collect();
        let kept = thinned(completion_curve(&times));
        assert_eq!(kept.len(), POINTS);
        for (at, [seconds, share]) in kept.iter().enumerate() {
            let due = (at + 1) as f64;
            assert!((share * 100.0 - due).abs() < 1e-6 && (*seconds - 10.0 * due).abs() < 1e-9, "{at}");
        }
    }

    #[test]
    fn one_transfer_is_no_distribution() {
        assert_eq!(figure(vec![("one".into(), vec![(1.0, true)])]), None);
        let drawn = figure(vec![("two".into(), vec![(3.0, true), (1.0, true), (90.0, false)])]).unwrap();
        assert!(drawn.x_log && drawn.caption.contains("cut off by the run's end (1)"), "{drawn:?}");
        let points: Vec<(f64, f64)> = drawn.curves[0].points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!((points[0], points.len()), ((1.0, 0.0), 4));
        assert_eq!(points[3].0, 90.0);
    }
}

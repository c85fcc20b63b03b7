//! Assertions on an emulated run: bounds on numbers of the summary. A run gives one value of each number, so assertions
//! use no confidence interval.

use super::summary::Summary;
use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use lasthop_emu::emulation::{End, EndCounters};
use lasthop_lab::assertion::{Bound, BoundStatus, CheckedBound, junit, stem};

/// Function that returns the number for one direction, or `None` if the number is undefined in the run.
type MetricFn = fn(&Summary, End) -> Option<f64>;

const METRICS: [(&str, MetricFn); 8] = [
    (GOODPUT, |summary, end| summary.measured.goodput_kbps(end)),
    ("rate_kbps", |summary, end| Some(summary.rate_kbps(end))),
    ("acknowledged_bytes", |summary, end| Some(counters(summary, end).acknowledged_bytes as f64)),
    ("delivered_bytes", |summary, end| Some(counters(summary, end).delivered_bytes as f64)),
    ("packets", |summary, end| Some(counters(summary, end).offered as f64)),
    ("lost_packets", |summary, end| Some(lost(summary, end))),
    ("lost_pct", |summary, end| {
        Some(100.0 * lost(summary, end) / (counters(summary, end).offered as f64).max(1.0))
    }),
    ("duration_s", |summary, _| Some(summary.took.as_secs_f64())),
];

/// Name of the metric that is undefined if no TCP payload was sent.
const GOODPUT: &str = "goodput_kbps";

fn counters(summary: &Summary, end: End) -> &EndCounters {
    &summary.measured.counters[end as usize]
}

fn lost(summary: &Summary, end: End) -> f64 {
    counters(summary, end).lost.iter().map(|(_, count)| *count).sum::<u64>() as f64
}

#[derive(Clone)]
pub(super) struct Assertion {
    bound: Bound,
    of: MetricFn,
    end: End,
}

impl Assertion {
    /// Returns a note with the reason if the metric is undefined in the run.
    fn undefined(&self, summary: &Summary) -> Option<String> {
        let direction = if self.end == End::Client { "down" } else { "up" };
        (self.bound.metric == GOODPUT && (self.of)(summary, self.end).is_none()).then(|| {
            format!(
                "note: `{}`: no TCP payload was sent {direction}, and goodput counts acknowledged TCP payload only; \
                 for UDP and QUIC, assert rate@{direction} (kbit/s, with headers) or delivered@{direction} (bytes, with headers)",
                self.bound.written
            )
        })
    }
}

/// Parses an assertion. `@down` or `@up` may follow the metric; the default is `@down`.
pub(super) fn parse(text: &str) -> Result<Assertion, String> {
    let find = |name: &str| METRICS.iter().find(|(metric, _)| *metric == name || stem(metric) == name);
    let known = || METRICS.map(|(metric, _)| stem(metric)).join(", ");
    let bound = Bound::parse(text, |name| find(name).map(|(metric, _)| (*metric).to_owned()), known)
        .map_err(|refusal| format!("{}; {}", refusal.message, refusal.help))?;
    let end = match bound.at.as_deref() {
        None | Some("down") => End::Client,
        Some("up") => End::Server,
        Some(other) => return Err(format!("unknown direction `{other}`; expected down or up")),
    };
    match find(&bound.metric) {
        Some((_, of)) => Ok(Assertion { of: *of, end, bound }),
        None => Err(format!("unknown metric `{}`; expected one of {}", bound.metric, known())),
    }
}

pub(super) fn report_assertions(
    all: &[Assertion],
    summary: &Summary,
    suite: &str,
    file: Option<Target>,
) -> Result<(), Failure> {
    let judged: Vec<CheckedBound> =
        all.iter().map(|one| one.bound.check(&[(one.of)(summary, one.end)], true)).collect();
    if let Some(target) = file {
        target.write_and_note(&junit::xml(suite, &judged))?;
    }
    judged.iter().for_each(|one| output::note(&one.line()));
    all.iter().filter_map(|one| one.undefined(summary)).for_each(|why| output::note(&why));
    match judged.iter().filter(|one| one.status != BoundStatus::Holds).count() {
        0 => Ok(()),
        missed => Err(Failure::failed(
            format!("{missed} of {} assertions do not hold", judged.len()),
            "see the lines above that begin with `assert`",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions_and_metrics_are_read() {
        let read =
            |text: &str| parse(text).map(|one| (one.bound.metric.clone(), one.bound.bound, one.end as usize));
        assert_eq!(read("goodput > 2 Mbit/s"), Ok(("goodput_kbps".into(), 2000.0, End::Client as usize)));
        assert_eq!(read("lost_pct@up < 1 %"), Ok(("lost_pct".into(), 1.0, End::Server as usize)));
        assert_eq!(read("duration < 2 s"), Ok(("duration_s".into(), 2.0, End::Client as usize)));
        assert!(read("goodput@side > 2 Mbit/s").is_err_and(|error| error.contains("down or up")));
        assert!(read("rtt < 2 ms").is_err_and(|error| error.contains("goodput")));
    }
}

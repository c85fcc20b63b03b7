//! What a run in real time has to fulfil: bounds on what the summary says, judged by its one value.

use super::summary::Summary;
use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use lasthop_emu::emulation::End;
use lasthop_lab::assertion::{Bound, Judged, Standing, junit, stem};

/// A number of one direction.
type Of = fn(&Summary, End) -> f64;

/// Names with units.
const METRICS: [(&str, Of); 8] = [
    ("goodput_kbps", |summary, end| summary.measured.goodput_kbps(end)),
    ("rate_kbps", Summary::rate_kbps),
    ("acknowledged_bytes", |summary, end| summary.measured.tallies[end as usize].acknowledged_bytes as f64),
    ("delivered_bytes", |summary, end| summary.measured.tallies[end as usize].delivered_bytes as f64),
    ("packets", |summary, end| summary.measured.tallies[end as usize].offered as f64),
    ("lost_packets", |summary, end| lost(summary, end)),
    ("lost_pct", |summary, end| {
        100.0 * lost(summary, end) / (summary.measured.tallies[end as usize].offered as f64).max(1.0)
    }),
    ("duration_s", |summary, _| summary.took.as_secs_f64()),
];

fn lost(summary: &Summary, end: End) -> f64 {
    summary.measured.tallies[end as usize].lost.iter().map(|(_, count)| *count).sum::<u64>() as f64
}

/// A bound on one of them.
#[derive(Clone)]
pub(super) struct Assertion {
    bound: Bound,
    of: Of,
    end: End,
}

/// Reads one; behind `@` stands `down` or `up`, down without.
pub(super) fn parse(text: &str) -> Result<Assertion, String> {
    let find = |name: &str| METRICS.iter().find(|(metric, _)| *metric == name || stem(metric) == name);
    let known = || METRICS.map(|(metric, _)| stem(metric)).join(", ");
    let bound = Bound::parse(text, |name| find(name).map(|(metric, _)| (*metric).to_owned()), known)
        .map_err(|refusal| format!("{}; {}", refusal.message, refusal.help))?;
    let end = match bound.at.as_deref() {
        None | Some("down") => End::Client,
        Some("up") => End::Server,
        Some(other) => return Err(format!("`{other}` is no direction; one of: down, up")),
    };
    match find(&bound.metric) {
        Some((_, of)) => Ok(Assertion { of: *of, end, bound }),
        None => Err(format!("`{}` is no metric; one of: {}", bound.metric, known())),
    }
}

/// Says how each stands; a failure if not all hold.
pub(super) fn judge(
    all: &[Assertion],
    summary: &Summary,
    suite: &str,
    file: Option<Target>,
) -> Result<(), Failure> {
    let judged: Vec<Judged> =
        all.iter().map(|one| one.bound.judge(&[Some((one.of)(summary, one.end))], true)).collect();
    if let Some(target) = file {
        target.write_and_note(&junit::xml(suite, &judged))?;
    }
    judged.iter().for_each(|one| output::note(&one.line()));
    match judged.iter().filter(|one| one.standing != Standing::Holds).count() {
        0 => Ok(()),
        missed => Err(Failure::failed(
            format!("{missed} of {} assertions do not hold", judged.len()),
            "see the lines `assert` above",
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
        assert!(read("goodput@side > 2 Mbit/s").is_err_and(|error| error.contains("down, up")));
        assert!(read("rtt < 2 ms").is_err_and(|error| error.contains("goodput")));
    }
}

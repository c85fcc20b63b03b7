//! A report of one repetition, by time.

use super::random::Repeats;
use super::{Runs, limits, links, summary};
use crate::document::{Block, Chapter, Document};
use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_scenario::{Scenario, Traffic};
use lasthop_sim::{FlowSample, QueueSample, Samples};
use lasthop_wire::LossReason;

/// The first flows, each with figures of its own.
const MOST_FLOWS: usize = 4;
/// More curves than this in a figure nobody reads.
const MOST_CURVES: usize = 8;
/// Goodput is averaged over intervals of which a run has this many at most.
pub(crate) const INTERVALS: usize = 100;
/// A slow start threshold from here on stands for none.
const UNLIMITED: u64 = 1 << 30;

/// Windows, round trips, queues, goodput and losses of the first repetition, and the means of all.
pub fn document(scenario: &Scenario, seed: u64, runs: &Runs) -> Document {
    let by_flow = by_flow(scenario, &runs.samples);
    let repeats = Repeats::of(std::iter::once(scenario));
    let outcomes = repeats.independent(&runs.outcomes);
    let mut blocks = vec![Block::Text(match repeats.note() {
        Some(note) => format!("A run of {}; {note}.", scenario.duration),
        None => format!(
            "Means over {} repetitions of {} with their 95 % intervals; the seeds begin at {seed}.",
            outcomes.len(),
            scenario.duration
        ),
    })];
    blocks.push(Block::Table(summary::table(outcomes)));
    blocks.extend(limits::lines(scenario, outcomes).into_iter().map(Block::Text));
    blocks.extend(links::tables(outcomes).into_iter().map(Block::Table));
    blocks.push(Block::Heading(format!("The first repetition (seed {seed}) over time")));
    blocks.push(Block::Figure(goodput(scenario, &by_flow)));
    blocks.extend(runs.sequence.figures(scenario).into_iter().map(Block::Figure));
    for (flow, samples) in
        by_flow.iter().enumerate().filter(|(_, samples)| !samples.is_empty()).take(MOST_FLOWS)
    {
        let name = &scenario.flows[flow].name;
        blocks.push(Block::Figure(windows(flow, name, samples)));
        blocks.push(Block::Figure(round_trips(flow, name, samples)));
    }
    blocks.push(Block::Figure(queues(scenario, &runs.samples.queues)));
    blocks.push(Block::Figure(losses(&runs.samples.queues)));
    let unseen = by_flow.iter().filter(|samples| !samples.is_empty()).count().saturating_sub(MOST_FLOWS);
    if unseen > 0 {
        blocks.push(Block::Text(format!("Windows and round trips of {unseen} further flows are not drawn.")));
    }
    if scenario.flows.iter().any(|flow| matches!(flow.traffic, Traffic::Datagrams { .. })) {
        blocks.push(Block::Text("Flows of datagrams have no window: they are in the table only.".into()));
    }
    let chapter = Chapter { id: "run".into(), title: "What came out".into(), blocks };
    Document {
        title: scenario.title.clone(),
        introduction: scenario.source.as_ref().map_or(String::new(), |source| format!("Source: {source}.")),
        chapters: vec![chapter],
    }
}

/// Each flow's samples by time.
fn by_flow(scenario: &Scenario, samples: &Samples) -> Vec<Vec<FlowSample>> {
    let mut flows = vec![Vec::new(); scenario.flows.len()];
    for sample in &samples.flows {
        flows[sample.flow].push(*sample);
    }
    flows
}

fn windows(flow: usize, name: &str, samples: &[FlowSample]) -> Figure {
    let kilobytes = |bytes: u64| Some(bytes as f64 / 1e3);
    let ssthresh = |sample: &FlowSample| {
        (sample.ssthresh_bytes < UNLIMITED).then_some(sample.ssthresh_bytes as f64 / 1e3)
    };
    figure(
        &format!("window-{flow}"),
        &format!("{name}: congestion window"),
        "What the sender allows itself (cwnd), where slow start ends (ssthresh, once there is one), and what is in \
         the network by its own account.",
        "kB",
        vec![
            curve("cwnd", CurveKind::Line, samples, |sample| kilobytes(sample.cwnd_bytes)),
            curve("ssthresh", CurveKind::Line, samples, ssthresh),
            curve("in flight", CurveKind::Line, samples, |sample| kilobytes(sample.in_flight_bytes)),
        ],
    )
}

fn round_trips(flow: usize, name: &str, samples: &[FlowSample]) -> Figure {
    figure(
        &format!("rtt-{flow}"),
        &format!("{name}: round-trip time"),
        "The sender's smoothed round-trip time, and after how long it gives a segment up.",
        "ms",
        vec![
            curve("SRTT", CurveKind::Line, samples, |sample| sample.srtt_ms),
            curve("RTO", CurveKind::Line, samples, |sample| sample.srtt_ms.map(|_| sample.rto_ms)),
        ],
    )
}

fn queues(scenario: &Scenario, samples: &[QueueSample]) -> Figure {
    let (mut curves, mut has_average) = (Vec::new(), false);
    for (index, link) in scenario.links.iter().enumerate() {
        for down in [true, false] {
            let of_this = || samples.iter().filter(|sample| sample.link == index && sample.down == down);
            if curves.len() < MOST_CURVES && of_this().any(|sample| sample.packets > 0) {
                let direction = if down { "down" } else { "up" };
                let name = format!("{} {direction}", link.name);
                let point = |sample: &QueueSample, y| Point::exact(sample.time.as_secs(), y);
                curves.push(Curve {
                    name: name.clone(),
                    kind: CurveKind::Steps,
                    points: of_this().map(|sample| point(sample, f64::from(sample.packets))).collect(),
                });
                let points: Vec<Point> =
                    of_this().filter_map(|sample| Some(point(sample, sample.average?))).collect();
                if !points.is_empty() {
                    curves.push(Curve { name: format!("{name}, average"), kind: CurveKind::Line, points });
                    has_average = true;
                }
            }
        }
    }
    let caption = match (curves.is_empty(), has_average) {
        (true, _) => "No packet ever waited when the queues were sampled.",
        (false, false) => "Packets that wait; directions in which none ever did are left out.",
        (false, true) => {
            "Packets that wait, and the average by which the queue drops or marks, as of the last arrival; directions in \
             which none ever waited are left out."
        }
    };
    figure("queues", "Queue lengths", caption, "packets", curves)
}

fn goodput(scenario: &Scenario, flows: &[Vec<FlowSample>]) -> Figure {
    let sampled: Vec<(usize, &Vec<FlowSample>)> =
        flows.iter().enumerate().filter(|(_, samples)| samples.len() > 1).collect();
    let instants = sampled.iter().map(|(_, samples)| samples.len()).max().unwrap_or(0);
    let every = instants.div_ceil(INTERVALS).max(1);
    let mut curves: Vec<Curve> = Vec::new();
    if sampled.len() <= MOST_CURVES {
        curves.extend(sampled.iter().map(|(flow, samples)| {
            let delivered: Vec<(f64, u64)> =
                samples.iter().map(|sample| (sample.time.as_secs(), sample.delivered_bytes)).collect();
            rate_curve(&scenario.flows[*flow].name, &delivered, every)
        }));
    }
    if sampled.len() > 1 {
        let mut total: Vec<(f64, u64)> = Vec::new();
        for (_, samples) in &sampled {
            for (at, sample) in samples.iter().enumerate() {
                match total.get_mut(at) {
                    Some((_, bytes)) => *bytes += sample.delivered_bytes,
                    None => total.push((sample.time.as_secs(), sample.delivered_bytes)),
                }
            }
        }
        curves.push(rate_curve("all flows", &total, every));
    }
    let seconds = scenario.sample.as_secs() * every as f64;
    let caption = format!("Payload delivered in order, averaged over {seconds:.3} s.");
    figure("goodput", "Goodput", &caption, "kbit/s", curves)
}

/// The rate over every `every` samples, from amounts that only grow.
pub(crate) fn rate_curve(name: &str, amounts: &[(f64, u64)], every: usize) -> Curve {
    let corners: Vec<&(f64, u64)> = amounts.iter().step_by(every).collect();
    let rates = corners.windows(2).map(|pair| {
        let ((from, before), (to, after)) = (*pair[0], *pair[1]);
        Point::exact(to, after.saturating_sub(before) as f64 * 8.0 / 1e3 / (to - from))
    });
    Curve { name: name.to_owned(), kind: CurveKind::Line, points: rates.collect() }
}

fn losses(samples: &[QueueSample]) -> Figure {
    let instants = || samples.chunk_by(|one, next| one.time == next.time);
    let curves = LossReason::ALL.iter().filter_map(|reason| {
        let lost = |links: &[QueueSample]| links.iter().map(|link| link.lost[*reason]).sum::<u64>();
        let points: Vec<Point> =
            instants().map(|links| Point::exact(links[0].time.as_secs(), lost(links) as f64)).collect();
        let any = points.last().is_some_and(|last| last.y > 0.0);
        any.then(|| Curve { name: reason.name().to_owned(), kind: CurveKind::Steps, points })
    });
    let curves: Vec<Curve> = curves.collect();
    let caption = match curves.is_empty() {
        true => "No packet was lost.",
        false => "Packets of all flows lost so far on all links, ACKs included, by their true cause.",
    };
    figure("losses", "Losses by cause", caption, "packets", curves)
}

pub(crate) fn figure(id: &str, title: &str, caption: &str, y_label: &str, curves: Vec<Curve>) -> Figure {
    Figure {
        id: id.to_owned(),
        title: title.to_owned(),
        caption: caption.to_owned(),
        x_label: "time, s".into(),
        y_label: y_label.to_owned(),
        x_log: false,
        curves,
        ..Figure::default()
    }
}

pub(crate) fn curve(
    name: &str,
    kind: CurveKind,
    samples: &[FlowSample],
    of: impl Fn(&FlowSample) -> Option<f64>,
) -> Curve {
    let points = samples.iter().filter_map(|sample| Some(Point::exact(sample.time.as_secs(), of(sample)?)));
    Curve { name: name.to_owned(), kind, points: points.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_drawn_whatever_their_cause() {
        let mut draft =
            lasthop_scenario::Draft::load("profile=plain,rate=10Mbit/s,rtt=20ms,loss=0.3%,duration=20s")
                .unwrap();
        draft.set("link.path.down.queue", "red").unwrap();
        let (outcome, samples) = lasthop_sim::run_probed(&draft.check().unwrap(), 1);
        let figure = losses(&samples.queues);
        let drawn: Vec<(&str, f64)> =
            figure.curves.iter().map(|curve| (&*curve.name, curve.points.last().unwrap().y)).collect();
        let lost = |reason: LossReason| {
            let by_link = outcome.links.iter().map(|link| link.down.lost[reason]);
            by_link.sum::<u64>() as f64
        };
        // The last sample is 0.1 s before the end.
        for (reason, least) in [(LossReason::Channel, 30.0), (LossReason::EarlyDrop, 10.0)] {
            let (_, last) = drawn.iter().find(|(name, _)| *name == reason.name()).expect("a curve");
            assert!(*last >= least && lost(reason) - last < 20.0, "{reason:?}: {last} of {}", lost(reason));
        }
    }

    #[test]
    fn rates_come_from_amounts() {
        let curve = rate_curve("bulk", &[(0.0, 0), (0.1, 1000), (0.2, 3000), (0.3, 3000), (0.4, 4000)], 2);
        let rates: Vec<(f64, f64)> = curve.points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(rates, [(0.2, 120.0), (0.4, 40.0)]);
    }
}

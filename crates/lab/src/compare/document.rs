//! A comparison as a report: the table, and the first repetition of every value in one picture.

use super::Comparison;
use crate::document::{Block, Chapter, Document};
use crate::figure::{Curve, CurveKind, Figure, Point};
use crate::runs::document::{INTERVALS, curve, figure, rate_curve};
use lasthop_sim::{FlowSample, Samples};

/// More curves than this in a figure nobody reads.
pub const MOST_CASES: usize = 8;
/// The first flows, each with figures of its own.
const MOST_FLOWS: usize = 4;
/// More directions of links than this are not drawn.
const MOST_QUEUES: usize = 4;

impl Comparison {
    /// The report; `seed` is the first repetition's, and `samples` are of the first cases.
    pub fn document(&self, seed: u64, samples: &[Samples]) -> Document {
        let runs = self.outcomes.first().map_or(0, Vec::len);
        let Some(first) = self.cases.first() else { return Document::default() };
        let mut blocks = vec![
            Block::Text(format!(
                "Means over {runs} repetitions of {} with their 95 % intervals; the seeds begin at {seed}, and every \
                 value meets the same losses. Differences are to the first value, paired by seed.",
                first.scenario.duration
            )),
            Block::Table(self.table()),
            Block::Heading(format!("The first repetition (seed {seed}) over time")),
            Block::Figure(self.goodput(samples)),
        ];
        let flows = first.scenario.flows.iter().map(|flow| flow.name.as_str());
        for (number, flow) in flows.take(MOST_FLOWS).enumerate() {
            blocks.extend(self.of_flow(number, flow, samples).into_iter().map(Block::Figure));
        }
        blocks.extend(self.queues(samples).into_iter().map(Block::Figure));
        let unseen = self.cases.len().saturating_sub(samples.len());
        if unseen > 0 {
            blocks.push(Block::Text(format!("{unseen} further values are in the table only.")));
        }
        let chapter = Chapter { id: "compared".into(), title: "What came out".into(), blocks };
        Document {
            title: format!("{}: {} compared", first.scenario.title, self.paths.join(", ")),
            introduction: first.scenario.source.as_ref().map_or(String::new(), |it| format!("Source: {it}.")),
            chapters: vec![chapter],
        }
    }

    /// A curve for each value that has one.
    fn overlay<'a>(
        &self,
        samples: &'a [Samples],
        curve: impl Fn(usize, &str, &'a Samples) -> Option<Curve>,
    ) -> Vec<Curve> {
        let cases = self.cases.iter().zip(samples).enumerate();
        cases.filter_map(|(at, (case, samples))| curve(at, &case.values.join(", "), samples)).collect()
    }

    /// Of all flows together.
    fn goodput(&self, samples: &[Samples]) -> Figure {
        let curves = self.overlay(samples, |_, name, samples| {
            let mut delivered: Vec<(f64, u64)> = Vec::new();
            for instant in samples.flows.chunk_by(|one, next| one.time == next.time) {
                let bytes = instant.iter().map(|sample| sample.delivered_bytes).sum();
                delivered.push((instant[0].time.as_secs(), bytes));
            }
            let every = delivered.len().div_ceil(INTERVALS).max(1);
            (delivered.len() > 1).then(|| rate_curve(name, &delivered, every))
        });
        let caption = "Payload delivered in order, all flows together, averaged over a hundredth of the run.";
        figure("goodput", "Goodput", caption, "kbit/s", curves)
    }

    /// Its window and its round-trip time; nothing if it is no flow of TCP.
    fn of_flow(&self, number: usize, flow: &str, samples: &[Samples]) -> Vec<Figure> {
        let drawn = |of: fn(&FlowSample) -> Option<f64>| {
            self.overlay(samples, |at, name, samples| {
                let index = self.cases[at].scenario.flows.iter().position(|other| other.name == flow)?;
                let its: Vec<FlowSample> =
                    samples.flows.iter().filter(|sample| sample.flow == index).copied().collect();
                (!its.is_empty()).then(|| curve(name, CurveKind::Line, &its, of))
            })
        };
        let windows = drawn(|sample| Some(sample.cwnd_bytes as f64 / 1e3));
        if windows.is_empty() {
            return Vec::new();
        }
        vec![
            figure(
                &format!("window-{number}"),
                &format!("{flow}: congestion window"),
                "What the sender allows itself (cwnd).",
                "kB",
                windows,
            ),
            figure(
                &format!("rtt-{number}"),
                &format!("{flow}: round-trip time"),
                "The sender's smoothed round-trip time.",
                "ms",
                drawn(|sample| sample.srtt_ms),
            ),
        ]
    }

    /// Of each direction of a link in which a packet ever waited.
    fn queues(&self, samples: &[Samples]) -> Vec<Figure> {
        let Some(first) = self.cases.first() else { return Vec::new() };
        let mut figures = Vec::new();
        for (number, link) in first.scenario.links.iter().enumerate() {
            for (down, direction) in [(true, "down"), (false, "up")] {
                let curves = self.overlay(samples, |at, name, samples| {
                    let links = &self.cases[at].scenario.links;
                    let index = links.iter().position(|other| other.name == link.name)?;
                    let its = || samples.queues.iter().filter(|it| it.link == index && it.down == down);
                    its().any(|it| it.packets > 0).then(|| Curve {
                        name: name.to_owned(),
                        kind: CurveKind::Steps,
                        points: its()
                            .map(|it| Point::exact(it.time.as_secs(), f64::from(it.packets)))
                            .collect(),
                    })
                });
                if !curves.is_empty() {
                    let name = format!("{} {direction}", link.name);
                    let (id, title) =
                        (format!("queue-{number}-{direction}"), format!("{name}: queue length"));
                    figures.push(figure(&id, &title, "Packets that wait.", "packets", curves));
                }
            }
        }
        figures.truncate(MOST_QUEUES);
        figures
    }
}

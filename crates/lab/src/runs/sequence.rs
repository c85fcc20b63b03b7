//! The picture of a short run: each segment when it is sent, sent again or lost, and each ACK.

use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_base::Time;
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_wire::{Body, Flags, FlowId, Packet};
use std::collections::BTreeMap;

/// More marks than this, of all flows, nobody tells apart: then there is no picture.
const MOST_MARKS: usize = 4_000;
/// Flows that are drawn.
const MOST_FLOWS: usize = 4;

/// Takes notes of segments while a run is observed, until there are too many.
#[derive(Default)]
pub struct Sequence {
    flows: BTreeMap<u32, Marks>,
    count: usize,
}

/// Times, s, and offsets in the stream, bytes.
#[derive(Default)]
struct Marks {
    /// The sequence number of the first byte of data.
    first: Option<u32>,
    /// The largest segment, bytes.
    segment: u32,
    sent: Vec<(f64, u32)>,
    again: Vec<(f64, u32)>,
    lost: Vec<(f64, u32)>,
    acked: Vec<(f64, u32)>,
}

impl Sequence {
    /// A figure for each of the first flows; none if the run was too long for it.
    pub fn figures(&self, scenario: &Scenario) -> Vec<Figure> {
        if self.count > MOST_MARKS {
            return Vec::new();
        }
        let named = self
            .flows
            .iter()
            .filter_map(|(flow, marks)| Some((scenario.flows.get(*flow as usize)?, flow, marks)));
        named.take(MOST_FLOWS).map(|(flow, index, marks)| marks.figure(*index, &flow.name)).collect()
    }

    fn note(&mut self, now: Time, packet: &Packet, fate: Fate) {
        let Body::Tcp(segment) = &packet.body else { return };
        if self.count > MOST_MARKS {
            self.flows.clear();
            return;
        }
        let marks = self.flows.entry(packet.flow.0).or_default();
        if packet.forward && segment.flags.has(Flags::SYN) {
            marks.first = Some(segment.seq.0.wrapping_add(1));
            return;
        }
        let Some(first) = marks.first else { return };
        let (place, number) = match (packet.forward, fate) {
            (true, _) if segment.len == 0 => return,
            (true, Fate::Lost(_)) => (&mut marks.lost, segment.seq.0),
            (true, _) if packet.again => (&mut marks.again, segment.seq.0),
            (true, _) => (&mut marks.sent, segment.seq.0),
            (false, Fate::Lost(_)) => return,
            (false, _) => (&mut marks.acked, segment.ack.0),
        };
        place.push((now.as_secs(), number.wrapping_sub(first)));
        if packet.forward {
            marks.segment = marks.segment.max(segment.len);
        }
        self.count += 1;
    }
}

impl Observer for Sequence {
    fn on_packet(&mut self, now: Time, _: PipeId, packet: &Packet, fate: Fate) {
        match fate {
            // Lost on the first link, it was sent all the same.
            Fate::Lost(_) if packet.hop == 0 => {
                self.note(now, packet, Fate::Open);
                self.note(now, packet, fate);
            }
            Fate::Lost(_) => self.note(now, packet, fate),
            _ if packet.hop == 0 => self.note(now, packet, fate),
            _ => {}
        }
    }

    fn on_fate(&mut self, now: Time, _: PipeId, packet: &Packet, fate: Fate) {
        if let Fate::Lost(_) = fate {
            self.note(now, packet, fate);
        }
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: Side, _: &Event) {}
}

impl Marks {
    fn figure(&self, flow: u32, name: &str) -> Figure {
        let segment = f64::from(self.segment.max(1));
        let curve = |name: &str, marks: &[(f64, u32)], shift: f64| Curve {
            name: name.into(),
            kind: CurveKind::Dots,
            points: marks
                .iter()
                .map(|(time, offset)| Point::exact(*time, f64::from(*offset) / segment - shift))
                .collect(),
        };
        // An ACK stands at the last segment that it covers.
        let acked: Vec<(f64, u32)> = self.acked.iter().copied().filter(|(_, offset)| *offset > 0).collect();
        let curves = [
            curve("sent", &self.sent, 0.0),
            curve("sent again", &self.again, 0.0),
            curve("ACK", &acked, 1.0),
            curve("lost", &self.lost, 0.0),
        ];
        Figure {
            id: format!("sequence-{flow}"),
            title: format!("{name}: segments"),
            caption: format!(
                "Each segment ({segment} bytes, counted from 0) when the source sends it, sends it again, or when it is \
                 lost; each ACK when the destination sends it, at the last segment that it covers."
            ),
            x_label: "time, s".into(),
            y_label: "segment".into(),
            x_log: false,
            curves: curves.into_iter().filter(|curve| !curve.points.is_empty()).collect(),
            ..Figure::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;
    use lasthop_sim::Watch;

    fn watched(path: &str, changes: &[(&str, &str)]) -> (Scenario, Sequence) {
        let mut draft = Draft::load(path).unwrap();
        for (key, value) in changes {
            draft.set(key, value).unwrap();
        }
        let scenario = draft.check().unwrap();
        let watch = Watch { observers: vec![Box::<Sequence>::default()], ..Watch::default() };
        let (_, _, mut observers) = lasthop_sim::run_watched(&scenario, 1, watch);
        let observer = observers.pop().unwrap() as Box<dyn std::any::Any>;
        (scenario, *observer.downcast().ok().unwrap())
    }

    fn numbers(figure: &Figure, curve: &str) -> Vec<f64> {
        let found = figure.curves.iter().find(|one| one.name == curve);
        found.map_or(Vec::new(), |one| one.points.iter().map(|point| point.y).collect())
    }

    /// The ready path drops segments 14, 24, 26 and 28 (Fall and Floyd 1996, four drops), and SACK sends again exactly
    /// those that were lost.
    #[test]
    fn drop_patterns_show_which_segments_were_lost_and_sent_again() {
        let (scenario, sequence) = watched("drop-patterns", &[]);
        let [figure] = &sequence.figures(&scenario)[..] else { panic!("one flow") };
        assert_eq!(numbers(figure, "lost"), [14.0, 24.0, 26.0, 28.0]);
        let mut again = numbers(figure, "sent again");
        again.sort_by(f64::total_cmp);
        assert_eq!(again, [14.0, 24.0, 26.0, 28.0]);
        // docs/drop-patterns.md: 232 segments are acknowledged 5 s after the start.
        let sent = numbers(figure, "sent");
        assert!(sent.iter().zip(0..).all(|(number, expected)| *number == f64::from(expected)), "{sent:?}");
        let acked = numbers(figure, "ACK");
        assert!(acked.is_sorted() && acked.last().is_some_and(|last| *last >= 231.0), "{acked:?}");
    }

    #[test]
    fn a_long_run_has_no_picture() {
        let (scenario, sequence) = watched("dsl", &[("duration", "10 s")]);
        assert!(sequence.figures(&scenario).is_empty());
        assert!(sequence.flows.is_empty(), "nor does it take memory");
    }
}

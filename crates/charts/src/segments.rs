//! Segments and ACKs of a flow for the time-sequence graph, which resembles tcptrace's graph of a sender's capture.

use crate::figure::{Curve, CurveKind, Figure, Point};
use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::{Flow, Scenario};
use lasthop_sim::packet_history::{PacketFate, PacketHistories, PacketHistory};
use lasthop_tcp::Event;
use lasthop_tcp::event::Reason;
use lasthop_wire::{Body, Flags, FlowId, Packet, Segment};

/// Value in the column `fate` for a segment that arrived.
const ARRIVED: f64 = -1.0;
/// Value in the column `fate` for a segment that neither arrived nor was lost before the end of the run.
const UNFINISHED: f64 = -2.0;

/// Value in the column `reason` for a first transmission.
const FIRST_TIME: f64 = -1.0;

/// Reasons for retransmissions. The column `reason` holds an index of this list.
pub const REASONS: [Reason; 11] = [
    Reason::FastRetransmit,
    Reason::Hole,
    Reason::Timeout,
    Reason::GoBackN,
    Reason::Rescue,
    Reason::TailProbe,
    Reason::WindowProbe,
    Reason::PathMtu,
    Reason::WindowOpened,
    Reason::Reported,
    Reason::Handshake,
];

/// Part of a run that is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RecordingWindow {
    /// Start of the part, s.
    pub from_s: f64,
    /// End of the part, s.
    pub to_s: f64,
    /// Largest number of recorded segments and ACKs together.
    pub most: usize,
}

/// Recorded segments, ACKs and events of a flow, as lists of columns.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Segments {
    /// Columns of segments, whose names are in [`Segments::DATA`]. The rows are in sending order.
    pub data: [Vec<f64>; 7],
    /// Columns of ACKs, whose names are in [`Segments::ACKS`]. The rows are in sending order.
    pub acks: [Vec<f64>; 3],
    /// Columns of events (names: [`Segments::EVENTS`]). Events are starts and ends of recoveries, and timeouts.
    pub events: [Vec<f64>; 2],
    /// Time up to which the record is complete, s. This is the end of the recorded part, or the time of the first
    /// omitted segment or ACK.
    pub to_s: f64,
}

impl Segments {
    /// Names of the columns of segments:
    ///
    /// * send time, s;
    /// * first byte;
    /// * length, bytes;
    /// * arrival time, s, or NaN;
    /// * fate: -1 if the segment arrived, -2 if it neither arrived nor was lost, otherwise the number of the
    ///   `LossReason`;
    /// * number of the pipe (one direction of a link) that lost the segment, or NaN;
    /// * number of the [`Reason`] for a retransmission, or -1 for a first transmission.
    pub const DATA: [&'static str; 7] = ["sent_s", "start", "length", "arrived_s", "fate", "pipe", "reason"];
    /// Names of the columns of ACKs: arrival time (s), acknowledged byte, and end of the first SACK block or NaN.
    pub const ACKS: [&'static str; 3] = ["time_s", "acked", "sacked"];
    /// Names of the columns of events: time (s) and kind (0: recovery begins, 1: recovery ends, 2: timeout).
    pub const EVENTS: [&'static str; 2] = ["time_s", "kind"];

    /// Returns the time interval that the graph shows first, s. The interval is around the first loss. If no segment is
    /// lost, the interval is at the beginning of the run.
    pub fn first_view(&self) -> [f64; 2] {
        let lost = self.data[4].iter().position(|fate| *fate >= 0.0);
        let middle = lost.map_or(0.5, |at| self.data[0][at]);
        [(middle - 0.4).max(0.0), middle + 1.1]
    }

    /// Returns the curve of the first transmissions in a time interval. The point of a segment is at its first byte,
    /// kB.
    pub fn sent(&self, [from, to]: [f64; 2], name: String) -> Curve {
        let [sent, start, .., reason] = &self.data;
        let recorded = (0..sent.len()).filter(|at| (from..=to).contains(&sent[*at]) && reason[*at] < 0.0);
        let points = recorded.map(|at| Point::exact(sent[at], start[at] / 1e3)).collect();
        Curve { name, kind: CurveKind::Dots, points }
    }

    /// Returns the figure of the first view. Points show sent, retransmitted and lost segments at their first byte, and
    /// ACKs at the acknowledged byte, in kB.
    pub fn figure(&self, title: &str) -> Figure {
        let [from, to] = self.first_view();
        let [sent, start, _, _, fate, _, reason] = &self.data;
        let points = |times: &[f64], bytes: &[f64], wanted: &dyn Fn(usize) -> bool| {
            let recorded = (0..times.len()).filter(|at| (from..=to).contains(&times[*at]) && wanted(*at));
            recorded.map(|at| Point::exact(times[at], bytes[at] / 1e3)).collect::<Vec<Point>>()
        };
        let [acked_at, acked, _] = &self.acks;
        let curves = [
            ("sent", points(sent, start, &|at| reason[at] < 0.0)),
            ("retransmitted", points(sent, start, &|at| reason[at] >= 0.0)),
            ("ACK", points(acked_at, acked, &|at| acked[at] > 0.0)),
            ("lost", points(sent, start, &|at| fate[at] >= 0.0)),
        ];
        let curve =
            |(name, points): (&str, Vec<Point>)| Curve { name: name.into(), kind: CurveKind::Dots, points };
        Figure {
            title: title.to_owned(),
            x_label: "time, s".into(),
            y_label: "kB".into(),
            curves: curves.into_iter().filter(|(_, points)| !points.is_empty()).map(curve).collect(),
            ..Figure::default()
        }
    }
}

/// Returns the index of the flow to observe: the first TCP flow, or the first flow if no flow is TCP.
pub fn observed_flow(scenario: &Scenario) -> usize {
    scenario.flows.iter().position(Flow::is_tcp).unwrap_or(0)
}

/// Observer that records one flow's segments and ACKs.
pub struct SegmentRecorder {
    flow: FlowId,
    /// Number of links on the forward route and on the return route of each flow.
    hops: Vec<[usize; 2]>,
    window: RecordingWindow,
    histories: PacketHistories,
    recorded: Segments,
    retransmitted: Vec<(Time, u64, Reason)>,
    /// Sequence number of the first data byte.
    first: Option<u32>,
    highest_start: u64,
    acked: u64,
    /// Time of the first segment or ACK that was omitted because the record was full, s.
    full_at: Option<f64>,
}

impl SegmentRecorder {
    /// Creates a recorder for the flow with this index.
    pub fn new(scenario: &Scenario, flow: usize, window: RecordingWindow) -> SegmentRecorder {
        SegmentRecorder {
            flow: FlowId(flow as u32),
            hops: scenario.routes.iter().map(|route| [route.there.len(), route.back.len()]).collect(),
            window,
            histories: PacketHistories::default(),
            recorded: Segments::default(),
            retransmitted: Vec::new(),
            first: None,
            highest_start: 0,
            acked: 0,
            full_at: None,
        }
    }

    /// Returns the recorded segments, ACKs and events. The run must have ended.
    pub fn finish(mut self) -> Segments {
        while let Some(history) = self.histories.pop_first() {
            self.record(&history);
        }
        // A retransmission event belongs to the segment that has the same send time and the same first byte.
        let reason = |sent: f64, start: f64| {
            let from = self.retransmitted.partition_point(|(at, ..)| at.as_secs() < sent);
            let same = self.retransmitted[from..].iter().take_while(|(at, ..)| at.as_secs() <= sent);
            let found = same.into_iter().find(|(_, byte, _)| *byte as f64 == start);
            found.map_or(FIRST_TIME, |(.., reason)| f64::from(*reason as u8))
        };
        let [sent, start, ..] = &self.recorded.data;
        self.recorded.data[6] = sent.iter().zip(start).map(|(sent, start)| reason(*sent, *start)).collect();
        self.recorded.to_s = self.full_at.unwrap_or(self.window.to_s);
        self.recorded
    }

    fn hops_of(&self, packet: &Packet) -> usize {
        self.hops[packet.flow.0 as usize][usize::from(!packet.forward)]
    }

    fn record_ended(&mut self) {
        while let Some(history) = self.histories.pop_complete() {
            self.record(&history);
        }
    }

    fn record(&mut self, history: &PacketHistory) {
        let Body::Tcp(segment) = &history.packet.body else { return };
        if history.packet.forward {
            self.record_data(history, segment);
        } else {
            self.record_ack(history, segment);
        }
    }

    fn record_data(&mut self, history: &PacketHistory, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq.0.wrapping_add(1));
        }
        let Some(first) = self.first.filter(|_| segment.len > 0) else { return };
        let start = offset(first, self.highest_start, segment.seq.0);
        self.highest_start = self.highest_start.max(start);
        let sent = history.sent.as_secs();
        if !self.has_room_at(sent) {
            return;
        }
        let (arrived, fate, place) = match history.end {
            PacketFate::Arrived(at) => (at.as_secs(), ARRIVED, f64::NAN),
            PacketFate::Lost(pipe, reason) => (f64::NAN, f64::from(reason as u8), f64::from(pipe.0)),
            PacketFate::Dropped(_, reason) => (f64::NAN, f64::from(reason as u8), f64::NAN),
            PacketFate::Received(_) | PacketFate::Unfinished => (f64::NAN, UNFINISHED, f64::NAN),
        };
        let row = [sent, start as f64, f64::from(segment.len), arrived, fate, place];
        self.recorded.data.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    fn record_ack(&mut self, history: &PacketHistory, segment: &Segment) {
        let (Some(first), PacketFate::Arrived(at)) = (self.first, history.end) else { return };
        if segment.flags.has(Flags::SYN) {
            return;
        }
        let acked = offset(first, self.acked, segment.ack.0);
        let sack =
            segment.sack.as_slice().first().map(|(_, right)| offset(first, self.acked, right.0) as f64);
        self.acked = self.acked.max(acked);
        if self.has_room_at(at.as_secs()) {
            let row = [at.as_secs(), acked as f64, sack.unwrap_or(f64::NAN)];
            self.recorded.acks.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
    }

    fn has_room_at(&mut self, at: f64) -> bool {
        let is_inside = (self.window.from_s..=self.window.to_s).contains(&at);
        let is_full = self.recorded.data[0].len() + self.recorded.acks[0].len() >= self.window.most;
        if is_inside && is_full {
            self.full_at.get_or_insert(at);
        }
        is_inside && !is_full
    }
}

impl Observer for SegmentRecorder {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.flow == self.flow {
            let hops = self.hops_of(packet);
            self.histories.on_packet(now, pipe, packet, hops, fate);
            self.record_ended();
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.flow == self.flow {
            let hops = self.hops_of(packet);
            self.histories.on_fate(pipe, packet, hops, fate);
            self.record_ended();
        }
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        if packet.flow == self.flow {
            self.histories.on_middlebox(now, node, packet, action);
            self.record_ended();
        }
    }

    /// Duplicates of data segments that a link creates are not recorded, because the sender does not see these
    /// duplicates. Duplicates of ACKs are recorded.
    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        if copy.flow == self.flow && !copy.forward {
            self.histories.on_copy(now, pipe, copy);
        }
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        if flow != self.flow || side != FlowSide::Source {
            return;
        }
        let kind = match event {
            Event::RecoveryEntered { .. } => 0.0,
            Event::RecoveryLeft { .. } => 1.0,
            Event::TimedOut { .. } => 2.0,
            Event::Retransmitted { range, reason } => {
                // The event counts the SYN as byte 0, so that the first data byte is byte 1.
                self.retransmitted.push((now, range.start.saturating_sub(1), *reason));
                return;
            }
            _ => return,
        };
        self.recorded.events[0].push(now.as_secs());
        self.recorded.events[1].push(kind);
    }
}

/// Returns the offset in the byte stream of the 32-bit sequence number `number`. `first` is the sequence number of
/// offset 0. Sequence numbers wrap around, so that several offsets match; the offset nearest to `around` is returned.
pub fn offset(first: u32, around: u64, number: u32) -> u64 {
    let difference = number.wrapping_sub(first).wrapping_sub(around as u32) as i32;
    around.saturating_add_signed(i64::from(difference))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_scenario::Draft;
    use lasthop_sim::Observation;
    use std::any::Any;

    pub(crate) fn recorded(path: &str, window: RecordingWindow) -> Segments {
        let scenario = Draft::load(path).unwrap().check().unwrap();
        let taker = SegmentRecorder::new(&scenario, observed_flow(&scenario), window);
        let observation = Observation { observers: vec![Box::new(taker)], ..Observation::default() };
        let (_, _, mut observers) = lasthop_sim::run_observed(&scenario, 1, observation);
        let taker: Box<SegmentRecorder> = (observers.pop().unwrap() as Box<dyn Any>).downcast().ok().unwrap();
        taker.finish()
    }

    #[test]
    fn reasons_stand_at_their_numbers() {
        for (number, reason) in REASONS.into_iter().enumerate() {
            assert_eq!(reason as usize, number, "{}", reason.name());
        }
    }

    const ALL: RecordingWindow = RecordingWindow { from_s: 0.0, to_s: 1e9, most: 100_000 };

    /// The scenario drops segments 14, 24, 26 and 28 (Fall and Floyd 1996). In
    /// docs/explanation/loss-recovery-in-pictures.md, 232 segments have been delivered after 5 s.
    #[test]
    fn drop_patterns_show_which_segments_were_lost_and_sent_again() {
        let segments = recorded("drop-patterns", ALL);
        let [_, start, length, _, fate, _, reason] = &segments.data;
        let number = |wanted: &dyn Fn(usize) -> bool| {
            let rows = (0..start.len()).filter(|at| wanted(*at));
            let mut numbers: Vec<f64> = rows.map(|at| start[at] / length[at]).collect();
            numbers.sort_by(f64::total_cmp);
            numbers
        };
        assert_eq!(number(&|at| fate[at] >= 0.0), [14.0, 24.0, 26.0, 28.0]);
        assert_eq!(number(&|at| reason[at] >= 0.0), [14.0, 24.0, 26.0, 28.0]);
        let sent = number(&|at| reason[at] < 0.0);
        assert!(sent.iter().zip(0..).all(|(number, expected)| *number == f64::from(expected)), "{sent:?}");
        let acked = &segments.acks[1];
        assert!(
            acked.is_sorted() && acked.last().is_some_and(|last| *last >= 232.0 * length[0]),
            "{acked:?}"
        );
        assert_eq!(segments.to_s, 1e9);
    }

    #[test]
    fn the_first_view_is_around_the_first_loss() {
        let segments = recorded("drop-patterns", ALL);
        let [from, to] = segments.first_view();
        let first = segments.data[4].iter().position(|fate| *fate >= 0.0).unwrap();
        assert!((from..to).contains(&segments.data[0][first]));
        let figure = segments.figure("segments");
        let lost = figure.curves.iter().find(|curve| curve.name == "lost").unwrap();
        assert_eq!(lost.points[0].y * 1e3, segments.data[1][first]);
        assert!(
            figure.curves.iter().flat_map(|curve| &curve.points).all(|point| (from..=to).contains(&point.x))
        );
    }

    #[test]
    fn what_has_no_room_is_left_out_from_a_time_that_is_told() {
        let all = recorded("drop-patterns", ALL);
        let part = recorded("drop-patterns", RecordingWindow { most: 100, ..ALL });
        assert_eq!(part.data[0].len() + part.acks[0].len(), 100);
        assert!(part.data[0].iter().all(|at| *at <= part.to_s) && part.to_s < 5.0, "{}", part.to_s);
        assert_eq!(part.data[1], all.data[1][..part.data[1].len()]);
    }
}

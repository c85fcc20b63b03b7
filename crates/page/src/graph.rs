//! A flow's segments and ACKs for the time-sequence graph: what tcptrace draws from a capture at the sender.

use crate::answer::Columns;
use crate::request::Window;
use lasthop_base::Time;
use lasthop_engine::{Deed, Fate, NodeId, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_sim::packets::{End, Stories, Story};
use lasthop_tcp::Event;
use lasthop_tcp::event::Reason;
use lasthop_wire::{Body, Flags, FlowId, Packet, Segment};

/// Fates that are no reason of a loss, as a column has them.
const ARRIVED: f64 = -1.0;
const UNFINISHED: f64 = -2.0;

/// The reason of a segment that was not sent again.
const FIRST_TIME: f64 = -1.0;

/// Takes notes of one flow.
pub(crate) struct Graph {
    flow: FlowId,
    /// Links on each flow's way there and back.
    hops: Vec<[usize; 2]>,
    window: Window,
    stories: Stories,
    /// When they set out (s), first byte, length (bytes), when they arrived (s) or NaN, fate, and on which pipe.
    data: [Vec<f64>; 6],
    /// When they arrive (s), what they acknowledge, and the end of their first SACK block or NaN.
    acks: [Vec<f64>; 3],
    /// When something was sent again, its first byte, and why.
    again: Vec<(Time, u64, Reason)>,
    /// When, and what: 0 a recovery begins, 1 it ends, 2 a timeout.
    events: [Vec<f64>; 2],
    /// The number of the first byte of data.
    first: Option<u32>,
    high: u64,
    acked: u64,
    /// Where the first thing was left out because there was too much, s.
    full: Option<f64>,
}

impl Graph {
    pub(crate) fn new(scenario: &Scenario, flow: usize, window: Window) -> Graph {
        Graph {
            flow: FlowId(flow as u32),
            hops: scenario.routes.iter().map(|route| [route.there.len(), route.back.len()]).collect(),
            window,
            stories: Stories::default(),
            data: Default::default(),
            acks: Default::default(),
            again: Vec::new(),
            events: Default::default(),
            first: None,
            high: 0,
            acked: 0,
            full: None,
        }
    }

    fn hops_of(&self, packet: &Packet) -> usize {
        self.hops[packet.flow.0 as usize][usize::from(!packet.forward)]
    }

    fn told(&mut self) {
        while let Some(story) = self.stories.next_ended() {
            self.take(&story);
        }
    }

    fn take(&mut self, story: &Story) {
        let Body::Tcp(segment) = &story.packet.body else { return };
        if story.packet.forward {
            self.take_data(story, segment);
        } else {
            self.take_ack(story, segment);
        }
    }

    fn take_data(&mut self, story: &Story, segment: &Segment) {
        if segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq.0.wrapping_add(1));
        }
        let Some(first) = self.first.filter(|_| segment.len > 0) else { return };
        let start = offset(first, self.high, segment.seq.0);
        self.high = self.high.max(start);
        let sent = story.sent.as_secs();
        if !self.has_room_at(sent) {
            return;
        }
        let (arrived, fate, place) = match story.end {
            End::Arrived(at) => (at.as_secs(), ARRIVED, f64::NAN),
            End::Lost(pipe, reason) => (f64::NAN, f64::from(reason as u8), f64::from(pipe.0)),
            End::TakenOut(_, reason) => (f64::NAN, f64::from(reason as u8), f64::NAN),
            End::Received(_) | End::Unfinished => (f64::NAN, UNFINISHED, f64::NAN),
        };
        let row = [sent, start as f64, f64::from(segment.len), arrived, fate, place];
        self.data.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
    }

    fn take_ack(&mut self, story: &Story, segment: &Segment) {
        let (Some(first), End::Arrived(at)) = (self.first, story.end) else { return };
        if segment.flags.has(Flags::SYN) {
            return;
        }
        let acked = offset(first, self.acked, segment.ack.0);
        let sack =
            segment.sack.as_slice().first().map(|(_, right)| offset(first, self.acked, right.0) as f64);
        self.acked = self.acked.max(acked);
        if self.has_room_at(at.as_secs()) {
            let row = [at.as_secs(), acked as f64, sack.unwrap_or(f64::NAN)];
            self.acks.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
        }
    }

    fn has_room_at(&mut self, at: f64) -> bool {
        let is_inside = (self.window.from_s..=self.window.to_s).contains(&at);
        let is_full = self.data[0].len() + self.acks[0].len() >= self.window.most;
        if is_inside && is_full {
            self.full.get_or_insert(at);
        }
        is_inside && !is_full
    }

    /// The columns; to which time they have all, s.
    pub(crate) fn finish(mut self, columns: &mut Columns) -> f64 {
        while let Some(story) = self.stories.next_of_all() {
            self.take(&story);
        }
        // Sent again at this time from this byte on: told at the same instant as the segment itself.
        let reason = |sent: f64, start: f64| {
            let from = self.again.partition_point(|(at, ..)| at.as_secs() < sent);
            let same = self.again[from..].iter().take_while(|(at, ..)| at.as_secs() <= sent);
            let found = same.into_iter().find(|(_, byte, _)| *byte as f64 == start);
            found.map_or(FIRST_TIME, |(.., reason)| f64::from(*reason as u8))
        };
        let reasons: Vec<f64> =
            self.data[0].iter().zip(&self.data[1]).map(|(sent, start)| reason(*sent, *start)).collect();
        let [sent, start, length, arrived, fate, place] = &self.data;
        columns.push_all(
            "data",
            &[
                ("sent_s", sent),
                ("start", start),
                ("length", length),
                ("arrived_s", arrived),
                ("fate", fate),
                ("pipe", place),
                ("reason", &reasons),
            ],
        );
        let [at, acked, sack] = &self.acks;
        columns.push_all("ack", &[("time_s", at), ("acked", acked), ("sacked", sack)]);
        columns.push_all("event", &[("time_s", &self.events[0]), ("kind", &self.events[1])]);
        self.full.unwrap_or(self.window.to_s)
    }
}

impl Observer for Graph {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.flow == self.flow {
            let hops = self.hops_of(packet);
            self.stories.on_packet(now, pipe, packet, hops, fate);
            self.told();
        }
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.flow == self.flow {
            let hops = self.hops_of(packet);
            self.stories.on_fate(pipe, packet, hops, fate);
            self.told();
        }
    }

    fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        if packet.flow == self.flow {
            self.stories.on_node(now, node, packet, deed);
            self.told();
        }
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event) {
        if flow != self.flow || side != Side::Source {
            return;
        }
        let kind = match event {
            Event::RecoveryEntered { .. } => 0.0,
            Event::RecoveryLeft { .. } => 1.0,
            Event::TimedOut { .. } => 2.0,
            Event::Retransmitted { range, reason } => {
                // The SYN is byte 0.
                self.again.push((now, range.start.saturating_sub(1), *reason));
                return;
            }
            _ => return,
        };
        self.events[0].push(now.as_secs());
        self.events[1].push(kind);
    }
}

/// The offset in the stream whose number is `number`, near `around`; `first` is the number of offset 0.
pub(crate) fn offset(first: u32, around: u64, number: u32) -> u64 {
    let difference = number.wrapping_sub(first).wrapping_sub(around as u32) as i32;
    around.saturating_add_signed(i64::from(difference))
}

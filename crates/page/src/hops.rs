//! Recording of each packet's passage over each link. The page animates these passages.

use crate::answer::Columns;
use crate::request::TimeWindow;
use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, Observer, PipeId};
use lasthop_tcp::Event;
use lasthop_wire::{Body, FlowId, Packet};
use std::collections::BTreeMap;

/// Value in the column `fate` for a packet that was still on the link at the end of the run.
const OPEN: f64 = -2.0;

pub(crate) struct Hops {
    window: TimeWindow,
    /// Columns: time at which the packet is enqueued at the link (s), arrival time (s) or NaN, fate (-1 for an arrival,
    /// -2 for an undecided fate, otherwise the number of the loss reason), pipe, flow, whether the packet carries data,
    /// and whether the packet is a retransmission. A pipe is one direction of a link.
    rows: [Vec<f64>; 7],
    /// Rows of packets whose fate is undecided. The key is the pipe and the packet number.
    open: BTreeMap<(u32, u64), usize>,
}

impl Hops {
    pub(crate) fn new(window: TimeWindow) -> Hops {
        Hops { window, rows: Default::default(), open: BTreeMap::new() }
    }

    pub(crate) fn finish(self, columns: &mut Columns) {
        let names = ["joins_s", "arrives_s", "fate", "pipe", "flow", "data", "retransmission"];
        for (name, values) in names.iter().zip(&self.rows) {
            columns.push(&format!("hop.{name}"), values.iter().copied());
        }
    }

    fn end(&mut self, row: usize, fate: Fate) {
        let (arrives, fate) = match fate {
            Fate::Arrives(at) => (at.as_secs(), -1.0),
            Fate::Lost(reason) => (f64::NAN, f64::from(reason as u8)),
            Fate::Open => (f64::NAN, OPEN),
        };
        self.rows[1][row] = arrives;
        self.rows[2][row] = fate;
    }
}

impl Observer for Hops {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let at = now.as_secs();
        let row = self.rows[0].len();
        if !(self.window.from_s..=self.window.to_s).contains(&at) || row >= self.window.most {
            return;
        }
        let is_data = match &packet.body {
            Body::Tcp(segment) => segment.len > 0,
            Body::Datagram { .. } => true,
            Body::Notice(_) => false,
        };
        let flag = |is: bool| f64::from(u8::from(is));
        let values = [
            at,
            f64::NAN,
            OPEN,
            f64::from(pipe.0),
            f64::from(packet.flow.0),
            flag(is_data),
            flag(packet.is_retransmission),
        ];
        self.rows.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        if fate == Fate::Open {
            self.open.insert((pipe.0, packet.number), row);
        }
        self.end(row, fate);
    }

    fn on_fate(&mut self, _: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if let Some(row) = self.open.remove(&(pipe.0, packet.number)) {
            self.end(row, fate);
        }
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.on_packet(now, pipe, copy, Fate::Open);
    }

    fn on_event(&mut self, _: Time, _: FlowId, _: FlowSide, _: &Event) {}
}

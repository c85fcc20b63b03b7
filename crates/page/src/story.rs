//! History of one segment: each passage over a link, each loss, and each retransmission with its reason.

use crate::request_error::RequestError;
use lasthop_base::Time;
use lasthop_charts::segments::{observed_flow, offset};
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::Observation;
use lasthop_tcp::Event;
use lasthop_wire::{Body, Flags, FlowId, LossReason, Packet};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;

const MAX_LINES: usize = 400;

/// Returns the history of the segment that contains the byte at `offset` of the observed flow. The history is a list of
/// lines, each with a time (s) and an event. If the byte was never sent, the list is empty.
pub(crate) fn history(scenario: &Scenario, seed: u64, offset: u64) -> Result<Value, RequestError> {
    let history = SegmentHistory {
        flow: FlowId(observed_flow(scenario) as u32),
        target: offset,
        first: None,
        high: 0,
        acked: 0,
        is_acked: false,
        transmissions: BTreeMap::new(),
        lines: Vec::new(),
    };
    let observation = Observation { observers: vec![Box::new(history)], ..Observation::default() };
    let (_, _, observers) = lasthop_sim::run_observed(scenario, seed, observation);
    let mut lines = Vec::new();
    for observer in observers {
        if let Ok(history) = (observer as Box<dyn Any>).downcast::<SegmentHistory>() {
            lines = history.lines;
        }
    }
    Ok(json!({ "offset": offset, "lines": lines }))
}

struct SegmentHistory {
    flow: FlowId,
    target: u64,
    /// Sequence number of the first data byte.
    first: Option<u32>,
    high: u64,
    acked: u64,
    is_acked: bool,
    /// Number of transmissions so far on each pipe (one direction of a link). The channel `scripted`, which drops given
    /// transmissions, counts in the same way.
    transmissions: BTreeMap<u32, u64>,
    lines: Vec<Value>,
}

impl SegmentHistory {
    fn push_line(&mut self, now: Time, what: Value) {
        if self.lines.len() < MAX_LINES {
            let mut line = what;
            line["time_s"] = json!(now.as_secs());
            self.lines.push(line);
        }
    }

    /// Returns the start and the length of the packet's byte range, if the range contains the byte at `target`.
    fn range_with_target(&mut self, packet: &Packet) -> Option<(u64, u32)> {
        let Body::Tcp(segment) = &packet.body else { return None };
        if packet.flow != self.flow || !packet.forward {
            return None;
        }
        if segment.flags.has(Flags::SYN) {
            self.first = Some(segment.seq.0.wrapping_add(1));
        }
        let start = offset(self.first?, self.high, segment.seq.0);
        self.high = self.high.max(start);
        let end = start + u64::from(segment.len);
        (segment.len > 0 && (start..end).contains(&self.target)).then_some((start, segment.len))
    }

    /// Records the first ACK that covers the byte at `target`.
    fn acknowledged(&mut self, pipe: PipeId, packet: &Packet, at: Time) {
        let (Some(first), Body::Tcp(segment)) = (self.first, &packet.body) else { return };
        if packet.flow != self.flow || packet.forward || self.is_acked {
            return;
        }
        let ack = offset(first, self.acked, segment.ack.0);
        self.acked = self.acked.max(ack);
        if ack > self.target {
            self.is_acked = true;
            self.push_line(at, json!({ "what": "acked", "pipe": pipe.0, "acked": ack }));
        }
    }

    /// Returns the number of this transmission on the pipe, from 0. Returns `None` if the packet was dropped before its
    /// transmission, or if its fate is undecided.
    fn transmission_number(&mut self, pipe: PipeId, fate: Fate) -> Option<u64> {
        let is_sent = match fate {
            Fate::Arrives(_) => true,
            Fate::Lost(reason) => matches!(reason, LossReason::Channel | LossReason::Discarded),
            Fate::Open => false,
        };
        let next = self.transmissions.entry(pipe.0).or_default();
        let number = is_sent.then_some(*next);
        *next += u64::from(is_sent);
        number
    }

    fn fate(&mut self, now: Time, pipe: PipeId, fate: Fate) {
        match fate {
            Fate::Arrives(at) => self.push_line(at, json!({ "what": "arrives", "pipe": pipe.0 })),
            Fate::Lost(reason) => {
                self.push_line(now, json!({ "what": "lost", "pipe": pipe.0, "reason": reason.name() }))
            }
            Fate::Open => {}
        }
    }
}

impl Observer for SegmentHistory {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let number = self.transmission_number(pipe, fate);
        if let Some((start, length)) = self.range_with_target(packet) {
            self.push_line(
                now,
                json!({ "what": "joins", "pipe": pipe.0, "hop": packet.hop, "start": start, "length": length,
                        "again": packet.is_retransmission, "number": number }),
            );
            self.fate(now, pipe, fate);
        } else if let Fate::Arrives(at) = fate {
            self.acknowledged(pipe, packet, at);
        }
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if self.range_with_target(packet).is_some() {
            self.fate(now, pipe, fate);
        } else if let Fate::Arrives(at) = fate {
            self.acknowledged(pipe, packet, at);
        }
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        if self.range_with_target(packet).is_some() {
            let what = match action {
                MiddleboxAction::Repeated => "repeated_at_node",
                MiddleboxAction::Created => "made_at_node",
                MiddleboxAction::Changed => "changed_at_node",
                MiddleboxAction::Received => "received_at_node",
                MiddleboxAction::Dropped(_) => "taken_out_at_node",
            };
            self.push_line(now, json!({ "what": what, "node": node.0 }));
        }
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        if flow != self.flow || side != FlowSide::Source {
            return;
        }
        match event {
            Event::Retransmitted { range, reason }
                if (range.start..range.end).contains(&(self.target + 1)) =>
            {
                self.push_line(now, json!({ "what": "again", "reason": reason.name() }));
            }
            _ => {}
        }
    }
}

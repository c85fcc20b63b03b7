//! History of one segment: every passage, every loss and retransmission with its reason.

use crate::problem::Refusal;
use lasthop_base::Time;
use lasthop_charts::segments::{offset, watched};
use lasthop_engine::{Deed, Fate, NodeId, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_sim::Watch;
use lasthop_tcp::Event;
use lasthop_wire::{Body, Flags, FlowId, LossReason, Packet};
use serde_json::{Value, json};
use std::any::Any;
use std::collections::BTreeMap;

const MOST: usize = 400;

/// History of the segment with the byte at `offset` of the pictured flow: lines with a time (s) and an event. A byte
/// that was never sent has no lines.
///
/// # Errors
/// Errors of the request.
pub(crate) fn told(scenario: &Scenario, seed: u64, offset: u64) -> Result<Value, Refusal> {
    let teller = Teller {
        flow: FlowId(watched(scenario) as u32),
        wanted: offset,
        first: None,
        high: 0,
        acked: 0,
        is_acked: false,
        on_air: BTreeMap::new(),
        lines: Vec::new(),
    };
    let watch = Watch { observers: vec![Box::new(teller)], ..Watch::default() };
    let (_, _, observers) = lasthop_sim::run_watched(scenario, seed, watch);
    let mut lines = Vec::new();
    for observer in observers {
        if let Ok(teller) = (observer as Box<dyn Any>).downcast::<Teller>() {
            lines = teller.lines;
        }
    }
    Ok(json!({ "offset": offset, "lines": lines }))
}

struct Teller {
    flow: FlowId,
    wanted: u64,
    /// Sequence number of the first byte of data.
    first: Option<u32>,
    high: u64,
    acked: u64,
    is_acked: bool,
    /// Transmissions of each pipe so far, as a scripted channel counts them.
    on_air: BTreeMap<u32, u64>,
    lines: Vec<Value>,
}

impl Teller {
    fn line(&mut self, now: Time, what: Value) {
        if self.lines.len() < MOST {
            let mut line = what;
            line["time_s"] = json!(now.as_secs());
            self.lines.push(line);
        }
    }

    /// The packet's range of bytes, if the packet contains the byte.
    fn is_it(&mut self, packet: &Packet) -> Option<(u64, u32)> {
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
        (segment.len > 0 && (start..end).contains(&self.wanted)).then_some((start, segment.len))
    }

    /// Handles an ACK; records the first that covers the byte.
    fn acknowledged(&mut self, pipe: PipeId, packet: &Packet, at: Time) {
        let (Some(first), Body::Tcp(segment)) = (self.first, &packet.body) else { return };
        if packet.flow != self.flow || packet.forward || self.is_acked {
            return;
        }
        let ack = offset(first, self.acked, segment.ack.0);
        self.acked = self.acked.max(ack);
        if ack > self.wanted {
            self.is_acked = true;
            self.line(at, json!({ "what": "acked", "pipe": pipe.0, "acked": ack }));
        }
    }

    /// Number of the packet's transmission on this pipe, from 0; `None` if it is not transmitted or undecided.
    fn number_on_air(&mut self, pipe: PipeId, fate: Fate) -> Option<u64> {
        let is_sent = match fate {
            Fate::Arrives(_) => true,
            Fate::Lost(reason) => matches!(reason, LossReason::Channel | LossReason::Discarded),
            Fate::Open => false,
        };
        let next = self.on_air.entry(pipe.0).or_default();
        let number = is_sent.then_some(*next);
        *next += u64::from(is_sent);
        number
    }

    fn fate(&mut self, now: Time, pipe: PipeId, fate: Fate) {
        match fate {
            Fate::Arrives(at) => self.line(at, json!({ "what": "arrives", "pipe": pipe.0 })),
            Fate::Lost(reason) => {
                self.line(now, json!({ "what": "lost", "pipe": pipe.0, "reason": reason.name() }))
            }
            Fate::Open => {}
        }
    }
}

impl Observer for Teller {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let number = self.number_on_air(pipe, fate);
        if let Some((start, length)) = self.is_it(packet) {
            self.line(
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
        if self.is_it(packet).is_some() {
            self.fate(now, pipe, fate);
        } else if let Fate::Arrives(at) = fate {
            self.acknowledged(pipe, packet, at);
        }
    }

    fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        if self.is_it(packet).is_some() {
            let what = match deed {
                Deed::Repeated => "repeated_at_node",
                Deed::Made => "made_at_node",
                Deed::Changed => "changed_at_node",
                Deed::Received => "received_at_node",
                Deed::Dropped(_) => "taken_out_at_node",
            };
            self.line(now, json!({ "what": what, "node": node.0 }));
        }
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event) {
        if flow != self.flow || side != Side::Source {
            return;
        }
        match event {
            Event::Retransmitted { range, reason }
                if (range.start..range.end).contains(&(self.wanted + 1)) =>
            {
                self.line(now, json!({ "what": "again", "reason": reason.name() }));
            }
            _ => {}
        }
    }
}

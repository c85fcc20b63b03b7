//! Every event of a run as a line of JSON, for people who look for a reason.
//!
//! Keys carry their units; offsets are absolute bytes of the stream (the SYN is
//! byte 0). `kind` says what a line is: `sent`, `lost`, `event`.

use lasthop_base::Time;
use lasthop_engine::{Fate, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_tcp::event::Cause;
use lasthop_wire::{Body, FlowId, Packet};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Writes a trace while a run is observed. Errors of the writer are kept until [`Trace::finish`].
pub struct Trace<W: Write + Send> {
    writer: W,
    flows: Vec<String>,
    links: Vec<String>,
    failed: Option<io::Error>,
}

impl<W: Write + Send> Trace<W> {
    /// A trace of all flows of a scenario.
    pub fn new(scenario: &Scenario, writer: W) -> Trace<W> {
        let flows = scenario.flows.iter().map(|flow| flow.name.clone()).collect();
        let links = scenario
            .links
            .iter()
            .flat_map(|link| [format!("{}.down", link.name), format!("{}.up", link.name)])
            .collect();
        Trace { writer, flows, links, failed: None }
    }

    /// Flushes and gives the writer back.
    ///
    /// # Errors
    /// The first error of the writer, from any time of the run.
    pub fn finish(mut self) -> io::Result<W> {
        match self.failed {
            Some(error) => Err(error),
            None => {
                self.writer.flush()?;
                Ok(self.writer)
            }
        }
    }

    fn packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        let mut line = Map::new();
        line.insert("time_s".into(), json!(now.as_secs()));
        line.insert("kind".into(), json!(if let Fate::Lost(_) = fate { "lost" } else { "sent" }));
        line.insert("flow".into(), json!(self.flows[packet.flow.0 as usize]));
        line.insert("packet".into(), json!(packet.number));
        line.insert("from".into(), json!(if packet.forward { "source" } else { "destination" }));
        if let Fate::Lost(reason) = fate {
            line.insert("link".into(), json!(self.links[pipe.0 as usize]));
            line.insert("cause".into(), json!(reason.name()));
        }
        match &packet.body {
            Body::Tcp(segment) => {
                line.insert("flags".into(), json!(format!("{:?}", segment.flags)));
                line.insert("seq".into(), json!(segment.seq.0));
                line.insert("ack".into(), json!(segment.ack.0));
                line.insert("len_bytes".into(), json!(segment.len));
                line.insert("again".into(), json!(packet.again));
                if !segment.sack.is_empty() {
                    let blocks: Vec<[u32; 2]> =
                        segment.sack.as_slice().iter().map(|(left, right)| [left.0, right.0]).collect();
                    line.insert("sack".into(), json!(blocks));
                }
            }
            Body::Datagram { number } => {
                line.insert("datagram".into(), json!(number));
                line.insert("len_bytes".into(), json!(packet.wire_bytes));
            }
        }
        self.line(Value::Object(line));
    }

    fn line(&mut self, value: Value) {
        if self.failed.is_none()
            && let Err(error) = writeln!(self.writer, "{value}")
        {
            self.failed = Some(error);
        }
    }
}

impl<W: Write + Send + 'static> Observer for Trace<W> {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if packet.hop == 0 || matches!(fate, Fate::Lost(_)) {
            self.packet(now, pipe, packet, fate);
        }
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if matches!(fate, Fate::Lost(_)) {
            self.packet(now, pipe, packet, fate);
        }
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event) {
        let (name, details) = describe(event);
        let mut line = Map::new();
        line.insert("time_s".into(), json!(now.as_secs()));
        line.insert("kind".into(), json!("event"));
        line.insert("flow".into(), json!(self.flows[flow.0 as usize]));
        let end = if side == Side::Source { "source" } else { "destination" };
        line.insert("at".into(), json!(end));
        line.insert("event".into(), json!(name));
        if let Value::Object(details) = details {
            line.extend(details);
        }
        self.line(Value::Object(line));
    }
}

/// An event's name, and its details as a JSON object.
pub fn describe(event: &Event) -> (&'static str, Value) {
    match event {
        Event::Established => ("established", json!({})),
        Event::Closed => ("closed", json!({})),
        Event::RecoveryEntered { flight, cwnd } => {
            ("recovery_entered", json!({ "flight_bytes": flight, "cwnd_bytes": cwnd }))
        }
        Event::RecoveryLeft { cwnd } => ("recovery_left", json!({ "cwnd_bytes": cwnd })),
        Event::TimedOut { rto } => ("timed_out", json!({ "rto_ms": rto.as_millis() })),
        Event::Retransmitted { range, reason } => {
            ("retransmitted", json!({ "start": range.start, "end": range.end, "reason": reason.name() }))
        }
        Event::MarkEchoed { cwnd } => ("mark_echoed", json!({ "cwnd_bytes": cwnd })),
        Event::Judged { range, cause } => {
            let verdict = if *cause == Cause::Congestion { "congestion" } else { "wireless" };
            ("judged", json!({ "start": range.start, "end": range.end, "verdict": verdict }))
        }
        Event::Shaped { acks, queue_before, queue_after } => (
            "shaped",
            json!({ "acks": acks, "r_queue_packets": queue_before, "s_queue_packets": queue_after }),
        ),
        Event::TimeoutUndone { cwnd } => ("timeout_undone", json!({ "cwnd_bytes": cwnd })),
        Event::Rejected => ("rejected", json!({})),
        Event::Troubled => ("troubled", json!({})),
    }
}

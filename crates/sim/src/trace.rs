//! All events of a run as lines of JSON.
//!
//! Keys contain their units. Offsets are absolute positions in the byte stream (the SYN is byte 0). `kind` is the type
//! of a line: `sent`, `lost`, `duplicated`, `event`; at a middlebox also `repeated`, `made` (a new packet), `changed`,
//! `received`.

use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_tcp::event::Cause;
use lasthop_wire::{Body, FlowId, LossReason, NodeNotice, Packet};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// Name and description of a field of trace lines, or of an event.
pub struct Field {
    /// Name, with the unit.
    pub name: &'static str,
    /// Description.
    pub doc: &'static str,
}

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// All fields. Each line contains the fields that apply to its kind.
pub const FIELDS: &[Field] = &[
    field("time_s", "virtual time, s"),
    field(
        "kind",
        "type of the line: `sent` (a packet leaves its source), `lost`, `duplicated` (by a link; the copy has a new \
         number), or `event`. Types at a middlebox: `repeated` (copy of an earlier packet, with a new number), `made` \
         (new packet), \
         `changed` (forwarded with the header of this line), `received` (in place of the other end)",
    ),
    field("flow", "name of the flow"),
    field("packet", "number of the packet in the run, counted over both ends of all flows"),
    field("from", "end that sent the packet: `source` or `destination`"),
    field("link", "link direction of the loss or copy: `wireless.down`"),
    field("node", "node whose middlebox repeated, made, changed, received or dropped the packet"),
    field("cause", "reason for the loss: `queue_full`, `channel`, `early_drop`, …"),
    field("flags", "TCP flags, one letter each"),
    field("seq", "sequence number on the wire"),
    field("ack", "acknowledgement number on the wire"),
    field("len_bytes", "payload bytes; for datagrams the whole packet"),
    field("retransmission", "whether the packet's whole payload is retransmitted"),
    field("sack", "SACK blocks, [left, right] each, as on the wire"),
    field("damaged", "sequence number of a damaged segment reported by this ACK, as on the wire"),
    field("datagram", "number of the datagram in its flow; QUIC packets have none"),
    field("notice", "type of a node's notice: `bad_state` or `last_hop`"),
    field("at", "end at which the event happened: `source` or `destination`"),
    field("event", "name of the event, see below"),
    field("flight_bytes", "bytes outstanding when recovery began"),
    field("cwnd_bytes", "cwnd after the event, bytes"),
    field("rto_ms", "retransmission timeout that expired, ms"),
    field("start", "first byte, counted from the stream's beginning (the SYN is byte 0)"),
    field("end", "last byte plus one"),
    field("reason", "reason for the retransmission"),
    field("verdict", "result of loss discrimination: `congestion` or `wireless`"),
    field("acks", "number of ACKs sent in place of one ACK"),
    field("r_queue_packets", "packets in the uplink queue before the ACKs are sent"),
    field("s_queue_packets", "packets in the uplink queue after the ACKs are sent"),
];

/// All events.
pub const EVENTS: &[Field] = &[
    field("established", "handshake complete"),
    field("closed", "connection closed"),
    field("recovery_entered", "beginning of fast recovery: flight_bytes, cwnd_bytes"),
    field("recovery_left", "end of fast recovery: cwnd_bytes"),
    field("timed_out", "expiry of the retransmission timer: rto_ms"),
    field("retransmitted", "retransmission: start, end, reason"),
    field("mark_echoed", "window reduction after an echoed congestion mark: cwnd_bytes"),
    field("loss_classified", "loss discrimination: start, end, verdict"),
    field("ack_split", "ACK splitting: acks, r_queue_packets, s_queue_packets"),
    field("timeout_undone", "undo of a spurious timeout: cwnd_bytes"),
    field("rejected", "rejection of an unacceptable segment"),
    field("r1_reached", "number of retransmissions of the same data has reached R1 (RFC 9293)"),
];

fn has_field(list: &[Field], name: &str) -> bool {
    list.iter().any(|field| field.name == name)
}

/// Observer that writes a trace: one JSON object per line. [`EventWriter::finish`] reports errors of the writer.
pub type Trace<W> = EventWriter<JsonLines<W>>;

/// Format of the events of a run in files.
pub trait EventFormat: Send + 'static {
    /// Writes an event of a flow. `fields` are the [`FIELDS`] of the event, and include time, kind and flow.
    ///
    /// # Errors
    /// Errors of the writer.
    fn write(&mut self, flow: FlowId, fields: Map<String, Value>) -> io::Result<()>;
}

/// Format of a [`Trace`].
pub struct JsonLines<W>(W);

impl<W: Write + Send + 'static> EventFormat for JsonLines<W> {
    fn write(&mut self, _: FlowId, fields: Map<String, Value>) -> io::Result<()> {
        writeln!(self.0, "{}", Value::Object(fields))
    }
}

/// Observer that writes all events of a run.
pub struct EventWriter<F> {
    format: F,
    flows: Vec<String>,
    /// Whether the datagrams of each flow have numbers of their own. The engine reuses the numbers of stacks' datagrams.
    has_numbers: Vec<bool>,
    links: Vec<String>,
    nodes: Vec<String>,
    failed: Option<io::Error>,
}

impl<W: Write + Send + 'static> Trace<W> {
    /// Returns a trace of all flows of a scenario.
    pub fn new(scenario: &Scenario, writer: W) -> Trace<W> {
        EventWriter::in_format(scenario, JsonLines(writer))
    }

    /// Flushes and returns the writer.
    ///
    /// # Errors
    /// The first error of the writer during the run.
    pub fn finish(self) -> io::Result<W> {
        let JsonLines(mut writer) = self.finish_format()?;
        writer.flush()?;
        Ok(writer)
    }
}

impl<F: EventFormat> EventWriter<F> {
    /// Returns a writer of the events of all flows of a scenario.
    pub(crate) fn in_format(scenario: &Scenario, format: F) -> EventWriter<F> {
        let flows = scenario.flows.iter().map(|flow| flow.name.clone()).collect();
        let links = scenario
            .links
            .iter()
            .flat_map(|link| [format!("{}.down", link.name), format!("{}.up", link.name)])
            .collect();
        let has_numbers = scenario.flows.iter().map(|flow| flow.stack.is_none()).collect();
        EventWriter { format, flows, has_numbers, links, nodes: scenario.nodes.clone(), failed: None }
    }

    /// Returns the format.
    ///
    /// # Errors
    /// The first error of the format during the run.
    pub(crate) fn finish_format(self) -> io::Result<F> {
        match self.failed {
            Some(error) => Err(error),
            None => Ok(self.format),
        }
    }

    /// Writes an event about a packet. `place` has a key (`link` or `node`) and the name of that link or node. `cause` is
    /// the reason of a loss.
    fn packet(
        &mut self,
        now: Time,
        kind: &str,
        packet: &Packet,
        place: Option<(&str, &str)>,
        cause: Option<LossReason>,
    ) {
        let mut line = self.begin(now, kind, packet.flow);
        line.insert("packet".into(), json!(packet.number));
        line.insert("from".into(), json!(if packet.forward { "source" } else { "destination" }));
        if let Some((what, name)) = place {
            line.insert(what.into(), json!(name));
        }
        if let Some(reason) = cause {
            line.insert("cause".into(), json!(reason.name()));
        }
        match &packet.body {
            Body::Tcp(segment) => {
                line.insert("flags".into(), json!(format!("{:?}", segment.flags)));
                line.insert("seq".into(), json!(segment.seq.0));
                line.insert("ack".into(), json!(segment.ack.0));
                line.insert("len_bytes".into(), json!(segment.len));
                line.insert("retransmission".into(), json!(packet.is_retransmission));
                if !segment.sack.is_empty() {
                    let blocks: Vec<[u32; 2]> =
                        segment.sack.as_slice().iter().map(|(left, right)| [left.0, right.0]).collect();
                    line.insert("sack".into(), json!(blocks));
                }
                if let Some(seq) = segment.damaged() {
                    line.insert("damaged".into(), json!(seq.0));
                }
            }
            Body::Datagram { number } => {
                if self.has_numbers[packet.flow.0 as usize] {
                    line.insert("datagram".into(), json!(number));
                }
                line.insert("len_bytes".into(), json!(packet.wire_bytes));
            }
            Body::Notice(notice) => {
                line.insert("notice".into(), json!(notice.name()));
                if let NodeNotice::LastHop { seq, len } = notice {
                    line.insert("seq".into(), json!(seq.0));
                    line.insert("len_bytes".into(), json!(len));
                }
            }
        }
        self.write(packet.flow, line);
    }

    /// Returns the fields that all events have.
    fn begin(&self, now: Time, kind: &str, flow: FlowId) -> Map<String, Value> {
        let mut line = Map::new();
        line.insert("time_s".into(), json!(now.as_secs()));
        line.insert("kind".into(), json!(kind));
        line.insert("flow".into(), json!(self.flows[flow.0 as usize]));
        line
    }

    fn write(&mut self, flow: FlowId, fields: Map<String, Value>) {
        debug_assert!(
            fields.keys().all(|name| has_field(FIELDS, name)),
            "field without a description: {fields:?}"
        );
        if self.failed.is_none()
            && let Err(error) = self.format.write(flow, fields)
        {
            self.failed = Some(error);
        }
    }
}

impl<F: EventFormat> Observer for EventWriter<F> {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if let Fate::Lost(_) = fate {
            self.on_fate(now, pipe, packet, fate);
        } else if packet.hop == 0 {
            self.packet(now, "sent", packet, None, None);
        }
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if let Fate::Lost(reason) = fate {
            let link = self.links[pipe.0 as usize].clone();
            self.packet(now, "lost", packet, Some(("link", &link)), Some(reason));
        }
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        let link = self.links[pipe.0 as usize].clone();
        self.packet(now, "duplicated", copy, Some(("link", &link)), None);
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        let (kind, cause) = match action {
            MiddleboxAction::Repeated => ("repeated", None),
            MiddleboxAction::Created => ("made", None),
            MiddleboxAction::Changed => ("changed", None),
            MiddleboxAction::Received => ("received", None),
            MiddleboxAction::Dropped(reason) => ("lost", Some(reason)),
        };
        let node = self.nodes[node.0 as usize].clone();
        self.packet(now, kind, packet, Some(("node", &node)), cause);
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        let (name, details) = describe(event);
        let mut line = self.begin(now, "event", flow);
        let end = if side == FlowSide::Source { "source" } else { "destination" };
        line.insert("at".into(), json!(end));
        debug_assert!(has_field(EVENTS, name), "event without a description: {name}");
        line.insert("event".into(), json!(name));
        if let Value::Object(details) = details {
            line.extend(details);
        }
        self.write(flow, line);
    }
}

/// Name and details (a JSON object) of an event.
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
        Event::LossClassified { range, cause } => {
            let verdict = if *cause == Cause::Congestion { "congestion" } else { "wireless" };
            ("loss_classified", json!({ "start": range.start, "end": range.end, "verdict": verdict }))
        }
        Event::AckSplit { acks, queue_before, queue_after } => (
            "ack_split",
            json!({ "acks": acks, "r_queue_packets": queue_before, "s_queue_packets": queue_after }),
        ),
        Event::TimeoutUndone { cwnd } => ("timeout_undone", json!({ "cwnd_bytes": cwnd })),
        Event::Rejected => ("rejected", json!({})),
        Event::R1Reached => ("r1_reached", json!({})),
    }
}

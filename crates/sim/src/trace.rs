//! Every event of a run as a line of JSON, for people who look for a reason.
//!
//! Keys carry their units; offsets are absolute bytes of the stream (the SYN is
//! byte 0). `kind` says what a line is: `sent`, `lost`, `copied`, `event`; at a middlebox
//! also `repeated`, `made`, `changed`, `received`.

use lasthop_base::Time;
use lasthop_engine::{Deed, Fate, NodeId, Observer, PipeId, Side};
use lasthop_scenario::Scenario;
use lasthop_tcp::Event;
use lasthop_tcp::event::Cause;
use lasthop_wire::{Body, FlowId, LossReason, NodeNotice, Packet};
use serde_json::{Map, Value, json};
use std::io::{self, Write};

/// A field of a trace's lines, or an event.
pub struct Field {
    /// Its name, with the unit.
    pub name: &'static str,
    /// What it is.
    pub doc: &'static str,
}

const fn field(name: &'static str, doc: &'static str) -> Field {
    Field { name, doc }
}

/// All fields of lines; a line has those that apply to it.
pub const FIELDS: &[Field] = &[
    field("time_s", "when, virtual time, s"),
    field(
        "kind",
        "what the line is: `sent` (a packet leaves its source), `lost`, `copied` (a link has made two of a packet; the copy \
         has a number of its own), or `event`; by a middlebox: `repeated` (a copy of \
         an earlier packet, with a number of its own), `made`, `changed` (it goes on with the header that the line has), \
         `received` (in the place of the other end)",
    ),
    field("flow", "the flow's name"),
    field("packet", "number of the packet in this run, from both ends of all flows"),
    field("from", "which end sent the packet: `source` or `destination`"),
    field("link", "where it was lost or copied: `wireless.down`"),
    field("node", "at which node's middlebox it was repeated, made, changed, received or lost"),
    field("cause", "why it was lost: `queue_full`, `channel`, `early_drop`, …"),
    field("flags", "TCP flags, a letter each"),
    field("seq", "sequence number on the wire"),
    field("ack", "acknowledgement number on the wire"),
    field("len_bytes", "payload; of datagrams the whole packet, bytes"),
    field("again", "whether all of its payload had been sent before"),
    field("sack", "SACK blocks, [left, right] each, as on the wire"),
    field("damaged", "number of the segment that its ACK says arrived damaged, as on the wire"),
    field("datagram", "number of the datagram in its flow"),
    field("notice", "what a node's notice says: `bad_state` or `last_hop`"),
    field("at", "at which end the event happened: `source` or `destination`"),
    field("event", "which event, see below"),
    field("flight_bytes", "outstanding when recovery began, bytes"),
    field("cwnd_bytes", "cwnd after the event, bytes"),
    field("rto_ms", "the timeout that has expired, ms"),
    field("start", "first byte, counted from the stream's beginning (the SYN is byte 0)"),
    field("end", "the byte behind the last"),
    field("reason", "why it is sent again"),
    field("verdict", "what the judge took the loss for: `congestion` or `wireless`"),
    field("acks", "ACKs sent for one"),
    field("r_queue_packets", "packets in the uplink's queue before, as the receiver sees it"),
    field("s_queue_packets", "packets in it after"),
];

/// All events.
pub const EVENTS: &[Field] = &[
    field("established", "the handshake is over"),
    field("closed", "the connection is closed"),
    field("recovery_entered", "fast recovery begins: flight_bytes, cwnd_bytes"),
    field("recovery_left", "fast recovery is over: cwnd_bytes"),
    field("timed_out", "the retransmission timer has expired: rto_ms"),
    field("retransmitted", "data is sent again: start, end, reason"),
    field("mark_echoed", "the receiver told of a congestion mark and the window was reduced: cwnd_bytes"),
    field("judged", "a loss was judged: start, end, verdict"),
    field("shaped", "one ACK became several: acks, r_queue_packets, s_queue_packets"),
    field("timeout_undone", "a timeout was spurious, its effects are undone: cwnd_bytes"),
    field("rejected", "a segment was refused as unacceptable"),
    field("troubled", "the same data was sent again several times in a row (R1 of RFC 9293)"),
];

/// Whether a list describes a name: nothing is written that it does not.
fn describes(list: &[Field], name: &str) -> bool {
    list.iter().any(|field| field.name == name)
}

/// Writes a trace while a run is observed. Errors of the writer are kept until [`Trace::finish`].
pub struct Trace<W: Write + Send> {
    writer: W,
    flows: Vec<String>,
    links: Vec<String>,
    nodes: Vec<String>,
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
        Trace { writer, flows, links, nodes: scenario.nodes.clone(), failed: None }
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

    /// A line about a packet: what happened to it at a link or a node (`link` or `node`, and its name), and why.
    fn packet(
        &mut self,
        now: Time,
        kind: &str,
        packet: &Packet,
        place: Option<(&str, &str)>,
        cause: Option<LossReason>,
    ) {
        let mut line = Map::new();
        line.insert("time_s".into(), json!(now.as_secs()));
        line.insert("kind".into(), json!(kind));
        line.insert("flow".into(), json!(self.flows[packet.flow.0 as usize]));
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
                line.insert("again".into(), json!(packet.again));
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
                line.insert("datagram".into(), json!(number));
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
        self.line(Value::Object(line));
    }

    fn line(&mut self, value: Value) {
        debug_assert!(
            value.as_object().is_some_and(|line| line.keys().all(|name| describes(FIELDS, name))),
            "a field without a description: {value}"
        );
        if self.failed.is_none()
            && let Err(error) = writeln!(self.writer, "{value}")
        {
            self.failed = Some(error);
        }
    }
}

impl<W: Write + Send + 'static> Observer for Trace<W> {
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

    fn on_copied(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        let link = self.links[pipe.0 as usize].clone();
        self.packet(now, "copied", copy, Some(("link", &link)), None);
    }

    fn on_node(&mut self, now: Time, node: NodeId, packet: &Packet, deed: Deed) {
        let (kind, cause) = match deed {
            Deed::Repeated => ("repeated", None),
            Deed::Made => ("made", None),
            Deed::Changed => ("changed", None),
            Deed::Received => ("received", None),
            Deed::Dropped(reason) => ("lost", Some(reason)),
        };
        let node = self.nodes[node.0 as usize].clone();
        self.packet(now, kind, packet, Some(("node", &node)), cause);
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: Side, event: &Event) {
        let (name, details) = describe(event);
        let mut line = Map::new();
        line.insert("time_s".into(), json!(now.as_secs()));
        line.insert("kind".into(), json!("event"));
        line.insert("flow".into(), json!(self.flows[flow.0 as usize]));
        let end = if side == Side::Source { "source" } else { "destination" };
        line.insert("at".into(), json!(end));
        debug_assert!(describes(EVENTS, name), "an event without a description: {name}");
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

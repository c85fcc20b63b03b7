//! Table of every packet and event of a run. The columns have the same names as the fields of `lasthop run --trace`.

use crate::table::Columns;
use lasthop_base::Time;
use lasthop_engine::{Fate, FlowSide, MiddleboxAction, NodeId, Observer, PipeId};
use lasthop_scenario::Scenario;
use lasthop_sim::trace::{self, FIELDS};
use lasthop_tcp::Event;
use lasthop_tcp::event::Cause;
use lasthop_wire::{Body, Flags, FlowId, LossReason, Packet};

/// Observer that stores one row for each packet and event.
#[derive(Default)]
pub struct Events(Vec<TraceRow>);

/// One row of the table, with the fields of one line of `lasthop run --trace`. A field that does not apply is `None`.
#[derive(Default)]
struct TraceRow {
    time: Time,
    kind: &'static str,
    flow: u32,
    packet: Option<u64>,
    from: Option<&'static str>,
    pipe: Option<u32>,
    node: Option<u32>,
    cause: Option<LossReason>,
    flags: Option<Flags>,
    seq: Option<u32>,
    ack: Option<u32>,
    len_bytes: Option<u32>,
    retransmission: Option<bool>,
    sack: Option<Vec<u32>>,
    datagram: Option<u64>,
    at: Option<&'static str>,
    event: Option<&'static str>,
    flight_bytes: Option<u64>,
    cwnd_bytes: Option<u64>,
    rto_ms: Option<f64>,
    range: Option<(u64, u64)>,
    reason: Option<&'static str>,
    verdict: Option<&'static str>,
    acks: Option<u64>,
    queues: Option<(u32, u32)>,
}

impl TraceRow {
    fn of_packet(now: Time, kind: &'static str, packet: &Packet) -> TraceRow {
        let row = TraceRow {
            time: now,
            kind,
            flow: packet.flow.0,
            packet: Some(packet.number),
            from: Some(if packet.forward { "source" } else { "destination" }),
            ..TraceRow::default()
        };
        match &packet.body {
            Body::Tcp(segment) => {
                let blocks = segment.sack.as_slice().iter().flat_map(|(left, right)| [left.0, right.0]);
                TraceRow {
                    flags: Some(segment.flags),
                    seq: Some(segment.seq.0),
                    ack: Some(segment.ack.0),
                    len_bytes: Some(segment.len),
                    retransmission: Some(packet.is_retransmission),
                    sack: (!segment.sack.is_empty()).then(|| blocks.collect()),
                    ..row
                }
            }
            Body::Datagram { number } => {
                TraceRow { datagram: Some(*number), len_bytes: Some(packet.wire_bytes), ..row }
            }
            Body::Notice(_) => TraceRow { len_bytes: Some(packet.wire_bytes), ..row },
        }
    }
}

impl Observer for Events {
    fn on_packet(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if let Fate::Lost(_) = fate {
            self.on_fate(now, pipe, packet, fate);
        } else if packet.hop == 0 {
            self.0.push(TraceRow::of_packet(now, "sent", packet));
        }
    }

    fn on_fate(&mut self, now: Time, pipe: PipeId, packet: &Packet, fate: Fate) {
        if let Fate::Lost(reason) = fate {
            let row = TraceRow::of_packet(now, "lost", packet);
            self.0.push(TraceRow { pipe: Some(pipe.0), cause: Some(reason), ..row });
        }
    }

    fn on_copy(&mut self, now: Time, pipe: PipeId, copy: &Packet) {
        self.0.push(TraceRow { pipe: Some(pipe.0), ..TraceRow::of_packet(now, "duplicated", copy) });
    }

    fn on_middlebox(&mut self, now: Time, node: NodeId, packet: &Packet, action: MiddleboxAction) {
        let (kind, cause) = match action {
            MiddleboxAction::Repeated => ("repeated", None),
            MiddleboxAction::Created => ("made", None),
            MiddleboxAction::Changed => ("changed", None),
            MiddleboxAction::Received => ("received", None),
            MiddleboxAction::Dropped(reason) => ("lost", Some(reason)),
        };
        self.0.push(TraceRow { node: Some(node.0), cause, ..TraceRow::of_packet(now, kind, packet) });
    }

    fn on_event(&mut self, now: Time, flow: FlowId, side: FlowSide, event: &Event) {
        let row = TraceRow {
            time: now,
            kind: "event",
            flow: flow.0,
            at: Some(if side == FlowSide::Source { "source" } else { "destination" }),
            event: Some(trace::describe(event).0),
            ..TraceRow::default()
        };
        self.0.push(match event {
            Event::RecoveryEntered { flight, cwnd } => {
                TraceRow { flight_bytes: Some(*flight), cwnd_bytes: Some(*cwnd), ..row }
            }
            Event::RecoveryLeft { cwnd } | Event::MarkEchoed { cwnd } | Event::TimeoutUndone { cwnd } => {
                TraceRow { cwnd_bytes: Some(*cwnd), ..row }
            }
            Event::TimedOut { rto } => TraceRow { rto_ms: Some(rto.as_millis()), ..row },
            Event::Retransmitted { range, reason } => {
                TraceRow { range: Some((range.start, range.end)), reason: Some(reason.name()), ..row }
            }
            Event::LossClassified { range, cause } => {
                let verdict = if *cause == Cause::Congestion { "congestion" } else { "wireless" };
                TraceRow { range: Some((range.start, range.end)), verdict: Some(verdict), ..row }
            }
            Event::AckSplit { acks, queue_before, queue_after } => {
                TraceRow { acks: Some(u64::from(*acks)), queues: Some((*queue_before, *queue_after)), ..row }
            }
            Event::Established | Event::Closed | Event::Rejected | Event::R1Reached => row,
        });
    }
}

impl Events {
    /// Returns one column for each field of a trace.
    pub fn columns(&self, scenario: &Scenario) -> Columns {
        let links: Vec<String> = scenario
            .links
            .iter()
            .flat_map(|link| ["down", "up"].map(|side| format!("{}.{side}", link.name)))
            .collect();
        FIELDS.iter().fold(Columns::default(), |columns, field| {
            self.column(columns, field.name, field.doc, scenario, &links)
        })
    }

    fn column(&self, to: Columns, name: &str, doc: &str, scenario: &Scenario, links: &[String]) -> Columns {
        let rows = || self.0.iter();
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        match name {
            "time_s" => to.numbers(name, doc, rows().map(|row| Some(row.time.as_secs()))),
            "kind" => to.words(name, doc, rows().map(|row| Some(row.kind))),
            "flow" => {
                to.words(name, doc, rows().map(|row| Some(scenario.flows[row.flow as usize].name.as_str())))
            }
            "packet" => to.counts(name, doc, rows().map(|row| row.packet.map(whole))),
            "from" => to.words(name, doc, rows().map(|row| row.from)),
            "link" => {
                to.words(name, doc, rows().map(|row| row.pipe.map(|pipe| links[pipe as usize].as_str())))
            }
            "node" => {
                let node = |row: &TraceRow| row.node.map(|node| scenario.nodes[node as usize].as_str());
                to.words(name, doc, rows().map(node))
            }
            "cause" => to.words(name, doc, rows().map(|row| row.cause.map(LossReason::name))),
            "flags" => to.words(name, doc, rows().map(|row| row.flags.map(|flags| format!("{flags:?}")))),
            "seq" => to.counts(name, doc, rows().map(|row| row.seq.map(i64::from))),
            "ack" => to.counts(name, doc, rows().map(|row| row.ack.map(i64::from))),
            "len_bytes" => to.counts(name, doc, rows().map(|row| row.len_bytes.map(i64::from))),
            "retransmission" => to.flags(name, doc, rows().map(|row| row.retransmission)),
            "sack" => to.lists(name, doc, rows().map(|row| row.sack.as_deref())),
            "datagram" => {
                // The engine reuses the numbers of stacks' datagrams.
                let has_numbers = |row: &TraceRow| scenario.flows[row.flow as usize].stack.is_none();
                let number = |row: &TraceRow| row.datagram.filter(|_| has_numbers(row)).map(whole);
                to.counts(name, doc, rows().map(number))
            }
            "at" => to.words(name, doc, rows().map(|row| row.at)),
            "event" => to.words(name, doc, rows().map(|row| row.event)),
            "flight_bytes" => to.counts(name, doc, rows().map(|row| row.flight_bytes.map(whole))),
            "cwnd_bytes" => to.counts(name, doc, rows().map(|row| row.cwnd_bytes.map(whole))),
            "rto_ms" => to.numbers(name, doc, rows().map(|row| row.rto_ms)),
            "start" => to.counts(name, doc, rows().map(|row| row.range.map(|(start, _)| whole(start)))),
            "end" => to.counts(name, doc, rows().map(|row| row.range.map(|(_, end)| whole(end)))),
            "reason" => to.words(name, doc, rows().map(|row| row.reason)),
            "verdict" => to.words(name, doc, rows().map(|row| row.verdict)),
            "acks" => to.counts(name, doc, rows().map(|row| row.acks.map(whole))),
            "r_queue_packets" => {
                to.counts(name, doc, rows().map(|row| row.queues.map(|(before, _)| i64::from(before))))
            }
            "s_queue_packets" => {
                to.counts(name, doc, rows().map(|row| row.queues.map(|(_, after)| i64::from(after))))
            }
            // A field without a match arm gets no column. A test compares the columns with a trace, and finds missing
            // columns.
            _ => to,
        }
    }
}

//! Time series of cwnd, SRTT, queues and more.

use crate::assemble::pipe_of;
use lasthop_base::Time;
use lasthop_engine::Engine;
use lasthop_scenario::Scenario;
use lasthop_wire::{FlowId, PerReason};

/// All samples of a run, in order of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Samples of flows.
    pub flows: Vec<FlowSample>,
    /// Samples of queues.
    pub queues: Vec<QueueSample>,
}

/// Sample of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// Time of the sample.
    pub time: Time,
    /// Index of the flow in the scenario.
    pub flow: usize,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Congestion window including its inflation during recovery, bytes. Figures in papers show this value.
    pub inflated_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Sender's estimate of the bytes in flight.
    pub in_flight_bytes: u64,
    /// Smoothed RTT, ms.
    pub srtt_ms: Option<f64>,
    /// Retransmission timeout, ms.
    pub rto_ms: f64,
    /// The receiver's estimate of the sender's congestion window, segments.
    pub cwnd_r: f64,
    /// Payload delivered so far, bytes.
    pub delivered_bytes: u64,
    /// ACKs sent so far by the destination.
    pub acks_sent: u64,
    /// Packets from the source lost so far, by reason.
    pub lost: PerReason<u64>,
}

/// Sample of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// Time of the sample.
    pub time: Time,
    /// Index of the link in the scenario.
    pub link: usize,
    /// True for the direction from the link's `from` to its `to`.
    pub down: bool,
    /// Queue length, packets.
    pub packets: u32,
    /// Queue length, bytes.
    pub bytes: u64,
    /// Average queue length that RED computed at the last arrival, packets; `None` without RED.
    pub average: Option<f64>,
    /// Packets of all flows lost so far on the link, by reason.
    pub lost: PerReason<u64>,
}

pub(crate) struct Prober {
    flows: usize,
    links: usize,
}

impl Prober {
    pub(crate) fn new(scenario: &Scenario) -> Prober {
        Prober { flows: scenario.flows.len(), links: scenario.links.len() }
    }

    pub(crate) fn sample(&mut self, time: Time, engine: &mut Engine, into: &mut Samples) {
        for flow in 0..self.flows {
            let id = FlowId(flow as u32);
            let account = engine.account(id);
            let Some((source, destination)) = engine.endpoints(id) else { continue };
            let sender = source.sender();
            into.flows.push(FlowSample {
                time,
                flow,
                cwnd_bytes: sender.window(),
                inflated_bytes: sender.inflated_window(),
                ssthresh_bytes: sender.ssthresh(),
                in_flight_bytes: sender.in_flight(),
                srtt_ms: sender.rtt().srtt().map(|srtt| srtt.as_millis()),
                rto_ms: sender.rtt().rto().as_millis(),
                // If the receiver has no window estimator, the sample reports one segment.
                cwnd_r: destination.receiver().estimator().map_or(1.0, |it| it.path().cwnd_r),
                delivered_bytes: destination.delivered(),
                acks_sent: destination.counters().acks_sent,
                lost: account.lost,
            });
        }
        for link in 0..self.links {
            for down in [true, false] {
                let pipe = pipe_of(link, down);
                let (backlog, lost) = (engine.backlog(pipe), engine.pipe_account(pipe).lost);
                let (packets, bytes) = (backlog.waiting, backlog.bytes);
                let average = engine.average_queue(pipe_of(link, down));
                into.queues.push(QueueSample { time, link, down, packets, bytes, average, lost });
            }
        }
    }
}

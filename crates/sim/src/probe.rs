//! cwnd, SRTT, queues … sampled over time.

use crate::assemble::pipe_of;
use lasthop_base::Time;
use lasthop_engine::Engine;
use lasthop_scenario::Scenario;
use lasthop_wire::{FlowId, PerReason};

/// All samples of a run, by time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Samples {
    /// Of flows.
    pub flows: Vec<FlowSample>,
    /// Of queues.
    pub queues: Vec<QueueSample>,
}

/// A flow at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FlowSample {
    /// When.
    pub time: Time,
    /// Which flow, by its place in the scenario.
    pub flow: usize,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// The same as the papers draw it: inflated by what has left the network during recovery, bytes.
    pub inflated_bytes: u64,
    /// Slow start threshold, bytes.
    pub ssthresh_bytes: u64,
    /// Bytes in the network by the sender's account.
    pub in_flight_bytes: u64,
    /// Smoothed RTT, ms.
    pub srtt_ms: Option<f64>,
    /// Retransmission timeout, ms.
    pub rto_ms: f64,
    /// The receiver's estimate of the sender's window, segments.
    pub cwnd_r: f64,
    /// Payload delivered so far, bytes.
    pub delivered_bytes: u64,
    /// ACKs sent so far by the destination.
    pub acks_sent: u64,
    /// Packets from the source lost so far, by reason.
    pub lost: PerReason<u64>,
}

/// A queue at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSample {
    /// When.
    pub time: Time,
    /// Which link, by its place in the scenario.
    pub link: usize,
    /// Its direction from `from` to `to`, or back.
    pub down: bool,
    /// Packets that wait.
    pub packets: u32,
    /// Bytes that wait.
    pub bytes: u64,
    /// The average by which the queue drops or marks (RED), as of the last arrival, packets; `None` if it knows none.
    pub average: Option<f64>,
    /// Packets of all flows lost so far in it and behind it on the link, by reason.
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
                // Who estimates nothing knows of one segment.
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

//! [`Engine`]: inspection, settings and injection by a driver between events.
//!
//! A pipe's rate, delay and losses change at simulated time: the same changes at the same times give the same run.

use super::Engine;
use crate::application::Application;
use crate::external::{Copied, Entering, Left};
use crate::flow::{FlowAccount, Traffic, Unanswered};
use crate::pipe::{PipeAccount, PipeId};
use crate::together::Share;
use crate::waits::Waits;
use lasthop_base::{Duration, Time};
use lasthop_net::counters::Counters;
use lasthop_net::{Change, Fixed, Setting};
use lasthop_tcp::{Endpoint, State};
use lasthop_wire::{Backlog, FlowId, Packet};

impl Engine {
    /// Time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Start time of a flow.
    pub fn start(&self, flow: FlowId) -> Time {
        self.flows[flow.0 as usize].start
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Packets sent so far by sources, destinations and middleboxes, with ACKs and the copies of links.
    pub fn packets_sent(&self) -> u64 {
        self.packets
    }

    /// Source and destination of a flow; `None` for datagrams, external packets, and connections not created yet or
    /// already released ([`Engine::keep_flows`]).
    pub fn endpoints(&self, flow: FlowId) -> Option<(&Endpoint, &Endpoint)> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => Some((&connection.source, &connection.destination)),
            Traffic::Unanswered(_) => None,
        }
    }

    /// Application of a flow, if it has one.
    pub fn application(&self, flow: FlowId) -> Option<&Application> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => connection.application.as_deref(),
            Traffic::Unanswered(_) => None,
        }
    }

    /// Totals of a flow.
    pub fn account(&self, flow: FlowId) -> FlowAccount {
        self.flows[flow.0 as usize].account.whole()
    }

    /// Bytes of a TCP flow while other flows were active, and its fair share of them.
    pub fn share(&self, flow: FlowId) -> Share {
        self.together.share(&self.flows[flow.0 as usize].sharing)
    }

    /// Totals of a pipe.
    pub fn pipe_account(&self, pipe: PipeId) -> &PipeAccount {
        &self.pipes[pipe.0 as usize].account
    }

    /// Bytes counted as carried by a pipe that have not reached its end yet.
    pub fn bytes_under_way(&self, pipe: PipeId) -> u64 {
        let pipe = &self.pipes[pipe.0 as usize];
        let ahead = pipe.travelling.iter().filter(|one| one.due > self.now && !one.is_news());
        ahead.map(|one| u64::from(one.packet.wire_bytes)).sum()
    }

    /// Measures from now on the time of packets on a pipe beyond its propagation delay.
    pub fn measure_waits(&mut self, pipe: PipeId, propagation: Duration) {
        let pipe = &mut self.pipes[pipe.0 as usize];
        pipe.waits = Some(Box::new(Waits::new(propagation)));
        pipe.is_watched = true;
    }

    /// Clears these measurements on all pipes.
    pub fn clear_waits(&mut self) {
        self.pipes.iter_mut().filter_map(|pipe| pipe.waits.as_mut()).for_each(|waits| waits.clear());
    }

    /// Delay statistics of a pipe, if measured.
    pub fn waits(&self, pipe: PipeId) -> Option<&Waits> {
        self.pipes[pipe.0 as usize].waits.as_deref()
    }

    /// Counters of a pipe's RLC entity, if it has one.
    pub fn rlc(&self, pipe: PipeId) -> Option<&Counters> {
        self.pipes[pipe.0 as usize].line.rlc()
    }

    /// Average queue of a pipe's RED as of the last arrival, packets; `None` without RED.
    pub fn average_queue(&self, pipe: PipeId) -> Option<f64> {
        self.pipes[pipe.0 as usize].line.average()
    }

    /// Current backlog of a pipe; exact only after [`Engine::unfuse`].
    pub fn backlog(&mut self, pipe: PipeId) -> Backlog {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.backlog(now)
    }

    /// Whether all finite transfers are complete and all datagram sources have stopped.
    pub fn is_done(&self) -> bool {
        self.flows.iter().all(|carried| match &carried.traffic {
            Traffic::Tcp(connection) => {
                connection.source.ended().is_some() || connection.source.state() == State::TimeWait
            }
            Traffic::Unanswered(Unanswered::Datagrams(source)) => source.next >= source.stop,
            Traffic::Unanswered(Unanswered::External | Unanswered::Over(_)) => true,
            Traffic::Unanswered(Unanswered::Later(_)) => false,
        })
    }

    /// Current settings of a pipe; `None` if a [`Setting`] cannot describe them.
    pub fn setting(&self, pipe: PipeId) -> Option<Setting> {
        self.pipes[pipe.0 as usize].line.setting()
    }

    /// Reason why a pipe cannot be changed in this way, if any.
    pub fn refuses(&self, pipe: PipeId, change: &Change) -> Option<Fixed> {
        self.pipes[pipe.0 as usize].line.refuses(change)
    }

    /// Changes a pipe at the current time, as far as it does not refuse. Middleboxes and endpoints get no report.
    pub fn change(&mut self, pipe: PipeId, change: &Change) {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.change(now, change, &mut self.decided);
        self.take_decisions(pipe);
    }

    /// Time from now until a packet joining the pipe would begin transmission, without further changes; `None` if
    /// unknown.
    pub fn wait(&mut self, pipe: PipeId) -> Option<Duration> {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.wait(now)
    }

    /// Sends a packet of an external flow at the current time. Returns its number in [`Engine::take_left`].
    pub fn inject(&mut self, flow: FlowId, entering: &Entering) -> u64 {
        let route = self.flows[flow.0 as usize].ways[usize::from(!entering.forward)].route();
        let number = self.packets;
        self.packets += 1;
        let mut packet = Packet {
            number,
            flow,
            route,
            wire_bytes: entering.wire_bytes,
            forward: entering.forward,
            is_retransmission: false,
            before_first_loss: false,
            damaged: false,
            ecn: entering.ecn,
            priority: entering.priority,
            hop: 0,
            enqueued_at: Time::ZERO,
            body: entering.body,
        };
        self.send_datagram(&mut packet);
        number
    }

    /// Adds to `into` the external packets that arrived or were lost since the last call, in order of time.
    pub fn take_left(&mut self, into: &mut Vec<Left>) {
        self.passing.take_left(into);
    }

    /// Adds to `into` the copies of external packets made since the last call, in order of time. A copy appears here
    /// before it appears in [`Engine::take_left`].
    pub fn take_copies(&mut self, into: &mut Vec<Copied>) {
        self.passing.take_copies(into);
    }
}

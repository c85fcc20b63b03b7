//! [`Engine`]: methods with which a driver (the caller) reads results, changes links and injects packets between
//! events.
//!
//! Changes of a pipe's rate, delay, losses and queue take effect at the current simulated time. A run with the same changes at
//! the same simulated times therefore has the same results.

use super::Engine;
use crate::application::Application;
use crate::delay_statistics::DelayStatistics;
use crate::external::{Departure, ExternalCopy, ExternalPacket};
use crate::fairness::ConcurrentShare;
use crate::flow::{FlowAccount, NoEndpoint, Traffic};
use crate::pipe::{PipeAccount, PipeId};
use lasthop_base::{Duration, Rate, Time};
use lasthop_net::counters::RlcCounters;
use lasthop_net::discipline::Discipline;
use lasthop_net::{ChangeRefused, LinkChange, LinkSettings};
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

    /// Number of packets sent so far by sources, destinations and middleboxes. The number includes ACKs and copies that
    /// links made.
    pub fn packets_sent(&self) -> u64 {
        self.packets
    }

    /// Source and destination of a flow; `None` for datagrams, external packets, and connections not created yet or
    /// already released ([`Engine::keep_flows`]).
    pub fn endpoints(&self, flow: FlowId) -> Option<(&Endpoint, &Endpoint)> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => Some((&connection.source, &connection.destination)),
            Traffic::NoEndpoint(_) => None,
        }
    }

    /// Application of a flow; `None` if the flow has no application.
    pub fn application(&self, flow: FlowId) -> Option<&Application> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => connection.application.as_deref(),
            Traffic::NoEndpoint(NoEndpoint::Stack(flow)) => flow.application(),
            Traffic::NoEndpoint(_) => None,
        }
    }

    /// Totals of a flow.
    pub fn account(&self, flow: FlowId) -> FlowAccount {
        self.flows[flow.0 as usize].account.total()
    }

    /// Number of payload bytes delivered to a TCP flow while other flows were active, and the flow's fair share in that
    /// time.
    pub fn share(&self, flow: FlowId) -> ConcurrentShare {
        self.concurrent.share(&self.flows[flow.0 as usize].share)
    }

    /// Totals of a pipe.
    pub fn pipe_account(&self, pipe: PipeId) -> &PipeAccount {
        &self.pipes[pipe.0 as usize].account
    }

    /// Number of bytes in flight on a pipe: bytes that [`PipeAccount::carried_bytes`] includes, but that have not
    /// reached the pipe's end.
    pub fn bytes_in_flight(&self, pipe: PipeId) -> u64 {
        let pipe = &self.pipes[pipe.0 as usize];
        let ahead = pipe.in_flight.iter().filter(|one| one.due > self.now && !one.is_discard_notice());
        ahead.map(|one| u64::from(one.packet.wire_bytes)).sum()
    }

    /// Starts to measure the time that packets spend on a pipe beyond the pipe's propagation delay.
    pub fn measure_delays(&mut self, pipe: PipeId, propagation: Duration) {
        let pipe = &mut self.pipes[pipe.0 as usize];
        pipe.delays = Some(Box::new(DelayStatistics::new(propagation)));
        pipe.is_observed = true;
    }

    /// Clears the delay statistics of all pipes.
    pub fn clear_delays(&mut self) {
        self.pipes.iter_mut().filter_map(|pipe| pipe.delays.as_mut()).for_each(|delays| delays.clear());
    }

    /// Delay statistics of a pipe; `None` unless `measure_delays` was called for the pipe.
    pub fn delay_statistics(&self, pipe: PipeId) -> Option<&DelayStatistics> {
        self.pipes[pipe.0 as usize].delays.as_deref()
    }

    /// Counters of a pipe's RLC entity; `None` if the pipe has no RLC entity.
    pub fn rlc(&self, pipe: PipeId) -> Option<&RlcCounters> {
        self.pipes[pipe.0 as usize].line.rlc()
    }

    /// Average queue length of a pipe in packets after the last arrival, as RED computes it; `None` if the pipe
    /// computes no average.
    pub fn average_queue(&self, pipe: PipeId) -> Option<f64> {
        self.pipes[pipe.0 as usize].line.average()
    }

    /// Current backlog of a pipe. The backlog is exact only if [`Engine::unfuse`] has disabled fused hops, in which one
    /// event moves a packet over several links.
    pub fn backlog(&mut self, pipe: PipeId) -> Backlog {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.backlog(now)
    }

    /// Whether all finite transfers are complete and all datagram sources have stopped.
    pub fn is_done(&self) -> bool {
        self.flows.iter().all(|flow| match &flow.traffic {
            Traffic::Tcp(connection) => {
                connection.source.ended().is_some() || connection.source.state() == State::TimeWait
            }
            Traffic::NoEndpoint(NoEndpoint::Datagrams(source)) => source.next >= source.stop,
            Traffic::NoEndpoint(NoEndpoint::External | NoEndpoint::Released(_)) => true,
            Traffic::NoEndpoint(NoEndpoint::Deferred(_)) => false,
            Traffic::NoEndpoint(NoEndpoint::Stack(stacks)) => {
                flow.account.is_complete() || stacks.failure().is_some()
            }
        })
    }

    /// Current settings of a pipe (rate, delay, losses); `None` if [`LinkSettings`] cannot describe this kind of pipe.
    pub fn settings(&self, pipe: PipeId) -> Option<LinkSettings> {
        self.pipes[pipe.0 as usize].line.settings()
    }

    /// Reason why a pipe cannot be changed as requested; `None` if the change is possible.
    pub fn refusal(&self, pipe: PipeId, change: &LinkChange) -> Option<ChangeRefused> {
        self.pipes[pipe.0 as usize].line.refusal(change)
    }

    /// Changes a pipe at the current time. First check with [`Engine::refusal`] that the pipe accepts the change. If the
    /// pipe's rate was [declared as a plan](Engine::declare_plan), the middleboxes and endpoints that receive the plan
    /// receive the new rate as a rate that never changes. With RLC, the hosts at the pipe's end receive the new rate.
    /// Other changes are not reported.
    pub fn change(&mut self, pipe: PipeId, change: &LinkChange) {
        let now = self.now;
        if let Some(bps) = change.bps {
            self.replace_plan(pipe, Rate::from_bps(bps));
        }
        self.pipes[pipe.0 as usize].line.change(now, change, &mut self.decisions);
        self.apply_decisions(pipe);
    }

    /// Reason why a pipe's queue cannot be replaced; `None` if the queue can be replaced.
    pub fn queue_refusal(&self, pipe: PipeId) -> Option<ChangeRefused> {
        self.pipes[pipe.0 as usize].line.queue_refusal()
    }

    /// Replaces a pipe's queue discipline, or its limit, at the current time. First check with
    /// [`Engine::queue_refusal`] that the pipe accepts the change. The packets that wait enter the new queue, and are
    /// lost if the new queue drops them ([`lasthop_net::LinkDirection::set_queue`]).
    pub fn set_queue(&mut self, pipe: PipeId, queue: Discipline) {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.set_queue(now, queue, &mut self.decisions);
        self.apply_decisions(pipe);
    }

    /// Queueing delay of a packet that would enter the pipe now: the time until its transmission would begin, at the
    /// current settings. `None` if this time is unknown.
    pub fn queueing_delay(&mut self, pipe: PipeId) -> Option<Duration> {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.queueing_delay(now)
    }

    /// Sends a packet of an external flow at the current time. Returns the number under which
    /// [`Engine::take_departures`] will report the packet.
    pub fn inject(&mut self, flow: FlowId, entering: &ExternalPacket) -> u64 {
        let route = self.flows[flow.0 as usize].directions[usize::from(!entering.forward)].route();
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
        let first = self.routes[packet.route as usize][0];
        self.send(&mut packet, first);
        number
    }

    /// Adds to `into` the external packets that arrived or were lost since the last call, in order of time.
    pub fn take_departures(&mut self, into: &mut Vec<Departure>) {
        self.external_log.take_departures(into);
    }

    /// Adds to `into` the copies of external packets that links made since the last call, in order of time. A copy is
    /// reported here when it is made. [`Engine::take_departures`] reports its departure later.
    pub fn take_copies(&mut self, into: &mut Vec<ExternalCopy>) {
        self.external_log.take_copies(into);
    }
}

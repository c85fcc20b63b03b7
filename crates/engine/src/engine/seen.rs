//! A chapter of the engine: what a driver sees, sets and injects between events.
//!
//! A pipe's rate, delay and losses change at the engine's time, so that the same changes at the same times give the same run.

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
    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// When a flow starts.
    pub fn start(&self, flow: FlowId) -> Time {
        self.flows[flow.0 as usize].start
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
    }

    /// Packets that sources, destinations and middleboxes have sent so far, ACKs and the copies of links included.
    pub fn packets_sent(&self) -> u64 {
        self.packets
    }

    /// The endpoints of a flow: source and destination; `None` for datagrams and external packets, and for a connection that
    /// is not made yet or was given up ([`Engine::keep_flows`]).
    pub fn endpoints(&self, flow: FlowId) -> Option<(&Endpoint, &Endpoint)> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => Some((&connection.source, &connection.destination)),
            Traffic::Unanswered(_) => None,
        }
    }

    /// What the applications of a flow do, if that is more than to send what they have.
    pub fn application(&self, flow: FlowId) -> Option<&Application> {
        match &self.flows[flow.0 as usize].traffic {
            Traffic::Tcp(connection) => connection.application.as_deref(),
            Traffic::Unanswered(_) => None,
        }
    }

    /// A flow's totals.
    pub fn account(&self, flow: FlowId) -> FlowAccount {
        self.flows[flow.0 as usize].account.whole()
    }

    /// What a TCP flow got so far while another one was alive, beside an equal part.
    pub fn share(&self, flow: FlowId) -> Share {
        self.together.share(&self.flows[flow.0 as usize].sharing)
    }

    /// A pipe's totals.
    pub fn pipe_account(&self, pipe: PipeId) -> &PipeAccount {
        &self.pipes[pipe.0 as usize].account
    }

    /// Of the bytes that a pipe has carried, those that have not reached its other side yet.
    pub fn bytes_under_way(&self, pipe: PipeId) -> u64 {
        let pipe = &self.pipes[pipe.0 as usize];
        let ahead = pipe.travelling.iter().filter(|one| one.due > self.now && !one.is_news());
        ahead.map(|one| u64::from(one.packet.wire_bytes)).sum()
    }

    /// Measures from now on how long packets take on a pipe beyond its propagation delay.
    pub fn measure_waits(&mut self, pipe: PipeId, propagation: Duration) {
        let pipe = &mut self.pipes[pipe.0 as usize];
        pipe.waits = Some(Box::new(Waits::new(propagation)));
        pipe.is_watched = true;
    }

    /// Forgets how long packets took so far on all pipes.
    pub fn clear_waits(&mut self) {
        self.pipes.iter_mut().filter_map(|pipe| pipe.waits.as_mut()).for_each(|waits| waits.clear());
    }

    /// How long packets took on a pipe, if that is measured.
    pub fn waits(&self, pipe: PipeId) -> Option<&Waits> {
        self.pipes[pipe.0 as usize].waits.as_deref()
    }

    /// What a pipe's RLC entity has counted, if it is one.
    pub fn rlc(&self, pipe: PipeId) -> Option<&Counters> {
        self.pipes[pipe.0 as usize].line.rlc()
    }

    /// The average queue by which a pipe's admission decides (RED), as of the last packet's arrival, packets; `None` if it
    /// knows none.
    pub fn average_queue(&self, pipe: PipeId) -> Option<f64> {
        self.pipes[pipe.0 as usize].line.average()
    }

    /// What waits at a pipe now; true only after [`Engine::unfuse`].
    pub fn backlog(&mut self, pipe: PipeId) -> Backlog {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.backlog(now)
    }

    /// Whether every finite transfer is complete and no source will send again.
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

    /// Settings that hold on a pipe now; `None` if a few numbers cannot describe them.
    pub fn setting(&self, pipe: PipeId) -> Option<Setting> {
        self.pipes[pipe.0 as usize].line.setting()
    }

    /// Why a change of a pipe is not possible; `None` if it is.
    pub fn refuses(&self, pipe: PipeId, change: &Change) -> Option<Fixed> {
        self.pipes[pipe.0 as usize].line.refuses(change)
    }

    /// Changes a pipe now, which is where [`Engine::run_until`] has got to, in what it does not refuse. Nobody is told of it:
    /// not a middlebox, and no host that asks for plans.
    pub fn change(&mut self, pipe: PipeId, change: &Change) {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.change(now, change, &mut self.decided);
        self.take_decisions(pipe);
    }

    /// Time that a packet that joins a pipe now would wait until its first bit is sent, if nothing is changed and that can
    /// be said.
    pub fn wait(&mut self, pipe: PipeId) -> Option<Duration> {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.wait(now)
    }

    /// A packet of an external flow begins its way now, which is where [`Engine::run_until`] has got to. Returns the
    /// number by which [`Engine::take_left`] calls it.
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
            again: false,
            early: false,
            damaged: false,
            ecn: entering.ecn,
            priority: entering.priority,
            hop: 0,
            joined: Time::ZERO,
            body: entering.body,
        };
        self.send_datagram(&mut packet);
        number
    }

    /// Adds to `into` what has become of external packets since it was last asked, in the order of time.
    pub fn take_left(&mut self, into: &mut Vec<Left>) {
        self.passing.take_left(into);
    }

    /// Adds to `into` what links have made two of since it was last asked, in the order of time. None has left before it is
    /// told here.
    pub fn take_copies(&mut self, into: &mut Vec<Copied>) {
        self.passing.take_copies(into);
    }
}

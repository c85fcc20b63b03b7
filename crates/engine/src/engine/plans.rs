//! Links whose rate changes by plan: the middlebox before one, and the receivers behind it, hear of each change if they ask.

use super::Engine;
use super::carried::endpoint_of;
use crate::flow::Side;
use crate::pipe::PipeId;
use lasthop_base::Time;
use lasthop_net::service::Service;
use lasthop_tcp::{Endpoint, Notice};
use lasthop_wire::{FlowId, LinkReport};

/// A pipe with a plan that somebody wants to hear of.
pub(super) struct Planned {
    pipe: PipeId,
    service: Service,
    /// When it changes next; before the first event the beginning.
    due: Time,
}

impl Engine {
    /// This pipe's rate changes by plan. To be called before the first event, and once every middlebox stands; nothing comes of
    /// it unless the middlebox at its beginning [asks](lasthop_middlebox::Middlebox::asks_plan), or a receiver behind it
    /// [does](Endpoint::asks_plan).
    pub fn tell_plan(&mut self, pipe: PipeId, service: &Service) {
        let asks = |place: &usize| {
            self.nodes[*place].middlebox.asks_plan() && !self.flows_leaving(*place, pipe).is_empty()
        };
        let is_asked_for = (0..self.nodes.len()).any(|place| asks(&place))
            || (0..self.flows.len()).any(|flow| self.asking_side(flow, pipe).is_some());
        if is_asked_for {
            self.planned.push(Planned { pipe, service: service.clone(), due: Time::ZERO });
            let last = 2 * self.flows.len() + self.nodes.len();
            self.timers = self.timers.extended_to(last + 1);
            self.timers.at_latest(last as u32, Time::ZERO);
        }
    }

    /// The timer of all plans has come up.
    #[cold]
    pub(super) fn tell_plans(&mut self, timer: u32) {
        let now = self.now;
        for at in 0..self.planned.len() {
            let Planned { pipe, service, due } = &mut self.planned[at];
            if *due > now {
                continue;
            }
            let (pipe, rate, until) = (*pipe, service.rate_at(now), service.change_after(now));
            let next = if until < Time::NEVER { service.rate_at(until) } else { rate };
            *due = until;
            for place in 0..self.nodes.len() {
                if !self.nodes[place].middlebox.asks_plan() {
                    continue;
                }
                for (flow, forward) in self.flows_leaving(place, pipe) {
                    self.nodes[place].middlebox.handle_rate(now, flow, forward, rate, &mut self.onward);
                }
                self.take_onward(place as u32);
                let deadline = self.nodes[place].deadline();
                self.timers.at_latest(2 * self.flows.len() as u32 + place as u32, deadline);
            }
            let report = LinkReport::Plan { bps: rate.bps(), until, next_bps: next.bps() };
            for flow in 0..self.flows.len() {
                let Some(side) = self.asking_side(flow, pipe) else { continue };
                if let Some(endpoint) = endpoint_of(&mut self.flows[flow].traffic, side) {
                    endpoint.handle_notice(now, Notice::Link(report));
                    self.pump(FlowId(flow as u32), side);
                }
            }
        }
        let due = self.planned.iter().map(|one| one.due).min().unwrap_or(Time::NEVER);
        self.timers.renew(timer, due);
    }

    /// Flows and directions that leave a node by this pipe, but for those whose headers its middlebox cannot read.
    fn flows_leaving(&self, place: usize, pipe: PipeId) -> Vec<(FlowId, bool)> {
        let node = &self.nodes[place];
        let leaves = |route: u32| {
            let hop = node.exits[route as usize];
            hop.is_some_and(|hop| self.routes[route as usize][usize::from(hop)] == pipe)
        };
        let mut leaving = Vec::new();
        for (flow, carried) in (0..).map(FlowId).zip(&self.flows) {
            let is_hidden = carried.opaque && node.middlebox.reads_headers();
            let ways = [true, false].into_iter().zip(carried.ways);
            let here = ways.filter(|(_, way)| !is_hidden && leaves(way.route()));
            leaving.extend(here.map(|(forward, _)| (flow, forward)));
        }
        leaving
    }

    /// The end of a flow behind this pipe, if it wants to hear of plans.
    fn asking_side(&self, flow: usize, pipe: PipeId) -> Option<Side> {
        let carried = &self.flows[flow];
        let (source, destination) = self.endpoints(FlowId(flow as u32))?;
        let [there, back] = carried.ways.map(|way| &self.routes[way.route() as usize]);
        let ends = [(Side::Destination, there, destination), (Side::Source, back, source)];
        let asks = |(side, path, endpoint): (Side, &Vec<PipeId>, &Endpoint)| {
            (path.last() == Some(&pipe) && endpoint.asks_plan()).then_some(side)
        };
        ends.into_iter().find_map(asks)
    }
}

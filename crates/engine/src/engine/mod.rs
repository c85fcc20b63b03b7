//! Flows, endpoints, links and the event loop.
//!
//! Parts of [`Engine`]:
//!
//! * here: set-up, the event loop, and detection of a stuck run.
//! * `links`: packets on links.
//! * `hosts`: packets at hosts; `timers`: host timers; `sending`: packets that hosts send.
//! * `nodes`: packets at middleboxes, and reports of planned rates.
//! * `lives`: connections created late and released early.
//! * `seen`: inspection, settings and injection by a driver between events.
//!
//! Types with their own state:
//!
//! * `carried`: the state of a flow.
//! * `media`: media shared by pipes.
//! * `passing`: departures of external packets.
//! * `plans`: planned rate changes.
//! * `twins`: datagrams that links have duplicated.

mod carried;
mod hosts;
mod links;
mod lives;
mod media;
mod nodes;
mod passing;
mod plans;
mod seen;
mod sending;
mod timers;
mod twins;

pub use self::lives::Over;

use crate::account::Account;
use crate::agenda::{Timers, Tournament};
use crate::flow::{Flow, Side, Traffic};
use crate::node::Node;
use crate::observer::Observer;
use crate::pipe::{Behind, Pipe, PipeId};
use crate::routes::{Nexts, fuse, number_of};
use crate::stuck::{Source, Still, Stuck};
use crate::together::{Sharing, Together};
use carried::{Carried, Way};
use lasthop_base::Time;
use lasthop_middlebox::Onward;
use lasthop_net::across::{Across, Word};
use lasthop_net::{Element, Line, Output};
use lasthop_wire::{FlowId, Packet};
use media::Media;
use passing::Passing;
use plans::Plans;
use sending::blank;
use twins::Twins;

/// Moves packets from event to event.
///
/// Create it with links and flows, then call [`Engine::run_until`] as often as you like. You may read endpoints and
/// accounts between calls.
pub struct Engine {
    now: Time,
    /// End of the current [`Engine::run_until`]; fused hops do not go beyond it.
    horizon: Time,
    packets: u64,
    pipes: Vec<Pipe>,
    /// Nodes with a middlebox.
    nodes: Vec<Node>,
    /// Distinct routes: shared by flows, so that they stay in the cache.
    routes: Vec<Vec<PipeId>>,
    nexts: Nexts,
    flows: Vec<Carried>,
    heads: Tournament,
    timers: Timers,
    observer: Option<Box<dyn Observer>>,
    /// Decisions of elements that are not applied yet; kept for its capacity.
    decided: Vec<Output>,
    onward: Vec<Onward>,
    plans: Plans,
    passing: Passing,
    media: Media,
    together: Together,
    keeps_flows: bool,
    still: Still,
    twins: Twins,
}

impl Engine {
    /// An engine at time zero. [`PipeId`]s of flows index `lines`. A lazy iterator of flows saves memory.
    pub fn new(lines: Vec<Line>, flows: impl IntoIterator<Item = Flow>) -> Engine {
        let mut pipes: Vec<Pipe> = lines.into_iter().map(Pipe::new).collect();
        let mut routes = Vec::new();
        let flows = flows.into_iter().map(|flow| {
            let told = match &flow.traffic {
                Traffic::Tcp(connection) => [&connection.source, &connection.destination]
                    .map(|end| connection.application.is_some() || end.wanted_notices().any()),
                Traffic::Unanswered(_) => [false; 2],
            };
            let mut way = |path: &[PipeId], is_told| {
                Way::new(number_of(&mut routes, path), path[0], flow.overhead, is_told)
            };
            let ways = [way(&flow.forward, told[0]), way(&flow.backward, told[1])];
            let Flow { traffic, start, opaque, .. } = flow;
            let judged = matches!(&traffic, Traffic::Tcp(connection) if connection.judged);
            Carried {
                ways,
                traffic,
                opaque,
                judged,
                sharing: Sharing::default(),
                start,
                account: Account::default(),
            }
        });
        let flows: Vec<Carried> = flows.collect();
        fuse(&mut pipes, &routes);
        let mut engine = Engine {
            now: Time::ZERO,
            horizon: Time::ZERO,
            packets: 0,
            heads: heads_of(&pipes),
            timers: Timers::new(2 * flows.len()),
            nexts: Nexts::of(&routes, &pipes),
            pipes,
            flows,
            routes,
            observer: None,
            decided: Vec::new(),
            nodes: Vec::new(),
            onward: Vec::new(),
            plans: Plans::default(),
            passing: Passing::default(),
            media: Media::default(),
            together: Together::default(),
            keeps_flows: false,
            still: Still::default(),
            twins: Twins::default(),
        };
        for index in 0..engine.flows.len() {
            engine.prepare(index);
        }
        engine
    }

    /// Reports every event to `observer`, hop by hop. Call before the first event.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.keep_flows();
        self.observer = Some(observer);
        for carried in &mut self.flows {
            if let Traffic::Tcp(connection) = &mut carried.traffic {
                connection.source.trace();
                connection.destination.trace();
            }
        }
        self.unfuse();
    }

    /// Handles each hop as an event of its own, so that every queue is exact between events.
    pub fn unfuse(&mut self) {
        for pipe in &mut self.pipes {
            pipe.eager = false;
            pipe.is_watched |= self.observer.is_some();
            pipe.line.track_backlog();
        }
        self.nexts = Nexts::of(&self.routes, &self.pipes);
    }

    /// Adds pipes inside the hosts, before the first link of these flows: one for the source's packets, one for the
    /// destination's. Call before the first event. Observers see a packet when it leaves the host.
    pub fn pass_in_hosts(&mut self, lines: Vec<(FlowId, [Line; 2])>) {
        for (flow, lines) in lines {
            for (side, line) in lines.into_iter().enumerate() {
                self.flows[flow.0 as usize].ways[side].host = PipeId(self.pipes.len() as u32);
                self.pipes.push(Pipe { behind: Behind::Host, ..Pipe::new(line) });
            }
        }
        self.renumber();
    }

    /// Ends the observation and returns the observer.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// Runs all events up to and including `until`, or until the run is [stuck](Engine::stuck).
    pub fn run_until(&mut self, until: Time) {
        self.horizon = until;
        let mut room = blank();
        while self.step(until, &mut room) {}
        self.now = self.now.max(until);
    }

    /// Runs at most `most` events up to and including `until`; returns true if more are due. Repeated until false, the
    /// results equal those of one [`Engine::run_until`].
    pub fn advance(&mut self, until: Time, most: usize) -> bool {
        self.horizon = until;
        let mut room = blank();
        for _ in 0..most {
            if !self.step(until, &mut room) {
                self.now = self.now.max(until);
                return false;
            }
        }
        true
    }

    /// Time of the next event, if any.
    pub fn next_event(&self) -> Option<Time> {
        let first = self.heads.first().0.min(self.timers.first().0);
        (first < Time::NEVER).then_some(first)
    }

    fn prepare(&mut self, index: usize) {
        let Carried { traffic, ways, start, .. } = &mut self.flows[index];
        let mut opener = Side::Source;
        if let Traffic::Tcp(connection) = traffic {
            opener = connection.opener();
            match opener {
                Side::Source => connection.destination.open(Time::ZERO),
                Side::Destination => connection.source.open(Time::ZERO),
            }
            if connection.application.is_some() {
                self.timers.at_latest(timer_of(index, Side::Source), *start);
            }
            if connection.destination.wanted_notices().backlog {
                let uplink = ways[1].first.0 as usize;
                self.pipes[uplink].line.track_backlog();
            }
        }
        self.timers.at_latest(timer_of(index, opener), *start);
    }

    /// Runs the next event if it is due by `until`; else returns false. `room` is scratch space for packets.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn step(&mut self, until: Time, room: &mut Packet) -> bool {
        let (due, pipe) = self.heads.first();
        let (time, timer) = self.timers.first();
        let at = due.min(time);
        if at > until.min(LAST) {
            return false;
        }
        self.now = at;
        if time < due {
            self.fire(timer, room)
        } else {
            self.arrive(pipe, room)
        }
        true
    }

    /// Declares two pipes as directions of one link. Notices between uncoupled directions are discarded.
    pub fn couple(&mut self, one: PipeId, other: PipeId) {
        self.pipes[one.0 as usize].opposite = Some(other);
        self.pipes[other.0 as usize].opposite = Some(one);
    }

    /// Lets pipes share a medium. The arbiter receives their notices, each with the pipe's index in `members`. Call
    /// before the first event.
    pub fn share_medium(&mut self, arbiter: Box<dyn Element>, members: Vec<PipeId>) {
        let medium = PipeId(self.pipes.len() as u32);
        for (member, pipe) in members.iter().enumerate() {
            let word = Word::Joined;
            self.pipes[pipe.0 as usize].opposite = Some(medium);
            self.tell_across(*pipe, Across::Air { member: member as u32, word });
        }
        let behind = Behind::Medium(self.media.add(members));
        self.pipes.push(Pipe { behind, ..Pipe::new(Line::Element(arbiter)) });
        self.renumber();
    }

    fn renumber(&mut self) {
        self.heads = heads_of(&self.pipes);
        for (number, pipe) in (0..).zip(&self.pipes) {
            let due = pipe.due();
            if due < Time::NEVER {
                self.heads.set(number, due);
            }
        }
    }

    /// The source that keeps the run at one instant, if the run is stuck. No event is due then.
    pub fn stuck(&self) -> Option<Stuck> {
        self.still.stuck()
    }

    /// Counts a timer event; returns false if the run is stuck.
    pub(super) fn goes_on_at_timer(&mut self, timer: u32) -> bool {
        !self.still.tick(self.now) || self.goes_on_counting(self.source_of(timer))
    }

    pub(super) fn goes_on_at_element(&mut self, pipe: u32) -> bool {
        !self.still.tick(self.now) || self.goes_on_counting(Source::Element(PipeId(pipe)))
    }

    /// Counts events by source, at an instant with very many of them.
    #[cold]
    #[inline(never)]
    fn goes_on_counting(&mut self, source: Source) -> bool {
        if !self.still.is_too_many(source) {
            return true;
        }
        self.heads = heads_of(&self.pipes);
        self.timers = self.timers.unset();
        false
    }

    fn source_of(&self, timer: u32) -> Source {
        let flow = timer / 2;
        if (flow as usize) < self.flows.len() {
            let side = if timer.is_multiple_of(2) { Side::Source } else { Side::Destination };
            return Source::Host(FlowId(flow), side);
        }
        let place = timer as usize - 2 * self.flows.len();
        self.nodes.get(place).map_or(Source::Plans, |node| Source::Node(node.id))
    }
}

const LAST: Time = Time::from_nanos(u64::MAX - 1);

/// Hop of a packet inside its host; the next hop is 0.
const IN_HOST: u8 = u8::MAX;

fn timer_of(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + u32::from(side == Side::Destination)
}

/// A tournament of all pipes. Elements are the busiest: each packet causes a decision and an arrival.
fn heads_of(pipes: &[Pipe]) -> Tournament {
    let elements = (0..).zip(pipes).filter(|(_, pipe)| matches!(pipe.line, Line::Element(_)));
    let often: Vec<u32> = elements.map(|(number, _)| number).collect();
    Tournament::with(pipes.len(), &often)
}

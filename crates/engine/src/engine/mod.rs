//! Flows, their endpoints, the links between them, and the loop.
//!
//! * `across`: what links' directions tell each other, and the media that they share.
//! * `applications`: what programs at the ends do when data arrives, or it is time.
//! * `lives`: flows that are made late and given up early.
//! * `links`: a packet on its way.
//! * `hosts`: a packet at a host, and what a host sends.
//! * `nodes`: a packet at a node with a middlebox.
//! * `impaired`: copies that links make, and damage that a host finds.
//! * `injected`: real traffic on its way through.
//! * `changes`: what may be set on a pipe while it runs.
//! * `plans`: rates that change by plan, and who hears of it.

mod across;
mod applications;
mod changes;
mod hosts;
mod impaired;
mod injected;
mod links;
mod lives;
mod nodes;
mod plans;

pub use self::lives::Over;

use self::hosts::blank;
use crate::account::Account;
use crate::agenda::{Timers, Tournament};
use crate::application::Application;
use crate::external::{Copied, Left};
use crate::flow::{Flow, FlowAccount, Overhead, Side, Traffic, Unanswered};
use crate::node::Node;
use crate::observer::Observer;
use crate::pipe::{Behind, Pipe, PipeAccount, PipeId};
use crate::routes::{Nexts, fuse, number_of};
use crate::together::{Share, Sharing, Together};
use crate::waits::Waits;
use lasthop_base::{Duration, Time};
use lasthop_middlebox::Onward;
use lasthop_net::counters::Counters;
use lasthop_net::{Line, Output};
use lasthop_tcp::{Endpoint, State};
use lasthop_wire::{Backlog, FlowId, Packet};
use plans::Planned;

/// Carries packets from event to event.
///
/// Give it links and flows, then [`Engine::run_until`] as often as you like; look at
/// endpoints and accounts in between.
pub struct Engine {
    now: Time,
    /// How far the current [`Engine::run_until`] goes: nothing is carried ahead of it.
    horizon: Time,
    packets: u64,
    pipes: Vec<Pipe>,
    /// Those that have a middlebox.
    nodes: Vec<Node>,
    /// The routes that flows take, each once: they stay in the cache however many flows there are.
    routes: Vec<Vec<PipeId>>,
    nexts: Nexts,
    flows: Vec<Carried>,
    heads: Tournament,
    timers: Timers,
    observer: Option<Box<dyn Observer>>,
    /// What elements decided, until it is dealt with; kept for its room.
    decided: Vec<Output>,
    /// What a middlebox decided, likewise.
    onward: Vec<Onward>,
    /// Pipes with a plan that somebody wants to hear of.
    planned: Vec<Planned>,
    /// External packets that have gone, until somebody asks.
    left: Vec<Left>,
    /// Copies of external packets, likewise.
    copies: Vec<Copied>,
    /// Of each medium that pipes share, those pipes.
    media: Vec<Vec<PipeId>>,
    together: Together,
    /// Whether flows are kept to the end.
    keeps_flows: bool,
}

/// A flow as it runs, in two lines of the cache: in the first one all that the engine asks for each packet.
#[repr(C, align(64))]
struct Carried {
    /// From the source, and from the destination.
    ways: [Way; 2],
    traffic: Traffic,
    /// That of the flow ([`Flow::opaque`]).
    opaque: bool,
    /// That of its connection ([`Connection::judged`](crate::Connection::judged)).
    judged: bool,
    sharing: Sharing,
    start: Time,
    account: Account,
}

// See [`Carried`].
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Carried, sharing) <= 56 && size_of::<Carried>() == 128);
    // What a loss changes is in one line.
    assert!(
        offset_of!(Carried, account) / 64 == (offset_of!(Carried, account) + size_of::<Account>() - 1) / 64
    );
};

impl Carried {
    /// The flow's overhead, in either direction.
    fn overhead(&self) -> Overhead {
        self.ways[0].overhead()
    }
}

/// What packets take that one end of a flow sends: 16 bytes.
#[derive(Clone, Copy)]
struct Way {
    /// Below 2^31, and in the highest bit whether that end, or its application, wants to be told something with each
    /// segment that arrives there.
    route_and_told: u32,
    /// Its first pipe.
    first: PipeId,
    /// What they pass inside their host before it; [`NO_LINE`]: nothing.
    host: PipeId,
    /// [`Overhead::Fixed`], bytes, or [`REAL`].
    overhead: u32,
}

const IS_TOLD: u32 = 1 << 31;
/// No pipe has this number.
const NO_LINE: PipeId = PipeId(u32::MAX);
/// No packet is as long.
const REAL: u32 = u32::MAX;

impl Way {
    fn new(route: u32, first: PipeId, overhead: Overhead, is_told: bool) -> Way {
        let overhead = match overhead {
            Overhead::Real => REAL,
            Overhead::Fixed(bytes) => bytes,
        };
        Way { route_and_told: route | if is_told { IS_TOLD } else { 0 }, first, host: NO_LINE, overhead }
    }

    #[inline]
    fn route(self) -> u32 {
        self.route_and_told & !IS_TOLD
    }

    #[inline]
    fn is_told(self) -> bool {
        self.route_and_told & IS_TOLD != 0
    }

    #[inline]
    fn host(self) -> Option<PipeId> {
        if self.host == NO_LINE { None } else { Some(self.host) }
    }

    #[inline]
    fn overhead(self) -> Overhead {
        if self.overhead == REAL { Overhead::Real } else { Overhead::Fixed(self.overhead) }
    }
}

impl Engine {
    /// An engine at time zero. Flows name the pipes by their place in `lines`.
    ///
    /// They may be made one by one as they are taken: a list of many would need as much room again as they do here.
    pub fn new(lines: Vec<Line>, flows: impl IntoIterator<Item = Flow>) -> Engine {
        let mut pipes: Vec<Pipe> = lines.into_iter().map(Pipe::new).collect();
        let mut routes = Vec::new();
        let flows = flows.into_iter().map(|flow| {
            let told = match &flow.traffic {
                Traffic::Tcp(connection) => [&connection.source, &connection.destination]
                    .map(|end| connection.application.is_some() || end.wants().any()),
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
            heads: across::heads_of(&pipes),
            timers: Timers::new(2 * flows.len()),
            nexts: Nexts::of(&routes, &pipes),
            pipes,
            flows,
            routes,
            observer: None,
            decided: Vec::new(),
            nodes: Vec::new(),
            onward: Vec::new(),
            planned: Vec::new(),
            left: Vec::new(),
            copies: Vec::new(),
            media: Vec::new(),
            together: Together::default(),
            keeps_flows: false,
        };
        for index in 0..engine.flows.len() {
            engine.prepare(index);
        }
        engine
    }

    /// Tells `observer` everything from now on, hop by hop; to be called before the first event.
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

    /// Takes every hop by itself, so that a queue looked at between events is as it is then, on every pipe.
    pub fn unfuse(&mut self) {
        for pipe in &mut self.pipes {
            pipe.eager = false;
            pipe.is_watched |= self.observer.is_some();
            pipe.line.track_backlog();
        }
        self.nexts = Nexts::of(&self.routes, &self.pipes);
    }

    /// Packets of these flows pass a line inside their host before their first link: those of the source the first one,
    /// those of the destination the second. To be called before the first event. What waits there is the host's own
    /// matter: an observer is told of a packet when it leaves the host.
    pub fn pass_in_hosts(&mut self, lines: Vec<(FlowId, [Line; 2])>) {
        for (flow, lines) in lines {
            for (side, line) in lines.into_iter().enumerate() {
                self.flows[flow.0 as usize].ways[side].host = PipeId(self.pipes.len() as u32);
                self.pipes.push(Pipe { behind: Behind::Host, ..Pipe::new(line) });
            }
        }
        self.renumber();
    }

    /// When a flow starts.
    pub fn start(&self, flow: FlowId) -> Time {
        self.flows[flow.0 as usize].start
    }

    /// Ends the observation and gives the observer back.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// The time of the last event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Runs every event up to and including `until`.
    pub fn run_until(&mut self, until: Time) {
        self.horizon = until;
        let mut room = blank();
        while self.step(until, &mut room) {}
        self.now = self.now.max(until);
    }

    /// Runs every event up to and including `until`, but so many at most; true if there are more. Whoever calls it until it
    /// is false has what one [`Engine::run_until`] gives.
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

    /// When the next event is due, if there is one.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        let first = self.heads.first().0.min(self.timers.first().0);
        (first < Time::NEVER).then_some(first)
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

    /// Packets that sources, destinations and middleboxes have sent so far, ACKs and the copies of links included.
    pub fn packets_sent(&self) -> u64 {
        self.packets
    }

    /// Number of flows.
    pub fn flow_count(&self) -> usize {
        self.flows.len()
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
            if connection.destination.wants().backlog {
                let uplink = ways[1].first.0 as usize;
                self.pipes[uplink].line.track_backlog();
            }
        }
        self.timers.at_latest(timer_of(index, opener), *start);
    }

    /// The next event, if there is one up to and including `until`; else false. What an endpoint answers with is written in
    /// `room`, which is not made anew for each.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn step(&mut self, until: Time, room: &mut Packet) -> bool {
        let (due, pipe) = self.heads.first();
        let (time, timer) = self.timers.first();
        let at = due.min(time);
        if at > until.min(LAST) {
            return false;
        }
        self.now = at;
        match time < due {
            true => self.fire(timer, room),
            false => self.arrive(pipe, room),
        }
        true
    }
}

/// The last time that comes.
const LAST: Time = Time::from_nanos(u64::MAX - 1);

/// The hop of a packet that is still in its host; the next one is 0.
const IN_HOST: u8 = u8::MAX;

fn timer_of(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + u32::from(side == Side::Destination)
}

//! Flows, endpoints, links and the event loop.
//!
//! Parts of [`Engine`]:
//!
//! * this file: set-up, the event loop, and detection of a stuck run.
//! * `links`: packets on links.
//! * `hosts`: packets at hosts; `timers`: host timers; `sending`: packets that hosts send.
//! * `stacks`: flows between transport implementations of other projects.
//! * `requests`: requests on demand, which a driver makes between events; `feeding`: data of fed transfers.
//! * `nodes`: packets at middleboxes, and reports of planned rates.
//! * `lifetime`: connections created late and released early.
//! * `orders`: orders to senders, given by a driver between events.
//! * `inspection`: methods with which a driver reads results, changes links and injects packets between events.
//!
//! Types with their own state:
//!
//! * `flow_state`: the state of a flow.
//! * `media`: media shared by pipes.
//! * `external_log`: departures of external packets.
//! * `plans`: planned rate changes.
//! * `duplicates`: datagrams that links have duplicated.

mod duplicates;
mod external_log;
mod feeding;
mod flow_state;
mod hosts;
mod inspection;
mod lifetime;
mod links;
mod media;
mod nodes;
mod orders;
mod plans;
mod requests;
mod sending;
mod stacks;
mod timers;

pub use self::lifetime::ReleasedConnection;
pub use self::requests::RequestRefused;

use crate::account::CompactAccount;
use crate::event_queue::{EventQueue, Timers};
use crate::fairness::{ConcurrentFlows, FlowShare};
use crate::flow::{FlowSide, FlowSpec, NoEndpoint, Traffic};
use crate::node::Node;
use crate::observer::Observer;
use crate::pipe::{Pipe, PipeEnd, PipeId};
use crate::routes::{NextHops, fuse, number_of};
use crate::stuck::{EventSource, Stuck, StuckDetector};
use duplicates::Duplicates;
use external_log::ExternalLog;
use flow_state::{FlowDirection, FlowState};
use lasthop_base::Time;
use lasthop_middlebox::Decision;
use lasthop_net::peer_message::{MediumMessage, PeerMessage};
use lasthop_net::{Element, LinkDirection, Output};
use lasthop_wire::{FlowId, Packet};
use media::Media;
use plans::Plans;
use sending::empty_packet;

/// A simulation: flows, links and middleboxes, and the event loop that drives these parts.
///
/// Create an engine with links and flows, then call [`Engine::run_until`] as often as you like. You may read endpoints
/// and accounts between calls.
pub struct Engine {
    now: Time,
    /// End time of the current [`Engine::run_until`]. After this time, no fused hop (a further hop in the same event)
    /// begins.
    horizon: Time,
    packets: u64,
    pipes: Vec<Pipe>,
    /// Nodes with a middlebox.
    nodes: Vec<Node>,
    /// Distinct routes. Flows share these routes, so that the routes stay in the processor's cache.
    routes: Vec<Vec<PipeId>>,
    next_hops: NextHops,
    flows: Vec<FlowState>,
    event_queue: EventQueue,
    timers: Timers,
    observer: Option<Box<dyn Observer>>,
    /// Decisions of queueing elements that are not applied yet. The vector is reused to avoid allocations.
    decisions: Vec<Output>,
    /// Decisions of middleboxes that are not applied yet. The vector is reused to avoid allocations.
    node_decisions: Vec<Decision>,
    plans: Plans,
    external_log: ExternalLog,
    media: Media,
    concurrent: ConcurrentFlows,
    keeps_flows: bool,
    /// Connections that have ended on routes with very many packets, and that are not released yet.
    ended: Vec<FlowId>,
    /// Number of connections in `ended` after the last attempt to release them.
    ended_kept: usize,
    stuck_detector: StuckDetector,
    duplicates: Duplicates,
}

impl Engine {
    /// Creates an engine at time zero. A [`PipeId`] in a flow is an index into `lines`. To save memory, pass a lazy
    /// iterator as `flows`.
    pub fn new(lines: Vec<LinkDirection>, flows: impl IntoIterator<Item = FlowSpec>) -> Engine {
        let mut pipes: Vec<Pipe> = lines.into_iter().map(Pipe::new).collect();
        let mut routes = Vec::new();
        let flows = flows.into_iter().map(|flow| {
            let needs_notices = match &flow.traffic {
                Traffic::Tcp(connection) => {
                    let acts = connection.application.as_ref().is_some_and(|it| it.acts_on_arrivals());
                    [&connection.source, &connection.destination]
                        .map(|end| acts || end.wanted_notices().any())
                }
                Traffic::NoEndpoint(_) => [false; 2],
            };
            let mut direction = |path: &[PipeId], needs_notices| {
                let route = (number_of(&mut routes, path), path[0]);
                FlowDirection::new(route, flow.overhead, flow.priority, needs_notices)
            };
            let directions =
                [direction(&flow.forward, needs_notices[0]), direction(&flow.backward, needs_notices[1])];
            let FlowSpec { traffic, start, priority, opaque, .. } = flow;
            let has_loss_discrimination =
                matches!(&traffic, Traffic::Tcp(connection) if connection.has_loss_discrimination);
            FlowState {
                directions,
                traffic,
                opaque,
                priority,
                has_loss_discrimination,
                share: FlowShare::default(),
                start,
                account: CompactAccount::default(),
            }
        });
        let flows: Vec<FlowState> = flows.collect();
        fuse(&mut pipes, &routes);
        let mut engine = Engine {
            now: Time::ZERO,
            horizon: Time::ZERO,
            packets: 0,
            event_queue: event_queue_of(&pipes),
            timers: Timers::new(2 * flows.len()),
            next_hops: NextHops::of(&routes, &pipes),
            pipes,
            flows,
            routes,
            observer: None,
            decisions: Vec::new(),
            nodes: Vec::new(),
            node_decisions: Vec::new(),
            plans: Plans::default(),
            external_log: ExternalLog::default(),
            media: Media::default(),
            concurrent: ConcurrentFlows::default(),
            keeps_flows: false,
            ended: Vec::new(),
            ended_kept: 0,
            stuck_detector: StuckDetector::default(),
            duplicates: Duplicates::default(),
        };
        for index in 0..engine.flows.len() {
            engine.prepare(index);
        }
        engine
    }

    /// Reports every event to `observer`, separately for each hop. Call before the first event.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.keep_flows();
        self.observer = Some(observer);
        for flow in &mut self.flows {
            if let Traffic::Tcp(connection) = &mut flow.traffic {
                connection.source.trace();
                connection.destination.trace();
            }
        }
        self.unfuse();
    }

    /// Disables fused hops, in which one event moves a packet over several links. Each hop then is a separate event, so
    /// that all queue lengths are exact between events.
    pub fn unfuse(&mut self) {
        for pipe in &mut self.pipes {
            pipe.is_fusible = false;
            pipe.is_observed |= self.observer.is_some();
            pipe.line.track_backlog();
        }
        self.next_hops = NextHops::of(&self.routes, &self.pipes);
    }

    /// Adds two pipes inside the hosts of each of these flows: one pipe for the source's packets, and one pipe for the
    /// destination's packets. A packet passes the pipe before its first link. Call before the first event. Observers
    /// receive a packet when it leaves the host.
    pub fn add_host_pipes(&mut self, lines: Vec<(FlowId, [LinkDirection; 2])>) {
        for (flow, lines) in lines {
            for (side, line) in lines.into_iter().enumerate() {
                self.flows[flow.0 as usize].directions[side].host = PipeId(self.pipes.len() as u32);
                self.pipes.push(Pipe { end: PipeEnd::HostExit, ..Pipe::new(line) });
            }
        }
        self.rebuild_event_queue();
    }

    /// Ends the observation and returns the observer.
    pub fn take_observer(&mut self) -> Option<Box<dyn Observer>> {
        self.observer.take()
    }

    /// Runs all events up to and including `until`, or until the run is [stuck](Engine::stuck).
    pub fn run_until(&mut self, until: Time) {
        while self.advance(until, usize::MAX) {}
    }

    /// Runs at most `most` events up to and including `until`. Returns true if the limit `most` ended the call, and
    /// false if no further event is due by `until`. Repeated calls until the result is false give the same results as
    /// one [`Engine::run_until`].
    pub fn advance(&mut self, until: Time, most: usize) -> bool {
        self.horizon = until;
        let mut scratch = empty_packet();
        for _ in 0..most {
            if !self.step(until, &mut scratch) {
                self.now = self.now.max(until);
                return false;
            }
        }
        true
    }

    /// Time of the next event, if any.
    pub fn next_event(&self) -> Option<Time> {
        let first = self.event_queue.first().0.min(self.timers.first().0);
        (first < Time::NEVER).then_some(first)
    }

    fn prepare(&mut self, index: usize) {
        let FlowState { traffic, directions, start, .. } = &mut self.flows[index];
        let mut opener = FlowSide::Source;
        if let Traffic::Tcp(connection) = traffic {
            opener = connection.opener();
            match opener {
                FlowSide::Source => connection.destination.open(Time::ZERO),
                FlowSide::Destination => connection.source.open(Time::ZERO),
            }
            if connection.application.is_some() {
                self.timers.at_latest(timer_of(index, FlowSide::Source), *start);
            }
            if connection.destination.wanted_notices().backlog {
                let uplink = directions[1].first.0 as usize;
                self.pipes[uplink].line.track_backlog();
            }
        }
        if let Traffic::NoEndpoint(NoEndpoint::Stack(flow)) = traffic {
            opener = flow.opener;
            if flow.application().is_some() {
                self.timers.at_latest(timer_of(index, FlowSide::Source), *start);
            }
        }
        self.timers.at_latest(timer_of(index, opener), *start);
    }

    /// Runs the next event if it is due by `until`; otherwise returns false. `scratch` is space for a packet; its
    /// content may be overwritten.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn step(&mut self, until: Time, scratch: &mut Packet) -> bool {
        let (due, pipe) = self.event_queue.first();
        let (time, timer) = self.timers.first();
        let at = due.min(time);
        if at > until.min(LAST) {
            return false;
        }
        self.now = at;
        if time < due {
            self.handle_timer(timer, scratch)
        } else {
            self.handle_pipe_event(pipe, scratch)
        }
        true
    }

    /// Declares two pipes as the two directions of one link, which can then exchange messages. Messages of a pipe
    /// without this declaration are discarded.
    pub fn couple(&mut self, one: PipeId, other: PipeId) {
        self.pipes[one.0 as usize].opposite = Some(other);
        self.pipes[other.0 as usize].opposite = Some(one);
    }

    /// Lets pipes share a medium. The arbiter decides which of the pipes may transmit. The arbiter receives each
    /// message of a pipe together with the pipe's index in `members`. Call before the first event.
    pub fn share_medium(&mut self, arbiter: Box<dyn Element>, members: Vec<PipeId>) {
        let medium = PipeId(self.pipes.len() as u32);
        for (member, pipe) in members.iter().enumerate() {
            let message = MediumMessage::Joined;
            self.pipes[pipe.0 as usize].opposite = Some(medium);
            self.notify_element(*pipe, PeerMessage::Medium { member: member as u32, message });
        }
        let end = PipeEnd::Medium(self.media.add(members));
        self.pipes.push(Pipe { end, ..Pipe::new(LinkDirection::Element(arbiter)) });
        self.rebuild_event_queue();
    }

    fn rebuild_event_queue(&mut self) {
        self.event_queue = event_queue_of(&self.pipes);
        for (number, pipe) in (0..).zip(&self.pipes) {
            let due = pipe.due();
            if due < Time::NEVER {
                self.event_queue.set(number, due);
            }
        }
    }

    /// The event source whose events repeat endlessly at one instant; `None` unless the run is stuck. The engine
    /// cancels all further events of a stuck run.
    pub fn stuck(&self) -> Option<Stuck> {
        self.stuck_detector.stuck()
    }

    /// Counts an event of this timer. Returns false if the run is stuck.
    pub(super) fn may_continue_at_timer(&mut self, timer: u32) -> bool {
        !self.stuck_detector.tick(self.now) || self.may_continue_counting(self.source_of(timer))
    }

    pub(super) fn may_continue_at_element(&mut self, pipe: u32) -> bool {
        !self.stuck_detector.tick(self.now) || self.may_continue_counting(EventSource::Element(PipeId(pipe)))
    }

    /// Counts an event by its source. Called only at an instant that already has very many events. If the run is stuck,
    /// cancels all events and returns false.
    #[cold]
    #[inline(never)]
    fn may_continue_counting(&mut self, source: EventSource) -> bool {
        if !self.stuck_detector.exceeds_limit(source) {
            return true;
        }
        self.event_queue = event_queue_of(&self.pipes);
        self.timers = self.timers.unset();
        false
    }

    fn source_of(&self, timer: u32) -> EventSource {
        let flow = timer / 2;
        if (flow as usize) < self.flows.len() {
            let side = if timer.is_multiple_of(2) { FlowSide::Source } else { FlowSide::Destination };
            return EventSource::Host(FlowId(flow), side);
        }
        let node_index = timer as usize - 2 * self.flows.len();
        self.nodes.get(node_index).map_or(EventSource::Plans, |node| EventSource::Node(node.id))
    }
}

const LAST: Time = Time::from_nanos(u64::MAX - 1);

/// Hop number of a packet inside its host. Adding 1 wraps to 0, the hop number of the first link.
const IN_HOST: u8 = u8::MAX;

fn timer_of(flow: usize, side: FlowSide) -> u32 {
    2 * flow as u32 + u32::from(side == FlowSide::Destination)
}

/// Creates the event queue of all pipes. Pipes with queueing elements are the busiest sources of events, because each
/// packet causes two events: a decision and an arrival.
fn event_queue_of(pipes: &[Pipe]) -> EventQueue {
    let elements = (0..).zip(pipes).filter(|(_, pipe)| matches!(pipe.line, LinkDirection::Element(_)));
    let often: Vec<u32> = elements.map(|(number, _)| number).collect();
    EventQueue::with_busiest(pipes.len(), &often)
}

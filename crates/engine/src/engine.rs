//! Flows, their endpoints, the links between them, and the loop.

use crate::agenda::{Timers, Tournament};
use crate::flow::{Datagrams, Flow, FlowAccount, Overhead, Side, Traffic};
use crate::observer::{Fate, Observer};
use crate::outside::{Entering, Left};
use crate::pipe::{Pipe, PipeAccount, PipeId, Travelling};
use crate::routes::{fuse, number_of};
use lasthop_base::Time;
use lasthop_net::{Line, Output, Passage, rlc};
use lasthop_tcp::{Arriving, Endpoint, Event, Range, State};
use lasthop_wire::{Backlog, Body, Ecn, FlowId, LinkReport, LossReason, Packet, Priority, Segment};

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
    /// The routes that flows take, each once: they stay in the cache however many flows there are.
    routes: Vec<Vec<PipeId>>,
    flows: Vec<Carried>,
    heads: Tournament,
    timers: Timers,
    observer: Option<Box<dyn Observer>>,
    /// What elements decided, until it is dealt with; kept for its room.
    decided: Vec<Output>,
    /// Packets from outside that have gone, until somebody asks.
    left: Vec<Left>,
}

struct Carried {
    flow: Flow,
    /// Route from source to destination, and back.
    routes: [u32; 2],
    account: FlowAccount,
}

/// Bytes of an IPv4 and a TCP header without options.
const TCP_IPV4_HEADER: u32 = 40;
/// Bytes of an IPv4 and a UDP header.
const UDP_IPV4_HEADER: u32 = 28;

impl Engine {
    /// An engine at time zero. Flows name the pipes by their place in `lines`.
    pub fn new(lines: Vec<Line>, flows: Vec<Flow>) -> Engine {
        let mut pipes: Vec<Pipe> = lines.into_iter().map(Pipe::new).collect();
        fuse(&mut pipes, &flows);
        let mut routes = Vec::new();
        let flows = flows.into_iter().map(|flow| {
            let there = number_of(&mut routes, &flow.forward);
            let back = number_of(&mut routes, &flow.backward);
            Carried { flow, routes: [there, back], account: FlowAccount::default() }
        });
        let flows: Vec<Carried> = flows.collect();
        let mut engine = Engine {
            now: Time::ZERO,
            horizon: Time::ZERO,
            packets: 0,
            heads: Tournament::new(pipes.len()),
            timers: Timers::new(2 * flows.len()),
            pipes,
            flows,
            routes,
            observer: None,
            decided: Vec::new(),
            left: Vec::new(),
        };
        for index in 0..engine.flows.len() {
            engine.prepare(index);
        }
        engine
    }

    /// Tells `observer` everything from now on, hop by hop; to be called before the first event.
    pub fn observe(&mut self, observer: Box<dyn Observer>) {
        self.observer = Some(observer);
        for carried in &mut self.flows {
            if let Traffic::Tcp(connection) = &mut carried.flow.traffic {
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
            pipe.line.track_backlog();
        }
    }

    /// Two pipes are the directions of one link: what one tells the other gets there. Else it is lost.
    pub fn couple(&mut self, one: PipeId, other: PipeId) {
        self.pipes[one.0 as usize].opposite = Some(other);
        self.pipes[other.0 as usize].opposite = Some(one);
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
        while let Some(at) = self.next_event()
            && at <= until
        {
            self.step();
        }
        self.now = self.now.max(until);
    }

    /// When the next event is due, if there is one.
    #[inline]
    pub fn next_event(&self) -> Option<Time> {
        let first = self.heads.first().0.min(self.timers.first().0);
        (first < Time::NEVER).then_some(first)
    }

    /// The endpoints of a flow: source and destination; `None` for datagrams and what comes from outside.
    pub fn endpoints(&self, flow: FlowId) -> Option<(&Endpoint, &Endpoint)> {
        match &self.flows[flow.0 as usize].flow.traffic {
            Traffic::Tcp(connection) => Some((&connection.source, &connection.destination)),
            Traffic::Datagrams(_) => None,
        }
    }

    /// A flow's totals.
    pub fn account(&self, flow: FlowId) -> &FlowAccount {
        &self.flows[flow.0 as usize].account
    }

    /// Packets that sources and destinations have sent so far, ACKs included.
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

    /// What a pipe's RLC entity has counted, if it is one.
    pub fn rlc(&self, pipe: PipeId) -> Option<&rlc::Counters> {
        self.pipes[pipe.0 as usize].line.rlc()
    }

    /// What waits at a pipe now; true only after [`Engine::unfuse`].
    pub fn backlog(&mut self, pipe: PipeId) -> Backlog {
        let now = self.now;
        self.pipes[pipe.0 as usize].line.backlog(now)
    }

    /// Whether every finite transfer is complete and no source will send again.
    pub fn is_done(&self) -> bool {
        self.flows.iter().all(|carried| match &carried.flow.traffic {
            Traffic::Tcp(connection) => {
                connection.source.ended().is_some() || connection.source.state() == State::TimeWait
            }
            Traffic::Datagrams(source) => source.next >= source.stop,
        })
    }

    /// A packet of a flow from outside begins its way now, which is where [`Engine::run_until`] has got to. Returns the
    /// number by which [`Engine::take_left`] calls it.
    pub fn inject(&mut self, flow: FlowId, entering: &Entering) -> u64 {
        let route = self.flows[flow.0 as usize].routes[usize::from(!entering.forward)];
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
            ecn: entering.ecn,
            priority: entering.priority,
            hop: 0,
            body: entering.body,
        };
        self.send_datagram(&mut packet);
        number
    }

    /// Adds to `into` what has become of packets from outside since it was last asked, in the order of time.
    pub fn take_left(&mut self, into: &mut Vec<Left>) {
        into.append(&mut self.left);
    }

    fn prepare(&mut self, index: usize) {
        let Carried { flow, .. } = &mut self.flows[index];
        if let Traffic::Tcp(connection) = &mut flow.traffic {
            connection.destination.open(Time::ZERO);
            if connection.destination.wants_uplink() {
                let uplink = flow.backward[0].0 as usize;
                self.pipes[uplink].line.track_backlog();
            }
        }
        self.timers.at_latest(timer_of(index, Side::Source), self.flows[index].flow.start);
    }

    fn step(&mut self) {
        let (due, pipe) = self.heads.first();
        let (time, timer) = self.timers.first();
        if time < due {
            self.now = time;
            self.fire(timer);
        } else {
            self.now = due;
            self.arrive(pipe);
        }
    }

    /// The first packet on a pipe has arrived at its end.
    fn arrive(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        if let Line::Element(element) = &mut here.line
            && here.travelling.front().is_none_or(|first| first.due > self.now)
        {
            element.handle_timeout(self.now, &mut self.decided);
            return self.take_decisions(PipeId(pipe));
        }
        let Some(first) = self.pipes[pipe as usize].first() else { return };
        let (id, forward, hop, discarded) =
            (first.packet.flow, first.packet.forward, first.packet.hop, first.discarded);
        let next = self.routes[first.packet.route as usize].get(usize::from(hop) + 1).copied();
        if next.is_none() && !discarded {
            return self.deliver(pipe, id, forward);
        }
        let Some(travelling) = self.pipes[pipe as usize].pop() else { return };
        self.pipes[pipe as usize].passing -= u32::from(next.is_some() && !discarded);
        self.heads.set(pipe, self.pipes[pipe as usize].due());
        match next {
            _ if discarded => self.report(&travelling.packet, next.is_none()),
            Some(next) => self.send(&mut Packet { hop: hop + 1, ..travelling.packet }, next),
            None => {}
        }
    }

    /// A packet joins a pipe, and goes through all that follow it as long as nothing else can come between.
    #[inline]
    fn send(&mut self, packet: &mut Packet, mut at: PipeId) {
        let mut now = self.now;
        loop {
            let pipe = &mut self.pipes[at.0 as usize];
            pipe.account.offered += 1;
            let passage = match &mut pipe.line {
                Line::Link(link) => link.carry(now, packet),
                Line::Element(_) => return self.join_element(packet, at),
            };
            if let Some(observer) = &mut self.observer {
                let fate = match passage {
                    Passage::Arrives { at } => Fate::Arrives(at),
                    Passage::Lost { reason, .. } => Fate::Lost(reason),
                };
                observer.on_packet(now, at, packet, fate);
            }
            let (due, discarded) = match passage {
                Passage::Arrives { at } => {
                    pipe.account.carried_bytes += u64::from(packet.wire_bytes);
                    (at, false)
                }
                Passage::Lost { at: due, reason } => {
                    self.lose(packet, at, reason);
                    if !reason.is_told() {
                        return;
                    }
                    (due, true)
                }
            };
            if !discarded {
                let route = &self.routes[packet.route as usize];
                if let Some(next) = route.get(usize::from(packet.hop) + 1) {
                    let ahead = due <= self.horizon && self.pipes[at.0 as usize].passing == 0;
                    if ahead && self.pipes[next.0 as usize].eager {
                        packet.hop += 1;
                        now = due;
                        at = *next;
                        continue;
                    }
                    self.pipes[at.0 as usize].passing += 1;
                }
            }
            if self.pipes[at.0 as usize].push(Travelling { due, packet: *packet, discarded }) {
                self.heads.set(at.0, due);
            }
            return;
        }
    }

    /// What no endpoint sends begins its way. Apart, so that [`Engine::send`] stays where endpoints send.
    #[inline(never)]
    fn send_datagram(&mut self, packet: &mut Packet) {
        let first = self.routes[packet.route as usize][0];
        self.send(packet, first);
    }

    /// A packet joins an element, which may decide something at once.
    fn join_element(&mut self, packet: &Packet, at: PipeId) {
        let now = self.now;
        if let Some(observer) = &mut self.observer {
            observer.on_packet(now, at, packet, Fate::Open);
        }
        if let Line::Element(element) = &mut self.pipes[at.0 as usize].line {
            element.handle_packet(now, *packet, &mut self.decided);
        }
        self.take_decisions(at);
    }

    /// Deals with what an element has decided, and notes its next deadline.
    fn take_decisions(&mut self, at: PipeId) {
        let now = self.now;
        let mut decided = std::mem::take(&mut self.decided);
        for output in decided.drain(..) {
            let (packet, due, lost) = match output {
                Output::Arrives { packet, at } => (packet, at, None),
                Output::Lost { packet, at, reason } => (packet, at, Some(reason)),
                Output::Report(report) => {
                    self.tell_hosts(at, &report);
                    continue;
                }
                Output::Across(across) => {
                    self.tell_opposite(at, across);
                    continue;
                }
                Output::GivenUp { packet, at: due } => {
                    self.pipes[at.0 as usize].push(Travelling { due, packet, discarded: true });
                    continue;
                }
            };
            if let Some(observer) = &mut self.observer {
                observer.on_fate(now, at, &packet, lost.map_or(Fate::Arrives(due), Fate::Lost));
            }
            match lost {
                None => self.pipes[at.0 as usize].account.carried_bytes += u64::from(packet.wire_bytes),
                Some(reason) => self.lose(&packet, at, reason),
            }
            let pipe = &mut self.pipes[at.0 as usize];
            if lost.is_none_or(LossReason::is_told) && due < Time::NEVER {
                let discarded = lost.is_some();
                let goes_on = usize::from(packet.hop) + 1 < self.routes[packet.route as usize].len();
                pipe.passing += u32::from(goes_on && !discarded);
                pipe.push(Travelling { due, packet, discarded });
            }
        }
        self.decided = decided;
        let due = self.pipes[at.0 as usize].due();
        if due != self.heads.time_of(at.0) {
            self.heads.set(at.0, due);
        }
    }

    /// One direction of a link tells the other something.
    fn tell_opposite(&mut self, at: PipeId, across: rlc::Across) {
        let Some(other) = self.pipes[at.0 as usize].opposite else { return };
        let pipe = &mut self.pipes[other.0 as usize];
        if let Line::Element(element) = &mut pipe.line {
            element.handle_across(self.now, across);
            let due = pipe.due();
            self.heads.set(other.0, due);
        }
    }

    /// A link layer tells something to the hosts behind it.
    fn tell_hosts(&mut self, at: PipeId, report: &LinkReport) {
        let now = self.now;
        for carried in &mut self.flows {
            let ends = [(Side::Destination, &carried.flow.forward), (Side::Source, &carried.flow.backward)];
            let [there, back] = ends.map(|(side, path)| (path.last() == Some(&at)).then_some(side));
            for side in [there, back].into_iter().flatten() {
                if let Some(endpoint) = endpoint_of(&mut carried.flow, side) {
                    endpoint.handle_report(now, report);
                }
            }
        }
    }

    fn lose(&mut self, packet: &Packet, pipe: PipeId, reason: LossReason) {
        let kind = reason as usize;
        self.pipes[pipe.0 as usize].account.lost[kind] += 1;
        let Carried { flow, account, .. } = &mut self.flows[packet.flow.0 as usize];
        if flow.traffic.is_outside() {
            note_left(&mut self.left, packet, self.now, Some((pipe, reason)));
        }
        if !packet.forward {
            account.lost_back[kind] += 1;
            return;
        }
        account.lost[kind] += 1;
        account.tags_lost[kind] += u64::from(packet.priority == Priority::Low);
        let (Traffic::Tcp(connection), Body::Tcp(segment)) = (&mut flow.traffic, &packet.body) else {
            return;
        };
        account.lost_to_overshoot += u64::from(reason.is_congestion() && packet.early);
        if connection.judged
            && !packet.again
            && segment.len > 0
            && let Some(start) = connection.destination.offset_from_peer(segment.seq)
        {
            let range = Range { start, end: start + u64::from(segment.len) };
            connection.unjudged.push((range, reason));
        }
    }

    /// The first packet on a pipe has reached its destination. It is read where it lies, and then removed.
    #[inline]
    fn deliver(&mut self, pipe: u32, id: FlowId, forward: bool) {
        let side = if forward { Side::Destination } else { Side::Source };
        let now = self.now;
        let Carried { flow, account, .. } = &mut self.flows[id.0 as usize];
        let mut told = None;
        match &mut flow.traffic {
            Traffic::Datagrams(source) => {
                account.datagrams += 1;
                if source.is_outside
                    && let Some(first) = self.pipes[pipe as usize].first()
                {
                    note_left(&mut self.left, &first.packet, now, None);
                }
            }
            Traffic::Tcp(connection) => {
                let mut arriving = Arriving::default();
                if forward && connection.destination.wants_true_window() {
                    arriving.true_window = Some(connection.source.window_in_segments());
                }
                let (endpoint, peer) = match side {
                    Side::Source => (&mut connection.source, &connection.destination),
                    Side::Destination => (&mut connection.destination, &connection.source),
                };
                if endpoint.wants_counts() {
                    let uplink = if forward { flow.backward[0] } else { flow.forward[0] };
                    let account = &self.pipes[uplink.0 as usize].account;
                    endpoint.handle_counts(&peer.sender_counts(), &account.uplink_counts());
                }
                if endpoint.wants_uplink() {
                    let uplink = if forward { flow.backward[0] } else { flow.forward[0] };
                    arriving.uplink = self.pipes[uplink.0 as usize].line.backlog(now);
                    told = Some(uplink);
                }
                if let Some(first) = self.pipes[pipe as usize].first()
                    && let Body::Tcp(segment) = &first.packet.body
                {
                    arriving.marked = first.packet.ecn == Ecn::Ce;
                    endpoint.handle_segment(now, segment, &arriving);
                }
            }
        }
        let pipe_state = &mut self.pipes[pipe as usize];
        pipe_state.drop_first();
        self.heads.set(pipe, pipe_state.due());
        self.pump(id, side);
        if let Some(uplink) = told {
            self.tell_backlog(id, side, uplink);
        }
    }

    /// A link layer has given a packet up; the host behind it hears of it if the link is its own.
    fn report(&mut self, packet: &Packet, at_host: bool) {
        let (Body::Tcp(segment), true) = (&packet.body, at_host) else { return };
        let side = if packet.forward { Side::Destination } else { Side::Source };
        let report = LinkReport::Discarded { seq: segment.seq, len: segment.len };
        let now = self.now;
        if let Some(endpoint) = endpoint_of(&mut self.flows[packet.flow.0 as usize].flow, side) {
            endpoint.handle_report(now, &report);
        }
    }

    /// Tells an endpoint how long its uplink queue is now that its ACKs are in it.
    fn tell_backlog(&mut self, flow: FlowId, side: Side, uplink: PipeId) {
        let now = self.now;
        let after = self.pipes[uplink.0 as usize].line.backlog(now);
        if let Some(endpoint) = endpoint_of(&mut self.flows[flow.0 as usize].flow, side) {
            endpoint.handle_backlog(now, after);
        }
        self.drain_events(flow, side);
    }

    /// A timer's place in the agenda has come up: its deadline is now, or has moved.
    fn fire(&mut self, timer: u32) {
        let id = FlowId(timer / 2);
        let side = if timer.is_multiple_of(2) { Side::Source } else { Side::Destination };
        let now = self.now;
        let Carried { flow, routes: [route, _], .. } = &mut self.flows[id.0 as usize];
        let route = *route;
        let next = match &mut flow.traffic {
            Traffic::Datagrams(source) if now < source.stop => {
                let mut packet = datagram((self.packets, id, route), source, flow.overhead);
                self.packets += 1;
                let (next, stop) = (source.next, source.stop);
                self.send_datagram(&mut packet);
                if next < stop { next } else { Time::NEVER }
            }
            Traffic::Datagrams(_) => Time::NEVER,
            Traffic::Tcp(connection) => {
                let endpoint = match side {
                    Side::Source => &mut connection.source,
                    Side::Destination => &mut connection.destination,
                };
                if side == Side::Source && endpoint.state() == State::Closed && now >= flow.start {
                    endpoint.open(now);
                    self.pump(id, side);
                } else if endpoint.poll_timeout() <= now {
                    endpoint.handle_timeout(now);
                    self.pump(id, side);
                }
                self.deadline(id, side)
            }
        };
        self.timers.renew(timer, next);
    }

    fn deadline(&self, id: FlowId, side: Side) -> Time {
        match (&self.flows[id.0 as usize].flow.traffic, side) {
            (Traffic::Tcp(connection), Side::Source) => connection.source.poll_timeout(),
            (Traffic::Tcp(connection), Side::Destination) => connection.destination.poll_timeout(),
            (Traffic::Datagrams(_), _) => Time::NEVER,
        }
    }

    /// Sends what an endpoint has to send, and notes its next deadline.
    #[inline]
    fn pump(&mut self, id: FlowId, side: Side) {
        let now = self.now;
        let route = self.flows[id.0 as usize].routes[usize::from(side == Side::Destination)];
        let first = self.routes[route as usize][0];
        let mut packet = Packet {
            number: 0,
            flow: id,
            route,
            wire_bytes: 0,
            forward: side == Side::Source,
            again: false,
            early: false,
            ecn: Ecn::NotEct,
            priority: Priority::Normal,
            hop: 0,
            body: Body::Tcp(Segment::default()),
        };
        loop {
            let flow = &mut self.flows[id.0 as usize].flow;
            let overhead = flow.overhead;
            let Some(endpoint) = endpoint_of(flow, side) else { return };
            let Body::Tcp(segment) = &mut packet.body else { return };
            let Some(sending) = endpoint.poll_segment_into(now, segment) else { break };
            let counters = endpoint.counters();
            packet.early = counters.recoveries + counters.timeouts == 0;
            packet.wire_bytes = wire_bytes(segment, overhead);
            packet.again = sending.again;
            packet.ecn = if sending.ecn_capable { Ecn::Ect0 } else { Ecn::NotEct };
            packet.priority = sending.priority;
            packet.number = self.packets;
            packet.hop = 0;
            self.packets += 1;
            self.send(&mut packet, first);
            if !sending.more {
                break;
            }
        }
        self.settle(id, side);
    }

    /// After an endpoint has acted: its deadline, its events, its end.
    #[inline]
    fn settle(&mut self, id: FlowId, side: Side) {
        let now = self.now;
        let carried = &mut self.flows[id.0 as usize];
        let Some(endpoint) = endpoint_of(&mut carried.flow, side) else { return };
        if endpoint.state() == State::CloseWait {
            // The receiving application has read everything and closes its side too.
            endpoint.close();
            carried.account.completed.get_or_insert(now);
            self.pump(id, side);
            return;
        }
        let deadline = endpoint.poll_timeout();
        let has_events = endpoint.has_events();
        self.timers.at_latest(timer_of(id.0 as usize, side), deadline);
        if has_events {
            self.drain_events(id, side);
        }
    }

    fn drain_events(&mut self, id: FlowId, side: Side) {
        let Carried { flow, account, .. } = &mut self.flows[id.0 as usize];
        let Traffic::Tcp(connection) = &mut flow.traffic else { return };
        loop {
            let endpoint = match side {
                Side::Source => &mut connection.source,
                Side::Destination => &mut connection.destination,
            };
            let Some((time, event)) = endpoint.poll_event() else { return };
            if let Event::Judged { range, cause } = event {
                let by_mark = side == Side::Source && connection.source.sender().judges_by_mark();
                match by_mark {
                    true => account.accuracy.settle_one(&mut connection.unjudged, range, cause),
                    false => account.accuracy.settle(&mut connection.unjudged, range, cause),
                }
            }
            if let Some(observer) = &mut self.observer {
                observer.on_event(time, id, side, &event);
            }
        }
    }
}

fn endpoint_of(flow: &mut Flow, side: Side) -> Option<&mut Endpoint> {
    match (&mut flow.traffic, side) {
        (Traffic::Tcp(connection), Side::Source) => Some(&mut connection.source),
        (Traffic::Tcp(connection), Side::Destination) => Some(&mut connection.destination),
        (Traffic::Datagrams(_), _) => None,
    }
}

/// Out of the way of what is simulated.
#[cold]
fn note_left(left: &mut Vec<Left>, packet: &Packet, at: Time, lost: Option<(PipeId, LossReason)>) {
    let (number, forward, ecn) = (packet.number, packet.forward, packet.ecn);
    left.push(Left { number, forward, at, ecn, lost });
}

fn timer_of(flow: usize, side: Side) -> u32 {
    2 * flow as u32 + u32::from(side == Side::Destination)
}

fn wire_bytes(segment: &Segment, overhead: Overhead) -> u32 {
    segment.len
        + match overhead {
            Overhead::Real => TCP_IPV4_HEADER + segment.option_bytes(),
            Overhead::Fixed(bytes) => bytes,
        }
}

fn datagram((number, flow, route): (u64, FlowId, u32), source: &mut Datagrams, overhead: Overhead) -> Packet {
    let within_flow = source.emit();
    let header = match overhead {
        Overhead::Real => UDP_IPV4_HEADER,
        Overhead::Fixed(bytes) => bytes,
    };
    Packet {
        number,
        flow,
        route,
        wire_bytes: source.packet + header,
        forward: true,
        again: false,
        early: false,
        ecn: Ecn::NotEct,
        priority: Priority::Normal,
        hop: 0,
        body: Body::Datagram { number: within_flow },
    }
}

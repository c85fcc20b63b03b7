//! [`Engine`]: packets on links and in queueing elements, and their losses.

use super::{Engine, IN_HOST};
use crate::observer::{Fate, Observer};
use crate::pipe::{Behind, PipeId};
use crate::ring::Condition;
use lasthop_base::Time;
use lasthop_net::across::Across;
use lasthop_net::{Line, Output, Passage};
use lasthop_wire::{LossReason, Packet};

impl Engine {
    /// Handles the next event of a pipe: an arrival or an element's deadline.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn arrive(&mut self, pipe: u32, room: &mut Packet) {
        let here = &mut self.pipes[pipe as usize];
        if let Line::Element(element) = &mut here.line
            && here.travelling.first().is_none_or(|first| first.due > self.now)
        {
            element.handle_timeout(self.now, &mut self.decided);
            if self.goes_on_at_element(pipe) {
                self.take_decisions(PipeId(pipe))
            } else {
                self.decided.clear()
            }
            return;
        }
        let Some(first) = here.travelling.first() else { return };
        if first.arrives { self.deliver(pipe, room) } else { self.pass_on(pipe) }
    }

    /// Forwards the first packet of a pipe, or reports that the link layer discarded it.
    #[inline(never)]
    fn pass_on(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        let Some(first) = here.travelling.first() else { return };
        let (mut packet, next, condition) = (first.packet, first.next(), first.condition);
        let is_news = condition != Condition::Whole;
        here.travelling.drop_first();
        here.passing -= u32::from(next.is_some() && !is_news);
        let behind = here.behind;
        self.heads.set(pipe, here.due());
        match next {
            _ if is_news => self.report(&packet, next.is_none(), condition == Condition::Damaged),
            Some(next) => {
                match behind {
                    Behind::Nothing | Behind::Medium(_) => {}
                    Behind::Host => self.number(&mut packet),
                    Behind::Middlebox(node) => return self.pass(node, packet),
                }
                packet.hop = packet.hop.wrapping_add(1);
                let there = &mut self.pipes[next.0 as usize];
                if let Line::Element(_) = there.line {
                    there.account.offered += 1;
                    return self.join_element(&mut packet, next);
                }
                self.send(&mut packet, next);
            }
            None => {}
        }
    }

    /// Sends a packet into a pipe, and on through all following pipes that no other packet can enter meanwhile.
    #[inline(never)]
    pub(super) fn send(&mut self, packet: &mut Packet, mut at: PipeId) {
        let mut now = self.now;
        let (pipes, nexts) = (&mut self.pipes[..], &self.nexts);
        let mut place = nexts.place(packet);
        loop {
            let pipe = &mut pipes[at.0 as usize];
            pipe.account.offered += 1;
            let due = match &mut pipe.line {
                Line::Link(link) if link.is_plain() => link.pass(now, packet.wire_bytes),
                Line::Link(link) => match link.carry(now, packet) {
                    Passage::Arrives { at } => at,
                    Passage::Lost { at: due, reason, readable } => {
                        return self.lose_under_way(packet, at, now, (due, readable), reason);
                    }
                },
                Line::Element(_) => return self.enter_element(packet, at),
            };
            pipe.account.carried_bytes += u64::from(packet.wire_bytes);
            let next = nexts.at(place);
            if pipe.is_watched {
                if let Some(observer) = &mut self.observer {
                    tell_arrival(&mut **observer, (now, due), at, packet, next.pipe().is_none());
                }
                if let Some(waits) = &mut pipe.waits {
                    waits.note(due.since(now));
                }
            }
            if let Some(next) = next.eager()
                && due <= self.horizon
                && pipe.passing == 0
            {
                packet.hop += 1;
                place += 1;
                now = due;
                at = next;
                continue;
            }
            let next = next.pipe();
            pipe.passing += u32::from(next.is_some());
            if pipe.travelling.push(due, packet, next, Condition::Whole) {
                self.heads.begin(at.0, due);
            }
            return;
        }
    }

    /// Handles a loss on the pipe that the packet joined at `now`; a link-layer discard is reported at `due`.
    #[cold]
    fn lose_under_way(
        &mut self,
        packet: &Packet,
        at: PipeId,
        now: Time,
        (due, readable): (Time, bool),
        reason: LossReason,
    ) {
        if let Some(observer) = &mut self.observer {
            tell_fate(&mut **observer, now, at, packet, Fate::Lost(reason));
        }
        self.lose(packet, at, reason);
        if !reason.is_detected() {
            return;
        }
        let next = self.nexts.behind(packet);
        let condition = if readable { Condition::Damaged } else { Condition::GivenUp };
        if self.pipes[at.0 as usize].travelling.push(due, packet, next, condition) {
            self.heads.begin(at.0, due);
        }
    }

    /// Sends a packet through its host's own pipe. The packet is numbered when it leaves the host.
    #[cold]
    pub(super) fn pass_in_host(&mut self, packet: &mut Packet, at: PipeId) {
        packet.hop = IN_HOST;
        self.join_element(packet, at);
    }

    pub(super) fn number(&mut self, packet: &mut Packet) {
        packet.number = self.packets;
        self.packets += 1;
    }

    /// Sends a packet that no endpoint made. Separate, so that [`Engine::send`] is inlined only where endpoints send.
    #[inline(never)]
    pub(super) fn send_datagram(&mut self, packet: &mut Packet) {
        let first = self.routes[packet.route as usize][0];
        self.send(packet, first);
    }

    /// [`Engine::join_element`], not inlined.
    #[inline(never)]
    fn enter_element(&mut self, packet: &mut Packet, at: PipeId) {
        self.join_element(packet, at);
    }

    /// Adds a packet to an element and applies the element's decisions.
    #[inline(always)]
    pub(super) fn join_element(&mut self, packet: &mut Packet, at: PipeId) {
        let now = self.now;
        if let Some(observer) = self.observer.as_mut().filter(|_| packet.hop != IN_HOST) {
            observer.on_packet(now, at, packet, Fate::Open);
        }
        let pipe = &mut self.pipes[at.0 as usize];
        if let Line::Element(element) = &mut pipe.line {
            packet.enqueued_at = now;
            element.handle_packet(now, *packet, &mut self.decided);
        }
        if !self.decided.is_empty() {
            return self.take_decisions(at);
        }
        let due = pipe.due();
        if due != self.heads.time_of(at.0) {
            self.heads.set(at.0, due);
        }
    }

    /// Applies an element's decisions and updates the pipe's due time.
    #[inline(never)]
    pub(super) fn take_decisions(&mut self, at: PipeId) {
        let pipe = &mut self.pipes[at.0 as usize];
        match &self.decided[..] {
            [] => {}
            [Output::Arrives { packet, at: due }] if self.observer.is_none() => {
                pipe.account.carried_bytes += u64::from(packet.wire_bytes);
                if let Some(waits) = &mut pipe.waits {
                    waits.note(due.since(packet.enqueued_at));
                }
                let next = self.nexts.behind(packet);
                pipe.passing += u32::from(next.is_some());
                pipe.travelling.push(*due, packet, next, Condition::Whole);
                self.decided.clear();
            }
            _ => return self.take_all(at),
        }
        self.heads.set(at.0, pipe.due());
    }

    #[inline(never)]
    fn take_all(&mut self, at: PipeId) {
        let now = self.now;
        let mut decided = std::mem::take(&mut self.decided);
        let mut copied = None;
        if let Some(Output::Copied { packet }) = decided.last() {
            // Before the original's fate is applied.
            self.twins.add(packet);
        }
        for output in &decided {
            let (packet, due, lost) = match output {
                Output::Arrives { packet, at } => (packet, *at, None),
                Output::Lost { packet, at, reason, readable } => (packet, *at, Some((*reason, *readable))),
                Output::Copied { packet } => {
                    copied = Some(*packet);
                    continue;
                }
                Output::Troubled { packet, trouble } => {
                    self.tell_failing(packet, *trouble);
                    continue;
                }
                Output::Report(report) => {
                    self.tell_hosts(at, report);
                    continue;
                }
                Output::Across(across) => {
                    self.tell_opposite(at, *across);
                    continue;
                }
                Output::GivenUp { packet, at: due } => {
                    let next = self.nexts.behind(packet);
                    self.pipes[at.0 as usize].travelling.push(*due, packet, next, Condition::GivenUp);
                    continue;
                }
            };
            // A damaged packet's fate is reported at its host.
            let is_open = packet.damaged && lost.is_none() && self.nexts.behind(packet).is_none();
            if let Some(observer) = self.observer.as_mut().filter(|_| packet.hop != IN_HOST && !is_open) {
                observer.on_fate(
                    now,
                    at,
                    packet,
                    lost.map_or(Fate::Arrives(due), |(reason, _)| Fate::Lost(reason)),
                );
            }
            match lost {
                None => {
                    let pipe = &mut self.pipes[at.0 as usize];
                    pipe.account.carried_bytes += u64::from(packet.wire_bytes);
                    if let Some(waits) = &mut pipe.waits {
                        waits.note(due.since(packet.enqueued_at));
                    }
                }
                Some((reason, _)) => self.lose(packet, at, reason),
            }
            if lost.is_none_or(|(reason, _)| reason.is_detected()) && due < Time::NEVER {
                let next = self.nexts.behind(packet);
                let condition = match lost {
                    None => Condition::Whole,
                    Some((_, false)) => Condition::GivenUp,
                    Some((_, true)) => Condition::Damaged,
                };
                let pipe = &mut self.pipes[at.0 as usize];
                pipe.passing += u32::from(next.is_some() && lost.is_none());
                pipe.travelling.push(due, packet, next, condition);
            }
        }
        decided.clear();
        self.decided = decided;
        let due = self.pipes[at.0 as usize].due();
        if due != self.heads.time_of(at.0) {
            self.heads.set(at.0, due);
        }
        if let Some(packet) = copied {
            self.join_copy(packet, at);
        }
    }

    pub(super) fn lose(&mut self, packet: &Packet, pipe: PipeId, reason: LossReason) {
        self.pipes[pipe.0 as usize].account.lost[reason] += 1;
        self.twins.end(packet, false);
        if reason.is_congestion() && !self.nodes.is_empty() {
            self.tell_refused(packet);
        }
        let carried = &mut self.flows[packet.flow.0 as usize];
        if carried.traffic.is_external() {
            self.passing.note_left(packet, self.now, Some((pipe, reason)));
        }
        carried.lose(packet, reason);
    }

    /// Adds the copy of a packet that a link has duplicated, with a new number, behind the original.
    #[cold]
    fn join_copy(&mut self, original: Packet, at: PipeId) {
        let mut packet = Packet { is_retransmission: true, ..original };
        self.number(&mut packet);
        let carried = &mut self.flows[packet.flow.0 as usize];
        carried.account.rest().duplicated[usize::from(!packet.forward)] += 1;
        if carried.traffic.is_external() {
            self.passing.note_copy(&packet, original.number);
        }
        if let Some(observer) = &mut self.observer {
            observer.on_copied(self.now, at, &packet);
        }
        let pipe = &mut self.pipes[at.0 as usize];
        pipe.account.offered += 1;
        if let Line::Element(element) = &mut pipe.line {
            element.handle_copy(self.now, packet, &mut self.decided);
        }
        self.take_decisions(at);
    }

    /// Passes a notice between the directions of a link, or between a medium's arbiter and its members.
    fn tell_opposite(&mut self, at: PipeId, across: Across) {
        let pipe = &self.pipes[at.0 as usize];
        let other = match (across, pipe.behind) {
            (Across::Air { member, .. }, Behind::Medium(medium)) => self.media.member(medium, member),
            _ => pipe.opposite,
        };
        if let Some(other) = other {
            self.tell_across(other, across);
            let due = self.pipes[other.0 as usize].due();
            self.heads.set(other.0, due);
        }
    }

    pub(super) fn tell_across(&mut self, pipe: PipeId, across: Across) {
        if let Line::Element(element) = &mut self.pipes[pipe.0 as usize].line {
            element.handle_across(self.now, across);
        }
    }
}

#[cold]
fn tell_arrival(
    observer: &mut dyn Observer,
    (now, due): (Time, Time),
    at: PipeId,
    packet: &Packet,
    is_last: bool,
) {
    let fate = if packet.damaged && is_last { Fate::Open } else { Fate::Arrives(due) };
    observer.on_packet(now, at, packet, fate);
}

#[cold]
fn tell_fate(observer: &mut dyn Observer, now: Time, at: PipeId, packet: &Packet, fate: Fate) {
    observer.on_packet(now, at, packet, fate);
}

//! [`Engine`]: packets on links and in queueing elements, and lost packets.

use super::flow_state::HostStep;
use super::{Engine, IN_HOST};
use crate::flow::{NoEndpoint, Traffic};
use crate::observer::{Fate, Observer};
use crate::pipe::{PipeEnd, PipeId};
use crate::ring::EntryKind;
use lasthop_base::Time;
use lasthop_net::peer_message::PeerMessage;
use lasthop_net::{LinkDirection, Output, Passage};
use lasthop_wire::{LossReason, Packet};

impl Engine {
    /// Handles the next event of a pipe: an arrival, or the deadline of its queueing element.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub(super) fn handle_pipe_event(&mut self, pipe: u32, scratch: &mut Packet) {
        let here = &mut self.pipes[pipe as usize];
        if let LinkDirection::Element(element) = &mut here.line
            && here.in_flight.first().is_none_or(|first| first.due > self.now)
        {
            element.handle_timeout(self.now, &mut self.decisions);
            if self.may_continue_at_element(pipe) {
                self.apply_decisions(PipeId(pipe))
            } else {
                self.decisions.clear()
            }
            return;
        }
        let Some(first) = here.in_flight.first() else { return };
        if first.reaches_host { self.deliver(pipe, scratch) } else { self.forward_first(pipe) }
    }

    /// Forwards the first packet of a pipe, or reports that the link layer has discarded this packet.
    #[inline(never)]
    fn forward_first(&mut self, pipe: u32) {
        let here = &mut self.pipes[pipe as usize];
        let Some(first) = here.in_flight.first() else { return };
        let (mut packet, next, kind) = (first.packet, first.next(), first.kind);
        let is_discard_notice = kind != EntryKind::Packet;
        here.in_flight.drop_first();
        here.continuing -= u32::from(next.is_some() && !is_discard_notice);
        let end = here.end;
        self.event_queue.set(pipe, here.due());
        match next {
            _ if is_discard_notice => {
                self.report_discard(&packet, next.is_none(), kind == EntryKind::DiscardedReadable)
            }
            Some(next) => {
                match end {
                    PipeEnd::Forwarder | PipeEnd::Medium(_) => {}
                    PipeEnd::HostExit => self.assign_number(&mut packet),
                    PipeEnd::Middlebox(node) => return self.handle_at_node(node, packet),
                }
                packet.hop = packet.hop.wrapping_add(1);
                let there = &mut self.pipes[next.0 as usize];
                if let LinkDirection::Element(_) = there.line {
                    there.account.offered += 1;
                    return self.join_element(&mut packet, next);
                }
                self.send(&mut packet, next);
            }
            None => {}
        }
    }

    /// Sends a packet into a pipe. The same call also moves the packet over the following hops that are fused with this
    /// hop, that is, handled in one event.
    #[inline(never)]
    pub(super) fn send(&mut self, packet: &mut Packet, mut at: PipeId) {
        let mut now = self.now;
        let (pipes, next_hops) = (&mut self.pipes[..], &self.next_hops);
        let mut hop_index = next_hops.index_of(packet);
        loop {
            let pipe = &mut pipes[at.0 as usize];
            pipe.account.offered += 1;
            let due = match &mut pipe.line {
                LinkDirection::Link(link) if link.is_plain() => link.pass(now, packet.wire_bytes),
                LinkDirection::Link(link) => match link.carry(now, packet) {
                    Passage::Arrives { at } => at,
                    Passage::Lost { at: due, reason, readable } => {
                        return self.lose_on_pipe(packet, at, now, (due, readable), reason);
                    }
                },
                LinkDirection::Element(_) => return self.enter_element(packet, at),
            };
            pipe.account.carried_bytes += u64::from(packet.wire_bytes);
            let next = next_hops.at(hop_index);
            if pipe.is_observed {
                if let Some(observer) = &mut self.observer {
                    observe_arrival(&mut **observer, (now, due), at, packet, next.pipe().is_none());
                }
                if let Some(delays) = &mut pipe.delays {
                    delays.record(due.since(now));
                }
            }
            if let Some(next) = next.fusible()
                && due <= self.horizon
                && pipe.continuing == 0
            {
                packet.hop += 1;
                hop_index += 1;
                now = due;
                at = next;
                continue;
            }
            let next = next.pipe();
            pipe.continuing += u32::from(next.is_some());
            if pipe.in_flight.push(due, packet, next, EntryKind::Packet) {
                self.event_queue.insert(at.0, due);
            }
            return;
        }
    }

    /// Handles the loss of a packet on a pipe, which the packet entered at `now`. A discard by the link layer is
    /// reported at `due`.
    #[cold]
    fn lose_on_pipe(
        &mut self,
        packet: &Packet,
        at: PipeId,
        now: Time,
        (due, readable): (Time, bool),
        reason: LossReason,
    ) {
        if let Some(observer) = &mut self.observer {
            observe_fate(&mut **observer, now, at, packet, Fate::Lost(reason));
        }
        self.handle_loss(packet, at, reason);
        if !reason.is_detected() {
            return;
        }
        let next = self.next_hops.after(packet);
        let kind = if readable { EntryKind::DiscardedReadable } else { EntryKind::Discarded };
        if self.pipes[at.0 as usize].in_flight.push(due, packet, next, kind) {
            self.event_queue.insert(at.0, due);
        }
    }

    /// Sets a packet's priority, then sends the packet into the pipe inside its host, or into the pipe `first` if the
    /// host has no pipe. The packet gets its number only when it leaves the host.
    #[cold]
    pub(super) fn send_in_host(&mut self, packet: &mut Packet, first: PipeId, host: HostStep) {
        packet.priority = packet.priority.or(self.flows[packet.flow.0 as usize].priority);
        match host.pipe() {
            Some(pipe) => {
                packet.hop = IN_HOST;
                self.join_element(packet, pipe);
            }
            None => {
                self.assign_number(packet);
                self.send(packet, first);
            }
        }
    }

    pub(super) fn assign_number(&mut self, packet: &mut Packet) {
        packet.number = self.packets;
        self.packets += 1;
    }

    /// Calls [`Engine::join_element`] without inlining it, so that `send` stays small.
    #[inline(never)]
    fn enter_element(&mut self, packet: &mut Packet, at: PipeId) {
        self.join_element(packet, at);
    }

    /// Adds a packet to a pipe's queueing element and applies the element's decisions.
    #[inline(always)]
    pub(super) fn join_element(&mut self, packet: &mut Packet, at: PipeId) {
        let now = self.now;
        if let Some(observer) = self.observer.as_mut().filter(|_| packet.hop != IN_HOST) {
            observer.on_packet(now, at, packet, Fate::Open);
        }
        let pipe = &mut self.pipes[at.0 as usize];
        if let LinkDirection::Element(element) = &mut pipe.line {
            packet.enqueued_at = now;
            element.handle_packet(now, *packet, &mut self.decisions);
        }
        if !self.decisions.is_empty() {
            return self.apply_decisions(at);
        }
        let due = pipe.due();
        if due != self.event_queue.time_of(at.0) {
            self.event_queue.set(at.0, due);
        }
    }

    /// Applies an element's decisions and updates the pipe's due time.
    #[inline(never)]
    pub(super) fn apply_decisions(&mut self, at: PipeId) {
        let pipe = &mut self.pipes[at.0 as usize];
        match &self.decisions[..] {
            [] => {}
            [Output::Arrives { packet, at: due }] if self.observer.is_none() => {
                pipe.account.carried_bytes += u64::from(packet.wire_bytes);
                if let Some(delays) = &mut pipe.delays {
                    delays.record(due.since(packet.enqueued_at));
                }
                let next = self.next_hops.after(packet);
                pipe.continuing += u32::from(next.is_some());
                pipe.in_flight.push(*due, packet, next, EntryKind::Packet);
                self.decisions.clear();
            }
            _ => return self.apply_each_decision(at),
        }
        self.event_queue.set(at.0, pipe.due());
    }

    #[inline(never)]
    fn apply_each_decision(&mut self, at: PipeId) {
        let now = self.now;
        let mut decisions = std::mem::take(&mut self.decisions);
        let mut copied = None;
        if let Some(Output::Duplicate { packet }) = decisions.last() {
            // The copy must be counted before the original's arrival or loss is applied. Otherwise the original would
            // seem to be the last packet of its datagram.
            self.duplicates.add(packet);
            self.keep_for_copy(packet);
        }
        for output in &decisions {
            let (packet, due, lost) = match output {
                Output::Arrives { packet, at } => (packet, *at, None),
                Output::Lost { packet, at, reason, readable } => (packet, *at, Some((*reason, *readable))),
                Output::Duplicate { packet } => {
                    copied = Some(*packet);
                    continue;
                }
                Output::TransmissionFailed { packet, failures } => {
                    self.report_failures(packet, *failures);
                    continue;
                }
                Output::Report(report) => {
                    self.report_to_hosts(at, report);
                    continue;
                }
                Output::ToPeer(message) => {
                    self.notify_opposite(at, *message);
                    continue;
                }
                Output::LossNoticed { packet, at: due } => {
                    let next = self.next_hops.after(packet);
                    self.pipes[at.0 as usize].in_flight.push(*due, packet, next, EntryKind::Discarded);
                    continue;
                }
            };
            // A damaged packet is discarded by its host. Its loss is therefore reported to the observer only when the
            // packet reaches the host.
            let is_open = packet.damaged && lost.is_none() && self.next_hops.after(packet).is_none();
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
                    if let Some(delays) = &mut pipe.delays {
                        delays.record(due.since(packet.enqueued_at));
                    }
                }
                Some((reason, _)) => self.handle_loss(packet, at, reason),
            }
            if lost.is_none_or(|(reason, _)| reason.is_detected()) && due < Time::NEVER {
                let next = self.next_hops.after(packet);
                let kind = match lost {
                    None => EntryKind::Packet,
                    Some((_, false)) => EntryKind::Discarded,
                    Some((_, true)) => EntryKind::DiscardedReadable,
                };
                let pipe = &mut self.pipes[at.0 as usize];
                pipe.continuing += u32::from(next.is_some() && lost.is_none());
                pipe.in_flight.push(due, packet, next, kind);
            }
        }
        decisions.clear();
        self.decisions = decisions;
        let due = self.pipes[at.0 as usize].due();
        if due != self.event_queue.time_of(at.0) {
            self.event_queue.set(at.0, due);
        }
        if let Some(packet) = copied {
            self.join_copy(packet, at);
        }
    }

    pub(super) fn handle_loss(&mut self, packet: &Packet, pipe: PipeId, reason: LossReason) {
        self.pipes[pipe.0 as usize].account.lost[reason] += 1;
        self.duplicates.count_end(packet, false);
        if reason.is_congestion() && !self.nodes.is_empty() {
            self.report_queue_drop(packet);
        }
        let flow = &mut self.flows[packet.flow.0 as usize];
        if flow.traffic.is_external() {
            self.external_log.record_departure(packet, self.now, Some((pipe, reason)));
        }
        flow.count_loss(packet, reason);
        if let Traffic::NoEndpoint(NoEndpoint::Stack(_)) = flow.traffic {
            self.release_datagram(packet);
        }
    }

    /// Sends a link's copy of a packet into the same link, right after the original. The copy has a new packet number.
    #[cold]
    fn join_copy(&mut self, original: Packet, at: PipeId) {
        let mut packet = Packet { is_retransmission: true, ..original };
        self.assign_number(&mut packet);
        let flow = &mut self.flows[packet.flow.0 as usize];
        flow.account.rest().duplicated[usize::from(!packet.forward)] += 1;
        if flow.traffic.is_external() {
            self.external_log.record_copy(&packet, original.number);
        }
        if let Some(observer) = &mut self.observer {
            observer.on_copy(self.now, at, &packet);
        }
        let pipe = &mut self.pipes[at.0 as usize];
        pipe.account.offered += 1;
        if let LinkDirection::Element(element) = &mut pipe.line {
            element.handle_copy(self.now, packet, &mut self.decisions);
        }
        self.apply_decisions(at);
    }

    /// Passes a message to the opposite direction of a link, or between a medium's arbiter and a member of the medium.
    fn notify_opposite(&mut self, at: PipeId, message: PeerMessage) {
        let pipe = &self.pipes[at.0 as usize];
        let other = match (message, pipe.end) {
            (PeerMessage::Medium { member, .. }, PipeEnd::Medium(medium)) => {
                self.media.member(medium, member)
            }
            _ => pipe.opposite,
        };
        if let Some(other) = other {
            self.notify_element(other, message);
            let due = self.pipes[other.0 as usize].due();
            self.event_queue.set(other.0, due);
        }
    }

    pub(super) fn notify_element(&mut self, pipe: PipeId, message: PeerMessage) {
        if let LinkDirection::Element(element) = &mut self.pipes[pipe.0 as usize].line {
            element.handle_peer_message(self.now, message);
        }
    }
}

#[cold]
fn observe_arrival(
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
fn observe_fate(observer: &mut dyn Observer, now: Time, at: PipeId, packet: &Packet, fate: Fate) {
    observer.on_packet(now, at, packet, fate);
}

//! The two connections of one flow, and the data passed between them.

use crate::Decision;
use lasthop_base::{Stream, Time};
use lasthop_tcp::endpoint::{EndReason, reset_for};
use lasthop_tcp::{Arriving, Config, Endpoint, Role, State};
use lasthop_wire::{Body, Ecn, Flags, FlowId, Packet, Priority, Segment, Seq};

/// The two connections of a flow: `near` to the opener, which is the endpoint that sent the SYN, and `far` to the other
/// end.
pub(super) struct Relay {
    flow: FlowId,
    near_config: Config,
    /// The opener's SYN.
    syn: Segment,
    /// Whether the opener's SYN travels forward, that is, from the flow's source to its destination.
    forward: bool,
    /// Connection to the opener; `None` until the node answers the SYN.
    near: Option<Half>,
    far: Half,
    /// Whether the node has reset the connection to the opener, because the connection to the other end failed.
    refused: bool,
}

/// A connection of the node: the connection to the opener, or the connection to the other end.
struct Half {
    endpoint: Endpoint,
    /// Number of received bytes that were passed to the other connection.
    relayed: u64,
    closed: bool,
}

impl Half {
    fn new(endpoint: Endpoint) -> Half {
        Half { endpoint, relayed: 0, closed: false }
    }

    /// Returns the number of payload bytes that the peer has acknowledged. The result is at most `written`.
    fn acknowledged(&self, written: u64) -> u64 {
        self.endpoint.sender().scoreboard().una().saturating_sub(1).min(written)
    }

    /// Passes received data to `to`. The data stays in this endpoint's receive buffer until the peer of `to` has
    /// acknowledged the data.
    fn relay(&mut self, to: &mut Half) {
        let delivered = self.endpoint.delivered();
        if delivered > self.relayed {
            to.endpoint.write(delivered - self.relayed);
            self.relayed = delivered;
        }
        self.endpoint.hold_unread(self.relayed - to.acknowledged(self.relayed));
        if self.endpoint.receiver().has_finished() && !to.closed {
            to.closed = true;
            to.endpoint.close();
        }
        let is_broken = self.endpoint.ended().is_some_and(|how| how != EndReason::Closed);
        if is_broken && to.endpoint.ended().is_none() {
            to.endpoint.abort();
        }
    }

    fn send(&mut self, now: Time, flow: FlowId, forward: bool, out: &mut Vec<Decision>) {
        while let Some(sending) = self.endpoint.poll_segment(now) {
            let counters = self.endpoint.counters();
            out.push(Decision::Emit(Packet {
                is_retransmission: sending.is_retransmission,
                before_first_loss: counters.recoveries + counters.timeouts == 0,
                ecn: sending.ecn,
                priority: sending.priority,
                ..packet(flow, forward, sending.segment)
            }));
        }
    }
}

fn packet(flow: FlowId, forward: bool, segment: Segment) -> Packet {
    Packet {
        number: 0,
        flow,
        wire_bytes: 0,
        forward,
        is_retransmission: false,
        before_first_loss: false,
        damaged: false,
        ecn: Ecn::NotEct,
        priority: Priority::NORMAL,
        route: 0,
        hop: 0,
        enqueued_at: Time::ZERO,
        body: Body::Tcp(segment),
    }
}

impl Relay {
    /// Opens a connection to the other end. The connection's initial sequence number is that of the opener's SYN.
    pub(super) fn new(
        now: Time,
        [near, far]: [Config; 2],
        packet: &Packet,
        syn: &Segment,
        random: &mut Stream,
    ) -> Relay {
        let stream = Stream::named(random.draw(), "far");
        let mut far = Endpoint::new(far, Role::Active, syn.seq, stream);
        far.open(now);
        let (flow, forward) = (packet.flow, packet.forward);
        Relay { flow, near_config: near, syn: *syn, forward, near: None, far: Half::new(far), refused: false }
    }

    /// Answers the opener's SYN with a random initial sequence number, before the other end has answered.
    pub(super) fn answer(&mut self, now: Time, random: &mut Stream) {
        let number = Seq(random.draw() as u32);
        self.answer_with(now, number, random);
    }

    fn answer_with(&mut self, now: Time, number: Seq, random: &mut Stream) {
        let stream = Stream::named(random.draw(), "near");
        let mut near = Endpoint::new(self.near_config.clone(), Role::Passive, number, stream);
        near.open(now);
        near.handle_segment(now, &self.syn, &Arriving::default());
        self.near = Some(Half::new(near));
    }

    pub(super) fn is_over(&self) -> bool {
        let has_ended =
            |half: &Half| half.endpoint.ended().is_some() || half.endpoint.state() == State::TimeWait;
        has_ended(&self.far) && self.near.as_ref().is_none_or(has_ended)
    }

    pub(super) fn handle_segment(
        &mut self,
        now: Time,
        packet: &Packet,
        segment: &Segment,
        random: &mut Stream,
    ) {
        let arriving = Arriving { ecn: packet.ecn };
        if packet.forward == self.forward {
            // A retransmitted SYN from the opener is ignored until the handshake is complete, because the node itself
            // retransmits its SYN to the other end.
            let is_known = segment.seq == self.syn.seq && segment.flags.has(Flags::SYN);
            return match &mut self.near {
                Some(near) if !(is_known && near.endpoint.state() == State::SynReceived) => {
                    near.endpoint.handle_segment(now, segment, &arriving);
                }
                None if segment.flags.has(Flags::RST) => self.far.endpoint.abort(),
                _ => {}
            };
        }
        let was_open = self.far.endpoint.state() != State::SynSent;
        self.far.endpoint.handle_segment(now, segment, &arriving);
        if !was_open && self.far.endpoint.state() == State::Established && self.near.is_none() {
            self.answer_with(now, segment.seq, random);
        }
    }

    pub(super) fn handle_timeout(&mut self, now: Time) {
        for half in self.near.iter_mut().chain([&mut self.far]) {
            if half.endpoint.poll_timeout() <= now {
                half.endpoint.handle_timeout(now);
            }
        }
    }

    pub(super) fn exchange_data(&mut self, now: Time, out: &mut Vec<Decision>) {
        match &mut self.near {
            Some(near) => {
                near.relay(&mut self.far);
                self.far.relay(near);
                near.send(now, self.flow, !self.forward, out);
            }
            None if self.far.endpoint.ended().is_some() && !self.refused => {
                self.refused = true;
                let reset = reset_for(&self.syn).map(|reset| packet(self.flow, !self.forward, reset));
                out.extend(reset.map(Decision::Emit));
            }
            None => {}
        }
        self.far.send(now, self.flow, self.forward, out);
    }

    pub(super) fn deadline(&self) -> Time {
        let near = self.near.as_ref().map_or(Time::NEVER, |near| near.endpoint.poll_timeout());
        near.min(self.far.endpoint.poll_timeout())
    }
}

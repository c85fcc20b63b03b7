//! Views of an endpoint, without an effect: how far the connection has come, and which bytes a sequence number stands for. A
//! chapter of the endpoint.

use super::{Agreed, Ended, Endpoint, State};
use crate::event::Counters;
use crate::receiver::Receiver;
use lasthop_wire::{Flags, Segment, Seq};

impl Endpoint {
    /// Connection state.
    pub fn state(&self) -> State {
        self.state
    }

    /// How the connection ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// What the handshake agreed on.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        self.log.counters()
    }

    /// Whether its sender has noticed a loss so far.
    #[inline(always)]
    pub fn has_noticed_loss(&self) -> bool {
        self.log.has_noticed_loss
    }

    /// The receiving half, to look at.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.receiver.reassembly().next() - 1
    }

    /// What the application has written and was not sent yet, bytes.
    pub fn unsent(&self) -> u64 {
        self.sending.unsent(&self.beginning)
    }

    /// This side's congestion window, segments.
    pub fn window_in_segments(&self) -> f64 {
        self.sender().window() as f64 / f64::from(self.config.segment)
    }

    /// The offset in the peer's stream that a sequence number stands for, near what is expected now.
    pub fn offset_from_peer(&self, seq: Seq) -> Option<u64> {
        self.irs.offset_of(seq, self.receiver.next())
    }

    /// The offset in the peer's stream at which a segment's payload begins, near what is expected now.
    pub fn payload_offset(&self, segment: &Segment) -> Option<u64> {
        if self.state == State::SynSent {
            // Its number is what the peer's SYN-ACK tells.
            return segment.flags.has(Flags::SYN).then_some(1);
        }
        let behind_syn = u64::from(segment.flags.has(Flags::SYN));
        self.offset_from_peer(segment.seq).map(|offset| offset + behind_syn)
    }

    /// The offset in this side's stream that a sequence number stands for, near what is unacknowledged now.
    pub fn offset_to_peer(&self, seq: Seq) -> Option<u64> {
        self.iss.offset_of(seq, self.sending.una())
    }
}

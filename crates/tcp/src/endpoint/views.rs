//! Read-only views of an endpoint.

use super::{Agreed, EndReason, Endpoint, State};
use crate::event::Counters;
use crate::receiver::Receiver;
use lasthop_wire::{Flags, Segment, Seq};

impl Endpoint {
    /// Connection state.
    pub fn state(&self) -> State {
        self.state
    }

    /// Whether the handshake is complete and the connection has not ended.
    pub fn is_open(&self) -> bool {
        self.is_synchronised()
    }

    /// Reason for the end of the connection, if the connection has ended.
    pub fn ended(&self) -> Option<EndReason> {
        self.ended
    }

    /// Negotiated options.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
    }

    /// Counters since the start of the connection.
    pub fn counters(&self) -> Counters {
        self.log.counters()
    }

    /// Whether the sender has detected a loss so far.
    #[inline(always)]
    pub fn has_detected_loss(&self) -> bool {
        self.log.has_detected_loss
    }

    /// The receiving half.
    pub fn receiver(&self) -> &Receiver {
        &self.receiver
    }

    /// Payload bytes received in order.
    pub fn delivered(&self) -> u64 {
        self.receiver.reassembly().next() - 1
    }

    /// Bytes that the application has written and that are not sent yet.
    pub fn unsent(&self) -> u64 {
        self.sending.unsent(&self.pending_sender)
    }

    /// Congestion window of this side, segments.
    pub fn window_in_segments(&self) -> f64 {
        self.sender().window() as f64 / f64::from(self.config.segment)
    }

    /// Offset in the peer's stream for the sequence number `seq` near RCV.NXT.
    pub fn offset_from_peer(&self, seq: Seq) -> Option<u64> {
        self.irs.offset_of(seq, self.receiver.next())
    }

    /// Offset in the peer's stream of the first payload byte of a segment near RCV.NXT.
    pub fn payload_offset(&self, segment: &Segment) -> Option<u64> {
        if self.state == State::SynSent {
            // The peer's initial sequence number arrives with the SYN-ACK, whose payload begins at offset 1.
            return segment.flags.has(Flags::SYN).then_some(1);
        }
        let behind_syn = u64::from(segment.flags.has(Flags::SYN));
        self.offset_from_peer(segment.seq).map(|offset| offset + behind_syn)
    }

    /// Offset in this side's stream for the sequence number `seq` near SND.UNA.
    pub fn offset_to_peer(&self, seq: Seq) -> Option<u64> {
        self.iss.offset_of(seq, self.sending.una())
    }
}

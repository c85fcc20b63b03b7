//! Negotiation of ECN (RFC 3168 §6.1.1, RFC 9768 §3.1), and reports of congestion marks in segments.

use super::accecn::{AccEcn, MarkFeedback, MarkFeedbackSender, field_of, flags_of, handshake_field};
use super::{Arriving, Endpoint};
use lasthop_wire::{Ecn, Flags, Segment};

/// Kind of feedback about congestion marks from receiver to sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Feedback {
    /// No feedback.
    #[default]
    None,
    /// The receiver reports the presence of marks, once per round trip (RFC 3168).
    Classic,
    /// The receiver reports the number of marks (RFC 9768).
    Accurate,
}

/// Number of unanswered SYNs or SYN-ACKs after which further SYNs or SYN-ACKs do not offer AccECN (RFC 9768 §3.1.4).
const ACCECN_TRIES: u32 = 2;

/// Number of unanswered SYNs after which further SYNs do not offer classic ECN, because a node may drop SYNs with ECN
/// (RFC 3168 §6.1.1.1; Linux does the same).
const CLASSIC_TRIES: u32 = 1;

/// Feedback that a host with AccECN chooses for a SYN with value `field` of AE, CWR and ECE (RFC 9768 §3.1.2, §3.1.3).
fn feedback_for_syn(field: u8) -> Feedback {
    match field {
        0b000 => Feedback::None,
        0b011 => Feedback::Classic,
        _ => Feedback::Accurate,
    }
}

/// Feedback that a host with AccECN chooses for a SYN-ACK with value `field` of AE, CWR and ECE, which answers an
/// AccECN SYN.
fn feedback_for_syn_ack(field: u8) -> Feedback {
    match field {
        // The server does not support ECN, or only reflects the bits of the SYN.
        0b000 | 0b111 => Feedback::None,
        0b001 => Feedback::Classic,
        _ => Feedback::Accurate,
    }
}

/// Whether a SYN-ACK with value `field` of AE, CWR and ECE reports that our SYN arrived as sent, not ECN-capable (RFC
/// 9768 §3.2.2.3). The reserved value 0b101 counts as such a report.
fn reports_not_ect(field: u8) -> bool {
    matches!(field, 0b010 | 0b101)
}

impl Endpoint {
    pub(super) fn agree_on_ecn(&self, syn: &Segment, answers_ours: bool) -> Feedback {
        let field = field_of(syn.flags);
        // A SYN requests ECN by ECE and CWR, a SYN-ACK accepts ECN by ECE alone (RFC 3168 §6.1.1).
        let asks = field & 0b011 == if answers_ours { 0b001 } else { 0b011 };
        match (self.config.accecn, answers_ours) {
            (true, false) => feedback_for_syn(field),
            (true, true) => feedback_for_syn_ack(field),
            (false, _) if self.config.ecn && asks => Feedback::Classic,
            (false, _) => Feedback::None,
        }
    }

    /// Sets the code point of data packets, and the mechanism that reports marks to the peer. `arrived`: code point of
    /// the peer's SYN or SYN-ACK.
    pub(super) fn begin_ecn(&mut self, syn: &Segment, answers_ours: bool, arrived: Ecn) {
        let is_accurate = self.agreed.ecn == Feedback::Accurate;
        self.mark_feedback = if is_accurate {
            MarkFeedbackSender::Accurate(Box::new(AccEcn::new(arrived)))
        } else {
            MarkFeedbackSender::Echo((self.config.ecn_echo.build)(&self.config.ecn_echo.values))
        };
        self.echoed = self.mark_feedback.accecn().map_or(Flags::default(), |accecn| accecn.ace());
        let is_mangled = is_accurate && answers_ours && !reports_not_ect(field_of(syn.flags));
        // The SYN-ACK may answer an earlier SYN. If a later SYN offered no ECN, arriving marks are still reported, but
        // nothing ECN-capable is sent (RFC 3168 §6.1.1, RFC 9768 §3.1.5).
        let is_withdrawn = answers_ours && self.has_withdrawn_ecn();
        self.data_ecn = match self.agreed.ecn {
            Feedback::None => Ecn::NotEct,
            _ if is_mangled || is_withdrawn => Ecn::NotEct,
            // Only scalable congestion controls send ECT(1), because they respond to each mark (RFC 9331 §4.3).
            Feedback::Accurate if self.sender().sends_ect1() => Ecn::Ect1,
            Feedback::Classic | Feedback::Accurate => Ecn::Ect0,
        };
    }

    /// Handles a retransmitted SYN of the peer. The negotiated feedback does not change. If this SYN offers no ECN,
    /// nothing ECN-capable is sent, and the SYN-ACK does not offer classic ECN (RFC 3168 §6.1.1, RFC 9768 §3.1.5). The
    /// SYN-ACK encodes `arrived`, the code point of this SYN (§3.1.2).
    pub(super) fn handle_repeated_syn(&mut self, syn: &Segment, arrived: Ecn) {
        if field_of(syn.flags) == 0 {
            self.data_ecn = Ecn::NotEct;
        }
        if let Some(accecn) = self.mark_feedback.accecn_mut() {
            accecn.handshake = arrived;
        }
    }

    /// Whether our last SYN omitted ECN, although configured, because earlier SYNs were not answered in time.
    fn has_withdrawn_ecn(&self) -> bool {
        self.syn_repeats >= if self.config.accecn { ACCECN_TRIES } else { CLASSIC_TRIES }
    }

    pub(super) fn ecn_offer(&mut self, answers: bool) -> Flags {
        let has_failed = self.syn_repeats >= ACCECN_TRIES;
        match (answers, self.agreed.ecn) {
            (false, _) if self.has_withdrawn_ecn() => Flags::default(),
            (false, _) if self.config.accecn => Flags::AE | Flags::CWR | Flags::ECE,
            (false, _) if self.config.ecn => Flags::CWR | Flags::ECE,
            (true, Feedback::Classic) if self.data_ecn == Ecn::NotEct => Flags::default(),
            (true, Feedback::Classic) => Flags::ECE,
            (true, Feedback::Accurate) if has_failed => {
                // This SYN-ACK does not offer ECN, and may be the only SYN-ACK that the peer receives (RFC 9768
                // §3.1.5).
                self.data_ecn = Ecn::NotEct;
                Flags::default()
            }
            (true, Feedback::Accurate) => flags_of(handshake_field(
                self.mark_feedback.accecn().map_or(Ecn::NotEct, |accecn| accecn.handshake),
            )),
            _ => Flags::default(),
        }
    }

    /// Returns two results: whether the marks that the ACK reports reduce cwnd like a loss (never with a scalable
    /// control), and the number of newly marked bytes.
    #[inline]
    pub(super) fn reported_marks(
        &mut self,
        segment: &Segment,
        acked: u64,
        is_handshake: bool,
    ) -> (bool, u32) {
        match self.agreed.ecn {
            Feedback::None => (false, 0),
            Feedback::Classic => (segment.flags.has(Flags::ECE), 0),
            Feedback::Accurate => {
                let marked = self.accurate_marks(segment, acked, is_handshake);
                (marked > 0 && !self.sender().is_scalable(), marked)
            }
        }
    }

    #[cold]
    fn accurate_marks(&mut self, segment: &Segment, acked: u64, is_handshake: bool) -> u32 {
        let Some(accecn) = self.mark_feedback.accecn_mut().filter(|_| !segment.flags.has(Flags::SYN)) else {
            return 0;
        };
        let field = field_of(segment.flags);
        if is_handshake && segment.is_pure_ack() && segment.sack.is_empty() {
            if !accecn.handle_handshake_ack(field) {
                self.data_ecn = Ecn::NotEct;
            }
            return 0;
        }
        // An ACK that acknowledges no new data may have been overtaken by a later ACK (RFC 9768 §3.2.2.2). The next ACK
        // repeats the feedback.
        if acked == 0 {
            return 0;
        }
        let MarkFeedback { marked, mangled } = accecn.handle_feedback(
            field,
            segment.accecn(),
            acked,
            self.sending.segment(&self.pending_sender),
        );
        if mangled {
            self.data_ecn = Ecn::NotEct;
        }
        marked
    }

    /// Counts the mark of a packet. Returns whether to report the mark immediately.
    #[cold]
    pub(super) fn count_mark(&mut self, segment: &Segment, arriving: &Arriving) -> bool {
        let Some(accecn) = self.mark_feedback.accecn_mut() else { return false };
        let is_urgent = accecn.count(arriving.ecn, segment.len);
        self.echoed = accecn.ace();
        is_urgent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 Table 2, and the rules in RFC 9768 §3.1.2 and §3.1.3.
    #[test]
    fn what_is_agreed_on() {
        use Feedback::{Accurate, Classic, None};
        let syns: Vec<Feedback> = (0..8).map(feedback_for_syn).collect();
        assert_eq!(syns, [None, Accurate, Accurate, Classic, Accurate, Accurate, Accurate, Accurate]);
        let syn_acks: Vec<Feedback> = (0..8).map(feedback_for_syn_ack).collect();
        assert_eq!(syn_acks, [None, Classic, Accurate, Accurate, Accurate, Accurate, Accurate, None]);
    }
}

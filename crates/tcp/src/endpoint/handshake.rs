//! Opening of a connection (RFC 9293 §3.5) and negotiation of options.

use super::{Agreed, Arriving, EndReason, Endpoint, Feedback, Role, Special, State};
use crate::config::Config;
use crate::event::Event;
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Ecn, Flags, Segment, Seq};
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Handshake {
    timer: Time,
    pub(super) pending: bool,
    rtt: RttEstimator,
    /// Time of the first SYN or SYN-ACK.
    begun_at: Time,
    /// Sending time of the SYN or SYN-ACK, if sent only once.
    pub(super) sent_at: Option<Time>,
}

/// Length of the timestamps option, padding included, bytes (RFC 7323 appendix A).
pub(super) const TIMESTAMP_BYTES: u32 = 12;
/// Initial RTO for data if the retransmission timer of the SYN has expired (RFC 6298 §5.7).
const SYN_LOST_RTO: Duration = Duration::from_secs(3);
/// Smallest MSS that is accepted from a peer, bytes; a defence against attacks. No link needs a smaller MSS.
pub(super) const SMALLEST_MSS: u32 = 64;

/// Whether `segment` requests a connection from a listener.
///
/// A SYN with FIN does not request a connection, as in Linux. RFC 9293 §3.10.7.2 would queue the FIN. However, only
/// T/TCP (historic, RFC 6247) used SYNs with FIN, and attackers use SYNs with FIN to evade filters.
pub fn opens(segment: &Segment) -> bool {
    segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK | Flags::RST | Flags::FIN)
}

impl Handshake {
    fn new(config: &Config) -> Handshake {
        let (rtt, begun_at) = (RttEstimator::new(&config.rto), Time::ZERO);
        Handshake { timer: Time::NEVER, rtt, begun_at, sent_at: None, pending: false }
    }

    fn start(&mut self, now: Time) {
        self.pending = true;
        self.begun_at = now;
        self.sent_at = Some(now);
        self.timer = now + self.rtt.rto();
    }
}

impl Endpoint {
    pub(super) fn begin_handshake(&mut self, now: Time) {
        self.state = State::SynSent;
        self.start_handshake(now);
    }

    fn start_handshake(&mut self, now: Time) {
        let config = &self.config;
        self.handshake.get_or_insert_with(|| Box::new(Handshake::new(config))).start(now);
    }

    pub(super) fn handshake_timer(&self) -> Time {
        self.handshake.as_ref().map_or(Time::NEVER, |handshake| handshake.timer)
    }

    pub(super) fn handshake_timeout(&mut self, now: Time) {
        let end = self.end_of_handshake();
        let Some(handshake) = self.handshake.as_mut().filter(|handshake| now >= handshake.timer) else {
            return;
        };
        if now >= end {
            return self.end(EndReason::TimedOut);
        }
        handshake.rtt.back_off();
        handshake.pending = true;
        handshake.sent_at = None;
        handshake.timer = (now + handshake.rtt.rto()).min(end);
        self.syn_repeats += 1;
        if self.syn_repeats == self.config.user_timeouts.r1 {
            self.log.trace(now, Event::R1Reached);
        }
    }

    /// Returns to LISTEN because of a reset or a SYN in SYN-RECEIVED (RFC 9293 §3.10.7.4).
    pub(super) fn return_to_listen(&mut self) {
        self.state = State::Listen;
        (self.handshake, self.syn_repeats) = (None, 0);
        self.agreed = Agreed::default();
        (self.echoed, self.data_ecn) = (Flags::default(), Ecn::NotEct);
        self.ts_recent = 0;
        self.receiver.stop();
        // Discards the sender, because the next peer may offer other options.
        self.sending.discard_sender(&mut self.pending_sender, self.config.segment);
    }

    /// Handles a segment in LISTEN (RFC 9293 §3.10.7.2). Data of a SYN is discarded and not acknowledged, because the
    /// source of the SYN is not verified yet. The peer will retransmit the data.
    pub(super) fn handle_in_listen(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if segment.flags.has(Flags::RST) {
            return;
        }
        if segment.flags.has(Flags::ACK) {
            return self.refuse(segment);
        }
        if opens(segment) {
            self.state = State::SynReceived;
            self.agree(segment, false, arriving.ecn);
            self.start_handshake(now);
        }
    }

    pub(super) fn handle_in_syn_sent(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        let acks_our_syn = segment.flags.has(Flags::ACK) && segment.ack == self.iss.at(1);
        if segment.flags.has(Flags::ACK) && !acks_our_syn {
            return self.refuse(segment);
        }
        if segment.flags.has(Flags::RST) {
            if acks_our_syn {
                self.end(EndReason::Refused);
            }
            return;
        }
        if !segment.flags.has(Flags::SYN) {
            return;
        }
        self.agree(segment, acks_our_syn, arriving.ecn);
        if acks_our_syn {
            self.establish(now, u64::from(segment.window));
            self.receiver.acknowledge_now();
            if let Some(accecn) = self.mark_feedback.accecn_mut() {
                accecn.count_syn_ack();
                self.echoed = accecn.ace();
                self.special = Some(Special::HandshakeAck(arriving.ecn));
            }
            self.handle_rest_of_syn_ack(now, segment, arriving);
        } else {
            // Both ends have sent a SYN: simultaneous open (RFC 9293 §3.5, Fig. 7).
            self.state = State::SynReceived;
            self.start_handshake(now);
        }
    }

    /// Handles data and FIN of the SYN-ACK after the connection has opened (RFC 9293 §3.10.7.3).
    pub(super) fn handle_rest_of_syn_ack(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            let range = Range { start: 1, end: 1 + u64::from(segment.len) };
            self.handle_payload(now, segment, range, arriving, false);
        }
    }

    /// Whether `segment` is a retransmission of the SYN that began this connection, and the connection is not open yet.
    pub(super) fn is_repeated_syn(&self, now: Time, segment: &Segment) -> bool {
        self.state == State::SynReceived
            && opens(segment)
            && segment.seq == self.irs
            && !self.fails_paws(now, segment)
    }

    /// Retransmits the SYN-ACK, as Linux does, because a peer in SYN-SENT ignores a bare ACK. The rate limit of
    /// challenge ACKs applies, because SYNs may be forged.
    pub(super) fn retransmit_syn_ack(&mut self, now: Time, syn: &Segment, arriving: &Arriving) {
        if !self.challenges.take(now) {
            return;
        }
        if let Some(stamps) = syn.timestamps.filter(|_| self.agreed.timestamps) {
            self.ts_recent = stamps.value;
        }
        self.handle_repeated_syn(syn, arriving.ecn);
        let end = self.end_of_handshake();
        if let Some(handshake) = &mut self.handshake {
            handshake.pending = true;
            handshake.sent_at = None;
            handshake.timer = (now + handshake.rtt.rto()).min(end);
        }
    }

    /// Whether `segment` is a retransmitted SYN-ACK of a connection with AccECN. Neither data nor an ACK for data has
    /// arrived, so our ACK of the SYN-ACK was probably lost.
    pub(super) fn is_repeated_syn_ack(&self, segment: &Segment) -> bool {
        self.agreed.ecn == Feedback::Accurate
            && self.role == Role::Active
            && segment.flags.has(Flags::SYN)
            && segment.flags.has(Flags::ACK)
            && (segment.seq, segment.ack) == (self.irs, self.iss.at(1))
            && (self.receiver.next(), self.sending.una()) == (1, 1)
    }

    /// Repeats the ACK of the handshake, which encodes the code point of the repeated SYN-ACK (RFC 9768 §3.2.2.1). The
    /// rate limit of challenge ACKs applies.
    pub(super) fn acknowledge_repeated_syn_ack(&mut self, now: Time, arrived: Ecn) {
        if self.challenges.take(now) {
            self.log.rare().challenges += 1;
            self.special = Some(Special::HandshakeAck(arrived));
        }
    }

    /// Time at which the connection aborts if the SYN or SYN-ACK is still unanswered.
    fn end_of_handshake(&self) -> Time {
        let begun_at = self.handshake.as_ref().map_or(Time::ZERO, |handshake| handshake.begun_at);
        self.config.user_timeouts.syn.map_or(Time::NEVER, |limit| begun_at + limit)
    }

    /// Opens the connection, because our SYN is acknowledged. `window`: window that the peer advertises, bytes.
    pub(super) fn establish(&mut self, now: Time, window: u64) {
        self.state = State::Established;
        if self.syn_repeats > 1 {
            // The SYN was retransmitted more than once, so the initial window is one segment (RFC 5681 §3.1, RFC 6928
            // §2).
            Arc::make_mut(&mut self.config).initial_window = 1;
            let mss = self.sending.segment(&self.pending_sender) as u32;
            self.sending.discard_sender(&mut self.pending_sender, mss);
        }
        let first_timeout = (self.syn_repeats > 0).then_some(SYN_LOST_RTO);
        let sent_at = self.handshake.take().and_then(|handshake| handshake.sent_at);
        let rtt = sent_at.map(|sent_at| now.since(sent_at));
        self.sending.open(&mut self.pending_sender, window, rtt, first_timeout);
        // A sender must exist from the start if ACKs report congestion marks or if the fast path is disabled.
        if self.unsent() > 0 || self.agreed.ecn != Feedback::None || !self.config.has_fast_path {
            self.sender();
        }
        if let Some(rtt) = rtt {
            self.receiver.handle_handshake(now, rtt);
        }
        self.last_arrival = now;
        self.start_keep_alive(now);
        self.log.trace(now, Event::Established);
        if self.closes_when_open {
            self.close();
        }
    }

    fn agree(&mut self, syn: &Segment, answers_ours: bool, arrived: Ecn) {
        self.irs = syn.seq;
        let timestamps = self.config.timestamps && syn.timestamps.is_some();
        let scaled = syn.window_scale.is_some();
        self.agreed = Agreed {
            timestamps,
            sack: self.config.sack && syn.sack_permitted,
            ecn: self.agree_on_ecn(syn, answers_ours),
            peer_shift: syn.window_scale.unwrap_or(0).min(14),
            shift: if scaled { self.own_shift() } else { 0 },
        };
        self.begin_ecn(syn, answers_ours, arrived);
        if let Some(stamps) = syn.timestamps.filter(|_| timestamps) {
            self.ts_recent = stamps.value;
        }
        let peer_mss = syn.mss.map_or(self.config.default_mss, u32::from).max(SMALLEST_MSS);
        // Only options that segments actually carry reduce the payload (RFC 9293 §3.7.1, MUST-16).
        let option_bytes = if timestamps { TIMESTAMP_BYTES } else { 0 };
        let mss = peer_mss.min(self.largest_mss()).saturating_sub(option_bytes).max(1);
        let falls_back = !self.agreed.sack && self.sending.sender().is_some_and(|sender| sender.uses_sack());
        if falls_back || u64::from(mss) != self.sending.segment(&self.pending_sender) {
            self.sending.discard_sender(&mut self.pending_sender, mss);
        }
    }

    /// Value of our MSS option: payload of a full segment plus the timestamps option if offered, bytes (RFC 6691 §2).
    fn largest_mss(&self) -> u32 {
        let option_bytes = if self.config.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.config.segment.saturating_add(option_bytes)
    }

    /// Smallest window scale with which the 16-bit window field can express our largest window (RFC 7323 §2.3).
    pub(super) fn own_shift(&self) -> u8 {
        let largest = self.receiver.largest_window();
        (0..14).find(|shift| largest >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    pub(super) fn syn(&mut self, now: Time) -> Segment {
        let is_first = self.handshake.as_ref().is_some_and(|handshake| handshake.sent_at.is_some());
        if let Some(handshake) = &mut self.handshake {
            handshake.pending = false;
        }
        let answers = self.state == State::SynReceived;
        let mut flags = Flags::SYN;
        if answers {
            flags = flags | Flags::ACK;
        }
        flags = flags | self.ecn_offer(answers);
        let timestamps = if answers { self.agreed.timestamps } else { self.config.timestamps };
        // The window in a SYN is never scaled (RFC 7323 §2.2).
        let window = self.receiver.advertise(self.receiver.next(), 0);
        let scales = !answers || self.agreed.shift > 0 || self.agreed.peer_shift > 0;
        let mut syn = Segment {
            seq: self.iss,
            ack: if answers { self.irs.at(1) } else { Seq(0) },
            flags,
            window,
            mss: Some(u16::try_from(self.largest_mss()).unwrap_or(u16::MAX)),
            window_scale: scales.then(|| self.own_shift()),
            sack_permitted: if answers { self.agreed.sack } else { self.config.sack },
            timestamps: timestamps.then(|| self.stamp(now)),
            ..Segment::default()
        };
        // Only the first SYN-ACK carries the AccECN option, because a node may drop packets with unknown options (RFC
        // 9768 §3.2.3.2.2).
        if let Some(accecn) = self.mark_feedback.accecn().filter(|_| answers && is_first) {
            syn.set_accecn(accecn.first_option());
        }
        syn
    }
}

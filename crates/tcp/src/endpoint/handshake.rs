//! Opening a connection (RFC 9293 §3.5), and what its options agree on. A chapter of the endpoint.

use super::{Agreed, Arriving, Ended, Endpoint, Feedback, Role, Special, State};
use crate::config::Config;
use crate::event::Event;
use crate::ranges::Range;
use crate::rtt::RttEstimator;
use lasthop_base::{Duration, Time};
use lasthop_wire::{Ecn, Flags, Segment, Seq};
use std::sync::Arc;

/// The SYN's (or SYN-ACK's) retransmission.
#[derive(Debug)]
pub(super) struct Handshake {
    timer: Time,
    /// Whether a SYN (or SYN-ACK) is to go out.
    pub(super) pending: bool,
    rtt: RttEstimator,
    /// When the SYN went out first.
    begun_at: Time,
    /// When the SYN went out, if once only.
    pub(super) sent_at: Option<Time>,
}

/// Bytes of the timestamps option with its padding, in every segment (RFC 7323 appendix A).
pub(super) const TIMESTAMP_BYTES: u32 = 12;
/// The timeout with which data begins after the SYN's timer has expired (RFC 6298 §5.7).
const SYN_LOST_RTO: Duration = Duration::from_secs(3);
/// Smaller segments than any link asks for only serve attacks.
pub(super) const SMALLEST_MSS: u32 = 64;

/// Whether a segment asks a listener for a connection.
///
/// A SYN with a FIN does not: RFC 9293 §3.10.7.2 would have its FIN wait, but nobody opens and closes in one segment
/// (T/TCP did; RFC 6247 made it history), while those who look for ways past filters do. Linux drops it too.
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

    /// When the SYN (or SYN-ACK) goes out again, [`Time::NEVER`] if at no time.
    pub(super) fn handshake_timer(&self) -> Time {
        self.handshake.as_ref().map_or(Time::NEVER, |handshake| handshake.timer)
    }

    pub(super) fn handshake_timeout(&mut self, now: Time) {
        let end = self.end_of_handshake();
        let Some(handshake) = self.handshake.as_mut().filter(|handshake| now >= handshake.timer) else {
            return;
        };
        if now >= end {
            return self.end(Ended::TimedOut);
        }
        handshake.rtt.back_off();
        handshake.pending = true;
        handshake.sent_at = None;
        handshake.timer = (now + handshake.rtt.rto()).min(end);
        self.syn_repeats += 1;
        if self.syn_repeats == self.config.patience.troubled_after {
            self.log.trace(now, Event::Troubled);
        }
    }

    /// A connection that was not yet open is reset: back to where it came from (RFC 9293 §3.10.7.4).
    pub(super) fn listen_again(&mut self) {
        self.state = State::Listen;
        (self.handshake, self.syn_repeats) = (None, 0);
        self.agreed = Agreed::default();
        (self.echoed, self.data_ecn) = (Flags::default(), Ecn::NotEct);
        self.ts_recent = 0;
        self.receiver.stop();
        // The next peer may offer what this one did not.
        self.sending.begin_anew(&mut self.beginning, self.config.segment);
    }

    /// RFC 9293 §3.10.7.2. The data of a SYN is dropped and not acknowledged: nobody knows yet whether its sender is who
    /// it says; it comes again.
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
                self.end(Ended::Refused);
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
            if let Some(accecn) = self.telling.accecn_mut() {
                accecn.count_syn_ack();
                self.echoed = accecn.ace();
                self.special = Some(Special::HandshakeAck(arriving.ecn));
            }
            self.handle_rest_of_syn_ack(now, segment, arriving);
        } else {
            // Both sides opened at once (RFC 9293 §3.5, Fig. 7).
            self.state = State::SynReceived;
            self.start_handshake(now);
        }
    }

    /// Data and a FIN that come with the SYN-ACK are taken once the connection is open (RFC 9293 §3.10.7.3).
    pub(super) fn handle_rest_of_syn_ack(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if segment.len > 0 || segment.flags.has(Flags::FIN) {
            let range = Range { start: 1, end: 1 + u64::from(segment.len) };
            self.handle_payload(now, segment, range, arriving, false);
        }
    }

    /// Whether it is the SYN that the connection came from, once more, while that is not yet open.
    pub(super) fn is_their_syn_again(&self, now: Time, segment: &Segment) -> bool {
        self.state == State::SynReceived
            && opens(segment)
            && segment.seq == self.irs
            && !self.is_from_the_past(now, segment)
    }

    /// The peer has not heard our SYN-ACK: the SYN-ACK again (as Linux answers), for a bare ACK means nothing in SYN-SENT. As
    /// many as challenge ACKs may be, so that forged SYNs draw few.
    pub(super) fn answer_again(&mut self, now: Time, syn: &Segment, arriving: &Arriving) {
        if !self.challenges.take(now) {
            return;
        }
        if let Some(stamps) = syn.timestamps.filter(|_| self.agreed.timestamps) {
            self.ts_recent = stamps.value;
        }
        self.hear_syn_again(syn, arriving.ecn);
        let end = self.end_of_handshake();
        if let Some(handshake) = &mut self.handshake {
            handshake.pending = true;
            handshake.sent_at = None;
            handshake.timer = (now + handshake.rtt.rto()).min(end);
        }
    }

    /// Whether it is the SYN-ACK once more, at an end that reports marks accurately: our ACK of it was lost, as far as one can
    /// tell, for the peer has sent nothing since, nor acknowledged any data.
    pub(super) fn is_their_syn_ack_again(&self, segment: &Segment) -> bool {
        self.agreed.ecn == Feedback::Accurate
            && self.role == Role::Active
            && segment.flags.has(Flags::SYN)
            && segment.flags.has(Flags::ACK)
            && (segment.seq, segment.ack) == (self.irs, self.iss.at(1))
            && (self.receiver.next(), self.sending.una()) == (1, 1)
    }

    /// The ACK again, which says how this SYN-ACK came (RFC 9768 §3.2.2.1). As many as challenge ACKs may be.
    pub(super) fn acknowledge_syn_ack_again(&mut self, now: Time, arrived: Ecn) {
        if self.challenges.take(now) {
            self.log.seldom().challenges += 1;
            self.special = Some(Special::HandshakeAck(arrived));
        }
    }

    /// When an answer to the SYN (or SYN-ACK) is waited for no longer.
    fn end_of_handshake(&self) -> Time {
        let begun_at = self.handshake.as_ref().map_or(Time::ZERO, |handshake| handshake.begun_at);
        self.config.patience.syn.map_or(Time::NEVER, |limit| begun_at + limit)
    }

    /// Our SYN is acknowledged; `window` is what the peer then advertises, bytes.
    pub(super) fn establish(&mut self, now: Time, window: u64) {
        self.state = State::Established;
        if self.syn_repeats > 1 {
            // Lost more than once: an initial window of one segment (RFC 5681 §3.1, RFC 6928 §2).
            Arc::make_mut(&mut self.config).initial_window = 1;
            let mss = self.sending.segment(&self.beginning) as u32;
            self.sending.begin_anew(&mut self.beginning, mss);
        }
        let careful = (self.syn_repeats > 0).then_some(SYN_LOST_RTO);
        let sent_at = self.handshake.take().and_then(|handshake| handshake.sent_at);
        let rtt = sent_at.map(|sent_at| now.since(sent_at));
        self.sending.open(&mut self.beginning, window, rtt, careful);
        // Who hears of marks with each ACK, or takes no short way, has a sender from the start.
        if self.unsent() > 0 || self.agreed.ecn != Feedback::None || !self.config.has_shortcut {
            self.sender();
        }
        if let Some(rtt) = rtt {
            self.receiver.handle_handshake(now, rtt);
        }
        self.heard_at = now;
        self.watch_peer(now);
        self.log.trace(now, Event::Established);
        if self.closes_when_open {
            self.close();
        }
    }

    /// Takes the options of the peer's SYN.
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
        // Only options that are sent take from the payload (RFC 9293 §3.7.1, MUST-16).
        let option_bytes = if timestamps { TIMESTAMP_BYTES } else { 0 };
        let mss = peer_mss.min(self.largest_mss()).saturating_sub(option_bytes).max(1);
        let falls_back = !self.agreed.sack && self.sending.made().is_some_and(|sender| sender.uses_sack());
        if falls_back || u64::from(mss) != self.sending.segment(&self.beginning) {
            self.sending.begin_anew(&mut self.beginning, mss);
        }
    }

    /// What fits into a segment here, payload and options, bytes: the value of our MSS option (RFC 6691 §2).
    fn largest_mss(&self) -> u32 {
        let option_bytes = if self.config.timestamps { TIMESTAMP_BYTES } else { 0 };
        self.config.segment.saturating_add(option_bytes)
    }

    /// The shift that lets a 16-bit field express the largest window we will ever advertise (RFC 7323 §2.3).
    pub(super) fn own_shift(&self) -> u8 {
        let largest = self.receiver.largest_window();
        (0..14).find(|shift| largest >> shift <= u64::from(u16::MAX)).unwrap_or(14)
    }

    /// The SYN or SYN-ACK.
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
        flags = flags | self.offer_of_ecn(answers);
        let timestamps = if answers { self.agreed.timestamps } else { self.config.timestamps };
        // Never scaled in a SYN (RFC 7323 §2.2).
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
        // Only the first SYN-ACK: somebody on the way may drop what he does not know (RFC 9768 §3.2.3.2.2).
        if let Some(accecn) = self.telling.accecn().filter(|_| answers && is_first) {
            syn.set_accecn(accecn.first_option());
        }
        syn
    }
}

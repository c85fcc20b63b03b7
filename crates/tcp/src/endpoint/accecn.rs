//! Accurate ECN (RFC 9768): counters of packets and bytes by code point, in both directions. Three header bits (the
//! field ACE) and the AccECN option report every mark to the sender.
//!
//! Not modelled: ECN-capable pure ACKs, SYNs and retransmissions (ECN++); path properties cached for later connections
//! (§3.1.4.1); detection of lost ACKs with the help of the option (§3.2.3.2.2); detection of a mangled ECN field from
//! continuous marks (§3.2.2.3).

use crate::receiver::ecn_echo::MarkEcho;
use lasthop_wire::accecn::{AccEcnCounters, CounterOrder};
use lasthop_wire::{Ecn, Flags, Segment};

/// Mechanism that reports received congestion marks to the peer, as negotiated: the ECN echo of RFC 3168, or AccECN.
pub(super) enum MarkFeedbackSender {
    Echo(Box<dyn MarkEcho>),
    Accurate(Box<AccEcn>),
}

impl MarkFeedbackSender {
    #[inline]
    pub(super) fn accecn(&self) -> Option<&AccEcn> {
        match self {
            MarkFeedbackSender::Echo(_) => None,
            MarkFeedbackSender::Accurate(accecn) => Some(accecn),
        }
    }

    #[inline]
    pub(super) fn accecn_mut(&mut self) -> Option<&mut AccEcn> {
        match self {
            MarkFeedbackSender::Echo(_) => None,
            MarkFeedbackSender::Accurate(accecn) => Some(accecn),
        }
    }

    /// Records the arrival of data. Returns the ECN flags that later segments carry.
    pub(super) fn on_data(&mut self, marked: bool) -> Flags {
        self.echo(|echo| echo.on_data(marked))
    }

    pub(super) fn on_reduced(&mut self) -> Flags {
        self.echo(|echo| echo.on_reduced())
    }

    fn echo(&mut self, report: impl Fn(&mut dyn MarkEcho) -> bool) -> Flags {
        match self {
            MarkFeedbackSender::Echo(echo) => {
                if report(&mut **echo) {
                    Flags::ECE
                } else {
                    Flags::default()
                }
            }
            MarkFeedbackSender::Accurate(accecn) => accecn.ace(),
        }
    }
}

/// Value of the field ACE, which consists of AE (the highest bit), CWR and ECE.
pub(super) fn field_of(flags: Flags) -> u8 {
    (flags.0 >> 6 & 0b111) as u8
}

pub(super) fn flags_of(field: u8) -> Flags {
    Flags(u16::from(field & 0b111) << 6)
}

/// Value of ACE in a SYN-ACK, or in the ACK of a SYN-ACK. The value encodes the code point with which the answered SYN
/// or SYN-ACK arrived (RFC 9768 Tables 2 and 3).
pub(super) fn handshake_field(arrived: Ecn) -> u8 {
    match arrived {
        Ecn::NotEct => 0b010,
        Ecn::Ect1 => 0b011,
        Ecn::Ect0 => 0b100,
        Ecn::Ce => 0b110,
    }
}

#[derive(Debug)]
pub(super) struct AccEcn {
    /// Code point with which the peer's SYN or SYN-ACK arrived.
    pub(super) handshake: Ecn,
    /// Number of packets received with CE, plus the initial value 5 (r.cep).
    packets: u32,
    /// Payload received with each ECN code point, bytes, plus the initial values.
    arrived: ByteCounts,
    /// Byte counters that the last AccECN option sent to the peer.
    last_option: ByteCounts,
    /// Whether the next segment tests if the path passes AccECN options, even without changed counters (§3.2.3.2.1).
    tests_path: bool,
    /// Whether the last received packet had CE.
    was_marked: bool,
    /// Number of packets with CE received since the last ACK.
    since_ack: u32,
    /// Number of packets with CE that the peer has reported so far, plus the initial value 5 (s.cep).
    reported_packets: u32,
    /// Bytes with CE that the peer has reported so far (s.ceb).
    reported_bytes: u64,
    has_option: bool,
    /// Whether no feedback has arrived since the handshake.
    is_first: bool,
    /// Whether the sender uses the peer's feedback; false if a node on the path clears ACE (RFC 9768 §3.2.2.4).
    uses_feedback: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ByteCounts {
    ect0: u64,
    ce: u64,
    ect1: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct MarkFeedback {
    /// Bytes with CE that this feedback reports for the first time, at most `u32::MAX`.
    pub(super) marked: u32,
    /// Whether the feedback contradicts itself. If so, this endpoint must not send ECN-capable packets from now on.
    pub(super) mangled: bool,
}

/// Initial value of the packet counters (RFC 9768 §3.2.1).
const FIRST_PACKETS: u32 = 5;
/// Initial values of the byte counters (RFC 9768 §3.2.1).
const FIRST_BYTES: ByteCounts = ByteCounts { ect0: 1, ce: 0, ect1: 1 };
/// Modulus of the 3-bit field ACE.
const ACE_WRAPS: u32 = 8;
/// Modulus of the 24-bit byte counters in the AccECN option.
const BYTES_WRAP: u64 = 1 << 24;
const OPTION_SPACE: u32 = 40;

impl AccEcn {
    pub(super) fn new(handshake: Ecn) -> AccEcn {
        AccEcn {
            handshake,
            packets: FIRST_PACKETS,
            arrived: FIRST_BYTES,
            last_option: FIRST_BYTES,
            tests_path: true,
            was_marked: false,
            since_ack: 0,
            reported_packets: FIRST_PACKETS,
            reported_bytes: FIRST_BYTES.ce,
            has_option: false,
            is_first: true,
            uses_feedback: true,
        }
    }

    /// Sets the packet counter when a SYN-ACK arrives. A SYN-ACK with CE counts as a marked packet (RFC 9768 §3.2.2.2).
    pub(super) fn count_syn_ack(&mut self) {
        self.packets = FIRST_PACKETS + u32::from(self.handshake == Ecn::Ce);
    }

    /// Counts an acceptable packet. Returns whether to send an ACK immediately (RFC 9768 §3.2.2.5.1): at the first mark
    /// after an unmarked packet, or at the second and each later mark since the last ACK.
    pub(super) fn count(&mut self, ecn: Ecn, payload: u32) -> bool {
        let payload = u64::from(payload);
        match ecn {
            Ecn::NotEct => {}
            Ecn::Ect0 => self.arrived.ect0 += payload,
            Ecn::Ect1 => self.arrived.ect1 += payload,
            Ecn::Ce => {
                self.arrived.ce += payload;
                self.packets = self.packets.wrapping_add(1);
                self.since_ack += 1;
            }
        }
        let was_marked = std::mem::replace(&mut self.was_marked, ecn == Ecn::Ce);
        self.was_marked && (!was_marked || self.since_ack > 1)
    }

    pub(super) fn ace(&self) -> Flags {
        flags_of((self.packets % ACE_WRAPS) as u8)
    }

    /// Whether the next segment should carry an AccECN option, which leaves room for fewer SACK blocks.
    pub(super) fn is_due(&self) -> bool {
        self.tests_path || self.arrived != self.last_option
    }

    /// Space, bytes, that full segments leave for the AccECN option; 0 before any ECN-capable packet has arrived.
    pub(super) fn option_bytes(&self) -> u64 {
        if self.arrived == FIRST_BYTES { 0 } else { u64::from(self.counters(self.fields()).padded_bytes()) }
    }

    /// Adds the AccECN option to `segment` if the option is due and fits into `room` bytes and into the TCP header. The
    /// option has all counters that have ever changed. If space is short, the option has at least the counters that
    /// changed since the last option (RFC 9768 §3.2.3.3).
    pub(super) fn add_option(&mut self, room: u64, segment: &mut Segment) {
        self.since_ack = 0;
        if !self.is_due() {
            return;
        }
        let space = u64::from(OPTION_SPACE.saturating_sub(segment.option_bytes())).min(room);
        let fits = |fields: &u8| u64::from(self.counters(*fields).padded_bytes()) <= space;
        let Some(fields) = (self.needed()..=self.fields()).rev().find(fits) else { return };
        segment.set_accecn(self.counters(fields));
        if segment.accecn().is_some() {
            self.last_option = self.arrived;
            self.tests_path = false;
        }
    }

    /// Returns the AccECN option of a SYN-ACK, with all counters (RFC 9768 §3.2.3.2.1).
    pub(super) fn first_option(&self) -> AccEcnCounters {
        self.counters(3)
    }

    fn counters(&self, fields: u8) -> AccEcnCounters {
        let ByteCounts { ect0, ce, ect1 } = self.arrived;
        AccEcnCounters::new(self.order(), fields, ect0, ce, ect1)
    }

    /// Order of the counters in the option: ECT(1) comes first if ECT(1) has arrived, otherwise ECT(0).
    fn order(&self) -> CounterOrder {
        if self.arrived.ect1 == FIRST_BYTES.ect1 { CounterOrder::Ect0First } else { CounterOrder::Ect1First }
    }

    /// Number of counters in an option that includes every counter that has ever changed; at least 1.
    fn fields(&self) -> u8 {
        self.fields_since(&FIRST_BYTES)
    }

    /// Number of counters in an option that includes every counter changed since the last option; at least 1.
    fn needed(&self) -> u8 {
        self.fields_since(&self.last_option)
    }

    fn fields_since(&self, before: &ByteCounts) -> u8 {
        let (first, last) = match self.order() {
            CounterOrder::Ect0First => (self.arrived.ect0 != before.ect0, self.arrived.ect1 != before.ect1),
            CounterOrder::Ect1First => (self.arrived.ect1 != before.ect1, self.arrived.ect0 != before.ect0),
        };
        match (first, self.arrived.ce != before.ce, last) {
            (_, _, true) => 3,
            (_, true, _) => 2,
            _ => 1,
        }
    }

    /// Handles the field ACE in a pure ACK of our SYN-ACK (RFC 9768 §3.2.2.1, Table 4). Returns whether ECN-capable
    /// packets may be sent.
    pub(super) fn handle_handshake_ack(&mut self, field: u8) -> bool {
        self.reported_packets = FIRST_PACKETS + u32::from(field == handshake_field(Ecn::Ce));
        self.uses_feedback = field != 0;
        // Our SYN-ACK was not ECN-capable, so values for ECT(1), ECT(0) or CE show that a node on the path mangles the
        // ECN field. Unassigned values are ignored (Table 4, note 2).
        self.uses_feedback && !matches!(field, 0b011 | 0b100 | 0b110)
    }

    /// Handles the feedback of an ACK for new data (RFC 9768 §3.2.2.5.2, appendix A.1 and A.2). `field`: value of ACE;
    /// `acked`: newly acknowledged bytes; `mss`: payload of a full segment, bytes.
    pub(super) fn handle_feedback(
        &mut self,
        field: u8,
        option: Option<AccEcnCounters>,
        acked: u64,
        mss: u64,
    ) -> MarkFeedback {
        if std::mem::take(&mut self.is_first) && field == 0 {
            // If ACE is zero in the first feedback, a node on the path clears the bits of ACE (RFC 9768 §3.2.2.4).
            self.uses_feedback = false;
            return MarkFeedback { marked: 0, mangled: true };
        }
        if option.is_some() && !self.has_option {
            // The counters of ECT(0) and ECT(1) never start at zero. If the first option contains a zero for ECT(0) or
            // ECT(1), a node on the path has cleared the counters, and the option is ignored (RFC 9768 §3.2.3.2.4).
            let is_cleared = option.is_some_and(|it| it.ect0() == Some(0) || it.ect1() == Some(0));
            self.has_option = !is_cleared;
        }
        let option = option.filter(|_| self.has_option);
        let least = (u32::from(field) + ACE_WRAPS - self.reported_packets % ACE_WRAPS) % ACE_WRAPS;
        let segments = acked.div_ceil(mss.max(1)).min(u64::from(u32::MAX)) as u32;
        let safer = safer(segments, least);
        let (packets, bytes) = match option.and_then(|option| option.ce()) {
            Some(reported) => {
                let bytes = self.bytes_from_option(reported);
                (if is_enough(bytes, least, safer, mss) { least } else { safer }, bytes)
            }
            // Assumes the fewest possible marks: if options reach this endpoint, the next option corrects the number.
            None if self.has_option => (least, self.bytes_estimated(least, mss)),
            None => (safer, self.bytes_estimated(safer, mss)),
        };
        self.reported_packets = self.reported_packets.wrapping_add(packets);
        // The feedback contradicts itself if it reports marked bytes but no marked packet, and too few segments for ACE
        // to wrap (RFC 9768 §3.2.3.2.5).
        let mangled = bytes > 0 && packets == 0 && segments < ACE_WRAPS;
        let marked = if self.uses_feedback { u32::try_from(bytes).unwrap_or(u32::MAX) } else { 0 };
        MarkFeedback { marked, mangled }
    }

    /// Returns the number of marked bytes that the option newly reports. If an earlier estimate was too high, corrects
    /// the estimate and returns 0.
    fn bytes_from_option(&mut self, reported: u32) -> u64 {
        let ahead = (u64::from(reported) + BYTES_WRAP - self.reported_bytes % BYTES_WRAP) % BYTES_WRAP;
        if ahead < BYTES_WRAP / 2 {
            self.reported_bytes += ahead;
            return ahead;
        }
        self.reported_bytes = self.reported_bytes.saturating_sub(BYTES_WRAP - ahead);
        0
    }

    /// Estimates the number of marked bytes from the number of marked packets, until an option corrects the estimate
    /// (RFC 9768 appendix A.3).
    fn bytes_estimated(&mut self, packets: u32, mss: u64) -> u64 {
        let bytes = u64::from(packets) * mss;
        self.reported_bytes += bytes;
        bytes
    }
}

/// Largest possible number of marked packets if ACE has increased by `least` and one ACK acknowledges `segments`
/// segments (RFC 9768 appendix A.2).
fn safer(segments: u32, least: u32) -> u32 {
    match segments.checked_sub(least) {
        Some(more) => segments - more % ACE_WRAPS,
        None => least,
    }
}

/// Whether the marked bytes show that only `least` packets, not `safer`, were marked (RFC 9768 appendix A.2.2).
fn is_enough(bytes: u64, least: u32, safer: u32, mss: u64) -> bool {
    safer <= least || (bytes <= mss * u64::from(least) && 2 * bytes < mss * u64::from(safer))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1460;

    /// RFC 9768 appendix A.2.1: if an ACK for 9 segments increases ACE by 2, 2 packets were marked. If the ACK is for
    /// 10 segments, 10 packets may have been marked.
    #[test]
    fn three_bits_that_may_have_gone_round_are_read_as_if_they_had() {
        assert_eq!((safer(9, 2), safer(10, 2)), (2, 10));
        // RFC 9768 §3.2.2.5.2: the number of marks may exceed the number of acknowledged segments.
        assert_eq!(safer(1, 3), 3);
    }

    /// The three examples of RFC 9768 appendix A.2.2.
    #[test]
    fn bytes_tell_whether_they_have() {
        assert!(!is_enough(1460, 0, 8, MSS));
        assert!(is_enough(1460, 2, 10, MSS));
        assert!(is_enough(10_200, 7, 15, MSS));
    }

    /// RFC 9768 appendix A.1: s.ceb = 33,554,433 and ECEB = 1461 give 1460 newly marked bytes.
    #[test]
    fn counters_of_24_bits_wrap() {
        let mut accecn = AccEcn::new(Ecn::NotEct);
        accecn.reported_bytes = 33_554_433;
        assert_eq!(accecn.bytes_from_option(1461), 1460);
        assert_eq!(accecn.reported_bytes, 33_555_893);
    }

    /// The feedback reports every mark of a long sequence to the sender, with and without the option. Each ACK
    /// acknowledges two segments.
    #[test]
    fn no_mark_is_lost() {
        for options in [true, false] {
            let (mut receiver, mut sender) = (AccEcn::new(Ecn::NotEct), AccEcn::new(Ecn::NotEct));
            let (mut marked, mut reported) = (0, 0);
            for number in 0..20_000u32 {
                let ecn = if number % 7 < 3 { Ecn::Ce } else { Ecn::Ect1 };
                marked += if ecn == Ecn::Ce { MSS } else { 0 };
                receiver.count(ecn, MSS as u32);
                if number % 2 == 1 {
                    let mut ack = Segment { flags: Flags::ACK | receiver.ace(), ..Segment::default() };
                    receiver.add_option(u64::MAX, &mut ack);
                    let option = ack.accecn().filter(|_| options);
                    let feedback = sender.handle_feedback(field_of(ack.flags), option, 2 * MSS, MSS);
                    assert!(!feedback.mangled);
                    reported += u64::from(feedback.marked);
                }
            }
            assert_eq!(reported, marked, "options: {options}");
        }
    }

    /// ACE counts modulo 8. If 20 ACKs that report 40 marks in total are lost, the next ACK has the same ACE as the
    /// last ACK before. The option or the number of acknowledged segments still reveals all marks (RFC 9768 §3.2.2.5).
    #[test]
    fn lost_acks_hide_no_marks() {
        for options in [true, false] {
            let (mut receiver, mut sender) = (AccEcn::new(Ecn::NotEct), AccEcn::new(Ecn::NotEct));
            let mut send = |segments: u32, ecn| {
                (0..segments).for_each(|_| _ = receiver.count(ecn, MSS as u32));
                let mut ack = Segment { flags: Flags::ACK | receiver.ace(), ..Segment::default() };
                receiver.add_option(u64::MAX, &mut ack);
                let option = ack.accecn().filter(|_| options);
                sender.handle_feedback(field_of(ack.flags), option, u64::from(segments) * MSS, MSS).marked
            };
            assert_eq!(send(2, Ecn::Ect1), 0);
            assert_eq!(send(40, Ecn::Ce), 40 * MSS as u32, "options: {options}");
        }
    }

    /// RFC 9768 §3.2.3.3: if only ECT(1) has arrived, the option needs one counter, and the order is that of option
    /// AccECN1. After a mark, the option needs two counters. If the header has room for 8 bytes, the option has two
    /// counters; if the header has room for only 4 bytes, the option is omitted.
    #[test]
    fn the_option_is_as_long_as_it_must_be() {
        let mut accecn = AccEcn::new(Ecn::NotEct);
        let mut lengths = Vec::new();
        for (ecn, room) in [
            (Ecn::Ect1, 40),
            (Ecn::Ce, 4),
            (Ecn::Ect1, 8),
            (Ecn::Ect0, 40),
            (Ecn::Ect1, 8),
            (Ecn::NotEct, 40),
        ] {
            accecn.count(ecn, 100);
            let mut ack = Segment { flags: Flags::ACK, ..Segment::default() };
            accecn.add_option(room, &mut ack);
            lengths.push(ack.accecn().map(|it| (it.order(), it.bytes())));
        }
        use CounterOrder::Ect1First;
        let of = |bytes| Some((Ect1First, bytes));
        assert_eq!(lengths, [of(5), None, of(8), of(11), of(8), None]);
    }

    /// RFC 9768 §3.2.2.5.1: an ACK follows immediately at the first mark after an unmarked packet, and at the second and
    /// each later mark since the last ACK.
    #[test]
    fn marks_hasten_acks() {
        let mut receiver = AccEcn::new(Ecn::NotEct);
        let mut urgent = |ecn| receiver.count(ecn, 100);
        assert_eq!([Ecn::Ect0, Ecn::Ce, Ecn::Ce, Ecn::Ce].map(&mut urgent), [false, true, true, true]);
        assert_eq!([Ecn::Ect1, Ecn::NotEct, Ecn::Ce].map(&mut urgent), [false, false, true]);
        receiver.add_option(0, &mut Segment::default());
        let mut urgent = |ecn| receiver.count(ecn, 100);
        assert_eq!(
            [Ecn::Ce, Ecn::Ce].map(&mut urgent),
            [false, true],
            "one mark since the ACK is not enough"
        );
        assert_eq!(receiver.packets, FIRST_PACKETS + 6);
        let ByteCounts { ect0, ce, ect1 } = receiver.arrived;
        assert_eq!((ect0, ce, ect1), (1 + 100, 600, 1 + 100));
    }

    /// RFC 9768 §3.2.2.2: a SYN-ACK with CE counts as a marked packet.
    #[test]
    fn a_marked_syn_ack_counts() {
        for (handshake, packets) in [(Ecn::NotEct, 5), (Ecn::Ect0, 5), (Ecn::Ect1, 5), (Ecn::Ce, 6)] {
            let mut endpoint = AccEcn { packets: 9, ..AccEcn::new(handshake) };
            endpoint.count_syn_ack();
            assert_eq!(endpoint.packets, packets, "{handshake:?}");
        }
    }

    /// RFC 9768 appendix A.2: the safer number is `newlyAckedPkt - ((newlyAckedPkt - d.cep) mod 8)`.
    #[test]
    fn the_safer_number_of_marks() {
        assert_eq!(
            [(2, 3), (3, 3), (10, 3), (11, 3), (12, 3), (20, 3)].map(|(all, least)| safer(all, least)),
            [3, 3, 3, 11, 11, 19]
        );
    }

    /// RFC 9768 appendix A.2.2: `least` marks suffice if the marked bytes fit into as many segments, and if the mean
    /// payload of `safer` marked packets would be below half of a segment.
    #[test]
    fn bytes_that_suffice() {
        assert!(is_enough(9000, 3, 3, 1000), "only one number is possible");
        assert!(is_enough(2000, 2, 10, 1000) && !is_enough(2001, 2, 10, 1000));
        assert!(is_enough(4999, 5, 10, 1000) && !is_enough(5000, 5, 10, 1000));
    }

    /// A lower counter corrects an estimate that was too high. A counter that is half of its range ahead counts as lower.
    #[test]
    fn byte_counters_go_forwards_and_backwards() {
        let mut sender = AccEcn { reported_bytes: 100, ..AccEcn::new(Ecn::NotEct) };
        let mut read = |reported| (sender.bytes_from_option(reported), sender.reported_bytes);
        assert_eq!([read(150), read(150), read(120), read(130)], [(50, 150), (0, 150), (0, 120), (10, 130)]);
        assert_eq!(read(130 + (1 << 23) - 1), ((1 << 23) - 1, 130 + (1 << 23) - 1));
        let mut far = AccEcn { reported_bytes: 1 << 24, ..AccEcn::new(Ecn::NotEct) };
        assert_eq!((far.bytes_from_option(1 << 23), far.reported_bytes), (0, 1 << 23));
        assert_eq!(AccEcn::new(Ecn::NotEct).bytes_estimated(3, 1000), 3000);
    }

    /// RFC 9768 §3.2.2.1, Table 4: a zero turns feedback off. ECT(1), ECT(0) and CE in answer to a SYN-ACK that was not
    /// ECN-capable reveal a path that mangles the ECN field. CE counts as one packet.
    #[test]
    fn the_ack_of_a_syn_ack() {
        let read = |field| {
            let mut endpoint = AccEcn::new(Ecn::NotEct);
            let may_send = endpoint.handle_handshake_ack(field);
            (may_send, endpoint.uses_feedback, endpoint.reported_packets)
        };
        assert_eq!(read(0b000), (false, false, 5));
        for field in [0b001, 0b010, 0b101, 0b111] {
            assert_eq!(read(field), (true, true, 5), "{field:03b}");
        }
        assert_eq!(
            [read(0b011), read(0b100), read(0b110)],
            [(false, true, 5), (false, true, 5), (false, true, 6)]
        );
    }

    /// Without options, ACE alone reports marks: one mark in two segments, and nine marks in nine segments, because ACE
    /// may have wrapped. A first ACE of zero reveals a path that clears ACE (RFC 9768 §3.2.2.4).
    #[test]
    fn feedback_without_options() {
        let mut sender = AccEcn::new(Ecn::NotEct);
        let mut marked = |field, segments| {
            let feedback = sender.handle_feedback(field, None, segments * MSS, MSS);
            assert!(!feedback.mangled);
            u64::from(feedback.marked) / MSS
        };
        assert_eq!([marked(5, 1), marked(6, 2), marked(6, 2), marked(7, 9), marked(0, 8)], [0, 1, 0, 9, 1]);
        assert_eq!(sender.reported_packets, 5 + 11);
        let mut cleared = AccEcn::new(Ecn::NotEct);
        let first = cleared.handle_feedback(0, None, MSS, MSS);
        assert_eq!(first, MarkFeedback { marked: 0, mangled: true });
        assert_eq!(cleared.handle_feedback(6, None, MSS, MSS), MarkFeedback { marked: 0, mangled: false });
    }

    /// RFC 9768 §3.2.3: the option has 2 bytes and 3 bytes for each counter, here padded to 8 or 12 bytes. Before any
    /// ECN-capable packet has arrived, no space is needed.
    #[test]
    fn the_space_for_the_option() {
        let mut receiver = AccEcn::new(Ecn::NotEct);
        let mut space = |ecn| {
            receiver.count(ecn, 100);
            receiver.option_bytes()
        };
        let spaces = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce, Ecn::Ect1].map(&mut space);
        assert_eq!(spaces, [0, 8, 8, 12]);
    }
}

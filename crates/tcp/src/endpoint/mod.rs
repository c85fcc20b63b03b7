//! A TCP endpoint, which joins the sending and the receiving half.
//!
//! Functions `handle_*` take input: arriving segments, expired timers, notices and ICMP errors. Functions `poll_*`
//! return output: segments to send now, the deadline for `handle_timeout`, and events. An endpoint reads no clock and
//! stores no payload: `write` only counts bytes, and a segment has only the range of its payload in the stream.
//!
//! Components with their own state: `accecn` (AccECN counters), `challenge` (rate limit of challenge ACKs),
//! `keep_alive` (probes), and the halves `Sender` and `Receiver`. The following files have further parts of `impl
//! Endpoint`:
//!
//! * `handshake`: opening of the connection and negotiation of options; `ecn`: negotiation of ECN, and marks;
//! * `arrival`: arriving segments in a synchronised state; `predicted`: header prediction;
//! * `emit`: choice of the next segment; `lazy_sender`: lazy creation of the sending half;
//! * `timers`: deadlines; `time_wait`: TIME-WAIT; `stamps`: timestamp clock; `views`: read access;
//! * `calls`: calls of the application; `notices`: notices from the driver, links and nodes; `network`: ICMP errors;
//! * `reset`: resets and challenge ACKs.

mod accecn;
mod arrival;
mod calls;
mod challenge;
mod ecn;
mod emit;
mod handshake;
mod keep_alive;
mod lazy_sender;
mod network;
mod notices;
mod predicted;
mod reset;
pub(crate) mod stamps;
mod time_wait;
mod timers;
mod views;

pub use ecn::Feedback;
pub use emit::{SendInfo, Sending};
pub use handshake::opens;
pub use keep_alive::KeepAlive;
pub use reset::reset_for;

use crate::config::Config;
use crate::event::{Event, Log};
use crate::receiver::Receiver;
use crate::sender::{PendingSender, SendingHalf};
use accecn::MarkFeedbackSender;
use challenge::Challenges;
use handshake::Handshake;
use keep_alive::KeepAliveProbes;
use lasthop_base::{Stream, Time};
use lasthop_wire::{Ecn, Flags, Segment, Seq};
use std::sync::Arc;

/// Role of an endpoint in the opening of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends the SYN.
    Active,
    /// Waits for a SYN.
    Passive,
}

/// Connection states (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // Names from the RFC.
pub enum State {
    Closed,
    Listen,
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
}

/// Properties of an arriving packet that are not part of the TCP segment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// ECN field of the packet.
    pub ecn: Ecn,
}

impl Arriving {
    /// Properties of a packet with CE if `marked`, otherwise of a packet that is not ECN-capable.
    pub const fn marked(marked: bool) -> Arriving {
        Arriving { ecn: if marked { Ecn::Ce } else { Ecn::NotEct } }
    }
}

/// One end of a connection.
///
/// The fields are ordered by cache lines: two lines that every packet uses, then the receiving half, which is aligned
/// to a cache line, then the rest. Rarely used state is boxed.
#[repr(C, align(64))]
pub struct Endpoint {
    state: State,
    data_ecn: Ecn,
    /// ECN flags that every segment carries to report marks: ECE, or the ACE field.
    echoed: Flags,
    iss: Seq,
    /// Initial sequence number of the peer; 0 until the peer's SYN arrives.
    irs: Seq,
    /// TS.Recent (RFC 7323 §4.3).
    ts_recent: u32,
    agreed: Agreed,
    /// Whether `own_timer` may have become earlier since the last [`Endpoint::poll_earlier_timeout`].
    sooner: bool,
    /// Whether `pending_sender` has recorded that no data is waiting; used until the sending half is created.
    is_silent: bool,
    last_ack: u64,
    /// Deadline: in TIME-WAIT the end of TIME-WAIT, in other states the next keep-alive check.
    own_timer: Time,
    sending: SendingHalf,
    clock: Time,
    last_arrival: Time,
    /// Tick of the timestamp clock, ns, at least 1.
    tick: u32,
    special: Option<Special>,
    log: Log,
    /// State of the handshake; `None` before and after the handshake.
    handshake: Option<Box<Handshake>>,
    /// Seed of the sender's random stream. If a new sender replaces a discarded sender, the random stream restarts.
    seed: u64,
    receiver: Receiver,
    challenges: Challenges,
    /// Configuration. Endpoints with equal configurations share one copy. The fast path does not read the
    /// configuration.
    config: Arc<Config>,
    syn_repeats: u32,
    role: Role,
    /// Whether to close the connection as soon as the handshake is complete, because the application has already
    /// closed.
    closes_when_open: bool,
    ended: Option<EndReason>,
    pending_sender: PendingSender,
    mark_feedback: MarkFeedbackSender,
    keep_alive_probes: KeepAliveProbes,
    pending_mtu: Option<Box<network::MtuReport>>,
}

// The receiving half is aligned to cache lines. If a new field does not fit into free space, change the size in this
// assertion.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Endpoint, receiver).is_multiple_of(64));
    assert!(size_of::<Endpoint>() == 10 * 64);
};

/// Reason for the end of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndReason {
    /// The connection was closed normally: both sides sent a FIN, or this side closed in LISTEN or SYN-SENT.
    Closed,
    /// The peer answered the SYN with a reset.
    Refused,
    /// A hard ICMP error arrived before the connection was open.
    Unreachable,
    /// The peer reset the connection.
    Reset,
    /// This side aborted the connection.
    Aborted,
    /// The peer did not answer the SYN, data, zero-window probes or keep-alive probes in time
    /// ([`crate::config::UserTimeouts`], [`KeepAlive`]).
    TimedOut,
}

/// Negotiated options.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreed {
    /// Whether every segment carries timestamps (RFC 7323).
    pub timestamps: bool,
    /// Whether SACK blocks may be sent (RFC 2018).
    pub sack: bool,
    /// Feedback of congestion marks. With classic or accurate feedback, data packets are usually ECN-capable (RFC 3168,
    /// RFC 9768).
    pub ecn: Feedback,
    /// Window shift of the peer (RFC 7323 §2.2).
    pub peer_shift: u8,
    /// Window shift of this side.
    pub shift: u8,
}

/// Segment that is sent before all other segments, in any state.
#[derive(Clone, Copy, Debug)]
enum Special {
    Reset {
        seq: Seq,
        ack: Option<Seq>,
    },
    /// Keep-alive probe. The probe has no data and an already acknowledged sequence number, so that the peer must
    /// answer.
    KeepAlive,
    /// Report of a damaged segment at `seq`, to be sent `copies` times.
    Damaged {
        seq: Seq,
        copies: u32,
    },
    /// ACK of a SYN-ACK, before any data. This ACK encodes the code point of the SYN-ACK (RFC 9768 §3.2.2.1).
    HandshakeAck(Ecn),
}

impl Endpoint {
    /// Returns a closed endpoint. `iss`: initial sequence number of this side; `random`: random numbers for mechanisms.
    pub fn new(config: impl Into<Arc<Config>>, role: Role, iss: Seq, random: Stream) -> Endpoint {
        let config = config.into();
        // The sender has a separate random stream, so that the sender's random numbers do not affect the receiver.
        let seed = random.clone().draw();
        Endpoint {
            sending: SendingHalf::new(),
            pending_sender: PendingSender::new(config.segment),
            is_silent: false,
            seed,
            receiver: Receiver::new(&config, random),
            handshake: None,
            syn_repeats: 0,
            mark_feedback: MarkFeedbackSender::Echo((config.ecn_echo.build)(&config.ecn_echo.values)),
            tick: u32::try_from(config.timestamp_tick.as_nanos().max(1)).unwrap_or(u32::MAX),
            challenges: Challenges::new(config.challenges),
            config,
            role,
            state: State::Closed,
            iss,
            irs: Seq(0),
            agreed: Agreed::default(),
            ts_recent: 0,
            last_ack: 1,
            echoed: Flags::default(),
            data_ecn: Ecn::NotEct,
            own_timer: Time::NEVER,
            sooner: false,
            clock: Time::ZERO,
            last_arrival: Time::ZERO,
            keep_alive_probes: KeepAliveProbes::NONE,
            pending_mtu: None,
            closes_when_open: false,
            special: None,
            ended: None,
            log: Log::default(),
        }
    }

    /// Handles a segment.
    #[inline(always)]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        self.clock = now;
        if !self.handle_predicted(now, segment) {
            self.handle_other(now, segment, arriving);
        }
    }

    /// Handles a segment outside of the common path. Not inlined, to keep the common path small.
    #[cold]
    fn handle_other(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        if self.handle_while_lost(now, segment) {
            return;
        }
        match self.state {
            State::Closed => self.refuse(segment),
            State::Listen => self.handle_in_listen(now, segment, arriving),
            State::SynSent => self.handle_in_syn_sent(now, segment, arriving),
            _ => self.handle_synchronised(now, segment, arriving),
        }
    }

    /// Returns the next segment to send now; `None` if no segment is due.
    pub fn poll_segment(&mut self, now: Time) -> Option<Sending> {
        let (mut segment, mut sent) = (Segment::default(), SendInfo::default());
        let is_one = self.poll_segment_into(now, &mut segment, &mut sent);
        let SendInfo { is_retransmission, priority, ecn, .. } = sent;
        is_one.then_some(Sending { segment, is_retransmission, priority, ecn })
    }

    /// Writes the next segment to send now into `segment` and its properties into `sent`. Returns whether a segment is
    /// due. Cheaper than [`Endpoint::poll_segment`].
    #[inline(always)]
    pub fn poll_segment_into(&mut self, now: Time, segment: &mut Segment, sent: &mut SendInfo) -> bool {
        self.next_segment(now, segment, sent)
    }

    /// Returns the oldest event that was not returned before. Results of loss discrimination are always recorded; other
    /// events are recorded only if tracing is enabled.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.log.pop()
    }

    /// Whether [`Endpoint::poll_event`] would return an event.
    pub fn has_events(&self) -> bool {
        self.log.has_events
    }

    /// Enables tracing, so that all later events are recorded.
    pub fn trace(&mut self) {
        self.log.tracing = true;
    }

    fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    fn end(&mut self, how: EndReason) {
        self.state = State::Closed;
        self.ended.get_or_insert(how);
        self.handshake = None;
        if let Some(sender) = self.sending.sender_mut() {
            sender.stop();
        }
        self.receiver.stop();
        self.own_timer = Time::NEVER;
        self.log.trace(self.clock, Event::Closed);
    }
}

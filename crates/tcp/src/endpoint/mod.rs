//! A TCP endpoint: the only place that knows both halves.
//!
//! `handle_*` tells it what happened, then `poll_*` asks for output until `None`:
//! segments to send now, the deadline by which `handle_timeout` wants to be called,
//! events. It reads no clock and owns no bytes: `write` counts what there is to send,
//! and a segment says which part of the stream it carries.
//!
//! A part owns its state, and nobody else reads or writes it:
//! * `accecn.rs`: marks counted in detail; `challenge.rs`: number of challenge ACKs that may go out; `keep_alive.rs`: questions
//!   to an idle peer. The halves are `Sender` and `Receiver`.
//!
//! A chapter coordinates them (`impl Endpoint`):
//! * `handshake.rs`: opening, and what the options agree on; `ecn.rs`: what is agreed on about marks, and what a segment tells of
//!   them;
//! * `arrival.rs`: a segment in a synchronised state, in RFC 9293 §3.10.7.4's order; `predicted.rs`: the usual segment in few
//!   steps, by the same rules;
//! * `emit.rs`: the next segment to send; `half.rs`: the sending half, which is made when it is needed;
//! * `timers.rs`: deadlines, and what their expiry does; `time_wait.rs`: the end, and who may come after it;
//! * `calls.rs`: calls of the application; `notices.rs`: what the driver, links and nodes know; `network.rs`: ICMP errors;
//! * `reset.rs`: answers to segments that belong to no connection, or may be forged;
//! * `stamps.rs`: the clock behind timestamps; `seen.rs`: what can be seen of it.

mod accecn;
mod arrival;
mod calls;
mod challenge;
mod ecn;
mod emit;
mod half;
mod handshake;
mod keep_alive;
mod network;
mod notices;
mod predicted;
mod reset;
mod seen;
pub(crate) mod stamps;
mod time_wait;
mod timers;

pub use ecn::Feedback;
pub use emit::{Sending, Sent};
pub use handshake::opens;
pub use keep_alive::KeepAlive;
pub use reset::reset_for;

use crate::config::Config;
use crate::event::{Event, Log};
use crate::receiver::Receiver;
use crate::sender::{Beginning, SendingHalf};
use accecn::Telling;
use challenge::Challenges;
use handshake::Handshake;
use keep_alive::Questions;
use lasthop_base::{Stream, Time};
use lasthop_wire::{Ecn, Flags, Segment, Seq};
use std::sync::Arc;

/// Who opens the connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// Sends the SYN.
    Active,
    /// Waits for it.
    Passive,
}

/// Connection states (RFC 9293 §3.3.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)] // The names are the RFC's.
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

/// What a driver knows about a segment beside the segment itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arriving {
    /// The ECN field with which its packet came.
    pub ecn: Ecn,
}

impl Arriving {
    /// With a congestion mark (CE), or with nothing.
    pub const fn marked(marked: bool) -> Arriving {
        Arriving { ecn: if marked { Ecn::Ce } else { Ecn::NotEct } }
    }
}

/// One end of a connection.
///
/// First what every packet touches, in two lines of the cache; then the receiving half, which begins a line; then the rest.
/// What hardly any connection has stands behind a pointer, and so does the sending half.
#[repr(C, align(64))]
pub struct Endpoint {
    state: State,
    /// The ECN field that new data is to bear.
    data_ecn: Ecn,
    /// What every segment says of marks, as `telling` said last: ECE, or the bits of AccECN.
    echoed: Flags,
    iss: Seq,
    /// The peer's initial sequence number, once known.
    irs: Seq,
    /// TS.Recent (RFC 7323 §4.3).
    ts_recent: u32,
    agreed: Agreed,
    /// Whether `own_timer` may be earlier than when somebody last asked for all of them.
    sooner: bool,
    /// Whether there is no sending half, and it is known since when.
    is_silent: bool,
    /// The last acknowledgement sent, as an offset.
    last_ack: u64,
    /// When TIME-WAIT ends; in other states, when to look whether the peer is still there.
    own_timer: Time,
    sending: SendingHalf,
    /// The latest time that the driver told.
    clock: Time,
    /// When the last acceptable segment came.
    heard_at: Time,
    /// One tick of the timestamp clock, ns, at least 1.
    tick: u32,
    special: Option<Special>,
    log: Log,
    /// Until the connection is open.
    handshake: Option<Box<Handshake>>,
    /// Of the sender's random stream: a sender that is built anew begins it anew.
    seed: u64,
    receiver: Receiver,
    challenges: Challenges,
    /// It is read when the connection opens and ends, and not in between. Endpoints that are alike share it.
    config: Arc<Config>,
    /// SYNs (or SYN-ACKs) sent again.
    syn_repeats: u32,
    role: Role,
    /// Whether the application will have nothing to add once the connection is open.
    closes_when_open: bool,
    /// Why the connection ended, once it has.
    ended: Option<Ended>,
    beginning: Beginning,
    telling: Telling,
    questions: Questions,
    /// What a router says that the path takes, if it is in doubt.
    doubted: Option<Box<network::Claim>>,
}

// The halves begin lines of the cache. Whoever adds a field finds it a place, or says here what it costs each connection.
#[cfg(target_pointer_width = "64")]
const _: () = {
    use std::mem::{offset_of, size_of};
    assert!(offset_of!(Endpoint, receiver).is_multiple_of(64));
    assert!(size_of::<Endpoint>() == 10 * 64);
};

/// How a connection ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// Both directions closed in order.
    Closed,
    /// The peer answered the SYN with a reset.
    Refused,
    /// The peer cannot be reached, said a router, or it, before the connection was open (a hard ICMP error).
    Unreachable,
    /// The peer reset the connection.
    Reset,
    /// This side gave it up.
    Aborted,
    /// The peer did not answer in time: the SYN, data, probes of its closed window or keep-alive probes
    /// ([`crate::config::Patience`], [`KeepAlive`]).
    TimedOut,
}

/// What the handshake agreed on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Agreed {
    /// Every segment carries timestamps (RFC 7323).
    pub timestamps: bool,
    /// SACK blocks may be sent (RFC 2018).
    pub sack: bool,
    /// How congestion marks are told; data packets are ECN-capable if they are (RFC 3168, RFC 9768).
    pub ecn: Feedback,
    /// Shift of the windows that the peer advertises.
    pub peer_shift: u8,
    /// Shift of the windows that this side advertises.
    pub shift: u8,
}

/// A segment that goes out before all others, in any state.
#[derive(Clone, Copy, Debug)]
enum Special {
    Reset {
        seq: Seq,
        ack: Option<Seq>,
    },
    /// Nothing, with a number that was acknowledged already: the peer has to answer.
    KeepAlive,
    /// The segment that begins there arrived damaged: told so many times.
    Damaged {
        seq: Seq,
        copies: u32,
    },
    /// The ACK of a SYN-ACK, before any data: it says how that SYN-ACK came (RFC 9768 §3.2.2.1).
    HandshakeAck(Ecn),
}

impl Endpoint {
    /// A closed endpoint. `iss` is its initial sequence number, `random` for mechanisms that draw.
    pub fn new(config: impl Into<Arc<Config>>, role: Role, iss: Seq, random: Stream) -> Endpoint {
        let config = config.into();
        // A stream of the sender's own: what it draws changes nothing for the receiver.
        let seed = random.clone().draw();
        Endpoint {
            sending: SendingHalf::new(),
            beginning: Beginning::new(config.segment),
            is_silent: false,
            seed,
            receiver: Receiver::new(&config, random),
            handshake: None,
            syn_repeats: 0,
            telling: Telling::Echo((config.echo.build)(&config.echo.values)),
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
            heard_at: Time::ZERO,
            questions: Questions::NONE,
            doubted: None,
            closes_when_open: false,
            special: None,
            ended: None,
            log: Log::default(),
        }
    }

    /// A segment arrived.
    #[inline(always)]
    pub fn handle_segment(&mut self, now: Time, segment: &Segment, arriving: &Arriving) {
        self.clock = now;
        if !self.handle_predicted(now, segment) {
            self.handle_other(now, segment, arriving);
        }
    }

    /// Apart, so that the usual segment is all that stands where segments arrive.
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

    /// The next segment to send now.
    pub fn poll_segment(&mut self, now: Time) -> Option<Sending> {
        let (mut segment, mut sent) = (Segment::default(), Sent::default());
        let is_one = self.poll_segment_into(now, &mut segment, &mut sent);
        let Sent { again, priority, ecn, .. } = sent;
        is_one.then_some(Sending { segment, again, priority, ecn })
    }

    /// The same, written where the driver wants it: `segment` and `sent` are overwritten if there is one. Whether there is.
    #[inline(always)]
    pub fn poll_segment_into(&mut self, now: Time, segment: &mut Segment, sent: &mut Sent) -> bool {
        self.next_segment(now, segment, sent)
    }

    /// The next event, oldest first. Judgements are always told, the rest if tracing is on.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.log.pop()
    }

    /// Whether `poll_event` has something.
    pub fn has_events(&self) -> bool {
        self.log.has_events
    }

    /// Turns the full trace of events on.
    pub fn trace(&mut self) {
        self.log.tracing = true;
    }

    fn is_synchronised(&self) -> bool {
        !matches!(self.state, State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    fn end(&mut self, how: Ended) {
        self.state = State::Closed;
        self.ended.get_or_insert(how);
        self.handshake = None;
        if let Some(sender) = self.sending.made_mut() {
            sender.stop();
        }
        self.receiver.stop();
        self.own_timer = Time::NEVER;
        self.log.trace(self.clock, Event::Closed);
    }
}

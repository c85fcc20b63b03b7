//! A TCP endpoint: the only place that knows both halves.
//!
//! `handle_*` tells it what happened, then `poll_*` asks for output until `None`:
//! segments to send now, the deadline by which `handle_timeout` wants to be called,
//! events. It reads no clock and owns no bytes: `write` counts what there is to send,
//! and a segment says which part of the stream it carries.
//!
//! * `handshake.rs`: opening, and what the options agreed on.
//! * `accecn.rs`: which packets came with marks, told in detail.
//! * `arrival.rs`: a segment in a synchronised state, in RFC 9293 §3.10.7.4's order.
//! * `challenge.rs`: the answer to what may be forged.
//! * `damage.rs`: what nodes and links say of losses.
//! * `emit.rs`: what goes out next.
//! * `keep_alive.rs`: whether an idle peer is still there.
//! * `predicted.rs`: the usual segment in few steps, by the same rules as in `arrival.rs`.
//! * `network.rs`: what routers say of segments that they did not pass on.
//! * `reset.rs`: resets, also for segments that belong to no connection.
//! * `settings.rs`: what the application may change while the connection is open.
//! * `stamps.rs`: the clock behind timestamps.
//! * `time_wait.rs`: the end, and who may come after it.

mod accecn;
mod arrival;
mod challenge;
mod damage;
mod emit;
mod handshake;
mod keep_alive;
mod network;
mod predicted;
mod reset;
mod settings;
mod stamps;
mod time_wait;

pub use accecn::Feedback;
pub use emit::{Sending, Sent};
pub use handshake::opens;
pub use keep_alive::KeepAlive;
pub use reset::reset_for;

use crate::config::Config;
use crate::event::{Counters, Event, Log};
use crate::notice::{Notice, Wants};
use crate::ranges::Range;
use crate::receiver::Receiver;
use crate::receiver::window::Foreseen;
use crate::sender::{Beginning, Expiry, Sender, SendingHalf, recovery};
use accecn::Telling;
use challenge::Challenges;
use handshake::Handshake;
use lasthop_base::{Rate, Stream, Time};
use lasthop_wire::{Ecn, Flags, LinkReport, Segment, Seq};
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
    /// When the last keep-alive probe was sent, and how many in a row were not answered.
    asked_at: Time,
    unanswered: u32,
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
    /// The ACK of a SYN-ACK, before any data: it says how that came (RFC 9768 §3.2.2.1).
    HandshakeAck,
}

/// The random stream of an endpoint's sender.
fn sender_stream(seed: u64) -> Stream {
    Stream::named(seed, "sender")
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
            asked_at: Time::ZERO,
            unanswered: 0,
            doubted: None,
            closes_when_open: false,
            special: None,
            ended: None,
            log: Log::default(),
        }
    }

    /// Opens: sends the SYN, or listens for one.
    pub fn open(&mut self, now: Time) {
        self.clock = now;
        if self.state == State::Closed && self.ended.is_none() {
            match self.role {
                Role::Active => self.begin_handshake(now),
                Role::Passive => self.state = State::Listen,
            }
        }
    }

    /// The application has `bytes` more to send; ignored after it has closed.
    pub fn write(&mut self, bytes: u64) {
        if self.is_synchronised() {
            self.sender_mut().write(bytes);
        } else {
            self.sending.write(&mut self.beginning, bytes);
        }
    }

    /// The application has nothing more to send: a FIN follows what was written.
    pub fn close(&mut self) {
        let next = match self.state {
            State::Established => State::FinWait1,
            State::CloseWait => State::LastAck,
            State::SynReceived => {
                // Queued until the connection is open (RFC 9293 §3.10.4).
                self.closes_when_open = true;
                return;
            }
            State::Listen | State::SynSent => {
                self.end(Ended::Closed);
                return;
            }
            _ => return,
        };
        self.sender_mut().finish();
        self.state = next;
    }

    /// Like [`Endpoint::close`], but may be called before the connection is open: it closes once what was written is sent.
    pub fn close_when_sent(&mut self) {
        match self.state {
            State::Closed | State::Listen | State::SynSent => self.closes_when_open = true,
            _ => self.close(),
        }
    }

    /// Gives the connection up: a reset tells the peer (RFC 9293 §3.10.5).
    pub fn abort(&mut self) {
        self.reset_peer();
        self.end(Ended::Aborted);
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

    /// The driver knows something that no segment says. Unless it is a link layer's report, it need only be told if this
    /// endpoint [wants](Endpoint::wants) it.
    pub fn handle_notice(&mut self, now: Time, notice: Notice) {
        match notice {
            Notice::Link(LinkReport::Discarded { seq, len, readable }) => {
                if let Some(start) = self.irs.offset_of(seq, self.receiver.next()) {
                    self.receiver.handle_discarded(Range { start, end: start + u64::from(len) });
                }
                if readable && self.receiver.tells_damage() {
                    self.note_damaged(seq, len);
                }
            }
            Notice::Node(notice) => self.handle_node_notice(now, notice),
            Notice::Link(LinkReport::Rate { bps }) => self.receiver.handle_link_rate(Rate::from_bps(bps)),
            Notice::Link(LinkReport::Plan { bps, until, next_bps }) => {
                let (rate, next) = (Rate::from_bps(bps), Rate::from_bps(next_bps));
                self.receiver.handle_plan(&Foreseen { now, rate, until, next });
            }
            Notice::Backlog(before) => self.receiver.handle_backlog(before),
            Notice::AcksQueued(after) => self.receiver.handle_acks_queued(now, after, &mut self.log),
            Notice::Counts { peer, uplink } => self.receiver.handle_counts(&peer, &uplink),
            Notice::TrueWindow(segments) => self.receiver.handle_true_window(segments),
        }
    }

    /// Whether it wants to be told how its host's link goes on by plan ([`LinkReport::Plan`]). The driver asks for segments
    /// after it has told it.
    pub fn asks_plan(&self) -> bool {
        self.receiver.foresees()
    }

    /// What it wants to be told with each segment; the same throughout a connection.
    #[inline]
    pub fn wants(&self) -> Wants {
        self.receiver.wants()
    }

    /// A deadline may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        self.clock = now;
        if !self.is_synchronised() {
            self.handshake_timeout(now);
        }
        self.receiver.handle_timeout(now);
        if self.is_synchronised() {
            let timeouts = self.log.often.timeouts;
            let expiry = match self.sending.made_mut() {
                Some(sender) => sender.handle_timeout(now, self.heard_at, &mut self.log),
                None => Expiry::GoesOn,
            };
            if expiry == Expiry::GivenUp {
                self.end(Ended::TimedOut);
            } else if self.log.often.timeouts > timeouts {
                self.believe_claim(now);
            }
        }
        if now >= self.own_timer {
            match self.state {
                State::TimeWait => self.end(Ended::Closed),
                _ => self.look_after_peer(now),
            }
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

    /// When `handle_timeout` wants to be called, [`Time::NEVER`] if at no time.
    #[inline(always)]
    pub fn poll_timeout(&self) -> Time {
        let timers = self.sending.timer().min(self.receiver.timer()).min(self.own_timer);
        // Once the connection is open, there is nothing of its handshake.
        if self.is_synchronised() { timers } else { timers.min(self.handshake_timer()) }
    }

    /// The same, if it may be earlier than it was when this was asked last; else `None`, which costs less to find out.
    #[inline]
    pub fn poll_earlier_timeout(&mut self) -> Option<Time> {
        let is_sooner = self.sending.is_sooner() | self.receiver.is_sooner() | self.sooner;
        (is_sooner || !self.is_synchronised()).then(|| self.note_timeout())
    }

    fn note_timeout(&mut self) -> Time {
        if let Some(sender) = self.sending.made_mut() {
            sender.note_timer();
        }
        self.receiver.note_timer();
        self.sooner = false;
        self.poll_timeout()
    }

    /// When to look after the connection itself ([`Endpoint::own_timer`]).
    fn set_own_timer(&mut self, at: Time) {
        self.own_timer = at;
        self.sooner = true;
    }

    /// The next event, oldest first. Judgements are always told, the rest if tracing is on.
    pub fn poll_event(&mut self) -> Option<(Time, Event)> {
        self.log.pop()
    }

    /// Whether `poll_event` has something.
    pub fn has_events(&self) -> bool {
        self.log.has_events
    }

    /// Whether its sender has noticed a loss so far.
    #[inline(always)]
    pub fn has_noticed_loss(&self) -> bool {
        self.log.has_noticed_loss
    }

    /// Turns the full trace of events on.
    pub fn trace(&mut self) {
        self.log.tracing = true;
    }

    /// Counters since the start.
    pub fn counters(&self) -> Counters {
        self.log.counters()
    }

    /// Connection state.
    pub fn state(&self) -> State {
        self.state
    }

    /// How the connection ended, if it has.
    pub fn ended(&self) -> Option<Ended> {
        self.ended
    }

    /// The application holds `bytes` of what was delivered unread: they take room in the receive buffer.
    pub fn hold_unread(&mut self, bytes: u64) {
        self.receiver.hold_unread(bytes, self.agreed.shift);
    }

    /// The sending half, to look at. An end that has sent nothing so far makes it for that.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    pub fn sender(&self) -> &Sender {
        self.sending.get_or_make(&self.beginning, |mss| self.begin_sender(mss))
    }

    /// The same, to send something.
    #[cfg_attr(not(target_arch = "wasm32"), inline(always))]
    fn sender_mut(&mut self) -> &mut Sender {
        self.sender();
        self.sending.just_made()
    }

    /// There is no sender, and it was asked what goes out.
    #[cold]
    fn note_silence(&mut self, now: Time) {
        self.is_silent = true;
        self.beginning.note_silence(now);
    }

    /// A sender that has sent nothing, as was agreed so far.
    #[cold]
    fn begin_sender(&self, mss: u32) -> Sender {
        let is_agreed = !matches!(self.state, State::Closed | State::Listen | State::SynSent);
        let falls_back = is_agreed && !self.agreed.sack && recovery::uses_sack(&self.config.recovery);
        let other = falls_back.then(|| recovery::without_sack(&self.config.recovery));
        let recovery = other.as_ref().unwrap_or(&self.config.recovery);
        let mut sender = Sender::recovering_by(recovery, &self.config, mss, sender_stream(self.seed));
        if self.receiver.reports() {
            sender.leave_room(self.room_for_options());
        }
        sender
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

    /// What the handshake agreed on.
    pub fn agreed(&self) -> &Agreed {
        &self.agreed
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

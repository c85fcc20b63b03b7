//! Plays a script and checks these invariants:
//!
//! * no code panics, and the number of packets that a host sends in response to one packet is bounded;
//! * buffers do not exceed their configured sizes, and memory use does not exceed a limit that follows from these sizes
//!   and the packets in flight;
//! * the congestion window grows only if bytes are newly acknowledged, and at most by the amount that the ACK counting
//!   permits;
//! * ICMP errors can only reduce the segment size;
//! * if the attacker forges no acceptable segment, the bytes read equal the bytes written. After the path is clean, all
//!   bytes arrive, and both sides read the end of the stream.

use super::middle::{self, ObservedHost};
use super::script::{HostileScript, PathAction};
use lasthop_base::{Duration, Stream, Time};
use lasthop_host::{Error, Handle, Host, Info};
use lasthop_tcp::sender::congestion::Start;
use lasthop_tcp::{Config, State};
use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};

/// Largest number of consecutive losses. After more losses, a sender may abort the connection.
const MAX_LOSSES: u32 = 5;
/// Limit of the memory that two hosts use in addition to buffers and packets in flight, bytes.
const BASE: usize = 100_000;
const DELAY: Duration = Duration::from_millis(10);

struct ScriptedHost {
    host: Host,
    handle: Option<Handle>,
    observed: ObservedHost,
    text: Vec<u8>,
    /// Number of bytes of `text` that the send buffer has accepted so far.
    sent: usize,
    is_shut: bool,
    read: usize,
    is_over: bool,
    has_failed: bool,
    send_buffer: usize,
    receive_buffer: u64,
    ack_counting: &'static str,
    /// Whether the rules of RFC 5681 limit the growth of the congestion window ([`is_plain`]).
    is_plain: bool,
    sends_dummies: bool,
}

/// Whether the congestion window never grows faster than RFC 5681 permits: true for Reno with an immediate window
/// reduction and without loss discrimination.
fn is_plain(config: &Config) -> bool {
    config.congestion.info.name == "reno"
        && (config.reduction.build)(&config.reduction.values).is_none()
        && (config.sender_discrimination.build)(&config.sender_discrimination.values).is_none()
}

fn sends_dummies(config: &Config) -> bool {
    let random = Stream::named(1, "sender");
    let start = Start { window: 1000, ssthresh: 1000, mss: 1000, selective: true, random };
    (config.congestion.build)(&config.congestion.values, start).nature().sends_extra
}

struct Playback<'a> {
    now: Time,
    sides: [ScriptedHost; 2],
    listener: Handle,
    in_flight: BTreeMap<(Time, u64), (usize, Vec<u8>)>,
    flown: u64,
    actions: VecDeque<PathAction>,
    losses: u32,
    /// Whether a host must reject all segments that the attacker has forged so far.
    is_honest: bool,
    held: &'a dyn Fn() -> usize,
    /// Limit of the memory use without packets in flight, bytes.
    room: usize,
}

/// Plays a whole script. `held` returns the memory use in bytes, or a constant if memory use is not measured.
///
/// # Panics
/// If an invariant does not hold.
pub fn play(script: &HostileScript, held: &dyn Fn() -> usize) {
    let mut play = Playback::new(script, held);
    play.run(script.actions.len());
}

fn address(side: usize) -> IpAddr {
    IpAddr::from([10, 0, 0, 1 + side as u8])
}

/// Returns `len` bytes, whose pattern reveals misplaced bytes. The byte 0xee of forged segments does not occur in the
/// pattern.
fn text(len: usize, side: usize) -> Vec<u8> {
    (0..len).map(|at| ((at * 31 + at / 251 * 7 + side * 101) % 199) as u8).collect()
}

impl<'a> Playback<'a> {
    fn new(script: &HostileScript, held: &'a dyn Fn() -> usize) -> Playback<'a> {
        let now = Time::ZERO + Duration::from_secs(1);
        let setups = [&script.client, &script.server];
        let (up, down) = script.bytes();
        let mut sides = [0, 1].map(|side| {
            let options = setups[side].options();
            ScriptedHost {
                host: Host::new(&[address(side)], 1500, [side as u8 + 1; 16]),
                handle: None,
                observed: ObservedHost::default(),
                text: text([up, down][side], side),
                sent: 0,
                is_shut: false,
                read: 0,
                is_over: false,
                has_failed: false,
                send_buffer: options.send_buffer,
                receive_buffer: options.receive_buffer.expect("the script sets the receive buffer"),
                ack_counting: options.tcp.ack_counting.info.name,
                is_plain: is_plain(&options.tcp),
                sends_dummies: sends_dummies(&options.tcp),
            }
        });
        let server = SocketAddr::new(address(1), 80);
        let listener = sides[1].host.listen(server, 4, &setups[1].options()).expect("valid options");
        let client = sides[0].host.connect(now, None, server, &setups[0].options()).expect("valid options");
        sides[0].handle = Some(client);
        // A ring buffer may allocate twice the bytes that it stores. A sender stores a record of 24 bytes for each
        // segment of at least 52 bytes. In a receive buffer, every second byte beyond a hole may be a separate range,
        // for which the receiver stores 16 bytes.
        let buffers = |side: &ScriptedHost| 3 * side.send_buffer + (2 + 16) * side.receive_buffer as usize;
        let room = held() + BASE + sides.iter().map(buffers).sum::<usize>();
        Playback {
            held,
            room,
            now,
            sides,
            listener,
            in_flight: BTreeMap::new(),
            flown: 0,
            actions: script.actions.iter().cloned().collect(),
            losses: 0,
            is_honest: true,
        }
    }

    fn run(&mut self, actions: usize) {
        // Each action may cost the longest retransmission timeout, 120 s. After the last action, the path is clean.
        let end = self.now + Duration::from_secs(3600 + 120 * actions as u64);
        let mut steps = 0_u32;
        while !self.sides.iter().all(|side| side.is_over) {
            for side in 0..2 {
                self.send_all(side);
            }
            let goes_on = self.step();
            for side in 0..2 {
                self.attend(side);
            }
            steps += 1;
            if !self.is_honest && (steps > 20_000 || self.now > end || !goes_on) {
                return;
            }
            let is_over = self.sides.iter().all(|side| side.is_over);
            let infos = || [0, 1].map(|side| self.info(side));
            assert!(
                goes_on || is_over,
                "no event is pending, but the transfer is incomplete: {:#?}",
                infos()
            );
            assert!(self.now <= end, "the transfer does not end: {:#?}", infos());
        }
        if self.is_honest {
            for side in 0..2 {
                let other = &self.sides[1 - side];
                assert_eq!(
                    self.sides[side].read,
                    other.text.len(),
                    "the application read the end of the stream too early"
                );
            }
        }
    }

    fn step(&mut self) -> bool {
        let arrival = self.in_flight.first_key_value().map_or(Time::NEVER, |((time, _), _)| *time);
        let timers = self.sides[0].host.poll_timeout().min(self.sides[1].host.poll_timeout());
        let next = arrival.min(timers);
        if next == Time::NEVER {
            return false;
        }
        self.now = self.now.max(next);
        let now = self.now;
        for side in 0..2 {
            self.sides[side].host.handle_timeout(now);
            self.send_all(side);
        }
        while let Some(entry) = self.in_flight.first_entry().filter(|entry| entry.key().0 <= now) {
            let (to, packet) = entry.remove();
            self.deliver(to, &packet);
        }
        true
    }

    /// Delivers a packet to a host, checks the invariants, and sends the packets with which the host responds.
    fn deliver(&mut self, to: usize, packet: &[u8]) {
        let now = self.now;
        let before = self.info(to);
        self.sides[to].host.handle_packet(now, packet);
        if let (Some(before), Some(after)) = (before, self.info(to)) {
            if self.sides[to].is_plain {
                self.sides[to].check_window(&before, &after);
            }
            self.sides[to].check_room(&after);
        }
        let in_flight: usize = self.in_flight.values().map(|(_, packet)| 2 * packet.capacity() + 100).sum();
        let held = (self.held)();
        assert!(held <= self.room + in_flight, "{held} bytes of {} and {in_flight}", self.room);
        let (acks, bytes) = self.send_all(to);
        assert!(acks <= 2, "{acks} packets without data in response to one packet");
        assert!(bytes <= self.sides[to].send_buffer, "{bytes} bytes of data in response to one packet");
    }

    fn info(&self, side: usize) -> Option<Info> {
        let side = &self.sides[side];
        side.handle.and_then(|handle| side.host.info(handle).ok())
    }

    /// Sends all packets that a host has ready. Returns two numbers: the segments without data, SYN and FIN, and the
    /// data bytes. Dummy segments of TCP Peach, which are copies of the preceding segment, do not count.
    fn send_all(&mut self, from: usize) -> (usize, usize) {
        let (mut acks, mut bytes, mut previous) = (0, 0, None);
        let now = self.now;
        while let Some(packet) = self.sides[from].host.poll_packet(now).map(<[u8]>::to_vec) {
            let segment = self.sides[from].observed.observe(&packet);
            let is_copy = previous.replace((segment.seq, segment.len)) == Some((segment.seq, segment.len));
            if segment.sequence_space() == 0 {
                acks += 1;
            } else if !(is_copy && self.sides[from].sends_dummies) {
                bytes += segment.len as usize;
            }
            self.carry(from, packet);
        }
        (acks, bytes)
    }

    fn carry(&mut self, from: usize, mut packet: Vec<u8>) {
        let to = 1 - from;
        let mut late = Duration::ZERO;
        let action = self.actions.pop_front().unwrap_or(PathAction::Pass);
        let is_fault = matches!(action, PathAction::Lose | PathAction::Cut(_) | PathAction::Flip(_));
        self.losses = if is_fault { self.losses + 1 } else { 0 };
        match &action {
            _ if self.losses > MAX_LOSSES => self.losses = 0,
            PathAction::Lose => return,
            PathAction::Twice => self.send(to, packet.clone(), Duration::ZERO),
            PathAction::Late(millis) => late = Duration::from_millis(u64::from(*millis)),
            PathAction::Cut(at) => packet.truncate(usize::from(*at) % packet.len()),
            PathAction::Flip(bit) => {
                let bit = usize::from(*bit) % (packet.len() * 8);
                packet[bit / 8] ^= 1 << (bit % 8);
            }
            PathAction::Pass | PathAction::OffPath(_) | PathAction::Inside(_) | PathAction::Icmp(_) => {}
        }
        self.send(to, packet.clone(), late);
        self.forge(&action, from, &packet);
    }

    fn forge(&mut self, action: &PathAction, from: usize, last: &[u8]) {
        let to = 1 - from;
        // Forge segments only while both connections are open. In other states, other acceptance rules apply.
        let states = [0, 1].map(|side| self.info(side).map(|info| info.state));
        let is_open = |state: &Option<State>| {
            state.is_some_and(|state| {
                !matches!(
                    state,
                    State::Closed | State::Listen | State::SynSent | State::SynReceived | State::TimeWait
                )
            })
        };
        if !states.iter().all(is_open) {
            return;
        }
        if let PathAction::Icmp(notice) = action
            && let Some(packet) = middle::notice(notice, &self.sides[from].observed, last)
        {
            // An ICMP error must not end an open connection, even if the quoted sequence number is valid.
            return self.deliver(from, &packet);
        }
        let has_stamps = self.info(to).is_some_and(|info| info.options.timestamps);
        let (source, target) = (&self.sides[from].observed, &self.sides[to].observed);
        let forged = match action {
            PathAction::OffPath(blind) => middle::blind(blind, source, target, has_stamps),
            PathAction::Inside(forgery) => middle::inside(forgery, source, target),
            _ => None,
        };
        if let Some(packet) = forged {
            self.is_honest &= matches!(action, PathAction::OffPath(_));
            self.deliver(to, &packet);
        }
    }

    fn send(&mut self, to: usize, packet: Vec<u8>, late: Duration) {
        self.flown += 1;
        self.in_flight.insert((self.now + DELAY + late, self.flown), (to, packet));
    }

    fn attend(&mut self, side: usize) {
        if self.sides[side].handle.is_none()
            && let Ok((handle, _)) = self.sides[side].host.accept(self.listener)
        {
            self.sides[side].handle = Some(handle);
        }
        let honest = self.is_honest;
        let [client, server] = &mut self.sides;
        let (side, other) = if side == 0 { (client, &server.text) } else { (server, &client.text) };
        let Some(handle) = side.handle.filter(|_| !side.has_failed) else { return };
        let outcome = side.write(handle).and_then(|()| side.read(handle, other, honest));
        match outcome {
            Ok(()) => {}
            Err(error) if honest => panic!("{error}"),
            Err(_) => (side.is_over, side.has_failed) = (true, true),
        }
    }
}

impl ScriptedHost {
    fn write(&mut self, handle: Handle) -> Result<(), Error> {
        while self.sent < self.text.len() {
            match self.host.send(handle, &self.text[self.sent..]) {
                Ok(taken) => self.sent += taken,
                Err(Error::WouldBlock) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        if !self.is_shut {
            match self.host.shutdown(handle) {
                Ok(()) => self.is_shut = true,
                Err(Error::NotConnected) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn read(&mut self, handle: Handle, text: &[u8], honest: bool) -> Result<(), Error> {
        let mut bytes = [0; 3000];
        while !self.is_over {
            match self.host.recv(handle, &mut bytes) {
                Ok(0) => self.is_over = true,
                Ok(len) => {
                    let expected = text.get(self.read..self.read + len);
                    assert!(
                        !honest || expected == Some(&bytes[..len]),
                        "bytes read differ from bytes written"
                    );
                    self.read += len;
                }
                Err(Error::WouldBlock) => return Ok(()),
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn check_window(&self, before: &Info, after: &Info) {
        let acked = after.bytes_acked.saturating_sub(before.bytes_acked);
        let mss = after.snd_mss;
        let credit = match self.ack_counting {
            "per_ack" if acked > 0 => mss,
            "per_ack" => 0,
            "rfc5681" => acked.min(mss),
            "bytes" => acked.min(2 * mss),
            // The remaining kind of ACK counting permits one MSS for each acknowledged segment. A segment may contain a
            // single byte.
            _ => acked * mss,
        };
        // In congestion avoidance, the window grows by at most one MSS per window of acknowledged data. A window may be
        // a single segment.
        let credit = if before.cwnd_bytes >= before.ssthresh_bytes { mss.min(acked * mss) } else { credit };
        // At the end of the handshake, the sender sets the initial window for the negotiated segment size.
        let opens = matches!(before.state, State::SynSent | State::SynReceived | State::Listen);
        // After a loss, the window is at least two segments (RFC 5681 §3.1, Eq. 4), even if the window was smaller
        // before the loss.
        let most = (before.cwnd_bytes + credit).max(2 * mss);
        assert!(
            opens || after.cwnd_bytes <= most,
            "cwnd grows from {} to {} for {acked} acknowledged bytes: {before:?} {after:?}",
            before.cwnd_bytes,
            after.cwnd_bytes
        );
    }

    fn check_room(&self, info: &Info) {
        assert!(info.unread_bytes <= self.receive_buffer, "{} unread", info.unread_bytes);
        let unacked = info.notsent_and_unacked_bytes;
        assert!(unacked <= self.send_buffer as u64, "{unacked} unacknowledged");
    }
}

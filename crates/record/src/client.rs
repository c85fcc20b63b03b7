//! Client of a recording: starts each phase and fetches its results.

use crate::message::{Message, RecordingPhase};
use crate::phase_result::{PhaseResult, SenderResult};
use crate::receiver_log::ReceiverResult;
use crate::recording::{DirectionResult, Recording};
use crate::saturation::Saturation;
use crate::server::{LONGEST_WARM_MS, SILENCE};
use crate::sockets::{Socket, Sockets};
use lasthop_base::{Duration, Time};
use lasthop_os::SystemError;
use lasthop_os::datagrams::{Datagrams, SourceBinding};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// Parameters of a recording.
#[derive(Clone, Debug)]
pub struct RecordingOptions {
    /// Address of the server.
    pub server: SocketAddr,
    /// Local end of the measured path.
    pub from: SourceBinding,
    /// Local end of a separate path for reports. If `None`, reports use the measured path.
    pub feedback: Option<SourceBinding>,
    /// Directions to record.
    pub directions: Directions,
    /// Duration of each phase, ms. The maximum is [`crate::LONGEST_S`], which is in seconds.
    pub span_ms: u32,
}

/// Directions to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Directions {
    /// From the server to the client.
    Down,
    /// From the client to the server.
    Up,
    /// First down, then up.
    InTurn,
    /// Both directions concurrently.
    Concurrent,
}

impl Directions {
    fn phases(self) -> &'static [[bool; 2]] {
        match self {
            Directions::Down => &[[true, false]],
            Directions::Up => &[[false, true]],
            Directions::InTurn => &[[true, false], [false, true]],
            Directions::Concurrent => &[[true, true]],
        }
    }
}

/// Progress of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ClientProgress {
    /// The server responds. The values are the minimum RTT and the median RTT without load.
    Found([Duration; 2]),
    /// A phase begins. The first value states whether packets are sent down and whether packets are sent up. The second
    /// value is the total duration of the phase.
    Begins([bool; 2], Duration),
}

/// Time to wait for the response to a request, before the next attempt.
const ANSWER_TIMEOUT: Duration = Duration::from_millis(250);
const MAX_ATTEMPTS: u32 = 20;
/// Number of RTT probes without load.
const PROBES: u32 = 20;
const PROBE_INTERVAL: Duration = Duration::from_millis(50);
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
/// Minimum time for which the queue is filled before recording, ms.
const WARM_MS: u64 = 2000;
/// Maximum time for the queue to drain.
const MAX_DRAIN_TIME: Duration = Duration::from_secs(30);
const PARTS_AT_ONCE: usize = 32;
const MAX_PARTS: u32 = 20_000;

/// Records a path. Returns `Ok(None)` if the user stops the recording. Fails if the server does not respond, no longer
/// responds, or serves another client.
pub fn record(
    options: &RecordingOptions,
    is_over: &dyn Fn() -> bool,
    on_progress: &mut dyn FnMut(ClientProgress),
) -> Result<Option<Recording>, SystemError> {
    let path = Datagrams::open(&options.from)?;
    let feedback = options.feedback.as_ref().map(Datagrams::open).transpose()?;
    let mut client =
        Client { sockets: Sockets::new(path, feedback), server: options.server, session: 0, is_over };
    match client.record(options, on_progress) {
        Ok(recording) => {
            client.close();
            Ok(Some(recording))
        }
        Err(ClientEnd::Interrupted) => {
            client.close();
            Ok(None)
        }
        Err(ClientEnd::Failed(error)) => {
            client.close();
            Err(error)
        }
    }
}

enum ClientEnd {
    Interrupted,
    Failed(SystemError),
}

struct Client<'a> {
    sockets: Sockets,
    server: SocketAddr,
    session: u64,
    is_over: &'a dyn Fn() -> bool,
}

#[derive(Clone, Copy, Debug)]
struct Probes {
    least: Duration,
    median: Duration,
    answered: u32,
    /// Offset in ns of the server's clock from the client's clock: server's time minus client's time.
    offset: i128,
}

impl Client<'_> {
    fn record(
        &mut self,
        options: &RecordingOptions,
        on_progress: &mut dyn FnMut(ClientProgress),
    ) -> Result<Recording, ClientEnd> {
        self.begin()?;
        let mut before = self.probe()?;
        on_progress(ClientProgress::Found([before.least, before.median]));
        let mut recording = Recording {
            directions: [None, None],
            rtt: [before.least, before.median],
            probes: [PROBES, before.answered],
            shares_path: options.directions == Directions::Concurrent && options.feedback.is_none(),
        };
        let first = before;
        for (number, directions) in options.directions.phases().iter().enumerate() {
            let warm = (before.median.as_nanos() / 100_000).clamp(WARM_MS, LONGEST_WARM_MS.into());
            let jitter = before.median.saturating_sub(before.least).as_nanos() / 1000;
            let phase = RecordingPhase {
                number: number as u8,
                directions: *directions,
                warm_ms: warm as u32,
                span_ms: options.span_ms,
                jitter_us: u32::try_from(jitter).unwrap_or(u32::MAX),
            };
            on_progress(ClientProgress::Begins(
                *directions,
                Duration::from_millis(warm + u64::from(options.span_ms)),
            ));
            let own = self.run(&phase)?;
            self.wait_for_drain(first.median)?;
            let after = self.probe()?;
            let drift = u64::try_from((after.offset - before.offset).abs()).unwrap_or(u64::MAX);
            let peer = self.fetch(phase.number)?;
            let direction = |recorded: Option<ReceiverResult>, sent: Option<SenderResult>| {
                let (recorded, sent) = recorded.zip(sent)?;
                Some(DirectionResult { recorded, sent, drift: Duration::from_nanos(drift) })
            };
            let [down, up] = &mut recording.directions;
            *down = down.take().or(direction(own.recorded, peer.sent));
            *up = up.take().or(direction(peer.recorded, own.sent));
            before = after;
        }
        Ok(recording)
    }

    fn begin(&mut self) -> Result<(), ClientEnd> {
        let keys = RandomState::new();
        let nonce = keys.hash_one(self.sockets.now().as_nanos());
        let cookie = self.cookie(Socket::Feedback, nonce)?;
        let begun =
            self.request(Socket::Feedback, &Message::Begin { nonce, cookie }, |message| match *message {
                Message::Welcome { nonce: own, session } if own == nonce => Some(Some(session)),
                Message::Busy { nonce: own } if own == nonce => Some(None),
                _ => None,
            })?;
        self.session = begun.ok_or_else(|| {
            ClientEnd::Failed(SystemError::new(
                format!("the server at {} serves another client", self.server),
                "try again later",
            ))
        })?;
        if self.sockets.feedback.is_some() {
            let (session, cookie) = (self.session, self.cookie(Socket::Path, nonce)?);
            let is_attached = |message: &Message| (*message == Message::Attached { session }).then_some(());
            self.request(Socket::Path, &Message::Attach { session, cookie }, is_attached)?;
        }
        Ok(())
    }

    fn cookie(&mut self, socket: Socket, nonce: u64) -> Result<u64, ClientEnd> {
        self.request(socket, &Message::Hello { nonce }, |message| match *message {
            Message::Cookie { nonce: own, cookie } if own == nonce => Some(cookie),
            _ => None,
        })
    }

    /// Repeats a request until its response arrives.
    fn request<T>(
        &mut self,
        socket: Socket,
        message: &Message,
        answer: impl Fn(&Message) -> Option<T>,
    ) -> Result<T, ClientEnd> {
        let mut refused = None;
        for _ in 0..MAX_ATTEMPTS {
            if let Err(error) = self.sockets.send_with(message, &[], socket, self.server) {
                refused = Some(error);
            }
            let until = self.sockets.now() + ANSWER_TIMEOUT;
            while self.sockets.now() < until {
                while let Some((message, received)) = self.sockets.receive() {
                    if let Some(answer) = answer(&message).filter(|_| received.from == self.server) {
                        return Ok(answer);
                    }
                }
                self.check_interrupt()?;
                self.sockets.wait(until, false);
            }
        }
        let server = self.server;
        Err(ClientEnd::Failed(match refused {
            Some(error) => SystemError::new(
                format!("cannot send to {server}: {error}"),
                "check the route: ip route get ADDRESS",
            ),
            None => SystemError::new(
                format!("no answer from {server} (UDP)"),
                "run `lasthop emulate record --serve` of the same version on that host, and permit UDP to that port \
                 in firewalls",
            ),
        }))
    }

    fn check_interrupt(&self) -> Result<(), ClientEnd> {
        if (self.is_over)() { Err(ClientEnd::Interrupted) } else { Ok(()) }
    }

    fn probe(&mut self) -> Result<Probes, ClientEnd> {
        let session = self.session;
        let mut sent: Vec<Time> = Vec::new();
        let mut trips: Vec<(Duration, i128)> = Vec::new();
        let begun = self.sockets.now();
        let end = begun + PROBE_INTERVAL * u64::from(PROBES) + PROBE_TIMEOUT;
        while self.sockets.now() < end && trips.len() < PROBES as usize {
            let due = begun + PROBE_INTERVAL * sent.len() as u64;
            if sent.len() < PROBES as usize && self.sockets.now() >= due {
                let number = sent.len() as u32;
                sent.push(self.sockets.now());
                self.sockets.send(&Message::Ping { session, number }, Socket::Path, self.server);
            }
            while let Some((message, received)) = self.sockets.receive() {
                if let Message::Pong { session: own, number, clock } = message
                    && own == session
                    && let Some(begun) = sent.get(number as usize)
                {
                    let trip = received.at.since(*begun);
                    let middle = i128::from(begun.as_nanos()) + i128::from(trip.as_nanos() / 2);
                    trips.push((trip, i128::from(clock) - middle));
                }
            }
            self.check_interrupt()?;
            let next = if sent.len() < PROBES as usize { due.max(self.sockets.now()) } else { end };
            self.sockets.wait(next.min(self.sockets.now() + PROBE_INTERVAL), false);
        }
        trips.sort_unstable();
        let Some((least, offset)) = trips.first().copied() else { return Err(self.silence_error()) };
        let median = trips[trips.len() / 2].0;
        Ok(Probes { least, median, answered: trips.len() as u32, offset })
    }

    fn silence_error(&self) -> ClientEnd {
        ClientEnd::Failed(SystemError::new(
            format!("the server at {} stopped answering", self.server),
            "nothing was written; check that the server still runs and can be reached",
        ))
    }

    fn run(&mut self, phase: &RecordingPhase) -> Result<PhaseResult, ClientEnd> {
        let session = self.session;
        let started = Message::Started { session, number: phase.number };
        self.request(Socket::Feedback, &Message::Start { session, phase: *phase }, |message| {
            (*message == started).then_some(())
        })?;
        let (zero, dropped) = (self.sockets.now(), self.sockets.dropped());
        let [down, up] = phase.directions;
        let mut saturation = Saturation::new(session, phase, zero, up, down);
        let mut last_received = zero;
        loop {
            let now = self.sockets.now();
            if saturation.is_over(now) {
                return Ok(saturation.finish(self.sockets.dropped().saturating_sub(dropped)));
            }
            for _ in 0..64 {
                let Some((message, received)) = self.sockets.receive() else { break };
                if received.from == self.server && message.session() == Some(session) {
                    last_received = last_received.max(received.at);
                    // Packets on the separate path for reports use no capacity of the measured path.
                    let bytes = if received.socket == Socket::Path { received.bytes } else { 0 };
                    saturation.handle_message(&message, received.at, bytes);
                }
            }
            self.check_interrupt()?;
            if now.since(last_received) > SILENCE {
                return Err(self.silence_error());
            }
            let is_full = self.sockets.send_phase(&mut saturation, self.server, self.server);
            let soon = self.sockets.now() + PROBE_INTERVAL;
            self.sockets.wait(saturation.next_action(self.sockets.now()).min(soon), is_full);
        }
    }

    /// Waits until the queues have drained, which is the case when an RTT is close to `usual`.
    fn wait_for_drain(&mut self, usual: Duration) -> Result<(), ClientEnd> {
        let session = self.session;
        let end = self.sockets.now() + MAX_DRAIN_TIME;
        // The numbers of these pings differ from the numbers of all other pings.
        let mut number = 1_000_000;
        let mut is_empty = false;
        while self.sockets.now() < end && !is_empty {
            number += 1;
            let begun = self.sockets.now();
            self.sockets.send(&Message::Ping { session, number }, Socket::Path, self.server);
            let until = begun + usual + usual.divided_by(2) + Duration::from_millis(50);
            while self.sockets.now() < until {
                self.check_interrupt()?;
                self.sockets.wait(until, false);
                while let Some((message, _)) = self.sockets.receive() {
                    is_empty |= matches!(message, Message::Pong { number: own, .. } if own == number);
                }
            }
        }
        Ok(())
    }

    fn fetch(&mut self, number: u8) -> Result<PhaseResult, ClientEnd> {
        let session = self.session;
        // The list begins with one part, because the first response contains the number of parts.
        let mut parts: Vec<Option<Vec<u8>>> = vec![None];
        let mut last_received = self.sockets.now();
        while let Some(first) = parts.iter().position(Option::is_none) {
            let missing = (first..parts.len()).filter(|part| parts[*part].is_none()).take(PARTS_AT_ONCE);
            for part in missing.collect::<Vec<usize>>() {
                let fetch = Message::Fetch { session, number, part: part as u32 };
                self.sockets.send(&fetch, Socket::Feedback, self.server);
            }
            let until = self.sockets.now() + ANSWER_TIMEOUT;
            let mut parts_now = 0;
            while self.sockets.now() < until && parts_now < PARTS_AT_ONCE {
                self.sockets.wait(until, false);
                while let Some((message, received)) = self.sockets.receive() {
                    let Message::Part { session: own, number: of, part, parts: count, .. } = message else {
                        continue;
                    };
                    if received.from != self.server || own != session || of != number || count > MAX_PARTS {
                        continue;
                    }
                    if parts.len() == 1 && count > 1 {
                        parts.resize(count as usize, None);
                    }
                    if let Some(slot) = parts.get_mut(part as usize).filter(|slot| slot.is_none()) {
                        *slot = Some(self.sockets.behind().to_vec());
                        (last_received, parts_now) = (received.at, parts_now + 1);
                    }
                }
                self.check_interrupt()?;
                if parts.iter().all(Option::is_some) {
                    break;
                }
            }
            if self.sockets.now().since(last_received) > SILENCE {
                return Err(self.silence_error());
            }
        }
        let bytes = parts.into_iter().flatten().flatten().collect::<Vec<u8>>();
        PhaseResult::read(&bytes).ok_or_else(|| {
            ClientEnd::Failed(SystemError::new(
                format!("cannot parse the recording of the server at {}", self.server),
                "nothing was written; use the same version on both sides",
            ))
        })
    }

    /// Closes the session. If all copies of the message are lost, the server closes the session after a timeout.
    fn close(&mut self) {
        let bye = Message::Bye { session: self.session };
        (0..3).for_each(|_| self.sockets.send(&bye, Socket::Feedback, self.server));
    }
}

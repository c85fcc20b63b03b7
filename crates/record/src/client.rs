//! The client: starts each phase and fetches the results.

use crate::course::Recorded;
use crate::line::{By, Line};
use crate::message::{Message, Phase};
use crate::outcome::{Outcome, Sent};
use crate::recording::{Recording, Way};
use crate::saturation::Saturation;
use crate::server::{LONGEST_WARM_MS, SILENCE};
use lasthop_base::{Duration, Time};
use lasthop_os::SystemError;
use lasthop_os::datagrams::{Datagrams, SourceBinding};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;

/// Parameters of a recording.
#[derive(Clone, Debug)]
pub struct Ask {
    /// Address of the server.
    pub server: SocketAddr,
    /// Local end of the measured path.
    pub from: SourceBinding,
    /// Local end of another path for reports; `None`: the measured path.
    pub feedback: Option<SourceBinding>,
    /// Directions to record.
    pub ways: Ways,
    /// Duration of each phase, ms; at most [`crate::LONGEST_S`].
    pub span_ms: u32,
}

/// Directions to record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ways {
    /// To the client.
    Down,
    /// To the server.
    Up,
    /// Down, then up.
    InTurn,
    /// Both concurrently.
    Together,
}

impl Ways {
    fn phases(self) -> &'static [[bool; 2]] {
        match self {
            Ways::Down => &[[true, false]],
            Ways::Up => &[[false, true]],
            Ways::InTurn => &[[true, false], [false, true]],
            Ways::Together => &[[true, true]],
        }
    }
}

/// Progress of a recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum News {
    /// The server answers; minimum and median of the RTTs without load.
    Found([Duration; 2]),
    /// A phase begins with these directions (down, up) and this total duration.
    Begins([bool; 2], Duration),
}

/// Timeout of an answer and number of attempts.
const ANSWERS_WITHIN: Duration = Duration::from_millis(250);
const ASKED: u32 = 20;
/// Number, interval and timeout of the RTT probes without load.
const PROBES: u32 = 20;
const PROBE_EVERY: Duration = Duration::from_millis(50);
const PROBE_LASTS: Duration = Duration::from_secs(1);
/// Minimum time for which the queue is filled before recording, ms.
const WARM_MS: u64 = 2000;
/// Maximum time for the queue to drain.
const EMPTIES_WITHIN: Duration = Duration::from_secs(30);
const PARTS_AT_ONCE: usize = 32;
const MOST_PARTS: u32 = 20_000;

/// Records a path; returns `Ok(None)` if the user stops the recording. Fails if the server does not answer, stops
/// answering, or serves another client.
pub fn record(
    ask: &Ask,
    is_over: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(News),
) -> Result<Option<Recording>, SystemError> {
    let path = Datagrams::open(&ask.from)?;
    let beside = ask.feedback.as_ref().map(Datagrams::open).transpose()?;
    let mut client = Client { line: Line::new(path, beside), server: ask.server, session: 0, is_over };
    match client.record(ask, tell) {
        Ok(recording) => {
            client.part();
            Ok(Some(recording))
        }
        Err(Ended::Interrupted) => {
            client.part();
            Ok(None)
        }
        Err(Ended::Failed(error)) => {
            client.part();
            Err(error)
        }
    }
}

enum Ended {
    Interrupted,
    Failed(SystemError),
}

struct Client<'a> {
    line: Line,
    server: SocketAddr,
    session: u64,
    is_over: &'a dyn Fn() -> bool,
}

#[derive(Clone, Copy, Debug)]
struct Probes {
    least: Duration,
    median: Duration,
    came: u32,
    /// Clock of the server minus our clock, ns.
    offset: i128,
}

impl Client<'_> {
    fn record(&mut self, ask: &Ask, tell: &mut dyn FnMut(News)) -> Result<Recording, Ended> {
        self.begin()?;
        let mut before = self.probe()?;
        tell(News::Found([before.least, before.median]));
        let mut recording = Recording {
            ways: [None, None],
            rtt: [before.least, before.median],
            probes: [PROBES, before.came],
            shares_way: ask.ways == Ways::Together && ask.feedback.is_none(),
        };
        let first = before;
        for (number, ways) in ask.ways.phases().iter().enumerate() {
            let warm = (before.median.as_nanos() / 100_000).clamp(WARM_MS, LONGEST_WARM_MS.into());
            let jitter = before.median.saturating_sub(before.least).as_nanos() / 1000;
            let phase = Phase {
                number: number as u8,
                ways: *ways,
                warm_ms: warm as u32,
                span_ms: ask.span_ms,
                jitter_us: u32::try_from(jitter).unwrap_or(u32::MAX),
            };
            tell(News::Begins(*ways, Duration::from_millis(warm + u64::from(ask.span_ms))));
            let ours = self.run(&phase)?;
            self.settle(first.median)?;
            let after = self.probe()?;
            let drift = u64::try_from((after.offset - before.offset).abs()).unwrap_or(u64::MAX);
            let theirs = self.fetch(phase.number)?;
            let way = |recorded: Option<Recorded>, sent: Option<Sent>| {
                let (recorded, sent) = recorded.zip(sent)?;
                Some(Way { recorded, sent, drift: Duration::from_nanos(drift) })
            };
            let [down, up] = &mut recording.ways;
            *down = down.take().or(way(ours.recorded, theirs.sent));
            *up = up.take().or(way(theirs.recorded, ours.sent));
            before = after;
        }
        Ok(recording)
    }

    fn begin(&mut self) -> Result<(), Ended> {
        let keys = RandomState::new();
        let nonce = keys.hash_one(self.line.now().as_nanos());
        let cookie = self.cookie(By::Beside, nonce)?;
        let begun =
            self.converse(By::Beside, &Message::Begin { nonce, cookie }, |message| match *message {
                Message::Welcome { nonce: own, session } if own == nonce => Some(Some(session)),
                Message::Busy { nonce: own } if own == nonce => Some(None),
                _ => None,
            })?;
        self.session = begun.ok_or_else(|| {
            Ended::Failed(SystemError::new(
                format!("the server at {} serves another client", self.server),
                "try again later",
            ))
        })?;
        if self.line.beside.is_some() {
            let (session, cookie) = (self.session, self.cookie(By::Path, nonce)?);
            let is_attached = |message: &Message| (*message == Message::Attached { session }).then_some(());
            self.converse(By::Path, &Message::Attach { session, cookie }, is_attached)?;
        }
        Ok(())
    }

    fn cookie(&mut self, by: By, nonce: u64) -> Result<u64, Ended> {
        self.converse(by, &Message::Hello { nonce }, |message| match *message {
            Message::Cookie { nonce: own, cookie } if own == nonce => Some(cookie),
            _ => None,
        })
    }

    /// Repeats a message until the answer arrives.
    fn converse<T>(
        &mut self,
        by: By,
        message: &Message,
        answer: impl Fn(&Message) -> Option<T>,
    ) -> Result<T, Ended> {
        let mut refused = None;
        for _ in 0..ASKED {
            if let Err(error) = self.line.say_with(message, &[], by, self.server) {
                refused = Some(error);
            }
            let until = self.line.now() + ANSWERS_WITHIN;
            while self.line.now() < until {
                while let Some((message, came)) = self.line.hear() {
                    if let Some(answer) = answer(&message).filter(|_| came.from == self.server) {
                        return Ok(answer);
                    }
                }
                self.heed_user()?;
                self.line.wait(until, false);
            }
        }
        let server = self.server;
        Err(Ended::Failed(match refused {
            Some(error) => SystemError::new(
                format!("cannot send to {server}: {error}"),
                "check the route: ip route get ADDRESS",
            ),
            None => SystemError::new(
                format!("no answer from {server} (UDP)"),
                "run `lasthop emulate record --serve` of the same version there, and let UDP to that port pass the \
                 firewalls",
            ),
        }))
    }

    fn heed_user(&self) -> Result<(), Ended> {
        if (self.is_over)() { Err(Ended::Interrupted) } else { Ok(()) }
    }

    fn probe(&mut self) -> Result<Probes, Ended> {
        let session = self.session;
        let mut sent: Vec<Time> = Vec::new();
        let mut trips: Vec<(Duration, i128)> = Vec::new();
        let begun = self.line.now();
        let end = begun + PROBE_EVERY * u64::from(PROBES) + PROBE_LASTS;
        while self.line.now() < end && trips.len() < PROBES as usize {
            let due = begun + PROBE_EVERY * sent.len() as u64;
            if sent.len() < PROBES as usize && self.line.now() >= due {
                let number = sent.len() as u32;
                sent.push(self.line.now());
                self.line.say(&Message::Ping { session, number }, By::Path, self.server);
            }
            while let Some((message, came)) = self.line.hear() {
                if let Message::Pong { session: own, number, clock } = message
                    && own == session
                    && let Some(begun) = sent.get(number as usize)
                {
                    let trip = came.at.since(*begun);
                    let middle = i128::from(begun.as_nanos()) + i128::from(trip.as_nanos() / 2);
                    trips.push((trip, i128::from(clock) - middle));
                }
            }
            self.heed_user()?;
            let next = if sent.len() < PROBES as usize { due.max(self.line.now()) } else { end };
            self.line.wait(next.min(self.line.now() + PROBE_EVERY), false);
        }
        trips.sort_unstable();
        let Some((least, offset)) = trips.first().copied() else { return Err(self.silent()) };
        let median = trips[trips.len() / 2].0;
        Ok(Probes { least, median, came: trips.len() as u32, offset })
    }

    fn silent(&self) -> Ended {
        Ended::Failed(SystemError::new(
            format!("the server at {} does not answer any more", self.server),
            "nothing was written; check that the server still runs and can be reached",
        ))
    }

    fn run(&mut self, phase: &Phase) -> Result<Outcome, Ended> {
        let session = self.session;
        let started = Message::Started { session, number: phase.number };
        self.converse(By::Beside, &Message::Start { session, phase: *phase }, |message| {
            (*message == started).then_some(())
        })?;
        let (zero, dropped) = (self.line.now(), self.line.dropped());
        let [down, up] = phase.ways;
        let mut side = Saturation::new(session, phase, zero, up, down);
        let mut heard = zero;
        loop {
            let now = self.line.now();
            if side.is_over(now) {
                return Ok(side.finish(self.line.dropped().saturating_sub(dropped)));
            }
            for _ in 0..64 {
                let Some((message, came)) = self.line.hear() else { break };
                if came.from == self.server && message.session() == Some(session) {
                    heard = heard.max(came.at);
                    // Packets of the other path use no capacity of this one.
                    let bytes = if came.by == By::Path { came.bytes } else { 0 };
                    side.arrived(&message, came.at, bytes);
                }
            }
            self.heed_user()?;
            if now.since(heard) > SILENCE {
                return Err(self.silent());
            }
            let is_full = self.line.flow(&mut side, self.server, self.server);
            let soon = self.line.now() + PROBE_EVERY;
            self.line.wait(side.wakes(self.line.now()).min(soon), is_full);
        }
    }

    /// Waits until the queues have drained: an RTT close to `usual`.
    fn settle(&mut self, usual: Duration) -> Result<(), Ended> {
        let session = self.session;
        let end = self.line.now() + EMPTIES_WITHIN;
        // Numbers that no other ping uses.
        let mut number = 1_000_000;
        let mut is_empty = false;
        while self.line.now() < end && !is_empty {
            number += 1;
            let begun = self.line.now();
            self.line.say(&Message::Ping { session, number }, By::Path, self.server);
            let until = begun + usual + usual.divided_by(2) + Duration::from_millis(50);
            while self.line.now() < until {
                self.heed_user()?;
                self.line.wait(until, false);
                while let Some((message, _)) = self.line.hear() {
                    is_empty |= matches!(message, Message::Pong { number: own, .. } if own == number);
                }
            }
        }
        Ok(())
    }

    fn fetch(&mut self, number: u8) -> Result<Outcome, Ended> {
        let session = self.session;
        // One part until the first answer gives the number.
        let mut parts: Vec<Option<Vec<u8>>> = vec![None];
        let mut heard = self.line.now();
        while let Some(first) = parts.iter().position(Option::is_none) {
            let missing = (first..parts.len()).filter(|part| parts[*part].is_none()).take(PARTS_AT_ONCE);
            for part in missing.collect::<Vec<usize>>() {
                let fetch = Message::Fetch { session, number, part: part as u32 };
                self.line.say(&fetch, By::Beside, self.server);
            }
            let until = self.line.now() + ANSWERS_WITHIN;
            let mut came_now = 0;
            while self.line.now() < until && came_now < PARTS_AT_ONCE {
                self.line.wait(until, false);
                while let Some((message, came)) = self.line.hear() {
                    let Message::Part { session: own, number: of, part, parts: count, .. } = message else {
                        continue;
                    };
                    if came.from != self.server || own != session || of != number || count > MOST_PARTS {
                        continue;
                    }
                    if parts.len() == 1 && count > 1 {
                        parts.resize(count as usize, None);
                    }
                    if let Some(place) = parts.get_mut(part as usize).filter(|place| place.is_none()) {
                        *place = Some(self.line.behind().to_vec());
                        (heard, came_now) = (came.at, came_now + 1);
                    }
                }
                self.heed_user()?;
                if parts.iter().all(Option::is_some) {
                    break;
                }
            }
            if self.line.now().since(heard) > SILENCE {
                return Err(self.silent());
            }
        }
        let bytes = parts.into_iter().flatten().flatten().collect::<Vec<u8>>();
        Outcome::read(&bytes).ok_or_else(|| {
            Ended::Failed(SystemError::new(
                format!("cannot parse the recording of the server at {}", self.server),
                "nothing was written; use the same version on both sides",
            ))
        })
    }

    /// Closes the session; the server times out if all copies are lost.
    fn part(&mut self) {
        let bye = Message::Bye { session: self.session };
        (0..3).for_each(|_| self.line.say(&bye, By::Beside, self.server));
    }
}

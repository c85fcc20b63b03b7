//! What the applications at both ends of a connection do, where it is more than to send all they have.
//!
//! * [`Exchanges`]: the destination, as a client, opens the connection and asks; the source answers.
//! * [`Pauses`]: the source sends for a while, then it is silent for a while.
//!
//! The engine tells it when data has come to an end of the connection and when it is time; it writes to the endpoints
//! and closes them, as programs do on sockets.

use crate::flow::Side;
use lasthop_base::{Duration, Rate, Spread, Stream, Time};
use lasthop_tcp::Endpoint;

/// Both applications of a connection.
pub struct Application {
    script: Script,
    /// When it does something next, whatever arrives until then.
    next: Time,
    sizes: Stream,
    pauses: Stream,
}

enum Script {
    Exchanges(Exchanges, Exchanging),
    Pauses(Pauses, Pausing),
}

/// Requests and responses, one after the other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchanges {
    /// Bytes of a request, at least 1.
    pub request: u64,
    /// Bytes of a response in the mean, at least 1.
    pub response: u64,
    /// How responses spread about it.
    pub sizes: Spread,
    /// Time from a response's last byte to the next request, in the mean.
    pub think: Duration,
    /// How it spreads about that.
    pub pauses: Spread,
    /// Requests are due so far apart, each as soon as the response before it is there; it takes the place of `think`.
    pub every: Option<Duration>,
    /// After so many, at least 1, the client closes; `None`: it goes on.
    pub most: Option<u64>,
}

/// A source that sends and pauses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// How long it has data, in the mean.
    pub on: Duration,
    /// How long it has none then, in the mean.
    pub off: Duration,
    /// How both spread.
    pub lengths: Spread,
    /// Meanwhile it writes at this rate; `None`: as much as the connection takes.
    pub rate: Option<Rate>,
    /// It writes so many bytes at once, at least 1, if it has a rate.
    pub chunk: u32,
}

/// A request, and its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// When the client asked; the first time the connection is opened then.
    pub asked: Time,
    /// How long it took to the response's last byte; `None`: it has not come yet.
    pub took: Option<Duration>,
}

/// Exchanges so far.
#[derive(Default)]
struct Exchanging {
    all: Vec<Exchange>,
    /// Bytes asked so far; the server answers when it has them.
    asked: u64,
    /// What the last request is to be answered with, until it is.
    owed: Option<u64>,
    /// Bytes that the client has when the last response is there.
    awaited: u64,
    first: Time,
}

#[derive(Default)]
struct Pausing {
    is_on: bool,
    until: Time,
    /// When it writes next, if it has a rate.
    write: Time,
}

/// What an application without a rate keeps written beyond what is sent: `TCP_NOTSENT_LOWAT` as servers often have it
/// (128 KiB; from memory). A burst is that much longer than its time.
const UNSENT: u64 = 128 << 10;
/// A run's memory is not made before it is used, however many exchanges there may be.
const MOST_AT_FIRST: u64 = 1024;

impl Application {
    /// Exchanges from `start` on, with streams for the sizes of responses and for times to think.
    pub fn exchanges(exchanges: Exchanges, start: Time, sizes: Stream, pauses: Stream) -> Application {
        let room = exchanges.most.unwrap_or(MOST_AT_FIRST).min(MOST_AT_FIRST);
        let all = Vec::with_capacity(room as usize);
        let state = Exchanging { all, first: start, ..Exchanging::default() };
        Application { script: Script::Exchanges(exchanges, state), next: start, sizes, pauses }
    }

    /// A source that sends and pauses from `start` on, with a stream for the lengths of both.
    pub fn pauses(pauses: Pauses, start: Time, lengths: Stream) -> Application {
        let state = Pausing { until: start, ..Pausing::default() };
        let script = Script::Pauses(Pauses { chunk: pauses.chunk.max(1), ..pauses }, state);
        Application { script, next: start, sizes: lengths.clone(), pauses: lengths }
    }

    /// Which end opens the connection.
    pub fn opener(&self) -> Side {
        match self.script {
            Script::Exchanges(..) => Side::Destination,
            Script::Pauses(..) => Side::Source,
        }
    }

    /// When it does something next.
    pub fn next(&self) -> Time {
        self.next
    }

    /// All requests so far; `None` if there is no such thing.
    pub fn asked(&self) -> Option<&[Exchange]> {
        match &self.script {
            Script::Exchanges(_, state) => Some(&state.all),
            Script::Pauses(..) => None,
        }
    }

    /// Whether the last of its exchanges is over.
    pub fn is_over(&self) -> bool {
        match &self.script {
            Script::Exchanges(Exchanges { most, .. }, state) => {
                most.is_some_and(|most| state.all.len() as u64 >= most)
                    && state.all.last().is_some_and(|last| last.took.is_some())
            }
            Script::Pauses(..) => false,
        }
    }

    /// Whether it draws.
    pub fn draws(&self) -> bool {
        match &self.script {
            Script::Exchanges(it, _) => {
                it.sizes.is_random() || (it.pauses.is_random() && it.think > Duration::ZERO)
            }
            Script::Pauses(it, _) => it.lengths.is_random(),
        }
    }

    /// Data may have arrived at an end, or it is time: whether the source, and whether the destination, has something to
    /// send now.
    pub(crate) fn act(&mut self, now: Time, source: &mut Endpoint, destination: &mut Endpoint) -> [bool; 2] {
        let Application { script, next, sizes, pauses } = self;
        match script {
            Script::Exchanges(exchanges, state) => {
                state.act(exchanges, now, (source, destination), next, (sizes, pauses))
            }
            Script::Pauses(it, state) => [state.act(it, now, source, next, pauses), false],
        }
    }
}

impl Exchanging {
    fn act(
        &mut self,
        it: &Exchanges,
        now: Time,
        (server, client): (&mut Endpoint, &mut Endpoint),
        next: &mut Time,
        (sizes, pauses): (&mut Stream, &mut Stream),
    ) -> [bool; 2] {
        let mut says = [false; 2];
        if let Some(response) = self.owed.filter(|_| server.delivered() >= self.asked) {
            self.owed = None;
            server.write(response);
            says[0] = true;
        }
        if let Some(last) = self.all.last_mut().filter(|last| last.took.is_none())
            && client.delivered() >= self.awaited
        {
            last.took = Some(now.since(last.asked));
            let count = self.all.len() as u64;
            if it.most.is_some_and(|most| count >= most) {
                client.close();
                says[1] = true;
            } else {
                *next = match it.every {
                    Some(every) => now.max(self.first + every * count),
                    None => now + drawn(it.pauses, pauses, it.think),
                };
            }
        }
        if now >= *next {
            *next = Time::NEVER;
            let response = whole(it.sizes.draw(sizes, it.response as f64));
            client.write(it.request);
            self.asked += it.request;
            self.owed = Some(response);
            self.awaited += response;
            self.all.push(Exchange { asked: now, took: None });
            says[1] = true;
        }
        says
    }
}

impl Pausing {
    fn act(
        &mut self,
        it: &Pauses,
        now: Time,
        source: &mut Endpoint,
        next: &mut Time,
        lengths: &mut Stream,
    ) -> bool {
        let mut writes = false;
        loop {
            if self.is_on {
                writes |= self.write_until(it, now.min(self.until), source);
            }
            if now < self.until {
                break;
            }
            self.is_on = !self.is_on;
            self.write = self.until;
            let mean = if self.is_on { it.on } else { it.off };
            self.until += drawn(it.lengths, lengths, mean).max(Duration::from_nanos(1));
        }
        *next = match it.rate {
            Some(_) if self.is_on => self.until.min(self.write),
            _ => self.until,
        };
        writes
    }

    /// What is due before `until`.
    fn write_until(&mut self, it: &Pauses, until: Time, source: &mut Endpoint) -> bool {
        let mut writes = false;
        match it.rate {
            None => {
                let room = UNSENT.saturating_sub(source.unsent());
                if room > 0 && until < self.until {
                    source.write(room);
                    writes = true;
                }
            }
            Some(rate) => {
                while self.write <= until && self.write < self.until {
                    source.write(u64::from(it.chunk));
                    self.write += rate.time_for(u64::from(it.chunk));
                    writes = true;
                }
            }
        }
        writes
    }
}

fn drawn(spread: Spread, random: &mut Stream, mean: Duration) -> Duration {
    match spread {
        Spread::Fixed => mean,
        _ => Duration::from_secs_f64(spread.draw(random, mean.as_secs())),
    }
}

/// A whole number of bytes, at least 1.
fn whole(bytes: f64) -> u64 {
    (bytes + 0.5).clamp(1.0, 1e15) as u64
}

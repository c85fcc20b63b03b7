//! Applications at both ends of a connection, other than a single bulk transfer.
//!
//! * [`Exchanges`]: the destination, which is the client, opens the connection and sends requests; the source responds.
//! * [`Pauses`]: the source alternates between sending and silence.
//!
//! The engine calls the application when data has arrived or when the application's next action is due. The application
//! then writes to the endpoints and closes them, as programs do with sockets.

use crate::flow::FlowSide;
use lasthop_base::{Duration, Rate, Spread, Stream, Time};
use lasthop_tcp::Endpoint;

/// One end of a connection, as the application at this end uses the connection.
pub(crate) trait Socket {
    /// Payload that the application has received in order, bytes.
    fn delivered(&self) -> u64;

    /// Data that the application has written and that was not yet sent, bytes.
    fn unsent(&self) -> u64;

    /// Writes data.
    fn write(&mut self, bytes: u64);

    /// Ends the application's data. The application writes no data after this call.
    fn close(&mut self);
}

impl Socket for Endpoint {
    fn delivered(&self) -> u64 {
        Endpoint::delivered(self)
    }

    fn unsent(&self) -> u64 {
        Endpoint::unsent(self)
    }

    fn write(&mut self, bytes: u64) {
        Endpoint::write(self, bytes);
    }

    fn close(&mut self) {
        Endpoint::close(self);
    }
}

/// The applications at both ends of a connection.
pub struct Application {
    script: Script,
    next: Time,
    sizes: Stream,
    pauses: Stream,
}

enum Script {
    Exchanges(Exchanges, Exchanging),
    Pauses(Pauses, Pausing),
}

/// Parameters of an application in which a client sends requests and a server responds. A request follows only after
/// the response to the previous request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchanges {
    /// Size of a request, bytes, at least 1.
    pub request: u64,
    /// Mean size of a response, bytes, at least 1.
    pub response: u64,
    /// Distribution of the response sizes.
    pub sizes: Spread,
    /// Mean time from a response's last byte to the next request.
    pub think: Duration,
    /// Distribution of the think times.
    pub pauses: Spread,
    /// Period of the requests, used instead of `think`. If a request is due before the previous response is complete,
    /// the request waits for that response.
    pub every: Option<Duration>,
    /// Number of exchanges, at least 1, after which the client closes; `None`: unlimited.
    pub most: Option<u64>,
}

/// Parameters of a source that alternates between sending and silence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pauses {
    /// Mean length of an on period, in which the source writes data.
    pub on: Duration,
    /// Mean length of an off period, in which the source is silent.
    pub off: Duration,
    /// Distribution of the lengths of on and off periods.
    pub lengths: Spread,
    /// Rate at which the source writes; `None`: as fast as the connection accepts.
    pub rate: Option<Rate>,
    /// Size of each write, bytes, at least 1. Used only if `rate` is set.
    pub chunk: u32,
    /// Time at which the source closes the connection; `None`: never. Data that is unsent at this time is still sent.
    pub stop: Option<Time>,
}

/// A request and its response.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Exchange {
    /// Time of the request; the first request also opens the connection.
    pub requested: Time,
    /// Size of the response, bytes.
    pub bytes: u64,
    /// Time from the request to the response's last byte; `None`: unfinished.
    pub response_time: Option<Duration>,
}

#[derive(Default)]
struct Exchanging {
    all: Vec<Exchange>,
    /// Total size of all requests so far, bytes. The server responds as soon as all these bytes have arrived.
    requested_bytes: u64,
    /// Size of the pending response, bytes.
    pending_response: Option<u64>,
    /// Total number of bytes that the client will have received when the response to the last request is complete.
    expected_bytes: u64,
    first: Time,
}

#[derive(Default)]
struct Pausing {
    is_closed: bool,
    is_on: bool,
    until: Time,
    write: Time,
}

/// Limit of unsent data, bytes: an application without a rate writes until this many bytes are unsent. Many servers set
/// `TCP_NOTSENT_LOWAT` to this value, 128 KiB (known from memory, without a source). Data that is unsent at the end of
/// an on period is still sent, so a burst lasts longer than its on period.
const MAX_UNSENT: u64 = 128 << 10;
const INITIAL_CAPACITY: u64 = 1024;

impl Application {
    /// Creates the applications of exchanges from `start` on. `sizes` is the random stream of response sizes, and
    /// `pauses` is the random stream of think times.
    pub fn exchanges(exchanges: Exchanges, start: Time, sizes: Stream, pauses: Stream) -> Application {
        let room = exchanges.most.unwrap_or(INITIAL_CAPACITY).min(INITIAL_CAPACITY);
        let all = Vec::with_capacity(room as usize);
        let state = Exchanging { all, first: start, ..Exchanging::default() };
        Application { script: Script::Exchanges(exchanges, state), next: start, sizes, pauses }
    }

    /// Creates a source that alternates between sending and silence from `start` on. `lengths` is the random stream of
    /// the lengths of on and off periods.
    pub fn pauses(pauses: Pauses, start: Time, lengths: Stream) -> Application {
        let state = Pausing { until: start, ..Pausing::default() };
        let script = Script::Pauses(Pauses { chunk: pauses.chunk.max(1), ..pauses }, state);
        Application { script, next: start, sizes: lengths.clone(), pauses: lengths }
    }

    /// Side of the flow that opens the connection.
    pub fn opener(&self) -> FlowSide {
        match self.script {
            Script::Exchanges(..) => FlowSide::Destination,
            Script::Pauses(..) => FlowSide::Source,
        }
    }

    /// Time of the application's next action that depends on the clock and not on arrived data.
    pub fn next(&self) -> Time {
        self.next
    }

    /// All requests so far; `None` for [`Pauses`].
    pub fn requests(&self) -> Option<&[Exchange]> {
        match &self.script {
            Script::Exchanges(_, state) => Some(&state.all),
            Script::Pauses(..) => None,
        }
    }

    /// Whether all exchanges are complete; always false for [`Pauses`] and for unlimited exchanges.
    pub fn is_complete(&self) -> bool {
        match &self.script {
            Script::Exchanges(Exchanges { most, .. }, state) => {
                most.is_some_and(|most| state.all.len() as u64 >= most)
                    && state.all.last().is_some_and(|last| last.response_time.is_some())
            }
            Script::Pauses(..) => false,
        }
    }

    /// Whether the application draws random numbers.
    pub fn draws(&self) -> bool {
        match &self.script {
            Script::Exchanges(it, _) => {
                it.sizes.is_random() || (it.pauses.is_random() && it.think > Duration::ZERO)
            }
            Script::Pauses(it, _) => it.lengths.is_random(),
        }
    }

    /// Acts on arrived data or elapsed time. Returns two values: whether the source has something to send, and whether
    /// the destination has something to send.
    pub(crate) fn act<S: Socket>(&mut self, now: Time, source: &mut S, destination: &mut S) -> [bool; 2] {
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
    fn act<S: Socket>(
        &mut self,
        it: &Exchanges,
        now: Time,
        (server, client): (&mut S, &mut S),
        next: &mut Time,
        (sizes, pauses): (&mut Stream, &mut Stream),
    ) -> [bool; 2] {
        let mut has_output = [false; 2];
        if let Some(response) = self.pending_response.filter(|_| server.delivered() >= self.requested_bytes) {
            self.pending_response = None;
            server.write(response);
            has_output[0] = true;
        }
        if let Some(last) = self.all.last_mut().filter(|last| last.response_time.is_none())
            && client.delivered() >= self.expected_bytes
        {
            last.response_time = Some(now.since(last.requested));
            let count = self.all.len() as u64;
            if it.most.is_some_and(|most| count >= most) {
                client.close();
                has_output[1] = true;
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
            self.requested_bytes += it.request;
            self.pending_response = Some(response);
            self.expected_bytes += response;
            self.all.push(Exchange { requested: now, bytes: response, response_time: None });
            has_output[1] = true;
        }
        has_output
    }
}

impl Pausing {
    fn act(
        &mut self,
        it: &Pauses,
        now: Time,
        source: &mut impl Socket,
        next: &mut Time,
        lengths: &mut Stream,
    ) -> bool {
        let mut writes = false;
        if self.is_closed {
            return false;
        }
        if it.stop.is_some_and(|stop| now >= stop) {
            source.close();
            (self.is_closed, *next) = (true, Time::NEVER);
            return true;
        }
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
        *next = it.stop.map_or(*next, |stop| stop.min(*next));
        writes
    }

    /// Writes the data that is due by `until`. Returns false if no data was due.
    fn write_until(&mut self, it: &Pauses, until: Time, source: &mut impl Socket) -> bool {
        let mut writes = false;
        match it.rate {
            None => {
                let room = MAX_UNSENT.saturating_sub(source.unsent());
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

/// Rounds to whole bytes, at least 1.
fn whole(bytes: f64) -> u64 {
    (bytes + 0.5).clamp(1.0, 1e15) as u64
}

//! Requests that follow a script: each request follows the response to the previous request.

use super::{Exchange, Socket, drawn};
use lasthop_base::{Duration, Spread, Stream, Time};

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

pub(super) struct Exchanging {
    pub(super) all: Vec<Exchange>,
    /// Total size of all requests so far, bytes. The server responds as soon as all these bytes have arrived.
    requested_bytes: u64,
    /// Size of the pending response, bytes.
    pending_response: Option<u64>,
    /// Total number of bytes that the client will have received when the response to the last request is complete.
    expected_bytes: u64,
    first: Time,
    /// Random stream of response sizes.
    sizes: Stream,
    /// Random stream of think times.
    pauses: Stream,
}

const INITIAL_CAPACITY: u64 = 1024;

impl Exchanging {
    pub(super) fn new(it: &Exchanges, start: Time, (sizes, pauses): (Stream, Stream)) -> Exchanging {
        let room = it.most.unwrap_or(INITIAL_CAPACITY).min(INITIAL_CAPACITY);
        Exchanging {
            all: Vec::with_capacity(room as usize),
            requested_bytes: 0,
            pending_response: None,
            expected_bytes: 0,
            first: start,
            sizes,
            pauses,
        }
    }

    /// Number of complete exchanges. All exchanges except the last are complete.
    pub(super) fn completed(&self) -> usize {
        let is_last_pending = self.all.last().is_some_and(|last| last.response_time.is_none());
        self.all.len() - usize::from(is_last_pending)
    }

    pub(super) fn act<S: Socket>(
        &mut self,
        it: &Exchanges,
        now: Time,
        (server, client): (&mut S, &mut S),
        next: &mut Time,
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
                    None => now + drawn(it.pauses, &mut self.pauses, it.think),
                };
            }
        }
        if now >= *next {
            *next = Time::NEVER;
            let response = whole(it.sizes.draw(&mut self.sizes, it.response as f64));
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

/// Rounds to whole bytes, at least 1.
fn whole(bytes: f64) -> u64 {
    (bytes + 0.5).clamp(1.0, 1e15) as u64
}

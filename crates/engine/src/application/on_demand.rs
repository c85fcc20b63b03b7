//! Requests on demand: the driver of the engine decides when the client sends a request and how large the response is.

use super::{Exchange, Socket};
use lasthop_base::Time;

/// State of requests on demand. The server responds to the requests in their order, without waiting until the previous
/// response has arrived (pipelining, RFC 9112 §9.3.2).
pub(crate) struct OnDemand {
    /// Size of each request, bytes, at least 1.
    request: u64,
    pub(super) all: Vec<Exchange>,
    /// Number of requests that the client has written.
    written: usize,
    /// Number of responses that the server has written.
    answered: usize,
    /// Number of complete responses.
    pub(super) completed: usize,
    /// Total size of the complete responses, bytes.
    completed_bytes: u64,
    /// Whether no further request follows.
    is_closed: bool,
    /// Whether the client has closed the connection.
    has_left: bool,
}

impl OnDemand {
    pub(super) fn new(request: u64) -> OnDemand {
        OnDemand {
            request: request.max(1),
            all: Vec::new(),
            written: 0,
            answered: 0,
            completed: 0,
            completed_bytes: 0,
            is_closed: false,
            has_left: false,
        }
    }

    /// Adds a request, which the next call of [`OnDemand::act`] writes.
    pub(crate) fn ask(&mut self, now: Time, response: u64) {
        self.all.push(Exchange { requested: now, bytes: response, response_time: None });
    }

    /// Ends the requests. The client closes the connection when all responses are complete.
    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// Whether [`OnDemand::close`] was called.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Whether the driver has closed the application and all responses are complete.
    pub(super) fn is_complete(&self) -> bool {
        self.is_closed && self.completed == self.all.len()
    }

    pub(super) fn act<S: Socket>(&mut self, now: Time, (server, client): (&mut S, &mut S)) -> [bool; 2] {
        let mut has_output = [false; 2];
        let arrived = server.delivered() / self.request;
        while self.answered < self.written && (self.answered as u64) < arrived {
            server.write(self.all[self.answered].bytes);
            self.answered += 1;
            has_output[0] = true;
        }
        while self.completed < self.answered {
            let next = &mut self.all[self.completed];
            let expected = self.completed_bytes.saturating_add(next.bytes);
            if client.delivered() < expected {
                break;
            }
            next.response_time = Some(now.since(next.requested));
            self.completed_bytes = expected;
            self.completed += 1;
        }
        while self.written < self.all.len() {
            client.write(self.request);
            self.written += 1;
            has_output[1] = true;
        }
        if self.is_complete() && !self.has_left {
            client.close_when_sent();
            (self.has_left, has_output[1]) = (true, true);
        }
        has_output
    }
}

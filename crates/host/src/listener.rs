//! A listener and its connections that the application has not accepted yet.

use crate::host::Handle;
use crate::options::Options;
use std::collections::VecDeque;
use std::net::SocketAddr;

pub(crate) struct Listener {
    /// Local address and port. The unspecified address means all addresses of the host.
    pub(crate) local: SocketAddr,
    pub(crate) options: Options,
    backlog: usize,
    opening: usize,
    /// Open connections that the application can accept, the oldest first.
    ready: VecDeque<Handle>,
}

impl Listener {
    pub(crate) fn new(local: SocketAddr, options: Options, backlog: usize) -> Listener {
        Listener { local, options, backlog: backlog.max(1), opening: 0, ready: VecDeque::new() }
    }

    /// Whether another SYN may open a connection. Half-open connections also count towards the backlog, in order to
    /// limit the cost of a SYN flood.
    pub(crate) fn has_room(&self) -> bool {
        self.opening + self.ready.len() < self.backlog
    }

    pub(crate) fn add_opening(&mut self) {
        self.opening += 1;
    }

    pub(crate) fn remove_opening(&mut self) {
        self.opening = self.opening.saturating_sub(1);
    }

    pub(crate) fn add_ready(&mut self, handle: Handle) {
        self.remove_opening();
        self.ready.push_back(handle);
    }

    pub(crate) fn accept(&mut self) -> Option<Handle> {
        self.ready.pop_front()
    }

    pub(crate) fn is_readable(&self) -> bool {
        !self.ready.is_empty()
    }
}

//! Sockets of one side.

use crate::PAYLOAD;
use crate::message::{LARGEST, Message, PART_HEAD};
use crate::saturation::Saturation;
use lasthop_base::{Duration, Time};
use lasthop_os::Clock;
use lasthop_os::datagrams::{self, Datagrams};
use std::io;
use std::net::SocketAddr;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    Path,
    /// Socket of another path for reports; the same socket if there is none.
    Beside,
}

pub(crate) struct Line {
    pub(crate) path: Datagrams,
    pub(crate) beside: Option<Datagrams>,
    pub(crate) clock: Clock,
    /// Last datagram received, and the range of the bytes behind its message.
    buffer: Vec<u8>,
    behind: std::ops::Range<usize>,
    out: Vec<u8>,
}

/// Origin of a datagram; `bytes` includes IP and UDP headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Came {
    pub(crate) by: By,
    pub(crate) from: SocketAddr,
    pub(crate) at: Time,
    pub(crate) bytes: usize,
}

impl Line {
    pub(crate) fn new(path: Datagrams, beside: Option<Datagrams>) -> Line {
        Line { path, beside, clock: Clock::new(), buffer: vec![0; LARGEST], behind: 0..0, out: Vec::new() }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Sends a message; errors count as packet loss.
    pub(crate) fn say(&mut self, message: &Message, by: By, to: SocketAddr) {
        let _ = self.say_with(message, &[], by, to);
    }

    /// Sends a message with bytes behind it; returns the system's result.
    pub(crate) fn say_with(
        &mut self,
        message: &Message,
        behind: &[u8],
        by: By,
        to: SocketAddr,
    ) -> io::Result<bool> {
        message.write(&mut self.out, behind);
        let socket = match (by, &self.beside) {
            (By::Beside, Some(beside)) => beside,
            _ => &self.path,
        };
        socket.send(&self.out, to)
    }

    /// Returns the next valid message.
    pub(crate) fn hear(&mut self) -> Option<(Message, Came)> {
        let Line { path, beside, clock, buffer, behind, .. } = self;
        loop {
            let (arrived, by) = match (path.receive(buffer, clock), &mut *beside) {
                (Some(arrived), _) => (arrived, By::Path),
                (None, Some(beside)) => (beside.receive(buffer, clock)?, By::Beside),
                (None, None) => return None,
            };
            let bytes = &buffer[..arrived.len];
            if let Some((message, rest)) = Message::read(bytes) {
                // The bytes of a part may be followed by padding.
                let start = match message {
                    Message::Part { .. } => PART_HEAD,
                    _ => bytes.len() - rest.len(),
                };
                *behind = start..start + rest.len();
                let bytes = arrived.len + datagrams::headers(arrived.from);
                return Some((message, Came { by, from: arrived.from, at: arrived.at, bytes }));
            }
        }
    }

    /// Bytes behind the last message received.
    pub(crate) fn behind(&self) -> &[u8] {
        &self.buffer[self.behind.clone()]
    }

    /// Sends a phase's packets to `packets` and its reports to `reports`; returns whether the send buffer is full.
    pub(crate) fn flow(&mut self, phase: &mut Saturation, packets: SocketAddr, reports: SocketAddr) -> bool {
        if let Some(report) = phase.poll_report(self.clock.now()) {
            self.say(&report, By::Beside, reports);
        }
        let Line { path, clock, out, .. } = self;
        phase.send(
            || clock.now(),
            |message| {
                message.write(out, &[]);
                out.resize(PAYLOAD, 0);
                path.send(out, packets).unwrap_or(false)
            },
        )
    }

    /// Waits until a datagram arrives or until `until`; with `for_room` also until the send buffer has room.
    pub(crate) fn wait(&self, until: Time, for_room: bool) {
        let most =
            until.since(self.now()).max(if for_room { Duration::from_millis(5) } else { Duration::ZERO });
        match &self.beside {
            Some(beside) => datagrams::wait(&[&self.path, beside], for_room, most),
            None => datagrams::wait(&[&self.path], for_room, most),
        }
    }

    pub(crate) fn dropped(&self) -> u32 {
        self.path.dropped()
    }
}

//! Sockets of one side of a recording.

use crate::PAYLOAD;
use crate::message::{LARGEST, Message, PART_HEAD};
use crate::saturation::Saturation;
use lasthop_base::{Duration, Time};
use lasthop_os::Clock;
use lasthop_os::datagrams::{self, Datagrams};
use std::io;
use std::net::SocketAddr;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Socket {
    Path,
    /// Socket for reports on a separate path; without a separate path, the same socket as `Path`.
    Feedback,
}

pub(crate) struct Sockets {
    pub(crate) path: Datagrams,
    pub(crate) feedback: Option<Datagrams>,
    pub(crate) clock: Clock,
    buffer: Vec<u8>,
    /// Range in `buffer` of the bytes that follow the last received message.
    behind: std::ops::Range<usize>,
    out: Vec<u8>,
}

/// Origin of a datagram, its arrival time, and its size in bytes with IP and UDP headers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Received {
    pub(crate) socket: Socket,
    pub(crate) from: SocketAddr,
    pub(crate) at: Time,
    pub(crate) bytes: usize,
}

impl Sockets {
    pub(crate) fn new(path: Datagrams, feedback: Option<Datagrams>) -> Sockets {
        Sockets {
            path,
            feedback,
            clock: Clock::new(),
            buffer: vec![0; LARGEST],
            behind: 0..0,
            out: Vec::new(),
        }
    }

    pub(crate) fn now(&self) -> Time {
        self.clock.now()
    }

    /// Sends a message. If sending fails, the message counts as lost.
    pub(crate) fn send(&mut self, message: &Message, socket: Socket, to: SocketAddr) {
        let _ = self.send_with(message, &[], socket, to);
    }

    /// Sends a message followed by other bytes. Returns false if the send buffer is full.
    pub(crate) fn send_with(
        &mut self,
        message: &Message,
        behind: &[u8],
        socket: Socket,
        to: SocketAddr,
    ) -> io::Result<bool> {
        message.write(&mut self.out, behind);
        let datagrams = match (socket, &self.feedback) {
            (Socket::Feedback, Some(feedback)) => feedback,
            _ => &self.path,
        };
        datagrams.send(&self.out, to)
    }

    pub(crate) fn receive(&mut self) -> Option<(Message, Received)> {
        let Sockets { path, feedback, clock, buffer, behind, .. } = self;
        loop {
            let (arrived, socket) = match (path.receive(buffer, clock), &mut *feedback) {
                (Some(arrived), _) => (arrived, Socket::Path),
                (None, Some(feedback)) => (feedback.receive(buffer, clock)?, Socket::Feedback),
                (None, None) => return None,
            };
            let bytes = &buffer[..arrived.len];
            if let Some((message, rest)) = Message::read(bytes) {
                // Padding may follow the bytes of a part, so that `rest` is not at the end of the datagram.
                let start = match message {
                    Message::Part { .. } => PART_HEAD,
                    _ => bytes.len() - rest.len(),
                };
                *behind = start..start + rest.len();
                let bytes = arrived.len + datagrams::headers(arrived.from);
                return Some((message, Received { socket, from: arrived.from, at: arrived.at, bytes }));
            }
        }
    }

    pub(crate) fn behind(&self) -> &[u8] {
        &self.buffer[self.behind.clone()]
    }

    /// Sends the packets of a phase to `packets` and the reports of the phase to `reports`. Returns true if the send
    /// buffer is full.
    pub(crate) fn send_phase(
        &mut self,
        phase: &mut Saturation,
        packets: SocketAddr,
        reports: SocketAddr,
    ) -> bool {
        if let Some(report) = phase.poll_report(self.clock.now()) {
            self.send(&report, Socket::Feedback, reports);
        }
        let Sockets { path, clock, out, .. } = self;
        phase.send(
            || clock.now(),
            |message| {
                message.write(out, &[]);
                out.resize(PAYLOAD, 0);
                path.send(out, packets).unwrap_or(false)
            },
        )
    }

    /// Waits until a datagram arrives, at most until `until`. If `for_room` is true, the wait also ends when the send
    /// buffer has room, and may last 5 ms even if `until` is earlier.
    pub(crate) fn wait(&self, until: Time, for_room: bool) {
        let most =
            until.since(self.now()).max(if for_room { Duration::from_millis(5) } else { Duration::ZERO });
        match &self.feedback {
            Some(feedback) => datagrams::wait(&[&self.path, feedback], for_room, most),
            None => datagrams::wait(&[&self.path], for_room, most),
        }
    }

    pub(crate) fn dropped(&self) -> u32 {
        self.path.dropped()
    }
}

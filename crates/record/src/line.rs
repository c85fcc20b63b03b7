//! The sockets of one side, and what both sides do with them.

use crate::PAYLOAD;
use crate::message::{LARGEST, Message, PART_HEAD};
use crate::saturation::Saturation;
use lasthop_base::{Duration, Time};
use lasthop_os::Clock;
use lasthop_os::datagrams::{self, Datagrams};
use std::io;
use std::net::SocketAddr;

/// By which socket something goes or has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum By {
    /// That of the path which is measured.
    Path,
    /// That of another path for what is said about it; the same socket if there is none.
    Beside,
}

/// The sockets, and the clock by which they tell time.
pub(crate) struct Line {
    pub(crate) path: Datagrams,
    pub(crate) beside: Option<Datagrams>,
    pub(crate) clock: Clock,
    /// What came last, and where what follows its message lies in it.
    buffer: Vec<u8>,
    behind: std::ops::Range<usize>,
    /// What goes next.
    out: Vec<u8>,
}

/// A datagram: who sent it, when it came, and how many bytes it took on the way.
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

    /// Sends it; what the system does not take is lost, as anywhere on the way.
    pub(crate) fn say(&mut self, message: &Message, by: By, to: SocketAddr) {
        let _ = self.say_with(message, &[], by, to);
    }

    /// The same with bytes behind it, and what the system says.
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

    /// What has come, if it says something.
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
                // Of a part, what follows ends with the datagram or before.
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

    /// What followed the message that was heard last.
    pub(crate) fn behind(&self) -> &[u8] {
        &self.buffer[self.behind.clone()]
    }

    /// Sends what a phase has to send: packets to `packets`, reports to `reports`. Whether there is no room for more.
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

    /// Waits until something comes, or until then; with `for_room` until the path's socket has room.
    pub(crate) fn wait(&self, until: Time, for_room: bool) {
        let most =
            until.since(self.now()).max(if for_room { Duration::from_millis(5) } else { Duration::ZERO });
        match &self.beside {
            Some(beside) => datagrams::wait(&[&self.path, beside], for_room, most),
            None => datagrams::wait(&[&self.path], for_room, most),
        }
    }

    /// Datagrams that came and for which the kernel had no room.
    pub(crate) fn dropped(&self) -> u32 {
        self.path.dropped()
    }
}

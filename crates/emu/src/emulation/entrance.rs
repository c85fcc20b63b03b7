//! Merges the packets of both devices in the order in which the kernel handed them over.

use super::End;
use lasthop_base::Time;
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::port::{Port, ReceivedPacket};
use std::collections::VecDeque;

pub(super) struct Entrance {
    waiting: [VecDeque<ReceivedPacket>; 2],
    /// For each device, the start time of the last read that found no packet.
    emptied_at: [Option<Time>; 2],
}

impl Entrance {
    pub(super) fn new() -> Entrance {
        Entrance { waiting: [VecDeque::new(), VecDeque::new()], emptied_at: [None; 2] }
    }

    pub(super) fn begin(&mut self) {
        self.emptied_at = [None; 2];
    }

    /// Returns the next packet and the end that sent it. The packet's bytes are in a buffer taken from `spare`.
    pub(super) fn next(
        &mut self,
        ports: &mut [Port; 2],
        clock: &Clock,
        spare: &mut Vec<Vec<u8>>,
    ) -> Result<Option<(End, ReceivedPacket)>, SystemError> {
        for end in End::BOTH {
            let index = end as usize;
            let waiting = &mut self.waiting[index];
            while waiting.is_empty() && self.emptied_at[index].is_none() {
                let read_at = clock.now();
                if !ports[index].receive(clock, spare, waiting)? {
                    self.emptied_at[index] = Some(read_at);
                }
            }
        }
        let time = |end: End| self.waiting[end as usize].front().map_or(Time::NEVER, |packet| packet.at);
        let end = if time(End::Client) < time(End::Server) { End::Client } else { End::Server };
        Ok(self.waiting[end as usize].pop_front().map(|packet| (end, packet)))
    }

    /// Time up to which this process has read all packets that the kernel handed over; `None` if unread packets remain.
    pub(super) fn known(&self) -> Option<Time> {
        let [server, client] = self.emptied_at;
        self.waiting.iter().all(VecDeque::is_empty).then_some(server?.min(client?))
    }
}

//! Packets as they come in: from both devices, in the order in which the kernel handed them over.

use super::End;
use lasthop_base::Time;
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::port::{Entered, Port};
use std::collections::VecDeque;

/// What has been read of each device and has not joined the path yet.
pub(super) struct Entrance {
    waiting: [VecDeque<Entered>; 2],
    /// Devices that had nothing when they were asked, and when that was.
    dry: [Option<Time>; 2],
}

impl Entrance {
    pub(super) fn new() -> Entrance {
        Entrance { waiting: [VecDeque::new(), VecDeque::new()], dry: [None; 2] }
    }

    /// Devices are asked again.
    pub(super) fn begin(&mut self) {
        self.dry = [None; 2];
    }

    /// The next packet, and at which end; its bytes are in a buffer of `spare`'s.
    ///
    /// # Errors
    /// If a device is gone.
    pub(super) fn next(
        &mut self,
        ports: &mut [Port; 2],
        clock: &Clock,
        spare: &mut Vec<Vec<u8>>,
    ) -> Result<Option<(End, Entered)>, SystemError> {
        for end in End::BOTH {
            let place = end as usize;
            let waiting = &mut self.waiting[place];
            while waiting.is_empty() && self.dry[place].is_none() {
                let asked = clock.now();
                if !ports[place].receive(clock, spare, waiting)? {
                    self.dry[place] = Some(asked);
                }
            }
        }
        let time = |end: End| self.waiting[end as usize].front().map_or(Time::NEVER, |packet| packet.at);
        let end = if time(End::Client) < time(End::Server) { End::Client } else { End::Server };
        Ok(self.waiting[end as usize].pop_front().map(|packet| (end, packet)))
    }

    /// Until when it is known what came in; `None` if some of it has not been read.
    pub(super) fn known(&self) -> Option<Time> {
        let [server, client] = self.dry;
        self.waiting.iter().all(VecDeque::is_empty).then_some(server?.min(client?))
    }
}

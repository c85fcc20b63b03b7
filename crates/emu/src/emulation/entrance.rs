//! Packets as they come in: from both devices, in the order in which the kernel handed them over.

use super::End;
use lasthop_base::Time;
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::tun::Tun;

/// A packet that has been read.
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    /// When the kernel handed it over.
    pub(super) at: Time,
}

/// What has been read of each device and has not joined the path yet.
pub(super) struct Entrance {
    heads: [Option<Read>; 2],
    /// Devices that had nothing when they were asked.
    are_dry: [bool; 2],
    buffer: Vec<u8>,
}

impl Entrance {
    pub(super) fn new() -> Entrance {
        Entrance { heads: [None, None], are_dry: [false; 2], buffer: vec![0; 1 << 16] }
    }

    /// Devices are asked again.
    pub(super) fn begin(&mut self) {
        self.are_dry = [false; 2];
    }

    /// The next packet, and at which end; its bytes are in a buffer of `spare`'s.
    ///
    /// # Errors
    /// If a device is gone.
    pub(super) fn next(
        &mut self,
        tuns: &mut [Tun; 2],
        clock: &Clock,
        spare: &mut Vec<Vec<u8>>,
    ) -> Result<Option<(End, Read)>, SystemError> {
        for end in End::BOTH {
            let place = end as usize;
            if self.heads[place].is_some() || self.are_dry[place] {
                continue;
            }
            let tun = &mut tuns[place];
            match tun.recv(&mut self.buffer)? {
                None => self.are_dry[place] = true,
                Some(len) => {
                    let mut bytes = spare.pop().unwrap_or_default();
                    bytes.clear();
                    bytes.extend_from_slice(&self.buffer[..len]);
                    let at = tun.entered(&bytes, clock, clock.now());
                    self.heads[place] = Some(Read { bytes, at });
                }
            }
        }
        let time = |end: End| self.heads[end as usize].as_ref().map_or(Time::NEVER, |read| read.at);
        let end = if time(End::Client) < time(End::Server) { End::Client } else { End::Server };
        Ok(self.heads[end as usize].take().map(|read| (end, read)))
    }
}

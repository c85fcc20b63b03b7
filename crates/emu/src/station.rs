//! A host on a TUN device, so that our TCP speaks to the kernel's.

use crate::clock::Clock;
use crate::harm::{Harm, Harmful};
use crate::trouble::Trouble;
use crate::tun::{Tun, until};
use lasthop_base::{Duration, Stream, Time};
use lasthop_capture::Capture;
use lasthop_host::Host;
use std::io::Write;

/// A host, its device, and what happens to packets between them.
pub struct Station {
    /// The host, for applications.
    pub host: Host,
    clock: Clock,
    tun: Tun,
    /// Packets to the kernel and from it, if they are harmed.
    harmful: Option<[Harmful; 2]>,
    capture: Option<Capture<Box<dyn Write + Send>>>,
    buffer: Vec<u8>,
    refused: u64,
}

/// Packets read before the host may answer: enough to spare system calls, few enough to keep its timers.
const BATCH: usize = 64;

impl Station {
    /// A host on a device.
    pub fn new(host: Host, tun: Tun) -> Station {
        let buffer = vec![0; 1 << 16];
        Station { host, clock: Clock::new(), tun, harmful: None, capture: None, buffer, refused: 0 }
    }

    /// Harms packets in both directions.
    pub fn harm(&mut self, harm: Harm, seed: u64) {
        let path = |name| Harmful::new(harm, Stream::named(seed, name));
        self.harmful = Some([path("harm.out"), path("harm.in")]);
    }

    /// Writes the packets that the host sends and receives to a capture (before and after they are harmed).
    pub fn capture(&mut self, capture: Capture<Box<dyn Write + Send>>) {
        self.capture = Some(capture);
    }

    /// Ends the capture.
    ///
    /// # Errors
    /// If its last packets cannot be written.
    pub fn finish_capture(&mut self) -> Result<(), Trouble> {
        match self.capture.take().map(Capture::finish) {
            None | Some(Ok(_)) => Ok(()),
            Some(Err(error)) => Err(unwritable(&error)),
        }
    }

    /// Time since the station was made.
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Packets that the kernel did not take.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Lets packets in and out, and does what is due. Waits for something to happen if nothing did, `patience` at most.
    ///
    /// # Errors
    /// If the device is gone or the capture cannot be written.
    pub fn turn(&mut self, patience: Duration) -> Result<(), Trouble> {
        let arrived = self.let_in()?;
        self.host.handle_timeout(self.clock.now());
        let left = self.let_out()?;
        if arrived + left > 0 {
            return Ok(());
        }
        let now = self.clock.now();
        let mut due = self.host.poll_timeout().min(now + patience);
        for path in self.harmful.iter().flatten() {
            due = due.min(path.due());
        }
        self.tun.wait(until(now, due))
    }

    fn let_in(&mut self) -> Result<usize, Trouble> {
        let mut count = 0;
        while count < BATCH {
            let Some(len) = self.tun.recv(&mut self.buffer)? else { break };
            count += 1;
            let now = self.clock.now();
            match &mut self.harmful {
                Some([_, path]) => path.send(now, &self.buffer[..len]),
                None => {
                    record(&mut self.capture, now, &self.buffer[..len])?;
                    self.host.handle_packet(now, &self.buffer[..len]);
                }
            }
        }
        if let Some([_, path]) = &mut self.harmful {
            let now = self.clock.now();
            while let Some(packet) = path.poll(now) {
                count += 1;
                record(&mut self.capture, now, &packet)?;
                self.host.handle_packet(now, &packet);
            }
        }
        Ok(count)
    }

    fn let_out(&mut self) -> Result<usize, Trouble> {
        let mut count = 0;
        loop {
            let now = self.clock.now();
            let Some(packet) = self.host.poll_packet(now) else { break };
            count += 1;
            record(&mut self.capture, now, packet)?;
            match &mut self.harmful {
                Some([path, _]) => path.send(now, packet),
                None => self.refused += u64::from(!self.tun.send(packet)?),
            }
            // What has arrived meanwhile may matter more than what is left to send.
            if count >= BATCH {
                break;
            }
        }
        if let Some([path, _]) = &mut self.harmful {
            let now = self.clock.now();
            while let Some(packet) = path.poll(now) {
                count += 1;
                self.refused += u64::from(!self.tun.send(&packet)?);
            }
        }
        Ok(count)
    }
}

fn record(
    capture: &mut Option<Capture<Box<dyn Write + Send>>>,
    now: Time,
    packet: &[u8],
) -> Result<(), Trouble> {
    match capture {
        None => Ok(()),
        Some(capture) => {
            capture.packet(0, now, packet, packet.len() as u32, None).map_err(|error| unwritable(&error))
        }
    }
}

fn unwritable(error: &std::io::Error) -> Trouble {
    Trouble::new(format!("cannot write the capture: {error}"), "is the disk full?")
}

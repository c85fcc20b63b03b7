//! A host on a TUN device, so that our TCP speaks to the kernel's.

use crate::impairment::{ImpairedPath, Impairment};
use lasthop_base::{Duration, Stream, Time};
use lasthop_capture::Capture;
use lasthop_host::Host;
use lasthop_host::host::Traced;
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::tun::{Tun, until};
use lasthop_tcp::Event;
use lasthop_tcp::event::Reason;
use std::io::{Sink, Write};

/// A host, its device, and what happens to packets between them.
pub struct Station<W: Write = Sink> {
    /// The host, for applications.
    pub host: Host,
    clock: Clock,
    tun: Tun,
    /// Packets to the kernel and from it, if they are impaired.
    impaired: Option<[ImpairedPath; 2]>,
    capture: Option<Capture<W>>,
    watch: Option<Watch>,
    buffer: Vec<u8>,
    refused: u64,
    /// Packets read before the host may answer.
    batch: usize,
}

/// Is told every event.
pub type Watch = Box<dyn FnMut(&Traced) + Send>;

/// Packets read, or sent, before the other direction has its turn: enough to spare system calls, few enough to keep
/// the host's timers.
const BATCH: usize = 64;

impl<W: Write> Station<W> {
    /// A host on a device.
    pub fn new(host: Host, tun: Tun) -> Station<W> {
        let buffer = vec![0; 1 << 16];
        Station {
            host,
            clock: Clock::new(),
            tun,
            impaired: None,
            capture: None,
            watch: None,
            buffer,
            refused: 0,
            batch: BATCH,
        }
    }

    /// From now on the host answers each packet before it sees the next one, as in a simulation: otherwise packets that
    /// arrive together are acknowledged together.
    pub fn answer_each(&mut self) {
        self.batch = 1;
    }

    /// Harms packets in both directions.
    pub fn impair(&mut self, impairment: Impairment, seed: u64) {
        let path = |name| ImpairedPath::new(impairment, Stream::named(seed, name));
        self.impaired = Some([path("harm.out"), path("harm.in")]);
    }

    /// Writes the packets that the host sends and receives to a capture (before and after they are impaired), with the
    /// reason of what is sent again as a comment. The writer is given back by [`Station::finish`].
    pub fn capture(&mut self, capture: Capture<W>) {
        self.host.trace();
        self.capture = Some(capture);
    }

    /// Tells every event of connections opened from now on to `watch`.
    pub fn watch(&mut self, watch: Watch) {
        self.host.trace();
        self.watch = Some(watch);
    }

    /// Packets of the host that were lost because of [`Station::impair`].
    pub fn lost_on_the_way_out(&self) -> u64 {
        self.impaired.as_ref().map_or(0, |[out, _]| out.lost())
    }

    /// Ends the capture, if there is one; gives the device and the capture's writer back.
    ///
    /// # Errors
    /// If its last packets cannot be written.
    pub fn finish(self) -> Result<(Tun, Option<W>), SystemError> {
        let writer = self.capture.map(Capture::finish).transpose().map_err(|error| unwritable(&error))?;
        Ok((self.tun, writer))
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
    pub fn turn(&mut self, patience: Duration) -> Result<(), SystemError> {
        let arrived = self.let_in()?;
        self.host.handle_timeout(self.clock.now());
        let left = self.let_out()?;
        if arrived + left > 0 {
            return Ok(());
        }
        let now = self.clock.now();
        let mut due = self.host.poll_timeout().min(now + patience);
        for path in self.impaired.iter().flatten() {
            due = due.min(path.due());
        }
        self.tun.wait(until(now, due))
    }

    /// Tells what happened; the reason if something was sent again.
    fn tell_events(&mut self) -> Option<Reason> {
        let mut why = None;
        while let Some(traced) = self.host.poll_event() {
            if let Event::Retransmitted { reason, .. } = traced.event {
                why = Some(reason);
            }
            if let Some(watch) = &mut self.watch {
                watch(&traced);
            }
        }
        why
    }

    fn let_in(&mut self) -> Result<usize, SystemError> {
        let mut count = 0;
        while count < self.batch {
            let Some(len) = self.tun.recv(&mut self.buffer)? else { break };
            count += 1;
            let now = self.clock.now();
            match &mut self.impaired {
                Some([_, path]) => path.send(now, &self.buffer[..len]),
                None => {
                    record(&mut self.capture, now, &self.buffer[..len], None)?;
                    self.host.handle_packet(now, &self.buffer[..len]);
                }
            }
        }
        if let Some([_, path]) = &mut self.impaired {
            let now = self.clock.now();
            while let Some(packet) = path.poll(now) {
                count += 1;
                record(&mut self.capture, now, &packet, None)?;
                self.host.handle_packet(now, &packet);
            }
        }
        Ok(count)
    }

    fn let_out(&mut self) -> Result<usize, SystemError> {
        let mut count = 0;
        loop {
            let now = self.clock.now();
            self.tell_events();
            if self.host.poll_packet(now).is_none() {
                break;
            }
            count += 1;
            let why = self.tell_events();
            let packet = self.host.packet();
            record(&mut self.capture, now, packet, why)?;
            match &mut self.impaired {
                Some([path, _]) => path.send(now, packet),
                None => self.refused += u64::from(!self.tun.send(packet)?),
            }
            // What has arrived meanwhile may matter more than what is left to send.
            if count >= BATCH {
                break;
            }
        }
        if let Some([path, _]) = &mut self.impaired {
            let now = self.clock.now();
            while let Some(packet) = path.poll(now) {
                count += 1;
                self.refused += u64::from(!self.tun.send(&packet)?);
            }
        }
        Ok(count)
    }
}

fn record<W: Write>(
    capture: &mut Option<Capture<W>>,
    now: Time,
    packet: &[u8],
    why: Option<Reason>,
) -> Result<(), SystemError> {
    let Some(capture) = capture else { return Ok(()) };
    let comment = why.map(|reason| format!("sent again: {}", reason.name()));
    capture
        .packet(0, now, packet, packet.len() as u32, comment.as_deref())
        .map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot write the capture: {error}"), "is the disk full?")
}

//! A host on a TUN device, through which Lasthop's TCP exchanges packets with the kernel's TCP.

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

/// A host, its device, and the impairment between them.
pub struct TunHost<W: Write = Sink> {
    /// The host, for applications.
    pub host: Host,
    clock: Clock,
    tun: Tun,
    /// Paths to the kernel and from the kernel; `None` if packets are not impaired.
    impaired: Option<[ImpairedPath; 2]>,
    capture: Option<Capture<W>>,
    callback: Option<EventCallback>,
    buffer: Vec<u8>,
    refused: u64,
    batch: usize,
}

/// Callback that is called for every event.
pub type EventCallback = Box<dyn FnMut(&Traced) + Send>;

/// Maximum number of packets read or sent before the host switches to the opposite direction. A large number saves
/// system calls; with a small number the host's timers are more exact.
const BATCH: usize = 64;

impl<W: Write> TunHost<W> {
    /// Attaches a host to a device.
    pub fn new(host: Host, tun: Tun) -> TunHost<W> {
        let buffer = vec![0; 1 << 16];
        TunHost {
            host,
            clock: Clock::new(),
            tun,
            impaired: None,
            capture: None,
            callback: None,
            buffer,
            refused: 0,
            batch: BATCH,
        }
    }

    /// Makes the host answer each packet before it reads the next packet, as in a simulation. If this function is not
    /// called, one ACK may cover several packets that arrive together.
    pub fn answer_each(&mut self) {
        self.batch = 1;
    }

    /// Impairs packets in both directions.
    pub fn impair(&mut self, impairment: Impairment, seed: u64) {
        let path = |name| ImpairedPath::new(impairment, Stream::named(seed, name));
        self.impaired = Some([path("harm.out"), path("harm.in")]);
    }

    /// Captures the packets that the host sends (before impairment) and receives (after impairment). The comment of
    /// each retransmission states the reason for the retransmission. [`TunHost::finish`] returns the writer.
    pub fn capture(&mut self, capture: Capture<W>) {
        self.host.trace();
        self.capture = Some(capture);
    }

    /// Passes every event of connections opened from now on to `callback`.
    pub fn on_event(&mut self, callback: EventCallback) {
        self.host.trace();
        self.callback = Some(callback);
    }

    /// Number of packets from the host that [`TunHost::impair`] has dropped.
    pub fn lost_on_the_way_out(&self) -> u64 {
        self.impaired.as_ref().map_or(0, |[out, _]| out.lost())
    }

    /// Ends the capture, if any; returns the device and the capture's writer. Fails if the last packets of the capture
    /// cannot be written.
    pub fn finish(self) -> Result<(Tun, Option<W>), SystemError> {
        let writer = self.capture.map(Capture::finish).transpose().map_err(|error| unwritable(&error))?;
        Ok((self.tun, writer))
    }

    /// Time since the creation of this [`TunHost`].
    pub fn now(&self) -> Time {
        self.clock.now()
    }

    /// Packets that the kernel refused.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Reads and sends packets and handles timers. If nothing has happened, waits at most `patience` for an event.
    /// Fails if the device no longer exists or the capture cannot be written.
    pub fn turn(&mut self, patience: Duration) -> Result<(), SystemError> {
        let arrived = self.read_packets()?;
        self.host.handle_timeout(self.clock.now());
        let left = self.send_packets()?;
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

    /// Passes events to the callback. Returns the reason for the last retransmission, if any.
    fn dispatch_events(&mut self) -> Option<Reason> {
        let mut why = None;
        while let Some(traced) = self.host.poll_event() {
            if let Event::Retransmitted { reason, .. } = traced.event {
                why = Some(reason);
            }
            if let Some(callback) = &mut self.callback {
                callback(&traced);
            }
        }
        why
    }

    fn read_packets(&mut self) -> Result<usize, SystemError> {
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

    fn send_packets(&mut self) -> Result<usize, SystemError> {
        let mut count = 0;
        loop {
            let now = self.clock.now();
            self.dispatch_events();
            if self.host.poll_packet(now).is_none() {
                break;
            }
            count += 1;
            let why = self.dispatch_events();
            let packet = self.host.packet();
            record(&mut self.capture, now, packet, why)?;
            match &mut self.impaired {
                Some([path, _]) => path.send(now, packet),
                None => self.refused += u64::from(!self.tun.send(packet)?),
            }
            // Packets that have arrived may be more urgent than the remaining outgoing packets.
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
    let comment = why.map(|reason| format!("retransmission: {}", reason.name()));
    capture
        .packet(0, now, packet, packet.len() as u32, comment.as_deref())
        .map_err(|error| unwritable(&error))
}

fn unwritable(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot write the capture: {error}"), "is the disk full?")
}

//! One connection: an endpoint, a send buffer, a receive buffer, and the socket operations. `connection/icmp.rs`
//! handles ICMP errors.

mod icmp;

use crate::error::Error;
use crate::incoming::Incoming;
use crate::options::Options;
use crate::outgoing::Outgoing;
use lasthop_base::{Duration, Time};
use lasthop_tcp::endpoint::{EndReason, SendInfo};
use lasthop_tcp::{Arriving, Endpoint, State};
use lasthop_wire::bytes::{FlowAddresses, Header, Payload, emit};
use lasthop_wire::{Body, Ecn, Priority, Segment};

/// Time for which a connection waits for the peer's FIN after the application has closed the handle (`tcp_fin_timeout`
/// of Linux).
const ORPHAN_WAIT: Duration = Duration::from_secs(60);

pub(crate) struct Connection {
    pub(crate) ends: FlowAddresses,
    pub(crate) endpoint: Endpoint,
    outgoing: Outgoing,
    incoming: Incoming,
    dscp: u8,
    ttl: u8,
    id: u16,
    is_sending_shut: bool,
    /// The last ICMP error. Cleared when the peer acknowledges new data or the connection opens (RFC 9293 §3.9.2.2).
    icmp_error: Option<Error>,
    /// First stream offset that the application will not read, or `u64::MAX` while reading is not shut down. Bytes from
    /// this offset on are discarded.
    read_limit: u64,
    /// Whether the application has closed the handle. An orphaned connection continues until the FINs of both sides are
    /// acknowledged.
    pub(crate) is_orphan: bool,
    /// Time at which an orphaned connection stops waiting for the peer's FIN.
    orphan_until: Time,
    is_error_reported: bool,
    /// Scratch space for the segment that `poll_packet` builds.
    segment: Segment,
}

impl Connection {
    pub(crate) fn new(ends: FlowAddresses, endpoint: Endpoint, options: &Options) -> Connection {
        Connection {
            ends,
            endpoint,
            outgoing: Outgoing::new(options.send_buffer),
            incoming: Incoming::new(),
            dscp: options.dscp,
            ttl: options.ttl,
            id: 0,
            is_sending_shut: false,
            icmp_error: None,
            read_limit: u64::MAX,
            is_orphan: false,
            orphan_until: Time::NEVER,
            is_error_reported: false,
            segment: Segment::default(),
        }
    }

    pub(crate) fn handle_segment(&mut self, now: Time, segment: &Segment, payload: &[u8], ecn: Ecn) {
        let (before, was_open) = (self.endpoint.delivered(), self.is_open());
        if !payload.is_empty() && self.accepts_data() && !self.is_reading_shut() {
            let receiver = self.endpoint.receiver();
            if let Some(offset) = self.endpoint.payload_offset(segment) {
                self.incoming.place(offset, payload, receiver.reassembly(), receiver.edge());
            }
        }
        self.endpoint.handle_segment(now, segment, &Arriving { ecn });
        let has_progress = self.outgoing.acknowledged(self.endpoint.sender().scoreboard().una());
        if has_progress || (!was_open && self.is_open()) {
            self.icmp_error = None;
        }
        let after = self.endpoint.delivered();
        if after == before {
            return;
        }
        if self.is_orphan || (self.is_reading_shut() && self.is_sending_shut) {
            // Data has arrived that no application will read. Therefore reset the connection (RFC 9293 §3.6.1; RFC 1122
            // §4.2.2.13).
            return self.endpoint.abort();
        }
        self.endpoint.hold_unread(self.unread());
    }

    pub(crate) fn handle_timeout(&mut self, now: Time) {
        self.endpoint.handle_timeout(now);
        if now < self.orphan_until {
            return;
        }
        self.orphan_until = match self.endpoint.state() {
            State::FinWait2 => {
                self.endpoint.abort();
                Time::NEVER
            }
            State::FinWait1 | State::Closing | State::LastAck => now + ORPHAN_WAIT,
            _ => Time::NEVER,
        };
    }

    /// Appends bytes to the send buffer. Returns the number of bytes that the send buffer accepted.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Result<usize, Error> {
        self.check_end()?;
        if self.is_sending_shut || !self.may_write() {
            return Err(Error::BrokenPipe);
        }
        if !self.is_open() {
            return Err(Error::WouldBlock);
        }
        let taken = self.outgoing.write(bytes);
        if taken == 0 && !bytes.is_empty() {
            return Err(Error::WouldBlock);
        }
        self.endpoint.write(taken as u64);
        Ok(taken)
    }

    pub(crate) fn recv(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        let len = self.incoming.read(out, self.next());
        if len > 0 || out.is_empty() {
            self.endpoint.hold_unread(self.unread());
            return Ok(len);
        }
        self.end_of_reading()
    }

    /// Copies readable bytes like `recv`, but leaves the bytes in the receive buffer.
    pub(crate) fn peek(&mut self, out: &mut [u8]) -> Result<usize, Error> {
        match self.incoming.peek(out, self.next()) {
            0 if !out.is_empty() => self.end_of_reading(),
            len => Ok(len),
        }
    }

    fn end_of_reading(&mut self) -> Result<usize, Error> {
        self.check_end()?;
        if self.has_no_more_to_read() { Ok(0) } else { Err(Error::WouldBlock) }
    }

    pub(crate) fn shutdown(&mut self) -> Result<(), Error> {
        if !self.is_open() {
            return Err(Error::NotConnected);
        }
        if !self.is_sending_shut {
            self.is_sending_shut = true;
            self.endpoint.close();
        }
        Ok(())
    }

    /// Shuts down reading. Bytes that have already arrived in order stay readable; later bytes are discarded.
    pub(crate) fn shutdown_read(&mut self) -> Result<(), Error> {
        if !self.is_open() {
            return Err(Error::NotConnected);
        }
        if !self.is_reading_shut() {
            self.read_limit = self.next();
            self.incoming.truncate(self.read_limit);
        }
        Ok(())
    }

    fn is_reading_shut(&self) -> bool {
        self.read_limit != u64::MAX
    }

    pub(crate) fn close(&mut self, now: Time) {
        self.is_orphan = true;
        self.orphan_until = now + ORPHAN_WAIT;
        if self.unread() > 0 {
            // The application will not read the unread bytes. Therefore reset the connection (RFC 2525 §2.17).
            return self.endpoint.abort();
        }
        self.is_sending_shut = true;
        self.endpoint.close();
    }

    /// Writes the next packet to `out`. Returns false if the connection has no packet to send now.
    pub(crate) fn poll_packet(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let mut sent = SendInfo::default();
        if !self.endpoint.poll_segment_into(now, &mut self.segment, &mut sent) {
            return false;
        }
        let segment = self.segment;
        let (first, second) = match segment.len {
            0 => (&[][..], &[][..]),
            len => {
                let offset = self.endpoint.offset_to_peer(segment.seq).unwrap_or(0);
                self.outgoing.slices(offset, len as usize)
            }
        };
        self.id = self.id.wrapping_add(1);
        let header = Header {
            source: self.ends.source,
            destination: self.ends.destination,
            ecn: sent.ecn,
            dscp: if sent.priority == Priority::LOW { Header::LOWER_EFFORT } else { self.dscp },
            id: self.id,
            ttl: self.ttl,
        };
        let written = emit(&header, &Body::Tcp(segment), Payload::Parts(first, second), out);
        debug_assert_eq!(written, Ok(()), "every segment of an endpoint fits into a packet");
        written.is_ok()
    }

    /// Returns the error that ended the connection. If the connection has not ended, returns the last ICMP error. Each
    /// error is returned only once.
    pub(crate) fn take_error(&mut self) -> Option<Error> {
        match self.endpoint.ended() {
            Some(_) => self.check_end().err(),
            None => self.icmp_error.take(),
        }
    }

    pub(crate) fn is_readable(&self) -> bool {
        self.unread() > 0 || self.has_no_more_to_read() || self.error().is_some()
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.error().is_some()
            || (self.is_open() && !self.is_sending_shut && self.may_write() && self.outgoing.free() > 0)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.endpoint.ended().is_some() || self.endpoint.state() == State::TimeWait
    }

    pub(crate) fn is_open(&self) -> bool {
        !matches!(self.endpoint.state(), State::Closed | State::Listen | State::SynSent | State::SynReceived)
    }

    pub(crate) fn timeout(&self) -> Time {
        self.endpoint.poll_timeout().min(self.orphan_until)
    }

    pub(crate) fn unacknowledged(&self) -> usize {
        self.outgoing.len()
    }

    pub(crate) fn unread(&self) -> u64 {
        self.incoming.readable(self.next())
    }

    pub(crate) fn read_so_far(&self) -> u64 {
        self.incoming.read_so_far()
    }

    /// Returns the stream offset after the last readable byte.
    fn next(&self) -> u64 {
        self.endpoint.receiver().reassembly().next().min(self.read_limit)
    }

    fn accepts_data(&self) -> bool {
        matches!(
            self.endpoint.state(),
            State::SynSent | State::SynReceived | State::Established | State::FinWait1 | State::FinWait2
        )
    }

    fn may_write(&self) -> bool {
        !matches!(
            self.endpoint.state(),
            State::FinWait1 | State::FinWait2 | State::Closing | State::LastAck | State::TimeWait
        ) && self.endpoint.ended().is_none()
    }

    fn has_no_more_to_read(&self) -> bool {
        let is_end = self.is_reading_shut()
            || self.endpoint.receiver().has_finished()
            || self.endpoint.ended().is_some();
        is_end && self.unread() == 0
    }

    /// Returns the error that ended the connection, on the first call only. Later calls succeed, and the application
    /// reads the end of the stream.
    fn check_end(&mut self) -> Result<(), Error> {
        let Some(error) = self.error() else { return Ok(()) };
        self.is_error_reported = true;
        Err(error)
    }

    fn error(&self) -> Option<Error> {
        if self.is_error_reported {
            return None;
        }
        match self.endpoint.ended()? {
            EndReason::Closed => None,
            EndReason::Refused => Some(Error::ConnectionRefused),
            EndReason::Reset => Some(Error::ConnectionReset),
            EndReason::Aborted => Some(Error::ConnectionAborted),
            EndReason::Unreachable => Some(self.icmp_error.unwrap_or(Error::HostUnreachable)),
            // If an ICMP error preceded the timeout, the ICMP error is the probable reason (RFC 1122 §4.2.4.1). Linux
            // also reports the ICMP error.
            EndReason::TimedOut => Some(self.icmp_error.unwrap_or(Error::TimedOut)),
        }
    }
}

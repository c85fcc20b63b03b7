//! An application on a host, which sends the bytes of a reader and writes the received bytes to a writer.

use lasthop_host::{Error, Handle, Host};
use lasthop_os::error::SystemError;
use lasthop_tcp::State;
use std::io::{self, Read, Write};
use std::ops::Range;

/// The two streams of a connection, with the source of the bytes to send and the sink of the received bytes.
pub struct Exchange {
    handle: Handle,
    role: Role,
    /// Bytes still to send; `None` after the end of the source.
    source: Option<Box<dyn Read + Send>>,
    sink: Box<dyn Write + Send>,
    chunk: Vec<u8>,
    /// Part of `chunk` that the host has not accepted yet.
    pending: Range<usize>,
    has_shut: bool,
    has_received_end: bool,
    sent: u64,
    received: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// The exchange is done when the peer has acknowledged all bytes.
    Sender,
    /// The exchange is done when the peer has acknowledged all bytes and has finished sending.
    Both,
    /// The exchange is done when the peer has finished sending.
    Receiver,
}

const CHUNK: usize = 1 << 16;

impl Exchange {
    /// Sends the bytes of `source`, then shuts down. The exchange is done when the peer has acknowledged all bytes.
    pub fn sending(handle: Handle, source: Box<dyn Read + Send>) -> Exchange {
        Exchange::new(handle, Role::Sender, Some(source), Box::new(io::sink()))
    }

    /// Sends the bytes of `source` and writes received bytes to `sink`. The exchange is done when both sides have
    /// finished.
    pub fn both_ways(handle: Handle, source: Box<dyn Read + Send>, sink: Box<dyn Write + Send>) -> Exchange {
        Exchange::new(handle, Role::Both, Some(source), sink)
    }

    /// Writes received bytes to `sink`. The exchange is done when the peer has finished sending.
    pub fn receiving(handle: Handle, sink: Box<dyn Write + Send>) -> Exchange {
        Exchange::new(handle, Role::Receiver, None, sink)
    }

    fn new(
        handle: Handle,
        role: Role,
        source: Option<Box<dyn Read + Send>>,
        sink: Box<dyn Write + Send>,
    ) -> Exchange {
        Exchange {
            handle,
            role,
            source,
            sink,
            chunk: vec![0; CHUNK],
            pending: 0..0,
            has_shut: false,
            has_received_end: false,
            sent: 0,
            received: 0,
        }
    }

    /// The connection.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// Bytes passed to the host so far.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Makes all progress that is possible now; returns true when the exchange is done. The handle remains open for
    /// [`lasthop_host::Info`]. Fails if the connection, the source or the sink fails.
    pub fn advance(&mut self, host: &mut Host) -> Result<bool, SystemError> {
        self.send(host)?;
        self.receive(host)?;
        let has_sent = self.has_shut && {
            let state = host.info(self.handle).map(|info| info.state);
            matches!(state, Ok(State::FinWait2 | State::TimeWait | State::Closed))
        };
        let over = match self.role {
            Role::Sender => has_sent,
            Role::Both => has_sent && self.has_received_end,
            Role::Receiver => self.has_received_end,
        };
        if over {
            self.sink.flush().map_err(|error| unwritable(&error))?;
        }
        Ok(over)
    }

    /// Returns the ICMP error received during the handshake, if any. The caller may give up or wait.
    pub fn obstacle(&self, host: &Host) -> Option<SystemError> {
        let error = host.soft_error(self.handle).ok().flatten()?;
        let state = host.info(self.handle).ok()?.state;
        (state == State::SynSent).then(|| failed(error))
    }

    fn send(&mut self, host: &mut Host) -> Result<(), SystemError> {
        while self.fill()? {
            match host.send(self.handle, &self.chunk[self.pending.clone()]) {
                Ok(taken) => {
                    self.pending.start += taken;
                    self.sent += taken as u64;
                }
                Err(Error::WouldBlock) => return Ok(()),
                Err(error) => return Err(failed(error)),
            }
        }
        if self.role != Role::Receiver && !self.has_shut {
            // An error means that the handshake is pending or has failed. If the handshake has failed, `receive`
            // reports the failure.
            self.has_shut = host.shutdown(self.handle).is_ok();
        }
        Ok(())
    }

    /// Reads the next chunk if the last chunk is sent; returns whether bytes are pending.
    fn fill(&mut self) -> Result<bool, SystemError> {
        while self.pending.is_empty() {
            let Some(source) = &mut self.source else { return Ok(false) };
            match source.read(&mut self.chunk) {
                Ok(0) => self.source = None,
                Ok(len) => self.pending = 0..len,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let message = format!("cannot read the data to send: {error}");
                    return Err(SystemError::new(message, "check that the file still exists"));
                }
            }
        }
        Ok(true)
    }

    fn receive(&mut self, host: &mut Host) -> Result<(), SystemError> {
        let mut bytes = [0; 1 << 14];
        while !self.has_received_end {
            match host.recv(self.handle, &mut bytes) {
                Ok(0) => self.has_received_end = true,
                Ok(len) => {
                    self.received += len as u64;
                    self.sink.write_all(&bytes[..len]).map_err(|error| unwritable(&error))?;
                }
                Err(Error::WouldBlock) => break,
                Err(error) => return Err(failed(error)),
            }
        }
        Ok(())
    }
}

fn failed(error: Error) -> SystemError {
    let help = match error {
        Error::ConnectionRefused => "no program listens at this address: check address and port",
        Error::HostUnreachable | Error::NetworkUnreachable => {
            "a router on the path reported this (ICMP): check the address, the route and packet filters"
        }
        Error::TimedOut => "check that the peer has a route back to this host's address",
        Error::ConnectionReset => "the peer reset the connection: see the peer's log",
        _ => "record the packets with --pcap FILE, and look for the cause in the capture",
    };
    SystemError::new(error.to_string(), help)
}

fn unwritable(error: &io::Error) -> SystemError {
    SystemError::new(format!("cannot write the received data: {error}"), "is the disk full?")
}

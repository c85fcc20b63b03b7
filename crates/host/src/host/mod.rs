//! A host and its socket operations. `packets.rs` handles packets, `sockets.rs` manages the table of sockets, and
//! `settings.rs` changes options of sockets in use.

mod packets;
mod settings;
mod sockets;

use crate::connection::Connection;
use crate::error::Error;
use crate::info::Info;
use crate::listener::Listener;
use crate::options::Options;
use crate::secret_numbers::SecretNumbers;
use lasthop_base::Time;
use lasthop_tcp::{Endpoint, Event, Role};
use lasthop_wire::Segment;
use lasthop_wire::bytes::FlowAddresses;
use slotmap::SlotMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

slotmap::new_key_type! {
    /// Handle of a socket. The handle of a closed socket is never used for another socket.
    pub struct Handle;
}

/// A host with its addresses and its sockets.
///
/// If a handle is invalid, calls return [`Error::BadHandle`]. If a call needs a connection and the socket is a
/// listener, the call returns [`Error::Invalid`].
pub struct Host {
    addresses: Vec<IpAddr>,
    mtu: u32,
    numbers: SecretNumbers,
    sockets: SlotMap<Handle, Socket>,
    connections: BTreeMap<(SocketAddr, SocketAddr), Handle>,
    /// Listeners by local address and port. An unspecified address means all addresses of its family.
    listeners: BTreeMap<SocketAddr, Handle>,
    timers: BTreeSet<(Time, Handle)>,
    /// Connections that may have a segment to send.
    busy: VecDeque<Handle>,
    resets: VecDeque<(FlowAddresses, Segment)>,
    packet: Vec<u8>,
    events: VecDeque<Traced>,
    is_tracing: bool,
    counters: HostCounters,
}

/// Counters of the whole host, in addition to the counters of its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
    /// Packets that cannot be parsed or have a wrong checksum.
    pub malformed: u64,
    /// Packets to other addresses, and packets that are neither TCP nor ICMP errors about TCP.
    pub not_for_us: u64,
    /// ICMP errors about TCP segments.
    pub icmp_errors: u64,
    /// ICMP errors without effect: they do not concern a segment in flight, or their type is ignored.
    pub icmp_ignored: u64,
    /// Segments that neither belong to a connection nor open a connection.
    pub unmatched_segments: u64,
    /// SYNs dropped because the backlog was full.
    pub backlog_full: u64,
}

/// An event of one connection, recorded for a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traced {
    /// Time of the event.
    pub time: Time,
    /// Addresses of the connection.
    pub ends: FlowAddresses,
    /// The event.
    pub event: Event,
}

/// Reports which operations would not block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// Whether [`Host::recv`] has bytes, the end of the stream or an error to return, or [`Host::accept`] has a
    /// connection.
    pub readable: bool,
    /// Whether [`Host::send`] accepts bytes, or has an error to return.
    pub writable: bool,
    /// Whether both directions are finished.
    pub hung_up: bool,
}

struct Socket {
    kind: SocketKind,
    timer: Time,
    is_busy: bool,
}

enum SocketKind {
    Listener(Listener),
    Connection {
        connection: Connection,
        /// The listener that waits for the end of this connection's handshake.
        parent: Option<Handle>,
    },
}

const MAX_RESETS: usize = 64;

impl Host {
    /// Creates a host with these addresses. `mtu` is the MTU of its interface, bytes. Initial sequence numbers and
    /// ports are derived from `secret`.
    pub fn new(addresses: &[IpAddr], mtu: u16, secret: [u8; 16]) -> Host {
        Host {
            addresses: addresses.to_vec(),
            mtu: u32::from(mtu),
            numbers: SecretNumbers::new(secret),
            sockets: SlotMap::with_key(),
            connections: BTreeMap::new(),
            listeners: BTreeMap::new(),
            timers: BTreeSet::new(),
            busy: VecDeque::new(),
            resets: VecDeque::new(),
            packet: Vec::new(),
            events: VecDeque::new(),
            is_tracing: false,
            counters: HostCounters::default(),
        }
    }

    /// Listens on `local`, whose address may be unspecified. At most `backlog` connections can wait to be accepted.
    ///
    /// # Errors
    /// [`Error::AddressNotAvailable`], [`Error::AddressInUse`]; [`Error::Invalid`] if the port is 0 or an option is out
    /// of range.
    pub fn listen(&mut self, local: SocketAddr, backlog: usize, options: &Options) -> Result<Handle, Error> {
        if local.port() == 0 || !options.are_valid() {
            return Err(Error::Invalid);
        }
        if !local.ip().is_unspecified() && !self.addresses.contains(&local.ip()) {
            return Err(Error::AddressNotAvailable);
        }
        if self.listeners.contains_key(&local) {
            return Err(Error::AddressInUse);
        }
        let kind = SocketKind::Listener(Listener::new(local, options.clone(), backlog));
        let handle = self.sockets.insert(Socket::new(kind));
        self.listeners.insert(local, handle);
        Ok(handle)
    }

    /// Starts to open a connection from `local`, or from an ephemeral port if `local` is `None`. The connection is open
    /// as soon as the socket is [`Readiness::writable`].
    ///
    /// # Errors
    /// [`Error::NetworkUnreachable`], [`Error::AddressNotAvailable`] or [`Error::AddressInUse`]. [`Error::Invalid`] if
    /// the port is 0, the address is a broadcast or multicast address, the ends are of different families, or an option
    /// is out of range.
    pub fn connect(
        &mut self,
        now: Time,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<Handle, Error> {
        // A peer must have a unicast address (RFC 9293 §3.9.2, MUST-46).
        let is_one = match remote.ip() {
            IpAddr::V4(address) => !address.is_broadcast() && !address.is_multicast(),
            IpAddr::V6(address) => !address.is_multicast(),
        };
        if remote.port() == 0 || remote.ip().is_unspecified() || !is_one || !options.are_valid() {
            return Err(Error::Invalid);
        }
        let local = self.local_end(local, remote)?;
        let ends = FlowAddresses { source: local, destination: remote };
        let iss = self.numbers.initial(now, local, remote, None);
        let handle = self.insert(now, ends, iss, options, Role::Active, None);
        self.update(handle);
        Ok(handle)
    }

    /// Accepts the next connection of a listener. Returns its handle and the address of the peer.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if no connection waits to be accepted, [`Error::Invalid`] if the socket is not a listener,
    /// [`Error::BadHandle`].
    pub fn accept(&mut self, listener: Handle) -> Result<(Handle, SocketAddr), Error> {
        let SocketKind::Listener(listener) =
            &mut self.sockets.get_mut(listener).ok_or(Error::BadHandle)?.kind
        else {
            return Err(Error::Invalid);
        };
        let handle = listener.accept().ok_or(Error::WouldBlock)?;
        Ok((handle, self.connection(handle)?.ends.destination))
    }

    /// Queues bytes to send. Returns the number of bytes that the send buffer accepted, at least 1.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if the send buffer is full or the connection is not open yet. [`Error::BrokenPipe`] after
    /// a shutdown or after the end of the connection. The error that ended the connection, on the first call only.
    /// [`Error::BadHandle`]. [`Error::Invalid`] for a listener.
    pub fn send(&mut self, handle: Handle, bytes: &[u8]) -> Result<usize, Error> {
        let sent = self.connection(handle)?.send(bytes);
        self.update(handle);
        sent
    }

    /// Reads bytes. Returns the number of bytes read; 0 means the end of the peer's stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if no byte is available, also before the connection is open (as on Linux and FreeBSD). The
    /// error that ended the connection, on the first call after all bytes were read. [`Error::BadHandle`].
    /// [`Error::Invalid`] for a listener.
    pub fn recv(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        let received = self.connection(handle)?.recv(out);
        self.update(handle);
        received
    }

    /// `MSG_PEEK`: like [`Host::recv`], but leaves the bytes in the buffer and the window unchanged.
    ///
    /// # Errors
    /// The errors of [`Host::recv`]. If `peek` returns the error that ended the connection, later calls do not return
    /// that error again, as on Linux.
    pub fn peek(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        self.connection(handle)?.peek(out)
    }

    /// Shuts down sending: a FIN follows the bytes that were written.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the connection is not open yet or has ended.
    pub fn shutdown(&mut self, handle: Handle) -> Result<(), Error> {
        let done = self.connection(handle)?.shutdown();
        self.update(handle);
        done
    }

    /// `SHUT_RD`: shuts down reading. Bytes that have already arrived in order stay readable, followed by the end of
    /// the stream.
    ///
    /// TCP cannot notify the peer, because RFC 9293 §3.6 defines a half-close only for the sending side. Bytes that
    /// arrive later are acknowledged and discarded. The window stays open, so that the peer can finish, as on BSD; on
    /// Linux later bytes stay readable. If sending is also shut down, arriving data resets the connection, as after
    /// [`Host::close`] (RFC 1122 §4.2.2.13).
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the connection is not open yet or has ended.
    pub fn shutdown_read(&mut self, handle: Handle) -> Result<(), Error> {
        self.connection(handle)?.shutdown_read()
    }

    /// Closes the handle. The connection continues until all data is sent and both sides have finished. If there are
    /// unread bytes, the connection is reset. If the socket is a listener, its connections that were not accepted are
    /// reset.
    pub fn close(&mut self, now: Time, handle: Handle) -> Result<(), Error> {
        match &mut self
            .sockets
            .get_mut(handle)
            .filter(|socket| !socket.is_orphan())
            .ok_or(Error::BadHandle)?
            .kind
        {
            SocketKind::Listener(_) => self.close_listener(handle),
            SocketKind::Connection { connection, .. } => {
                connection.close(now);
                self.update(handle);
            }
        }
        Ok(())
    }

    /// Closes the handle and resets the connection.
    pub fn abort(&mut self, handle: Handle) -> Result<(), Error> {
        let connection = self.connection(handle)?;
        connection.endpoint.abort();
        connection.is_orphan = true;
        self.update(handle);
        Ok(())
    }

    /// Reports which operations would not block.
    pub fn readiness(&self, handle: Handle) -> Result<Readiness, Error> {
        let socket = self.sockets.get(handle).filter(|socket| !socket.is_orphan()).ok_or(Error::BadHandle)?;
        Ok(match &socket.kind {
            SocketKind::Listener(listener) => {
                Readiness { readable: listener.is_readable(), ..Readiness::default() }
            }
            SocketKind::Connection { connection, .. } => Readiness {
                readable: connection.is_readable(),
                writable: connection.is_writable(),
                hung_up: connection.is_over(),
            },
        })
    }

    /// `SO_ERROR`: the error that ended the connection, reported only once. Before the end of the connection, returns
    /// and clears the error of [`Host::soft_error`] (as on Linux).
    pub fn take_error(&mut self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection(handle)?.take_error())
    }

    /// The last ICMP error from a router or the peer; `None` if a segment was delivered after the error. The connection
    /// continues. If the connection later times out, it ends with this error (RFC 9293 §3.9.2.2, SHLD-25).
    pub fn soft_error(&self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection_ref(handle)?.icmp_error())
    }

    /// State of a connection.
    pub fn info(&self, handle: Handle) -> Result<Info, Error> {
        Ok(Info::of(self.connection_ref(handle)?))
    }

    /// Local and remote address of a connection.
    pub fn ends(&self, handle: Handle) -> Result<FlowAddresses, Error> {
        Ok(self.connection_ref(handle)?.ends)
    }

    /// The TCP endpoint of a connection, for inspection or tracing.
    pub fn endpoint(&mut self, handle: Handle) -> Result<&mut Endpoint, Error> {
        Ok(&mut self.connection(handle)?.endpoint)
    }

    /// Records the events of connections that open after this call. [`Host::poll_event`] returns the events.
    pub fn trace(&mut self) {
        self.is_tracing = true;
    }

    /// The oldest recorded event that was not returned yet. Events are recorded only after [`Host::trace`] was called.
    pub fn poll_event(&mut self) -> Option<Traced> {
        self.events.pop_front()
    }

    /// The host's counters.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// Number of sockets, including sockets that the application has closed and whose connections have not ended.
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// Number of connections that the application has closed and that still send or wait for data. Connections in
    /// TIME-WAIT do not count.
    pub fn lingering(&self) -> usize {
        let lingers = |socket: &Socket| match &socket.kind {
            SocketKind::Connection { connection, .. } => connection.is_orphan && !connection.is_over(),
            SocketKind::Listener(_) => false,
        };
        self.sockets.values().filter(|socket| lingers(socket)).count()
    }

    /// Handles all timers that have expired by `now`.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&(due, handle)) = self.timers.first().filter(|(due, _)| *due <= now) {
            if let Some(socket) = self.sockets.get_mut(handle) {
                if let SocketKind::Connection { connection, .. } = &mut socket.kind {
                    connection.handle_timeout(now);
                }
                self.update(handle);
            }
            // If the socket's next timeout is due at the same time, stop here to avoid an endless loop.
            if self.timers.first() == Some(&(due, handle)) {
                break;
            }
        }
    }

    /// Time of the next call of [`Host::handle_timeout`]; [`Time::NEVER`] if no timer runs.
    pub fn poll_timeout(&self) -> Time {
        self.timers.first().map_or(Time::NEVER, |(time, _)| *time)
    }

    fn close_listener(&mut self, handle: Handle) {
        let Some(Socket { kind: SocketKind::Listener(mut listener), .. }) = self.sockets.remove(handle)
        else {
            return;
        };
        self.listeners.remove(&listener.local);
        while let Some(waiting) = listener.accept() {
            // If the connection has ended meanwhile, there is nothing to reset.
            let _ = self.abort(waiting);
        }
        let opening: Vec<Handle> = self
            .sockets
            .iter()
            .filter(|(_, socket)| matches!(socket.kind, SocketKind::Connection { parent: Some(parent), .. } if parent == handle))
            .map(|(child, _)| child)
            .collect();
        for child in opening {
            let _ = self.abort(child);
        }
    }

    fn connection(&mut self, handle: Handle) -> Result<&mut Connection, Error> {
        match &mut self.sockets.get_mut(handle).ok_or(Error::BadHandle)?.kind {
            SocketKind::Connection { connection, .. } if !connection.is_orphan => Ok(connection),
            SocketKind::Connection { .. } => Err(Error::BadHandle),
            SocketKind::Listener(_) => Err(Error::Invalid),
        }
    }

    fn connection_ref_of(&self, handle: Handle) -> Option<&Connection> {
        match &self.sockets.get(handle)?.kind {
            SocketKind::Connection { connection, .. } => Some(connection),
            SocketKind::Listener(_) => None,
        }
    }

    fn connection_ref(&self, handle: Handle) -> Result<&Connection, Error> {
        match &self.sockets.get(handle).ok_or(Error::BadHandle)?.kind {
            SocketKind::Connection { connection, .. } if !connection.is_orphan => Ok(connection),
            SocketKind::Connection { .. } => Err(Error::BadHandle),
            SocketKind::Listener(_) => Err(Error::Invalid),
        }
    }
}

impl Socket {
    fn new(kind: SocketKind) -> Socket {
        Socket { kind, timer: Time::NEVER, is_busy: false }
    }

    fn is_orphan(&self) -> bool {
        matches!(&self.kind, SocketKind::Connection { connection, .. } if connection.is_orphan)
    }
}

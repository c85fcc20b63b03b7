//! A host and its socket operations. `packets.rs` handles packets, `sockets.rs` manages the table of sockets, and
//! `settings.rs` changes the options of existing sockets.

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

/// A host with IP addresses and TCP sockets.
///
/// If a handle is invalid, a call returns [`Error::BadHandle`]. If a call needs a connection and the socket is a
/// listener, the call returns [`Error::Invalid`].
pub struct Host {
    addresses: Vec<IpAddr>,
    mtu: u32,
    numbers: SecretNumbers,
    sockets: SlotMap<Handle, Socket>,
    connections: BTreeMap<(SocketAddr, SocketAddr), Handle>,
    /// Listeners by local address and port. The unspecified address of IPv4 or IPv6 means all addresses of that family.
    listeners: BTreeMap<SocketAddr, Handle>,
    timers: BTreeSet<(Time, Handle)>,
    /// Connections that may have a segment to send, in the order of sending.
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
    /// Malformed packets: packets that cannot be parsed or have a wrong checksum.
    pub malformed: u64,
    /// Packets to other addresses or with an invalid source address, and packets that are neither TCP nor ICMP errors
    /// about TCP.
    pub not_for_us: u64,
    /// ICMP errors about TCP segments from addresses of this host.
    pub icmp_errors: u64,
    /// ICMP errors that have no effect, because the quoted segment is not in flight or the host ignores the type of the
    /// error.
    pub icmp_ignored: u64,
    /// TCP segments that neither belong to a connection nor open a connection.
    pub unmatched_segments: u64,
    /// SYNs dropped because the backlog was full.
    pub backlog_full: u64,
}

/// An event of a connection, recorded for a trace.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traced {
    /// Time of the event.
    pub time: Time,
    /// Addresses and ports of the connection.
    pub ends: FlowAddresses,
    /// Recorded event.
    pub event: Event,
}

/// Operations of a socket that would not block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// For a connection: whether [`Host::recv`] returns bytes, the end of the stream or an error. For a listener:
    /// whether [`Host::accept`] returns a connection.
    pub readable: bool,
    /// Whether [`Host::send`] accepts bytes or returns the error that ended the connection.
    pub writable: bool,
    /// Whether both directions of the connection have ended.
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
        /// Listener to which the connection belongs until the end of the handshake.
        parent: Option<Handle>,
    },
}

/// Maximum number of resets that wait to be sent.
const MAX_RESETS: usize = 64;

impl Host {
    /// Creates a host with these IP addresses. `mtu` is the MTU of the host's interface, bytes. Initial sequence
    /// numbers and ephemeral ports are derived from `secret`.
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

    /// Listens on `local`, whose address may be unspecified. `backlog` is the maximum number of half-open connections
    /// and of connections that the application has not accepted.
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

    /// Starts to open a connection from `local`. If `local` is `None`, the host chooses an address and an ephemeral
    /// port. The connection is open as soon as the socket is [`Readiness::writable`].
    ///
    /// # Errors
    /// [`Error::NetworkUnreachable`], [`Error::AddressNotAvailable`] or [`Error::AddressInUse`]. [`Error::Invalid`] if
    /// the remote port is 0, the remote address is unspecified, broadcast or multicast, the two addresses have
    /// different families, or an option is out of range.
    pub fn connect(
        &mut self,
        now: Time,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<Handle, Error> {
        // The remote address must be a unicast address (RFC 9293 §3.9.2, MUST-46).
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

    /// Accepts the next connection of a listener. Returns the handle of the connection and the address of the peer.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if the listener has no open connection to accept. [`Error::Invalid`] if the socket is not
    /// a listener. [`Error::BadHandle`] for an invalid handle.
    pub fn accept(&mut self, listener: Handle) -> Result<(Handle, SocketAddr), Error> {
        let SocketKind::Listener(listener) =
            &mut self.sockets.get_mut(listener).ok_or(Error::BadHandle)?.kind
        else {
            return Err(Error::Invalid);
        };
        let handle = listener.accept().ok_or(Error::WouldBlock)?;
        Ok((handle, self.connection(handle)?.ends.destination))
    }

    /// Appends bytes to the send buffer. Returns the number of bytes that the send buffer accepted, at least 1 unless
    /// `bytes` is empty.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if the send buffer is full or the connection is not open yet. [`Error::BrokenPipe`] after
    /// a shutdown or after the end of the connection. The error that ended the connection, on the first call only.
    /// [`Error::BadHandle`] for an invalid handle. [`Error::Invalid`] for a listener.
    pub fn send(&mut self, handle: Handle, bytes: &[u8]) -> Result<usize, Error> {
        let sent = self.connection(handle)?.send(bytes);
        self.update(handle);
        sent
    }

    /// Reads bytes from the receive buffer. Returns the number of bytes read; 0 means the end of the peer's stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if no byte is readable, also before the connection is open (as on Linux and FreeBSD). The
    /// error that ended the connection, on the first call after all bytes were read. [`Error::BadHandle`] for an
    /// invalid handle. [`Error::Invalid`] for a listener.
    pub fn recv(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        let received = self.connection(handle)?.recv(out);
        self.update(handle);
        received
    }

    /// `MSG_PEEK`: copies readable bytes like [`Host::recv`], but leaves the bytes in the receive buffer. The
    /// advertised window does not change.
    ///
    /// # Errors
    /// The errors of [`Host::recv`]. If `peek` returns the error that ended the connection, later calls do not return
    /// this error (as on Linux).
    pub fn peek(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        self.connection(handle)?.peek(out)
    }

    /// Shuts down sending: the host sends a FIN after all bytes that the application has written.
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the connection is not open yet or has ended.
    pub fn shutdown(&mut self, handle: Handle) -> Result<(), Error> {
        let done = self.connection(handle)?.shutdown();
        self.update(handle);
        done
    }

    /// `SHUT_RD`: shuts down reading. Bytes that have already arrived in order stay readable. The end of the stream
    /// follows these bytes.
    ///
    /// The host cannot notify the peer, because RFC 9293 §3.6 defines a half-close only for the sending side. Bytes
    /// that arrive later are acknowledged and discarded (as on BSD; on Linux, later bytes stay readable). The window
    /// stays open, so that the peer can send all its data. If sending is also shut down, arriving data resets the
    /// connection, as after [`Host::close`] (RFC 1122 §4.2.2.13).
    ///
    /// # Errors
    /// [`Error::NotConnected`] if the connection is not open yet or has ended.
    pub fn shutdown_read(&mut self, handle: Handle) -> Result<(), Error> {
        self.connection(handle)?.shutdown_read()
    }

    /// Closes the handle. The connection continues until all data is acknowledged and both sides have sent a FIN. If
    /// the receive buffer has unread bytes, the connection is reset. If the socket is a listener, the host resets all
    /// connections of the listener that the application has not accepted.
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

    /// Returns the operations of the socket that would not block.
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

    /// `SO_ERROR`: returns the error that ended the connection, on the first call only. Before the end of the
    /// connection, returns and clears the error of [`Host::soft_error`] (as on Linux).
    pub fn take_error(&mut self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection(handle)?.take_error())
    }

    /// Returns the last ICMP error from a router or the peer, while the connection continues. `None` if the peer
    /// acknowledged data or the connection opened after the error. If the connection later times out, the connection
    /// ends with this error (RFC 9293 §3.9.2.2, SHLD-25).
    pub fn soft_error(&self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection_ref(handle)?.icmp_error())
    }

    /// Returns the state of a connection.
    pub fn info(&self, handle: Handle) -> Result<Info, Error> {
        Ok(Info::of(self.connection_ref(handle)?))
    }

    /// Returns the addresses and ports of a connection. `source` is the local end.
    pub fn ends(&self, handle: Handle) -> Result<FlowAddresses, Error> {
        Ok(self.connection_ref(handle)?.ends)
    }

    /// Returns the TCP endpoint of a connection, for inspection or tracing.
    pub fn endpoint(&mut self, handle: Handle) -> Result<&mut Endpoint, Error> {
        Ok(&mut self.connection(handle)?.endpoint)
    }

    /// Records the events of connections that open after this call. [`Host::poll_event`] returns the events.
    pub fn trace(&mut self) {
        self.is_tracing = true;
    }

    /// Removes and returns the oldest recorded event. The host records events only after a call of [`Host::trace`].
    pub fn poll_event(&mut self) -> Option<Traced> {
        self.events.pop_front()
    }

    /// Returns the counters of the host.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// Returns the number of sockets. Includes sockets whose handle the application has closed and whose connection has
    /// not ended.
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// Returns the number of connections whose handle the application has closed and that have not ended. Connections
    /// in TIME-WAIT do not count.
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
            // If the next timeout of the same socket is due at the same time, stop here to avoid an endless loop.
            if self.timers.first() == Some(&(due, handle)) {
                break;
            }
        }
    }

    /// Returns the time at which the driver must call [`Host::handle_timeout`] next; [`Time::NEVER`] if no timer runs.
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
            // `abort` fails only if the socket does not exist. In this case nothing needs a reset.
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

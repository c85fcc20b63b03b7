//! A host: the sockets' operations. `packets.rs` handles packets, `sockets.rs` the table of sockets, `settings.rs`
//! options of sockets in use.

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
    /// A socket. Handles of closed sockets are not reused.
    pub struct Handle;
}

/// A host with its addresses and its sockets.
///
/// Calls with an invalid handle return [`Error::BadHandle`]; calls that need a connection return [`Error::Invalid`] for a
/// listener.
pub struct Host {
    addresses: Vec<IpAddr>,
    mtu: u32,
    numbers: SecretNumbers,
    sockets: SlotMap<Handle, Socket>,
    connections: BTreeMap<(SocketAddr, SocketAddr), Handle>,
    /// Listeners by local end; an unspecified address means all addresses of its family.
    listeners: BTreeMap<SocketAddr, Handle>,
    timers: BTreeSet<(Time, Handle)>,
    /// Connections that may have something to send.
    busy: VecDeque<Handle>,
    resets: VecDeque<(FlowAddresses, Segment)>,
    packet: Vec<u8>,
    events: VecDeque<Traced>,
    is_tracing: bool,
    counters: HostCounters,
}

/// Counters of a host, apart from its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Packets received.
    pub packets_in: u64,
    /// Packets sent.
    pub packets_out: u64,
    /// Unreadable packets and packets with a wrong checksum.
    pub malformed: u64,
    /// Packets to other addresses, and packets other than TCP and ICMP errors about TCP.
    pub not_for_us: u64,
    /// ICMP errors about TCP segments.
    pub icmp_errors: u64,
    /// ICMP errors without effect: not about a segment in flight, or of an ignored type.
    pub icmp_ignored: u64,
    /// Segments without a connection.
    pub unmatched_segments: u64,
    /// SYNs dropped because the backlog was full.
    pub backlog_full: u64,
}

/// An event of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traced {
    /// Time.
    pub time: Time,
    /// Addresses of the connection.
    pub ends: FlowAddresses,
    /// The event.
    pub event: Event,
}

/// Operations that would not block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// [`Host::recv`] has bytes, the end of the stream or an error; [`Host::accept`] has a connection.
    pub readable: bool,
    /// [`Host::send`] takes bytes, or has an error.
    pub writable: bool,
    /// Both directions are finished.
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
        /// Listener that waits for the handshake.
        parent: Option<Handle>,
    },
}

const MAX_RESETS: usize = 64;

impl Host {
    /// A host with these addresses behind an interface with this MTU, bytes. Initial sequence numbers and ports are
    /// derived from `secret`.
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

    /// Listens on `local`, whose address may be unspecified; at most `backlog` connections wait to be accepted.
    ///
    /// # Errors
    /// [`Error::AddressNotAvailable`], [`Error::AddressInUse`], [`Error::Invalid`] for port 0 or options out of range.
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

    /// Opens a connection from `local` or from an ephemeral port; it is open once [`Readiness::writable`].
    ///
    /// # Errors
    /// [`Error::NetworkUnreachable`], [`Error::AddressNotAvailable`], [`Error::AddressInUse`], [`Error::Invalid`] for
    /// port 0, a broadcast or multicast address, ends of different families, or options out of range.
    pub fn connect(
        &mut self,
        now: Time,
        local: Option<SocketAddr>,
        remote: SocketAddr,
        options: &Options,
    ) -> Result<Handle, Error> {
        // Only unicast peers (RFC 9293 §3.9.2, MUST-46).
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

    /// The next connection of a listener, and its peer.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if no connection waits, [`Error::Invalid`] if the socket does not listen,
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

    /// Queues bytes to send; returns their number, at least 1.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if the send buffer is full or the connection not yet open, [`Error::BrokenPipe`] after a
    /// shutdown or the connection's end, the error that ended the connection (once), [`Error::BadHandle`],
    /// [`Error::Invalid`] for a listener.
    pub fn send(&mut self, handle: Handle, bytes: &[u8]) -> Result<usize, Error> {
        let sent = self.connection(handle)?.send(bytes);
        self.update(handle);
        sent
    }

    /// Reads bytes; returns their number, 0 at the end of the peer's stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if no byte is available, also before the connection is open (as Linux and FreeBSD), the
    /// error that ended the connection (once, after all bytes were read), [`Error::BadHandle`], [`Error::Invalid`] for
    /// a listener.
    pub fn recv(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        let received = self.connection(handle)?.recv(out);
        self.update(handle);
        received
    }

    /// `MSG_PEEK`: like [`Host::recv`], but bytes and window stay unchanged.
    ///
    /// # Errors
    /// Those of [`Host::recv`]; the error that ended the connection then counts as reported, as on Linux.
    pub fn peek(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        self.connection(handle)?.peek(out)
    }

    /// Shuts down sending: a FIN follows the bytes written.
    ///
    /// # Errors
    /// [`Error::NotConnected`].
    pub fn shutdown(&mut self, handle: Handle) -> Result<(), Error> {
        let done = self.connection(handle)?.shutdown();
        self.update(handle);
        done
    }

    /// `SHUT_RD`: shuts down reading. Bytes that have arrived in order stay readable, followed by the end of the
    /// stream.
    ///
    /// TCP cannot notify the peer: RFC 9293 §3.6 has a half-close of the sending side only. Later bytes are
    /// acknowledged and discarded, and the window stays open, so that the peer can finish, as on BSD. On Linux later
    /// bytes stay readable. After sending is shut down too, arriving data resets the connection, as after
    /// [`Host::close`] (RFC 1122 §4.2.2.13).
    ///
    /// # Errors
    /// [`Error::NotConnected`].
    pub fn shutdown_read(&mut self, handle: Handle) -> Result<(), Error> {
        self.connection(handle)?.shutdown_read()
    }

    /// Closes the handle. The connection continues until everything is sent and both sides have finished. Unread bytes
    /// cause a reset. A listener's connections that were not accepted are reset.
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

    /// Operations that would not block.
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

    /// `SO_ERROR`: the error that ended the connection, reported once. Before the end, the error of
    /// [`Host::soft_error`], which is then cleared (as on Linux).
    pub fn take_error(&mut self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection(handle)?.take_error())
    }

    /// The last ICMP error from a router or the peer, unless something has got through since. The connection continues;
    /// if it times out, it ends with this error (RFC 9293 §3.9.2.2, SHLD-25).
    pub fn soft_error(&self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection_ref(handle)?.icmp_error())
    }

    /// State of a connection.
    pub fn info(&self, handle: Handle) -> Result<Info, Error> {
        Ok(Info::of(self.connection_ref(handle)?))
    }

    /// Local and remote end of a connection.
    pub fn ends(&self, handle: Handle) -> Result<FlowAddresses, Error> {
        Ok(self.connection_ref(handle)?.ends)
    }

    /// The endpoint, for inspection or tracing.
    pub fn endpoint(&mut self, handle: Handle) -> Result<&mut Endpoint, Error> {
        Ok(&mut self.connection(handle)?.endpoint)
    }

    /// Records events of connections opened from now on; read them with [`Host::poll_event`].
    pub fn trace(&mut self) {
        self.is_tracing = true;
    }

    /// The next event, oldest first; none unless [`Host::trace`] was called.
    pub fn poll_event(&mut self) -> Option<Traced> {
        self.events.pop_front()
    }

    /// The host's counters.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// Number of sockets, including those that the application has closed and that have not ended.
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// Number of closed connections that still send or wait for data, without TIME-WAIT.
    pub fn lingering(&self) -> usize {
        let lingers = |socket: &Socket| match &socket.kind {
            SocketKind::Connection { connection, .. } => connection.is_orphan && !connection.is_over(),
            SocketKind::Listener(_) => false,
        };
        self.sockets.values().filter(|socket| lingers(socket)).count()
    }

    /// Handles deadlines that may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&(due, handle)) = self.timers.first().filter(|(due, _)| *due <= now) {
            if let Some(socket) = self.sockets.get_mut(handle) {
                if let SocketKind::Connection { connection, .. } = &mut socket.kind {
                    connection.handle_timeout(now);
                }
                self.update(handle);
            }
            // A socket with another timeout due at once would cause an endless loop.
            if self.timers.first() == Some(&(due, handle)) {
                break;
            }
        }
    }

    /// Time of the next [`Host::handle_timeout`]; [`Time::NEVER`] if none is due.
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
            // The connection may have ended; then there is nothing to reset.
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

//! A host: what applications ask of it. Its packets are in `packets.rs`, its table of sockets in `sockets.rs`,
//! options of sockets that are in use in `settings.rs`.

mod packets;
mod settings;
mod sockets;

use crate::connection::Connection;
use crate::error::Error;
use crate::info::Info;
use crate::listener::Listener;
use crate::numbers::Numbers;
use crate::options::Options;
use lasthop_base::Time;
use lasthop_tcp::{Endpoint, Event, Role};
use lasthop_wire::Segment;
use lasthop_wire::bytes::Ends;
use slotmap::SlotMap;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

slotmap::new_key_type! {
    /// A socket. Handles of closed sockets are never given out again.
    pub struct Handle;
}

/// A host with its addresses and its sockets.
pub struct Host {
    addresses: Vec<IpAddr>,
    mtu: u32,
    numbers: Numbers,
    sockets: SlotMap<Handle, Socket>,
    /// Connections by local and remote end.
    connections: BTreeMap<(SocketAddr, SocketAddr), Handle>,
    /// Listeners by local end; an unspecified address stands for all of its family.
    listeners: BTreeMap<SocketAddr, Handle>,
    /// When each connection wants to be woken.
    timers: BTreeSet<(Time, Handle)>,
    /// Connections that may have something to send.
    busy: VecDeque<Handle>,
    /// Resets for packets of no connection.
    strays: VecDeque<(Ends, Segment)>,
    /// The packet given out last.
    packet: Vec<u8>,
    /// Events of connections, if they are traced.
    events: VecDeque<Traced>,
    is_tracing: bool,
    counters: HostCounters,
}

/// What a host counts, apart from its connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HostCounters {
    /// Packets that arrived.
    pub packets_in: u64,
    /// Packets that left.
    pub packets_out: u64,
    /// Packets that could not be read, or whose checksum was wrong.
    pub malformed: u64,
    /// Packets that were neither TCP nor an ICMP error about it to an address of this host.
    pub not_for_us: u64,
    /// ICMP errors about TCP segments.
    pub icmp_errors: u64,
    /// Of these, the ones that are not heeded: about no segment that may be on its way, or nothing to heed in them.
    pub icmp_ignored: u64,
    /// Segments of no connection.
    pub strays: u64,
    /// SYNs that found the backlog full.
    pub backlog_full: u64,
}

/// An event of a connection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Traced {
    /// When.
    pub time: Time,
    /// Between which ends.
    pub ends: Ends,
    /// What happened.
    pub event: Event,
}

/// What can be done with a socket without waiting.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Readiness {
    /// [`Host::recv`] has bytes, the end of the stream or an error; [`Host::accept`] has a connection.
    pub readable: bool,
    /// [`Host::send`] takes bytes, or has an error.
    pub writable: bool,
    /// Both directions are over.
    pub hung_up: bool,
}

struct Socket {
    kind: Kind,
    /// Under which time it stands in `timers`.
    timer: Time,
    /// Whether it stands in `busy`.
    is_busy: bool,
}

enum Kind {
    Listener(Listener),
    Connection {
        connection: Connection,
        /// The listener that waits for its handshake.
        parent: Option<Handle>,
    },
}

/// The most resets that wait to be sent.
const MOST_STRAYS: usize = 64;

impl Host {
    /// A host with these addresses behind an interface that takes packets of `mtu` bytes; initial sequence numbers
    /// and ports come from `secret`.
    pub fn new(addresses: &[IpAddr], mtu: u16, secret: [u8; 16]) -> Host {
        Host {
            addresses: addresses.to_vec(),
            mtu: u32::from(mtu),
            numbers: Numbers::new(secret),
            sockets: SlotMap::with_key(),
            connections: BTreeMap::new(),
            listeners: BTreeMap::new(),
            timers: BTreeSet::new(),
            busy: VecDeque::new(),
            strays: VecDeque::new(),
            packet: Vec::new(),
            events: VecDeque::new(),
            is_tracing: false,
            counters: HostCounters::default(),
        }
    }

    /// Waits for connections to `local`, whose address may be unspecified; at most `backlog` wait to be accepted.
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
        let kind = Kind::Listener(Listener::new(local, options.clone(), backlog));
        let handle = self.sockets.insert(Socket::new(kind));
        self.listeners.insert(local, handle);
        Ok(handle)
    }

    /// Begins to open a connection, from `local` or from an ephemeral port; it is open once [`Readiness::writable`].
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
        // One connection has one peer (RFC 9293 §3.9.2, MUST-46).
        let is_one = match remote.ip() {
            IpAddr::V4(address) => !address.is_broadcast() && !address.is_multicast(),
            IpAddr::V6(address) => !address.is_multicast(),
        };
        if remote.port() == 0 || remote.ip().is_unspecified() || !is_one || !options.are_valid() {
            return Err(Error::Invalid);
        }
        let local = self.local_end(local, remote)?;
        let ends = Ends { source: local, destination: remote };
        let iss = self.numbers.initial(now, local, remote, None);
        let handle = self.insert(now, ends, iss, options, Role::Active, None);
        self.settle(handle);
        Ok(handle)
    }

    /// The next connection of a listener, and who it is with.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if there is none, [`Error::Invalid`] if the socket does not listen, [`Error::BadHandle`].
    pub fn accept(&mut self, listener: Handle) -> Result<(Handle, SocketAddr), Error> {
        let Kind::Listener(listener) = &mut self.sockets.get_mut(listener).ok_or(Error::BadHandle)?.kind
        else {
            return Err(Error::Invalid);
        };
        let handle = listener.accept().ok_or(Error::WouldBlock)?;
        Ok((handle, self.connection(handle)?.ends.destination))
    }

    /// Takes bytes to send: how many, 1 at least.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if the send buffer is full or the connection not yet open, [`Error::BrokenPipe`] if it was
    /// shut down or has ended, the error that ended it (once), [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn send(&mut self, handle: Handle, bytes: &[u8]) -> Result<usize, Error> {
        let sent = self.connection(handle)?.send(bytes);
        self.settle(handle);
        sent
    }

    /// Reads bytes that arrived: how many, 0 at the end of the peer's stream.
    ///
    /// # Errors
    /// [`Error::WouldBlock`] if nothing is there, also before the connection is open (as Linux and FreeBSD answer), the error
    /// that ended it (once, after all bytes were read), [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn recv(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        let received = self.connection(handle)?.recv(out);
        self.settle(handle);
        received
    }

    /// `MSG_PEEK`: the same as [`Host::recv`], but the bytes stay, and the window as it is.
    ///
    /// # Errors
    /// Those of [`Host::recv`]; the error that ended the connection counts as told, as on Linux.
    pub fn peek(&mut self, handle: Handle, out: &mut [u8]) -> Result<usize, Error> {
        self.connection(handle)?.peek(out)
    }

    /// Ends the sending half: a FIN follows what was written.
    ///
    /// # Errors
    /// [`Error::NotConnected`], [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn shutdown(&mut self, handle: Handle) -> Result<(), Error> {
        let done = self.connection(handle)?.shutdown();
        self.settle(handle);
        done
    }

    /// `SHUT_RD`: ends the reading half. What has arrived in order can still be read; behind it is the end of the stream.
    ///
    /// TCP cannot tell the peer (RFC 9293 §3.6 knows a half-close of the sending side alone), so what it sends is
    /// acknowledged and dropped, and its window stays open: a peer in the middle of a reply that nobody wants can go
    /// on to the end of it, neither reset nor blocked, as on BSD. Linux differs: what comes later can be read there.
    /// Once the sending half is shut down too, data that comes resets the connection, as after [`Host::close`] (RFC
    /// 1122 §4.2.2.13).
    ///
    /// # Errors
    /// [`Error::NotConnected`], [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn shutdown_read(&mut self, handle: Handle) -> Result<(), Error> {
        self.connection(handle)?.shutdown_read()
    }

    /// Gives the handle back. A connection goes on by itself until everything is sent and both sides have finished; if
    /// bytes were not read, it is reset. A listener's connections that nobody accepted are reset.
    ///
    /// # Errors
    /// [`Error::BadHandle`].
    pub fn close(&mut self, now: Time, handle: Handle) -> Result<(), Error> {
        match &mut self
            .sockets
            .get_mut(handle)
            .filter(|socket| !socket.is_orphan())
            .ok_or(Error::BadHandle)?
            .kind
        {
            Kind::Listener(_) => self.close_listener(handle),
            Kind::Connection { connection, .. } => {
                connection.close(now);
                self.settle(handle);
            }
        }
        Ok(())
    }

    /// Gives the handle back and resets the connection.
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn abort(&mut self, handle: Handle) -> Result<(), Error> {
        let connection = self.connection(handle)?;
        connection.endpoint.abort();
        connection.is_orphan = true;
        self.settle(handle);
        Ok(())
    }

    /// What can be done without waiting.
    ///
    /// # Errors
    /// [`Error::BadHandle`].
    pub fn readiness(&self, handle: Handle) -> Result<Readiness, Error> {
        let socket = self.sockets.get(handle).filter(|socket| !socket.is_orphan()).ok_or(Error::BadHandle)?;
        Ok(match &socket.kind {
            Kind::Listener(listener) => {
                Readiness { readable: listener.is_readable(), ..Readiness::default() }
            }
            Kind::Connection { connection, .. } => Readiness {
                readable: connection.is_readable(),
                writable: connection.is_writable(),
                hung_up: connection.is_over(),
            },
        })
    }

    /// `SO_ERROR`: the error that ended the connection, told once; while it goes on, what [`Host::soft_error`] tells,
    /// which then is forgotten (as on Linux).
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn take_error(&mut self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection(handle)?.take_error())
    }

    /// What routers, or the peer's host, say of packets that were not delivered (ICMP), if nothing has got through since.
    /// The connection goes on; if it times out, that is the error that it ends with (RFC 9293 §3.9.2.2, SHLD-25).
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn soft_error(&self, handle: Handle) -> Result<Option<Error>, Error> {
        Ok(self.connection_ref(handle)?.complaint())
    }

    /// What a connection knows of itself.
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn info(&self, handle: Handle) -> Result<Info, Error> {
        Ok(Info::of(self.connection_ref(handle)?))
    }

    /// Local and remote end of a connection.
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn ends(&self, handle: Handle) -> Result<Ends, Error> {
        Ok(self.connection_ref(handle)?.ends)
    }

    /// The endpoint itself, to look at or to trace.
    ///
    /// # Errors
    /// [`Error::BadHandle`], [`Error::Invalid`] for a listener.
    pub fn endpoint(&mut self, handle: Handle) -> Result<&mut Endpoint, Error> {
        Ok(&mut self.connection(handle)?.endpoint)
    }

    /// Tells every event of connections opened from now on; [`Host::poll_event`] has to be called then.
    pub fn trace(&mut self) {
        self.is_tracing = true;
    }

    /// The next event, oldest first; none unless [`Host::trace`] was called.
    pub fn poll_event(&mut self) -> Option<Traced> {
        self.events.pop_front()
    }

    /// What the host counts.
    pub fn counters(&self) -> HostCounters {
        self.counters
    }

    /// How many sockets there are, those included that the application has closed and that are not yet over.
    pub fn sockets(&self) -> usize {
        self.sockets.len()
    }

    /// How many closed connections still have something to send or to hear, those in TIME-WAIT not counted.
    pub fn lingering(&self) -> usize {
        let lingers = |socket: &Socket| match &socket.kind {
            Kind::Connection { connection, .. } => connection.is_orphan && !connection.is_over(),
            Kind::Listener(_) => false,
        };
        self.sockets.values().filter(|socket| lingers(socket)).count()
    }

    /// Deadlines may have passed.
    pub fn handle_timeout(&mut self, now: Time) {
        while let Some(&(due, handle)) = self.timers.first().filter(|(due, _)| *due <= now) {
            if let Some(socket) = self.sockets.get_mut(handle) {
                if let Kind::Connection { connection, .. } = &mut socket.kind {
                    connection.handle_timeout(now);
                }
                self.settle(handle);
            }
            // A socket that wants to be woken again at once would keep us here for ever.
            if self.timers.first() == Some(&(due, handle)) {
                break;
            }
        }
    }

    /// When [`Host::handle_timeout`] wants to be called, [`Time::NEVER`] if at no time.
    pub fn poll_timeout(&self) -> Time {
        self.timers.first().map_or(Time::NEVER, |(time, _)| *time)
    }

    fn close_listener(&mut self, handle: Handle) {
        let Some(Socket { kind: Kind::Listener(mut listener), .. }) = self.sockets.remove(handle) else {
            return;
        };
        self.listeners.remove(&listener.local);
        while let Some(waiting) = listener.accept() {
            // It may be gone already; then there is nothing to reset.
            let _ = self.abort(waiting);
        }
        let opening: Vec<Handle> = self
            .sockets
            .iter()
            .filter(|(_, socket)| matches!(socket.kind, Kind::Connection { parent: Some(parent), .. } if parent == handle))
            .map(|(child, _)| child)
            .collect();
        for child in opening {
            let _ = self.abort(child);
        }
    }

    fn connection(&mut self, handle: Handle) -> Result<&mut Connection, Error> {
        match &mut self.sockets.get_mut(handle).ok_or(Error::BadHandle)?.kind {
            Kind::Connection { connection, .. } if !connection.is_orphan => Ok(connection),
            Kind::Connection { .. } => Err(Error::BadHandle),
            Kind::Listener(_) => Err(Error::Invalid),
        }
    }

    fn connection_ref_of(&self, handle: Handle) -> Option<&Connection> {
        match &self.sockets.get(handle)?.kind {
            Kind::Connection { connection, .. } => Some(connection),
            Kind::Listener(_) => None,
        }
    }

    fn connection_ref(&self, handle: Handle) -> Result<&Connection, Error> {
        match &self.sockets.get(handle).ok_or(Error::BadHandle)?.kind {
            Kind::Connection { connection, .. } if !connection.is_orphan => Ok(connection),
            Kind::Connection { .. } => Err(Error::BadHandle),
            Kind::Listener(_) => Err(Error::Invalid),
        }
    }
}

impl Socket {
    fn new(kind: Kind) -> Socket {
        Socket { kind, timer: Time::NEVER, is_busy: false }
    }

    fn is_orphan(&self) -> bool {
        matches!(&self.kind, Kind::Connection { connection, .. } if connection.is_orphan)
    }
}

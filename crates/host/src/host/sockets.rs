//! The table of sockets: opens connections, updates the host after a connection changes, and removes sockets.

use super::{Handle, Host, Socket, SocketKind, Traced};
use crate::connection::Connection;
use crate::error::Error;
use crate::options::Options;
use lasthop_base::{Stream, Time};
use lasthop_tcp::{Config, Endpoint, Role, State};
use lasthop_wire::Seq;
use lasthop_wire::bytes::FlowAddresses;
use std::collections::{BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};

impl Host {
    pub(super) fn insert(
        &mut self,
        now: Time,
        ends: FlowAddresses,
        iss: Seq,
        options: &Options,
        role: Role,
        parent: Option<Handle>,
    ) -> Handle {
        // `headers` is the length of the fixed IP and TCP headers, bytes. `default_mss` applies if the peer sends no
        // MSS option (RFC 9293 §3.7.1).
        let (headers, default_mss) = if ends.source.is_ipv4() { (40, 536) } else { (60, 1220) };
        let config = Config { default_mss, ..options.config(self.mtu.saturating_sub(headers)) };
        let random = Stream::named(self.numbers.seed(ends.source, ends.destination), "endpoint");
        let mut endpoint = Endpoint::new(config, role, iss, random);
        if self.is_tracing {
            endpoint.trace();
        }
        endpoint.open(now);
        let connection = Connection::new(ends, endpoint, options);
        let handle = self.sockets.insert(Socket::new(SocketKind::Connection { connection, parent }));
        self.connections.insert((ends.source, ends.destination), handle);
        handle
    }

    pub(super) fn local_end(
        &mut self,
        local: Option<SocketAddr>,
        remote: SocketAddr,
    ) -> Result<SocketAddr, Error> {
        let is_family = |address: &IpAddr| address.is_ipv4() == remote.is_ipv4();
        let address = match local.map(|end| end.ip()).filter(|address| !address.is_unspecified()) {
            Some(address) if !is_family(&address) => return Err(Error::Invalid),
            Some(address) if !self.addresses.contains(&address) => return Err(Error::AddressNotAvailable),
            Some(address) => address,
            None => {
                *self.addresses.iter().find(|address| is_family(address)).ok_or(Error::NetworkUnreachable)?
            }
        };
        match local.map(|end| end.port()).filter(|port| *port != 0) {
            Some(port) => {
                let end = SocketAddr::new(address, port);
                if self.connections.contains_key(&(end, remote)) {
                    return Err(Error::AddressInUse);
                }
                Ok(end)
            }
            None => {
                let mut ends = self.numbers.ports(remote).map(|port| SocketAddr::new(address, port));
                ends.find(|end| !self.connections.contains_key(&(*end, remote))).ok_or(Error::AddressInUse)
            }
        }
    }

    /// Updates the queue of sending connections, the timers and the listener after a connection may have changed.
    pub(super) fn update(&mut self, handle: Handle) {
        let Some(socket) = self.sockets.get_mut(handle) else { return };
        if !socket.is_busy {
            socket.is_busy = true;
            self.busy.push_back(handle);
        }
        let SocketKind::Connection { connection, parent } = &mut socket.kind else { return };
        drain_events(connection, self.is_tracing, &mut self.events);
        schedule(&mut self.timers, handle, &mut socket.timer, connection.timeout());
        let has_ended = connection.endpoint.ended().is_some();
        let opened_for = if connection.is_open() { parent.take() } else { None };
        if let Some(Socket { kind: SocketKind::Listener(listener), .. }) =
            opened_for.and_then(|parent| self.sockets.get_mut(parent))
        {
            listener.add_ready(handle);
        }
        if has_ended {
            self.release_ends(handle);
        }
    }

    /// Frees the pair of addresses and ports of a connection for a new connection. The application may still have the
    /// handle of the old connection.
    pub(super) fn release_ends(&mut self, handle: Handle) {
        let Some(connection) = self.connection_ref_of(handle) else { return };
        let key = (connection.ends.source, connection.ends.destination);
        if self.connections.get(&key) == Some(&handle) {
            self.connections.remove(&key);
        }
    }

    /// Updates the timer of a connection that has no packet to send. Removes the connection if it has ended and the
    /// application has no handle of the connection.
    pub(super) fn update_idle(&mut self, handle: Handle) {
        let Some(socket) = self.sockets.get_mut(handle) else { return };
        let SocketKind::Connection { connection, parent } = &mut socket.kind else { return };
        schedule(&mut self.timers, handle, &mut socket.timer, connection.timeout());
        let is_gone = connection.endpoint.ended().is_some() || connection.endpoint.state() == State::Listen;
        if is_gone && (connection.is_orphan || parent.is_some()) {
            self.remove(handle);
        }
    }

    pub(super) fn remove(&mut self, handle: Handle) {
        self.release_ends(handle);
        let Some(socket) = self.sockets.remove(handle) else { return };
        self.timers.remove(&(socket.timer, handle));
        if let SocketKind::Connection { parent: Some(parent), .. } = socket.kind
            && let Some(Socket { kind: SocketKind::Listener(listener), .. }) = self.sockets.get_mut(parent)
        {
            listener.remove_opening();
        }
    }
}

/// Removes all events from the endpoint. Records the events if tracing is on. The removal is always necessary, because
/// endpoints produce events about loss discrimination even without tracing.
pub(super) fn drain_events(connection: &mut Connection, is_tracing: bool, events: &mut VecDeque<Traced>) {
    while let Some((time, event)) = connection.endpoint.poll_event() {
        if is_tracing {
            events.push_back(Traced { time, ends: connection.ends, event });
        }
    }
}

fn schedule(timers: &mut BTreeSet<(Time, Handle)>, handle: Handle, timer: &mut Time, due: Time) {
    if due == *timer {
        return;
    }
    if *timer != Time::NEVER {
        timers.remove(&(*timer, handle));
    }
    if due != Time::NEVER {
        timers.insert((due, handle));
    }
    *timer = due;
}

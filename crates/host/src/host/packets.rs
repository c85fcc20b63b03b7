//! Incoming and outgoing packets: finds the socket of an incoming packet, and chooses the connection that sends the
//! next packet.

use super::sockets::drain_events;
use super::{Handle, Host, MAX_RESETS, Socket, SocketKind};
use lasthop_base::Time;
use lasthop_tcp::Role;
use lasthop_tcp::endpoint::{opens, reset_for};
use lasthop_wire::bytes::{
    Checksums, Content, FlowAddresses, Header, ParseError, Payload, emit, parse, parse_icmp_error,
};
use lasthop_wire::{Body, Ecn, Flags, Segment, Seq};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

const ICMP: u8 = 1;
const ICMP6: u8 = 58;

impl Host {
    /// Handles an incoming packet. Malformed packets and packets to other addresses are counted and dropped.
    pub fn handle_packet(&mut self, now: Time, packet: &[u8]) {
        self.counters.packets_in += 1;
        let parsed = match parse(packet, Checksums::Verify) {
            Ok(parsed) => parsed,
            Err(ParseError::Protocol { number: ICMP | ICMP6 }) => return self.handle_icmp_error(now, packet),
            Err(ParseError::Protocol { .. }) => {
                self.counters.not_for_us += 1;
                return;
            }
            Err(_) => {
                self.counters.malformed += 1;
                return;
            }
        };
        let Header { source: remote, destination: local, ecn, .. } = parsed.header;
        let Content::Tcp(segment) = &parsed.content else {
            self.counters.not_for_us += 1;
            return;
        };
        let is_from_group = remote.ip().is_multicast() || remote.ip() == IpAddr::V4(Ipv4Addr::BROADCAST);
        let is_invalid_source = remote.ip().is_unspecified() || is_from_group || remote == local;
        if !self.addresses.contains(&local.ip()) || is_invalid_source {
            self.counters.not_for_us += 1;
            return;
        }
        let ends = FlowAddresses { source: local, destination: remote };
        let Some(handle) = self.socket_for(now, &ends, segment) else { return };
        if let Some(Socket { kind: SocketKind::Connection { connection, .. }, .. }) =
            self.sockets.get_mut(handle)
        {
            connection.handle_segment(now, segment, parsed.payload, ecn);
        }
        self.update(handle);
    }

    /// Handles an ICMP error about a TCP segment of this host. Counts and drops all other ICMP packets.
    fn handle_icmp_error(&mut self, now: Time, packet: &[u8]) {
        let error = match parse_icmp_error(packet, Checksums::Verify) {
            Ok(error) => error,
            Err(ParseError::Protocol { .. } | ParseError::NoIcmpError { .. }) => {
                self.counters.not_for_us += 1;
                return;
            }
            Err(_) => {
                self.counters.malformed += 1;
                return;
            }
        };
        let FlowAddresses { source, destination } = error.ends;
        if error.to != source.ip() || !self.addresses.contains(&error.to) {
            self.counters.not_for_us += 1;
            return;
        }
        self.counters.icmp_errors += 1;
        let handle = self.connections.get(&(source, destination)).copied();
        let socket = handle.and_then(|handle| self.sockets.get_mut(handle));
        let has_effect = match socket {
            Some(Socket { kind: SocketKind::Connection { connection, .. }, .. }) => {
                connection.handle_icmp_error(now, &error)
            }
            _ => false,
        };
        self.counters.icmp_ignored += u64::from(!has_effect);
        if let Some(handle) = handle {
            self.update(handle);
        }
    }

    /// Returns the next packet to send, or `None` if no packet is ready at `now`. Connections send in turn (round
    /// robin).
    pub fn poll_packet(&mut self, now: Time) -> Option<&[u8]> {
        if self.fill_packet(now) {
            self.counters.packets_out += 1;
            return Some(&self.packet);
        }
        None
    }

    /// Returns the packet that the last call of [`Host::poll_packet`] returned.
    pub fn packet(&self) -> &[u8] {
        &self.packet
    }

    fn fill_packet(&mut self, now: Time) -> bool {
        while let Some((ends, reset)) = self.resets.pop_front() {
            let header = Header {
                source: ends.source,
                destination: ends.destination,
                ecn: Ecn::NotEct,
                dscp: 0,
                id: 0,
                ttl: Header::TTL,
            };
            if emit(&header, &Body::Tcp(reset), Payload::Bytes(&[]), &mut self.packet).is_ok() {
                return true;
            }
        }
        while let Some(handle) = self.busy.pop_front() {
            let Some(socket) = self.sockets.get_mut(handle) else { continue };
            if let SocketKind::Connection { connection, .. } = &mut socket.kind
                && connection.poll_packet(now, &mut self.packet)
            {
                drain_events(connection, self.is_tracing, &mut self.events);
                self.busy.push_back(handle);
                return true;
            }
            socket.is_busy = false;
            self.update_idle(handle);
        }
        false
    }

    /// Returns the socket to which a segment belongs. A SYN to a listener opens a connection. If no socket matches,
    /// returns `None`, and queues a reset if the segment requires a reset.
    fn socket_for(&mut self, now: Time, ends: &FlowAddresses, segment: &Segment) -> Option<Handle> {
        let known = self.connections.get(&(ends.source, ends.destination)).copied();
        if known.is_some() && !segment.flags.has(Flags::SYN) {
            return known;
        }
        let listener = self.listener_at(ends.source);
        match (known, listener.filter(|_| opens(segment))) {
            (Some(old), Some(parent)) => match self.number_after(old, segment) {
                Some(number) => {
                    self.release_ends(old);
                    self.open_for(now, *ends, parent, Some(number))
                }
                None => Some(old),
            },
            (Some(known), None) => Some(known),
            (None, Some(parent)) => self.open_for(now, *ends, parent, None),
            (None, None) => {
                self.counters.unmatched_segments += 1;
                // A listener drops segments that have neither SYN nor ACK (RFC 9293 §3.10.7.2).
                let is_answered = listener.is_none() || segment.flags.has(Flags::ACK);
                let reset = reset_for(segment).filter(|_| is_answered && self.resets.len() < MAX_RESETS);
                if let Some(reset) = reset {
                    self.resets.push_back((*ends, reset));
                }
                None
            }
        }
    }

    fn listener_at(&self, local: SocketAddr) -> Option<Handle> {
        let any = match local {
            SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
            SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        };
        let ends = [local, SocketAddr::new(any, local.port())];
        ends.iter().find_map(|end| self.listeners.get(end)).copied()
    }

    /// Returns the first sequence number after the numbers that the old connection used. `None` if this SYN must not
    /// replace the old connection.
    fn number_after(&self, old: Handle, syn: &Segment) -> Option<Seq> {
        let old = &self.connection_ref_of(old)?.endpoint;
        old.may_be_replaced_by(syn).then(|| old.number_after())
    }

    fn open_for(
        &mut self,
        now: Time,
        ends: FlowAddresses,
        parent: Handle,
        after: Option<Seq>,
    ) -> Option<Handle> {
        let SocketKind::Listener(listener) = &mut self.sockets[parent].kind else { return None };
        if !listener.has_room() {
            self.counters.backlog_full += 1;
            return None;
        }
        listener.add_opening();
        let options = listener.options.clone();
        let iss = self.numbers.initial(now, ends.source, ends.destination, after);
        Some(self.insert(now, ends, iss, &options, Role::Passive, Some(parent)))
    }
}

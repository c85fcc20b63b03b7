//! Queries the kernel's TCP connections (sock_diag(7): tcp_info).

use crate::emulation::End;
use lasthop_base::{Duration, Time};
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::namespace::Namespace;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkBuffer, NetlinkHeader, NetlinkMessage, NetlinkPayload, NlasIterator,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::constants::{AF_INET, AF_INET6, IPPROTO_TCP};
use netlink_packet_sock_diag::inet::nlas::{Nla, TcpInfo};
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::{Socket, SocketAddr as Address, protocols::NETLINK_SOCK_DIAG};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

/// A kernel connection at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KernelConnection {
    /// Local end.
    pub local: SocketAddr,
    /// Remote end.
    pub remote: SocketAddr,
    /// Congestion window, bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold, bytes. If the kernel has not set a threshold yet, the value is very large.
    pub ssthresh_bytes: u64,
    /// Smoothed RTT.
    pub srtt: Duration,
    /// Segments retransmitted so far.
    pub retransmissions: u32,
    /// Expiries of the retransmission timer so far, including expiries during the handshake. `None` before Linux 6.7.
    pub timeouts: Option<u16>,
    /// Bytes acknowledged by the remote end so far.
    pub acked_bytes: u64,
    /// Congestion control.
    pub control: CongestionName,
}

/// Name of a congestion control, like `cubic`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct CongestionName([u8; CongestionName::LONGEST]);

impl CongestionName {
    /// Length of the longest name, bytes (linux/tcp.h, TCP_CA_NAME_MAX, without the terminating zero).
    const LONGEST: usize = 15;

    /// Stores a name. Returns the empty name if `name` is too long.
    fn new(name: &str) -> CongestionName {
        let mut bytes = [0; CongestionName::LONGEST];
        if let Some(prefix) = bytes.get_mut(..name.len()) {
            prefix.copy_from_slice(name.as_bytes());
        }
        CongestionName(bytes)
    }

    /// Name as the kernel spells it; empty if unknown.
    pub fn name(&self) -> &str {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        std::str::from_utf8(&self.0[..end]).unwrap_or_default()
    }
}

impl fmt::Debug for CongestionName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Queries the connections of one namespace.
pub struct Kernel {
    socket: Socket,
    /// One request per family. The answer for IPv6 includes IPv4 connections of a dual-stack listener.
    requests: [Vec<u8>; 2],
    buffer: Vec<u8>,
}

impl Kernel {
    /// Opens a socket for queries about a namespace. Fails if the kernel refuses sock_diag.
    pub fn of(namespace: &Namespace) -> Result<Kernel, SystemError> {
        let socket = namespace.within(|| {
            let mut socket = Socket::new(NETLINK_SOCK_DIAG)?;
            socket.bind_auto()?;
            socket.connect(&Address::new(0, 0))?;
            Ok(socket)
        })?;
        let socket = socket.map_err(|error| {
            SystemError::of_system("cannot query the kernel's TCP connections", &error, "run without --out")
        })?;
        let requests = [(AF_INET, SocketId::new_v4()), (AF_INET6, SocketId::new_v6())]
            .map(|(family, socket_id)| request(family, socket_id));
        Ok(Kernel { socket, requests, buffer: vec![0; 1 << 16] })
    }

    /// Returns the current connections. Connections without `tcp_info` are left out.
    pub fn connections(&mut self) -> Vec<KernelConnection> {
        let mut connections = Vec::new();
        let Kernel { socket, requests, buffer } = self;
        for request in requests {
            if socket.send(request, 0).is_ok() {
                receive(socket, buffer, &mut connections);
            }
        }
        connections
    }
}

/// Builds the request for all connections of a family that are established or closing.
fn request(family: u8, socket_id: SocketId) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | NLM_F_DUMP;
    let payload = SockDiagMessage::InetRequest(InetRequest {
        family,
        protocol: IPPROTO_TCP,
        extensions: ExtensionFlags::INFO | ExtensionFlags::CONG,
        states: StateFlags::ESTABLISHED
            | StateFlags::FIN_WAIT1
            | StateFlags::FIN_WAIT2
            | StateFlags::CLOSE_WAIT
            | StateFlags::LAST_ACK,
        socket_id,
    });
    let mut message = NetlinkMessage::new(header, payload.into());
    message.finalize();
    let mut request = vec![0; message.buffer_len()];
    message.serialize(&mut request);
    request
}

fn receive(socket: &Socket, buffer: &mut [u8], connections: &mut Vec<KernelConnection>) {
    while let Ok(size) = socket.recv(&mut &mut buffer[..], 0) {
        let mut rest = &buffer[..size];
        while !rest.is_empty() {
            let Ok(message) = NetlinkMessage::<SockDiagMessage>::deserialize(rest) else { return };
            match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    connections.extend(connection(&response, timeouts(rest)));
                }
                NetlinkPayload::Noop => {}
                _ => return,
            }
            // Netlink messages are aligned to four bytes.
            let length = (message.header.length as usize).next_multiple_of(4);
            if length == 0 {
                return;
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// Offset in bytes of the attributes in an answer. The attributes follow the netlink header and `inet_diag_msg`.
const ATTRIBUTES: usize = 16 + 72;
/// Attribute with `tcp_info` (`INET_DIAG_INFO`).
const INFO: u16 = 2;
/// Offset in `tcp_info` of `tcpi_total_rto`, which has two bytes (linux/tcp.h since 6.7).
const TOTAL_RTO: usize = 240;

/// Number of timeouts, read from the raw answer: the crate's `tcp_info` lacks this field.
fn timeouts(message: &[u8]) -> Option<u16> {
    let length = NetlinkBuffer::new_checked(message).ok()?.length() as usize;
    let mut attributes = NlasIterator::new(message.get(ATTRIBUTES..length)?).flatten();
    let info = attributes.find(|attribute| attribute.kind() == INFO)?;
    let count = info.value().get(TOTAL_RTO..TOTAL_RTO + 2)?;
    Some(u16::from_ne_bytes([count[0], count[1]]))
}

fn connection(response: &InetResponse, timeouts: Option<u16>) -> Option<KernelConnection> {
    let info: &TcpInfo = response.nlas.iter().find_map(|nla| match nla {
        Nla::TcpInfo(info) => Some(info),
        _ => None,
    })?;
    let control = response.nlas.iter().find_map(|nla| match nla {
        Nla::Congestion(name) => Some(CongestionName::new(name)),
        _ => None,
    });
    let id = &response.header.socket_id;
    let bytes = |segments: u32| u64::from(segments) * u64::from(info.snd_mss);
    Some(KernelConnection {
        local: SocketAddr::new(id.source_address.to_canonical(), id.source_port),
        remote: SocketAddr::new(id.destination_address.to_canonical(), id.destination_port),
        cwnd_bytes: bytes(info.snd_cwnd),
        ssthresh_bytes: bytes(info.snd_ssthresh),
        srtt: Duration::from_micros(info.rtt.into()),
        retransmissions: info.total_retrans,
        timeouts,
        acked_bytes: info.bytes_acked,
        control: control.unwrap_or_default(),
    })
}

/// A connection at an instant, seen from one end of the path.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ConnectionSample {
    /// Time of the query.
    pub time: Time,
    /// End of the path.
    pub end: End,
    /// State at that end.
    pub connection: KernelConnection,
}

/// A thread that queries connections periodically; stops when dropped.
pub struct ConnectionSampler {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<ConnectionSample>>>,
}

impl ConnectionSampler {
    /// Starts a thread that queries the connections at these ends every `span`. The times of the samples are those of
    /// `clock`. Fails if the kernel refuses sock_diag.
    pub fn every(
        span: Duration,
        clock: Clock,
        ends: &[(End, &Namespace)],
    ) -> Result<ConnectionSampler, SystemError> {
        let mut kernels = Vec::new();
        for (end, namespace) in ends {
            kernels.push((*end, Kernel::of(namespace)?));
        }
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let mut samples = Vec::new();
            while !stopped.load(Ordering::Relaxed) {
                for (end, kernel) in &mut kernels {
                    let time = clock.now();
                    let found = kernel.connections().into_iter();
                    samples.extend(found.map(|connection| ConnectionSample { time, end: *end, connection }));
                }
                std::thread::sleep(std::time::Duration::from_nanos(span.as_nanos()));
            }
            samples
        });
        Ok(ConnectionSampler { stop, thread: Some(thread) })
    }

    /// Stops the thread and returns all samples in order of time.
    pub fn finish(mut self) -> Vec<ConnectionSample> {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for ConnectionSampler {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

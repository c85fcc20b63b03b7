//! Sends additional ACKs as whole packets. The packets have a mark, so that the firewall rules do not queue them again.

use crate::rules::MARK;
use lasthop_os::SystemError;
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{IpAddr, SocketAddr};

/// Raw sockets for IPv4 and IPv6.
pub struct Inject {
    v4: Socket,
    /// Socket for IPv6; `None` if the kernel has no IPv6.
    v6: Option<Socket>,
}

/// Protocol number for packets that include their IP header (IPPROTO_RAW).
const RAW: i32 = 255;

impl Inject {
    /// Opens the sockets. Needs CAP_NET_RAW and CAP_NET_ADMIN.
    pub fn open() -> Result<Inject, SystemError> {
        let open = |domain| -> io::Result<Socket> {
            let socket = Socket::new(domain, Type::RAW, Some(Protocol::from(RAW)))?;
            socket.set_mark(MARK)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let v4 = open(Domain::IPV4).map_err(|error| SystemError {
            message: format!("cannot open a raw socket: {error}"),
            help: "run it as root, or with CAP_NET_RAW and CAP_NET_ADMIN".to_owned(),
        })?;
        Ok(Inject { v4, v6: open(Domain::IPV6).ok() })
    }

    /// Sends a packet to its destination. Fails if the system refuses the packet.
    pub fn send(&self, destination: IpAddr, packet: &[u8]) -> io::Result<()> {
        let socket = match (destination, &self.v6) {
            (IpAddr::V4(_), _) => &self.v4,
            (IpAddr::V6(_), Some(socket)) => socket,
            (IpAddr::V6(_), None) => return Err(io::ErrorKind::Unsupported.into()),
        };
        // For IPv6, the kernel reads the port of the destination as a protocol number, which may be 0.
        socket.send_to(packet, &SockAddr::from(SocketAddr::new(destination, 0))).map(|_| ())
    }
}

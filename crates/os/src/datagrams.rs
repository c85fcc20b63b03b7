//! UDP datagrams with the kernel's arrival times, to measure a path. Needs no privileges.

use crate::arrival::ArrivalClock;
use crate::clock::Clock;
use crate::error::SystemError;
use lasthop_base::{Duration, Time};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{ReceiveTimestampns, RxqOvfl};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

/// A non-blocking UDP socket.
pub struct Datagrams {
    socket: Socket,
    address: SocketAddr,
    control: Vec<u8>,
    arrival_clock: ArrivalClock,
    compared: Option<Time>,
    dropped: u32,
}

/// A received datagram.
#[derive(Clone, Copy, Debug)]
pub struct ReceivedDatagram {
    /// Length of the part of the datagram that fits into the buffer, bytes.
    pub len: usize,
    /// Source address.
    pub from: SocketAddr,
    /// Arrival time at the kernel.
    pub at: Time,
}

/// Local address or device from which a socket sends datagrams.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SourceBinding {
    /// Local address; port 0 means any port.
    Address(SocketAddr),
    /// Name of a device, and the local address and port. The address is usually unspecified, so that the kernel chooses
    /// an address of the device.
    Device(String, SocketAddr),
}

/// Size of the receive buffer, bytes. The system may grant a smaller buffer (`net.core.rmem_max`).
const BUFFER_BYTES: usize = 4 << 20;
const COMPARE_INTERVAL: Duration = Duration::from_millis(10);

impl Datagrams {
    /// Opens a socket that sends from this source.
    ///
    /// # Errors
    /// Fails if the address is unavailable, or the device does not exist.
    pub fn open(source: &SourceBinding) -> Result<Datagrams, SystemError> {
        let address = match source {
            SourceBinding::Address(address) | SourceBinding::Device(_, address) => *address,
        };
        let open = || -> io::Result<Socket> {
            let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
            if let (SocketAddr::V6(v6), true) = (address, address.ip().is_unspecified()) {
                socket
                    .set_only_v6(false)
                    .or_else(|error| if v6.port() == 0 { Ok(()) } else { Err(error) })?;
            }
            if let SourceBinding::Device(device, _) = source {
                socket.bind_device(Some(device.as_bytes()))?;
            }
            let _ = socket.set_recv_buffer_size(BUFFER_BYTES);
            setsockopt(&socket, ReceiveTimestampns, &true)?;
            setsockopt(&socket, RxqOvfl, &1)?;
            socket.set_nonblocking(true)?;
            socket.bind(&address.into())?;
            Ok(socket)
        };
        let socket = open().map_err(|error| {
            let what = match source {
                SourceBinding::Address(_) => format!("cannot use the address {address} (UDP)"),
                SourceBinding::Device(device, _) => format!("cannot send through the device `{device}`"),
            };
            let help = match (error.kind(), source) {
                (io::ErrorKind::AddrInUse, _) => "another program uses this port: choose another port",
                (io::ErrorKind::AddrNotAvailable, _) => "list the addresses of this host with `ip addr`",
                (_, SourceBinding::Device(..)) => "find the device's name with `ip link`, or use its address",
                _ => "choose another address",
            };
            SystemError::new(format!("{what}: {error}"), help)
        })?;
        let bound = socket.local_addr().ok().and_then(|it| it.as_socket()).unwrap_or(address);
        Ok(Datagrams {
            socket,
            address: bound,
            control: cmsg_space!(TimeSpec, u32),
            arrival_clock: ArrivalClock::default(),
            compared: None,
            dropped: 0,
        })
    }

    /// Local address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Number of datagrams dropped since the socket was opened because the receive buffer was full.
    pub fn dropped(&self) -> u32 {
        self.dropped
    }

    /// Returns the next datagram. `None` if no datagram is waiting, or after an error.
    pub fn receive(&mut self, buffer: &mut [u8], clock: &Clock) -> Option<ReceivedDatagram> {
        let mut parts = [IoSliceMut::new(buffer)];
        let control = Some(&mut self.control[..]);
        let message =
            recvmsg::<SockaddrStorage>(self.socket.as_raw_fd(), &mut parts, control, MsgFlags::empty())
                .ok()?;
        let from = message.address.as_ref().and_then(socket_address)?;
        let len = message.bytes;
        let mut stamp = None;
        for one in message.cmsgs().into_iter().flatten() {
            match one {
                ControlMessageOwned::ScmTimestampns(time) => {
                    stamp = Some(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64);
                }
                ControlMessageOwned::RxqOvfl(count) => self.dropped = count,
                _ => {}
            }
        }
        let mut now = clock.now();
        if self.compared.is_none_or(|compared| now.since(compared) > COMPARE_INTERVAL) {
            now = self.arrival_clock.synchronize(clock);
            self.compared = Some(now);
        }
        Some(ReceivedDatagram { len, from, at: self.arrival_clock.time(stamp, now) })
    }

    /// Sends a datagram; returns false if the send buffer is full.
    ///
    /// # Errors
    /// Fails with any other error, for example a missing route.
    pub fn send(&self, bytes: &[u8], to: SocketAddr) -> io::Result<bool> {
        match self.socket.send_to(bytes, &to.into()) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            Err(error) if error.raw_os_error() == Some(Errno::ENOBUFS as i32) => Ok(false),
            // ECONNREFUSED reports an ICMP error that an earlier datagram caused. The present datagram counts as sent.
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => Ok(true),
            Err(error) => Err(error),
        }
    }
}

/// Waits until a datagram arrives on one of the sockets, but at most for `timeout`. If `for_room` is true, the wait
/// also ends when the first socket's send buffer has space.
pub fn wait(sockets: &[&Datagrams], for_room: bool, timeout: Duration) {
    let mut polled: Vec<PollFd<'_>> =
        sockets.iter().map(|one| PollFd::new(one.socket.as_fd(), PollFlags::POLLIN)).collect();
    if let (true, Some(first)) = (for_room, polled.first_mut()) {
        first.set_events(PollFlags::POLLIN | PollFlags::POLLOUT);
    }
    let millis = u16::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
    let _ = poll(&mut polled, PollTimeout::from(millis));
}

/// Bytes of the IP and UDP headers of a datagram to or from this address.
pub fn headers(address: SocketAddr) -> usize {
    match address.ip().to_canonical() {
        IpAddr::V4(_) => 20 + 8,
        IpAddr::V6(_) => 40 + 8,
    }
}

fn socket_address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|it| SocketAddr::V4((*it).into()));
    v4.or_else(|| storage.as_sockaddr_in6().map(|it| SocketAddr::V6((*it).into())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;
    use std::thread::sleep;

    fn open() -> Datagrams {
        Datagrams::open(&SourceBinding::Address((Ipv4Addr::LOCALHOST, 0).into())).unwrap()
    }

    #[test]
    fn a_datagram_that_waited_for_us_came_before_that() {
        let (one, mut other) = (open(), open());
        let clock = Clock::new();
        let mut buffer = [0; 100];
        sleep(std::time::Duration::from_millis(300));
        let before = clock.now();
        assert!(one.send(b"one", other.address()).unwrap());
        let after = clock.now();
        sleep(std::time::Duration::from_millis(50));
        let arrived = other.receive(&mut buffer, &clock).unwrap();
        assert_eq!((&buffer[..arrived.len], arrived.from), (b"one".as_slice(), one.address()));
        let margin = Duration::from_millis(2);
        assert!(before <= arrived.at + margin && arrived.at <= after + margin, "{before} {}", arrived.at);
        assert!(other.receive(&mut buffer, &clock).is_none());
    }

    #[test]
    fn what_cannot_be_opened_is_said() {
        let taken = open();
        let error = Datagrams::open(&SourceBinding::Address(taken.address())).err().unwrap();
        assert!(error.help.contains("another program"), "{error}");
        let any = (Ipv4Addr::UNSPECIFIED, 0).into();
        let error = Datagrams::open(&SourceBinding::Device("no-such-device".into(), any)).err().unwrap();
        assert!(error.message.contains("no-such-device"), "{error}");
    }
}

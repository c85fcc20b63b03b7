//! Packet socket that observes the headers of all TCP packets of this host without delaying the packets.

use crate::table::{MAX_HEADERS, PacketDirection};
use lasthop_os::SystemError;
use nix::cmsg_space;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{ControlMessageOwned, LinkAddr, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io::{self, IoSliceMut};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// A packet socket.
pub struct Tap {
    socket: Socket,
    control: Vec<u8>,
}

/// An observed packet.
pub struct ObservedPacket<'a> {
    /// Direction.
    pub direction: PacketDirection,
    /// Arrival or send time by the kernel's wall clock, ns since 1970; `None` if the packet has no time stamp.
    pub stamp: Option<u64>,
    /// Headers.
    pub packet: &'a [u8],
}

/// ETH_P_ALL in network byte order (linux/if_ether.h).
const ALL: i32 = (3_u16).to_be() as i32;
/// Type of packets to this host (linux/if_packet.h, PACKET_HOST).
const TO_US: u8 = 0;
/// Type of packets from this host (linux/if_packet.h, PACKET_OUTGOING).
const FROM_US: u8 = 4;
/// Type of the loopback device (linux/if_arp.h). The firewall rules also exclude the loopback device.
const LOOPBACK: u16 = 772;
const BUFFER: usize = 4 << 20;

impl Tap {
    /// Opens the socket. Needs CAP_NET_RAW.
    pub fn open() -> Result<Tap, SystemError> {
        let open = || -> io::Result<Socket> {
            let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(ALL)))?;
            socket.attach_filter(&tcp_headers())?;
            // RcvBufForce allows a buffer above the system's limit.
            setsockopt(&socket, RcvBufForce, &BUFFER)?;
            setsockopt(&socket, ReceiveTimestampns, &true)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|error| SystemError {
            message: format!("cannot open a packet socket: {error}"),
            help: "run it as root, or with CAP_NET_RAW and CAP_NET_ADMIN".to_owned(),
        })?;
        Ok(Tap { socket, control: cmsg_space!(TimeSpec) })
    }

    /// Returns the next packet, if any.
    pub fn recv<'a>(&mut self, buffer: &'a mut [u8; MAX_HEADERS]) -> Option<ObservedPacket<'a>> {
        loop {
            let mut parts = [IoSliceMut::new(buffer)];
            let control = Some(&mut self.control[..]);
            let message =
                recvmsg::<LinkAddr>(self.socket.as_raw_fd(), &mut parts, control, MsgFlags::empty()).ok()?;
            let from = message.address?;
            if from.hatype() == LOOPBACK {
                continue;
            }
            let direction = match from.pkttype() {
                TO_US => PacketDirection::In,
                FROM_US => PacketDirection::Out,
                _ => continue,
            };
            let stamp = message.cmsgs().ok()?.find_map(|one| match one {
                ControlMessageOwned::ScmTimestampns(time) => Some(nanos(&time)),
                _ => None,
            });
            let length = message.bytes;
            return Some(ObservedPacket { direction, stamp, packet: &buffer[..length] });
        }
    }

    /// Duplicates the socket for a thread that waits while another thread reads. Fails if the process has too many open
    /// files.
    pub fn watcher(&self) -> io::Result<Watcher> {
        self.socket.try_clone().map(|socket| Watcher { socket })
    }
}

/// Waits for packets.
pub struct Watcher {
    socket: Socket,
}

impl Watcher {
    /// Waits until this socket or `elsewhere` is readable, but at most 50 ms.
    pub fn wait(&self, elsewhere: Option<BorrowedFd<'_>>) {
        let files = [Some(self.socket.as_fd()), elsewhere];
        let files = files.map(|file| PollFd::new(file.unwrap_or(self.socket.as_fd()), PollFlags::POLLIN));
        // The caller treats an interruption like a timeout.
        let _ = poll(&mut { files }, PollTimeout::from(50_u8));
    }
}

fn nanos(time: &TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// BPF filter: passes the first bytes of TCP packets over IPv4 or IPv6.
fn tcp_headers() -> [SockFilter; 10] {
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const TCP: u32 = 6;
    // The offsets of jumps are numbers of skipped instructions.
    [
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(AND, 0, 0, 0xf0),
        SockFilter::new(JUMP_IF_EQUAL, 0, 2, 0x40),
        SockFilter::new(LOAD_BYTE, 0, 0, 9),
        SockFilter::new(JUMP_IF_EQUAL, 3, 4, TCP),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, 0x60),
        SockFilter::new(LOAD_BYTE, 0, 0, 6),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, TCP),
        SockFilter::new(RETURN, 0, 0, MAX_HEADERS as u32),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrival::ArrivalClock;
    use lasthop_os::Clock;
    use lasthop_os::Namespace;
    use lasthop_os::ends::{self, CLIENT, SERVER};
    use std::net::{SocketAddr, TcpStream};
    use std::time::Duration;

    #[test]
    fn packets_that_waited_for_us_have_passed_when_the_kernel_saw_them() {
        let Ok(namespace) = Namespace::unconfigured() else { return println!("skipped: no namespaces here") };
        let Ok(_device) = ends::open(&namespace, CLIENT, None, 1500) else {
            return println!("skipped: no TUN devices here");
        };
        namespace
            .within(|| {
                let mut tap = Tap::open().unwrap();
                let (clock, mut arrivals) = (Clock::new(), ArrivalClock::default());
                // The kernel starts to record time stamps shortly after the first socket requests them. Before this
                // time, packets have no kernel time stamp.
                std::thread::sleep(Duration::from_millis(300));
                // The device gets a SYN and, after 1 s, its retransmission; nobody answers.
                let peer = SocketAddr::from((SERVER, 9));
                assert!(TcpStream::connect_timeout(&peer, Duration::from_millis(1500)).is_err());
                let now = arrivals.synchronize(&clock);
                let mut buffer = [0; MAX_HEADERS];
                let mut times = Vec::new();
                while let Some(observed) = tap.recv(&mut buffer) {
                    assert!(observed.direction == PacketDirection::Out && observed.stamp.is_some());
                    times.push(arrivals.time(observed.stamp, now));
                }
                let [first, second] = times[..] else { panic!("{times:?}") };
                // The first timeout is 1 s (RFC 6298 §2).
                let apart = second.since(first).as_secs();
                assert!((0.9..1.2).contains(&apart), "{apart} s apart");
                assert!(now.since(second) > lasthop_base::Duration::from_millis(20));
            })
            .unwrap();
    }
}

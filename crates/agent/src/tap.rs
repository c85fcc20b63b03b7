//! What is only seen: the headers of all TCP packets to and from this host, without holding them.

use crate::table::{HEADERS, Way};
use lasthop_emu::Trouble;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{LinkAddr, recvfrom};
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// A packet socket.
pub struct Tap {
    socket: Socket,
}

/// All protocols, in the network's byte order (linux/if_ether.h).
const ALL: i32 = (3_u16).to_be() as i32;
/// Kinds of packets (linux/if_packet.h): to this host, and from it.
const TO_US: u8 = 0;
const FROM_US: u8 = 4;
/// The type of the loopback device (linux/if_arp.h): the rules leave it alone, too.
const LOOPBACK: u16 = 772;
/// Room for packets that wait for us, bytes.
const BUFFER: usize = 4 << 20;

impl Tap {
    /// Sees packets from now on.
    ///
    /// # Errors
    /// Without CAP_NET_RAW.
    pub fn open() -> Result<Tap, Trouble> {
        let open = || -> io::Result<Socket> {
            let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(ALL)))?;
            socket.attach_filter(&tcp_headers())?;
            socket.set_recv_buffer_size(BUFFER)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|error| Trouble {
            message: format!("cannot open a packet socket: {error}"),
            help: "run it as root, or with CAP_NET_RAW and CAP_NET_ADMIN".to_owned(),
        })?;
        Ok(Tap { socket })
    }

    /// The next packet's headers and which way it goes; `None` if there is none.
    pub fn recv<'a>(&self, buffer: &'a mut [u8; HEADERS]) -> Option<(Way, &'a [u8])> {
        loop {
            let (length, from) = recvfrom::<LinkAddr>(self.socket.as_raw_fd(), buffer).ok()?;
            let from = from?;
            if from.hatype() == LOOPBACK {
                continue;
            }
            let way = match from.pkttype() {
                TO_US => Way::In,
                FROM_US => Way::Out,
                _ => continue,
            };
            return Some((way, &buffer[..length]));
        }
    }

    /// A second descriptor, to wait on while another thread reads.
    ///
    /// # Errors
    /// If there are too many descriptors.
    pub fn watcher(&self) -> io::Result<Watcher> {
        self.socket.try_clone().map(|socket| Watcher { socket })
    }
}

/// Waits for packets.
pub struct Watcher {
    socket: Socket,
}

impl Watcher {
    /// Until a packet is there, 100 ms at most.
    pub fn wait(&self) {
        let mut polled = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        // Whether it was interrupted or timed out is the same to the caller.
        let _ = poll(&mut polled, PollTimeout::from(100_u8));
    }
}

/// Takes the first bytes of IPv4 and IPv6 packets with TCP in them, and nothing else.
fn tcp_headers() -> [SockFilter; 10] {
    const LOAD_BYTE: u16 = 0x30;
    const AND: u16 = 0x54;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const TCP: u32 = 6;
    // Jumps count the instructions that are skipped.
    [
        SockFilter::new(LOAD_BYTE, 0, 0, 0),
        SockFilter::new(AND, 0, 0, 0xf0),
        SockFilter::new(JUMP_IF_EQUAL, 0, 2, 0x40),
        SockFilter::new(LOAD_BYTE, 0, 0, 9),
        SockFilter::new(JUMP_IF_EQUAL, 3, 4, TCP),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, 0x60),
        SockFilter::new(LOAD_BYTE, 0, 0, 6),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, TCP),
        SockFilter::new(RETURN, 0, 0, HEADERS as u32),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

//! Times at which the kernel handed packets to a TUN device. This process reads the packets later. A packet socket on
//! the device therefore receives a copy of each packet with the kernel's time stamp.

use crate::arrival::ArrivalClock;
use crate::clock::Clock;
use crate::error::SystemError;
use lasthop_base::{Duration, Time};
use nix::cmsg_space;
use nix::net::if_::if_nametoindex;
use nix::sys::socket::sockopt::{RcvBufForce, ReceiveTimestampns};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt};
use nix::sys::time::TimeSpec;
use socket2::{Domain, Protocol, SockFilter, Socket, Type};
use std::collections::VecDeque;
use std::io::{self, IoSliceMut};
use std::os::fd::AsRawFd;

/// Packet socket on a TUN device, and a record of the packets that this process has not yet read from the device.
pub struct HandoverLog {
    socket: Socket,
    control: Vec<u8>,
    records: VecDeque<Handover>,
    arrival_clock: ArrivalClock,
    compared: Time,
}

struct Handover {
    head: [u8; HEAD_BYTES],
    len: usize,
    stamp: Option<u64>,
}

/// Number of bytes that are compared to identify a packet: headers of IPv6 (40) and TCP (20) without options.
const HEAD_BYTES: usize = 60;
/// All protocols, in network byte order (linux/if_ether.h).
const ETH_P_ALL: i32 = (3_u16).to_be() as i32;
const BATCH: usize = 64;
/// Number of records that are searched for a packet. The device may drop packets, whose records remain. The number
/// exceeds the usual number of consecutive drops.
const SEARCH_DEPTH: usize = 256;
/// Maximum number of packets in the record. This number exceeds the size of the device's ring (`crate::tun`).
const MAX_RECORDS: usize = 16_384;
const BUFFER_BYTES: usize = 8 << 20;
/// Interval between comparisons of the clocks. A wall clock that is adjusted by 500 ppm drifts by 5 us in this time.
const COMPARE_INTERVAL: Duration = Duration::from_millis(10);

impl HandoverLog {
    /// Records packets handed to a device of this thread's namespace from now on.
    ///
    /// # Errors
    /// Fails without CAP_NET_RAW, or if the device does not exist.
    pub fn open(device: &str) -> Result<HandoverLog, SystemError> {
        let open = || -> io::Result<Socket> {
            let index = if_nametoindex(device)?;
            let socket = Socket::new(Domain::PACKET, Type::DGRAM, Some(Protocol::from(ETH_P_ALL)))?;
            socket.attach_filter(&handed_to(index))?;
            // The size exceeds the usual limit. Packets that do not fit are not recorded. For these packets, the time
            // of reading replaces the time of the hand-over.
            let _ = setsockopt(&socket, RcvBufForce, &BUFFER_BYTES);
            setsockopt(&socket, ReceiveTimestampns, &true)?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        let socket = open().map_err(|error| {
            SystemError::of_system(&format!("cannot watch `{device}`"), &error, "run it as root")
        })?;
        Ok(HandoverLog {
            socket,
            control: cmsg_space!(TimeSpec),
            records: VecDeque::new(),
            arrival_clock: ArrivalClock::default(),
            compared: Time::ZERO,
        })
    }

    /// Time at which the kernel handed over a packet that this process reads at `now`; `None` if the packet is not in
    /// the record.
    pub fn time(&mut self, packet: &[u8], clock: &Clock, now: Time) -> Option<Time> {
        if self.compared == Time::ZERO || now.since(self.compared) > COMPARE_INTERVAL {
            self.compared = self.arrival_clock.synchronize(clock);
        }
        let position = self.position(packet).or_else(|| {
            self.read_records();
            self.position(packet)
        })?;
        let handover = self.records.drain(..=position).next_back()?;
        Some(self.arrival_clock.time(handover.stamp, now))
    }

    fn position(&self, packet: &[u8]) -> Option<usize> {
        let head = &packet[..packet.len().min(HEAD_BYTES)];
        self.records.iter().take(SEARCH_DEPTH).position(|handover| handover.head[..handover.len] == *head)
    }

    fn read_records(&mut self) {
        for _ in 0..BATCH {
            let mut head = [0; HEAD_BYTES];
            let mut parts = [IoSliceMut::new(&mut head)];
            let control = Some(&mut self.control[..]);
            let Ok(message) = recvmsg::<()>(self.socket.as_raw_fd(), &mut parts, control, MsgFlags::empty())
            else {
                return;
            };
            let stamp = message.cmsgs().ok().and_then(|mut all| {
                all.find_map(|one| match one {
                    ControlMessageOwned::ScmTimestampns(time) => Some(nanos(&time)),
                    _ => None,
                })
            });
            let len = message.bytes;
            if self.records.len() >= MAX_RECORDS {
                self.records.pop_front();
            }
            self.records.push_back(Handover { head, len, stamp });
        }
    }
}

fn nanos(time: &TimeSpec) -> u64 {
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Socket filter that passes the first bytes of each packet that the kernel hands to the device with this index.
fn handed_to(index: u32) -> [SockFilter; 6] {
    const LOAD_WORD: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    // Offsets of a packet's metadata (linux/filter.h, SKF_AD_OFF).
    const SKF_AD_OFF: u32 = 0xffff_f000;
    const SKF_AD_PKTTYPE: u32 = SKF_AD_OFF + 4;
    const SKF_AD_IFINDEX: u32 = SKF_AD_OFF + 8;
    // Type of packets sent by this host (linux/if_packet.h, PACKET_OUTGOING).
    const PACKET_OUTGOING: u32 = 4;
    [
        SockFilter::new(LOAD_WORD, 0, 0, SKF_AD_PKTTYPE),
        SockFilter::new(JUMP_IF_EQUAL, 0, 3, PACKET_OUTGOING),
        SockFilter::new(LOAD_WORD, 0, 0, SKF_AD_IFINDEX),
        SockFilter::new(JUMP_IF_EQUAL, 0, 1, index),
        SockFilter::new(RETURN, 0, 0, HEAD_BYTES as u32),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::{CLIENT, DEVICE, SERVER};
    use crate::namespace::Namespace;
    use crate::tun::{Interface, Tun};
    use std::net::UdpSocket;
    use std::thread::sleep;
    use std::time::Duration as Span;

    #[test]
    fn a_packet_that_waited_for_us_was_handed_over_before_that() {
        let Ok(namespace) = Namespace::unconfigured() else { return println!("skipped: no namespaces here") };
        let interface =
            Interface { name: DEVICE.to_owned(), addresses: vec![(CLIENT.into(), 24)], mtu: 1500 };
        let Ok(tun) = namespace.within(|| Tun::open(&interface)).unwrap() else {
            return println!("skipped: no TUN devices here");
        };
        namespace
            .within(|| {
                let mut handovers = HandoverLog::open(DEVICE).unwrap();
                let clock = Clock::new();
                let socket = UdpSocket::bind((CLIENT, 0)).unwrap();
                let send = |text: &str| socket.send_to(text.as_bytes(), (SERVER, 9)).unwrap();
                sleep(Span::from_millis(300));
                let mut buffer = [0; 2000];
                while tun.recv(&mut buffer).unwrap().is_some() {}
                let mut sent = Vec::new();
                for text in ["one", "two", "two", "three"] {
                    let before = clock.now();
                    send(text);
                    sent.push((before, clock.now()));
                    sleep(Span::from_millis(20));
                }
                for (number, (before, after)) in sent.into_iter().enumerate() {
                    let len = tun.recv(&mut buffer).unwrap().expect("a packet is waiting");
                    if number == 2 {
                        continue;
                    }
                    let at =
                        handovers.time(&buffer[..len], &clock, clock.now()).expect("the packet was recorded");
                    let margin = Duration::from_millis(2);
                    assert!(before <= at + margin && at <= after + margin, "{before} {at} {after}");
                }
                assert_eq!(handovers.time(b"another one", &clock, clock.now()), None);
            })
            .unwrap();
    }
}

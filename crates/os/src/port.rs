//! One end of a path: exchanges packets with the kernel, several at a time.

use crate::clock::Clock;
use crate::error::SystemError;
use crate::handovers::HandoverLog;
use crate::offload::{self, HEADER, MAX_FRAME};
use crate::tun::{self, Interface};
use lasthop_base::{Duration, Time};
use std::collections::VecDeque;
use std::io::{self, IoSlice};
use tun_rs::SyncDevice;

/// A packet from the kernel.
#[derive(Debug)]
pub struct ReceivedPacket {
    /// Packet including IP header.
    pub bytes: Vec<u8>,
    /// Time at which the kernel handed over the packet.
    pub at: Time,
}

/// Port of a TUN device that hands over several segments at once. Dropping the port removes the device.
pub struct Port {
    device: SyncDevice,
    handovers: Option<HandoverLog>,
    buffer: Vec<u8>,
}

impl Port {
    /// Creates the device and brings it up.
    ///
    /// # Errors
    /// Fails if a system call fails: no permission, no TUN, a name in use.
    pub fn open(interface: &Interface) -> Result<Port, SystemError> {
        let device = tun::device(interface, true)?;
        Ok(Port { device, handovers: None, buffer: vec![0; MAX_FRAME] })
    }

    /// Records hand-over times from now on, if permitted. Call this in the device's namespace.
    pub fn record_handovers(&mut self) {
        self.handovers = self.device.name().ok().and_then(|name| HandoverLog::open(&name).ok());
    }

    /// Whether hand-over times are recorded.
    pub fn records_handovers(&self) -> bool {
        self.handovers.is_some()
    }

    /// Reads the next packet into a buffer from `spare`. If the kernel hands over several segments together, reads all
    /// these segments into buffers from `spare`. Returns false if no packet is waiting.
    ///
    /// # Errors
    /// Fails if the device no longer exists.
    pub fn receive(
        &mut self,
        clock: &Clock,
        spare: &mut Vec<Vec<u8>>,
        packets: &mut VecDeque<ReceivedPacket>,
    ) -> Result<bool, SystemError> {
        let len = match self.device.recv(&mut self.buffer) {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(tun::device_gone(&error)),
        };
        let now = clock.now();
        let frame = &mut self.buffer[..len];
        let time = |handovers: &mut HandoverLog| handovers.time(frame.get(HEADER..)?, clock, now);
        let at = self.handovers.as_mut().and_then(time).unwrap_or(now);
        offload::split(frame, spare, |bytes| packets.push_back(ReceivedPacket { bytes, at }));
        Ok(true)
    }

    /// Gives a packet to the kernel. Returns false if the kernel refuses the packet, which is then lost.
    ///
    /// # Errors
    /// Fails if the device no longer exists.
    pub fn send(&self, packet: &[u8]) -> Result<bool, SystemError> {
        // With a virtio header of zeros, the kernel verifies the checksums.
        let parts = [IoSlice::new(&[0; HEADER]), IoSlice::new(packet)];
        tun::is_accepted(self.device.send_vectored(&parts))
    }

    /// Waits for a packet on any port, at most `span`.
    ///
    /// # Errors
    /// Fails if a device no longer exists.
    pub fn wait_for_any<const N: usize>(ports: [&Port; N], span: Duration) -> Result<(), SystemError> {
        tun::wait_for_any(ports.map(|port| &port.device), span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ends::{self, CLIENT, SERVER};
    use crate::namespace::Namespace;
    use nix::sys::socket::{setsockopt, sockopt};
    use std::net::UdpSocket;

    #[test]
    fn what_the_kernel_hands_over_in_one_piece_are_packets_of_one_instant() {
        let Ok(namespace) = Namespace::unconfigured() else { return println!("skipped: no namespaces here") };
        let Ok(mut port) = ends::open(&namespace, CLIENT, None, 1500) else {
            return println!("skipped: no TUN devices here");
        };
        let clock = Clock::new();
        std::thread::sleep(std::time::Duration::from_millis(300));
        let (mut spare, mut packets) = (Vec::new(), VecDeque::new());
        while port.receive(&clock, &mut spare, &mut packets).unwrap() {}
        packets.clear();
        let sent = namespace
            .within(|| {
                let socket = UdpSocket::bind((CLIENT, 0)).unwrap();
                setsockopt(&socket, sockopt::UdpGsoSegment, &1000).unwrap();
                socket.send_to(&[7; 2500], (SERVER, 9)).unwrap();
                clock.now()
            })
            .unwrap();
        std::thread::sleep(std::time::Duration::from_millis(20));
        while port.receive(&clock, &mut spare, &mut packets).unwrap() {}
        let lengths: Vec<usize> = packets.iter().map(|packet| packet.bytes.len()).collect();
        assert_eq!(lengths, [1028, 1028, 528]);
        let at = packets[0].at;
        assert!(packets.iter().all(|packet| packet.at == at), "{packets:?}");
        assert!(at <= sent + Duration::from_millis(2), "handed over at {at}, sent until {sent}");
    }
}

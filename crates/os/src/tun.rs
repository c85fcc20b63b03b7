//! A TUN device: IP packets from and to the kernel.

use crate::error::SystemError;
use crate::namespace::ip;
use lasthop_base::{Duration, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use tun_rs::{DeviceBuilder, SyncDevice};

/// The kernel's side of a TUN device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Name, at most 15 bytes.
    pub name: String,
    /// The kernel's addresses on it, with the length of their networks' prefixes.
    pub addresses: Vec<(IpAddr, u8)>,
    /// Largest packet, bytes.
    pub mtu: u16,
}

/// The longest name of an interface, bytes (IFNAMSIZ less its zero).
const LONGEST_NAME: usize = 15;
/// Packets that wait in the kernel for us: the default of 500 is a few milliseconds of a fast link.
const QUEUE: u32 = 10_000;

/// Our side of a TUN device; it disappears with its owner.
pub struct Tun {
    device: SyncDevice,
}

/// Makes a device and brings it up; with offloads it hands over segments that belong together in one piece, and takes
/// them so (`crate::offload`).
pub(crate) fn device(interface: &Interface, offloads: bool) -> Result<SyncDevice, SystemError> {
    let name = &interface.name;
    if name.is_empty() || name.len() > LONGEST_NAME || name.contains(|c: char| c == '/' || c.is_whitespace())
    {
        return Err(SystemError::new(
            format!("`{name}` cannot be the name of an interface"),
            "1 to 15 characters without blanks and slashes",
        ));
    }
    let mut builder = DeviceBuilder::new().name(name.clone()).mtu(interface.mtu).offload(offloads);
    for (address, prefix) in &interface.addresses {
        builder = match address {
            IpAddr::V4(address) => builder.ipv4(*address, *prefix, None),
            IpAddr::V6(address) => builder.ipv6(*address, *prefix),
        };
    }
    let refused = |error: io::Error| {
        let what = format!("cannot make the TUN device `{name}`");
        SystemError::of_system(&what, &error, "see `ip link` for what is there already")
    };
    let device = builder.build_sync().map_err(refused)?;
    // The ioctl(2) is root's alone; by rtnetlink(7) whoever owns the namespace may.
    if device.set_tx_queue_len(QUEUE).is_err() {
        ip(&["link", "set", "dev", name, "txqueuelen", &QUEUE.to_string()])?;
    }
    device.set_nonblocking(true).map_err(refused)?;
    Ok(device)
}

impl Tun {
    /// Makes the device and brings it up, without offloads.
    ///
    /// # Errors
    /// If the system refuses: no permission, no TUN, a name that is taken.
    pub fn open(interface: &Interface) -> Result<Tun, SystemError> {
        Ok(Tun { device: device(interface, false)? })
    }

    /// The next packet from the kernel, if one is there: its length in `buffer`.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn recv(&self, buffer: &mut [u8]) -> Result<Option<usize>, SystemError> {
        match self.device.recv(buffer) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(gone(&error)),
        }
    }

    /// Gives a packet to the kernel. False if it did not take it: it is lost, as on a wire.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn send(&self, packet: &[u8]) -> Result<bool, SystemError> {
        taken(self.device.send(packet))
    }

    /// Waits until a packet is there, for `span` at most.
    ///
    /// # Errors
    /// If the device is gone.
    pub fn wait(&self, span: Duration) -> Result<(), SystemError> {
        wait_for_any([&self.device], span)
    }
}

/// Waits until a packet is there on any device, for `span` at most.
pub(crate) fn wait_for_any<const N: usize>(
    devices: [&SyncDevice; N],
    span: Duration,
) -> Result<(), SystemError> {
    let mut polled = devices.map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
    let span = TimeSpec::from_duration(std::time::Duration::from_nanos(span.as_nanos()));
    match ppoll(&mut polled, Some(span), None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(gone(&error.into())),
    }
}

/// How long to wait from `now` until `due`, a second at most.
pub fn until(now: Time, due: Time) -> Duration {
    Duration::from_nanos(due.as_nanos().saturating_sub(now.as_nanos()).min(1_000_000_000))
}

/// Whether the kernel took a packet.
pub(crate) fn taken(written: io::Result<usize>) -> Result<bool, SystemError> {
    match written {
        Ok(_) => Ok(true),
        // EINVAL: not an IP packet (its version was corrupted).
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput) => {
            Ok(false)
        }
        Err(error) => Err(gone(&error)),
    }
}

pub(crate) fn gone(error: &io::Error) -> SystemError {
    SystemError::of_system("the TUN device is gone", error, "was it deleted, or its namespace?")
}

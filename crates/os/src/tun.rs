//! A TUN device, which exchanges IP packets with the kernel.

use crate::error::SystemError;
use crate::namespace::ip;
use lasthop_base::{Duration, Time};
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::io;
use std::net::IpAddr;
use std::os::fd::AsFd;
use tun_rs::{DeviceBuilder, SyncDevice};

/// Kernel's side of a TUN device.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Name, at most 15 bytes.
    pub name: String,
    /// Kernel's addresses, with prefix lengths.
    pub addresses: Vec<(IpAddr, u8)>,
    /// MTU, bytes.
    pub mtu: u16,
}

/// Maximum length of an interface name, bytes (IFNAMSIZ without its zero).
const MAX_NAME_BYTES: usize = 15;
/// Length of the kernel's queue, packets. The default of 500 packets would cover only a few milliseconds of a fast
/// link.
const QUEUE_PACKETS: u32 = 10_000;

/// A TUN device without offloads. Dropping this value removes the device.
pub struct Tun {
    device: SyncDevice,
}

/// Creates a device and brings it up. With offloads, reads and writes may hold several segments (`crate::offload`).
pub(crate) fn device(interface: &Interface, offloads: bool) -> Result<SyncDevice, SystemError> {
    let name = &interface.name;
    if name.is_empty()
        || name.len() > MAX_NAME_BYTES
        || name.contains(|c: char| c == '/' || c.is_whitespace())
    {
        return Err(SystemError::new(
            format!("`{name}` cannot be the name of an interface"),
            "choose a name of 1 to 15 characters without blanks and slashes",
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
        let what = format!("cannot create the TUN device `{name}`");
        let help = match error.kind() {
            io::ErrorKind::NotFound => "the kernel has no TUN devices: modprobe tun",
            _ => "see `ip link` for existing devices",
        };
        SystemError::of_system(&what, &error, help)
    };
    let device = builder.build_sync().map_err(refused)?;
    // The ioctl(2) needs root. If the ioctl fails, `ip` uses rtnetlink(7), which the owner of the namespace may use.
    if device.set_tx_queue_len(QUEUE_PACKETS).is_err() {
        ip(&["link", "set", "dev", name, "txqueuelen", &QUEUE_PACKETS.to_string()])?;
    }
    device.set_nonblocking(true).map_err(refused)?;
    Ok(device)
}

impl Tun {
    /// Creates the device and brings it up, without offloads.
    ///
    /// # Errors
    /// Fails if a system call fails: no permission, no TUN, a name in use.
    pub fn open(interface: &Interface) -> Result<Tun, SystemError> {
        Ok(Tun { device: device(interface, false)? })
    }

    /// Reads the next packet from the kernel into `buffer`. Returns the packet's length, or `None` if no packet is
    /// waiting.
    ///
    /// # Errors
    /// Fails if the device no longer exists.
    pub fn recv(&self, buffer: &mut [u8]) -> Result<Option<usize>, SystemError> {
        match self.device.recv(buffer) {
            Ok(len) => Ok(Some(len)),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(device_gone(&error)),
        }
    }

    /// Gives a packet to the kernel. Returns false if the kernel refuses the packet, which is then lost.
    ///
    /// # Errors
    /// Fails if the device no longer exists.
    pub fn send(&self, packet: &[u8]) -> Result<bool, SystemError> {
        is_accepted(self.device.send(packet))
    }

    /// Waits for a packet, at most `span`.
    ///
    /// # Errors
    /// Fails if the device no longer exists.
    pub fn wait(&self, span: Duration) -> Result<(), SystemError> {
        wait_for_any([&self.device], span)
    }
}

pub(crate) fn wait_for_any<const N: usize>(
    devices: [&SyncDevice; N],
    span: Duration,
) -> Result<(), SystemError> {
    let mut polled = devices.map(|device| PollFd::new(device.as_fd(), PollFlags::POLLIN));
    let span = TimeSpec::from_duration(std::time::Duration::from_nanos(span.as_nanos()));
    match ppoll(&mut polled, Some(span), None) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(device_gone(&error.into())),
    }
}

/// Time from `now` until `due`, at most 1 s.
pub fn until(now: Time, due: Time) -> Duration {
    Duration::from_nanos(due.as_nanos().saturating_sub(now.as_nanos()).min(1_000_000_000))
}

pub(crate) fn is_accepted(written: io::Result<usize>) -> Result<bool, SystemError> {
    match written {
        Ok(_) => Ok(true),
        // EINVAL means that the bytes are not an IP packet (corrupted version field).
        Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::InvalidInput) => {
            Ok(false)
        }
        Err(error) => Err(device_gone(&error)),
    }
}

pub(crate) fn device_gone(error: &io::Error) -> SystemError {
    SystemError::of_system(
        "the TUN device no longer exists",
        error,
        "check that the device and its namespace still exist",
    )
}

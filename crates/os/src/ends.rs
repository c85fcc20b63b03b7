//! Ends of a path: devices, addresses, names.

use crate::error::SystemError;
use crate::namespace::{self, Namespace};
use crate::port::Port;
use crate::tun::Interface;
use nix::ifaddrs::getifaddrs;
use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Server's address, from the network for benchmarks (RFC 2544), to which the internet has no routes.
pub const SERVER: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 1);
/// Client's address.
pub const CLIENT: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 2);
/// Server's IPv6 address, from the network for benchmarks 2001:2::/48 (RFC 5180 §8 with its erratum).
pub const SERVER6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 1);
/// Client's IPv6 address.
pub const CLIENT6: Ipv6Addr = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, 2);
/// Highest N of the networks 198.18.N.0/24. Each nested emulation uses the network with the next N.
const MAX_NETWORK: u8 = 255;
/// Name of the device in its namespace. The name differs from that of the device of `lasthop endpoint`, which may run
/// in the same namespace.
pub const DEVICE: &str = "lasthop-path";
/// Minimum MTU for IPv6, bytes (RFC 8200 §5).
pub const MIN_MTU6: u16 = 1280;

/// Creates the device of one end in its namespace, with default routes. Omits IPv6 if `v6` is `None`, the `mtu` is too
/// small, or the kernel lacks IPv6. The kernel sends the IPv6 packets of programs, but no IPv6 packets of its own.
///
/// # Errors
/// Fails if a system call fails.
pub fn open(
    namespace: &Namespace,
    v4: Ipv4Addr,
    v6: Option<Ipv6Addr>,
    mtu: u16,
) -> Result<Port, SystemError> {
    namespace.within(|| {
        let v6 = v6.filter(|_| mtu >= MIN_MTU6 && namespace::enable_ipv6());
        let addresses = vec![(IpAddr::V4(v4), 24)];
        let mut port = Port::open(&Interface { name: DEVICE.to_owned(), addresses, mtu })?;
        port.record_handovers();
        namespace::ip(&["route", "add", "default", "dev", DEVICE])?;
        if let Some(address) = v6 {
            // Duplicate address detection is unnecessary, because no other host can have the address.
            namespace::ip(&["-6", "addr", "add", &format!("{address}/64"), "dev", DEVICE, "nodad"])?;
            namespace::ip(&["-6", "route", "add", "default", "dev", DEVICE])?;
        }
        Ok(port)
    })?
}

/// Sets the congestion control of TCP connections that use a device of this thread's namespace. The setting applies to
/// connections with `peers` and, if `is_default` is true, with all other hosts. The setting applies from the first
/// packet, also to accepted connections.
///
/// The setting is the route attribute `congctl` (ip-route(8)), for which the kernel permits every congestion control.
/// For the default of a namespace (sysctl), the kernel permits only unrestricted congestion controls.
///
/// # Errors
/// Fails if the kernel lacks the congestion control.
pub fn set_congestion_control(
    device: &str,
    peers: &[IpAddr],
    is_default: bool,
    name: &str,
) -> Result<(), SystemError> {
    for peer in peers {
        let family = if peer.is_ipv4() { "-4" } else { "-6" };
        let peer = peer.to_string();
        for to in [peer.as_str()].into_iter().chain(is_default.then_some("default")) {
            let words = [family, "route", "replace", to, "dev", device, "congctl", name];
            namespace::ip(&words).map_err(|error| congestion_error(name, &error.message))?;
        }
    }
    Ok(())
}

/// Whether a device of this thread's namespace has an IPv6 address (proc(5), net/if_inet6).
pub fn has_ipv6(device: &str) -> bool {
    let text = fs::read_to_string("/proc/thread-self/net/if_inet6").unwrap_or_default();
    text.lines().any(|line| line.split_whitespace().next_back() == Some(device))
}

/// Congestion controls available in the kernel. Congestion controls in modules that are not loaded are missing.
pub fn congestion_controls() -> Vec<String> {
    let known = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    known.unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

/// Default congestion control of this thread's namespace.
pub fn default_congestion_control() -> Option<String> {
    let default = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").ok()?;
    Some(default.trim().to_owned())
}

/// Creates the error for an unusable congestion control, with the names of the available congestion controls.
pub fn congestion_error(name: &str, why: &str) -> SystemError {
    let known = congestion_controls();
    if known.iter().any(|one| one == name) {
        SystemError::new(
            format!("the kernel does not permit the congestion control `{name}`: {why}"),
            "run it as root",
        )
    } else {
        SystemError::new(
            format!("this kernel has no congestion control `{name}`"),
            format!("available: {}; others may be modules: sudo modprobe tcp_{name}", known.join(", ")),
        )
    }
}

/// Network of the addresses at both ends of a path, 198.18.N.0/24. The number N distinguishes nested emulations.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Network(u8);

impl Network {
    /// Network of a path whose two ends both have their own namespace, so that addresses cannot conflict.
    pub const ISOLATED: Network = Network(0);

    /// Returns the network whose number follows the highest number of a network in use in this thread's namespace. A
    /// nested emulation thus gets the next network.
    ///
    /// # Errors
    /// Fails if all networks are in use.
    pub fn next() -> Result<Network, SystemError> {
        let refused = |error: nix::errno::Errno| {
            SystemError::of_system("cannot list addresses", &error.into(), "see `ip addr`")
        };
        let found = getifaddrs().map_err(refused)?;
        let addresses = found.filter_map(|one| Some(one.address?.as_sockaddr_in()?.ip()));
        match addresses.filter_map(network_number).max() {
            Some(MAX_NETWORK) => Err(SystemError::new(
                "no free network remains for the path: 198.18.255.0/24 is in use",
                "find the device that uses this network with `ip addr`",
            )),
            highest => Ok(Network(highest.map_or(0, |number| number + 1))),
        }
    }

    /// Kernel's address at the server's end.
    pub fn server(self) -> Ipv4Addr {
        self.of(SERVER)
    }

    /// Kernel's address at the client's end.
    pub fn client(self) -> Ipv4Addr {
        self.of(CLIENT)
    }

    fn of(self, address: Ipv4Addr) -> Ipv4Addr {
        let [a, b, _, d] = address.octets();
        Ipv4Addr::new(a, b, self.0, d)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "198.18.{}.0/24", self.0)
    }
}

fn network_number(address: Ipv4Addr) -> Option<u8> {
    match address.octets() {
        [198, 18, number, _] => Some(number),
        _ => None,
    }
}

/// Whether namespaces of this kernel can have IPv6.
pub fn kernel_has_ipv6() -> bool {
    Path::new("/proc/sys/net/ipv6/conf/all/disable_ipv6").exists()
}

/// Number of packets that a device of this thread's namespace dropped. Received packets and sent packets both count
/// (proc(5), net/dev).
pub fn lost_in(device: &str) -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim_start().strip_prefix(device)?.strip_prefix(':'));
    let columns: Vec<u64> =
        line.unwrap_or_default().split_whitespace().map_while(|word| word.parse().ok()).collect();
    // Columns for received packets: bytes, packets, errs, drop and four others. The same eight columns for sent packets
    // follow.
    [3, 11].iter().filter_map(|column| columns.get(*column)).sum()
}

const ADDRESSES: [Ipv4Addr; 2] = [SERVER, CLIENT];

static NUMBERS_IN_USE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// Server's and client's namespaces, each with a device connected to this process. A process may have several pairs.
#[derive(Debug)]
pub struct PathEnds {
    namespaces: [Namespace; 2],
    _number: PairNumber,
}

#[derive(Debug)]
struct PairNumber(u32);

impl PairNumber {
    fn allocate() -> PairNumber {
        let mut in_use = NUMBERS_IN_USE.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..).find(|number| !in_use.contains(number)).unwrap_or(0);
        in_use.push(number);
        PairNumber(number)
    }

    fn role(&self, role: &str) -> String {
        if self.0 == 0 { role.to_owned() } else { format!("{role}{}", self.0) }
    }
}

impl Drop for PairNumber {
    fn drop(&mut self) {
        NUMBERS_IN_USE.lock().unwrap_or_else(PoisonError::into_inner).retain(|number| *number != self.0);
    }
}

impl PathEnds {
    /// Creates the pair. Returns the ports of the devices: first the server's, then the client's.
    ///
    /// # Errors
    /// Fails if a system call fails: no permission, no TUN, no `ip`.
    pub fn build(mtu: u16) -> Result<(PathEnds, [Port; 2]), SystemError> {
        let number = PairNumber::allocate();
        let server = Namespace::create(&number.role("server"))?;
        let client = Namespace::create(&number.role("client"))?;
        let ends = PathEnds { namespaces: [server, client], _number: number };
        let device = |end: usize| open(&ends.namespaces[end], ADDRESSES[end], None, mtu);
        let ports = [device(0)?, device(1)?];
        Ok((ends, ports))
    }

    /// Namespace of an end: 0 is the server's, 1 the client's.
    pub fn namespace(&self, end: usize) -> &Namespace {
        &self.namespaces[end]
    }

    /// Kernel's address at an end.
    pub fn address(end: usize) -> Ipv4Addr {
        ADDRESSES[end]
    }

    /// Number of packets that the two devices dropped, sent and received.
    pub fn lost_in_devices(&self) -> u64 {
        let lost = |namespace: &Namespace| namespace.within(|| lost_in(DEVICE)).unwrap_or(0);
        self.namespaces.iter().map(lost).sum()
    }
}

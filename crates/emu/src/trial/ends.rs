//! The two places that a path lies between.

use crate::ends::{self, CLIENT, DEVICE, SERVER};
use crate::namespace::Namespace;
use crate::trouble::Trouble;
use crate::tun::Tun;
use std::net::Ipv4Addr;

/// The kernel's addresses at both ends.
const ADDRESSES: [Ipv4Addr; 2] = [SERVER, CLIENT];

/// Two namespaces, the server's and the client's, each with a device whose other side is ours.
#[derive(Debug)]
pub struct Ends {
    namespaces: [Namespace; 2],
}

impl Ends {
    /// Makes them; our sides of the devices are given back in the same order.
    ///
    /// # Errors
    /// If the system refuses: no permission, no TUN, no `ip`.
    pub fn build(mtu: u16) -> Result<(Ends, [Tun; 2]), Trouble> {
        let server = Namespace::create("server")?;
        let client = Namespace::create("client")?;
        let ends = Ends { namespaces: [server, client] };
        let device = |end: usize| ends::open(&ends.namespaces[end], ADDRESSES[end], None, mtu);
        let tuns = [device(0)?, device(1)?];
        Ok((ends, tuns))
    }

    /// One of them.
    pub fn namespace(&self, end: usize) -> &Namespace {
        &self.namespaces[end]
    }

    /// The kernel's address there.
    pub fn address(end: usize) -> Ipv4Addr {
        ADDRESSES[end]
    }

    /// Packets that the kernel could not put into the devices' rings, or take from them.
    pub fn lost_in_devices(&self) -> u64 {
        let lost = |namespace: &Namespace| namespace.within(|| ends::lost_in(DEVICE)).unwrap_or(0);
        self.namespaces.iter().map(lost).sum()
    }
}

//! What lies behind the path: a namespace for a server, or a network.

use super::ground::Ground;
use crate::output;
use lasthop_os::ends::{self, DEVICE, SERVER, SERVER6};
use lasthop_os::nat::Nat;
use lasthop_os::splice::Splice;
use lasthop_os::uplink::Uplink;
use lasthop_os::{Interface, Namespace, Port, SystemError};
use std::fs;

/// The network of both ends.
const NETWORK: &str = "198.18.0.0/24";
/// The device's name where the network is.
const OUTSIDE: &str = "lasthop-nat";

/// One of them.
pub(super) enum Far {
    /// A server's namespace.
    Server(Namespace),
    /// The network of the namespace that we are in.
    Here { _nat: Nat },
    /// That of a namespace of its own, which is joined to the network that we may use.
    Joined { nat: Option<Nat>, _splice: Splice, _uplink: Option<Uplink>, namespace: Namespace },
}

impl Far {
    /// A namespace for a server, with the path's device.
    pub(super) fn server(ground: &Ground, mtu: u16) -> Result<(Far, Port), SystemError> {
        let namespace = ground.namespace("server")?;
        let port = ends::open(&namespace, SERVER, Some(SERVER6), mtu)?;
        Ok((Far::Server(namespace), port))
    }

    /// The network, with the path's device.
    pub(super) fn outside(ground: &Ground, mtu: u16) -> Result<(Far, Port), SystemError> {
        warn_of_local_resolver();
        match ground.may_change_network() {
            true => {
                let nat = ground.nat(OUTSIDE, NETWORK, None)?;
                let port = open(&nat, mtu)?;
                Ok((Far::Here { _nat: nat }, port))
            }
            false => Far::joined(ground, mtu),
        }
    }

    fn joined(ground: &Ground, mtu: u16) -> Result<(Far, Port), SystemError> {
        let namespace = ground.namespace("outside")?;
        let splice = Splice::begin(&namespace)?;
        let uplink = Uplink::begin(&namespace).map_err(|error| {
            output::note(&format!("note: only TCP gets outside: {} ({})", error.message, error.help));
        });
        let (nat, port) = namespace.within(|| {
            let nat = ground.nat(OUTSIDE, NETWORK, Some(splice.port()))?;
            let port = open(&nat, mtu)?;
            Ok((Some(nat), port))
        })??;
        Ok((Far::Joined { nat, _splice: splice, _uplink: uplink.ok(), namespace }, port))
    }

    /// The namespace of a server.
    pub(super) fn servers(&self) -> Option<&Namespace> {
        match self {
            Far::Server(namespace) => Some(namespace),
            Far::Here { .. } | Far::Joined { .. } => None,
        }
    }

    /// Packets that the kernel could not put into the device's ring, or take from it.
    pub(super) fn lost_in_device(&self) -> u64 {
        match self {
            Far::Server(namespace) => namespace.within(|| ends::lost_in(DEVICE)).unwrap_or(0),
            Far::Here { .. } => ends::lost_in(OUTSIDE),
            Far::Joined { namespace, .. } => namespace.within(|| ends::lost_in(OUTSIDE)).unwrap_or(0),
        }
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        if let Far::Joined { nat, namespace, .. } = self {
            // Where its rules are.
            let _ = namespace.within(|| drop(nat.take()));
        }
    }
}

/// The path's device in this thread's namespace, from which packets go on.
fn open(nat: &Nat, mtu: u16) -> Result<Port, SystemError> {
    let addresses = vec![(SERVER.into(), 24)];
    let mut port = Port::open(&Interface { name: OUTSIDE.to_owned(), addresses, mtu })?;
    port.watch();
    nat.open()?;
    // Only what the command causes goes by the path.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{OUTSIDE}/disable_ipv6"), "1");
    Ok(port)
}

/// Names are resolved as on the host; a resolver on its loopback device is out of the command's reach.
fn warn_of_local_resolver() {
    let text = fs::read_to_string("/etc/resolv.conf").unwrap_or_default();
    let mut servers = text.lines().filter_map(|line| line.strip_prefix("nameserver")).map(str::trim);
    if servers.clone().next().is_some() && servers.all(|server| server.starts_with("127.") || server == "::1")
    {
        output::note(
            "note: /etc/resolv.conf names a resolver on the host's loopback device, which the command cannot reach: \
             names will not be resolved, addresses will",
        );
    }
}

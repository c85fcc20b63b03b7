//! The remote end of the path: a server's namespace, or a network.

use super::ground::Ground;
use crate::output;
use lasthop_os::ends::{self, CLIENT6, DEVICE, Network, SERVER, SERVER6};
use lasthop_os::nat::Nat;
use lasthop_os::resolver::{Names, pass_on};
use lasthop_os::splice::Splice;
use lasthop_os::uplink::Uplink;
use lasthop_os::{Interface, Namespace, Port, SystemError};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};

const OUTSIDE: &str = "lasthop-nat";

/// Address that answers DNS queries. `all`: for all resolvers, otherwise for unreachable ones only.
pub(super) struct Passed {
    at: Ipv4Addr,
    all: bool,
}

pub(super) enum Far {
    Server(Namespace),
    /// Network of the current namespace.
    Here {
        names: Option<Passed>,
        _nat: Nat,
    },
    /// A separate namespace, connected to the network available to the user.
    Joined {
        names: Option<Passed>,
        nat: Option<Nat>,
        _splice: Splice,
        _uplink: Option<Uplink>,
        namespace: Namespace,
    },
}

impl Far {
    pub(super) fn server(ground: &Ground, mtu: u16) -> Result<(Far, Port), SystemError> {
        let namespace = ground.namespace("server")?;
        let port = ends::open(&namespace, SERVER, Some(SERVER6), mtu)?;
        Ok((Far::Server(namespace), port))
    }

    pub(super) fn outside(ground: &Ground, ends: Network, mtu: u16) -> Result<(Far, Port), SystemError> {
        if ground.may_change_network() {
            let nat = ground.nat(OUTSIDE, ends, None)?;
            let port = open(&nat, ends, mtu)?;
            let names = pass_names_on(None, ends);
            Ok((Far::Here { names, _nat: nat }, port))
        } else {
            Far::joined(ground, ends, mtu)
        }
    }

    fn joined(ground: &Ground, ends: Network, mtu: u16) -> Result<(Far, Port), SystemError> {
        let namespace = ground.namespace("outside")?;
        let splice = Splice::begin(&namespace)?;
        let uplink = Uplink::begin(&namespace).map_err(|error| {
            output::note(&format!(
                "note: only TCP and name resolution (DNS) reach outside: {} ({})",
                error.message, error.help
            ));
        });
        let (nat, port) = namespace.within(|| {
            let nat = ground.nat(OUTSIDE, ends, Some(splice.port()))?;
            let port = open(&nat, ends, mtu)?;
            Ok((Some(nat), port))
        })??;
        let names = pass_names_on(Some(&namespace), ends);
        Ok((Far::Joined { names, nat, _splice: splice, _uplink: uplink.ok(), namespace }, port))
    }

    /// Resolvers for programs behind the path, if different from the machine's.
    pub(super) fn names(&self) -> Result<Option<Names>, SystemError> {
        let passed = match self {
            Far::Server(_) => &None,
            Far::Here { names, .. } | Far::Joined { names, .. } => names,
        };
        passed.as_ref().map(|passed| Names::through(passed.at, passed.all)).transpose()
    }

    pub(super) fn servers(&self) -> Option<&Namespace> {
        match self {
            Far::Server(namespace) => Some(namespace),
            Far::Here { .. } | Far::Joined { .. } => None,
        }
    }

    /// Namespace whose kernel sends down the path, if it belongs to the run.
    pub(super) fn senders(&self) -> Option<&Namespace> {
        match self {
            Far::Server(namespace) | Far::Joined { namespace, .. } => Some(namespace),
            Far::Here { .. } => None,
        }
    }

    /// Sets the congestion control of TCP connections to the client; false if the sender is outside the run.
    pub(super) fn congest(&self, ends: Network, name: &str) -> Result<bool, SystemError> {
        let Some(namespace) = self.senders() else { return Ok(false) };
        namespace.within(|| {
            let (device, is_default) =
                if matches!(self, Far::Server(_)) { (DEVICE, true) } else { (OUTSIDE, false) };
            let v6 = ends::has_ipv6(device).then_some(IpAddr::from(CLIENT6));
            let client = [Some(IpAddr::from(ends.client())), v6];
            ends::congest(device, &client.into_iter().flatten().collect::<Vec<_>>(), is_default, name)
        })??;
        Ok(true)
    }

    /// Packets that the kernel could not put into the device's ring, or take from the ring.
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
            // The rules exist in this namespace.
            let _ = namespace.within(|| drop(nat.take()));
        }
    }
}

/// Answers DNS queries at the remote end if the path cannot reach the resolver. On failure, names are not resolved.
fn pass_names_on(namespace: Option<&Namespace>, ends: Network) -> Option<Passed> {
    let all = namespace.is_some();
    let resolver = Names::resolver(all)?;
    match pass_on(namespace, ends.server(), resolver) {
        Ok(()) => Some(Passed { at: ends.server(), all }),
        Err(error) => {
            output::note(&format!(
                "note: names cannot be resolved, only addresses work: {} ({})",
                error.message, error.help
            ));
            None
        }
    }
}

/// Opens the path's device in this thread's namespace, and enables forwarding from the device.
fn open(nat: &Nat, ends: Network, mtu: u16) -> Result<Port, SystemError> {
    let addresses = vec![(ends.server().into(), 24)];
    let mut port = Port::open(&Interface { name: OUTSIDE.to_owned(), addresses, mtu })?;
    port.watch();
    nat.open()?;
    // Only traffic of the command uses the path.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{OUTSIDE}/disable_ipv6"), "1");
    Ok(port)
}

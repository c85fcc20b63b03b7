//! Remote end of the path: the server's namespace, or the network outside the run.

use super::privileges::Privileges;
use crate::output;
use lasthop_os::ends::{self, CLIENT6, DEVICE, Network, SERVER, SERVER6};
use lasthop_os::nat::Nat;
use lasthop_os::resolver::{ResolvConf, forward_dns};
use lasthop_os::splice::Splice;
use lasthop_os::uplink::Uplink;
use lasthop_os::{Interface, Namespace, Port, SystemError};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};

const OUTSIDE: &str = "lasthop-nat";

/// Forwarder of DNS queries, which listens at the remote end's address `at`. If `all` is true, the forwarder replaces
/// all resolvers; otherwise only the resolvers that the path cannot reach.
pub(super) struct DnsForwarder {
    at: Ipv4Addr,
    all: bool,
}

pub(super) enum RemoteEnd {
    Server(Namespace),
    /// The path leads to the network in the namespace of this process.
    HostNetwork {
        dns: Option<DnsForwarder>,
        _nat: Nat,
    },
    /// The path leads to a separate namespace. This namespace is connected to the network that the user can access.
    Uplinked {
        dns: Option<DnsForwarder>,
        nat: Option<Nat>,
        _splice: Splice,
        _uplink: Option<Uplink>,
        namespace: Namespace,
    },
}

impl RemoteEnd {
    pub(super) fn server(privileges: &Privileges, mtu: u16) -> Result<(RemoteEnd, Port), SystemError> {
        let namespace = privileges.namespace("server")?;
        let port = ends::open(&namespace, SERVER, Some(SERVER6), mtu)?;
        Ok((RemoteEnd::Server(namespace), port))
    }

    pub(super) fn outside(
        privileges: &Privileges,
        ends: Network,
        mtu: u16,
    ) -> Result<(RemoteEnd, Port), SystemError> {
        if privileges.may_change_network() {
            let nat = privileges.nat(OUTSIDE, ends, None)?;
            let port = open(&nat, ends, mtu)?;
            let dns = forward_dns_queries(None, ends);
            Ok((RemoteEnd::HostNetwork { dns, _nat: nat }, port))
        } else {
            RemoteEnd::uplinked(privileges, ends, mtu)
        }
    }

    fn uplinked(privileges: &Privileges, ends: Network, mtu: u16) -> Result<(RemoteEnd, Port), SystemError> {
        let namespace = privileges.namespace("outside")?;
        let splice = Splice::begin(&namespace)?;
        let uplink = Uplink::begin(&namespace).map_err(|error| {
            output::note(&format!(
                "note: only TCP and name resolution (DNS) reach the outside network: {} ({})",
                error.message, error.help
            ));
        });
        let (nat, port) = namespace.within(|| {
            let nat = privileges.nat(OUTSIDE, ends, Some(splice.port()))?;
            let port = open(&nat, ends, mtu)?;
            Ok((Some(nat), port))
        })??;
        let dns = forward_dns_queries(Some(&namespace), ends);
        Ok((RemoteEnd::Uplinked { dns, nat, _splice: splice, _uplink: uplink.ok(), namespace }, port))
    }

    /// Returns the resolver configuration for programs behind the path. Returns `None` if the machine's own
    /// configuration also works behind the path.
    pub(super) fn resolv_conf(&self) -> Result<Option<ResolvConf>, SystemError> {
        let forwarder = match self {
            RemoteEnd::Server(_) => &None,
            RemoteEnd::HostNetwork { dns, .. } | RemoteEnd::Uplinked { dns, .. } => dns,
        };
        forwarder.as_ref().map(|forwarder| ResolvConf::via(forwarder.at, forwarder.all)).transpose()
    }

    pub(super) fn server_namespace(&self) -> Option<&Namespace> {
        match self {
            RemoteEnd::Server(namespace) => Some(namespace),
            RemoteEnd::HostNetwork { .. } | RemoteEnd::Uplinked { .. } => None,
        }
    }

    /// Returns the namespace whose kernel sends to the client. Returns `None` if the sender is outside the run.
    pub(super) fn sender_namespace(&self) -> Option<&Namespace> {
        match self {
            RemoteEnd::Server(namespace) | RemoteEnd::Uplinked { namespace, .. } => Some(namespace),
            RemoteEnd::HostNetwork { .. } => None,
        }
    }

    /// Sets the congestion control of TCP connections to the client. Returns false if the sender is outside the run.
    pub(super) fn set_congestion_control(&self, ends: Network, name: &str) -> Result<bool, SystemError> {
        let Some(namespace) = self.sender_namespace() else { return Ok(false) };
        namespace.within(|| {
            let (device, is_default) =
                if matches!(self, RemoteEnd::Server(_)) { (DEVICE, true) } else { (OUTSIDE, false) };
            let v6 = ends::has_ipv6(device).then_some(IpAddr::from(CLIENT6));
            let client = [Some(IpAddr::from(ends.client())), v6];
            ends::set_congestion_control(
                device,
                &client.into_iter().flatten().collect::<Vec<_>>(),
                is_default,
                name,
            )
        })??;
        Ok(true)
    }

    /// Returns the number of packets that the kernel failed to put into the device's ring, or to take from this ring.
    pub(super) fn lost_in_device(&self) -> u64 {
        match self {
            RemoteEnd::Server(namespace) => namespace.within(|| ends::lost_in(DEVICE)).unwrap_or(0),
            RemoteEnd::HostNetwork { .. } => ends::lost_in(OUTSIDE),
            RemoteEnd::Uplinked { namespace, .. } => namespace.within(|| ends::lost_in(OUTSIDE)).unwrap_or(0),
        }
    }
}

impl Drop for RemoteEnd {
    fn drop(&mut self) {
        if let RemoteEnd::Uplinked { nat, namespace, .. } = self {
            // The netfilter rules exist only in `namespace`, so the rules must be removed in this namespace.
            let _ = namespace.within(|| drop(nat.take()));
        }
    }
}

/// Starts a forwarder of DNS queries at the remote end if the path cannot reach the resolver. On failure, prints a
/// note; names are then not resolved.
fn forward_dns_queries(namespace: Option<&Namespace>, ends: Network) -> Option<DnsForwarder> {
    let all = namespace.is_some();
    let resolver = ResolvConf::resolver(all)?;
    match forward_dns(namespace, ends.server(), resolver) {
        Ok(()) => Some(DnsForwarder { at: ends.server(), all }),
        Err(error) => {
            output::note(&format!(
                "note: names cannot be resolved, only addresses work: {} ({})",
                error.message, error.help
            ));
            None
        }
    }
}

/// Opens the path's device in this thread's network namespace, and enables forwarding of packets from this device.
fn open(nat: &Nat, ends: Network, mtu: u16) -> Result<Port, SystemError> {
    let addresses = vec![(ends.server().into(), 24)];
    let mut port = Port::open(&Interface { name: OUTSIDE.to_owned(), addresses, mtu })?;
    port.record_handovers();
    nat.open()?;
    // With IPv6 disabled, the kernel sends no packets of its own, such as router solicitations. Only the command's
    // traffic uses the path.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{OUTSIDE}/disable_ipv6"), "1");
    Ok(port)
}

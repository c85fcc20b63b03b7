//! Enables and disables IPv4 forwarding for each interface.
//!
//! The setting of the interface on which a packet arrives (net.ipv4.conf.NAME.forwarding) decides whether the packet is
//! forwarded. This module never writes `net.ipv4.ip_forward`, which resets the setting of every interface (ip-sysctl,
//! Linux).

use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn file(interface: &str) -> PathBuf {
    PathBuf::from(format!("/proc/sys/net/ipv4/conf/{interface}/forwarding"))
}

/// Whether the host forwards by default, also on future interfaces.
pub(super) fn is_host_forwarding() -> io::Result<bool> {
    is_on("all")
}

fn is_on(interface: &str) -> io::Result<bool> {
    fs::read_to_string(file(interface)).map(|text| text.trim() != "0")
}

pub(super) fn set(interface: &str, is_on: bool) -> io::Result<()> {
    fs::write(file(interface), if is_on { "1" } else { "0" })
}

/// Returns the interfaces that have a route and do not forward. Replies to packets of the path may arrive on these
/// interfaces.
pub(super) fn non_forwarding() -> io::Result<Vec<String>> {
    let mut command = Command::new("ip");
    command.args(["-4", "route", "show", "table", "all"]).stdin(Stdio::null());
    let output = command.output()?;
    let names = route_interfaces(&String::from_utf8_lossy(&output.stdout));
    Ok(names.into_iter().filter(|name| is_on(name).is_ok_and(|is_on| !is_on)).collect())
}

fn route_interfaces(routes: &str) -> Vec<String> {
    const LOCAL_ROUTES: [&str; 4] = ["local ", "broadcast ", "multicast ", "anycast "];
    let away = routes.lines().filter(|line| !LOCAL_ROUTES.iter().any(|kind| line.starts_with(kind)));
    let named = away.filter_map(|line| line.split_whitespace().skip_while(|word| *word != "dev").nth(1));
    let mut names: Vec<String> = named.filter(|name| *name != "lo").map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_of_all_tables_count_but_not_those_of_local_addresses() {
        let routes = "\
default via 192.0.2.1 dev eth0 proto dhcp metric 100
default dev wg0 table 51820 scope link
10.0.0.0/8 proto static
\tnexthop via 192.0.2.9 dev eth0 weight 1
\tnexthop via 198.51.100.9 dev eth1.7 weight 1
unreachable 203.0.113.0/24
local 127.0.0.0/8 dev lo table local proto kernel scope host src 127.0.0.1
local 203.0.113.5 dev dummy0 table local proto kernel scope host src 203.0.113.5
broadcast 192.0.2.255 dev eth9 table local proto kernel scope link src 192.0.2.5
";
        assert_eq!(route_interfaces(routes), ["eth0", "eth1.7", "wg0"]);
    }
}

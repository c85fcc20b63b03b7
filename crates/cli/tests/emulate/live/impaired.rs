//! Duplicated and damaged packets: kernels detect these packets, and transfers continue.

use crate::traffic::{client, server};
use crate::{emulate, is_possible, summary};

/// Returns a kernel counter from the contents of /proc/net/snmp and /proc/net/netstat, as printed by the command.
fn counted(text: &str, table: &str, name: &str) -> u64 {
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(table)).collect();
    let [names, counts] = lines[..] else { panic!("no {table}: {text}") };
    let column = names.split(' ').position(|word| word == name).expect("a counter of this name");
    counts.split(' ').nth(column).unwrap().parse().unwrap()
}

/// Each damaged packet fails a checksum in the client's kernel. The client's TCP reports each duplicate of data with a
/// D-SACK.
#[test]
fn kernels_find_damage_and_tell_of_copies() {
    if !is_possible() {
        return;
    }
    let path = "rate=10Mbit/s,rtt=20ms,queue=200packets,duplicate=5%,corrupt=2%";
    let command = format!("({}); cat /proc/net/snmp /proc/net/netstat", client("{server}", 2.0));
    let (server, command) = (server("cubic"), command);
    let output = emulate(&[path, "--server", &server, "--format", "json", "--", "sh", "-c", &command]);
    let text = String::from_utf8_lossy(&output.stdout);
    let told = |key: &str| summary(&output)[key]["down"].as_u64().expect(key);
    // About 700 packets are sent, so about 14 damaged and 35 duplicated packets are expected.
    let (damaged, copied) = (told("damaged"), told("duplicated"));
    assert!(damaged >= 3 && copied >= 12, "{damaged} {copied}: {text}");
    let found = counted(&text, "Tcp:", "InCsumErrors") + counted(&text, "IpExt:", "InCsumErrors");
    // A packet with a damaged version or length is dropped before its checksum is verified. The last damaged packets
    // may still be in flight.
    assert!(found <= damaged && found + 3 + damaged / 10 >= damaged, "{found} of {damaged}: {text}");
    let dsacks = counted(&text, "TcpExt:", "TCPDSACKOldSent") + counted(&text, "TcpExt:", "TCPDSACKOfoSent");
    assert!(2 * dsacks >= copied, "{dsacks} of {copied}: {text}");
}

//! Duplicates and damage: real kernels detect and survive both.

use crate::traffic::{client, server};
use crate::{emulate, is_possible, summary};

/// Reads a kernel counter from the file of names and values that the command printed.
fn counted(text: &str, table: &str, name: &str) -> u64 {
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with(table)).collect();
    let [names, counts] = lines[..] else { panic!("no {table}: {text}") };
    let column = names.split(' ').position(|word| word == name).expect("a count of this name");
    counts.split(' ').nth(column).unwrap().parse().unwrap()
}

/// Each damaged packet fails one of the client's checksums. TCP reports each duplicate of data with a D-SACK.
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
    // Expected are 14 damaged and 35 duplicated packets among about 700.
    let (damaged, copied) = (told("damaged"), told("duplicated"));
    assert!(damaged >= 3 && copied >= 12, "{damaged} {copied}: {text}");
    let found = counted(&text, "Tcp:", "InCsumErrors") + counted(&text, "IpExt:", "InCsumErrors");
    // Packets with a damaged version or length are dropped before their checksum is tested, and the last damaged
    // packets may still be in flight.
    assert!(found <= damaged && found + 3 + damaged / 10 >= damaged, "{found} of {damaged}: {text}");
    let dsacks = counted(&text, "TcpExt:", "TCPDSACKOldSent") + counted(&text, "TcpExt:", "TCPDSACKOfoSent");
    assert!(2 * dsacks >= copied, "{dsacks} of {copied}: {text}");
}

//! Goodput and packet counters, for TCP and for other traffic.

use crate::common::{lasthop, stderr_of};
use crate::{CLEAN, emulate, is_possible, summary};
use serde_json::Value;
use std::path::Path;

/// Sends a number of bytes to each client. The server closes the connection first, so that the client's port is free at
/// once.
const SERVER: &str = "
import socket, sys
listener = socket.create_server(('0.0.0.0', 5001), backlog=16)
while True:
    client, _ = listener.accept()
    client.sendall(bytes(int(sys.argv[1])))
    client.close()
";

/// Fetches the data three times, always from the same port of the client.
const CLIENT: &str = "
import socket, sys, time
for _ in range(3):
    client = socket.socket()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    client.bind(('0.0.0.0', 40000))
    client.connect((sys.argv[1], 5001))
    while client.recv(65536): pass
    client.close()
    # Until the server has acknowledged that, the port is taken.
    time.sleep(0.2)
";

/// Two programs: a server that answers a datagram with 30 datagrams, and a client that ends after receiving 20
/// datagrams.
const DATAGRAMS: [&str; 2] = [
    "
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(('0.0.0.0', 5001))
_, client = server.recvfrom(100)
for _ in range(30): server.sendto(bytes(1000), client)
server.recvfrom(100)
",
    "
import socket, sys
client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
client.sendto(b'go', (sys.argv[1], 5001))
for _ in range(20): client.recv(2000)
",
];

/// Accepts a connection, sends the name of its congestion control to the client, and keeps the connection open.
const ACCEPTS: &str = "
import socket, time
listener = socket.create_server(('0.0.0.0', 5001))
client, _ = listener.accept()
name = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1))
client.sendall(name)
time.sleep(60)
";

/// Prints the received name and the congestion control of the client's connection. The connection lasts longer than a
/// second, because the emulation may query the kernels about connections only once per second.
const CONNECTS: &str = "
import socket, sys, time
client = socket.create_connection((sys.argv[1], 5001))
name = client.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16).rstrip(bytes(1))
print(client.recv(16).decode(), name.decode())
time.sleep(1.5)
";

fn script(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Three transfers of 200,000 bytes from the same port count as 600,000 bytes of goodput, whatever their sequence
/// numbers. A capture has all three transfers without a missing packet.
#[test]
fn a_port_that_is_used_again_counts_each_byte_once() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let server = format!("exec python3 {} 200000", script(at, "server.py", SERVER));
    let (client, capture) = (script(at, "client.py", CLIENT), at.join("port.pcapng"));
    let capture = capture.to_str().unwrap();
    let output = emulate(&[
        CLEAN, "--format", "json", "--pcap", capture, "--server", &server, "--", "python3", &client,
        "{server}",
    ]);
    let told = summary(&output);
    assert_eq!(told["exit_status"], 0, "{output:?}");
    assert_eq!(told["acknowledged_bytes"]["down"], 600_000, "{told}");
    // The uplink carries no payload.
    assert_eq!(told["goodput_kbps"]["up"], Value::Null, "{told}");
    assert!(told["goodput_kbps"]["down"].as_f64() < told["rate_kbps"]["down"].as_f64(), "{told}");
    let imported = lasthop().args(["import", capture]).current_dir(at).output().unwrap();
    let text = String::from_utf8_lossy(&imported.stdout);
    // The capture has three connections, each captured at the two ends of the path.
    assert!(text.contains("connection 1 of 6"), "{text}{}", stderr_of(&imported));
    assert!(text.contains("200000 bytes of payload"), "{text}");
    assert!(!text.contains("without being in the capture"), "{text}");
}

/// The number of packets sent plus duplicated equals the number delivered, lost, refused and in flight.
#[test]
fn datagrams_have_no_goodput_and_every_packet_is_accounted_for() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let [server, client] = DATAGRAMS;
    let server = format!("exec python3 {}", script(folder.path(), "server.py", server));
    let client = script(folder.path(), "client.py", client);
    // Each packet takes 8.2 ms on the link.
    let path = "rate=1Mbit/s,rtt=20ms,queue=25packets,duplicate=10%";
    let output = emulate(&[
        path,
        "--format",
        "json",
        "--server",
        &server,
        "--assert",
        "goodput > 1 kbit/s, delivered > 10 KB",
        "--",
        "python3",
        &client,
        "{server}",
    ]);
    let (told, errors) = (summary(&output), stderr_of(&output));
    assert_eq!(told["goodput_kbps"]["down"], Value::Null, "{told}");
    for way in ["down", "up"] {
        let count = |name: &str| told[name][way].as_u64().unwrap();
        let lost: u64 = told["lost"][way].as_object().unwrap().values().filter_map(Value::as_u64).sum();
        let found = count("delivered") + lost + count("refused") + count("under_way");
        assert_eq!(count("packets") + count("duplicated"), found, "{way}: {told}");
    }
    // The client ends after 20 of 30 datagrams, so some datagrams are still in flight. The queue and the link hold at
    // most 26 packets.
    assert!(told["under_way"]["down"].as_u64() > Some(0), "{told}");
    if told["valid"] == true {
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("no TCP payload was sent down"), "{errors}");
        assert!(errors.contains("1 of 2 assertions do not hold"), "{errors}");
    }
}

/// `--congestion` applies at both ends of the path, also to accepted connections.
#[test]
fn connections_have_the_congestion_control_that_is_given() {
    if !is_possible() {
        return;
    }
    let read = |name: &str| std::fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).unwrap();
    let usual = read("tcp_congestion_control");
    let available = read("tcp_available_congestion_control");
    let Some(other) = available.split_whitespace().find(|name| *name != usual.trim()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let server = format!("exec python3 {}", script(folder.path(), "server.py", ACCEPTS));
    let client = script(folder.path(), "client.py", CONNECTS);
    let output = emulate(&[
        CLEAN,
        "--format",
        "json",
        "--congestion",
        other,
        "--server",
        &server,
        "--",
        "python3",
        &client,
        "{server}",
    ]);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!(printed.trim(), format!("{other} {other}"), "{}", stderr_of(&output));
    let told = summary(&output);
    let connections = told["connections"].as_array().unwrap();
    assert_eq!(connections.len(), 1, "{told}");
    for way in ["down", "up"] {
        assert_eq!(connections[0]["congestion"][way], serde_json::json!([other]), "{told}");
    }
    // An unknown congestion control is an error. The message names the available congestion controls.
    let output = emulate(&[CLEAN, "--congestion", "no_such", "--server", "exec sleep 10", "--", "true"]);
    let errors = stderr_of(&output);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("no congestion control `no_such`") && errors.contains(other), "{errors}");
}

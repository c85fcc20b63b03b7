//! ACK splitting does not speed up senders with byte counting (RFC 3465), but speeds up a sender that counts ACKs.

use crate::common::machine::Machine;
use crate::path::Path;
use crate::transfer::Transfer;
use crate::{Agent, alone, lasthop};
use std::fs;
use std::io::Read;
use std::net::TcpStream;
use std::process::Stdio;
use std::time::Instant;

const LONG: &str = "rate=40Mbit/s,rtt=150ms,queue=1000packets";
const SPLIT: &[&str] = &["--acks", "split=4"];
const COPIES: &[&str] = &["--acks", "copies=2"];

/// Returns the time in which the kernel's sender delivers 1 MiB, s.
fn of_kernel(congestion: &str, agent: Option<&[&str]>) -> Option<f64> {
    let path = Path::open(LONG)?;
    let agent = agent.map(|arguments| Agent::start(&path, arguments));
    let start = Instant::now();
    let transfer = Transfer::begin(&path, congestion, 5001)?;
    while transfer.received() < 1 << 20 {
        assert!(start.elapsed().as_secs() < 30, "{congestion}: {} bytes", transfer.received());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let took = start.elapsed().as_secs_f64();
    if let Some(agent) = agent {
        let status = agent.status();
        assert!(status["acks_added"].as_u64() > Some(100) && status["errors"] == 0, "{status:?}");
    }
    Some(took)
}

#[test]
fn kernels_that_count_bytes_gain_nothing() {
    let Some(_alone) = alone() else { return };
    for congestion in ["reno", "cubic", "bbr"] {
        let machine = Machine::watch();
        let Some(plain) = of_kernel(congestion, None) else { continue };
        for (name, arguments) in [("split=4", SPLIT), ("copies=2", COPIES)] {
            let took = of_kernel(congestion, Some(arguments)).expect("the path must open again");
            println!("{congestion}: 1 MiB in {plain:.2} s, with {name} in {took:.2} s");
            // The tolerance of 0.225 s is 1.5 round-trip times.
            machine.judge((took - plain).abs() < 0.225, format!("{congestion} {name}: {took} {plain}"));
        }
    }
}

/// Returns the time in which Lasthop's endpoint, which counts ACKs, delivers 1 MiB, s.
fn of_endpoint(agent: Option<&[&str]>) -> Option<f64> {
    let path = Path::open(LONG)?;
    let agent = agent.map(|arguments| Agent::start(&path, arguments));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), vec![7; 1 << 20]).unwrap();
    let mut endpoint = path.at_server(|| {
        fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        lasthop()
            .args(["endpoint", "serve", "8080", "--file", "file", "--connections", "1"])
            .args(["--set", "ack_counting=per_ack"])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .spawn()
            .unwrap()
    });
    let took = path.at_client(|| {
        fs::write("/proc/sys/net/ipv4/tcp_rmem", "4096 4194304 8388608").unwrap();
        let begin = Instant::now();
        let (mut stream, start) = loop {
            let start = Instant::now();
            match TcpStream::connect_timeout(
                &"10.77.0.2:8080".parse().unwrap(),
                std::time::Duration::from_secs(1),
            ) {
                Ok(stream) => break (stream, start),
                Err(error) => assert!(begin.elapsed().as_secs() < 20, "{error}"),
            }
            std::thread::sleep(std::time::Duration::from_millis(50));
        };
        stream.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        assert!(bytes == vec![7; 1 << 20]);
        start.elapsed().as_secs_f64()
    });
    let _ = endpoint.kill();
    endpoint.wait().unwrap();
    if let Some(agent) = agent {
        assert!(agent.status()["acks_added"].as_u64() > Some(100));
    }
    Some(took)
}

#[test]
fn a_sender_that_counts_acks_is_made_faster() {
    let Some(_alone) = alone() else { return };
    let machine = Machine::watch();
    let Some(plain) = of_endpoint(None) else { return };
    let split = of_endpoint(Some(SPLIT)).expect("the path must open again");
    println!("per_ack sender: 1 MiB in {plain:.2} s, with split=4 in {split:.2} s");
    // In the simulation with one ACK per segment, as the kernel sends ACKs at first, splitting shortens the transfer
    // from 1.16 s to 0.80 s. With delayed ACKs, splitting shortens the transfer from 1.49 s to 0.92 s.
    machine.judge(split < 0.85 * plain, format!("{split} {plain}"));
}

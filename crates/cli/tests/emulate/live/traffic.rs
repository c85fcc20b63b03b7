//! The path as observed by the programs that use the path.

use crate::common::machine::Machine;
use crate::{CLEAN, emulate, is_possible, summary};
use nix::sys::socket::{setsockopt, sockopt};
use std::env;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

const PORT: u16 = 5001;

/// Returns a command line that runs this test program as a server with a congestion control. The server does not end by
/// itself.
pub fn server(congestion: &str) -> String {
    let program = env::current_exe().unwrap();
    let program = program.display();
    format!("EMULATED={congestion} exec {program} --ignored --exact live::traffic::as_server")
}

/// Returns a command line that runs this test program as a client, which receives data for `seconds`.
pub fn client(from: &str, seconds: f64) -> String {
    let program = env::current_exe().unwrap();
    let program = program.display();
    format!(
        "EMULATED='{from} {seconds}' exec {program} --ignored --exact live::traffic::as_client --nocapture"
    )
}

#[test]
#[ignore = "not a test: server program of other tests"]
fn as_server() {
    let Ok(congestion) = env::var("EMULATED") else { return };
    serve(&listener(&congestion));
}

/// Opens a listener. The accepted connections use the given congestion control.
pub fn listener(congestion: &str) -> TcpListener {
    // Listens on IPv6 and IPv4, or on IPv4 alone if the kernel has no IPv6.
    let listener = TcpListener::bind(("::", PORT)).or_else(|_| TcpListener::bind(("0.0.0.0", PORT))).unwrap();
    // Accepted connections inherit this congestion control. As the default of a namespace, the kernel would accept only
    // unrestricted congestion controls.
    setsockopt(&listener, sockopt::TcpCongestion, &congestion.into()).unwrap();
    listener
}

/// Sends data to each client in turn, until the client closes the connection.
pub fn serve(listener: &TcpListener) {
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        while stream.write_all(&[7; 1 << 16]).is_ok() {}
    }
}

#[test]
#[ignore = "not a test: client program of other tests"]
fn as_client() {
    let Ok(text) = env::var("EMULATED") else { return };
    let (address, seconds) = text.split_once(' ').unwrap();
    receive(address, seconds.parse().unwrap(), || 0);
}

/// Returns a command line that runs this test program as a client. This client connects several times, and prints the
/// shortest time of a handshake.
pub fn connector(to: &str) -> String {
    let program = env::current_exe().unwrap();
    let program = program.display();
    format!("EMULATED={to} exec {program} --ignored --exact live::traffic::as_connector --nocapture")
}

#[test]
#[ignore = "not a test: client program of other tests"]
fn as_connector() {
    let Ok(address) = env::var("EMULATED") else { return };
    let connect = |_| {
        let start = Instant::now();
        TcpStream::connect((address.as_str(), PORT)).unwrap();
        start.elapsed().as_secs_f64() * 1e3
    };
    println!("\nshortest_ms={}", (0..15).map(connect).fold(f64::INFINITY, f64::min));
}

/// Receives data for `seconds`. Prints the rate of the received data, and the rate at which the byte counter `others`
/// grew in the same time.
pub fn receive(address: &str, seconds: f64, others: impl Fn() -> u64) {
    let start = Instant::now();
    let mut stream = TcpStream::connect((address, PORT)).unwrap();
    println!("\nconnected_ms={}", start.elapsed().as_secs_f64() * 1e3);
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (mut buffer, mut received, mut begun) = (vec![0; 1 << 18], 0, None);
    loop {
        received += stream.read(&mut buffer).unwrap() as u64;
        let now = start.elapsed().as_secs_f64();
        match begun {
            // The measurement starts after slow start.
            None if now > seconds / 3.0 => begun = Some((now, [received, others()])),
            Some((since, before)) if now > seconds => {
                let kbps = |now_is: u64, was: u64| (now_is - was) as f64 * 8e-3 / (now - since);
                println!("goodput_kbps={}", kbps(received, before[0]));
                println!("others_kbps={}", kbps(others(), before[1]));
                return;
            }
            _ => {}
        }
    }
}

/// Returns a number that the client printed.
pub fn printed(output: &std::process::Output, name: &str) -> f64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    let errors = String::from_utf8_lossy(&output.stderr);
    value.unwrap_or_else(|| panic!("no {name}: {text}{errors}")).parse().unwrap()
}

#[test]
fn ipv6_goes_the_same_way() {
    if !is_possible() {
        return;
    }
    if !std::fs::exists("/proc/sys/net/ipv6").unwrap() {
        eprintln!("skipped: the kernel has no IPv6");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let client = client("{server6}", 6.0);
    let server = server("cubic");
    let arguments = [CLEAN, "--out", out, "--server", &server, "--format", "json", "--", "sh", "-c", &client];
    let mut machine = Machine::watch();
    let output = emulate(&arguments);
    let summary = summary(&output);
    machine.heed(&summary);
    let goodput = printed(&output, "goodput_kbps");
    // The IPv6 header has 40 bytes, the IPv4 header 20 bytes.
    let share = goodput / (10e3 * 1428.0 / 1500.0);
    assert!(share < 1.005, "{share} of the maximum payload rate; {summary}");
    machine.judge(share > 0.97, format!("{share} of the maximum payload rate; {summary}"));
    // The report includes IPv6 connections.
    let report = std::fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(
        report.contains("server, [2001:2::1]:5001 to [2001:2::2]:"),
        "the report has no figures of the connection"
    );
}

/// The kernel sends no router, neighbour or multicast messages, so the links carry only packets of the programs.
#[test]
fn nothing_but_the_programs_packets_is_on_the_path() {
    if !is_possible() {
        return;
    }
    // Without suppression, the kernel would send router or neighbour messages within the 3 s of the run.
    let output = emulate(&[CLEAN, "--server", &server("cubic"), "--format", "json", "--", "sleep", "3"]);
    let packets = &summary(&output)["packets"];
    assert_eq!((packets["down"].as_u64(), packets["up"].as_u64()), (Some(0), Some(0)), "{packets}");
}

#[test]
fn nothing_is_ever_early() {
    if !is_possible() {
        return;
    }
    let mut machine = Machine::watch();
    let output = emulate(&[
        "rate=10Mbit/s,rtt=200ms",
        "--server",
        &server("cubic"),
        "--format",
        "json",
        "--",
        "sh",
        "-c",
        &client("{server}", 1.0),
    ]);
    let took = printed(&output, "connected_ms");
    // A handshake takes a round trip, and 60 bytes in each direction at 10 Mbit/s.
    assert!(took >= 200.0, "connected after {took} ms");
    machine.heed(&summary(&output));
    machine.judge(took < 200.1 + 100.0, format!("connected after {took} ms"));
}

#[test]
fn losses_are_the_scenarios() {
    if !is_possible() {
        return;
    }
    let path = format!("{CLEAN},loss=5%");
    let client = client("{server}", 4.0);
    let output =
        emulate(&[&path, "--server", &server("cubic"), "--format", "json", "--", "sh", "-c", &client]);
    let summary = summary(&output);
    let packets = summary["packets"]["down"].as_f64().unwrap();
    let lost = summary["lost"]["down"]["channel"].as_f64().unwrap();
    // The losses are independent, so the share of lost packets is within four standard errors of 5 %.
    let error = (0.05 * 0.95 / packets).sqrt();
    assert!(packets > 50.0 && (lost / packets - 0.05).abs() < 4.0 * error, "{summary}");
    assert_eq!(summary["lost"]["up"]["channel"], 0);
}

#[test]
fn input_output_and_status_are_the_commands() {
    if !is_possible() {
        return;
    }
    let mut child = crate::emulating(&[
        CLEAN,
        "--server",
        "exec sleep 1000",
        "--",
        "sh",
        "-c",
        "cat; echo {server} >&2; exit 7",
    ])
    .stdin(std::process::Stdio::piped())
    .stdout(std::process::Stdio::piped())
    .stderr(std::process::Stdio::piped())
    .spawn()
    .unwrap();
    child.stdin.take().unwrap().write_all(b"some\0bytes\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.stdout, b"some\0bytes\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("198.18.0.1"));
    // The status is 3 if the machine was so busy that the run is invalid.
    assert!(matches!(output.status.code(), Some(7 | 3)), "{:?}", output.status);
    let killed = emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "sh", "-c", "kill -9 $$"]);
    assert!(matches!(killed.status.code(), Some(137 | 3)), "{:?}", killed.status);
}

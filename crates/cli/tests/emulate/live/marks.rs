//! Header fields that queues read or write: ECN, DSCP, and the protocol.

use crate::common::machine::Machine;
use crate::traffic::{self, client, printed, server};
use crate::{emulate, is_possible, summary};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, setsockopt, sockopt};
use std::env;
use std::io::IoSliceMut;
use std::net::UdpSocket;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Port of the server for datagrams.
const PORT: u16 = 5002;
/// Length of a datagram's payload, bytes.
const PAYLOAD: usize = 1000;
/// Length of the IPv4 and UDP headers, bytes.
const HEADERS: usize = 28;

/// Type-of-service byte of the lower-effort code point (RFC 8622), which marks low priority in scenarios.
const LOWER_EFFORT: u8 = 1 << 2;
/// Type-of-service byte of expedited forwarding (RFC 3246) with ECT(0) (RFC 3168).
const EXPEDITED: u8 = (46 << 2) | 2;

/// Writes a scenario with this rate and queue in the downlink. Returns the path of the scenario file.
fn path(folder: &Path, rate: &str, queue: &str) -> String {
    let text = format!(
        "title = \"one link\"\nduration = \"60 s\"\n\n[link.path]\nfrom = \"server\"\nto = \"client\"\n\
         one_way_delay = \"10 ms\"\nup.rate = \"10 Mbit/s\"\n\n[link.path.down]\nrate = \"{rate}\"\n\
         queue = {queue}\n\n[flow.bulk]\nfrom = \"server\"\nto = \"client\"\n"
    );
    let file = folder.join("path.toml");
    std::fs::write(&file, text).unwrap();
    file.to_str().unwrap().to_owned()
}

/// Returns a command line that runs one of this file's `as_…` functions, which act as programs, in a new process of
/// this test program.
fn end(name: &str, emulated: &str) -> String {
    let program = env::current_exe().unwrap();
    let program = program.display();
    format!("EMULATED='{emulated}' exec {program} --ignored --exact live::marks::{name} --nocapture")
}

/// Returns the number of packets in a capture that match a display filter.
fn frames(capture: &Path, filter: &str) -> usize {
    let output = Command::new("tshark")
        .arg("-r")
        .arg(capture)
        .args(["-Y", filter, "-T", "fields", "-e", "frame.number"])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output.stdout.iter().filter(|byte| **byte == b'\n').count()
}

/// Returns a kernel counter from the contents of /proc/net/netstat, as printed by the command.
fn counted(output: &Output, name: &str) -> u64 {
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("IpExt:")).collect();
    let [names, counts] = lines[..] else { panic!("no IpExt: {text}") };
    let column = names.split(' ').position(|word| word == name).expect("a counter of this name");
    counts.split(' ').nth(column).unwrap().parse().unwrap()
}

#[test]
fn a_kernel_that_is_told_by_marks_loses_nothing() {
    if !is_possible() {
        return;
    }
    let can_look = Command::new("tshark").arg("--version").output().is_ok();
    if !can_look {
        eprintln!("skipped in part: tshark, which checks CWR, is not installed");
    }
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("capture.pcapng");
    // The queue has room for the packets that slow start sends until the first mark is reported to the sender.
    let warn = "{ kind = \"warn\", packets = 150, threshold = 20, weight = 1 }";
    let red = "{ kind = \"red\", packets = 400, min_threshold = 5, max_threshold = 200, max_probability = 0.5, weight = 0.02 }";
    for (queue, reason) in [(warn, "queue_full"), (red, "early_drop")] {
        let path = path(folder.path(), "10 Mbit/s", queue);
        let run = |ecn: u8| {
            let command = format!(
                "echo {ecn} > /proc/sys/net/ipv4/tcp_ecn; ({}); cat /proc/net/netstat",
                client("{server}", 6.0)
            );
            let server = format!("echo 1 > /proc/sys/net/ipv4/tcp_ecn; {}", server("cubic"));
            let files = ["--snap", "100", "--pcap", capture.to_str().unwrap()];
            let arguments = [&path, "--server", &server, "--format", "json", "--", "sh", "-c", &command];
            emulate(&[&files[..], &arguments].concat())
        };
        let mut machine = Machine::watch();
        let output = run(1);
        let told = summary(&output);
        machine.heed(&told);
        assert!(told["packets"]["down"].as_u64() > Some(1000), "{told}");
        assert_eq!(told["lost"]["down"]["queue_full"], 0, "{queue}: {told}");
        assert_eq!(told["lost"]["down"]["early_drop"], 0, "{queue}: {told}");
        // The link stays busy although the sender reduces its congestion window.
        machine.judge(printed(&output, "goodput_kbps") > 8500.0, format!("{queue}: {told}"));
        let marked = counted(&output, "InCEPkts");
        assert!(marked > 2, "{queue}: the client's kernel counts {marked} marked packets");
        if can_look {
            // The client's kernel counts the marks that the queue wrote, and the sender confirms marks by CWR (RFC 3168
            // §6.1.2). Only data packets are counted, because SYNs also set the CWR flag.
            let of = |end: &str, what: &str| {
                frames(&capture, &format!("frame.interface_name == \"{end}\" && {what}"))
            };
            let (written, entered) =
                (of("client", "ip.dsfield.ecn == 3"), of("server", "ip.dsfield.ecn == 3"));
            assert!(
                written as u64 >= marked && entered == 0,
                "{written} marked, {entered} before, {marked} counted"
            );
            let reductions = of("client", "tcp.srcport == 5001 && tcp.flags.cwr == 1 && tcp.len > 0");
            assert!(reductions > 1, "{queue}: {reductions} packets with CWR");
        }
        // Without ECN, the queue drops packets instead of marking packets.
        let output = run(0);
        let told = summary(&output);
        assert!(told["lost"]["down"][reason].as_u64() > Some(0), "{queue}: {told}");
        assert_eq!(counted(&output, "InCEPkts"), 0);
    }
}

#[test]
#[ignore = "not a test: server program of other tests"]
fn as_source_of_a_burst() {
    let Ok(text) = env::var("EMULATED") else { return };
    let tos: i32 = text.parse().unwrap();
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
    let (_, client) = socket.recv_from(&mut [0; 16]).unwrap();
    for number in 0..BURST {
        let tos = if TAGGED.contains(&number) { tos } else { 0 };
        setsockopt(&socket, sockopt::Ipv4Tos, &tos).unwrap();
        let mut payload = [0; PAYLOAD];
        payload[0] = number;
        socket.send_to(&payload, client).unwrap();
    }
    std::thread::sleep(Duration::from_secs(60));
}

#[test]
#[ignore = "not a test: client program of other tests"]
fn as_sink_of_a_burst() {
    let Ok(text) = env::var("EMULATED") else { return };
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    setsockopt(&socket, sockopt::IpRecvTos, &true).unwrap();
    socket.connect((text.as_str(), PORT)).unwrap();
    socket.send(b"go").unwrap();
    // The timeout is longer than the transmission time of a packet on the slow link.
    socket.set_read_timeout(Some(Duration::from_secs(3))).unwrap();
    println!();
    loop {
        let mut bytes = [0; 2000];
        let mut slices = [IoSliceMut::new(&mut bytes)];
        let mut space = nix::cmsg_space!(u8);
        let message =
            recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut slices, Some(&mut space), MsgFlags::empty());
        let Ok(message) = message else { return };
        let tos = message.cmsgs().unwrap().find_map(|message| match message {
            ControlMessageOwned::Ipv4Tos(tos) => Some(tos),
            _ => None,
        });
        println!("arrived={} {}", bytes[0], tos.expect("the socket reports the type of service"));
    }
}

/// Number of datagrams in a burst.
const BURST: u8 = 25;
/// Indices of the tagged datagrams in a burst.
const TAGGED: [u8; 2] = [5, 10];

/// Sends a burst of datagrams over a path. Returns the number and the type-of-service byte of each received datagram,
/// and the summary of the run.
fn burst(path: &str, tos: u8) -> (Vec<(u8, u8)>, serde_json::Value) {
    let server = end("as_source_of_a_burst", &tos.to_string());
    let command = end("as_sink_of_a_burst", "{server}");
    let output = emulate(&[path, "--server", &server, "--format", "json", "--", "sh", "-c", &command]);
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let arrived = text.lines().filter_map(|line| line.strip_prefix("arrived=")?.split_once(' '));
    let numbers = arrived.map(|(number, tos)| (number.parse().unwrap(), tos.parse().unwrap()));
    (numbers.collect(), summary(&output))
}

#[test]
fn tag_drop_gives_notice_by_packets_of_lower_effort_only() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    // A packet takes 82 ms on the link, so the whole burst is enqueued before the first packet is transmitted.
    let path = path(folder.path(), "100 kbit/s", "{ kind = \"tag_drop\", packets = 20, of = \"any\" }");
    let expected = |lost: &[u8], tos: u8| -> Vec<(u8, u8)> {
        let arrives = (0..BURST).filter(|number| !lost.contains(number));
        arrives.map(|number| (number, if TAGGED.contains(&number) { tos } else { 0 })).collect()
    };
    // Packet 0 is on the link, packets 1 to 20 are in the queue. Packet 21 finds a full queue and is lost. The oldest
    // tagged packet, 5, is then dropped, and packet 22 takes its place. Similarly, packet 23 is lost, packet 10 is
    // dropped, and packet 24 takes its place.
    let (arrived, summary) = burst(&path, LOWER_EFFORT);
    assert_eq!(arrived, expected(&[21, 5, 23, 10], LOWER_EFFORT), "{summary}");
    let lost = &summary["lost"]["down"];
    assert_eq!((lost["queue_full"].as_u64(), lost["tag_drop"].as_u64()), (Some(2), Some(2)), "{summary}");
    // Another code point is not a tag, so packets beyond the capacity are lost. This code point arrives unchanged.
    let (arrived, summary) = burst(&path, EXPEDITED);
    assert_eq!(arrived, expected(&[21, 22, 23, 24], EXPEDITED), "{summary}");
    assert_eq!(summary["lost"]["down"]["tag_drop"], 0, "{summary}");
    // If the capacity suffices for the whole burst, tags arrive unchanged.
    let roomy = self::path(folder.path(), "1 Mbit/s", "{ kind = \"tag_drop\", packets = 100, of = \"any\" }");
    let (arrived, summary) = burst(&roomy, LOWER_EFFORT);
    assert_eq!(arrived, expected(&[], LOWER_EFFORT), "{summary}");
}

#[test]
#[ignore = "not a test: server program of other tests"]
fn as_two_servers() {
    let Ok(text) = env::var("EMULATED") else { return };
    let kbps: f64 = text.parse().unwrap();
    let listener = traffic::listener("cubic");
    let socket = UdpSocket::bind(("0.0.0.0", PORT)).unwrap();
    std::thread::spawn(move || {
        let (_, client) = socket.recv_from(&mut [0; 16]).unwrap();
        let start = Instant::now();
        let span = Duration::from_secs_f64((PAYLOAD + HEADERS) as f64 * 8e-3 / kbps);
        for number in 0.. {
            // Each sleep ends at a fixed time after the start, so that the rate does not depend on the durations of
            // single sleeps.
            std::thread::sleep((span * number).saturating_sub(start.elapsed()));
            let _ = socket.send_to(&[0; PAYLOAD], client);
        }
    });
    traffic::serve(&listener);
}

#[test]
#[ignore = "not a test: client program of other tests"]
fn as_client_of_both() {
    let Ok(text) = env::var("EMULATED") else { return };
    let (address, seconds) = text.split_once(' ').unwrap();
    let socket = UdpSocket::bind(("0.0.0.0", 0)).unwrap();
    socket.connect((address, PORT)).unwrap();
    socket.send(b"go").unwrap();
    let received = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&received);
    std::thread::spawn(move || {
        while let Ok(length) = socket.recv(&mut [0; 2000]) {
            count.fetch_add((length + HEADERS) as u64, Ordering::Relaxed);
        }
    });
    traffic::receive(address, seconds.parse().unwrap(), || received.load(Ordering::Relaxed));
}

#[test]
fn classes_of_tcp_and_of_datagrams_get_what_is_allocated() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let queue = "{ kind = \"cbq\", tcp_rate = \"7 Mbit/s\", datagram_rate = \"3 Mbit/s\", packets = 100 }";
    let path = path(folder.path(), "10 Mbit/s", queue);
    // Each case has the rate at which datagrams are sent, the expected rate of TCP and the expected rate of datagrams
    // (kbit/s with IP headers). Datagrams get at most their share, and TCP borrows the remaining rate.
    for (wants, tcp, datagrams) in [(6000.0, 7000.0, 3000.0), (1000.0, 9000.0, 1000.0)] {
        let server = end("as_two_servers", &wants.to_string());
        let command = end("as_client_of_both", "{server} 9");
        let mut machine = Machine::watch();
        let output = emulate(&[&path, "--server", &server, "--format", "json", "--", "sh", "-c", &command]);
        let summary = summary(&output);
        machine.heed(&summary);
        let got = [printed(&output, "goodput_kbps") * 1500.0 / 1448.0, printed(&output, "others_kbps")];
        println!("datagrams of {wants} kbit/s: TCP and datagrams get {got:.0?} kbit/s");
        for (got, share) in got.into_iter().zip([tcp, datagrams]) {
            let is_near = (got / share - 1.0).abs() < 0.1;
            machine.judge(is_near, format!("{got} kbit/s instead of {share}; {summary}"));
        }
    }
}

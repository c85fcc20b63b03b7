//! `lasthop endpoint` with kernel sockets as peers, in a separate network namespace.
use crate::common::{call, lasthop, objects, stderr_of};
use lasthop_os::Namespace;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

/// Runs a test in a new network namespace. If the machine cannot create namespaces, prints a message and skips the
/// test.
fn in_namespace(test: impl FnOnce(&Path) + Send) {
    let namespace = match Namespace::unconfigured() {
        Ok(namespace) => namespace,
        Err(error) => return println!("skipped: {error}"),
    };
    if !Path::new("/dev/net/tun").exists() {
        return println!("skipped: there is no /dev/net/tun");
    }
    let folder = tempfile::tempdir().unwrap();
    namespace.within(|| test(folder.path())).unwrap();
}

fn text() -> Vec<u8> {
    (0..700_001_u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

fn start(folder: &Path, arguments: &[&str]) -> Child {
    lasthop()
        .arg("endpoint")
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn end(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    output
}

fn connect() -> TcpStream {
    let begin = Instant::now();
    loop {
        match TcpStream::connect_timeout(&"10.77.0.2:8080".parse().unwrap(), Duration::from_secs(1)) {
            Ok(stream) => return stream,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Listens as soon as the kernel has the address of the device, which the program under test creates.
fn listen() -> TcpListener {
    let begin = Instant::now();
    loop {
        match TcpListener::bind("10.77.0.1:9000") {
            Ok(listener) => return listener,
            Err(error) => assert!(begin.elapsed() < Duration::from_secs(20), "{error}"),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn serves_a_file_through_losses_and_says_how_it_went() {
    in_namespace(|folder| {
        std::fs::write(folder.join("file"), text()).unwrap();
        let harm = ["--loss", "1%", "--delay", "2 ms", "--set", "recovery=new_reno"];
        let files = ["--pcap", "a.pcapng", "--trace", "a.jsonl", "--format", "json"];
        let serve = ["serve", "8080", "--file", "file", "--connections", "2"];
        let server = start(folder, &[&serve[..], &harm, &files].concat());
        for _ in 0..2 {
            let mut got = Vec::new();
            connect().read_to_end(&mut got).unwrap();
            assert!(got == text());
        }
        let output = end(server);
        let lines = objects(&String::from_utf8(output.stdout).unwrap());
        assert_eq!(lines.len(), 2);
        for line in &lines {
            assert_eq!(line["sent_bytes"], 700_001);
            assert_eq!(line["error"], serde_json::Value::Null);
        }
        let sent_again: u64 = lines.iter().map(|line| line["retrans"].as_u64().unwrap()).sum();
        let trace = objects(&std::fs::read_to_string(folder.join("a.jsonl")).unwrap());
        let told = trace.iter().filter(|line| line["event"] == "retransmitted").count();
        // The event trace also has retransmissions of the handshake, which the column `retrans` does not count.
        let of_handshake =
            trace.iter().filter(|line| line.get("reason").is_some_and(|why| why == "handshake")).count();
        assert_eq!(told - of_handshake, sent_again as usize);
        assert!(std::fs::metadata(folder.join("a.pcapng")).unwrap().len() > 1_400_000);
    });
}

#[test]
fn takes_what_clients_send_into_a_folder() {
    in_namespace(|folder| {
        let server = start(folder, &["serve", "8080", "--out", ".", "--connections", "1"]);
        let mut stream = connect();
        stream.write_all(&text()).unwrap();
        drop(stream);
        let table = String::from_utf8(end(server).stdout).unwrap();
        assert!(table.contains("received_bytes") && table.contains("700001"), "{table}");
        assert!(std::fs::read(folder.join("1")).unwrap() == text());
    });
}

#[test]
fn sends_and_fetches_a_file() {
    in_namespace(|folder| {
        std::fs::write(folder.join("file"), text()).unwrap();
        // Without a listener, the kernel refuses the SYN, and the sender does not retry. The delay of 500 ms gives the
        // test time to listen.
        let sender = start(folder, &["send", "file", "10.77.0.1:9000", "--delay", "500 ms"]);
        let listener = listen();
        let (mut stream, _) = listener.accept().unwrap();
        let mut got = Vec::new();
        stream.read_to_end(&mut got).unwrap();
        assert!(got == text());
        drop((stream, listener));
        end(sender);

        let fetcher = start(folder, &["fetch", "10.77.0.1:9000", "--out", "copy", "--delay", "500 ms"]);
        let (mut stream, _) = listen().accept().unwrap();
        stream.write_all(&text()).unwrap();
        drop(stream);
        end(fetcher);
        assert!(std::fs::read(folder.join("copy")).unwrap() == text());
    });
}

#[test]
fn a_refused_connection_leaves_no_file() {
    in_namespace(|folder| {
        let output = start(folder, &["fetch", "10.77.0.1:9000", "--out", "copy"]).wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let message = stderr_of(&output);
        assert!(message.contains("10.77.0.1:9000: connection refused (ECONNREFUSED)"), "{message}");
        assert!(crate::common::names_in(folder).is_empty(), "{:?}", crate::common::names_in(folder));
    });
}

/// The kernel acts as a router that reports errors by ICMP. An administrative prohibition ends the connection at once.
/// An unreachable destination ends the connection after 3 s, instead of three minutes of SYN retransmissions.
#[test]
fn a_router_that_refuses_is_heard() {
    in_namespace(|folder| {
        std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap();
        for (kind, to, message) in [
            ("prohibit", "10.90.0.2", "10.90.0.2:80: host unreachable (EHOSTUNREACH)"),
            ("unreachable", "10.90.0.1", "10.90.0.1:80: host unreachable (EHOSTUNREACH)"),
        ] {
            lasthop_os::namespace::ip(&["route", "add", kind, to]).unwrap();
            let begin = Instant::now();
            let output = start(folder, &["fetch", &format!("{to}:80")]).wait_with_output().unwrap();
            assert_eq!(output.status.code(), Some(1));
            let said = stderr_of(&output);
            assert!(
                said.contains(message) && said.contains("a router on the path reported this (ICMP)"),
                "{said}"
            );
            assert!(begin.elapsed() < Duration::from_secs(30), "the endpoint waited too long");
        }
    });
}

#[test]
fn what_cannot_be_is_said_in_one_message() {
    in_namespace(|_| check_messages());
}

fn check_messages() {
    for (arguments, expected) in [
        (&["serve", "0"][..], "0 is not in 1..=65535"),
        (&["serve", "80", "--file", "nowhere"], "cannot read `nowhere`"),
        (&["serve", "80", "--out", "nowhere"], "the directory `nowhere` does not exist"),
        (&["send", ".", "10.77.0.1:80"], "`.` is a directory"),
        (&["fetch", "10.77.0.1"], "invalid socket address"),
        (&["fetch", "10.77.0.1:80", "--kernel", "10.77.0.1"], "like 10.77.0.1/24"),
        (&["fetch", "10.77.0.1:80", "--kernel", "10.77.0.1/33"], "like 10.77.0.1/24"),
        (&["fetch", "10.77.0.1:80", "--set", "recovery=magic"], "no recovery is called `magic`"),
        (&["fetch", "10.77.0.1:80", "--loss", "2"], "at most 1"),
        (&["fetch", "10.77.0.1:80", "--burst", "3"], "--loss"),
        (&["fetch", "10.77.0.1:80", "--mtu", "100"], "100 is not in 576"),
        (
            &["fetch", "10.77.0.1:80", "--device", "a name that is too long"],
            "cannot be the name of an interface",
        ),
        (&["fetch", "[fd77::1]:80", "--device", "lh-test-family"], "give addresses of this family"),
    ] {
        let output = call(&[&["endpoint"], arguments].concat());
        let message = stderr_of(&output);
        assert!(matches!(output.status.code(), Some(1 | 2)), "{arguments:?}: {message}");
        assert!(message.contains(expected), "{arguments:?}: {message}");
        assert!(!message.contains("panicked"), "{message}");
    }
}

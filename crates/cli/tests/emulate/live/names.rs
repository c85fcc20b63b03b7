//! Name resolution behind a path if the host's resolver listens on the host's loopback device. A namespace acts as the
//! host.

use crate::common::{lasthop, stderr_of};
use crate::is_possible;
use crate::live::host::World;
use crate::live::unprivileged;
use lasthop_os::namespace;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::process::{Command, Stdio};
use std::thread;

/// Answers a DNS query. An IPv4 query for any name gets the address 192.0.2.77.
fn answer(question: &[u8]) -> Vec<u8> {
    // Finds the end of the question, which has a name (ended by a zero byte), a type and a class. EDNS follows the
    // question.
    let end = 12 + question[12..].iter().position(|byte| *byte == 0).unwrap() + 5;
    let is_a = question[end - 4..end - 2] == [0, 1];
    let mut answer = question[..2].to_vec();
    // Flags of the header: a response with recursion available. Counts: one question, and one answer to an IPv4 query.
    answer.extend([0x81, 0x80, 0, 1, 0, u8::from(is_a), 0, 0, 0, 0]);
    answer.extend(&question[12..end]);
    if is_a {
        answer.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 192, 0, 2, 77]);
    }
    answer
}

/// Starts a resolver in the host's namespace at 127.0.0.53, by UDP and TCP.
fn serve(world: &World) {
    let (datagrams, streams) = world
        .host
        .within(|| {
            namespace::ip(&["link", "set", "lo", "up"]).unwrap();
            (UdpSocket::bind("127.0.0.53:53").unwrap(), TcpListener::bind("127.0.0.53:53").unwrap())
        })
        .unwrap();
    thread::spawn(move || {
        let mut question = [0; 512];
        while let Ok((len, from)) = datagrams.recv_from(&mut question) {
            datagrams.send_to(&answer(&question[..len]), from).unwrap();
        }
    });
    thread::spawn(move || {
        for mut stream in streams.incoming().flatten() {
            let mut head = [0; 2];
            while stream.read_exact(&mut head).is_ok() {
                let mut question = vec![0; usize::from(u16::from_be_bytes(head))];
                stream.read_exact(&mut question).unwrap();
                let answer = answer(&question);
                stream.write_all(&(answer.len() as u16).to_be_bytes()).unwrap();
                stream.write_all(&answer).unwrap();
            }
        }
    });
}

#[test]
fn a_resolver_on_the_hosts_loopback_is_asked_over_the_path() {
    if !is_possible() {
        return;
    }
    let world = World::new();
    serve(&world);
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings = folder.path().join("resolv.conf");
    fs::write(&settings, "nameserver 127.0.0.53\nsearch example.org\n").unwrap();
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    let mut callers = vec![("root", "")];
    if unprivileged::is_possible() {
        callers.push(("user", "setpriv --reuid 65534 --regid 65534 --clear-groups --"));
    }
    for (who, prefix) in callers {
        for options in ["", "options use-vc\n"] {
            fs::write(&settings, format!("nameserver 127.0.0.53\nsearch example.org\n{options}")).unwrap();
            let behind =
                "cat /etc/resolv.conf; date +%s%N; getent ahostsv4 there.example.org | head -1; date +%s%N";
            let path = "rate=10Mbit/s,rtt=200ms,queue=100packets";
            let line = format!(
                "mount --bind '{}' /etc/resolv.conf && {prefix} '{program}' emulate {path} -- sh -c '{behind}'; \
                 cat /etc/resolv.conf",
                settings.display()
            );
            let mut command = Command::new("unshare");
            command.args(["--mount", "sh", "-c", &line]).stdin(Stdio::null());
            let output = world.host.within(|| command.output().unwrap()).unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            let lines: Vec<&str> = said.lines().filter(|line| !line.is_empty()).collect();
            let options = options.trim();
            let count = if options.is_empty() { 0 } else { 1 };
            assert_eq!(
                lines[..2],
                ["nameserver 198.18.0.1", "search example.org"],
                "{who}: {}",
                stderr_of(&output)
            );
            let [before, found, after] = lines[2 + count..5 + count] else { panic!("{said}") };
            assert!(found.starts_with("192.0.2.77 "), "{who}: {said}{}", stderr_of(&output));
            let times = [before, after].map(|time| time.parse::<f64>().unwrap() / 1e6);
            // The queries cross the path: one round trip with UDP, two round trips with TCP.
            assert!(times[1] - times[0] >= 200.0 * (1 + count) as f64, "{who}: {said}");
            // The host's own resolv.conf is unchanged.
            assert_eq!(
                lines[5 + count..7 + count],
                ["nameserver 127.0.0.53", "search example.org"],
                "{who}: {said}"
            );
        }
    }
}

//! Connects a namespace to the outside without rights on the host's network. A user-space program (`pasta` of passt, or
//! `slirp4netns`) carries the packets over the user's sockets.

use crate::error::SystemError;
use crate::namespace::Namespace;
use crate::unprivileged::drop_capabilities;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Programs in order of preference. The devices of the programs use benchmark addresses (RFC 2544), so all addresses of
/// the host stay reachable.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        "pasta",
        // The flags of `pasta` forbid connections from outside, and do not map the gateway to the host's loopback
        // device.
        &[
            "--config-net",
            "--foreground",
            "--quiet",
            "-4",
            "-a",
            "198.19.255.2",
            "-n",
            "24",
            "-g",
            "198.19.255.1",
            "-m",
            "1500",
            "-I",
            DEVICE,
            "-t",
            "none",
            "-u",
            "none",
            "-T",
            "none",
            "-U",
            "none",
            "--no-map-gw",
            "--netns-only",
            "--netns",
        ],
    ),
    ("slirp4netns", &["--configure", "--cidr=198.19.255.0/24", "--mtu=1500", "--disable-host-loopback"]),
];

const DEVICE: &str = "outside";
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// A running `pasta` or `slirp4netns`. Dropping this value ends the program.
#[derive(Debug)]
pub struct Uplink {
    name: &'static str,
    _holder: KillOnDrop,
    _program: KillOnDrop,
}

#[derive(Debug)]
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Uplink {
    /// Connects a namespace to the network of this process.
    ///
    /// # Errors
    /// Fails if no program is installed, or no program works.
    pub fn begin(namespace: &Namespace) -> Result<Uplink, SystemError> {
        let mut refused = Vec::new();
        for (name, arguments) in PROGRAMS {
            match Uplink::start(name, arguments, namespace) {
                Ok(uplink) => return Ok(uplink),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => refused.push(format!("{name}: {error}")),
            }
        }
        let help = "install passt (Debian: apt-get install passt), run it as root, or give the other end: --server 'COMMAND'";
        Err(if refused.is_empty() {
            SystemError::new("neither `pasta` (passt) nor `slirp4netns` is installed", help)
        } else {
            SystemError::new(refused.join("; "), "check the host's own network connection")
        })
    }

    fn start(name: &'static str, arguments: &[&str], namespace: &Namespace) -> io::Result<Uplink> {
        // `pasta` and `slirp4netns` find the namespace by a process in it: a `cat` that waits for its standard input.
        // The `cat` drops its rights, because `pasta` and `slirp4netns` may only inspect processes that have no more
        // rights than `pasta` and `slirp4netns`.
        let mut holder = Command::new("cat");
        holder.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let held = namespace.within(|| {
            drop_capabilities();
            holder.spawn()
        });
        let holder = KillOnDrop(held.map_err(io::Error::other)??);
        let pid = holder.0.id();
        let mut command = Command::new(name);
        command.args(arguments);
        match name {
            "pasta" => command.arg(format!("/proc/{pid}/ns/net")),
            _ => command.args([&pid.to_string(), DEVICE]),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut program = KillOnDrop(command.spawn()?);
        let errors = program.0.stderr.take().map(read_errors);
        let start = Instant::now();
        while !namespace.within(has_route).map_err(io::Error::other)? {
            let ended = program.0.try_wait()?.is_some();
            if ended || start.elapsed() > START_TIMEOUT {
                drop(program);
                let errors = errors.and_then(|thread| thread.join().ok()).unwrap_or_default();
                let why = if ended { "the program ended" } else { "no route after 10 s" };
                return Err(io::Error::other(format!("{why}: {}", errors.trim())));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Uplink { name, _holder: holder, _program: program })
    }

    /// Name of the program.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

fn read_errors(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        let _ = from.by_ref().take(1000).read_to_string(&mut text);
        let _ = io::copy(&mut from, &mut io::sink());
        text
    })
}

/// Whether this thread's namespace has a default route (proc(5), net/route: second column).
fn has_route() -> bool {
    let text = fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    text.lines().skip(1).any(|line| line.split_whitespace().nth(1) == Some("00000000"))
}

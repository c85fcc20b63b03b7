//! A way to the outside for a namespace whose owner may not change the host's network: a program in user space that
//! speaks for it, by sockets of the user's (`pasta` of passt, or `slirp4netns`).

use crate::apart::give_up_rights;
use crate::error::SystemError;
use crate::namespace::Namespace;
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// The programs, in the order in which they are tried. The addresses on their device are nobody's (RFC 2544), so that all of
/// the host's own can be reached.
const PROGRAMS: [(&str, &[&str]); 2] = [
    (
        "pasta",
        // Nothing from outside comes in by itself; the host's loopback device is not the gateway.
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

/// The device that it makes.
const DEVICE: &str = "outside";
/// How long it has until there is a route.
const PATIENCE: Duration = Duration::from_secs(10);

/// One that runs; it ends with its owner.
#[derive(Debug)]
pub struct Uplink {
    name: &'static str,
    /// A process in the namespace, by which the program finds it.
    _holder: Running,
    _program: Running,
}

/// A process that is killed with its owner.
#[derive(Debug)]
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Uplink {
    /// Joins a namespace to what this process may reach.
    ///
    /// # Errors
    /// If there is no such program, or none of those that are there can do it.
    pub fn begin(namespace: &Namespace) -> Result<Uplink, SystemError> {
        let mut refused = Vec::new();
        for (name, arguments) in PROGRAMS {
            match Uplink::with(name, arguments, namespace) {
                Ok(uplink) => return Ok(uplink),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => refused.push(format!("{name}: {error}")),
            }
        }
        let help = "install passt (Debian: apt-get install passt), run it as root, or give the other end: --server 'COMMAND'";
        Err(match refused.is_empty() {
            true => SystemError::new("neither `pasta` (passt) nor `slirp4netns` is installed", help),
            false => SystemError::new(refused.join("; "), "is the host itself connected?"),
        })
    }

    fn with(name: &'static str, arguments: &[&str], namespace: &Namespace) -> io::Result<Uplink> {
        // It waits for its standard input, whose other end is ours. Without rights, for the program has fewer than we
        // and must be allowed to look at it.
        let mut holder = Command::new("cat");
        holder.stdin(Stdio::piped()).stdout(Stdio::null()).process_group(0);
        let held = namespace.within(|| {
            give_up_rights();
            holder.spawn()
        });
        let holder = Running(held.map_err(io::Error::other)??);
        let pid = holder.0.id();
        let mut command = Command::new(name);
        command.args(arguments);
        match name {
            "pasta" => command.arg(format!("/proc/{pid}/ns/net")),
            _ => command.args([&pid.to_string(), DEVICE]),
        };
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).process_group(0);
        let mut program = Running(command.spawn()?);
        let said = program.0.stderr.take().map(listen);
        let start = Instant::now();
        while !namespace.within(has_route).map_err(io::Error::other)? {
            let ended = program.0.try_wait()?.is_some();
            if ended || start.elapsed() > PATIENCE {
                drop(program);
                let said = said.and_then(|thread| thread.join().ok()).unwrap_or_default();
                let why = if ended { "it ended" } else { "no route after 10 s" };
                return Err(io::Error::other(format!("{why}: {}", said.trim())));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(Uplink { name, _holder: holder, _program: program })
    }

    /// What the program is called.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// Reads all that is said, and keeps the beginning.
fn listen(mut from: impl Read + Send + 'static) -> JoinHandle<String> {
    thread::spawn(move || {
        let mut kept = String::new();
        let _ = from.by_ref().take(1000).read_to_string(&mut kept);
        let _ = io::copy(&mut from, &mut io::sink());
        kept
    })
}

/// Whether this thread's namespace has a default route (proc(5), net/route: the second column).
fn has_route() -> bool {
    let text = fs::read_to_string("/proc/thread-self/net/route").unwrap_or_default();
    text.lines().skip(1).any(|line| line.split_whitespace().nth(1) == Some("00000000"))
}

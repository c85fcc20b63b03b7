//! Name resolution behind a path. The host's resolver may listen on the loopback device only (systemd-resolved at
//! 127.0.0.53, Docker at 127.0.0.11), out of reach of the path. The remote end then forwards DNS queries, and programs
//! behind the path see an `/etc/resolv.conf` that names the remote end. The host's file is unchanged.

use crate::error::SystemError;
use crate::namespace::Namespace;
use crate::splice::copy_both_ways;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use std::env;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

const FILE: &str = "/etc/resolv.conf";
const PORT: u16 = 53;
/// Timeout of a query; programs repeat queries after 5 s.
const QUERY_TIMEOUT: Duration = Duration::from_secs(10);

/// A resolv.conf for programs behind the path. The file is removed on drop, but running programs can still read it.
#[derive(Debug)]
pub struct ResolvConf {
    file: PathBuf,
}

impl ResolvConf {
    /// Returns the first resolver that programs behind the path cannot reach. If `all` is true, programs cannot reach
    /// any resolver of the file; otherwise they cannot reach resolvers on the loopback device. Returns `None` if the
    /// programs can reach all resolvers.
    pub fn resolver(all: bool) -> Option<IpAddr> {
        let text = fs::read_to_string(FILE).ok()?;
        servers(&text).find(|server| all || server.is_loopback())
    }

    /// Copies the host's configuration. In the copy, the resolver at `address` replaces the resolvers on the loopback
    /// device. If `all` is true, the resolver at `address` replaces all resolvers.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn via(address: Ipv4Addr, all: bool) -> Result<ResolvConf, SystemError> {
        let make = || -> io::Result<PathBuf> {
            let text = replaced(&fs::read_to_string(FILE)?, address, all);
            let nanos = SystemTime::UNIX_EPOCH.elapsed().map_or(0, |span| span.as_nanos());
            let file = env::temp_dir().join(format!("lasthop-resolv-{}-{nanos}", std::process::id()));
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o644)
                .open(&file)?
                .write_all(text.as_bytes())?;
            Ok(file)
        };
        let file = make().map_err(|error| {
            SystemError::of_system(
                "cannot write a resolv.conf for the command",
                &error,
                "check that TMPDIR is writable",
            )
        })?;
        Ok(ResolvConf { file })
    }

    pub(crate) fn bind_mount(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount::<str, str, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_SLAVE, None)?;
        mount::<Path, str, str, str>(Some(&self.file), FILE, None, MsFlags::MS_BIND, None)?;
        Ok(())
    }
}

impl Drop for ResolvConf {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Forwards DNS queries that arrive at the address `at` to the resolver `to`, port 53. The queries arrive in
/// `namespace` or, if `namespace` is `None`, in this thread's namespace. The queries are forwarded from this thread's
/// namespace.
///
/// # Errors
/// Fails if a system call fails.
pub fn forward_dns(namespace: Option<&Namespace>, at: Ipv4Addr, to: IpAddr) -> Result<(), SystemError> {
    let listen = || -> io::Result<(UdpSocket, TcpListener)> {
        Ok((UdpSocket::bind((at, PORT))?, TcpListener::bind((at, PORT))?))
    };
    let bound = match namespace {
        Some(namespace) => namespace.within(listen)?,
        None => listen(),
    };
    let refused = |error: io::Error| {
        let what = format!("cannot answer DNS queries at {at}, port {PORT}");
        SystemError::of_system(
            &what,
            &error,
            "another program may use this port at all addresses: see `ss -lnp`",
        )
    };
    let (datagrams, streams) = bound.map_err(refused)?;
    let to = SocketAddr::new(to, PORT);
    let start = |work: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name("names".to_owned()).spawn(work).map(drop).map_err(refused)
    };
    start(Box::new(move || forward_datagrams(&Arc::new(datagrams), to)))?;
    start(Box::new(move || {
        for near in streams.incoming().flatten() {
            let work = move || {
                if let Ok(far) = TcpStream::connect_timeout(&to, QUERY_TIMEOUT) {
                    copy_both_ways(&near, &far);
                }
            };
            let _ = thread::Builder::new().spawn(work);
        }
    }))
}

/// Forwards each query from a separate socket.
fn forward_datagrams(near: &Arc<UdpSocket>, to: SocketAddr) {
    let mut request = [0; 1 << 16];
    loop {
        let Ok((len, from)) = near.recv_from(&mut request) else { continue };
        let (near, request) = (Arc::clone(near), request[..len].to_vec());
        let _ = thread::Builder::new().spawn(move || {
            // After a failure, the client repeats the query.
            let _ = query(&request, to).and_then(|answer| near.send_to(&answer, from));
        });
    }
}

fn query(request: &[u8], to: SocketAddr) -> io::Result<Vec<u8>> {
    let any: IpAddr =
        if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let far = UdpSocket::bind((any, 0))?;
    far.connect(to)?;
    far.set_read_timeout(Some(QUERY_TIMEOUT))?;
    far.send(request)?;
    let mut answer = vec![0; 1 << 16];
    let len = far.recv(&mut answer)?;
    answer.truncate(len);
    Ok(answer)
}

fn server(line: &str) -> Option<IpAddr> {
    let address = line.strip_prefix("nameserver")?.trim();
    // Removes the interface after a link-local address (`fe80::1%eth0`).
    address.split('%').next()?.parse().ok()
}

fn servers(text: &str) -> impl Iterator<Item = IpAddr> {
    text.lines().filter_map(server)
}

fn replaced(text: &str, address: Ipv4Addr, all: bool) -> String {
    let mut lines = vec![format!("nameserver {address}")];
    let is_kept = |line: &&str| server(line).is_none_or(|server| !all && !server.is_loopback());
    lines.extend(text.lines().filter(is_kept).map(str::to_owned));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_resolvers_out_of_reach_are_replaced() {
        let text =
            "# by hand\nnameserver 127.0.0.53\nnameserver 192.0.2.1\nsearch example.org\noptions edns0\n";
        let far = Ipv4Addr::new(198, 18, 0, 1);
        assert_eq!(
            replaced(text, far, false),
            "nameserver 198.18.0.1\n# by hand\nnameserver 192.0.2.1\nsearch example.org\noptions edns0\n"
        );
        assert!(!replaced(text, far, true).contains("192.0.2.1"));
        let known: Vec<String> = servers("nameserver ::1\nnameserver fe80::1%eth0\nnameserver x\n")
            .map(|server| server.to_string())
            .collect();
        assert_eq!(known, ["::1", "fe80::1"]);
    }
}

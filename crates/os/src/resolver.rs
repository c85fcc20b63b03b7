//! Names behind a path: the host's resolver may be where no packet of the path's comes, on the host's loopback device
//! (systemd-resolved at 127.0.0.53, Docker's at 127.0.0.11). So the path's far end passes questions on, and a program
//! behind the path sees a `/etc/resolv.conf` that names it. The host's own stays as it is.

use crate::error::SystemError;
use crate::namespace::Namespace;
use crate::splice::join;
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

/// Where programs look for resolvers (resolv.conf(5)).
const FILE: &str = "/etc/resolv.conf";
/// The port of DNS.
const PORT: u16 = 53;
/// How long a question waits for its answer; programs ask again after 5 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a program behind the path is to see; removed with its owner. A program that began keeps it.
#[derive(Debug)]
pub struct Names {
    file: PathBuf,
}

impl Names {
    /// The resolver of this machine that has to be asked for a path: the first on its loopback device; the first of `all`,
    /// if none can be reached. `None`: the path leads to those that are named.
    pub fn resolver(all: bool) -> Option<IpAddr> {
        let text = fs::read_to_string(FILE).ok()?;
        servers(&text).find(|server| all || server.is_loopback())
    }

    /// This machine's settings with the resolver at `address` in place of those on its loopback device, or of `all`.
    ///
    /// # Errors
    /// If no file can be written.
    pub fn through(address: Ipv4Addr, all: bool) -> Result<Names, SystemError> {
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
                "is TMPDIR writable?",
            )
        })?;
        Ok(Names { file })
    }

    /// Shows it to this thread, and to the programs that it starts.
    pub(crate) fn show(&self) -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS)?;
        mount::<str, str, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_SLAVE, None)?;
        mount::<Path, str, str, str>(Some(&self.file), FILE, None, MsFlags::MS_BIND, None)?;
        Ok(())
    }
}

impl Drop for Names {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// Passes questions on from now on to the resolver `to`, port 53, which is asked from where we are: those that come to
/// `at`, here or in a namespace.
///
/// # Errors
/// If the system refuses.
pub fn pass_on(namespace: Option<&Namespace>, at: Ipv4Addr, to: IpAddr) -> Result<(), SystemError> {
    let listen = || -> io::Result<(UdpSocket, TcpListener)> {
        Ok((UdpSocket::bind((at, PORT))?, TcpListener::bind((at, PORT))?))
    };
    let bound = match namespace {
        Some(namespace) => namespace.within(listen)?,
        None => listen(),
    };
    let refused = |error: io::Error| {
        let what = format!("cannot answer questions for names at {at}, port {PORT}");
        SystemError::of_system(
            &what,
            &error,
            "does another program have that port at all addresses? see `ss -lnp`",
        )
    };
    let (datagrams, streams) = bound.map_err(refused)?;
    let to = SocketAddr::new(to, PORT);
    let start = |work: Box<dyn FnOnce() + Send>| {
        thread::Builder::new().name("names".to_owned()).spawn(work).map(drop).map_err(refused)
    };
    start(Box::new(move || answer_datagrams(&Arc::new(datagrams), to)))?;
    start(Box::new(move || {
        for near in streams.incoming().flatten() {
            let work = move || {
                if let Ok(far) = TcpStream::connect_timeout(&to, PATIENCE) {
                    join(&near, &far);
                }
            };
            let _ = thread::Builder::new().spawn(work);
        }
    }))
}

/// Each question has a socket of its own, as each program that asks has.
fn answer_datagrams(near: &Arc<UdpSocket>, to: SocketAddr) {
    let mut question = [0; 1 << 16];
    loop {
        let Ok((len, from)) = near.recv_from(&mut question) else { continue };
        let (near, question) = (Arc::clone(near), question[..len].to_vec());
        let _ = thread::Builder::new().spawn(move || {
            // Who gets no answer asks again.
            let _ = asked(&question, to).and_then(|answer| near.send_to(&answer, from));
        });
    }
}

fn asked(question: &[u8], to: SocketAddr) -> io::Result<Vec<u8>> {
    let any: IpAddr =
        if to.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let far = UdpSocket::bind((any, 0))?;
    far.connect(to)?;
    far.set_read_timeout(Some(PATIENCE))?;
    far.send(question)?;
    let mut answer = vec![0; 1 << 16];
    let len = far.recv(&mut answer)?;
    answer.truncate(len);
    Ok(answer)
}

fn server(line: &str) -> Option<IpAddr> {
    let address = line.strip_prefix("nameserver")?.trim();
    // Without the interface of an address that is local to a link.
    address.split('%').next()?.parse().ok()
}

fn servers(text: &str) -> impl Iterator<Item = IpAddr> {
    text.lines().filter_map(server)
}

fn replaced(text: &str, address: Ipv4Addr, all: bool) -> String {
    let mut lines = vec![format!("nameserver {address}")];
    let stays = |line: &&str| server(line).is_none_or(|server| !all && !server.is_loopback());
    lines.extend(text.lines().filter(stays).map(str::to_owned));
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

//! Carries TCP connections from a namespace to the network of this process. Each connection ends at this machine's
//! kernel, and a second connection of this process continues to the destination. The sender on the path thus has the
//! kernel's congestion control. The programs `pasta` and `slirp4netns` ([`crate::uplink`]) have no congestion control.

use crate::error::SystemError;
use crate::namespace::Namespace;
use nix::sys::socket::{getsockopt, sockopt};
use socket2::SockRef;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, SocketAddrV4, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// Accepts connections until this value is dropped. Established connections continue after the drop.
#[derive(Debug)]
pub struct Splice {
    port: u16,
    is_stopped: Arc<AtomicBool>,
}

impl Splice {
    /// Accepts connections redirected (netfilter's REDIRECT) to a port of a namespace.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub fn begin(namespace: &Namespace) -> Result<Splice, SystemError> {
        let refused = |error: io::Error| {
            let help = "a limit may be reached: see ulimit -n (files), -u (processes)";
            SystemError::of_system("cannot accept TCP", &error, help)
        };
        let listener =
            namespace.within(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?.map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        let is_stopped = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&is_stopped);
        let accept = move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                // If no thread can be started, the stream is dropped with unread data, which resets the connection.
                if let Ok(stream) = stream {
                    let _ = thread::Builder::new().spawn(move || forward(&stream));
                }
            }
        };
        thread::Builder::new().name("splice".to_owned()).spawn(accept).map_err(refused)?;
        Ok(Splice { port, is_stopped })
    }

    /// Local port to which netfilter must redirect connections.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }
}

fn forward(near: &TcpStream) {
    let Ok(far) = original_destination(near).and_then(|to| TcpStream::connect_timeout(&to, CONNECT_TIMEOUT))
    else {
        // A linger time of zero makes the drop of the stream reset the connection. A remote end that refuses a
        // connection also sends a reset.
        let _ = SockRef::from(near).set_linger(Some(Duration::ZERO));
        return;
    };
    copy_both_ways(near, &far);
}

/// Copies data in both directions until both directions have ended.
pub(crate) fn copy_both_ways(near: &TcpStream, far: &TcpStream) {
    for stream in [near, far] {
        let _ = stream.set_nodelay(true);
    }
    thread::scope(|scope| {
        scope.spawn(|| copy(near, far));
        copy(far, near);
    });
}

fn copy(mut from: &TcpStream, mut to: &TcpStream) {
    match io::copy(&mut from, &mut to) {
        Ok(_) => drop(to.shutdown(Shutdown::Write)),
        Err(_) => {
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        }
    }
}

fn original_destination(stream: &TcpStream) -> io::Result<SocketAddr> {
    let address = getsockopt(stream, sockopt::OriginalDst)?;
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    Ok(SocketAddrV4::new(ip, u16::from_be(address.sin_port)).into())
}

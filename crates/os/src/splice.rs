//! TCP from a namespace to the network that this process may use: each connection ends here, at this machine's kernel, and
//! goes on as one of ours. So a path before it meets a kernel's congestion control, which the programs of
//! [`crate::uplink`] do not have.

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

/// How long a connection has until the far end answers.
const PATIENCE: Duration = Duration::from_secs(30);

/// Takes connections until it is dropped; those that are there live on.
#[derive(Debug)]
pub struct Splice {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Splice {
    /// Takes what is redirected (netfilter's REDIRECT) to a port of a namespace.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn begin(namespace: &Namespace) -> Result<Splice, SystemError> {
        let refused =
            |error: io::Error| SystemError::of_system("cannot take connections", &error, "see ulimit -n, -u");
        let listener =
            namespace.within(|| TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)))?.map_err(refused)?;
        let port = listener.local_addr().map_err(refused)?.port();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        let take = move || {
            for stream in listener.incoming() {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                // Where no thread is to be had, the connection is reset: it is dropped with what is unread.
                if let Ok(stream) = stream {
                    let _ = thread::Builder::new().spawn(move || carry(&stream));
                }
            }
        };
        thread::Builder::new().name("splice".to_owned()).spawn(take).map_err(refused)?;
        Ok(Splice { port, is_over })
    }

    /// Where it listens.
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Splice {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// One connection, to where it was meant to go.
fn carry(near: &TcpStream) {
    let Ok(far) = meant_for(near).and_then(|to| TcpStream::connect_timeout(&to, PATIENCE)) else {
        // Reset, as the far end would have it.
        let _ = SockRef::from(near).set_linger(Some(Duration::ZERO));
        return;
    };
    join(near, &far);
}

/// Carries what comes from one to the other, until both have ended.
pub(crate) fn join(near: &TcpStream, far: &TcpStream) {
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
            // One side is gone: so is the other.
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        }
    }
}

/// Where a redirected connection was meant to go.
fn meant_for(stream: &TcpStream) -> io::Result<SocketAddr> {
    let address = getsockopt(stream, sockopt::OriginalDst)?;
    let ip = Ipv4Addr::from(u32::from_be(address.sin_addr.s_addr));
    Ok(SocketAddrV4::new(ip, u16::from_be(address.sin_port)).into())
}

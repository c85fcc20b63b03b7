//! A bulk transfer between kernel sockets, and the smoothed round-trip time of its sender.

use crate::path::Path;
use lasthop_os::ends::{SERVER, SERVER6};
use nix::sys::socket::{setsockopt, sockopt::TcpCongestion};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

pub struct Transfer {
    received: Arc<AtomicU64>,
    port: u16,
}

impl Transfer {
    /// Starts a transfer from the server to the client. Returns `None` if the kernel lacks the congestion control.
    pub fn begin(path: &Path, congestion: &str, port: u16) -> Option<Transfer> {
        Transfer::begin_from(path, SocketAddr::from((SERVER, port)), congestion)
    }

    /// Starts a transfer like [`Transfer::begin`], but over IPv6.
    pub fn begin6(path: &Path, congestion: &str, port: u16) -> Option<Transfer> {
        Transfer::begin_from(path, SocketAddr::from((SERVER6, port)), congestion)
    }

    fn begin_from(path: &Path, server: SocketAddr, congestion: &str) -> Option<Transfer> {
        path.at_server(|| {
            let listener = TcpListener::bind(server).unwrap();
            setsockopt(&listener, TcpCongestion, &OsString::from(congestion)).ok()?;
            thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                while stream.write_all(&[0; 1 << 16]).is_ok() {}
            });
            Some(())
        })?;
        let received = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&received);
        let mut stream =
            path.at_client(|| TcpStream::connect_timeout(&server, Duration::from_secs(10)).unwrap());
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        thread::spawn(move || {
            let mut bytes = vec![0; 1 << 16];
            while let Ok(length @ 1..) = stream.read(&mut bytes) {
                count.fetch_add(length as u64, Ordering::Relaxed);
            }
        });
        Some(Transfer { received, port: server.port() })
    }

    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    pub fn goes_on(&self, seconds: u64) -> bool {
        let (before, start) = (self.received(), Instant::now());
        while start.elapsed().as_secs() < seconds {
            thread::sleep(Duration::from_millis(100));
            // 1 MiB is more than can be in flight, so the sender has received ACKs.
            if self.received() > before + (1 << 20) {
                return true;
            }
        }
        false
    }

    pub fn mean_srtt(&self, path: &Path, seconds: u64) -> f64 {
        let start = Instant::now();
        let mut samples = Vec::new();
        while start.elapsed().as_secs() < seconds {
            thread::sleep(Duration::from_millis(200));
            let port = self.port;
            samples.extend(path.at_server(|| srtt(port)));
        }
        assert!(!samples.is_empty(), "ss reports no round-trip time");
        samples.iter().sum::<f64>() / samples.len() as f64
    }
}

/// Returns the sender's smoothed round-trip time as reported by `ss`, ms.
fn srtt(port: u16) -> Option<f64> {
    let filter = format!("sport = :{port}");
    let output = Command::new("ss").args(["-tinH", "state", "established", &filter]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (_, rest) = text.split_once(" rtt:")?;
    rest.split_once('/')?.0.parse().ok()
}

//! The kernel's end of a connection: a thread with an ordinary socket.

use sha2::{Digest, Sha256};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// Timeout of the kernel's end, after which the test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Thread of the kernel's end. The thread returns the hash of the received bytes, or an error.
pub type Received = JoinHandle<io::Result<[u8; 32]>>;

/// Listens on a free port, sends `text` to the first client and hashes the received bytes.
pub fn listening(at: SocketAddr, text: Vec<u8>) -> (SocketAddr, Received) {
    let listener = TcpListener::bind(at).expect("a free port");
    let end = listener.local_addr().expect("an address");
    (end, thread::spawn(move || exchange(listener.accept()?.0, text)))
}

pub fn connecting(to: SocketAddr, text: Vec<u8>) -> Received {
    thread::spawn(move || exchange(TcpStream::connect_timeout(&to, PATIENCE)?, text))
}

fn exchange(stream: TcpStream, text: Vec<u8>) -> io::Result<[u8; 32]> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut reading = stream.try_clone()?;
    let reader = thread::spawn(move || -> io::Result<[u8; 32]> {
        let mut hasher = Sha256::new();
        let mut bytes = vec![0; 1 << 16];
        loop {
            match reading.read(&mut bytes)? {
                0 => return Ok(hasher.finalize().into()),
                len => hasher.update(&bytes[..len]),
            }
        }
    });
    (&stream).write_all(&text)?;
    stream.shutdown(Shutdown::Write)?;
    reader.join().expect("the reader does not panic")
}

pub fn hash(text: &[u8]) -> [u8; 32] {
    Sha256::digest(text).into()
}

/// A writer that hashes; clones share the hash.
#[derive(Clone, Default)]
pub struct Hashing(Arc<Mutex<Sha256>>);

impl Hashing {
    pub fn result(&self) -> [u8; 32] {
        self.0.lock().expect("no panic").clone().finalize().into()
    }
}

impl Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no panic").update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Streams between the kernel's sockets.

use super::tally::port_of;
use super::{Ends, Run, Stream};
use crate::clock::Clock;
use crate::emulation::End;
use crate::kernel::Watch;
use crate::trouble::Trouble;
use lasthop_base::Duration as Span;
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread::{Scope, sleep};
use std::time::Duration;

/// How long a call waits before its thread looks whether all is over.
const PATIENCE: Duration = Duration::from_millis(50);
/// How often the kernel is asked about its connections.
const LOOK: Span = Span::from_millis(20);
/// Bytes written or read at once.
const CHUNK: usize = 1 << 16;

/// A stream's two sockets, each in its namespace.
pub(super) struct Sockets {
    sender: Socket,
    listener: Socket,
    receiver: SocketAddr,
    stream: Stream,
}

/// Makes the sockets; the receivers listen.
pub(super) fn open(ends: &Ends, streams: &[Stream], congestion: &str) -> Result<Vec<Sockets>, Trouble> {
    let one = |(number, stream): (usize, &Stream)| {
        let (from, to) = match stream.sender {
            End::Server => (0, 1),
            End::Client => (1, 0),
        };
        let receiver = SocketAddr::from((Ends::address(to), port_of(number)));
        let refused = |error: io::Error| {
            Trouble::of_system("cannot make a socket in a namespace", &error, "see what the system says")
        };
        let listener = ends.namespace(to).within(|| listening(receiver))?.map_err(refused)?;
        let sender = ends
            .namespace(from)
            .within(|| Socket::new(Domain::IPV4, Type::STREAM, None))?
            .map_err(refused)?;
        sender.set_tcp_congestion(congestion.as_bytes()).map_err(|error| unknown(congestion, &error))?;
        Ok(Sockets { sender, listener, receiver, stream: stream.clone() })
    };
    streams.iter().enumerate().map(one).collect()
}

fn listening(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(8)?;
    Ok(socket)
}

fn unknown(congestion: &str, error: &io::Error) -> Trouble {
    let known = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control");
    let known = known.unwrap_or_default();
    Trouble::new(
        format!("this kernel does not let us use the congestion control `{congestion}`: {error}"),
        format!("it has: {}; others may be modules: modprobe tcp_{congestion}", known.trim()),
    )
}

/// Has the kernel's senders looked at.
pub(super) fn watch(ends: &Ends, clock: Clock) -> Result<Watch, Trouble> {
    Watch::every(LOOK, clock, &[(End::Server, ends.namespace(0)), (End::Client, ends.namespace(1))])
}

impl Sockets {
    /// Begins the two threads of this stream.
    pub(super) fn begin<'scope, 'all>(
        self,
        scope: &'scope Scope<'scope, 'all>,
        number: usize,
        run: Run<'all>,
    ) {
        let Sockets { sender, listener, receiver, stream } = self;
        let failed = |what: &str, error: &io::Error| {
            let message = format!("a stream of the kernel's failed: cannot {what}: {error}");
            Trouble::new(message, "is the path so bad that nothing gets through?")
        };
        scope.spawn(move || {
            run.tally.heed(receive(&listener, number, run).map_err(|error| failed("receive", &error)));
        });
        scope.spawn(move || {
            if run.reaches(stream.start) {
                run.tally.heed(send(sender, receiver, &stream, run).map_err(|error| failed("send", &error)));
            }
        });
    }
}

fn receive(listener: &Socket, number: usize, run: Run<'_>) -> io::Result<()> {
    listener.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = vec![0; CHUNK];
    let Some(mut socket) = patiently(run, || listener.accept())?.map(|(socket, _)| socket) else {
        return Ok(());
    };
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut received = 0;
    while let Some(count) = patiently(run, || socket.read(&mut buffer))? {
        if count == 0 {
            run.tally.complete(number, run.clock.now());
            break;
        }
        received += count as u64;
        run.tally.receive(number, received);
    }
    // The sender's end is looked at until the end of the trial.
    while !run.is_over() {
        sleep(PATIENCE);
    }
    Ok(())
}

fn send(mut socket: Socket, to: SocketAddr, stream: &Stream, run: Run<'_>) -> io::Result<()> {
    let left = run.end.since(run.clock.now());
    match socket.connect_timeout(&to.into(), Duration::from_nanos(left.as_nanos().max(1))) {
        Ok(()) => {}
        // Its handshake took longer than the trial.
        Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(()),
        Err(error) => return Err(error),
    }
    socket.set_write_timeout(Some(PATIENCE))?;
    let chunk = vec![0; CHUNK];
    let mut left = stream.bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let most = left.min(CHUNK as u64) as usize;
        let Some(count) = patiently(run, || socket.write(&chunk[..most]))? else { return Ok(()) };
        left -= count as u64;
    }
    socket.shutdown(Shutdown::Write)?;
    while !run.is_over() {
        sleep(PATIENCE);
    }
    Ok(())
}

/// Calls again until the call is done, or all is over: `None`.
fn patiently<T>(run: Run<'_>, mut call: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    loop {
        if run.is_over() {
            return Ok(None);
        }
        match call() {
            Ok(done) => return Ok(Some(done)),
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                ) => {}
            Err(error) => return Err(error),
        }
    }
}

//! Streams over sockets of the kernel's TCP.

use super::stream_results::port_of;
use super::{TrialContext, TrialStream};
use crate::emulation::End;
use crate::kernel::ConnectionSampler;
use lasthop_base::Duration as Span;
use lasthop_os::clock::Clock;
use lasthop_os::ends::{PathEnds, congestion_error};
use lasthop_os::error::SystemError;
use lasthop_os::pacing::pace;
use socket2::{Domain, Socket, Type};
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr};
use std::thread::{Scope, sleep};
use std::time::Duration;

/// Timeout of a blocking call, after which the thread checks for the end of the trial.
const PATIENCE: Duration = Duration::from_millis(50);
const SAMPLE_INTERVAL: Span = Span::from_millis(20);
const CHUNK: usize = 1 << 16;

pub(super) struct KernelReceiver {
    number: usize,
    listener: Socket,
}

pub(super) struct KernelSender {
    number: usize,
    socket: Socket,
    to: SocketAddr,
    stream: TrialStream,
}

pub(super) fn address_of(number: usize, stream: &TrialStream) -> SocketAddr {
    SocketAddr::from((PathEnds::address(stream.to()), port_of(number)))
}

pub(super) fn receivers(
    ends: &PathEnds,
    streams: &[TrialStream],
) -> Result<Vec<KernelReceiver>, SystemError> {
    let one = |(number, stream): (usize, &TrialStream)| {
        let address = address_of(number, stream);
        let listener = ends.namespace(stream.to()).within(|| listening(address))?.map_err(refused)?;
        Ok(KernelReceiver { number, listener })
    };
    streams.iter().enumerate().map(one).collect()
}

/// Checks that the kernel has these congestion controls; loads their modules.
pub(super) fn check(ends: &PathEnds, congestion: &[String]) -> Result<(), SystemError> {
    let socket =
        ends.namespace(0).within(|| Socket::new(Domain::IPV4, Type::STREAM, None))?.map_err(refused)?;
    congestion.iter().try_for_each(|name| choose(&socket, name))
}

fn choose(socket: &Socket, congestion: &str) -> Result<(), SystemError> {
    let chosen = socket.set_tcp_congestion(congestion.as_bytes());
    chosen.map_err(|error| congestion_error(congestion, &error.to_string()))
}

pub(super) fn senders(
    ends: &PathEnds,
    streams: &[TrialStream],
    congestion: &[String],
    paces: bool,
) -> Result<Vec<KernelSender>, SystemError> {
    let one = |((number, stream), congestion): ((usize, &TrialStream), &String)| {
        let namespace = ends.namespace(stream.from());
        let socket = namespace.within(|| Socket::new(Domain::IPV4, Type::STREAM, None))?.map_err(refused)?;
        choose(&socket, congestion)?;
        if paces {
            pace(&socket).map_err(refused)?;
        }
        Ok(KernelSender { number, socket, to: address_of(number, stream), stream: stream.clone() })
    };
    streams.iter().enumerate().zip(congestion).map(one).collect()
}

fn refused(error: io::Error) -> SystemError {
    SystemError::of_system("cannot create a socket in a namespace", &error, "see the system's log")
}

fn listening(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(8)?;
    Ok(socket)
}

pub(super) fn sampler(ends: &PathEnds, clock: Clock) -> Result<ConnectionSampler, SystemError> {
    ConnectionSampler::every(
        SAMPLE_INTERVAL,
        clock,
        &[(End::Server, ends.namespace(0)), (End::Client, ends.namespace(1))],
    )
}

impl KernelReceiver {
    pub(super) fn begin<'scope, 'all>(self, scope: &'scope Scope<'scope, 'all>, context: TrialContext<'all>) {
        scope.spawn(move || {
            let done = receive(&self.listener, self.number, context);
            context.results.record_error(done.map_err(|error| failed(self.number, "receive", &error)));
        });
    }
}

impl KernelSender {
    pub(super) fn begin<'scope, 'all>(self, scope: &'scope Scope<'scope, 'all>, context: TrialContext<'all>) {
        scope.spawn(move || {
            if context.sleep_until(self.stream.start) {
                let done = send(self.socket, self.to, &self.stream, context);
                context.results.record_error(done.map_err(|error| failed(self.number, "send", &error)));
            }
        });
    }
}

fn failed(number: usize, what: &str, error: &io::Error) -> SystemError {
    SystemError::new(
        format!("stream {} of the kernel's TCP failed: cannot {what}: {error}", number + 1),
        "check that the path delivers packets",
    )
}

fn receive(listener: &Socket, number: usize, context: TrialContext<'_>) -> io::Result<()> {
    listener.set_read_timeout(Some(PATIENCE))?;
    let mut buffer = vec![0; CHUNK];
    let Some(mut socket) = patiently(context, || listener.accept())?.map(|(socket, _)| socket) else {
        return Ok(());
    };
    socket.set_read_timeout(Some(PATIENCE))?;
    let mut received = 0;
    while let Some(count) = patiently(context, || socket.read(&mut buffer))? {
        if count == 0 {
            context.results.complete(number, context.clock.now());
            break;
        }
        received += count as u64;
        context.results.receive(number, received);
    }
    // The socket stays open because the state of its connection is queried until the end of the trial.
    while !context.is_over() {
        sleep(PATIENCE);
    }
    Ok(())
}

fn send(
    mut socket: Socket,
    to: SocketAddr,
    stream: &TrialStream,
    context: TrialContext<'_>,
) -> io::Result<()> {
    let left = context.end.since(context.clock.now());
    match socket.connect_timeout(&to.into(), Duration::from_nanos(left.as_nanos().max(1))) {
        Ok(()) => {}
        // The handshake has not finished within the trial.
        Err(error) if error.kind() == ErrorKind::TimedOut => return Ok(()),
        Err(error) => return Err(error),
    }
    socket.set_write_timeout(Some(PATIENCE))?;
    let chunk = vec![0; CHUNK];
    let mut left = stream.bytes.unwrap_or(u64::MAX);
    while left > 0 {
        let most = left.min(CHUNK as u64) as usize;
        let Some(count) = patiently(context, || socket.write(&chunk[..most]))? else { return Ok(()) };
        left -= count as u64;
    }
    socket.shutdown(Shutdown::Write)?;
    while !context.is_over() {
        sleep(PATIENCE);
    }
    Ok(())
}

/// Repeats a call whenever it times out; returns `None` at the end of the trial.
fn patiently<T>(context: TrialContext<'_>, mut call: impl FnMut() -> io::Result<T>) -> io::Result<Option<T>> {
    loop {
        if context.is_over() {
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

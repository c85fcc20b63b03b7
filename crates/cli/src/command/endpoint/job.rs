//! Jobs of the endpoint (serve, fetch or send), and the transfers on the endpoint's connections.

use crate::failure::Failure;
use crate::target::Target;
use lasthop_base::{Duration, Time};
use lasthop_emu::{Exchange, TunHost};
use lasthop_host::{Error, Handle, Info, Options};
use lasthop_os::SystemError;
use lasthop_tcp::State;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

pub(crate) struct EndpointJob {
    task: Task,
    listeners: Vec<Handle>,
    running: Vec<OpenConnection>,
    closed: Vec<ClosedConnection>,
}

enum Task {
    Serve { port: u16, file: Option<PathBuf>, out: Option<PathBuf>, left: Option<u64>, accepted: u64 },
    Fetch { server: SocketAddr, target: Option<SharedTarget> },
    Send { file: Option<File>, server: SocketAddr },
}

struct OpenConnection {
    exchange: Exchange,
    peer: SocketAddr,
    began: Time,
    target: Option<SharedTarget>,
}

pub(crate) struct ClosedConnection {
    pub(crate) peer: SocketAddr,
    /// Number of bytes acknowledged by the peer, without the FIN.
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) took: Duration,
    pub(crate) info: Option<Info>,
    pub(crate) error: Option<SystemError>,
}

/// Output file of a connection, written until the connection ends.
#[derive(Clone)]
struct SharedTarget(Arc<Mutex<Option<Target>>>);

impl EndpointJob {
    pub(crate) fn serve(
        port: u16,
        file: Option<PathBuf>,
        out: Option<PathBuf>,
        left: Option<u64>,
    ) -> Result<EndpointJob, Failure> {
        if let Some(file) = &file {
            open(file)?;
        }
        if let Some(out) = out.as_deref().filter(|out| !out.is_dir()) {
            return Err(Failure::bad_input(
                format!("the directory `{}` does not exist", out.display()),
                format!("create the directory first: mkdir -p '{}'", out.display()),
            ));
        }
        Ok(EndpointJob::new(Task::Serve { port, file, out, left, accepted: 0 }))
    }

    pub(crate) fn fetch(server: SocketAddr, out: Option<&Path>) -> Result<EndpointJob, Failure> {
        let target = out.map(Target::create).transpose()?.map(SharedTarget::new);
        Ok(EndpointJob::new(Task::Fetch { server, target }))
    }

    pub(crate) fn send(file: &Path, server: SocketAddr) -> Result<EndpointJob, Failure> {
        Ok(EndpointJob::new(Task::Send { file: Some(open(file)?), server }))
    }

    fn new(task: Task) -> EndpointJob {
        EndpointJob { task, listeners: Vec::new(), running: Vec::new(), closed: Vec::new() }
    }

    pub(crate) fn connections(&self) -> &[ClosedConnection] {
        &self.closed
    }

    pub(crate) fn begin(
        &mut self,
        station: &mut TunHost<Target>,
        addresses: &[IpAddr],
        options: &Options,
    ) -> Result<(), SystemError> {
        let now = station.now();
        let (server, exchange, target) = match &mut self.task {
            Task::Serve { port, .. } => {
                for address in addresses {
                    let end = SocketAddr::new(*address, *port);
                    self.listeners
                        .push(station.host.listen(end, 64, options).map_err(|error| refused(end, error))?);
                }
                return Ok(());
            }
            Task::Fetch { server, target } => {
                let handle = connect(station, now, *server, options)?;
                let sink: Box<dyn Write + Send> = match target {
                    Some(target) => Box::new(target.clone()),
                    None => Box::new(io::sink()),
                };
                (*server, Exchange::receiving(handle, sink), target.clone())
            }
            Task::Send { file, server } => {
                let handle = connect(station, now, *server, options)?;
                let source: Box<dyn Read + Send> = match file.take() {
                    Some(file) => Box::new(file),
                    None => Box::new(io::empty()),
                };
                (*server, Exchange::sending(handle, source), None)
            }
        };
        self.running.push(OpenConnection { exchange, peer: server, began: now, target });
        Ok(())
    }

    /// Does all work that is possible without blocking. Returns true if the job is done.
    pub(crate) fn advance(&mut self, station: &mut TunHost<Target>) -> Result<bool, SystemError> {
        self.accept(station)?;
        let now = station.now();
        let mut index = 0;
        while index < self.running.len() {
            let running = &mut self.running[index];
            let obstacle = running.exchange.obstacle(&station.host);
            let advanced = match obstacle.filter(|_| now.since(running.began) >= OBSTACLE_TIMEOUT) {
                Some(obstacle) => Err(obstacle),
                None => running.exchange.advance(&mut station.host),
            };
            match advanced {
                Ok(false) => index += 1,
                done => {
                    let running = self.running.swap_remove(index);
                    let connection = running.end(station, now, done.err());
                    self.closed.push(connection);
                }
            }
        }
        let needs_clients = match self.task {
            Task::Serve { left, .. } => left != Some(0),
            Task::Fetch { .. } | Task::Send { .. } => false,
        };
        Ok(!needs_clients && self.running.is_empty())
    }

    /// Processes packets until the last FINs are sent and acknowledged, at most for [`LINGER`].
    pub(crate) fn linger(&mut self, station: &mut TunHost<Target>) -> Result<(), SystemError> {
        for listener in self.listeners.drain(..) {
            let _ = station.host.close(station.now(), listener);
        }
        let end = station.now() + LINGER;
        while station.host.lingering() > 0 && station.now() < end {
            station.turn(Duration::from_millis(50))?;
        }
        Ok(())
    }

    /// Returns the error of the only connection of `fetch` or `send`. For `serve`, returns no error: the summary
    /// reports the errors of connections.
    pub(crate) fn finish(&self) -> Result<(), SystemError> {
        match (&self.task, self.closed.first().and_then(|connection| connection.error.clone())) {
            (Task::Fetch { server, .. } | Task::Send { server, .. }, Some(error)) => {
                Err(SystemError { message: format!("{server}: {}", error.message), ..error })
            }
            _ => Ok(()),
        }
    }

    fn accept(&mut self, station: &mut TunHost<Target>) -> Result<(), SystemError> {
        let Task::Serve { file, out, left, accepted, .. } = &mut self.task else { return Ok(()) };
        for listener in &self.listeners {
            while *left != Some(0)
                && let Ok((handle, peer)) = station.host.accept(*listener)
            {
                *left = left.map(|left| left - 1);
                *accepted += 1;
                let mut target = None;
                let exchange = match (&*file, &*out) {
                    (Some(file), _) => Exchange::sending(handle, Box::new(opened(file)?)),
                    (None, Some(out)) => {
                        let created =
                            Target::create(&out.join(accepted.to_string())).map_err(system_error)?;
                        let shared = target.insert(SharedTarget::new(created));
                        Exchange::receiving(handle, Box::new(shared.clone()))
                    }
                    (None, None) => Exchange::receiving(handle, Box::new(io::sink())),
                };
                self.running.push(OpenConnection { exchange, peer, began: station.now(), target });
            }
        }
        Ok(())
    }
}

/// Time after which an ICMP error ends a connection's handshake. Within this time, the SYN is retransmitted twice.
const OBSTACLE_TIMEOUT: Duration = Duration::from_secs(3);
/// Maximum time for which a finished job waits for the peers' last acknowledgements.
const LINGER: Duration = Duration::from_secs(5);

impl OpenConnection {
    fn end(self, station: &mut TunHost<Target>, now: Time, error: Option<SystemError>) -> ClosedConnection {
        let handle = self.exchange.handle();
        let info = station.host.info(handle).ok();
        let error = error.or_else(|| self.target.and_then(|target| target.finish().err().map(system_error)));
        // Errors are ignored, because both calls fail only if the connection has already ended.
        let _ = match error {
            None => station.host.close(now, handle),
            Some(_) => station.host.abort(handle),
        };
        // `bytes_acked` counts an acknowledged FIN as one byte.
        let fin =
            |info: &Info| u64::from(matches!(info.state, State::FinWait2 | State::TimeWait | State::Closed));
        ClosedConnection {
            peer: self.peer,
            sent: info
                .as_ref()
                .map_or(0, |info| info.bytes_acked.saturating_sub(fin(info)))
                .min(self.exchange.sent()),
            received: self.exchange.received(),
            took: now.since(self.began),
            info,
            error,
        }
    }
}

impl SharedTarget {
    fn new(target: Target) -> SharedTarget {
        SharedTarget(Arc::new(Mutex::new(Some(target))))
    }

    fn finish(&self) -> Result<(), Failure> {
        let target = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        target.map_or(Ok(()), Target::finish)
    }
}

impl Write for SharedTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(target) => target.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(target) => target.flush(),
            None => Ok(()),
        }
    }
}

fn connect(
    station: &mut TunHost<Target>,
    now: Time,
    server: SocketAddr,
    options: &Options,
) -> Result<Handle, SystemError> {
    station.host.connect(now, None, server, options).map_err(|error| refused(server, error))
}

fn refused(end: SocketAddr, error: Error) -> SystemError {
    let help = match error {
        Error::NetworkUnreachable => "give addresses of this family: --address and --kernel",
        Error::AddressInUse => "choose another port",
        _ => "see `lasthop endpoint --help`",
    };
    SystemError { message: format!("{end}: {error}"), help: help.to_owned() }
}

fn open(file: &Path) -> Result<File, Failure> {
    let shown = file.display();
    match fs::metadata(file).and_then(|known| Ok((known.is_dir(), File::open(file)?))) {
        Ok((false, file)) => Ok(file),
        Ok((true, _)) => {
            Err(Failure::bad_input(format!("`{shown}` is a directory"), "give the name of a file"))
        }
        Err(error) => {
            Err(Failure::bad_input(format!("cannot read `{shown}`: {error}"), "check the file's name"))
        }
    }
}

fn opened(file: &Path) -> Result<File, SystemError> {
    File::open(file).map_err(|error| SystemError {
        message: format!("cannot read `{}`: {error}", file.display()),
        help: "check that the file still exists".to_owned(),
    })
}

fn system_error(failure: Failure) -> SystemError {
    SystemError { message: failure.message(), help: "is the disk full?".to_owned() }
}

//! Status and metrics of the agent.

use crate::daemon::{Core, SOCKET, Shared};
use crate::flow::FlowWindows;
use crate::program::Program;
use lasthop_base::Time;
use lasthop_os::SystemError;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use serde_json::{Value, json};
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::time::{Duration, Instant};

pub(crate) struct Summary {
    object: Value,
}

/// Maximum number of connections that are listed: the connections with the most ACKs.
const SHOWN: usize = 20;
/// Maximum number of metrics clients that have sent no request yet.
const MAX_WAITING: usize = 64;
const PATIENCE: Duration = Duration::from_secs(2);

impl Summary {
    pub(crate) fn of(shared: &Shared, now: Time, core: &Core) -> Summary {
        let program = core.program.as_ref();
        let mut flows: Vec<_> = core.table.windows().collect();
        for (key, windows) in &mut flows {
            if let Some(known) = program.and_then(|program| program.windows(key)) {
                *windows = FlowWindows { min_rtt: windows.min_rtt, ..known };
            }
        }
        let count = flows.len();
        flows.sort_by(|(a, one), (b, other)| {
            other.acks.cmp(&one.acks).then_with(|| a.own.cmp(&b.own)).then_with(|| a.peer.cmp(&b.peer))
        });
        let flows: Vec<Value> = flows
            .into_iter()
            .take(SHOWN)
            .map(|(key, windows)| {
                json!({
                    "own": key.own,
                    "peer": key.peer,
                    "acks": windows.acks,
                    "window_bytes": windows.window,
                    "kernel_window_bytes": windows.kernel,
                    "min_rtt_ms": windows.min_rtt.map(|rtt| rtt.as_millis()),
                })
            })
            .collect();
        let mut object = json!({
            "pid": std::process::id(),
            "running_s": now.as_secs(),
            "does": shared.options.words,
            "path": if program.is_some() { "bpf" } else { "nfqueue" },
            "devices": program.map(Program::devices),
            "devices_left_out": program.map(Program::left_out),
            "queue": program.is_none().then_some(shared.options.queue),
            "connections": count,
        });
        for (name, _, count) in shared.counters.all() {
            object[name] = count.into();
        }
        object["queue_dropped"] = program.is_none().then(|| dropped(shared.options.queue)).flatten().into();
        object["flows"] = flows.into();
        Summary { object }
    }
}

/// Answers each client of the status socket with one line of JSON.
pub(crate) fn answer_status(shared: &Shared, listener: &UnixListener) -> io::Result<()> {
    loop {
        let (mut stream, _) = listener.accept()?;
        // The timeout ends a write to a client that does not read.
        let _ = stream.set_write_timeout(Some(PATIENCE));
        let _ = writeln!(stream, "{}", shared.summary().object);
    }
}

/// Requests the status of the agent that uses this run directory. Fails if no agent runs there or the agent does not
/// answer.
pub fn status(folder: &Path) -> Result<Value, SystemError> {
    let path = folder.join(SOCKET);
    let ask = || -> io::Result<String> {
        let mut stream = UnixStream::connect(&path)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    let text = ask().map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => SystemError {
            message: "no agent is running".to_owned(),
            help: format!(
                "no agent answers at `{}`; start an agent with `lasthop agent run`",
                path.display()
            ),
        },
        ErrorKind::WouldBlock | ErrorKind::TimedOut => SystemError {
            message: "the agent does not answer".to_owned(),
            help: "the process may be stopped (SIGSTOP); connections continue without the agent".to_owned(),
        },
        _ => SystemError {
            message: format!("cannot connect to the agent at `{}`: {error}", path.display()),
            help: "run this command as the agent's user, usually root".to_owned(),
        },
    })?;
    serde_json::from_str(&text).map_err(|error| SystemError {
        message: format!("the agent's answer cannot be read: {error}"),
        help:
            "the agent may have a different version: use the same version of lasthop for the agent and this \
               command"
                .to_owned(),
    })
}

/// Answers every HTTP request with the counters in Prometheus's text format 0.0.4. Idle clients do not block other
/// clients: if too many clients are idle, the oldest idle client is disconnected.
pub(crate) fn answer_metrics(shared: &Shared, listener: &TcpListener) -> io::Result<()> {
    listener.set_nonblocking(true)?;
    let mut waiting: VecDeque<(TcpStream, Instant)> = VecDeque::new();
    loop {
        wait(listener, &waiting)?;
        while let Some((stream, _)) = accepted(listener)? {
            if waiting.len() == MAX_WAITING {
                waiting.pop_front();
            }
            waiting.push_back((stream, Instant::now()));
        }
        waiting.retain_mut(|(stream, since)| match stream.read(&mut [0; 4096]) {
            // Every request has the same answer.
            Ok(1..) => {
                write_metrics(shared, stream);
                false
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => since.elapsed() < PATIENCE,
            Ok(0) | Err(_) => false,
        });
    }
}

/// Waits for a connection, a request, or the timeout of the oldest client.
fn wait(listener: &TcpListener, waiting: &VecDeque<(TcpStream, Instant)>) -> io::Result<()> {
    let clients = waiting.iter().map(|(stream, _)| stream.as_fd());
    let mut all: Vec<PollFd<'_>> =
        clients.chain([listener.as_fd()]).map(|file| PollFd::new(file, PollFlags::POLLIN)).collect();
    let left = waiting.front().map(|(_, since)| PATIENCE.saturating_sub(since.elapsed()));
    let timeout = left.map_or(PollTimeout::NONE, |left| {
        PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX)
    });
    match poll(&mut all, timeout) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

fn accepted(listener: &TcpListener) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    match listener.accept() {
        Ok((stream, address)) => {
            stream.set_nonblocking(true)?;
            Ok(Some((stream, address)))
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Sends the metrics. The answer fits into the socket buffer, so the write does not block.
fn write_metrics(shared: &Shared, stream: &mut TcpStream) {
    let body = metrics(shared);
    let _ = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
}

fn metrics(shared: &Shared) -> String {
    let mut text = String::new();
    for (name, help, count) in shared.counters.all() {
        let _ = write!(
            text,
            "# HELP lasthop_agent_{name}_total {help}\n# TYPE lasthop_agent_{name}_total counter\nlasthop_agent_{name}_total {count}\n"
        );
    }
    let summary = shared.summary().object;
    let _ = write!(
        text,
        "# HELP lasthop_agent_connections Connections in the table (handshake seen).\n\
         # TYPE lasthop_agent_connections gauge\nlasthop_agent_connections {}\n",
        summary["connections"]
    );
    text
}

/// Number of packets that the kernel dropped instead of queueing them; `None` if unknown.
fn dropped(queue: u16) -> Option<u64> {
    let text = fs::read_to_string("/proc/net/netfilter/nfnetlink_queue").ok()?;
    text.lines().find_map(|line| {
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        // Columns: queue number, port, packets waiting, copy mode, copy range, packets dropped by the queue, packets
        // dropped on the way to the process.
        (numbers.first() == Some(&u64::from(queue)) && numbers.len() > 6).then(|| numbers[5] + numbers[6])
    })
}

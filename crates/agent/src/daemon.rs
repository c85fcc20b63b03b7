//! Runs the agent: threads, locks and cleanup.
//!
//! Connections survive any failure of this process. If the process ends, the kernel closes the netfilter queue, the
//! firewall rule lets packets pass, and the [`watchdog`](crate::watchdog) removes the rule. If the process hangs, the
//! watchdog removes the rule after 0.3 s.

use crate::arrival::ArrivalClock;
use crate::counters::{AgentCounters, count};
use crate::flow::OutgoingAck;
use crate::inject::Inject;
use crate::kernel;
use crate::privilege;
use crate::program::{self, Program};
use crate::report::{self, Summary};
use crate::run_directory::RunDirectory;
use crate::settings::AckSettings;
use crate::table::{ConnectionTable, MAX_HEADERS};
use crate::tap::{Tap, Watcher};
use crate::watchdog::{CHECK_INTERVAL, Heartbeat, SILENCE, Watchdog};
use lasthop_base::{Duration, Time};
use lasthop_os::priority::RealTimePriority;
use lasthop_os::{Clock, SystemError, ends};
use lasthop_wire::bytes::rewrite;
use nfq::{Queue, Verdict};
use nix::fcntl::Flock;
use std::fs::{self, File};
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener};
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Options of an agent.
#[derive(Clone, Debug)]
pub struct AgentOptions {
    /// Settings for ACKs.
    pub settings: AckSettings,
    /// Requested data path.
    pub path: DataPath,
    /// Settings as text, for the output of `lasthop agent status`.
    pub words: String,
    /// Number of the netfilter queue (NFQUEUE).
    pub queue: u16,
    /// Maximum number of queued ACKs. If the queue is full, further ACKs pass unchanged.
    pub length: u32,
    /// Directory of the lock and the status socket.
    pub folder: PathBuf,
    /// Port of 127.0.0.1 at which Prometheus reads the counters. `None` disables the metrics.
    pub metrics: Option<u16>,
    /// Command-line arguments with which this program runs [`watchdog::run`](crate::watchdog::run). The agent appends
    /// `--queue N --run-dir DIR`.
    pub watchdog_arguments: Vec<String>,
}

/// Data path: the part of the system that rewrites ACKs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DataPath {
    /// In the kernel if possible, otherwise in user space.
    #[default]
    Auto,
    /// In the kernel, by a BPF program. The kind of attachment depends on the kernel's version.
    Bpf,
    /// In the kernel, by a BPF program that is attached as a clsact filter. This kind of attachment also works before
    /// Linux 6.6.
    Clsact,
    /// In user space: the kernel hands each ACK over to this process (NFQUEUE).
    Nfqueue,
}

/// A running agent. Dropping this value removes the agent's firewall rules or its kernel program.
pub struct Agent {
    // Rust drops fields in this order: the rules must be removed first and the lock released last.
    watchdog: Option<Watchdog>,
    fallback_reason: Option<String>,
    shared: Arc<Shared>,
    folder: RunDirectory,
    is_urgent: bool,
    _lock: Flock<File>,
}

pub(crate) struct Shared {
    core: Mutex<Core>,
    /// Heartbeat for the watchdog process; `None` once the agent begins to end.
    heartbeat: Mutex<Option<Heartbeat>>,
    pub(crate) clock: Clock,
    pub(crate) counters: Arc<AgentCounters>,
    pub(crate) options: AgentOptions,
    failure: Mutex<Option<SystemError>>,
}

pub(crate) struct Core {
    /// Packet socket; `None` if the kernel program runs, because that program reports packets itself.
    tap: Option<Tap>,
    arrivals: ArrivalClock,
    pub(crate) table: ConnectionTable,
    /// BPF program in the kernel that decides on each ACK of the kernel; if `None`, this process decides.
    pub(crate) program: Option<Program>,
}

/// Number of bytes that the kernel copies of each queued packet: more than the length of a pure ACK.
const COPIED_BYTES: u16 = 256;
pub(crate) const CLEANUP_INTERVAL: Duration = Duration::from_secs(10);

impl Agent {
    /// Starts an agent. Fails if another agent runs or if the system refuses a resource. A failed start leaves no
    /// rules, programs or processes behind.
    pub fn start(options: AgentOptions) -> Result<Agent, SystemError> {
        let lacking = privilege::missing();
        if !lacking.is_empty() {
            return Err(SystemError {
                message: format!("the agent needs {}", lacking.join(" and ")),
                help: "run it as root; `lasthop doctor` lists what else is missing".to_owned(),
            });
        }
        let folder = RunDirectory::open(&options.folder)?;
        let lock = lock(&folder)?;
        let (program, fallback_reason) = kernel::program(&options)?;
        // Variables drop in reverse order: first the heartbeat, then the watchdog.
        let (mut watchdog, mut heartbeat) = match program {
            Some(_) => (None, None),
            None => Some(Watchdog::start(&options)?).unzip(),
        };
        let queue = program.is_none().then(|| listen(options.queue, options.length)).transpose()?;
        let inject = program.is_none().then(Inject::open).transpose()?;
        let tap = program.is_none().then(Tap::open).transpose()?;
        let (tap, watcher) = match tap {
            Some(tap) => {
                let watcher =
                    tap.watcher().map_err(|error| failed("cannot watch the packet socket", &error))?;
                (Some(tap), Some(watcher))
            }
            None => (None, None),
        };
        let metrics = options.metrics.map(listen_for_metrics).transpose()?;
        let counters = Arc::new(AgentCounters::default());
        let mut table = ConnectionTable::new(options.settings.clone(), Arc::clone(&counters));
        if program.is_some() {
            table.collect_requests();
        }
        // The rules are added last, when the queue already has a listener.
        if let (Some(watchdog), Some(heartbeat)) = (&mut watchdog, &mut heartbeat) {
            watchdog.add_rules(heartbeat)?;
        }
        let status_listener = listen_for_status(&folder)?;
        let shared = Arc::new(Shared {
            core: Mutex::new(Core { tap, arrivals: ArrivalClock::default(), table, program }),
            heartbeat: Mutex::new(heartbeat),
            clock: Clock::new(),
            counters,
            options,
            failure: Mutex::new(None),
        });
        // From here on, dropping `agent` removes the rules.
        let mut agent = Agent { watchdog, fallback_reason, shared, folder, is_urgent: false, _lock: lock };
        let shared = &agent.shared;
        // Without real-time priority, a busy machine could delay an ACK in the agent for longer than the path does.
        let priority = RealTimePriority::begin();
        agent.is_urgent = priority.is_granted();
        privilege::drop_rest()?;
        match queue.zip(inject).zip(watcher) {
            Some(((queue, inject), watcher)) => {
                shared.spawn(move |shared| decide(shared, queue, &inject));
                shared.spawn(move |shared| watch(shared, &watcher));
            }
            None => shared.spawn(kernel::watch),
        }
        drop(priority);
        shared.spawn(move |shared| report::answer_status(shared, &status_listener));
        if let Some(listener) = metrics {
            shared.spawn(move |shared| report::answer_metrics(shared, &listener));
        }
        Ok(agent)
    }

    /// Whether the agent handles IPv6 in addition to IPv4.
    pub fn has_ipv6(&self) -> bool {
        self.watchdog.as_ref().map_or_else(ends::kernel_has_ipv6, Watchdog::has_ipv6)
    }

    /// Data path in use.
    pub fn path(&self) -> DataPath {
        if self.watchdog.is_some() { DataPath::Nfqueue } else { DataPath::Bpf }
    }

    /// Reason for the fallback from BPF to NFQUEUE, if any.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.fallback_reason.as_deref()
    }

    /// Whether decisions run with real-time priority (SCHED_FIFO).
    pub fn is_urgent(&self) -> bool {
        self.is_urgent
    }

    /// Error that ended a thread of the agent, if any. Connections then continue as without the agent.
    pub fn failure(&self) -> Option<SystemError> {
        lock_of(&self.shared.failure).clone()
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.inside(SOCKET));
        drop(lock_of(&self.shared.heartbeat).take());
        drop(self.shared.core().program.take());
    }
}

pub(crate) const SOCKET: &str = "agent.sock";
const LOCK: &str = "agent.lock";

impl Shared {
    pub(crate) fn summary(&self) -> Summary {
        let core = self.core();
        if let Some(program) = &core.program {
            program.count(&self.counters);
        }
        Summary::of(self, self.clock.now(), &core)
    }

    pub(crate) fn core(&self) -> MutexGuard<'_, Core> {
        lock_of(&self.core)
    }

    fn spawn(self: &Arc<Shared>, work: impl FnOnce(&Shared) -> io::Result<()> + Send + 'static) {
        let shared = Arc::clone(self);
        thread::spawn(move || {
            if let Err(error) = work(&shared) {
                *lock_of(&shared.failure) = Some(failed("a thread of the agent failed", &error));
            }
        });
    }
}

impl Core {
    /// Processes all packets observed since the last call, so that decisions consider every earlier packet. Returns the
    /// current time.
    pub(crate) fn process_packets(&mut self, clock: &Clock) -> Time {
        let now = self.arrivals.synchronize(clock);
        let mut buffer = [0; MAX_HEADERS];
        let Some(tap) = &mut self.tap else { return now };
        while let Some(observed) = tap.recv(&mut buffer) {
            let at = self.arrivals.time(observed.stamp, now);
            self.table.observe(at, observed.direction, observed.packet);
        }
        now
    }

    /// Processes events of the kernel program. Returns the current time and whether any event was processed.
    pub(crate) fn process_events(&mut self, clock: &Clock) -> io::Result<(Time, bool)> {
        let Some(program) = &mut self.program else { return Ok((clock.now(), false)) };
        let mut has_events = false;
        let (now, since) = (clock.now(), program::monotonic()?);
        let table = &mut self.table;
        program.process_events(|event| {
            // `since` and the event times are CLOCK_MONOTONIC, in ns. `now` is the same instant as `since`, but counts
            // from the agent's start.
            let time = |at: u64| Time::from_nanos(now.as_nanos().saturating_sub(since.saturating_sub(at)));
            has_events = true;
            table.record(time(event.at), event.direction, event.key, &event.segment, time(event.echoed));
        });
        Ok((now, has_events))
    }
}

fn decide(shared: &Shared, mut queue: Queue, inject: &Inject) -> io::Result<()> {
    let (mut acks, mut copy) = (Vec::new(), Vec::new());
    loop {
        let mut message = match queue.recv() {
            Ok(message) => message,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let is_changed = {
            let mut core = shared.core();
            let now = core.process_packets(&shared.clock);
            core.table.decide(now, message.get_payload(), &mut acks)
        };
        if is_changed && let Some((last, others)) = acks.split_last() {
            for ack in others {
                copy.clear();
                copy.extend_from_slice(message.get_payload());
                match send(inject, &mut copy, ack) {
                    Ok(()) => count(&shared.counters.acks_added),
                    Err(_) => count(&shared.counters.errors),
                }
            }
            if window_of(message.get_payload()) != Some(last.window) {
                match rewrite(message.get_payload_mut(), last.ack, last.window) {
                    Ok(()) => count(&shared.counters.acks_rewritten),
                    Err(_) => count(&shared.counters.errors),
                }
            }
        }
        message.set_verdict(Verdict::Accept);
        queue.verdict(message)?;
    }
}

fn send(inject: &Inject, packet: &mut [u8], ack: &OutgoingAck) -> io::Result<()> {
    rewrite(packet, ack.ack, ack.window).map_err(io::Error::other)?;
    let destination = destination(packet).ok_or(io::ErrorKind::InvalidData)?;
    inject.send(destination, packet)
}

fn destination(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => <[u8; 4]>::try_from(packet.get(16..20)?).ok().map(|bytes| Ipv4Addr::from(bytes).into()),
        _ => <[u8; 16]>::try_from(packet.get(24..40)?).ok().map(|bytes| Ipv6Addr::from(bytes).into()),
    }
}

fn window_of(packet: &[u8]) -> Option<u16> {
    let at = if packet.first()? >> 4 == 4 { usize::from(packet[0] & 0x0f) * 4 } else { 40 };
    Some(u16::from_be_bytes([*packet.get(at + 14)?, *packet.get(at + 15)?]))
}

/// Processes packets that arrive between ACKs, and sends heartbeats.
fn watch(shared: &Shared, watcher: &Watcher) -> io::Result<()> {
    let (mut last_cleanup, mut last_check, mut last_heartbeat) = (Time::ZERO, shared.clock.now(), Time::ZERO);
    loop {
        watcher.wait(None);
        let now = {
            let mut core = shared.core();
            let now = core.process_packets(&shared.clock);
            if now.since(last_check) > SILENCE {
                count(&shared.counters.lapses);
                core.table.lapse(now);
            }
            if now.since(last_cleanup) > CLEANUP_INTERVAL {
                core.table.remove_closed(now);
                last_cleanup = now;
            }
            now
        };
        last_check = now;
        if now.since(last_heartbeat) >= CHECK_INTERVAL.divided_by(2) {
            last_heartbeat = now;
            // The heartbeat is `None` if the agent is about to end.
            let Some(heartbeat) = &mut *lock_of(&shared.heartbeat) else { return Ok(()) };
            heartbeat.send()?;
        }
    }
}

fn lock(folder: &RunDirectory) -> Result<Flock<File>, SystemError> {
    let mut lock = folder.lock(LOCK, std::time::Duration::ZERO).map_err(|error| {
        error.unwrap_or_else(|| SystemError {
            message: format!("another agent is running: it has locked `{}`", folder.shown(LOCK).display()),
            help: "see `lasthop agent status`".to_owned(),
        })
    })?;
    // The process ID in the file only informs users; the lock does not depend on it.
    let _ = lock.set_len(0).and_then(|()| writeln!(lock, "{}", std::process::id()));
    Ok(lock)
}

fn listen_for_status(folder: &RunDirectory) -> Result<UnixListener, SystemError> {
    let path = folder.inside(SOCKET);
    // A killed agent leaves its socket behind.
    let _ = fs::remove_file(&path);
    UnixListener::bind(&path)
        .map_err(|error| failed(&format!("cannot create `{}`", folder.shown(SOCKET).display()), &error))
}

fn listen(number: u16, length: u32) -> Result<Queue, SystemError> {
    let open = || -> io::Result<Queue> {
        let mut queue = Queue::open()?;
        queue.bind(number)?;
        queue.set_copy_range(number, COPIED_BYTES)?;
        queue.set_queue_max_len(number, length)?;
        queue.set_fail_open(number, true)?;
        Ok(queue)
    };
    open().map_err(|error| SystemError {
        message: format!("cannot listen to NFQUEUE {number}: {error}"),
        help: "another program may use this queue (--queue N), or the kernel has no NFQUEUE: see `lasthop doctor`"
            .to_owned(),
    })
}

fn listen_for_metrics(port: u16) -> Result<TcpListener, SystemError> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| SystemError {
        message: format!("cannot listen on 127.0.0.1:{port}: {error}"),
        help: "choose another port for --metrics".to_owned(),
    })
}

fn failed(what: &str, error: &io::Error) -> SystemError {
    SystemError { message: format!("{what}: {error}"), help: "see `lasthop doctor`".to_owned() }
}

fn lock_of<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

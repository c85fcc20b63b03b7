//! Real packets between two TUN devices, over the links of a simulation, in real time.
//!
//! * `entrance`: which packet comes in next, and when the kernel handed it over.
//! * [`carriage`]: what the engine is told of a real packet, and what is written into it on the way.
//! * [`goodput`]: which flow a packet belongs to, and what the receivers have acknowledged.
//! * [`measured`]: how late packets were, what was lost, and whether that may be trusted.
//! * [`machine`]: how busy the machine was.
//! * [`now`]: the path while it runs, and what of it may be set.
//!
//! A packet joins its first link when the kernel handed it to the device, however late it is read, unless the links have
//! been computed beyond that already; everything after that is computed by the links, each departure from the one before.
//! That we are late in delivering one packet makes no other one late.

pub mod carriage;
mod entrance;
pub mod goodput;
pub mod machine;
pub mod measured;
pub mod now;

pub use carriage::Charge;
pub use measured::{Bounds, Lateness, Measured, Tally};
pub use now::{Now, Way};

use entrance::Entrance;
use goodput::{Connections, Part};
use lasthop_base::{Duration, Time};
use lasthop_capture::Capture;
use lasthop_engine::{Copied, Engine, Left, PipeId, Stuck};
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::port::Port;
use lasthop_os::tun::until;
use lasthop_wire::{Backlog, Ecn, FlowId, PerReason};
use std::collections::HashMap;
use std::io::Write;
use std::thread;

/// Which end of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The flow's source: the server.
    Server,
    /// The flow's destination: the client.
    Client,
}

impl End {
    /// Both.
    pub const BOTH: [End; 2] = [End::Server, End::Client];
}

/// What is to be emulated, and how.
pub struct Plan {
    /// Links, and whatever is simulated beside the real traffic. Flows 0 to `lanes` - 1 are external.
    pub engine: Engine,
    /// Flows that are external, at least 1.
    pub lanes: u32,
    /// What links charge.
    pub charge: Charge,
    /// How long before a packet is due we stop sleeping.
    pub spin: Duration,
    /// Time between samples; `None`: none are taken.
    pub sample: Option<Duration>,
    /// Names of the pipes, for captures: `wireless down`.
    pub pipes: Vec<String>,
}

/// The path at an instant.
#[derive(Clone, Debug)]
pub struct Sample {
    /// When.
    pub time: Time,
    /// What waits at each pipe.
    pub backlogs: Vec<Backlog>,
    /// Bytes delivered so far, headers included: to the server, to the client.
    pub delivered_bytes: [u64; 2],
    /// Packets lost so far, both directions together, by reason.
    pub lost: PerReason<u64>,
}

/// A path under real programs.
pub struct Emulation<W: Write> {
    plan: Plan,
    /// The server's, then the client's.
    ports: [Port; 2],
    clock: Clock,
    entrance: Entrance,
    /// Packets on their way, by number.
    under_way: HashMap<u64, UnderWay>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
    left: Vec<Left>,
    copies: Vec<Copied>,
    connections: Connections,
    measured: Measured,
    capture: Option<Capture<W>>,
    /// Why the capture ends early, if it does.
    unwritten: Option<SystemError>,
    samples: Vec<Sample>,
    next_sample: Time,
    recent: now::Recent,
    /// The time of the latest packet in the capture.
    recorded: Time,
}

/// A packet on its way.
struct UnderWay {
    bytes: Vec<u8>,
    /// How much later it joined than the kernel had handed it over.
    late: Duration,
    /// On its way to the client.
    forward: bool,
    /// Its payload, if it is TCP.
    part: Option<Part>,
}

/// Packets read from both devices before what is due is delivered.
const BATCH: usize = 128;
/// While packets pass we look only so often: what becomes due meanwhile is later by that at most.
const REST: Duration = Duration::from_micros(50);
/// However much there is to do we sleep for so long then: the kernel takes a processor away from a thread that runs before all
/// others for more than 95 % of the time (sched(7), sched_rt_runtime_us), for 50 ms.
const LEAST_REST: Duration = Duration::from_micros(10);
/// Buffers kept for use again.
const MOST_SPARE: usize = 4096;

impl<W: Write> Emulation<W> {
    /// A path between the server's and the client's device; its time begins now.
    pub fn new(mut plan: Plan, server: Port, client: Port) -> Emulation<W> {
        // Every hop by itself: what waits is true whenever it is looked at.
        plan.engine.unfuse();
        let connections = Connections::new(plan.lanes);
        Emulation {
            plan,
            ports: [server, client],
            clock: Clock::new(),
            entrance: Entrance::new(),
            under_way: HashMap::new(),
            spare: Vec::new(),
            left: Vec::new(),
            copies: Vec::new(),
            connections,
            measured: Measured::default(),
            capture: None,
            unwritten: None,
            samples: Vec::new(),
            next_sample: Time::ZERO,
            recent: now::Recent::default(),
            recorded: Time::ZERO,
        }
    }

    /// The names of a capture's interfaces: both ends, then each pipe for what is lost on it.
    pub fn interfaces(pipes: &[String]) -> Vec<String> {
        let ends = ["server", "client"].map(str::to_owned);
        ends.into_iter().chain(pipes.iter().map(|pipe| format!("{pipe} (dropped)"))).collect()
    }

    /// Writes what passes both ends, and what is lost, to a capture with [`Emulation::interfaces`].
    pub fn capture(&mut self, capture: Capture<W>) {
        self.capture = Some(capture);
    }

    /// The clock of everything that is measured here.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// What has been measured so far.
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Packets on their way: to the server, to the client.
    pub fn under_way(&self) -> [u64; 2] {
        End::BOTH.map(|end| {
            let is_there = |packet: &&UnderWay| packet.forward == (end == End::Client);
            self.under_way.values().filter(is_there).count() as u64
        })
    }

    /// Number of connections that have begun.
    pub fn begun(&self) -> u32 {
        self.connections.begun()
    }

    /// Samples so far.
    pub fn samples(&self) -> &[Sample] {
        &self.samples
    }

    /// Ends: closes the devices, and gives back the capture's writer.
    ///
    /// # Errors
    /// If the capture could not be written to its end. Packets have passed all the same.
    pub fn finish(self) -> Result<Option<W>, SystemError> {
        if let Some(error) = self.unwritten {
            return Err(error);
        }
        self.capture.map(Capture::finish).transpose().map_err(|error| unwritable(&error))
    }

    /// Lets packets in and out, and waits until it is time to do that again, `patience` at most: while packets pass, for a
    /// fixed time in which nothing wakes us; otherwise until something is due or comes in.
    ///
    /// # Errors
    /// If a device is gone.
    pub fn turn(&mut self, patience: Duration) -> Result<(), SystemError> {
        let began = self.clock.now();
        let entered = self.let_in()?;
        // Not beyond what is known: what has been handed over since then would join too late.
        let known = self.entrance.known();
        self.plan.engine.run_until(known.unwrap_or(Time::ZERO).max(self.plan.engine.now()));
        if let Some(stuck) = self.plan.engine.stuck() {
            return Err(stands_still(&stuck));
        }
        let delivered = self.let_out()?;
        self.sample(began);
        if known.is_none() {
            return Ok(());
        }
        let now = self.clock.now();
        if entered + delivered > 0 && self.plan.spin == Duration::ZERO {
            let rest = (began + REST).max(now + LEAST_REST);
            thread::sleep(std::time::Duration::from_nanos(until(now, rest).as_nanos()));
            return Ok(());
        }
        let due = self.plan.engine.next_event().unwrap_or(Time::NEVER);
        let wakes = Time::from_nanos(due.as_nanos().saturating_sub(self.plan.spin.as_nanos()));
        if wakes > now {
            Port::wait_for_any(self.ports.each_ref(), until(now, wakes.min(now + patience)))?;
        }
        Ok(())
    }

    /// Whether it is seen when the kernel hands packets over: if not, they join when they are read.
    pub fn sees_entries(&self) -> bool {
        self.ports.iter().all(Port::is_watched)
    }

    fn let_in(&mut self) -> Result<usize, SystemError> {
        self.entrance.begin();
        for count in 0..BATCH {
            let Some((end, read)) = self.entrance.next(&mut self.ports, &self.clock, &mut self.spare)? else {
                return Ok(count);
            };
            let joins = read.at.max(self.plan.engine.now());
            let late = joins.since(read.at);
            self.plan.engine.run_until(joins);
            self.measured.enter(joins, end, late);
            self.record(end as usize, joins, &read.bytes, None);
            let (entering, ends) = carriage::entering(&read.bytes, end == End::Server, self.plan.charge);
            let (lane, part) = self.connections.enter(&entering, ends.as_ref(), &mut self.measured);
            let number = self.plan.engine.inject(FlowId(lane), &entering);
            let forward = entering.forward;
            self.under_way.insert(number, UnderWay { bytes: read.bytes, late, forward, part });
        }
        Ok(BATCH)
    }

    /// What links have made two of gets bytes of its own, before either leaves.
    fn copy(&mut self) {
        self.plan.engine.take_copies(&mut self.copies);
        for Copied { number, of, forward } in self.copies.drain(..) {
            if let Some(original) = self.under_way.get(&of) {
                let mut bytes = self.spare.pop().unwrap_or_default();
                bytes.clear();
                bytes.extend_from_slice(&original.bytes);
                let copy = UnderWay { bytes, ..*original };
                self.under_way.insert(number, copy);
                self.measured.copy(forward);
            }
        }
    }

    /// Delivers what has arrived, forgets what is lost: how many they were.
    fn let_out(&mut self) -> Result<usize, SystemError> {
        self.copy();
        self.plan.engine.take_left(&mut self.left);
        let mut left = std::mem::take(&mut self.left);
        let count = left.len();
        for one in left.drain(..) {
            let Some(UnderWay { mut bytes, late, part, .. }) = self.under_way.remove(&one.number) else {
                continue;
            };
            match one.lost {
                Some((PipeId(pipe), reason)) => {
                    self.measured.lose(one.forward, reason);
                    if self.capture.is_some() {
                        let why = self.plan.pipes.get(pipe as usize).map_or("the path", String::as_str);
                        let why = format!("lost on {why}: {}", reason.name());
                        self.record(2 + pipe as usize, one.at, &bytes, Some(&why));
                    }
                }
                None => {
                    if one.ecn == Ecn::Ce {
                        carriage::mark(&mut bytes);
                    }
                    let end = if one.forward { End::Client } else { End::Server };
                    if one.damaged {
                        carriage::damage(&mut bytes, one.number);
                        self.measured.damage(end);
                    }
                    // The kernel may see at once that it is damaged: in its version.
                    let taken = self.ports[end as usize].send(&bytes)? || one.damaged;
                    if let Some(part) = part.filter(|_| taken) {
                        self.connections.deliver(part, end);
                    }
                    let now = self.clock.now();
                    // When it would have been, had it joined in time.
                    let due = Time::from_nanos(one.at.as_nanos().saturating_sub(late.as_nanos()));
                    self.measured.deliver(due, now, end, bytes.len(), taken);
                    self.recent.deliver(now.since(due));
                    self.record(end as usize, now, &bytes, None);
                }
            }
            if self.spare.len() < MOST_SPARE {
                self.spare.push(bytes);
            }
        }
        self.left = left;
        Ok(count)
    }

    /// Writes a packet to the capture; after a mistake, nothing more.
    fn record(&mut self, interface: usize, now: Time, packet: &[u8], comment: Option<&str>) {
        let Some(capture) = &mut self.capture else { return };
        // In the order of time: a packet may have been handed over before we delivered another one, and be read after it.
        let now = now.max(self.recorded);
        self.recorded = now;
        if let Err(error) = capture.packet(interface, now, packet, packet.len() as u32, comment) {
            self.capture = None;
            self.unwritten = Some(unwritable(&error));
        }
    }

    fn sample(&mut self, now: Time) {
        let Some(every) = self.plan.sample else { return };
        if now < self.next_sample {
            return;
        }
        self.next_sample = (now + Duration::from_nanos(1)).round_up(every);
        let engine = &mut self.plan.engine;
        let backlogs = (0..self.plan.pipes.len()).map(|pipe| engine.backlog(PipeId(pipe as u32))).collect();
        self.samples.push(Sample {
            time: now,
            backlogs,
            delivered_bytes: self.measured.tallies.each_ref().map(|tally| tally.delivered_bytes),
            lost: PerReason::new(|reason| self.measured.tallies.iter().map(|tally| tally.lost[reason]).sum()),
        });
    }
}

/// The path's time does not pass ([`Engine::stuck`]).
fn stands_still(stuck: &Stuck) -> SystemError {
    let at = stuck.at.since(Time::ZERO);
    SystemError::new(
        format!("the path stands still at {at}: a timer in it is due again and again at that time"),
        "raise those times of its middlebox, queue and link layer that are 0 s; `lasthop run` with the same path names \
         the timer",
    )
}

fn unwritable(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot write the capture: {error}"), "is the disk full?")
}

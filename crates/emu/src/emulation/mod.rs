//! Forwards real packets between two TUN devices in real time, over the links of a simulation.
//!
//! A packet joins its first link at the time at which the kernel handed it over, even if this process reads the packet
//! later. If the engine has already passed that time, the packet joins at the engine's current time. Links compute each
//! departure from the previous departure, so a late delivery to a device delays no other packet.

pub mod carriage;
mod entrance;
pub mod goodput;
pub mod machine;
pub mod measurements;
pub mod path_state;

pub use carriage::Charge;
pub use measurements::{Bounds, EndCounters, Lateness, Measurements};
pub use path_state::{DirectionState, PathState};

use entrance::Entrance;
use goodput::{Connections, PayloadRange};
use lasthop_base::{Duration, Time};
use lasthop_capture::Capture;
use lasthop_engine::{Departure, Engine, ExternalCopy, PipeId, Stuck};
use lasthop_os::clock::Clock;
use lasthop_os::error::SystemError;
use lasthop_os::port::Port;
use lasthop_os::tun::until;
use lasthop_wire::{Backlog, Ecn, FlowId, PerReason};
use std::collections::HashMap;
use std::io::Write;
use std::thread;

/// An end of the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The flow's source: the server.
    Server,
    /// The flow's destination: the client.
    Client,
}

impl End {
    /// Both ends.
    pub const BOTH: [End; 2] = [End::Server, End::Client];
}

/// Plan of an emulation.
pub struct EmulationPlan {
    /// Links and simulated cross traffic. Flows 0 to `external_flows` - 1 carry real packets (external flows).
    pub engine: Engine,
    /// Number of external flows, at least 1.
    pub external_flows: u32,
    /// Packet size with which links compute transmission times.
    pub charge: Charge,
    /// Time for which the process busy-waits before a packet is due.
    pub spin: Duration,
    /// Interval of samples. `None` disables samples.
    pub sample: Option<Duration>,
    /// Names of the pipes, for captures; for example `wireless down`. A pipe is one direction of a link.
    pub pipes: Vec<String>,
}

/// State of the path at an instant.
#[derive(Clone, Debug)]
pub struct PathSnapshot {
    /// Time of the sample.
    pub time: Time,
    /// Backlog of each pipe (one direction of a link).
    pub backlogs: Vec<Backlog>,
    /// Bytes delivered so far, headers included: first those to the server, then those to the client.
    pub delivered_bytes: [u64; 2],
    /// Number of packets lost so far in both directions, by reason.
    pub lost: PerReason<u64>,
}

/// An emulated path between real programs.
pub struct Emulation<W: Write> {
    plan: EmulationPlan,
    ports: [Port; 2],
    clock: Clock,
    entrance: Entrance,
    in_flight: HashMap<u64, InFlight>,
    spare: Vec<Vec<u8>>,
    left: Vec<Departure>,
    copies: Vec<ExternalCopy>,
    connections: Connections,
    measurements: Measurements,
    capture: Option<Capture<W>>,
    capture_error: Option<SystemError>,
    samples: Vec<PathSnapshot>,
    next_sample: Time,
    recent: path_state::RecentLateness,
    /// Time of the latest packet in the capture.
    recorded: Time,
}

struct InFlight {
    bytes: Vec<u8>,
    /// Time from the kernel's hand-over to the packet's entry into the engine.
    late: Duration,
    forward: bool,
    payload: Option<PayloadRange>,
}

const BATCH: usize = 128;
/// Interval of checks while packets pass. A packet that becomes due between two checks is late by at most this
/// interval.
const REST: Duration = Duration::from_micros(50);
/// Shortest sleep, even under load. The kernel suspends a real-time thread for 50 ms if the thread runs for more than
/// 95 % of the time (sched(7), sched_rt_runtime_us).
const LEAST_REST: Duration = Duration::from_micros(10);
const MAX_SPARE: usize = 4096;

impl<W: Write> Emulation<W> {
    /// Creates a path between the two devices. The time of the path starts now.
    pub fn new(mut plan: EmulationPlan, server: Port, client: Port) -> Emulation<W> {
        // The engine must handle hops separately, so that backlogs are right at any time.
        plan.engine.unfuse();
        let connections = Connections::new(plan.external_flows);
        Emulation {
            plan,
            ports: [server, client],
            clock: Clock::new(),
            entrance: Entrance::new(),
            in_flight: HashMap::new(),
            spare: Vec::new(),
            left: Vec::new(),
            copies: Vec::new(),
            connections,
            measurements: Measurements::default(),
            capture: None,
            capture_error: None,
            samples: Vec::new(),
            next_sample: Time::ZERO,
            recent: path_state::RecentLateness::default(),
            recorded: Time::ZERO,
        }
    }

    /// Names of a capture's interfaces: server, client, then one interface per pipe for the packets lost on that pipe.
    pub fn interfaces(pipes: &[String]) -> Vec<String> {
        let ends = ["server", "client"].map(str::to_owned);
        ends.into_iter().chain(pipes.iter().map(|pipe| format!("{pipe} (dropped)"))).collect()
    }

    /// Captures the packets at both ends and the lost packets. `capture` must have the interfaces of
    /// [`Emulation::interfaces`].
    pub fn capture(&mut self, capture: Capture<W>) {
        self.capture = Some(capture);
    }

    /// Clock of all measurements.
    pub fn clock(&self) -> Clock {
        self.clock
    }

    /// Measurements so far.
    pub fn measurements(&self) -> &Measurements {
        &self.measurements
    }

    /// Number of packets in flight to the server, then number of packets in flight to the client.
    pub fn in_flight(&self) -> [u64; 2] {
        End::BOTH.map(|end| {
            let is_towards = |packet: &&InFlight| packet.forward == (end == End::Client);
            self.in_flight.values().filter(is_towards).count() as u64
        })
    }

    /// Number of connections that have begun.
    pub fn begun(&self) -> u32 {
        self.connections.begun()
    }

    /// Samples so far.
    pub fn samples(&self) -> &[PathSnapshot] {
        &self.samples
    }

    /// Closes the devices and returns the capture's writer. Fails if the capture is incomplete; such a failure does not
    /// affect the emulation.
    pub fn finish(self) -> Result<Option<W>, SystemError> {
        if let Some(error) = self.capture_error {
            return Err(error);
        }
        self.capture.map(Capture::finish).transpose().map_err(|error| unwritable(&error))
    }

    /// Reads and delivers packets, then waits at most `patience`. The wait ends when a packet arrives or becomes due.
    /// While packets pass and [`EmulationPlan::spin`] is 0, the wait is a fixed sleep instead. Fails if a device no
    /// longer exists or if the path's time does not advance.
    pub fn turn(&mut self, patience: Duration) -> Result<(), SystemError> {
        let began = self.clock.now();
        let entered = self.read_packets()?;
        // The engine must not run beyond `known`. Packets that the kernel handed over after `known` are not read yet
        // and would join too late.
        let known = self.entrance.known();
        self.plan.engine.run_until(known.unwrap_or(Time::ZERO).max(self.plan.engine.now()));
        if let Some(stuck) = self.plan.engine.stuck() {
            return Err(stands_still(&stuck));
        }
        let delivered = self.deliver_packets()?;
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

    /// Returns whether the devices report hand-over times. If the devices do not, packets join when they are read.
    pub fn sees_entries(&self) -> bool {
        self.ports.iter().all(Port::records_handovers)
    }

    fn read_packets(&mut self) -> Result<usize, SystemError> {
        self.entrance.begin();
        for count in 0..BATCH {
            let Some((end, read)) = self.entrance.next(&mut self.ports, &self.clock, &mut self.spare)? else {
                return Ok(count);
            };
            let joins = read.at.max(self.plan.engine.now());
            let late = joins.since(read.at);
            self.plan.engine.run_until(joins);
            self.measurements.enter(joins, end, late);
            self.record(end as usize, joins, &read.bytes, None);
            let (entering, ends) = carriage::entering(&read.bytes, end == End::Server, self.plan.charge);
            let (external_flow, payload) =
                self.connections.enter(&entering, ends.as_ref(), &mut self.measurements);
            let number = self.plan.engine.inject(FlowId(external_flow), &entering);
            let forward = entering.forward;
            self.in_flight.insert(number, InFlight { bytes: read.bytes, late, forward, payload });
        }
        Ok(BATCH)
    }

    /// Copies the bytes of packets that links have duplicated. Must be called before the original or the copy leaves
    /// the path.
    fn copy(&mut self) {
        self.plan.engine.take_copies(&mut self.copies);
        for ExternalCopy { number, original: of, forward } in self.copies.drain(..) {
            if let Some(original) = self.in_flight.get(&of) {
                let mut bytes = self.spare.pop().unwrap_or_default();
                bytes.clear();
                bytes.extend_from_slice(&original.bytes);
                let copy = InFlight { bytes, ..*original };
                self.in_flight.insert(number, copy);
                self.measurements.copy(forward);
            }
        }
    }

    /// Delivers arrived packets and discards lost packets. Returns the number of packets that have left the path.
    fn deliver_packets(&mut self) -> Result<usize, SystemError> {
        self.copy();
        self.plan.engine.take_departures(&mut self.left);
        let mut left = std::mem::take(&mut self.left);
        let count = left.len();
        for one in left.drain(..) {
            let Some(InFlight { mut bytes, late, payload, .. }) = self.in_flight.remove(&one.number) else {
                continue;
            };
            match one.lost {
                Some((PipeId(pipe), reason)) => {
                    self.measurements.lose(one.forward, reason);
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
                        self.measurements.damage(end);
                    }
                    // The kernel may reject a damaged packet at once if its version field is wrong. Such a packet still
                    // counts as accepted.
                    let is_accepted = self.ports[end as usize].send(&bytes)? || one.damaged;
                    if let Some(payload) = payload.filter(|_| is_accepted) {
                        self.connections.deliver(payload, end);
                    }
                    let now = self.clock.now();
                    // Time at which the packet would have been due if it had entered without delay.
                    let due = Time::from_nanos(one.at.as_nanos().saturating_sub(late.as_nanos()));
                    self.measurements.deliver(due, now, end, bytes.len(), is_accepted);
                    self.recent.deliver(now.since(due));
                    self.record(end as usize, now, &bytes, None);
                }
            }
            if self.spare.len() < MAX_SPARE {
                self.spare.push(bytes);
            }
        }
        self.left = left;
        Ok(count)
    }

    /// Writes a packet to the capture. After the first error nothing more is captured.
    fn record(&mut self, interface: usize, now: Time, packet: &[u8], comment: Option<&str>) {
        let Some(capture) = &mut self.capture else { return };
        // Capture times must not decrease, but a packet may be read after the delivery of a packet with a later time.
        let now = now.max(self.recorded);
        self.recorded = now;
        if let Err(error) = capture.packet(interface, now, packet, packet.len() as u32, comment) {
            self.capture = None;
            self.capture_error = Some(unwritable(&error));
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
        self.samples.push(PathSnapshot {
            time: now,
            backlogs,
            delivered_bytes: self.measurements.counters.each_ref().map(|end| end.delivered_bytes),
            lost: PerReason::new(|reason| {
                self.measurements.counters.iter().map(|end| end.lost[reason]).sum()
            }),
        });
    }
}

fn stands_still(stuck: &Stuck) -> SystemError {
    let at = stuck.at.since(Time::ZERO);
    SystemError::new(
        format!(
            "the path's time does not advance beyond {at}: one of its timers expires repeatedly at that time"
        ),
        "raise the times of middleboxes, queues and link layers that are 0 s; `lasthop run` with the same path names \
         the timer",
    )
}

fn unwritable(error: &std::io::Error) -> SystemError {
    SystemError::new(format!("cannot write the capture: {error}"), "is the disk full?")
}

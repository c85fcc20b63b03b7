//! Streams over an emulated path for a given time; `lasthop crosscheck` compares the results with a simulation.

mod kernel_tcp;
mod own_tcp;
pub mod settings;
mod tally;

pub use settings::Settings;
pub use tally::Progress;

use crate::emulation::machine::{Load, Ticks};
use crate::emulation::{Bounds, Emulation, End, Lateness, Plan};
use crate::kernel::Watch;
use lasthop_base::{Duration, Time};
use lasthop_os::clock::Clock;
use lasthop_os::ends::PathEnds;
use lasthop_os::error::SystemError;
use lasthop_os::priority::RealTimePriority;
use lasthop_tcp::Config;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use tally::Tally;

/// A stream from one end to the other.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Sending end.
    pub sender: End,
    /// Time at which the sender connects.
    pub start: Time,
    /// Number of bytes; `None`: the stream lasts until the end of the trial.
    pub bytes: Option<u64>,
}

impl Stream {
    fn from(&self) -> usize {
        self.sender as usize
    }

    fn to(&self) -> usize {
        1 - self.from()
    }
}

/// TCP implementation that carries the streams.
#[derive(Clone, Debug)]
pub enum Tcp {
    /// The kernel's at both ends.
    Kernel {
        /// Names of the streams' congestion controls: `cubic`.
        congestion: Vec<String>,
        /// Further kernel settings.
        settings: Settings,
    },
    /// Ours at both ends: for each stream the configurations of sender and receiver.
    Own(Vec<[Config; 2]>),
    /// Ours at the sending end, the kernel's at the other.
    OwnToKernel {
        /// For each stream the sender's configuration; the receiver's is unused.
        configs: Vec<[Config; 2]>,
        /// Kernel settings.
        settings: Settings,
    },
}

/// One repetition of a crosscheck.
#[derive(Clone, Debug)]
pub struct Trial {
    /// TCP implementation.
    pub tcp: Tcp,
    /// Streams to carry.
    pub streams: Vec<Stream>,
    /// Duration in real time.
    pub duration: Duration,
    /// MTU of the devices, bytes.
    pub mtu: u16,
}

/// Result of a trial.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Results in the order of the streams.
    pub streams: Vec<Progress>,
    /// Reasons to distrust the result; empty if valid.
    pub complaints: Vec<String>,
    /// Lateness of packet deliveries.
    pub lateness: Lateness,
    /// Load of the machine.
    pub load: Option<Load>,
}

const PATIENCE: Duration = Duration::from_millis(5);

impl Trial {
    /// Runs the trial. `prepare` may set up the ends before the streams begin; its result lives until they end.
    /// `is_over` returns true if the user wants to stop. Fails if the system refuses a resource or a stream fails.
    pub fn run<P: FnOnce(&PathEnds) -> Result<Box<dyn Any>, SystemError>>(
        &self,
        plan: Plan,
        prepare: P,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Outcome, SystemError> {
        let (ends, [server, client]) = PathEnds::build(self.mtu)?;
        let tally = Tally::new(self.streams.len());
        let ready = self.open(&ends)?;
        let kept = prepare(&ends)?;
        let mut emulation: Emulation<std::io::Sink> = Emulation::new(plan, server, client);
        let over = AtomicBool::new(false);
        let run =
            Run { clock: emulation.clock(), end: Time::ZERO + self.duration, over: &over, tally: &tally };
        let ticks = Ticks::now();
        let done = std::thread::scope(|scope| {
            let watch = ready.begin(scope, &ends, run)?;
            // Only afterwards: threads started later would inherit the priority.
            let priority = RealTimePriority::begin();
            let done = carry(&mut emulation, run, is_over);
            drop(priority);
            if let Some(watch) = watch {
                tally.take(&watch.finish());
            }
            over.store(true, Ordering::Relaxed);
            done
        });
        drop(kept);
        done.and_then(|()| tally.error())?;
        let load = ticks.zip(Ticks::now()).and_then(|(before, after)| before.until(&after));
        let measured = emulation.measured();
        let mut complaints = measured.complaints(&Bounds::USUAL, ends.lost_in_devices());
        complaints.extend(tally.complaint());
        Ok(Outcome {
            streams: tally.progress(&self.streams, run.end),
            complaints,
            lateness: measured.lateness(),
            load,
        })
    }

    fn open(&self, ends: &PathEnds) -> Result<Ready, SystemError> {
        let streams = &self.streams;
        let mut ready = Ready::default();
        match &self.tcp {
            Tcp::Kernel { congestion, settings } => {
                kernel_tcp::check(ends, congestion)?;
                settings.with_congestion(congestion).apply(ends)?;
                ready.receivers = kernel_tcp::receivers(ends, streams)?;
                ready.senders = kernel_tcp::senders(ends, streams, congestion)?;
            }
            Tcp::Own(configs) => ready.sides = own_tcp::open(ends, streams, configs, false, self.mtu)?,
            Tcp::OwnToKernel { configs, settings } => {
                settings.apply(ends)?;
                ready.receivers = kernel_tcp::receivers(ends, streams)?;
                ready.sides = own_tcp::open(ends, streams, configs, true, self.mtu)?;
            }
        }
        Ok(ready)
    }
}

#[derive(Clone, Copy)]
struct Run<'a> {
    clock: Clock,
    end: Time,
    over: &'a AtomicBool,
    tally: &'a Tally,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Sleeps until this time or the end of the trial; returns false at the end.
    fn reaches(&self, time: Time) -> bool {
        while !self.is_over() {
            let left = time.since(self.clock.now());
            if left == Duration::ZERO {
                return true;
            }
            std::thread::sleep(std::time::Duration::from_nanos(left.as_nanos().min(50_000_000)));
        }
        false
    }
}

#[derive(Default)]
struct Ready {
    receivers: Vec<kernel_tcp::Receiver>,
    senders: Vec<kernel_tcp::Sender>,
    sides: Vec<own_tcp::Side>,
}

impl Ready {
    fn begin<'scope, 'all>(
        self,
        scope: &'scope std::thread::Scope<'scope, 'all>,
        ends: &PathEnds,
        run: Run<'all>,
    ) -> Result<Option<Watch>, SystemError> {
        let watch = (!self.senders.is_empty()).then(|| kernel_tcp::watch(ends, run.clock)).transpose()?;
        self.receivers.into_iter().for_each(|receiver| receiver.begin(scope, run));
        self.senders.into_iter().for_each(|sender| sender.begin(scope, run));
        for side in self.sides {
            scope.spawn(move || {
                // An endpoint that answers late sends bursts, which overflow queues.
                let _hurry = RealTimePriority::begin();
                run.tally.heed(side.serve(run));
            });
        }
        Ok(watch)
    }
}

/// Carries packets until the end; later deliveries do not count.
fn carry(
    emulation: &mut Emulation<std::io::Sink>,
    run: Run<'_>,
    is_over: &dyn Fn() -> bool,
) -> Result<(), SystemError> {
    loop {
        let left = run.end.since(run.clock.now());
        if left == Duration::ZERO || run.tally.is_done() || is_over() {
            run.tally.freeze();
            return Ok(());
        }
        emulation.turn(PATIENCE.min(left))?;
    }
}

//! Streams over an emulated path for a given time; `lasthop crosscheck` compares the results with a simulation.

mod kernel_tcp;
mod own_tcp;
pub mod settings;
mod stream_results;

pub use settings::KernelSettings;
pub use stream_results::StreamResult;

use crate::emulation::machine::{Load, Ticks};
use crate::emulation::{Bounds, Emulation, EmulationPlan, End, Lateness};
use crate::kernel::ConnectionSampler;
use lasthop_base::{Duration, Time};
use lasthop_os::clock::Clock;
use lasthop_os::ends::PathEnds;
use lasthop_os::error::SystemError;
use lasthop_os::priority::RealTimePriority;
use lasthop_tcp::Config;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use stream_results::StreamResults;

/// A stream from one end of the path to the opposite end.
#[derive(Clone, Debug)]
pub struct TrialStream {
    /// Sending end.
    pub sender: End,
    /// Time at which the sender connects.
    pub start: Time,
    /// Number of bytes. If `None`, the stream lasts until the end of the trial.
    pub bytes: Option<u64>,
}

impl TrialStream {
    fn from(&self) -> usize {
        self.sender as usize
    }

    fn to(&self) -> usize {
        1 - self.from()
    }
}

/// TCP implementation that carries the streams of a trial.
#[derive(Clone, Debug)]
pub enum Tcp {
    /// The kernel's TCP at both ends.
    Kernel {
        /// Names of the congestion controls of the streams, like `cubic`.
        congestion: Vec<String>,
        /// Further kernel settings.
        settings: KernelSettings,
    },
    /// Lasthop's TCP at both ends, with the configurations of sender and receiver for each stream.
    Own(Vec<[Config; 2]>),
    /// Lasthop's TCP at the sending end, the kernel's TCP at the receiving end.
    OwnToKernel {
        /// Configurations of sender and receiver for each stream; the receiver's configuration is unused.
        configs: Vec<[Config; 2]>,
        /// Kernel settings.
        settings: KernelSettings,
    },
}

/// One repetition of a crosscheck.
#[derive(Clone, Debug)]
pub struct Trial {
    /// TCP implementation.
    pub tcp: Tcp,
    /// Streams to carry.
    pub streams: Vec<TrialStream>,
    /// Duration in real time.
    pub duration: Duration,
    /// MTU of the devices, bytes.
    pub mtu: u16,
}

/// Result of a trial.
#[derive(Clone, Debug)]
pub struct TrialOutcome {
    /// Results in the order of the streams.
    pub streams: Vec<StreamResult>,
    /// Reasons to distrust the result; empty if valid.
    pub complaints: Vec<String>,
    /// Lateness of packet deliveries.
    pub lateness: Lateness,
    /// Load of the machine.
    pub load: Option<Load>,
}

const PATIENCE: Duration = Duration::from_millis(5);

impl Trial {
    /// Runs the trial. `prepare` may set up the ends before the streams begin; its return value is dropped after the
    /// streams end. `is_over` returns true if the user wants to stop. Fails if the system refuses a resource or a
    /// stream fails.
    pub fn run<P: FnOnce(&PathEnds) -> Result<Box<dyn Any>, SystemError>>(
        &self,
        plan: EmulationPlan,
        prepare: P,
        is_over: &dyn Fn() -> bool,
    ) -> Result<TrialOutcome, SystemError> {
        let (ends, [server, client]) = PathEnds::build(self.mtu)?;
        let results = StreamResults::new(self.streams.len());
        let ready = self.open(&ends)?;
        let prepared = prepare(&ends)?;
        let mut emulation: Emulation<std::io::Sink> = Emulation::new(plan, server, client);
        let has_ended = AtomicBool::new(false);
        let context = TrialContext {
            clock: emulation.clock(),
            end: Time::ZERO + self.duration,
            is_over: &has_ended,
            results: &results,
        };
        let ticks = Ticks::now();
        let done = std::thread::scope(|scope| {
            let sampler = ready.begin(scope, &ends, context)?;
            // The priority is raised after the other threads have started: a thread started later would inherit it.
            let priority = RealTimePriority::begin();
            let done = carry(&mut emulation, context, is_over);
            drop(priority);
            if let Some(sampler) = sampler {
                results.record_samples(&sampler.finish());
            }
            has_ended.store(true, Ordering::Relaxed);
            done
        });
        drop(prepared);
        done.and_then(|()| results.error())?;
        let load = ticks.zip(Ticks::now()).and_then(|(before, after)| before.until(&after));
        let measurements = emulation.measurements();
        let mut complaints = measurements.complaints(&Bounds::USUAL, ends.lost_in_devices());
        complaints.extend(results.complaint());
        Ok(TrialOutcome {
            streams: results.per_stream(&self.streams, context.end),
            complaints,
            lateness: measurements.lateness(),
            load,
        })
    }

    fn open(&self, ends: &PathEnds) -> Result<PreparedTrial, SystemError> {
        let streams = &self.streams;
        let mut ready = PreparedTrial::default();
        match &self.tcp {
            Tcp::Kernel { congestion, settings } => {
                kernel_tcp::check(ends, congestion)?;
                settings.with_congestion(congestion).apply(ends)?;
                ready.receivers = kernel_tcp::receivers(ends, streams)?;
                ready.senders = kernel_tcp::senders(ends, streams, congestion, settings.paces)?;
            }
            Tcp::Own(configs) => ready.hosts = own_tcp::open(ends, streams, configs, false, self.mtu)?,
            Tcp::OwnToKernel { configs, settings } => {
                settings.apply(ends)?;
                ready.receivers = kernel_tcp::receivers(ends, streams)?;
                ready.hosts = own_tcp::open(ends, streams, configs, true, self.mtu)?;
            }
        }
        Ok(ready)
    }
}

#[derive(Clone, Copy)]
struct TrialContext<'a> {
    clock: Clock,
    end: Time,
    is_over: &'a AtomicBool,
    results: &'a StreamResults,
}

impl TrialContext<'_> {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Sleeps until this time or the end of the trial; returns false if the trial has ended.
    fn sleep_until(&self, time: Time) -> bool {
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
struct PreparedTrial {
    receivers: Vec<kernel_tcp::KernelReceiver>,
    senders: Vec<kernel_tcp::KernelSender>,
    hosts: Vec<own_tcp::EndpointHost>,
}

impl PreparedTrial {
    fn begin<'scope, 'all>(
        self,
        scope: &'scope std::thread::Scope<'scope, 'all>,
        ends: &PathEnds,
        context: TrialContext<'all>,
    ) -> Result<Option<ConnectionSampler>, SystemError> {
        let sampler =
            (!self.senders.is_empty()).then(|| kernel_tcp::sampler(ends, context.clock)).transpose()?;
        self.receivers.into_iter().for_each(|receiver| receiver.begin(scope, context));
        self.senders.into_iter().for_each(|sender| sender.begin(scope, context));
        for host in self.hosts {
            scope.spawn(move || {
                // An endpoint that answers late sends bursts, which overflow queues.
                let _hurry = RealTimePriority::begin();
                context.results.record_error(host.serve(context));
            });
        }
        Ok(sampler)
    }
}

/// Forwards packets until the end of the trial. Packets that arrive after the end do not count.
fn carry(
    emulation: &mut Emulation<std::io::Sink>,
    context: TrialContext<'_>,
    is_over: &dyn Fn() -> bool,
) -> Result<(), SystemError> {
    loop {
        let left = context.end.since(context.clock.now());
        if left == Duration::ZERO || context.results.is_done() || is_over() {
            context.results.freeze();
            return Ok(());
        }
        emulation.turn(PATIENCE.min(left))?;
    }
}

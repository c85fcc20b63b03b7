//! Streams of bytes over an emulated path, for a given time: what `lasthop crosscheck` compares with a simulation.
//!
//! * [`settings`]: what the kernel is told, so that its TCP is as near as can be to one of ours.
//! * `kernel_tcp`: streams between the kernel's sockets.
//! * `own_tcp`: streams between our endpoints, each on a TUN device behind one of the kernels, which forward.
//! * `tally`: what has become of each stream.

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
use lasthop_os::ends::Ends;
use lasthop_os::error::SystemError;
use lasthop_os::priority::RealTimePriority;
use lasthop_tcp::Config;
use std::any::Any;
use std::sync::atomic::{AtomicBool, Ordering};
use tally::Tally;

/// A stream from one end to the other.
#[derive(Clone, Debug)]
pub struct Stream {
    /// Where it is sent.
    pub sender: End,
    /// When its sender connects.
    pub start: Time,
    /// How many bytes, then it ends; `None`: until the trial does.
    pub bytes: Option<u64>,
}

impl Stream {
    /// The end that sends, as a place in arrays.
    fn from(&self) -> usize {
        self.sender as usize
    }

    /// The other one.
    fn to(&self) -> usize {
        1 - self.from()
    }
}

/// Whose TCP carries the streams.
#[derive(Clone, Debug)]
pub enum Tcp {
    /// The kernel's, at both ends.
    Kernel {
        /// Names of the streams' congestion controls: `cubic`.
        congestion: Vec<String>,
        /// What else it is told.
        settings: Settings,
    },
    /// Ours, at both ends: for each stream the sender's configuration and the receiver's.
    Own(Vec<[Config; 2]>),
    /// Ours at the end that sends, the kernel's at the other.
    OwnToKernel {
        /// For each stream the sender's configuration; the receiver's is not used.
        configs: Vec<[Config; 2]>,
        /// What the kernels are told.
        settings: Settings,
    },
}

/// One repetition.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Whose TCP.
    pub tcp: Tcp,
    /// What is sent.
    pub streams: Vec<Stream>,
    /// How long, in real time.
    pub duration: Duration,
    /// Largest packet of the devices, bytes.
    pub mtu: u16,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// In the order of the streams.
    pub streams: Vec<Progress>,
    /// Why it may not be trusted; empty if it may.
    pub complaints: Vec<String>,
    /// How late packets were delivered.
    pub lateness: Lateness,
    /// How busy the machine was.
    pub load: Option<Load>,
}

/// How long the loop waits at most before it looks at the time.
const PATIENCE: Duration = Duration::from_millis(5);

impl Trial {
    /// Runs it. `prepare` may do something at the ends before the streams begin, and keep something until they end;
    /// `is_over` is asked whether the user wants no more.
    ///
    /// # Errors
    /// If the system refuses what is needed, or a stream cannot be carried.
    pub fn run<P: FnOnce(&Ends) -> Result<Box<dyn Any>, SystemError>>(
        &self,
        plan: Plan,
        prepare: P,
        is_over: &dyn Fn() -> bool,
    ) -> Result<Outcome, SystemError> {
        let (ends, [server, client]) = Ends::build(self.mtu)?;
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
            // Threads that begin later would inherit the urgency.
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

    /// Everything that the streams need, in place.
    fn open(&self, ends: &Ends) -> Result<Ready, SystemError> {
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

/// What every thread of a trial knows.
#[derive(Clone, Copy)]
struct Run<'a> {
    clock: Clock,
    end: Time,
    /// Whether everybody is to stop.
    over: &'a AtomicBool,
    tally: &'a Tally,
}

impl Run<'_> {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// Waits until this time or the end; whether it is not over then.
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

/// Streams that wait for their time.
#[derive(Default)]
struct Ready {
    receivers: Vec<kernel_tcp::Receiver>,
    senders: Vec<kernel_tcp::Sender>,
    sides: Vec<own_tcp::Side>,
}

impl Ready {
    /// Begins their threads; the kernel's senders are watched.
    fn begin<'scope, 'all>(
        self,
        scope: &'scope std::thread::Scope<'scope, 'all>,
        ends: &Ends,
        run: Run<'all>,
    ) -> Result<Option<Watch>, SystemError> {
        let watch = (!self.senders.is_empty()).then(|| kernel_tcp::watch(ends, run.clock)).transpose()?;
        self.receivers.into_iter().for_each(|receiver| receiver.begin(scope, run));
        self.senders.into_iter().for_each(|sender| sender.begin(scope, run));
        for side in self.sides {
            scope.spawn(move || {
                // Whoever answers late sends in bursts, which a queue would not forgive.
                let _hurry = RealTimePriority::begin();
                run.tally.heed(side.serve(run));
            });
        }
        Ok(watch)
    }
}

/// Lets packets through until the end. What has been received by then is what counts.
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

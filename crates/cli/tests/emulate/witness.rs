//! Who watches the machine during a run, and has nothing to do with it: a thread on each processor that sleeps for a
//! millisecond at a time and notes how late it is woken. Hypervisors that take a processor away without saying so
//! (`stolen` stays 0) are seen by it.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Above the emulator's (`lasthop_os::priority`): whatever that does, the witness is not kept waiting by it.
const PRIORITY: u8 = 90;
const SLEEP: Duration = Duration::from_millis(1);

/// Threads that watch until they are asked.
pub struct Witness {
    is_over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Seen>>,
}

/// What one thread saw.
#[derive(Default)]
struct Seen {
    watched: Duration,
    /// The sum of what it was woken too late.
    late: Duration,
}

impl Witness {
    /// Watches every processor that this process may use. A thread that is not allowed to go before all others sees
    /// nothing.
    pub fn begin() -> Witness {
        let is_over = Arc::new(AtomicBool::new(false));
        let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let processors = (0..CpuSet::count()).filter(|&number| allowed.is_set(number).unwrap_or(false));
        let threads = processors
            .map(|processor| {
                let is_over = Arc::clone(&is_over);
                std::thread::spawn(move || watch(processor, &is_over))
            })
            .collect();
        Witness { is_over, threads }
    }

    /// Ends it. The share of the time for which a processor did not wake whom it should have, the largest of all
    /// processors; 0 to 1.
    pub fn stalled(self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        let seen = self.threads.into_iter().map(|thread| thread.join().unwrap());
        seen.map(|seen| seen.late.as_secs_f64() / seen.watched.as_secs_f64().max(1e-9)).fold(0.0, f64::max)
    }
}

fn watch(processor: usize, is_over: &AtomicBool) -> Seen {
    let mut only = CpuSet::new();
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(PRIORITY).unwrap());
    let is_alone = only.set(processor).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only)).is_ok()
        && set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
    if !is_alone {
        return Seen::default();
    }
    let mut seen = Seen::default();
    while !is_over.load(Ordering::Relaxed) {
        let before = Instant::now();
        std::thread::sleep(SLEEP);
        let slept = before.elapsed();
        seen.watched += slept;
        // Timers may wait up to 50 us for others.
        seen.late += slept.saturating_sub(SLEEP + Duration::from_micros(200));
    }
    seen
}

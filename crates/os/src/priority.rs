//! Real-time priority (sched(7)): that the kernel wakes us in time.

use thread_priority::unix::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// A priority among those of real time, 1 to 99: before everything that has none.
const PRIORITY: u8 = 20;

/// This thread runs before all others (SCHED_FIFO) and is woken without slack, as far as the system permits.
#[derive(Debug)]
pub struct RealTimePriority {
    is_granted: bool,
}

impl RealTimePriority {
    /// From now on, until it is dropped. Threads and processes that begin meanwhile inherit it.
    pub fn begin() -> RealTimePriority {
        // Timers otherwise wait up to 50 us for others.
        let _ = nix::sys::prctl::set_timerslack(1);
        let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) else {
            return RealTimePriority { is_granted: false };
        };
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::Crossplatform(priority);
        let is_granted = set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
        RealTimePriority { is_granted }
    }

    /// Whether it runs before all others.
    pub fn is_granted(&self) -> bool {
        self.is_granted
    }
}

impl Drop for RealTimePriority {
    fn drop(&mut self) {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        // 0: what the thread had at its start.
        let _ = nix::sys::prctl::set_timerslack(0);
    }
}

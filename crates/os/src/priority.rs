//! Real-time priority (sched(7)), for timely wake-ups.

use thread_priority::unix::{
    NormalThreadSchedulePolicy, RealtimeThreadSchedulePolicy, ThreadSchedulePolicy,
    set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

const PRIORITY: u8 = 20;

/// Runs this thread before all normal threads (SCHED_FIFO) and with minimum timer slack, if permitted.
#[derive(Debug)]
pub struct RealTimePriority {
    is_granted: bool,
}

impl RealTimePriority {
    /// Begins real-time priority, which lasts until this value is dropped. Threads and processes that this thread
    /// starts during this time inherit the priority.
    pub fn begin() -> RealTimePriority {
        // The default slack of timers is 50 us.
        let _ = nix::sys::prctl::set_timerslack(1);
        let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) else {
            return RealTimePriority { is_granted: false };
        };
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::Crossplatform(priority);
        let is_granted = set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
        RealTimePriority { is_granted }
    }

    /// Whether the system granted SCHED_FIFO.
    pub fn is_granted(&self) -> bool {
        self.is_granted
    }
}

impl Drop for RealTimePriority {
    fn drop(&mut self) {
        let policy = ThreadSchedulePolicy::Normal(NormalThreadSchedulePolicy::Other);
        let _ = set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, policy);
        // 0 restores the thread's initial slack.
        let _ = nix::sys::prctl::set_timerslack(0);
    }
}

//! That the kernel wakes us in time.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// A priority among those of real time, 1 to 99: before everything that has none.
const PRIORITY: u8 = 20;

/// Has this thread run before all others (SCHED_FIFO) and be woken without slack, as far as the system permits.
/// Returns whether it runs before all others.
pub fn hurry() -> bool {
    // Timers otherwise wait up to 50 us for others.
    let _ = nix::sys::prctl::set_timerslack(1);
    let Ok(priority) = ThreadPriorityValue::try_from(PRIORITY) else { return false };
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(priority), policy)
        .is_ok()
}

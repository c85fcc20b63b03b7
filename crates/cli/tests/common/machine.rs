//! Judgements: assertions on real-time behaviour. Such assertions hold only on an undisturbed machine.
//!
//! On a disturbed machine, a failed judgement is omitted and the test passes. The test then prints `not judged`, the
//! reason and the measured values, and adds a line to `target/tmp/not-judged.txt`. At its end, `make test` repeats
//! these tests one at a time, and counts the tests that omit a judgement again. If `LASTHOP_JUDGE=1` is set in the
//! environment, an omitted judgement is a failure.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;
use std::fmt::Display;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

/// Real-time priority of the witness threads, which measure how late the machine wakes a thread. The emulator has a
/// lower priority (`lasthop_os::priority`), so the emulator never delays a witness.
const PRIORITY: u8 = 90;
/// Duration of each sleep of a witness.
const SLEEP: Duration = Duration::from_millis(1);
/// Lateness up to which a wake-up counts as on time.
const SLACK: Duration = Duration::from_micros(200);
/// Maximum sum of a witness's late times, as a share of the observed time, 0 to 1.
const STALLED: f64 = 0.005;
/// Maximum share of the time for which programs may wait for a processor, 0 to 1. On a permanently busy machine, the
/// kernel's TCP loses 5 to 14 % of its goodput (docs/development/validation/real-tcp.md).
const WAITED: f64 = 0.2;

/// Measures disturbances of the machine from the call of `watch` on.
pub struct Machine {
    begin: Instant,
    pressure: Option<Duration>,
    witnesses: Vec<Arc<Witness>>,
    complaint: Option<String>,
}

impl Machine {
    pub fn watch() -> Machine {
        let allowed = sched_getaffinity(Pid::from_raw(0)).unwrap();
        let processors = (0..CpuSet::count()).filter(|&number| allowed.is_set(number).unwrap_or(false));
        let witnesses = processors.map(Witness::begin).collect();
        Machine { begin: Instant::now(), pressure: pressure(), witnesses, complaint: None }
    }

    /// Reads the summary of an emulated run. If the run is invalid, the machine counts as disturbed.
    pub fn heed(&mut self, summary: &serde_json::Value) {
        if summary["valid"] != true {
            self.complaint = Some(format!("the run is not valid: {}", summary["complaints"]));
        }
    }

    /// Returns the sum of a witness's late times as a share of the observed time, 0 to 1: the largest share of all
    /// processors. This share includes time that a hypervisor takes without reporting it as stolen time.
    pub fn stalled(&self) -> f64 {
        self.witnesses.iter().map(|witness| witness.stalled()).fold(0.0, f64::max)
    }

    /// Describes how the machine has been disturbed since `watch`. Returns `None` if the machine is undisturbed.
    pub fn disturbance(&self) -> Option<String> {
        let waited = match (self.pressure, pressure()) {
            (Some(before), Some(now)) => (now - before).as_secs_f64() / self.begin.elapsed().as_secs_f64(),
            _ => 0.0,
        };
        let stalled = self.stalled();
        let reasons = [
            (stalled > STALLED, format!("a processor stood still for {:.1} % of the time", stalled * 100.0)),
            (
                waited > WAITED,
                format!("programs waited for a processor for {:.0} % of the time", waited * 100.0),
            ),
        ];
        let found = reasons.into_iter().find_map(|(is_so, why)| is_so.then_some(why));
        self.complaint.clone().or(found)
    }

    /// Asserts a condition. On a disturbed machine, a false condition is reported by [`not_judged`] instead of a panic.
    #[track_caller]
    pub fn judge(&self, holds: bool, figures: impl Display) {
        if holds {
            return;
        }
        match self.disturbance() {
            Some(why) => not_judged(&format!("{why}: {figures}")),
            None => panic!("{figures}"),
        }
    }
}

/// Prints an omitted judgement, and adds a line to the list of omitted judgements.
///
/// # Panics
///
/// If `LASTHOP_JUDGE` is set.
#[track_caller]
pub fn not_judged(why: &str) {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test").to_owned();
    assert!(std::env::var_os("LASTHOP_JUDGE").is_none(), "{test} is not judged: {why}");
    eprintln!("not judged: {why}");
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not-judged.txt");
    let mut file = OpenOptions::new().create(true).append(true).open(file).unwrap();
    // One system call writes the whole line, so that lines of concurrent tests do not mix.
    file.write_all(format!("{test}: {}\n", why.replace('\n', " ")).as_bytes()).unwrap();
}

/// Returns the total time in which at least one program waited for a processor. Returns `None` without PSI
/// (Documentation/accounting/psi.rst in Linux).
fn pressure() -> Option<Duration> {
    let text = fs::read_to_string("/proc/pressure/cpu").ok()?;
    let total = text.lines().find(|line| line.starts_with("some"))?.rsplit_once("total=")?.1;
    total.trim().parse().ok().map(Duration::from_micros)
}

/// Thread on one processor that sleeps 1 ms at a time and sums its lateness.
#[derive(Default)]
struct Witness {
    is_over: AtomicBool,
    watched_ns: AtomicU64,
    late_ns: AtomicU64,
}

impl Witness {
    fn begin(processor: usize) -> Arc<Witness> {
        let witness = Arc::new(Witness::default());
        let own = Arc::clone(&witness);
        std::thread::spawn(move || own.run(processor));
        witness
    }

    /// Returns the sum of this thread's late times as a share of the observed time, 0 to 1. Returns 0 if the thread has
    /// no real-time priority.
    fn stalled(&self) -> f64 {
        let (late, watched) = (self.late_ns.load(Ordering::Relaxed), self.watched_ns.load(Ordering::Relaxed));
        late as f64 / watched.max(1) as f64
    }

    fn run(&self, processor: usize) {
        let mut only = CpuSet::new();
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(PRIORITY).unwrap());
        let is_first = only.set(processor).and_then(|()| sched_setaffinity(Pid::from_raw(0), &only)).is_ok()
            && set_thread_priority_and_policy(thread_native_id(), priority, policy).is_ok();
        while is_first && !self.is_over.load(Ordering::Relaxed) {
            let before = Instant::now();
            std::thread::sleep(SLEEP);
            let slept = before.elapsed();
            let late = slept.saturating_sub(SLEEP + SLACK);
            self.watched_ns.fetch_add(slept.as_nanos() as u64, Ordering::Relaxed);
            self.late_ns.fetch_add(late.as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        self.witnesses.iter().for_each(|witness| witness.is_over.store(true, Ordering::Relaxed));
    }
}

//! Runs jobs on several threads. Returns the results in the order of the jobs.

use crate::runs::clock::VirtualClock;
use std::collections::BTreeMap;
use std::io;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

/// Jobs in progress. If this value is dropped, no further job starts; running jobs finish in the background.
pub struct InOrder<T> {
    results: Receiver<(usize, thread::Result<T>)>,
    /// Results of jobs for which the result of an earlier job is still missing.
    early: BTreeMap<usize, T>,
    next: usize,
    count: usize,
    finished: usize,
    threads: usize,
    stop: Arc<AtomicBool>,
    clock: Option<Arc<VirtualClock>>,
}

/// Result of [`InOrder::next_within`].
#[derive(Debug, PartialEq, Eq)]
pub enum NextResult<T> {
    /// The next result.
    Item(T),
    /// The job of the next result has not finished.
    NotYet,
    /// All results have been returned.
    End,
}

/// Returns the number of threads: `wanted`, or one thread for each core if `wanted` is `None`. The number is at most
/// the number of jobs, `pieces`.
pub fn threads(wanted: Option<usize>, pieces: usize) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    wanted.unwrap_or_else(cores).min(pieces).max(1)
}

impl<T: Send + 'static> InOrder<T> {
    /// Starts to call `work` with 0, 1, … `count` - 1, in this order, on several threads. [`threads`] determines their
    /// number from `wanted`. Fails if the system provides no thread.
    pub fn begin(
        count: usize,
        wanted: Option<usize>,
        work: impl Fn(usize) -> T + Send + Sync + 'static,
    ) -> io::Result<InOrder<T>> {
        let (sender, results) = channel();
        let (work, next_index, stop) =
            (Arc::new(work), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let mut begun = 0;
        for _ in 0..threads(wanted, count) {
            let (work, next_index, stop, sender) =
                (work.clone(), next_index.clone(), stop.clone(), sender.clone());
            let thread =
                thread::Builder::new().spawn(move || run_jobs(count, &*work, &next_index, &stop, &sender));
            match thread {
                Ok(_) => begun += 1,
                Err(error) if begun == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(InOrder {
            results,
            early: BTreeMap::new(),
            next: 0,
            count,
            finished: 0,
            threads: begun,
            stop,
            clock: None,
        })
    }

    /// Waits up to `wait` for the next result in order. Returns `NotYet` if no result arrives, or if only the result of
    /// a later job arrives.
    ///
    /// # Panics
    /// Panics if a job panics.
    pub fn next_within(&mut self, wait: Duration) -> NextResult<T> {
        if self.next == self.count {
            return NextResult::End;
        }
        if !self.early.contains_key(&self.next) {
            match self.results.recv_timeout(wait) {
                Ok((index, Ok(result))) => {
                    self.finished += 1;
                    self.early.insert(index, result);
                }
                Ok((_, Err(panic))) => resume_unwind(panic),
                Err(RecvTimeoutError::Timeout) => return NextResult::NotYet,
                Err(RecvTimeoutError::Disconnected) => return NextResult::End,
            }
        }
        match self.early.remove(&self.next) {
            Some(result) => {
                self.next += 1;
                NextResult::Item(result)
            }
            None => NextResult::NotYet,
        }
    }

    /// Attaches the virtual clock of the runs that the jobs execute.
    #[must_use]
    pub fn with_clock(mut self, clock: Arc<VirtualClock>) -> InOrder<T> {
        self.clock = Some(clock);
        self
    }

    /// Returns the virtual clock of the runs. Returns `None` if no clock is attached.
    pub fn clock(&self) -> Option<&VirtualClock> {
        self.clock.as_deref()
    }

    /// Starts no further job. Jobs in progress continue.
    pub fn begin_no_more(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Returns the number of jobs whose results have arrived, including results that have not been returned yet.
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Returns the number of jobs.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }
}

impl<T> Drop for InOrder<T> {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

fn run_jobs<T>(
    count: usize,
    work: &impl Fn(usize) -> T,
    next_index: &AtomicUsize,
    stop: &AtomicBool,
    sender: &Sender<(usize, thread::Result<T>)>,
) {
    while !stop.load(Ordering::Relaxed) {
        let index = next_index.fetch_add(1, Ordering::Relaxed);
        if index >= count {
            return;
        }
        let result = catch_unwind(AssertUnwindSafe(|| work(index)));
        if sender.send((index, result)).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    const LONG: Duration = Duration::from_secs(20);

    fn all<T: Send + 'static>(mut work: InOrder<T>) -> Vec<T> {
        let mut all = Vec::new();
        loop {
            match work.next_within(LONG) {
                NextResult::Item(item) => all.push(item),
                NextResult::NotYet => {}
                NextResult::End => return all,
            }
        }
    }

    #[test]
    fn results_come_in_order_from_any_number_of_threads() {
        for jobs in [1, 2, 7] {
            let work = InOrder::begin(100, Some(jobs), |index| index * index).unwrap();
            assert_eq!(all(work), (0..100).map(|index| index * index).collect::<Vec<usize>>());
        }
        assert!(all(InOrder::begin(0, None, |index| index).unwrap()).is_empty());
    }

    /// A result that arrives before the result of an earlier job is stored. The thread of the stored result continues
    /// with further jobs.
    #[test]
    fn what_overtakes_waits() {
        let (release, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let work = move |index| {
            if index == 0 {
                let _ = gate.lock().map(|gate| gate.recv());
            }
            index
        };
        let mut work = InOrder::begin(3, Some(2), work).unwrap();
        while work.finished() < 2 {
            assert_eq!(work.next_within(LONG), NextResult::NotYet);
        }
        release.send(()).unwrap();
        assert_eq!(all(work), [0, 1, 2]);
    }

    #[test]
    fn there_are_never_more_threads_than_pieces() {
        assert_eq!(InOrder::begin(3, Some(1000), |index| index).unwrap().threads(), 3);
        assert_eq!(threads(Some(4), 100), 4);
        assert_eq!(threads(None, 1), 1);
    }

    #[test]
    #[should_panic(expected = "the third")]
    fn a_panic_is_passed_on() {
        all(InOrder::begin(9, Some(2), |index| assert!(index != 2, "the third")).unwrap());
    }

    #[test]
    fn dropping_it_ends_the_threads() {
        let calls = Arc::new(AtomicUsize::new(0));
        let count = calls.clone();
        let (release, gate) = channel::<()>();
        let gate = Mutex::new(gate);
        let mut work = InOrder::begin(1000, Some(1), move |index| {
            count.fetch_add(1, Ordering::SeqCst);
            if index == 1 {
                let _ = gate.lock().map(|gate| gate.recv());
            }
        })
        .unwrap();
        assert_eq!(work.next_within(LONG), NextResult::Item(()));
        drop(work);
        release.send(()).unwrap();
        thread::sleep(Duration::from_millis(50));
        assert!(calls.load(Ordering::SeqCst) <= 2);
    }
}

//! Worker threads that simulate runs on this machine.

use crate::driver::RunJob;
use crate::row::{self, RunRow};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Pool of threads. If the pool is dropped, each thread ends after its current run; dropping does not wait.
pub struct ThreadPool {
    jobs: Sender<RunJob>,
    rows: Receiver<RunRow>,
    threads: usize,
    /// Number of submitted runs whose results have not been fetched.
    running: usize,
}

impl ThreadPool {
    /// Starts `threads` threads. If the system allows fewer threads, starts as many as allowed.
    ///
    /// # Errors
    /// Fails if the system does not allow a single thread.
    pub fn start(threads: usize) -> io::Result<ThreadPool> {
        let (jobs, taken) = channel::<RunJob>();
        let (done, rows) = channel();
        let taken = Arc::new(Mutex::new(taken));
        let mut begun = 0;
        for _ in 0..threads.max(1) {
            let (taken, done) = (Arc::clone(&taken), done.clone());
            match thread::Builder::new().spawn(move || work(&taken, &done)) {
                Ok(_) => begun += 1,
                Err(error) if begun == 0 => return Err(error),
                Err(_) => break,
            }
        }
        Ok(ThreadPool { jobs, rows, threads: begun, running: 0 })
    }

    /// Whether the pool accepts another job. The pool accepts two jobs per thread: one to run, and one in the queue.
    pub fn has_room(&self) -> bool {
        self.running < 2 * self.threads
    }

    /// Whether the results of all submitted runs have been fetched.
    pub fn is_idle(&self) -> bool {
        self.running == 0
    }

    /// Queues a job.
    pub fn submit(&mut self, job: RunJob) {
        if self.jobs.send(job).is_ok() {
            self.running += 1;
        }
    }

    /// Returns the next finished run. Returns `None` if no run finishes within the time `wait`.
    pub fn next_within(&mut self, wait: Duration) -> Option<RunRow> {
        match self.rows.recv_timeout(wait) {
            Ok(row) => {
                self.running -= 1;
                Some(row)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }
}

fn work(jobs: &Mutex<Receiver<RunJob>>, rows: &Sender<RunRow>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if rows.send(row::run(&job.scenario, &job.digest, job.seed)).is_err() {
            return;
        }
    }
}

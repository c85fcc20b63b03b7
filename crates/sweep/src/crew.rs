//! Threads of this machine that do runs.

use crate::driver::Job;
use crate::row::{self, Row};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Runs under way and about to begin. Dropping it begins no further one; those under way are left to themselves.
pub struct Crew {
    jobs: Sender<Job>,
    rows: Receiver<Row>,
    threads: usize,
    /// Given, and not yet back.
    out: usize,
}

impl Crew {
    /// So many threads, or as many as can be had, at least one.
    ///
    /// # Errors
    /// If the system gives none at all.
    pub fn of(threads: usize) -> io::Result<Crew> {
        let (jobs, taken) = channel::<Job>();
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
        Ok(Crew { jobs, rows, threads: begun, out: 0 })
    }

    /// Whether a further job would not wait for long: each thread has one, and one to go on with.
    pub fn has_room(&self) -> bool {
        self.out < 2 * self.threads
    }

    /// Whether nothing is under way.
    pub fn is_idle(&self) -> bool {
        self.out == 0
    }

    /// Gives it a job.
    pub fn begin(&mut self, job: Job) {
        // The threads listen until this is dropped.
        if self.jobs.send(job).is_ok() {
            self.out += 1;
        }
    }

    /// A run that has ended, if one does within this time.
    pub fn next_within(&mut self, wait: Duration) -> Option<Row> {
        match self.rows.recv_timeout(wait) {
            Ok(row) => {
                self.out -= 1;
                Some(row)
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => None,
        }
    }
}

/// A thread's work, until nobody gives or wants any more.
fn work(jobs: &Mutex<Receiver<Job>>, rows: &Sender<Row>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if rows.send(row::run(&job.scenario, &job.digest, job.seed)).is_err() {
            return;
        }
    }
}

//! Worker threads on this machine.

use crate::driver::Job;
use crate::row::{self, Row};
use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// A pool of threads. Dropping it starts no further run and does not wait for runs in progress.
pub struct Crew {
    jobs: Sender<Job>,
    rows: Receiver<Row>,
    threads: usize,
    /// Runs given and not yet returned.
    out: usize,
}

impl Crew {
    /// Starts `threads` threads, or as many as the system allows, at least one.
    ///
    /// # Errors
    /// If the system allows no thread.
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

    /// Whether another job would start soon: each thread may have one running and one queued.
    pub fn has_room(&self) -> bool {
        self.out < 2 * self.threads
    }

    /// Whether no run is in progress.
    pub fn is_idle(&self) -> bool {
        self.out == 0
    }

    /// Queues a job.
    pub fn begin(&mut self, job: Job) {
        if self.jobs.send(job).is_ok() {
            self.out += 1;
        }
    }

    /// Waits at most this long for a finished run.
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

fn work(jobs: &Mutex<Receiver<Job>>, rows: &Sender<Row>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        if rows.send(row::run(&job.scenario, &job.digest, job.seed)).is_err() {
            return;
        }
    }
}

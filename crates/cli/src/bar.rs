//! Progress of the work on standard error: a progress bar on a terminal, otherwise a line every 5 to 30 s.

use crate::output;
use crate::rounded;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lasthop_lab::progress::Progress;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Minimum interval between two printed lines, and minimum time from the start of the work to the first line.
const MIN_INTERVAL: Duration = Duration::from_secs(5);
/// Interval after which a line is printed even if less than a tenth of the work has been done since the last line.
const MAX_INTERVAL: Duration = Duration::from_secs(30);

/// Number of steps of a progress bar that shows the simulated share of the virtual time: one step is 0.01 %.
const SHARES: u64 = 10_000;

#[derive(Default)]
pub(crate) struct Bar {
    part: Mutex<Option<Display>>,
}

enum Display {
    Drawn(ProgressBar),
    /// Progress bar of [`SHARES`] steps, and the counts printed beside the bar.
    Runs(ProgressBar, LineSchedule),
    Lines {
        updates: Sender<Update>,
        printer: JoinHandle<()>,
    },
}

enum Update {
    Done(u64),
    /// Virtual time simulated so far, s.
    Simulated(f64),
    /// New total number of steps.
    Expected(u64),
}

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<Display>)) {
        act(&mut self.part.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn advance(&self, steps: u64) {
        self.with(|part| match part {
            Some(Display::Drawn(bar)) => bar.inc(steps),
            Some(Display::Runs(_, schedule)) => schedule.done += steps,
            // Sending cannot fail: the printing thread receives until this part of the work ends.
            Some(Display::Lines { updates, .. }) => drop(updates.send(Update::Done(steps))),
            None => {}
        });
    }

    /// Starts a part of the work that consists of simulation runs. Progress is measured in virtual time, of which all
    /// runs together simulate `total_s` seconds.
    pub(crate) fn begin_runs(&self, part: &str, runs: u64, total_s: f64) {
        let bar = ProgressBar::with_draw_target(Some(SHARES), ProgressDrawTarget::stderr());
        let schedule = LineSchedule { total_s, ..LineSchedule::new(part, runs) };
        let begun =
            if bar.is_hidden() { lines(schedule) } else { Some(Display::Runs(drawn_runs(bar), schedule)) };
        self.with(|part| *part = begun);
    }

    pub(crate) fn simulated(&self, seconds: f64) {
        self.with(|part| match part {
            Some(Display::Runs(bar, schedule)) => {
                schedule.simulated_s = seconds;
                bar.set_position((schedule.share() * SHARES as f64) as u64);
                bar.set_message(schedule.counts());
            }
            Some(Display::Lines { updates, .. }) => drop(updates.send(Update::Simulated(seconds))),
            _ => {}
        });
    }

    pub(crate) fn expect(&self, steps: u64) {
        self.with(|part| match part {
            Some(Display::Drawn(bar)) => bar.set_length(steps),
            Some(Display::Runs(_, schedule)) => schedule.expect(steps),
            Some(Display::Lines { updates, .. }) => drop(updates.send(Update::Expected(steps))),
            None => {}
        });
    }

    /// Hides the bar while `act` prints.
    #[cfg(target_os = "linux")]
    pub(crate) fn suspended<T>(&self, act: impl FnOnce() -> T) -> T {
        let part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        match &*part {
            Some(Display::Drawn(bar) | Display::Runs(bar, _)) => bar.suspend(act),
            _ => act(),
        }
    }

    /// Prints a line to standard error with the bar hidden.
    pub(crate) fn note(&self, line: &str) {
        self.with(|part| match part {
            Some(Display::Drawn(bar) | Display::Runs(bar, _)) => bar.suspend(|| output::note(line)),
            _ => output::note(line),
        });
    }
}

impl Progress for Bar {
    fn begin(&self, part: &str, steps: u64) {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let begun =
            if bar.is_hidden() { lines(LineSchedule::new(part, steps)) } else { Some(drawn(bar, part)) };
        self.with(|part| *part = begun);
    }

    fn step(&self) {
        self.advance(1);
    }

    fn end(&self) {
        self.with(|part| match part.take() {
            Some(Display::Drawn(bar) | Display::Runs(bar, _)) => bar.finish_and_clear(),
            Some(Display::Lines { updates, printer }) => {
                drop(updates);
                let _ = printer.join();
            }
            None => {}
        });
    }
}

fn drawn(bar: ProgressBar, part: &str) -> Display {
    if let Ok(style) = ProgressStyle::with_template("{msg:32} {bar:32} {pos}/{len}  {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(part.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    Display::Drawn(bar)
}

fn drawn_runs(bar: ProgressBar) -> ProgressBar {
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {percent} %  {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

fn lines(mut schedule: LineSchedule) -> Option<Display> {
    let (sender, updates) = channel();
    let begun = Instant::now();
    let print = move || {
        loop {
            match updates.recv_timeout(MAX_INTERVAL) {
                Ok(Update::Done(steps)) => schedule.done += steps,
                Ok(Update::Simulated(seconds)) => schedule.simulated_s = seconds,
                Ok(Update::Expected(steps)) => schedule.expect(steps),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(line) = schedule.line(begun.elapsed()) {
                output::note(&line);
            }
        }
    };
    let printer = thread::Builder::new().spawn(print).ok()?;
    Some(Display::Lines { updates: sender, printer })
}

struct LineSchedule {
    part: String,
    steps: u64,
    done: u64,
    /// Virtual time of all steps together, s; 0 if the steps are not simulation runs.
    total_s: f64,
    /// Virtual time simulated so far, s.
    simulated_s: f64,
    /// Time of the last printed line, and number of tenths of the work that were done at that time.
    last: (Duration, u64),
}

impl LineSchedule {
    fn new(part: &str, steps: u64) -> LineSchedule {
        let last = (Duration::ZERO, 0);
        LineSchedule { part: part.to_owned(), steps, done: 0, total_s: 0.0, simulated_s: 0.0, last }
    }

    /// Changes the total number of steps, and scales the total virtual time in proportion.
    fn expect(&mut self, steps: u64) {
        self.total_s *= steps as f64 / self.steps.max(1) as f64;
        self.steps = steps;
    }

    /// Returns the share of the work that is done, 0 to 1.
    fn share(&self) -> f64 {
        if self.total_s > 0.0 {
            (self.simulated_s / self.total_s).min(1.0)
        } else {
            (self.done as f64 / self.steps.max(1) as f64).min(1.0)
        }
    }

    /// Returns the counts as text, for example `run: 3 of 10, 200 of 600 s simulated`.
    fn counts(&self) -> String {
        let LineSchedule { part, steps, done, total_s, simulated_s, .. } = self;
        let counts = format!("{part}: {done} of {steps}");
        if *total_s > 0.0 {
            format!("{counts}, {:.0} of {total_s:.0} s simulated", simulated_s.min(*total_s))
        } else {
            counts
        }
    }

    fn line(&mut self, elapsed: Duration) -> Option<String> {
        let since = elapsed.saturating_sub(self.last.0);
        let share = self.share();
        let tenths = (share * 10.0) as u64;
        let is_due = since >= MAX_INTERVAL || (since >= MIN_INTERVAL && tenths > self.last.1);
        if !is_due || self.done >= self.steps {
            return None;
        }
        self.last = (elapsed, tenths);
        let seconds = elapsed.as_secs_f64();
        let left = if share > 0.0 {
            format!(", about {} left", rounded::time(seconds * (1.0 - share) / share))
        } else {
            String::new()
        };
        Some(format!("{} ({:.0} %) after {}{left}", self.counts(), 100.0 * share, rounded::time(seconds)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Prints a line after each tenth of the work, but at most one line every 5 s. After 30 s without a line, prints a
    /// line regardless of progress. Prints no line at the end of the work.
    #[test]
    fn lines_come_now_and_then() {
        let mut schedule = LineSchedule::new("run", 400);
        let mut at = |seconds: u64, done: u64| {
            schedule.done = done;
            schedule.line(Duration::from_secs(seconds))
        };
        assert_eq!(at(4, 100), None);
        assert_eq!(at(5, 100).unwrap(), "run: 100 of 400 (25 %) after 5 s, about 15 s left");
        assert_eq!(at(9, 160), None);
        assert_eq!(at(12, 160).unwrap(), "run: 160 of 400 (40 %) after 12 s, about 18 s left");
        assert_eq!(at(41, 161), None);
        assert_eq!(at(42, 161).unwrap(), "run: 161 of 400 (40 %) after 42 s, about 62 s left");
        assert_eq!(at(50, 400), None);
        let mut long = LineSchedule { total_s: 3600.0, simulated_s: 900.0, ..LineSchedule::new("run", 1) };
        assert_eq!(
            long.line(MAX_INTERVAL).unwrap(),
            "run: 0 of 1, 900 of 3600 s simulated (25 %) after 30 s, about 2 min left"
        );
        assert_eq!(LineSchedule::new("run", 3).line(MAX_INTERVAL).unwrap(), "run: 0 of 3 (0 %) after 30 s");
    }
}

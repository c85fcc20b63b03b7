//! Progress on standard error: a bar on a terminal, occasional lines elsewhere.

use crate::output;
use crate::spoken;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lasthop_lab::progress::Progress;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Minimum interval between lines, and before the first.
const OFTEN: Duration = Duration::from_secs(5);
/// Interval after which a line is due even if less than a tenth has been done since the last.
const SELDOM: Duration = Duration::from_secs(30);

#[derive(Default)]
pub(crate) struct Bar {
    part: Mutex<Option<Part>>,
}

enum Part {
    Drawn(ProgressBar),
    Told { news: Sender<News>, teller: JoinHandle<()> },
}

enum News {
    Done(u64),
    /// New total number of steps.
    Expected(u64),
}

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<Part>)) {
        act(&mut self.part.lock().unwrap_or_else(PoisonError::into_inner));
    }

    pub(crate) fn advance(&self, steps: u64) {
        self.with(|part| match part {
            Some(Part::Drawn(bar)) => bar.inc(steps),
            // The thread receives until the part ends.
            Some(Part::Told { news, .. }) => drop(news.send(News::Done(steps))),
            None => {}
        });
    }

    pub(crate) fn expect(&self, steps: u64) {
        self.with(|part| match part {
            Some(Part::Drawn(bar)) => bar.set_length(steps),
            Some(Part::Told { news, .. }) => drop(news.send(News::Expected(steps))),
            None => {}
        });
    }

    /// Runs `act`, which prints, with the bar hidden.
    #[cfg(target_os = "linux")]
    pub(crate) fn aside<T>(&self, act: impl FnOnce() -> T) -> T {
        let part = self.part.lock().unwrap_or_else(PoisonError::into_inner);
        match &*part {
            Some(Part::Drawn(bar)) => bar.suspend(act),
            _ => act(),
        }
    }

    /// Prints a line to standard error with the bar hidden.
    pub(crate) fn note(&self, line: &str) {
        self.with(|part| match part {
            Some(Part::Drawn(bar)) => bar.suspend(|| output::note(line)),
            _ => output::note(line),
        });
    }
}

impl Progress for Bar {
    fn begin(&self, part: &str, steps: u64) {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        let begun = if bar.is_hidden() { told(Pace::new(part, steps)) } else { Some(drawn(bar, part)) };
        self.with(|part| *part = begun);
    }

    fn step(&self) {
        self.advance(1);
    }

    fn end(&self) {
        self.with(|part| match part.take() {
            Some(Part::Drawn(bar)) => bar.finish_and_clear(),
            Some(Part::Told { news, teller }) => {
                drop(news);
                let _ = teller.join();
            }
            None => {}
        });
    }
}

fn drawn(bar: ProgressBar, part: &str) -> Part {
    if let Ok(style) = ProgressStyle::with_template("{msg:32} {bar:32} {pos}/{len}  {elapsed}, {eta} left") {
        bar.set_style(style);
    }
    bar.set_message(part.to_owned());
    bar.enable_steady_tick(Duration::from_millis(200));
    Part::Drawn(bar)
}

fn told(mut pace: Pace) -> Option<Part> {
    let (told, news) = channel();
    let begun = Instant::now();
    let tell = move || {
        loop {
            match news.recv_timeout(SELDOM) {
                Ok(News::Done(steps)) => pace.done += steps,
                Ok(News::Expected(steps)) => pace.steps = steps,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if let Some(line) = pace.line(begun.elapsed()) {
                output::note(&line);
            }
        }
    };
    let teller = thread::Builder::new().spawn(tell).ok()?;
    Some(Part::Told { news: told, teller })
}

struct Pace {
    part: String,
    steps: u64,
    done: u64,
    /// Time of the last line, and number of tenths done then.
    last: (Duration, u64),
}

impl Pace {
    fn new(part: &str, steps: u64) -> Pace {
        Pace { part: part.to_owned(), steps, done: 0, last: (Duration::ZERO, 0) }
    }

    fn line(&mut self, elapsed: Duration) -> Option<String> {
        let since = elapsed.saturating_sub(self.last.0);
        let tenths = self.done.saturating_mul(10) / self.steps.max(1);
        let is_due = since >= SELDOM || (since >= OFTEN && tenths > self.last.1);
        if !is_due || self.done >= self.steps {
            return None;
        }
        self.last = (elapsed, tenths);
        let Pace { part, steps, done, .. } = self;
        let left = match *done {
            0 => String::new(),
            done => {
                let share = (*steps - done) as f64 / done as f64;
                format!(", about {} left", spoken::time(elapsed.as_secs_f64() * share))
            }
        };
        let percent = *done as f64 * 100.0 / *steps as f64;
        let elapsed = spoken::time(elapsed.as_secs_f64());
        Some(format!("{part}: {done} of {steps} ({percent:.0} %) after {elapsed}{left}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line per tenth, at least 5 s apart; one per 30 s regardless of progress; none at the end.
    #[test]
    fn lines_come_now_and_then() {
        let mut pace = Pace::new("run", 400);
        let mut at = |seconds: u64, done: u64| {
            pace.done = done;
            pace.line(Duration::from_secs(seconds))
        };
        assert_eq!(at(4, 100), None);
        assert_eq!(at(5, 100).unwrap(), "run: 100 of 400 (25 %) after 5 s, about 15 s left");
        assert_eq!(at(9, 160), None);
        assert_eq!(at(12, 160).unwrap(), "run: 160 of 400 (40 %) after 12 s, about 18 s left");
        assert_eq!(at(41, 161), None);
        assert_eq!(at(42, 161).unwrap(), "run: 161 of 400 (40 %) after 42 s, about 62 s left");
        assert_eq!(at(50, 400), None);
        assert_eq!(Pace::new("run", 3).line(SELDOM).unwrap(), "run: 0 of 3 (0 %) after 30 s");
    }
}

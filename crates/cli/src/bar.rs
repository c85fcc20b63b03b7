//! Progress on standard error, if that is a terminal.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lasthop_lab::progress::Progress;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A bar for the part under way.
#[derive(Default)]
pub(crate) struct Bar {
    part: Mutex<Option<ProgressBar>>,
}

impl Bar {
    fn with(&self, act: impl FnOnce(&mut Option<ProgressBar>)) {
        act(&mut self.part.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Progress for Bar {
    fn begin(&self, part: &str, steps: u64) {
        let bar = ProgressBar::with_draw_target(Some(steps), ProgressDrawTarget::stderr());
        if let Ok(style) =
            ProgressStyle::with_template("{msg:32} {bar:32} {pos}/{len}  {elapsed}, {eta} left")
        {
            bar.set_style(style);
        }
        bar.set_message(part.to_owned());
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        self.with(|part| *part = Some(bar));
    }

    fn step(&self) {
        self.with(|part| {
            if let Some(bar) = part {
                bar.inc(1);
            }
        });
    }

    fn end(&self) {
        self.with(|part| {
            if let Some(bar) = part.take() {
                bar.finish_and_clear();
            }
        });
    }
}

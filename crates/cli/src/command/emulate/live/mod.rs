//! Display and control of a run in progress.
//!
//! * `ways`: links on the route of real traffic.
//! * `knobs`: settings changed by the user, and their form in a scenario.
//! * `control`: requests by a socket.
//! * `view`: observations, reported by a separate thread.
//! * `lines`: observations as JSON lines; `screen`: on the terminal.
//!
//! The loop that carries packets only samples, hands over samples, and applies settings.

pub(super) mod control;
pub(super) mod knobs;
mod lines;
pub(crate) mod screen;
mod view;
mod ways;

use super::events::Events;
use super::guard::Guard;
use super::stage::Stage;
use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use clap::Args;
use control::Control;
use knobs::Knobs;
use lasthop_base::{Duration, Time, quantity};
use lasthop_emu::Emulation;
use lasthop_emu::emulation::End;
use lasthop_engine::PipeId;
use lasthop_scenario::{Link, Scenario};
use lines::Lines;
use screen::Screen;
use screen::picture::Picture;
use serde_json::Value;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use view::{Told, Viewer};
use ways::Way;

/// Display of a run.
#[derive(Args)]
pub(super) struct Options {
    /// Write a JSON line about the path to FILE at each interval; FILE may be a pipe of the shell, /dev/fd/3
    #[arg(long, value_name = "FILE")]
    watch: Option<PathBuf>,
    /// Write JSON lines: start of the run, an observation per interval, and the summary. TO is the number of an open
    /// file descriptor (3), unix:PATH of a listening socket, or a file
    #[arg(long, value_name = "TO")]
    json: Option<String>,
    /// Draw rates, queues, round-trip times and lateness on the terminal; the command's output follows at the end
    #[arg(long)]
    live: bool,
    /// Interval of observations; 1 s by default, 250 ms with --live
    #[arg(long, value_name = "TIME", value_parser = every)]
    every: Option<Duration>,
}

const SHORTEST: Duration = Duration::from_millis(10);
/// Default intervals, for programs and for `--live`.
const USUAL: Duration = Duration::from_secs(1);
const DRAWN: Duration = Duration::from_millis(250);

fn every(text: &str) -> Result<Duration, String> {
    match quantity::duration(text)? {
        every if every >= SHORTEST => Ok(every),
        _ => Err(format!("`{}` is too short: at least {SHORTEST}", text.trim())),
    }
}

pub(super) struct Opened {
    pub(super) events: Events,
    lines: Option<Lines>,
    terminal: Option<File>,
    picture: Option<Picture>,
    screen: Option<Screen>,
}

impl Opened {
    /// Takes the terminal for `--live`; `guard` restores the terminal after a kill.
    pub(super) fn take_terminal(&mut self, guard: Option<&mut Guard>, title: &str) -> Result<(), Failure> {
        let Some(terminal) = self.terminal.take() else { return Ok(()) };
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot draw on the terminal: {error}"), "omit --live")
        };
        let drawn_on = terminal.try_clone().map_err(failed)?;
        if let Some(guard) = guard {
            guard.gives_back_terminal();
        }
        let screen = Screen::take(terminal)?;
        self.picture = Some(Picture::new(drawn_on, screen.kept(), title).map_err(failed)?);
        self.screen = Some(screen);
        Ok(())
    }
}

impl Options {
    pub(super) fn open(&self, has_command: bool) -> Result<Opened, Failure> {
        if self.live && !has_command {
            return Err(Failure::bad_input(
                "--live needs the terminal, and so does a shell",
                "give a command after `--`, or watch the run from another terminal: --watch FILE",
            ));
        }
        Ok(Opened {
            events: self.json.as_deref().map(Events::open).transpose()?.unwrap_or_default(),
            lines: self.watch.as_deref().map(Lines::begin).transpose()?,
            terminal: self.live.then(screen::terminal).transpose()?,
            picture: None,
            screen: None,
        })
    }

    pub(super) fn begin(
        &self,
        scenario: &Scenario,
        replaced: usize,
        opened: Opened,
        stage: &Stage,
        emulation: &Emulation<Target>,
    ) -> Live {
        let ways = ways::of(scenario, replaced);
        let planned = ways.iter().map(|way| planned(&scenario.links, way)).collect();
        let pipes = End::BOTH.map(|to| ways::pipes(&ways, to));
        let Opened { events, lines, picture, screen, .. } = opened;
        let viewer = (events.are_wanted() || lines.is_some() || picture.is_some())
            .then(|| Viewer::begin(Told { events, lines, picture }, stage.kernels()));
        let every = self.every.unwrap_or(if self.live { DRAWN } else { USUAL });
        let control = Control::listen().map_err(|error| {
            output::note(&format!("note: `lasthop emulate set` cannot reach this run: {}", error.message));
        });
        Live {
            knobs: Knobs::new(ways, planned, emulation),
            pipes,
            control: control.ok(),
            viewer,
            _screen: screen,
            every,
            next: Time::ZERO + every,
        }
    }
}

fn planned(links: &[Link], way: &Way) -> [bool; 2] {
    let link = links.iter().find(|link| link.name == way.link);
    let config = link.map(|link| if way.table == "down" { &link.down } else { &link.up });
    config.map_or([false; 2], |config| [config.delay_plan.is_some(), config.loss_plan.is_some()])
}

pub(super) struct Live {
    knobs: Knobs,
    pipes: [Vec<PipeId>; 2],
    control: Option<Control>,
    viewer: Option<Viewer>,
    /// Released after the last drawing.
    _screen: Option<Screen>,
    every: Duration,
    next: Time,
}

#[derive(Default)]
pub(super) struct WasSet {
    pub(super) changes: Vec<Value>,
    /// Changes in the scenario language; empty if there are none.
    pub(super) plans: String,
}

impl Live {
    pub(super) fn turn(&mut self, now: Time, emulation: &mut Emulation<Target>) {
        while let Some(asked) = self.control.as_ref().and_then(Control::poll) {
            let answer = self.knobs.answer(&asked.request, emulation);
            asked.answer(answer);
        }
        if now >= self.next {
            self.next = (now + Duration::from_nanos(1)).round_up(self.every);
            self.look(emulation);
        }
    }

    fn look(&self, emulation: &mut Emulation<Target>) {
        if let Some(viewer) = &self.viewer {
            let now = emulation.observe(self.pipes.each_ref().map(Vec::as_slice));
            viewer.show(now, self.knobs.holds(emulation.clock().now()));
        }
    }

    /// Takes the last sample; returns the changes during the run.
    pub(super) fn finish(mut self, emulation: &mut Emulation<Target>) -> WasSet {
        self.look(emulation);
        self.viewer.take();
        WasSet { changes: self.knobs.changes_made(), plans: self.knobs.plans() }
    }
}

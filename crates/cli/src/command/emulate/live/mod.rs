//! A run while it goes on: seen, and set.
//!
//! * `ways`: the links that real traffic passes.
//! * `knobs`: what the user sets, and how a scenario says the same.
//! * `control`: who asks for it, by a socket.
//! * `view`: what is seen from one look to the next; it is told by a thread of its own.
//! * `lines`: the same as lines of JSON; `screen`: drawn on the terminal.
//!
//! The loop that carries the packets does nothing here but look, hand over what it saw, and set.

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

/// How a run is seen.
#[derive(Args)]
pub(super) struct Options {
    /// Write a line of JSON about the path to FILE again and again while it runs; /dev/fd/3 is a pipe of the shell's
    #[arg(long, value_name = "FILE")]
    watch: Option<PathBuf>,
    /// Write the run as lines of JSON: its start, what is seen again and again, its summary. TO is the number of a file
    /// descriptor that you have opened (3), unix:PATH where somebody listens, or a file
    #[arg(long, value_name = "TO")]
    json: Option<String>,
    /// Draw rates, queues, round trips and lateness on the terminal while it runs; what the command prints there follows
    /// at the end
    #[arg(long)]
    live: bool,
    /// How often to look: 1 s by default, 250 ms with --live
    #[arg(long, value_name = "TIME", value_parser = every)]
    every: Option<Duration>,
}

/// The shortest time between two looks.
const SHORTEST: Duration = Duration::from_millis(10);
/// The time between two, for programs and for people.
const USUAL: Duration = Duration::from_secs(1);
const DRAWN: Duration = Duration::from_millis(250);

fn every(text: &str) -> Result<Duration, String> {
    match quantity::duration(text)? {
        every if every >= SHORTEST => Ok(every),
        _ => Err(format!("`{}` is too short: at least {SHORTEST}", text.trim())),
    }
}

/// What the run is to be seen on, begun.
pub(super) struct Opened {
    pub(super) events: Events,
    lines: Option<Lines>,
    terminal: Option<File>,
    picture: Option<Picture>,
    screen: Option<Screen>,
}

impl Opened {
    /// Takes the terminal, if the run is to be drawn; `guard` is there if we are killed.
    pub(super) fn take_terminal(&mut self, guard: Option<&mut Guard>, title: &str) -> Result<(), Failure> {
        let Some(terminal) = self.terminal.take() else { return Ok(()) };
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot draw on the terminal: {error}"), "leave --live away")
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
    /// Begins every file, so that a mistake in a path shows before anything runs.
    pub(super) fn open(&self, has_command: bool) -> Result<Opened, Failure> {
        if self.live && !has_command {
            return Err(Failure::bad_input(
                "--live takes the terminal, which a shell needs itself",
                "give a command behind `--`, or see the run from another terminal: --watch FILE",
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

    /// What is seen and set from now on of a run that is about to begin.
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
            output::note(&format!("note: `lasthop emulate set` will not reach this run: {}", error.message));
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

/// Whether the scenario has a plan of delays and one of losses there.
fn planned(links: &[Link], way: &Way) -> [bool; 2] {
    let link = links.iter().find(|link| link.name == way.link);
    let config = link.map(|link| if way.table == "down" { &link.down } else { &link.up });
    config.map_or([false; 2], |config| [config.delay_plan.is_some(), config.loss_plan.is_some()])
}

/// A run as it is seen and set.
pub(super) struct Live {
    knobs: Knobs,
    /// Those to the server, those to the client.
    pipes: [Vec<PipeId>; 2],
    control: Option<Control>,
    viewer: Option<Viewer>,
    /// Given back once nothing is drawn any more.
    _screen: Option<Screen>,
    every: Duration,
    next: Time,
}

/// What was set, once a run is over.
#[derive(Default)]
pub(super) struct WasSet {
    /// Each change.
    pub(super) changes: Vec<Value>,
    /// The same as a scenario says it; empty if there is none.
    pub(super) plans: String,
}

impl Live {
    /// Answers who asks, and looks if it is time to.
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
            let now = emulation.look(self.pipes.each_ref().map(Vec::as_slice));
            viewer.show(now, self.knobs.holds(emulation.clock().now()));
        }
    }

    /// The run is over: the last look, and what was set.
    pub(super) fn finish(mut self, emulation: &mut Emulation<Target>) -> WasSet {
        self.look(emulation);
        self.viewer.take();
        WasSet { changes: self.knobs.changes_made(), plans: self.knobs.plans() }
    }
}

//! Display and control of a run in progress.
//!
//! * `link_directions`: directions of the links on the route of real traffic.
//! * `settings`: settings changed by the user, and the same settings in the scenario language.
//! * `control`: socket for requests.
//! * `view`: observations of the path, written by a separate thread.
//! * `json_lines`: writes observations as JSON lines.
//! * `screen`: draws observations on the terminal.
//!
//! The packet loop does little itself: it takes samples, passes the samples to the thread of `view`, and applies
//! settings.

pub(super) mod control;
mod json_lines;
mod link_directions;
pub(crate) mod screen;
pub(super) mod settings;
mod view;

use super::events::Events;
use super::guard::Guard;
use super::testbed::Testbed;
use crate::failure::Failure;
use crate::output;
use crate::target::Target;
use clap::Args;
use control::ControlSocket;
use json_lines::JsonLines;
use lasthop_base::{Duration, Time, quantity};
use lasthop_emu::Emulation;
use lasthop_emu::emulation::End;
use lasthop_engine::PipeId;
use lasthop_scenario::{Link, Scenario};
use link_directions::LinkDirection;
use screen::Screen;
use screen::picture::Picture;
use serde_json::Value;
use settings::SettingsHistory;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use view::{Outputs, Viewer};

/// Display of a run.
#[derive(Args)]
pub(super) struct LiveArgs {
    /// Write a JSON line about the path to FILE at each interval; FILE may be a pipe of the shell: /dev/fd/3
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

const MIN_INTERVAL: Duration = Duration::from_millis(10);
/// Default interval of observations for JSON lines.
const DEFAULT_INTERVAL: Duration = Duration::from_secs(1);
/// Default interval of observations for `--live`.
const LIVE_INTERVAL: Duration = Duration::from_millis(250);

fn every(text: &str) -> Result<Duration, String> {
    match quantity::duration(text)? {
        every if every >= MIN_INTERVAL => Ok(every),
        _ => Err(format!("`{}` is too short: at least {MIN_INTERVAL}", text.trim())),
    }
}

pub(super) struct LiveOutputs {
    pub(super) events: Events,
    json_lines: Option<JsonLines>,
    terminal: Option<File>,
    picture: Option<Picture>,
    screen: Option<Screen>,
}

impl LiveOutputs {
    /// Switches the terminal to the alternate screen (`--live`). If the run is killed, `guard` restores the terminal.
    pub(super) fn take_terminal(&mut self, guard: Option<&mut Guard>, title: &str) -> Result<(), Failure> {
        let Some(terminal) = self.terminal.take() else { return Ok(()) };
        let failed = |error: io::Error| {
            Failure::failed(format!("cannot draw on the terminal: {error}"), "omit --live")
        };
        let drawn_on = terminal.try_clone().map_err(failed)?;
        if let Some(guard) = guard {
            guard.restore_terminal_on_kill();
        }
        let screen = Screen::enter(terminal)?;
        self.picture = Some(Picture::new(drawn_on, screen.output(), title).map_err(failed)?);
        self.screen = Some(screen);
        Ok(())
    }
}

impl LiveArgs {
    pub(super) fn open(&self, has_command: bool) -> Result<LiveOutputs, Failure> {
        if self.live && !has_command {
            return Err(Failure::bad_input(
                "--live needs the terminal, but so does the default command (a shell)",
                "give a command after `--`, or watch the run from another terminal: --watch FILE",
            ));
        }
        Ok(LiveOutputs {
            events: self.json.as_deref().map(Events::open).transpose()?.unwrap_or_default(),
            json_lines: self.watch.as_deref().map(JsonLines::begin).transpose()?,
            terminal: self.live.then(screen::terminal).transpose()?,
            picture: None,
            screen: None,
        })
    }

    pub(super) fn begin(
        &self,
        scenario: &Scenario,
        replaced: usize,
        opened: LiveOutputs,
        testbed: &Testbed,
        emulation: &Emulation<Target>,
    ) -> Live {
        let directions = link_directions::of(scenario, replaced);
        let planned = directions.iter().map(|direction| planned(&scenario.links, direction)).collect();
        let pipes = End::BOTH.map(|to| link_directions::pipes(&directions, to));
        let LiveOutputs { events, json_lines, picture, screen, .. } = opened;
        let viewer = (events.is_open() || json_lines.is_some() || picture.is_some())
            .then(|| Viewer::begin(Outputs { events, json_lines, picture }, testbed.kernels()));
        let every = self.every.unwrap_or(if self.live { LIVE_INTERVAL } else { DEFAULT_INTERVAL });
        let control = ControlSocket::listen().map_err(|error| {
            output::note(&format!("note: `lasthop emulate set` cannot reach this run: {}", error.message));
        });
        Live {
            settings: SettingsHistory::new(directions, planned, emulation),
            pipes,
            control: control.ok(),
            viewer,
            _screen: screen,
            every,
            next: Time::ZERO + every,
        }
    }
}

fn planned(links: &[Link], direction: &LinkDirection) -> [bool; 2] {
    let link = links.iter().find(|link| link.name == direction.link);
    let config = link.map(|link| if direction.table == "down" { &link.down } else { &link.up });
    config.map_or([false; 2], |config| [config.delay_plan.is_some(), config.loss_plan.is_some()])
}

pub(super) struct Live {
    settings: SettingsHistory,
    pipes: [Vec<PipeId>; 2],
    control: Option<ControlSocket>,
    viewer: Option<Viewer>,
    /// Alternate screen (`--live`). Rust drops this field after `viewer`, so the terminal is restored after the last
    /// drawing.
    _screen: Option<Screen>,
    every: Duration,
    next: Time,
}

#[derive(Default)]
pub(super) struct SettingChanges {
    pub(super) changes: Vec<Value>,
    /// Changes as plans (values with their durations) in the scenario language; empty if no setting changed.
    pub(super) plans: String,
}

impl Live {
    pub(super) fn poll(&mut self, now: Time, emulation: &mut Emulation<Target>) {
        while let Some(pending) = self.control.as_ref().and_then(ControlSocket::poll) {
            let answer = self.settings.answer(&pending.request, emulation);
            pending.answer(answer);
        }
        if now >= self.next {
            self.next = (now + Duration::from_nanos(1)).round_up(self.every);
            self.sample(emulation);
        }
    }

    fn sample(&self, emulation: &mut Emulation<Target>) {
        if let Some(viewer) = &self.viewer {
            let now = emulation.observe(self.pipes.each_ref().map(Vec::as_slice));
            viewer.show(now, self.settings.current(emulation.clock().now()));
        }
    }

    /// Takes the last sample. Returns the changes of settings during the run.
    pub(super) fn finish(mut self, emulation: &mut Emulation<Target>) -> SettingChanges {
        self.sample(emulation);
        self.viewer.take();
        SettingChanges { changes: self.settings.changes_made(), plans: self.settings.plans() }
    }
}

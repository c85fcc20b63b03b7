//! Draws the rate, queue, round-trip time and losses of each direction, the lateness, and the command's output.

use super::super::view::View;
use super::captured_output::{CapturedOutput, lock};
use lasthop_base::{Duration, Rate};
use lasthop_emu::emulation::{Bounds, End};
use lasthop_wire::{LossReason, PerReason};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::terminal::size;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Sparkline};
use ratatui::{Frame, symbols};
use serde_json::Value;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex};

const DIRECTION_ROWS: u16 = 11;
/// Maximum number of samples stored per curve: one for each column of the widest supported terminal.
const MAX_SAMPLES: usize = 512;

/// Returns the number of rows for the command's output, without the frame, on a terminal with `rows` rows.
pub(super) fn output_rows(rows: u16) -> u16 {
    rows.saturating_sub(DIRECTION_ROWS + 4).max(1)
}

pub(in super::super) struct Picture {
    terminal: Terminal<CrosstermBackend<File>>,
    output: Arc<Mutex<CapturedOutput>>,
    title: String,
    directions: [DirectionHistory; 2],
    late: String,
    time: f64,
}

#[derive(Default)]
struct DirectionHistory {
    kbps: VecDeque<u64>,
    bytes: VecDeque<u64>,
    lost: PerReason<u64>,
    set: String,
    lines: [String; 4],
}

impl Picture {
    /// Creates a picture for a terminal that shows the alternate screen.
    ///
    /// # Errors
    /// If the size of the terminal is unknown.
    pub(in super::super) fn new(
        tty: File,
        output: Arc<Mutex<CapturedOutput>>,
        title: &str,
    ) -> io::Result<Picture> {
        let terminal = Terminal::new(CrosstermBackend::new(tty))?;
        let title = title.chars().filter(|c| !c.is_control()).collect();
        Ok(Picture {
            terminal,
            output,
            title,
            directions: Default::default(),
            late: String::new(),
            time: 0.0,
        })
    }

    pub(in super::super) fn update(&mut self, view: &View) {
        self.time = view.time;
        self.late = late(view);
        for end in End::BOTH {
            self.directions[end as usize].add(view, end);
        }
        let Picture { terminal, output, title, directions, late, time } = self;
        let rows = size().map_or(0, |(_, rows)| output_rows(rows));
        let printed = lock(output).last(rows.into());
        let _ = terminal.draw(|frame| draw(frame, (title, *time, late), directions, &printed));
    }
}

fn late(view: &View) -> String {
    let bound = Bounds::USUAL.late;
    match view.late {
        Some([p99, max]) => {
            format!("lateness since the last sample, us: p99 {p99:.0}, maximum {max:.0}; bound {bound}")
        }
        None => "no packet since the last sample".to_owned(),
    }
}

impl DirectionHistory {
    fn add(&mut self, view: &View, end: End) {
        let sample = &view.directions[end as usize];
        push_sample(&mut self.kbps, sample.kbps as u64);
        push_sample(&mut self.bytes, sample.bytes);
        self.lost = PerReason::new(|reason: LossReason| self.lost[reason] + sample.lost[reason]);
        let wait = sample.wait_ms.map_or("not known".to_owned(), |wait| format!("{wait:.1} ms"));
        let rtt = sample.rtt_ms.map_or("not known".to_owned(), |rtt| format!("{rtt:.1} ms"));
        let lost: Vec<String> = (self.lost.iter())
            .filter(|(_, count)| **count > 0)
            .map(|(reason, count)| format!("{count} {}", reason.name()))
            .collect();
        let lost = if lost.is_empty() { "none".to_owned() } else { lost.join(", ") };
        self.set = set(&view.current, end);
        self.lines = [
            format!("rate   {:.3} Mbit/s", sample.kbps / 1e3),
            format!("queue  {} packets, {:.1} kB, {wait}", sample.packets, sample.bytes as f64 / 1e3),
            format!("RTT    {rtt}"),
            format!("lost   {lost}"),
        ];
    }
}

fn push_sample(history: &mut VecDeque<u64>, value: u64) {
    if history.len() == MAX_SAMPLES {
        history.pop_front();
    }
    history.push_back(value);
}

/// Describes the settings of a direction's link. The text is empty if the direction has several links or no known
/// setting.
fn set(current: &Value, end: End) -> String {
    let name = if end == End::Client { "down" } else { "up" };
    let links = current["links"].as_array().into_iter().flatten();
    let mut here = links.filter(|link| link["direction"] == name);
    let (Some(link), None) = (here.next(), here.next()) else { return String::new() };
    let rate = link["rate_bps"]
        .as_u64()
        .map(|bps| if bps == 0 { "rate 0 (stopped)".to_owned() } else { Rate::from_bps(bps).to_string() });
    let delay = link["delay_ms"].as_f64().map(|ms| Duration::from_secs_f64(ms / 1e3).to_string());
    let loss = link["loss_pct"].as_f64().map(|percent| format!("{percent} %"));
    let known: Vec<String> = [rate, delay, loss].into_iter().flatten().collect();
    if known.is_empty() { String::new() } else { format!(": {}", known.join(", ")) }
}

fn draw(
    frame: &mut Frame<'_>,
    (title, time, late): (&str, f64, &str),
    directions: &[DirectionHistory; 2],
    printed: &[String],
) {
    let rows = [
        Constraint::Length(1),
        Constraint::Length(DIRECTION_ROWS),
        Constraint::Length(1),
        Constraint::Min(0),
    ];
    let [head, middle, foot, rest] = Layout::vertical(rows).areas(frame.area());
    let name = Span::styled(format!(" {title} "), Style::new().add_modifier(Modifier::BOLD));
    frame.render_widget(Line::from(vec![name, Span::raw(format!(" {time:.1} s"))]), head);
    let [left, right] = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).areas(middle);
    direction(frame, left, "down", &directions[End::Client as usize], Color::Cyan);
    direction(frame, right, "up", &directions[End::Server as usize], Color::Yellow);
    frame.render_widget(Line::raw(format!(" {late}")), foot);
    let pane = Block::bordered().title(" output of the command; printed in full at the end ");
    let inside = pane.inner(rest);
    frame.render_widget(pane, rest);
    let lines: Vec<Line<'_>> = printed.iter().map(|line| Line::raw(line.as_str())).collect();
    let skipped = lines.len().saturating_sub(inside.height.into());
    frame.render_widget(Paragraph::new(lines.into_iter().skip(skipped).collect::<Vec<_>>()), inside);
}

fn direction(frame: &mut Frame<'_>, area: Rect, name: &str, history: &DirectionHistory, colour: Color) {
    let block = Block::bordered().title(format!(" {name}{} ", history.set));
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let rows = [1, 3, 1, 2, 1, 1].map(Constraint::Length);
    let [rate, rates, queue, queues, rtt, lost] = Layout::vertical(rows).areas(inside);
    for (area, line) in [rate, queue, rtt, lost].into_iter().zip(&history.lines) {
        frame.render_widget(Line::raw(line.as_str()), area);
    }
    curve(frame, rates, &history.kbps, colour);
    curve(frame, queues, &history.bytes, Color::Magenta);
}

/// Draws a curve with the newest value at the right.
fn curve(frame: &mut Frame<'_>, area: Rect, history: &VecDeque<u64>, colour: Color) {
    let width = usize::from(area.width);
    let missing = width.saturating_sub(history.len());
    let newest = history.iter().skip(history.len().saturating_sub(width)).copied();
    let values: Vec<u64> = std::iter::repeat_n(0, missing).chain(newest).collect();
    let curve =
        Sparkline::default().data(values).bar_set(symbols::bar::NINE_LEVELS).style(Style::new().fg(colour));
    frame.render_widget(curve, area);
}

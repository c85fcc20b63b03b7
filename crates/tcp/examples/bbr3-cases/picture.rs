//! Image of one case: rates above, bytes in flight below, states as coloured background.

use crate::lab::{Lab, Row};
use lasthop_tcp::sender::congestion::bbr3::Bbr3State;
use std::fmt::Write;

const WIDTH: f64 = 860.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
/// Top and bottom of the panel of rates.
const RATES: [f64; 2] = [56.0, 206.0];
/// Top and bottom of the panel of bytes in flight.
const BYTES: [f64; 2] = [236.0, 366.0];
const HEIGHT: f64 = 412.0;
/// Largest number of time steps drawn.
const STEPS: usize = 320;

pub fn rate(bps: f64) -> String {
    if bps < 1e6 { format!("{:.0} kbit/s", bps / 1e3) } else { format!("{:.0} Mbit/s", bps / 1e6) }
}

fn colour(state: Bbr3State) -> (&'static str, &'static str) {
    match state {
        Bbr3State::Startup => ("#dbe9ff", "STARTUP"),
        Bbr3State::Drain => ("#ffe2d1", "DRAIN"),
        Bbr3State::Down => ("#fff1b8", "DOWN"),
        Bbr3State::Cruise => ("#f3f3f3", "CRUISE"),
        Bbr3State::Refill => ("#d9f2e3", "REFILL"),
        Bbr3State::Up => ("#b9e6c0", "UP"),
        Bbr3State::ProbeRtt => ("#e6d7f2", "PROBE_RTT"),
    }
}

type Line = (&'static str, &'static str, fn(&Row) -> Option<f64>);

const RATE_LINES: [Line; 4] = [
    ("delivery rate", "#9aa0a6", |row| row.delivery_rate),
    ("bw_shortterm", "#d9534f", |row| {
        Some(row.snapshot.bandwidth_short_term).filter(|rate| rate.is_finite())
    }),
    ("pacing rate", "#e69500", |row| Some(row.snapshot.pacing_rate)),
    ("max_bw", "#1a5fb4", |row| Some(row.snapshot.max_bandwidth)),
];
const BYTE_LINES: [Line; 4] = [
    ("inflight_longterm", "#8e44ad", |row| row.snapshot.inflight_long_term.map(|bytes| bytes as f64)),
    ("inflight_shortterm", "#d9534f", |row| row.snapshot.inflight_short_term.map(|bytes| bytes as f64)),
    ("cwnd", "#e69500", |row| Some(row.cwnd as f64)),
    ("in flight", "#1a5fb4", |row| Some(row.in_flight as f64)),
];

pub fn draw(heading: &str, lab: &Lab) -> String {
    let rows = lab.rows();
    let end = rows.last().map_or(1.0, |row| row.at.as_secs());
    let path = lab.path.rate.bps() as f64 / 8.0;
    let fastest = rows.iter().map(|row| row.snapshot.max_bandwidth).fold(path, f64::max) * 1.5;
    let most = rows.iter().map(|row| row.in_flight.max(row.cwnd)).max().unwrap_or(1) as f64 * 1.08;
    let x = |seconds: f64| LEFT + (WIDTH - LEFT - RIGHT) * seconds / end;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\
         <text x=\"{LEFT}\" y=\"18\" font-size=\"14\" font-weight=\"bold\">{heading}</text>"
    );
    states(&mut out, &rows, end, x);
    panel(&mut out, &rows, &RATE_LINES, RATES, fastest, "Mbit/s", 8.0 / 1e6, x);
    panel(&mut out, &rows, &BYTE_LINES, BYTES, most, "kB", 1e-3, x);
    let step = nice(end / 8.0);
    for k in 0..=(end / step) as usize {
        let at = k as f64 * step;
        let _ = write!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" fill=\"#555\">{}</text>",
            x(at),
            BYTES[1] + 16.0,
            short(at)
        );
    }
    let _ = write!(
        out,
        "<text x=\"{}\" y=\"{}\" text-anchor=\"end\" fill=\"#555\">s</text>",
        WIDTH - RIGHT,
        BYTES[1] + 32.0
    );
    legend(&mut out);
    out.push_str("</svg>\n");
    out
}

/// Legend of the state colours.
fn legend(out: &mut String) {
    let mut left = LEFT;
    for state in [
        Bbr3State::Startup,
        Bbr3State::Drain,
        Bbr3State::Down,
        Bbr3State::Cruise,
        Bbr3State::Refill,
        Bbr3State::Up,
        Bbr3State::ProbeRtt,
    ] {
        let (fill, name) = colour(state);
        let _ = write!(
            out,
            "<rect x=\"{left}\" y=\"{}\" width=\"14\" height=\"10\" fill=\"{fill}\" stroke=\"#bbb\"/>\
             <text x=\"{}\" y=\"{}\" font-size=\"10\" fill=\"#444\">{name}</text>",
            HEIGHT - 16.0,
            left + 18.0,
            HEIGHT - 7.0
        );
        left += 36.0 + 7.5 * name.len() as f64;
    }
}

/// Background rectangles, one per period in a state.
fn states(out: &mut String, rows: &[Row], end: f64, x: impl Fn(f64) -> f64) {
    let mut stretches: Vec<(f64, Bbr3State)> = Vec::new();
    for row in rows {
        if stretches.last().is_none_or(|(_, state)| *state != row.snapshot.state) {
            stretches.push((row.at.as_secs(), row.snapshot.state));
        }
    }
    let ends = stretches.iter().skip(1).map(|(at, _)| *at).chain([end]).collect::<Vec<_>>();
    for ((from, state), to) in stretches.into_iter().zip(ends) {
        let (fill, name) = colour(state);
        let (left, width) = (x(from), x(to) - x(from));
        for [top, bottom] in [RATES, BYTES] {
            let _ = write!(
                out,
                "<rect x=\"{left:.1}\" y=\"{top}\" width=\"{width:.1}\" height=\"{}\" fill=\"{fill}\"/>",
                bottom - top
            );
        }
        if width > 7.2 * name.len() as f64 {
            let _ = write!(
                out,
                "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\" font-size=\"10\" fill=\"#444\">{name}</text>",
                left + width / 2.0,
                RATES[1] + 12.0
            );
        }
    }
}

#[allow(clippy::too_many_arguments, reason = "one panel drawn twice")]
fn panel(
    out: &mut String,
    rows: &[Row],
    lines: &[Line],
    [top, bottom]: [f64; 2],
    most: f64,
    unit: &str,
    scale: f64,
    x: impl Fn(f64) -> f64,
) {
    let y = |value: f64| bottom - (bottom - top) * (value / most).min(1.0);
    let step = nice(most * scale / 4.0);
    for k in 0..=(most * scale / step) as usize {
        let value = k as f64 * step;
        let at = y(value / scale);
        let _ = write!(
            out,
            "<path d=\"M{LEFT} {at:.1}H{}\" stroke=\"#fff\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#555\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            short(value)
        );
    }
    let _ = write!(out, "<text x=\"8\" y=\"{:.1}\" fill=\"#555\">{unit}</text>", top - 6.0);
    for (number, (name, stroke, value)) in lines.iter().enumerate() {
        let _ = write!(
            out,
            "<text x=\"{:.0}\" y=\"{:.1}\" fill=\"{stroke}\">{name}</text>",
            LEFT + 20.0 + 140.0 * number as f64,
            if top < 100.0 { top - 8.0 } else { top - 4.0 }
        );
        trace(out, rows, *value, stroke, &x, y);
    }
}

/// Draws one curve, one value per time step, with gaps where `value` returns `None`.
fn trace(
    out: &mut String,
    rows: &[Row],
    value: fn(&Row) -> Option<f64>,
    stroke: &str,
    x: impl Fn(f64) -> f64,
    y: impl Fn(f64) -> f64,
) {
    let end = rows.last().map_or(1.0, |row| row.at.as_secs());
    let (mut d, mut is_drawing, mut slot) = (String::new(), false, usize::MAX);
    for row in rows {
        let this = (row.at.as_secs() / end * STEPS as f64) as usize;
        match value(row) {
            Some(value) if this != slot => {
                let _ = write!(
                    d,
                    "{}{:.1} {:.1}",
                    if is_drawing { "L" } else { "M" },
                    x(row.at.as_secs()),
                    y(value)
                );
                (is_drawing, slot) = (true, this);
            }
            None if this != slot => (is_drawing, slot) = (false, this),
            _ => {}
        }
    }
    let _ = write!(out, "<path d=\"{d}\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.4\"/>");
}

/// Rounds `step` up to 1, 2 or 5 times a power of ten.
fn nice(step: f64) -> f64 {
    let power = libm::pow(10.0, libm::floor(libm::log10(step)));
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|nice| *nice >= step).unwrap_or(step)
}

fn short(value: f64) -> String {
    let text = format!("{value:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

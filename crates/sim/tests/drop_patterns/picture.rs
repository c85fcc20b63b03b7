//! Pictures of runs, with a panel for each sender. As in the paper, a panel shows segment numbers modulo 90 over time.

use super::events::{EventList, RunEvent};
use lasthop_tcp::Event;
use std::fmt::Write;

const WIDTH: f64 = 1000.0;
const PANEL: f64 = 300.0;
const TOP: f64 = 62.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 14.0;
const GAP: f64 = 34.0;
const WRAP: u64 = 90;
const FROM: f64 = 1.0;
const TO: f64 = 6.0;

/// Draws the panels of the runs below each other.
pub fn draw(title: &str, runs: &[(&str, EventList)]) -> String {
    let height = TOP + runs.len() as f64 * (PANEL + GAP) + 12.0;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <title>{title}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"22\" font-size=\"16\" font-weight=\"bold\" fill=\"#222\">{title}</text>\n"
    );
    legend(&mut svg);
    for (index, (name, run)) in runs.iter().enumerate() {
        panel(&mut svg, TOP + index as f64 * (PANEL + GAP), name, run);
    }
    svg.push_str("</svg>\n");
    svg
}

fn x(seconds: f64) -> f64 {
    LEFT + (seconds - FROM) / (TO - FROM) * (WIDTH - LEFT - RIGHT)
}

fn y(top: f64, number: u64) -> f64 {
    top + PANEL - 6.0 - (number % WRAP) as f64 / WRAP as f64 * (PANEL - 12.0)
}

fn legend(svg: &mut String) {
    let line = 43.0;
    let mut at = LEFT + 6.0;
    let mut entry = |path: &str, style: &str, text: &str, width: f64| {
        put(svg, &format!("<path d=\"M{at:.1} {line}{path}\" {style}/>"));
        put(svg, &format!("<text x=\"{:.1}\" y=\"{}\" fill=\"#444\">{text}</text>", at + 9.0, line + 4.0));
        at += width;
    };
    let square = "m-2 -2h4v4h-4z";
    let dot = format!("stroke=\"{ACK}\" stroke-width=\"2.4\" stroke-linecap=\"round\"");
    let bar = format!("stroke=\"{TIMEOUT}\" stroke-width=\"1.5\"");
    entry(square, &format!("fill=\"{NEW}\""), "segment leaves the bottleneck (line: it waited)", 290.0);
    entry(square, &format!("fill=\"{AGAIN}\""), "retransmission", 150.0);
    entry("m-4 -4l8 8m0 -8l-8 8", LOST, "lost", 60.0);
    entry("h0", &dot, "ACK reaches the sender", 165.0);
    entry("m0 -6v12", &bar, "timeout", 0.0);
}

const NEW: &str = "#1f4e9c";
const AGAIN: &str = "#d96b00";
const ACK: &str = "#777";
const TIMEOUT: &str = "#b00020";
const LOST: &str = "stroke=\"#b00020\" stroke-width=\"2\" fill=\"none\"";

#[derive(Default)]
struct Marks(String);

impl Marks {
    fn add(&mut self, x: f64, y: f64, path: &str) {
        write!(self.0, "M{x:.1} {y:.1}{path}").expect("writing to a string succeeds");
    }

    fn put(&self, svg: &mut String, style: &str) {
        if !self.0.is_empty() {
            put(svg, &format!("<path d=\"{}\" {style}/>", self.0));
        }
    }
}

fn panel(svg: &mut String, top: f64, name: &str, run: &EventList) {
    axes(svg, top, name, run);
    let [mut waits, mut passed, mut repeated, mut lost, mut acks, mut timeouts] =
        [(); 6].map(|()| Marks::default());
    let mut again = Vec::new();
    for (time, what, _) in &run.events {
        let at = time.as_secs();
        if !(FROM..TO).contains(&at) {
            continue;
        }
        match *what {
            RunEvent::Sent { number, retransmission: true } => again.push(number),
            RunEvent::Forwarded { number, left } if left < TO => {
                let place = again.iter().position(|sent| *sent == number);
                let marks = if place.is_some() { &mut repeated } else { &mut passed };
                marks.add(x(left) - 1.8, y(top, number) - 1.8, "h3.6v3.6h-3.6z");
                if let Some(place) = place {
                    again.swap_remove(place);
                }
                if left - at > 0.02 {
                    waits.add(x(at), y(top, number), &format!("H{:.1}", x(left)));
                }
            }
            RunEvent::Dropped { number, .. } => lost.add(x(at) - 4.0, y(top, number) - 4.0, "l8 8m0 -8l-8 8"),
            RunEvent::Acked { number: Some(number) } => acks.add(x(at), y(top, number), "h0"),
            RunEvent::Reported(Event::TimedOut { .. }) => timeouts.add(x(at), top, &format!("v{PANEL}")),
            _ => {}
        }
    }
    waits.put(svg, &format!("stroke=\"{NEW}\" stroke-opacity=\".3\""));
    acks.put(svg, &format!("stroke=\"{ACK}\" stroke-width=\"2.4\" stroke-linecap=\"round\""));
    passed.put(svg, &format!("fill=\"{NEW}\""));
    repeated.put(svg, &format!("fill=\"{AGAIN}\""));
    lost.put(svg, LOST);
    timeouts.put(svg, &format!("stroke=\"{TIMEOUT}\" stroke-width=\"1.5\""));
}

fn axes(svg: &mut String, top: f64, name: &str, run: &EventList) {
    put(
        svg,
        &format!(
            "<rect x=\"{LEFT}\" y=\"{top}\" width=\"{}\" height=\"{PANEL}\" fill=\"none\" stroke=\"#bbb\"/>",
            WIDTH - LEFT - RIGHT
        ),
    );
    for number in (0..WRAP).step_by(15) {
        let y = y(top, number);
        put(svg, &format!("<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#eee\"/>", WIDTH - RIGHT));
        put(
            svg,
            &format!(
                "<text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"#666\">{number}</text>",
                LEFT - 5.0,
                y + 4.0
            ),
        );
    }
    for second in FROM as u64..=TO as u64 {
        put(
            svg,
            &format!(
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#666\">{second} s</text>",
                x(second as f64).min(WIDTH - RIGHT - 8.0),
                top + PANEL + 15.0
            ),
        );
    }
    let plural = |count: usize, one: &str, many: &str| match count {
        1 => format!("1 {one}"),
        count => format!("{count} {many}"),
    };
    let summary = format!(
        "{}, {}, {} acknowledged by {TO} s",
        plural(run.retransmissions().len(), "retransmission", "retransmissions"),
        plural(run.timeouts(), "timeout", "timeouts"),
        plural(run.highest_acked() as usize + 1, "segment", "segments"),
    );
    put(
        svg,
        &format!(
            "<text x=\"{}\" y=\"{}\" fill=\"#222\"><tspan font-weight=\"bold\" font-size=\"14\">{name}</tspan> <tspan dx=\"6\" fill=\"#555\">{summary}</tspan></text>",
            LEFT + 8.0,
            top + 18.0
        ),
    );
    put(
        svg,
        &format!(
            "<text transform=\"translate(14 {}) rotate(-90)\" text-anchor=\"middle\" fill=\"#666\">segment mod {WRAP}</text>",
            top + PANEL / 2.0
        ),
    );
}

fn put(svg: &mut String, element: &str) {
    writeln!(svg, "{element}").expect("writing to a string succeeds");
}

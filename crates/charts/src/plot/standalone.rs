//! Picture as a separate SVG file. The file contains its style, has all labels as text, and has a light background.
//!
//! Browsers, Inkscape, librsvg and resvg can draw the file. Some of these programs do not support CSS variables,
//! `vector-effect` or percentages. The file therefore has plain colours and positions in pixels.

use super::axes::{Axes, has_markers};
use super::curves::{FORMS, StyledCurve, dash, drawn, has_line, marker};
use super::escape::escaped;
use super::looks::{Look, Looks, legend_name};
use super::scale::Tick;
use super::{CHARACTER, TICKS, bars, grid, markers, notes};
use crate::figure::{CurveKind, Figure};
use std::fmt::Write;

const STYLE: &str = include_str!("../../web/standalone.css");
const FONT: &str = "Open Sans, DejaVu Sans, Arial, Helvetica, sans-serif";
/// Width of a plot, pixels.
const WIDTH: f64 = 640.0;
/// Heights of plots, pixels: height of a single plot, and height of each plot if the picture has several plots.
const HEIGHT: (f64, f64) = (320.0, 180.0);
/// Margin around the picture, pixels.
const MARGIN: f64 = 16.0;
/// Height of a line of text, pixels.
const LINE: f64 = 20.0;
/// Font sizes, pixels: size of labels, and size of the title.
const SIZES: (f64, f64) = (13.0, 15.0);
/// Sine and cosine of the angle (30°) by which category names are rotated.
const TURN: (f64, f64) = (0.5, 0.866);

/// Content of the SVG file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Picture {
    /// Title above the figures.
    pub title: String,
    /// Sentences below the figures.
    pub note: String,
    /// Command that draws the picture. The file contains the command as metadata.
    pub command: String,
    /// Figures, from top to bottom. If the picture has several figures, only the last figure has a label on its x axis.
    pub figures: Vec<Figure>,
}

/// Returns the content of the SVG file. Returns `None` if no figure has points.
pub fn svg(picture: &Picture) -> Option<String> {
    let figures: Vec<(&Figure, Axes)> =
        picture.figures.iter().filter_map(|figure| Some((figure, Axes::of(figure)?))).collect();
    let last = figures.len().checked_sub(1)?;
    let looks = Looks::of(figures.iter().map(|(figure, _)| *figure));
    let height = if last == 0 { HEIGHT.0 } else { HEIGHT.1 };
    let widest =
        figures.iter().flat_map(|(_, axes)| y_ticks(axes, height)).map(|tick| tick.label.width()).max();
    let left = MARGIN + 8.0 + widest.unwrap_or(0) as f64 * CHARACTER;
    let mut sheet = Sheet { body: String::new(), y: MARGIN, left };
    for line in wrapped(&picture.title, (left + WIDTH) / CHARACTER * SIZES.0 / SIZES.1) {
        sheet.line(MARGIN, "", SIZES.1, &line);
    }
    sheet.y += 4.0;
    for (index, (figure, axes)) in figures.into_iter().enumerate() {
        let mut axes = axes;
        (axes.size, axes.fine) = ((WIDTH, height), 10);
        let label = match picture.figures.len() {
            1 => figure.y_label.clone(),
            _ => format!("{}, {}", figure.title, figure.y_label),
        };
        sheet.line(left, "", SIZES.0, &label);
        sheet.figure(figure, &axes, &looks.assign(&figure.curves));
        if index == last {
            sheet.line(left + WIDTH / 2.0, "middle", SIZES.0, &figure.x_label);
        }
        sheet.y += LINE / 2.0;
    }
    let mut said = vec![picture.note.clone()];
    said.extend(picture.figures.iter().flat_map(notes));
    said.dedup();
    for line in wrapped(said.join(" ").trim(), (left + WIDTH) / CHARACTER) {
        sheet.line(MARGIN, "muted", SIZES.0 - 1.0, &line);
    }
    let Sheet { body, y, left } = sheet;
    let [width, height] = [left + WIDTH + MARGIN, y + MARGIN / 2.0].map(libm::ceil);
    let definitions = markers::definitions();
    let (_, definitions) = definitions.split_once("<defs>").unwrap_or_default();
    let (definitions, _) = definitions.split_once("</defs>").unwrap_or_default();
    let [title, command] = [&picture.title, &picture.command].map(|text| escaped(text));
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" font-family=\"{FONT}\">\n\
         <title>{title}</title>\n<desc>{command}</desc>\n<style>\n{STYLE}</style>\n<defs>{definitions}</defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n{body}</svg>\n"
    ))
}

/// Body of the SVG file. `y` is the upper end of the free space, and `left` is the left end of the plots, in pixels.
struct Sheet {
    body: String,
    y: f64,
    left: f64,
}

impl Sheet {
    fn line(&mut self, x: f64, class: &str, size: f64, text: &str) {
        self.text((x, self.y + 0.7 * LINE), class, size, &escaped(text), "");
        self.y += LINE;
    }

    fn text(&mut self, (x, y): (f64, f64), class: &str, size: f64, markup: &str, more: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        let _ = writeln!(
            self.body,
            "<text{class} x=\"{}\" y=\"{}\" font-size=\"{size}\"{more}>{markup}</text>",
            rounded(x),
            rounded(y)
        );
    }

    /// Adds the legend, the plot, and the labels of the ticks.
    fn figure(&mut self, figure: &Figure, axes: &Axes, looks: &[Look]) {
        self.legend(figure, looks);
        self.y += 6.0;
        let (width, height) = axes.size;
        let (x, y) = (self.left, self.y);
        let ticks = y_ticks(axes, height);
        let parts: Vec<StyledCurve<'_>> = figure
            .curves
            .iter()
            .zip(looks)
            .enumerate()
            .map(|(index, (curve, look))| StyledCurve { index, curve, look, row: None })
            .collect();
        let _ = writeln!(
            self.body,
            "<g class=\"lines\" transform=\"translate({} {})\">{}{}{}</g>\n<g transform=\"translate({} {})\">{}</g>",
            rounded(x),
            rounded(y),
            grid(axes, &ticks, figure),
            bars::svg(figure, axes, looks),
            drawn(figure, axes, &parts).paths,
            rounded(x),
            rounded(y),
            parts.iter().map(|part| marks(figure, axes, part)).collect::<String>()
        );
        for tick in &ticks {
            let at = (x - 8.0, y + (1.0 - tick.at) * height + 4.5);
            self.text(at, "end", SIZES.0, &tick.label.svg(), "");
        }
        self.y = y + height;
        if figure.x_categories.is_empty() {
            for tick in axes.x.ticks(TICKS.0) {
                self.text((x + tick.at * width, self.y + 18.0), "middle", SIZES.0, &tick.label.svg(), "");
            }
            self.y += LINE + 6.0;
        } else {
            self.categories(figure, axes);
        }
    }

    /// Adds the names of the categories. Rotates the names if they do not fit side by side.
    fn categories(&mut self, figure: &Figure, axes: &Axes) {
        let names = &figure.x_categories;
        let longest = names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as f64 * CHARACTER;
        let is_turned = (longest + CHARACTER) * names.len() as f64 > WIDTH;
        for (index, name) in names.iter().enumerate() {
            let (x, y) = (self.left + axes.x.place(index as f64 + 1.0) * WIDTH, self.y + 18.0);
            let turn = format!(" transform=\"rotate(-30 {} {})\"", rounded(x), rounded(y));
            let (class, turn) = if is_turned { ("end", &*turn) } else { ("middle", "") };
            self.text((x, y), class, SIZES.0, &escaped(name), turn);
        }
        self.y +=
            if is_turned { LINE + longest.min(self.left / TURN.1 + WIDTH) * TURN.0 } else { LINE + 6.0 };
    }

    fn legend(&mut self, figure: &Figure, looks: &[Look]) {
        let mut x = self.left;
        for (curve, look) in figure.curves.iter().zip(looks) {
            let name = legend_name(curve, &figure.curves);
            let sample = if has_line(figure, curve) { 32.0 } else { 14.0 };
            let whole = sample + 6.0 + name.chars().count() as f64 * CHARACTER;
            if x > self.left && x + whole > self.left + WIDTH {
                (x, self.y) = (self.left, self.y + LINE);
            }
            let middle = self.y + LINE / 2.0;
            if has_line(figure, curve) {
                let thin = if curve.kind == CurveKind::Measured { "" } else { " thin" };
                let _ = writeln!(
                    self.body,
                    "<g class=\"lines\"><path class=\"{} {}{thin}\" d=\"M{} {}h{sample}\"/></g>",
                    look.color,
                    dash(figure, curve, look),
                    rounded(x),
                    rounded(middle)
                );
            }
            if has_markers(figure, curve) {
                let mark = mark(&marker(curve, look), (x + sample / 2.0, middle));
                let _ = writeln!(self.body, "{}{mark}</g>", group(look, curve.kind));
            }
            self.text((x + sample + 6.0, middle + 4.5), "", SIZES.0, &escaped(&name), "");
            x += whole + 18.0;
        }
        self.y += LINE;
    }
}

fn marks(figure: &Figure, axes: &Axes, part: &StyledCurve<'_>) -> String {
    let StyledCurve { index, curve, look, .. } = part;
    let points = || curve.points.iter().filter(|point| axes.shows(point));
    if !has_markers(figure, curve) || (curve.kind == CurveKind::Dots && curve.points.len() > FORMS) {
        return String::new();
    }
    let (width, height) = axes.size;
    let places = points().map(|point| axes.place(*index, point));
    let marks: String = places.map(|(x, y)| mark(&marker(curve, look), (x * width, y * height))).collect();
    format!("{}{marks}</g>", group(look, curve.kind))
}

fn mark(id: &str, (x, y): (f64, f64)) -> String {
    format!("<use href=\"#{id}\" x=\"{}\" y=\"{}\"/>", rounded(x), rounded(y))
}

fn group(look: &Look, kind: CurveKind) -> String {
    format!("<g class=\"{}{}\">", look.color, if kind.is_ours() { "" } else { " hollow" })
}

fn y_ticks(axes: &Axes, height: f64) -> Vec<Tick> {
    axes.y.ticks(if height < HEIGHT.0 { TICKS.2 } else { TICKS.1 })
}

/// Breaks a text between words into lines of at most `width` characters.
fn wrapped(text: &str, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if ((line.chars().count() + 1 + word.chars().count()) as f64) < width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

fn rounded(place: f64) -> f64 {
    libm::round(place * 10.0) / 10.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Curve, Point};

    fn figure(title: &str) -> Figure {
        let points = [1.0, 2.0].map(|x| Point { x, y: x, ci95: Some([x - 0.5, x + 0.5]) });
        let curves = vec![Curve { name: "a < b".into(), kind: CurveKind::Measured, points: points.to_vec() }];
        let labels = ["rate, Mbit/s", "goodput, kbit/s"].map(String::from);
        let [x_label, y_label] = labels;
        Figure { title: title.into(), x_label, y_label, curves, ..Figure::default() }
    }

    #[test]
    fn a_picture_has_labels_intervals_and_its_command_and_needs_nothing_else() {
        let command = "lasthop compare umts --vary 'a=<b>'".to_owned();
        let picture =
            Picture { title: "T & U".into(), command, figures: vec![figure("one")], ..Picture::default() };
        let svg = svg(&picture).unwrap();
        for part in [
            ">rate, Mbit/s</text>",
            ">goodput, kbit/s</text>",
            "<title>T &amp; U</title>",
            "<desc>lasthop compare umts --vary &#39;a=&lt;b&gt;&#39;</desc>",
            ">a &lt; b</text>",
            " bar\" d=\"m",
            "Bars and bands are 95 % intervals.",
        ] {
            assert!(svg.contains(part), "{part}: {svg}");
        }
        for foreign in ["var(", "%\"", "vector-effect", "<script", "url("] {
            assert!(!svg.contains(foreign), "{foreign}");
        }
        assert_eq!(svg.matches("http").count(), 1, "the only URL must be the SVG namespace");
        for mark in svg.split("href=\"#").skip(1) {
            let (id, _) = mark.split_once('"').unwrap();
            assert_eq!(svg.matches(&format!(" id=\"{id}\"")).count(), 1, "{id}");
        }
    }

    #[test]
    fn figures_of_a_picture_share_the_label_of_their_x_axis() {
        let figures = vec![figure("One"), figure("Two")];
        let svg = svg(&Picture { figures, ..Picture::default() }).unwrap();
        assert_eq!(svg.matches(">rate, Mbit/s</text>").count(), 1);
        assert!(svg.contains(">One, goodput, kbit/s</text>") && svg.contains(">Two, goodput, kbit/s</text>"));
        assert_eq!(svg.matches("95 % intervals").count(), 1, "the note must appear once");
    }

    #[test]
    fn nothing_to_draw_is_no_picture() {
        assert_eq!(svg(&Picture { figures: vec![Figure::default()], ..Picture::default() }), None);
    }
}

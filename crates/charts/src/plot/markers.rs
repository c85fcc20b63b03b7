//! Shapes of markers. A page defines each shape once, and plots refer to these definitions.

use std::fmt::Write;

/// Half width of tiny markers, pixels.
const TINY: f64 = 2.5;
/// Half width of filled markers, pixels. A filled marker fits inside a hollow marker.
const FILLED: f64 = 4.0;
/// Half width of hollow markers, pixels.
const HOLLOW: f64 = 6.5;

/// Returns an invisible SVG with arrows, and with the markers `t0`… (tiny), `f0`… (filled), `h0`… (hollow), `s0`…
/// (strokes).
pub fn definitions() -> String {
    let mut out = String::from("<svg class=\"markers\" width=\"0\" height=\"0\" aria-hidden=\"true\"><defs>");
    for (name, size) in [("t", TINY), ("f", FILLED), ("h", HOLLOW)] {
        for (index, corners) in SHAPES.iter().enumerate() {
            let _ = write!(out, "<path id=\"{name}{index}\" d=\"{}\"/>", outline(corners, size));
        }
    }
    for (index, strokes) in STROKES.iter().enumerate() {
        let _ = write!(out, "<path id=\"s{index}\" d=\"{strokes}\"/>");
    }
    out + ARROWS + "</defs></svg>\n"
}

/// Returns the ids of the markers. No other element of a page may have one of these ids.
pub fn ids() -> impl Iterator<Item = String> {
    let forms = ["t", "f", "h"]
        .into_iter()
        .flat_map(|name| (0..SHAPES.len()).map(move |index| format!("{name}{index}")));
    let strokes = (0..STROKES.len()).map(|index| format!("s{index}"));
    forms.chain(strokes).chain(["to-left", "to-right", "on-left", "on-right"].map(String::from))
}

/// Corners of the shapes, in tenths of the half width. An empty list means a circle. The areas are about equal.
const SHAPES: [&[(i8, i8)]; 7] = [
    &[],
    &[(-9, -9), (9, -9), (9, 9), (-9, 9)],
    &[(0, -12), (11, 8), (-11, 8)],
    &[(0, -13), (13, 0), (0, 13), (-13, 0)],
    &[(0, 12), (11, -8), (-11, -8)],
    &[(0, -14), (4, -4), (13, -4), (6, 3), (8, 12), (0, 7), (-8, 12), (-6, 3), (-13, -4), (-4, -4)],
    &[
        (-4, -12),
        (4, -12),
        (4, -4),
        (12, -4),
        (12, 4),
        (4, 4),
        (4, 12),
        (-4, 12),
        (-4, 4),
        (-12, 4),
        (-12, -4),
        (-4, -4),
    ],
];

/// Shapes that are drawn as strokes. The last shape marks numbers of programs other than Lasthop. The marker of
/// Lasthop's point fits between the arms of this shape.
const STROKES: [&str; 5] = [
    "M-5-5 5 5M-5 5 5-5",
    "M-7 0H7M0-7V7",
    "M-6-3 6 3M-6 3 6-3M0-7V7",
    "M0-6 6 0 0 6-6 0z",
    "M-9-9-3-3M9 9 3 3M-9 9-3 3M9-9 3-3",
];

const ARROWS: &str = "<path id=\"to-left\" d=\"M-8 0l10-6v12z\"/><path id=\"to-right\" d=\"M8 0l-10-6v12z\"/>\
    <path id=\"on-left\" d=\"M-3-5l-5 5 5 5\"/><path id=\"on-right\" d=\"M3-5l5 5-5 5\"/>";

fn outline(corners: &[(i8, i8)], size: f64) -> String {
    if corners.is_empty() {
        let (left, across) = (-size, 2.0 * size);
        return format!("M{left} 0a{size} {size} 0 0 0 {across} 0a{size} {size} 0 0 0 -{across} 0z");
    }
    let place = |tenths: i8| libm::round(f64::from(tenths) * size) / 10.0;
    let places: Vec<String> = corners.iter().map(|(x, y)| format!("{} {}", place(*x), place(*y))).collect();
    format!("M{}z", places.join(" "))
}

//! Compares saturated stations in a Wi-Fi cell with Bianchi's model. `cargo run -p lasthop-net --example cell --
//! docs/images/cell.svg` prints the table of `docs/development/validation/wifi.md` and draws its figure.

#[allow(dead_code, reason = "the tests use more")]
#[path = "../../tests/wifi/air.rs"]
mod air;
#[allow(dead_code, reason = "the tests use more")]
#[path = "../../tests/wifi/bianchi.rs"]
mod bianchi;

use std::fmt::Write;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 330.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 44.0;
const BOTTOM: f64 = 282.0;
/// Largest number of stations drawn.
const MAX_STATIONS: usize = 50;

fn x(stations: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * stations as f64 / MAX_STATIONS as f64
}

fn y(share: f64) -> f64 {
    BOTTOM - (BOTTOM - TOP) * share
}

/// Draws Bianchi's model as a dashed line, the model with DCF's back-off as a solid line, and measurements as circles.
fn series(out: &mut String, colour: &str, models: [fn(i32) -> f64; 2], measured: &[(usize, f64)]) {
    for (model, dashes) in models.into_iter().zip(["5 4", "none"]) {
        let points: Vec<String> =
            (1..=MAX_STATIONS).map(|n| format!("{:.1},{:.1}", x(n), y(model(n as i32)))).collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.5\" stroke-dasharray=\"{dashes}\"/>",
            points.join(" ")
        );
    }
    for (n, share) in measured {
        let _ = writeln!(
            out,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"4\" fill=\"#fff\" stroke=\"{colour}\" stroke-width=\"2\"/>",
            x(*n),
            y(*share)
        );
    }
}

fn label(out: &mut String, [x, y]: [f64; 2], anchor: &str, colour: &str, text: &str) {
    let _ = writeln!(
        out,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{colour}\">{text}</text>"
    );
}

/// Runs the example.
pub fn main() {
    let counts = [1, 2, 5, 10, 20, 50];
    let measured: Vec<(usize, (f64, f64))> = counts.map(|n| (n, bianchi::saturated(n))).to_vec();
    println!("| stations | throughput | Bianchi | DCF's count | collide | Bianchi | DCF's count |");
    println!("|---|---|---|---|---|---|---|");
    for (n, (throughput, collide)) in &measured {
        let stations = *n as i32;
        let (dcf, collisions) = bianchi::dcf(stations);
        let expected = bianchi::bianchis_throughput(stations);
        let [collide, p, collisions] =
            [*collide, bianchi::bianchi(stations).0, collisions].map(|share| share * 100.0);
        println!(
            "| {n} | {throughput:.3} | {expected:.3} | {dcf:.3} | {collide:.1} % | {p:.1} % | {collisions:.1} % |"
        );
    }
    let Some(file) = std::env::args().nth(1) else { return };
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\"><rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#fff\"/>\n"
    );
    label(
        &mut out,
        [LEFT, 20.0],
        "start",
        "#222",
        "Saturated stations in a cell: measured (circles), Bianchi 2000 (dashed), with DCF's back-off (lines)",
    );
    for tenth in (0..=10).step_by(2) {
        let share = f64::from(tenth) / 10.0;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#ddd\"/>",
            WIDTH - RIGHT,
            y(share),
            y(share)
        );
        label(&mut out, [LEFT - 8.0, y(share) + 4.0], "end", "#555", &format!("{} %", 10 * tenth));
    }
    for n in [1, 5, 10, 20, 30, 40, 50] {
        label(&mut out, [x(n), BOTTOM + 18.0], "middle", "#555", &n.to_string());
    }
    label(&mut out, [WIDTH - RIGHT, BOTTOM + 38.0], "end", "#555", "stations");
    let models: [fn(i32) -> f64; 2] = [bianchi::bianchis_throughput, |n| bianchi::dcf(n).0];
    let throughput: Vec<(usize, f64)> = measured.iter().map(|(n, (share, _))| (*n, *share)).collect();
    series(&mut out, "#1a5fb4", models, &throughput);
    label(&mut out, [x(30), y(0.73)], "start", "#1a5fb4", "throughput, share of the rate");
    let models: [fn(i32) -> f64; 2] = [|n| bianchi::bianchi(n).0, |n| bianchi::dcf(n).1];
    let collide: Vec<(usize, f64)> = measured.iter().map(|(n, (_, share))| (*n, *share)).collect();
    series(&mut out, "#c64600", models, &collide);
    label(&mut out, [x(30), y(0.34)], "start", "#c64600", "transmissions that collide");
    out.push_str("</svg>\n");
    std::fs::write(&file, out).expect("writes the figure");
}

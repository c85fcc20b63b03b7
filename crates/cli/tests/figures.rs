//! Pictures of `--figure`, and the first screens of reports.

mod common;

use common::{LOSSY, call_in, names_in, stderr_of};
use resvg::usvg::roxmltree::{Document, Node};
use std::path::Path;

const VARIED: [&str; 6] = ["--vary", "loss=0.5%,2%", "--vary", "recovery=sack,reno", "--runs", "3"];

fn done(folder: &Path, arguments: &[&str]) {
    let output = call_in(folder, arguments);
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
}

fn compared(folder: &Path, file: &str) {
    done(folder, &[&["compare", LOSSY], &VARIED[..], &["--figure", file]].concat());
}

fn text(folder: &Path, file: &str) -> String {
    std::fs::read_to_string(folder.join(file)).unwrap()
}

/// Returns the texts of an SVG, and the number of elements of a class.
fn read(svg: &str, class: &str) -> (Vec<String>, usize) {
    let document = Document::parse(svg).expect("XML");
    let elements = || document.descendants().filter(|node| node.is_element());
    let texts = elements().filter(|node| node.has_tag_name("text"));
    let parts = |node: Node<'_, '_>| {
        node.descendants().filter(|part| part.is_text()).filter_map(|part| part.text()).collect()
    };
    let texts = texts.map(parts);
    let has_class = |classes: &str| classes.split(' ').any(|one| one == class);
    (texts.collect(), elements().filter(|node| node.attribute("class").is_some_and(has_class)).count())
}

#[test]
fn a_comparison_is_curves_with_intervals_labels_and_its_command() {
    let folder = tempfile::tempdir().unwrap();
    compared(folder.path(), "a.svg");
    let svg = text(folder.path(), "a.svg");
    let (texts, bars) = read(&svg, "bar");
    for label in ["loss, %", "goodput, kbit/s", "sack", "reno"] {
        assert!(texts.iter().any(|text| text == label), "{label}: {texts:?}");
    }
    assert_eq!(bars, 2, "two curves must have intervals");
    let command = format!("lasthop compare {LOSSY} {} --figure a.svg", VARIED.join(" "));
    let document = Document::parse(&svg).unwrap();
    let desc = document.descendants().find(|node| node.has_tag_name("desc")).and_then(|node| node.text());
    assert_eq!(desc, Some(&*command));
    // The same command gives the same bytes, because the file has no date and no other data of the run.
    compared(folder.path(), "a.svg");
    assert_eq!(text(folder.path(), "a.svg"), svg);
}

#[test]
fn words_are_bars_and_the_chosen_metric_is_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let arguments =
        ["--vary", "recovery=sack,reno", "--runs", "2", "--metric", "mean_rtt_ms", "--figure", "a.SVG"];
    done(folder.path(), &[&["compare", LOSSY], &arguments[..]].concat());
    let (texts, bars) = read(&text(folder.path(), "a.SVG"), "band");
    assert_eq!(bars, 1);
    for label in ["mean RTT, ms", "recovery", "sack", "reno"] {
        assert!(texts.iter().any(|text| text == label), "{label}: {texts:?}");
    }
}

#[test]
fn a_run_is_goodput_and_queues_over_time() {
    let folder = tempfile::tempdir().unwrap();
    done(folder.path(), &["run", LOSSY, "--runs", "1", "--figure", "a.svg", "--report", "a.html"]);
    let (texts, lines) = read(&text(folder.path(), "a.svg"), "thin");
    for label in ["Goodput, kbit/s", "Queue lengths, packets", "time, s"] {
        assert!(texts.iter().any(|text| text == label), "{label}: {texts:?}");
    }
    assert!(lines >= 4, "two curves, and their two legend entries: {lines}");
    let report = text(folder.path(), "a.html");
    let at = |part: &str| report.find(part).unwrap_or_else(|| panic!("{part}"));
    let order = ["<div class=\"answer\">", "<dl class=\"tiles\">", "id=\"answer-queues\"", "<table"];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])));
}

/// The picture has a white background. In the rows of the title, the picture has more dark pixels than a picture
/// without text would have.
#[test]
fn a_png_decodes_and_has_curves_and_text() {
    let folder = tempfile::tempdir().unwrap();
    compared(folder.path(), "a.png");
    let bytes = std::fs::read(folder.path().join("a.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
    let comment = &reader.info().utf8_text[0];
    assert!(comment.get_text().unwrap().starts_with("lasthop compare "), "{comment:?}");
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert!(info.width > 1000 && info.height > 600, "{info:?}");
    let count = |rows: std::ops::Range<u32>, color: [u8; 4]| {
        let row = info.line_size;
        let part = &pixels[rows.start as usize * row..rows.end as usize * row];
        part.chunks(4).filter(|pixel| **pixel == color).count()
    };
    let all = (info.width * info.height) as usize;
    assert!(count(0..info.height, [255; 4]) > all / 2, "most pixels must be background");
    assert!(count(0..info.height, [0, 0x72, 0xb2, 255]) > 500, "the first curve must be drawn");
    // The title has a margin of 16 and a height of 20 SVG pixels, and each SVG pixel is two pixels of the PNG.
    assert!(count(32..72, [0x16, 0x19, 0x1d, 255]) > 200, "the title must be drawn");
}

#[test]
fn other_names_are_refused_before_any_run() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, message) in [
        (&["--figure", "a.pdf"][..], "expected a name that ends with .svg or .png"),
        (&["--figure", "a.svg", "--report", "a.svg"], "two flags name the same file"),
        (&["--figure", "missing/a.svg"], "the directory `missing` does not exist"),
    ] {
        for command in [&["run", LOSSY][..], &["compare", LOSSY, "--vary", "recovery=sack,reno"]] {
            let output = call_in(folder.path(), &[command, arguments].concat());
            assert_eq!(output.status.code(), Some(2), "{}", stderr_of(&output));
            assert!(stderr_of(&output).contains(message), "{}", stderr_of(&output));
        }
    }
    assert_eq!(names_in(folder.path()), [""; 0]);
}

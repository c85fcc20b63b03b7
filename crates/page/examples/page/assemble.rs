//! Builds the page as a single file from the markup, the style, the scripts, the worker's script and the engine.
//!
//! The Content-Security-Policy of the page allows only one script and one style (by their hashes), a worker from a blob
//! of this page, and WebAssembly.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha2::{Digest, Sha256};
use zopfli::{Format, Options};

const MARKUP: &str = include_str!("../../web/page.html");
const WORKER: &str = include_str!("../../web/worker.js");
const STYLE: &str = include_str!("../../web/page.css");
const SCRIPTS: [&str; 9] = [
    include_str!("../../web/js/state.js"),
    include_str!("../../web/js/engine.js"),
    include_str!("../../web/js/controls.js"),
    include_str!("../../web/js/charts.js"),
    include_str!("../../web/js/path.js"),
    include_str!("../../web/js/segments.js"),
    include_str!("../../web/js/lessons.js"),
    include_str!("../../web/js/export.js"),
    include_str!("../../web/js/main.js"),
];

/// Largest number of DEFLATE blocks of the compressed engine. For an engine of 1.26 MB, Zopfli's default of 15 blocks
/// is too small. 30 blocks make the page 4,400 characters shorter than 15 blocks, and 60 blocks make it 5,700
/// characters shorter. More blocks gain nothing.
const MAX_BLOCKS: u16 = 60;

/// Compresses the engine and encodes the result as text for the page.
pub fn packed(engine: &[u8]) -> std::io::Result<String> {
    let mut gzip = Vec::new();
    let options = Options { maximum_block_splits: MAX_BLOCKS, ..Options::default() };
    zopfli::compress(options, Format::Gzip, engine, &mut gzip)?;
    Ok(letters(&gzip))
}

/// Encodes bytes as text: the number of bytes, a colon, and five characters for each group of four bytes. The
/// characters are digits in base 85, the most significant digit first. Digit 0 is `#`, and `!` replaces `<`. The text
/// takes 25 % more space than the bytes. Base64 would take 33 % more.
pub fn letters(bytes: &[u8]) -> String {
    let mut text = format!("{}:", bytes.len());
    for four in bytes.chunks(4) {
        let mut value =
            (0..4).fold(0_u32, |value, at| value << 8 | u32::from(four.get(at).copied().unwrap_or(0)));
        let mut digits = [0_u8; 5];
        for digit in digits.iter_mut().rev() {
            *digit = (value % 85) as u8;
            value /= 85;
        }
        text.extend(
            digits.iter().map(|digit| if b'#' + digit == b'<' { '!' } else { char::from(b'#' + digit) }),
        );
    }
    text
}

pub fn packed_in(page: &str) -> std::io::Result<&str> {
    let engine = page.split_once(r#"id="engine">"#).and_then(|(_, rest)| rest.split_once("</script>"));
    engine.map(|(engine, _)| engine).ok_or_else(|| std::io::Error::other("the page contains no engine"))
}

pub fn page(engine: &str) -> String {
    let scripts: String = lasthop_charts::SCRIPTS.into_iter().chain(SCRIPTS).map(bare).collect();
    let script = format!("(() => {{\n'use strict';\n{scripts}}})();\n");
    let style = bare_style(lasthop_charts::STYLE) + &bare_style(STYLE);
    let policy = format!(
        "default-src 'none'; script-src {} 'wasm-unsafe-eval'; style-src {}; worker-src blob:; img-src data: blob:; \
         base-uri 'none'; form-action 'none'",
        hash(&script),
        hash(&style)
    );
    let licences = "Lasthop: Apache-2.0 or MIT, at your choice.";
    let worker = bare(WORKER);
    let parts = [
        ("policy", policy.as_str()),
        ("style", &style),
        ("licences", licences),
        ("worker", &worker),
        ("engine", engine),
        ("script", &script),
    ];
    // Searches only the text after the last placeholder, so that inserted text is not searched.
    let mut page = String::new();
    let mut rest = MARKUP;
    for (name, text) in parts {
        let mark = format!("{{{{{name}}}}}");
        let (before, after) = rest
            .split_once(&mark)
            .unwrap_or_else(|| panic!("page.html lacks {mark}, or has this mark in the wrong place"));
        page.push_str(before);
        page.push_str(text);
        rest = after;
    }
    page + rest
}

/// Removes indentation and comment lines from a script. No string in the script may span several lines.
fn bare(text: &str) -> String {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    lines.map(|line| shorter(line) + "\n").collect()
}

/// Removes the spaces around the `=` of a declaration.
fn shorter(line: &str) -> String {
    match line.split_once(" = ") {
        Some((declared, value)) if declared.starts_with("const ") || declared.starts_with("let ") => {
            format!("{declared}={value}")
        }
        _ => line.to_owned(),
    }
}

/// Removes line ends, comment lines, and spaces beside punctuation from a style sheet. Each line must end with a
/// punctuation mark. No string in the style sheet may contain the pairs that are replaced. Each comment must be on a
/// line of its own.
fn bare_style(text: &str) -> String {
    let style: String = text.lines().map(str::trim).filter(|line| !line.starts_with("/*")).collect();
    let shorter =
        [(" {", "{"), ("{ ", "{"), ("; }", "}"), (" }", "}"), ("; ", ";"), (": ", ":"), (", ", ",")];
    shorter.into_iter().fold(style, |style, (from, to)| style.replace(from, to))
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", BASE64_STANDARD.encode(Sha256::digest(text)))
}

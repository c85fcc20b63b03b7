//! Several variants in one time-sequence graph.

use crate::{OpenedPage, opened};
use serde_json::{Value, json};

/// Expression that returns the number of pixels of the graph in the colour of each of three variants.
const PIXELS: &str = "(() => {
    const canvas = document.getElementById('sequence'), { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    return ['--c1', '--c2', '--c3'].map(name => {
        const [red, green, blue] = getComputedStyle(document.documentElement).getPropertyValue(name).match(/[0-9a-f]{2}/gi).map(two => parseInt(two, 16));
        let count = 0;
        for (let at = 0; at < data.length; at += 4) count += data[at] === red && data[at + 1] === green && data[at + 2] === blue;
        return count;
    });
})()";

#[test]
fn variants_are_drawn_into_one_picture_with_a_legend() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    let alone = browser.text("document.getElementById('sequence-key').textContent");
    assert_eq!(
        browser.value("document.querySelectorAll('#over input').length"),
        json!(1),
        "one check box, for variant B"
    );
    let pictures = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count");
    browser.value("document.getElementById('over-1').focus(), document.getElementById('over-1').click(), 0");
    browser.wait(&format!("Number(document.body.dataset.pictures) > {pictures}"));
    assert_ne!(browser.text("document.getElementById('sequence-key').textContent"), alone);
    // The graph has the colours of exactly two variants. The check box keeps the focus, and the settings in the page's
    // URL include the selection.
    let pixels = browser.value(PIXELS);
    let count = |at: usize| pixels[at].as_u64().expect("a count");
    assert!(count(0) > 100 && count(1) > 100 && count(2) == 0, "{pixels}");
    assert_eq!(browser.text("document.activeElement.id"), "over-1");
    assert_eq!(browser.value("lab.settings(location.hash.slice(1)).then(found => found.over)"), json!([1]));
    // The SVG file has a legend, and dashed lines for the second variant.
    browser.value(
        "window.made = []; URL.createObjectURL = blob => { made.push(blob); return 'data:,'; };
        HTMLAnchorElement.prototype.click = () => {}; document.getElementById('svg').click(), 0",
    );
    let svg = browser.text("made[0].text()");
    assert!(svg.contains("Segments and ACKs of variant A and B"), "{svg}");
    assert!(
        svg.contains(">A</text>") && svg.contains(">B</text>") && svg.contains("stroke-dasharray"),
        "{svg}"
    );
    // Zooming out beyond the loaded part of the graph reloads the segments of both variants.
    browser.value("document.querySelector('[data-zoom=all]').click(), 0");
    let pixels = browser.value(PIXELS);
    assert!(
        pixels.as_array().is_some_and(|it| it[..2].iter().all(|one| one.as_u64() > Some(100))),
        "{pixels}"
    );
    let remove =
        "[...document.querySelectorAll('#variants button')].filter(one => one.textContent === 'Remove')[1]";
    browser.value(&format!("{remove}.click(), 0"));
    browser.wait(&format!("document.getElementById('sequence-key').textContent === {}", Value::from(alone)));
    assert_eq!(browser.value("lab.state().over"), json!([]));
    // The browser warns of frequent canvas reads, which this test makes.
    browser.complaints.retain(|one| !one.contains("getImageData"));
    assert_eq!(browser.complaints, [""; 0]);
}

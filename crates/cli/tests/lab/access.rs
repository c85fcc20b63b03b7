//! For everybody: by keyboard alone, on a telephone, in the dark.

use crate::{Opened, opened};
use serde_json::{Value, json};
use std::path::Path;

/// Where `make test` puts axe-core (MPL 2.0, not in this repository).
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/axe/axe.min.js");

#[test]
fn every_control_is_reached_by_tab_and_does_something() {
    let Some(Opened { mut browser, .. }) = opened("") else { return };
    let controls =
        "[...document.querySelectorAll('button, input, select, textarea, summary, [tabindex=\"0\"]')]
        .filter(one => one.checkVisibility() && !one.disabled).length";
    let controls = browser.value(controls).as_u64().expect("a count");
    browser.value("document.body.focus()");
    browser.value("window.seen = new Set()");
    for _ in 0..controls + 5 {
        browser.press("Tab");
        browser.value("seen.add(document.activeElement), 0");
    }
    let seen = browser.value("[...seen].filter(one => one.matches('button, input, select, textarea, summary, [tabindex=\"0\"]')).length");
    assert_eq!(seen, json!(controls), "controls that Tab reaches");

    let pictures = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count");
    browser.value("document.getElementById('slide-rate').focus()");
    browser.press("ArrowRight");
    browser.wait(&format!("Number(document.body.dataset.pictures) > {pictures}"));
    // The graph: to a loss, and its story.
    browser.value("document.getElementById('sequence').focus()");
    browser.press("n");
    browser.wait("document.getElementById('said').textContent.includes('is lost at')");
    browser.press("Enter");
    browser.wait("!document.getElementById('story').hidden");
    let story = browser.text("document.getElementById('story').innerText");
    assert!(
        story.contains("It is lost on link path: destroyed on the air.") && story.contains("sends it again"),
        "{story}"
    );
}

#[test]
fn a_telephone_shows_all_without_scrolling_sideways() {
    let Some(Opened { mut browser, page, .. }) = opened("") else { return };
    browser.size(360, 740);
    browser.open(&page, "");
    browser.wait("document.body.dataset.repetitions === '10'");
    let beside = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(beside), json!(0));
    let narrow = browser
        .value("[...document.querySelectorAll('canvas')].map(one => one.getBoundingClientRect().width)");
    assert!(
        narrow.as_array().expect("widths").iter().all(|width| width.as_f64().is_some_and(|it| it > 250.0)),
        "{narrow}"
    );
}

#[test]
fn axe_finds_nothing_serious() {
    if !Path::new(AXE).exists() {
        eprintln!("skipped: no axe-core in target/axe (make tools)");
        return;
    }
    let axe = std::fs::read_to_string(AXE).expect("axe-core");
    let Some(Opened { mut browser, page, .. }) = opened("") else { return };
    for (scheme, hash) in [("light", ""), ("dark", ""), ("light", "#sack")] {
        browser.scheme(scheme);
        browser.open(&page, hash);
        browser.wait("Number(document.body.dataset.repetitions) >= 5");
        browser.value("document.getElementById('own').open = true, 0");
        browser.value(&format!("{axe}; 0"));
        let found = browser.value(
            "axe.run(document).then(result => result.violations.filter(one => ['serious', 'critical'].includes(one.impact))
             .map(one => [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))",
        );
        assert_eq!(found, Value::Array(Vec::new()), "{scheme} {hash}: {found:#}");
    }
}

/// A long run's graph is drawn fast enough to be dragged: 30 pictures a second with 100,000 events.
#[test]
fn a_hundred_thousand_events_are_drawn_quickly() {
    let Some(Opened { mut browser, .. }) = opened("") else { return };
    browser.value("Object.assign(lab.state(), { keys: { rate: '60Mbit/s', rtt: '40ms', queue: '1bdp', duration: '20s' }, runs: 1 }), 0");
    let pictures = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count");
    browser.value("document.getElementById('more').dispatchEvent(new Event('change'))");
    browser.wait(&format!("Number(document.body.dataset.pictures) > {pictures}"));
    let events = "lab.runs()[0].columns['data.sent_s'].length + lab.runs()[0].columns['ack.time_s'].length";
    let events = browser.value(events).as_u64().expect("a count");
    assert!(events > 90_000, "{events} events");
    browser.value("document.querySelector('[data-zoom=all]').click()");
    let drawn = browser.text("document.body.dataset.sequenceMs");
    println!("{events} events drawn in {drawn} ms");
    assert!(drawn.parse::<f64>().is_ok_and(|ms| ms < 330.0), "on a busy machine: {drawn} ms");
}

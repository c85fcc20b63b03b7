//! Accessibility of the page: keyboard only, small screens, dark mode.

use crate::browser::Browser;
use crate::{OpenedPage, lasthop, opened};
use serde_json::{Value, json};
use std::path::Path;

/// axe-core, installed by `make test` (MPL 2.0, not in this repository).
const AXE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/axe/axe.min.js");

#[test]
fn every_control_is_reached_by_tab_and_does_something() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
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
    assert_eq!(seen, json!(controls), "Tab must reach every control");

    let pictures = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count");
    browser.value("document.getElementById('slide-rate').focus()");
    browser.press("ArrowRight");
    browser.wait(&format!("Number(document.body.dataset.pictures) > {pictures}"));
    // In the graph, the key `n` selects a loss, and Enter shows the history of the lost segment.
    browser.value("document.getElementById('sequence').focus()");
    browser.press("n");
    browser.wait("document.getElementById('said').textContent.includes('is lost at')");
    browser.press("Enter");
    browser.wait("!document.getElementById('story').hidden");
    let story = browser.text("document.getElementById('story').innerText");
    assert!(
        story.contains("It is lost on link path: destroyed on the air.") && story.contains("retransmits it"),
        "{story}"
    );
}

#[test]
fn a_telephone_shows_all_without_scrolling_sideways() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    browser.size(360, 740);
    browser.open(&page, "");
    browser.wait("document.body.dataset.repetitions === '10'");
    let beside = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.value(beside), json!(0));
    let wide = browser.value(
        "[...document.querySelectorAll('canvas, .area')].map(one => one.getBoundingClientRect().width)",
    );
    assert!(
        wide.as_array().is_some_and(|it| {
            it.len() == 6 && it.iter().all(|width| width.as_f64().is_some_and(|it| it > 240.0))
        }),
        "{wide}"
    );
}

/// A small notebook, a tablet and a telephone show the whole time-sequence graph without scrolling. A sentence above
/// the graph describes the variants.
#[test]
fn the_picture_is_on_the_first_screen() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    for (width, height) in [(1400, 900), (768, 1024), (420, 860)] {
        browser.size(width, height);
        browser.open(&page, "");
        browser.wait("document.body.dataset.repetitions === '10'");
        let places = browser.value(
            "(() => { const box = id => document.getElementById(id).getBoundingClientRect(), root = document.documentElement;
                return [box('about').top, box('about').bottom, box('sequence').top, box('sequence').bottom, root.scrollWidth - root.clientWidth]; })()",
        );
        let [about_top, about_bottom, top, bottom, beside] =
            [0, 1, 2, 3, 4].map(|at| places[at].as_f64().expect("a number"));
        assert!(about_bottom > about_top && top >= about_bottom, "{width}: {places}");
        assert!(bottom <= f64::from(height) && bottom - top >= 280.0, "{width}: {places}");
        assert_eq!(beside, 0.0, "{width}: wider than the screen");
    }
    let about = |browser: &mut Browser| browser.text("document.getElementById('about').textContent");
    assert_eq!(
        about(&mut browser),
        "Variants A and B run over the same path with the same random losses: A without a change; B with congestion = reno."
    );
    browser.value("document.querySelector('[data-variant=\"0\"] > .buttons button').click()");
    browser.wait("lab.runs().length === 1");
    assert_eq!(about(&mut browser), "Variant A runs over this path, with congestion = reno.");
}

fn serious(browser: &mut Browser) -> Option<Value> {
    let axe = std::fs::read_to_string(AXE).ok()?;
    browser.value(&format!("{axe}; 0"));
    Some(browser.value(
        "axe.run(document).then(result => result.violations.filter(one => ['serious', 'critical'].includes(one.impact))
         .map(one => [one.id, one.help, one.nodes.slice(0, 3).map(node => node.html.slice(0, 200))]))",
    ))
}

#[test]
fn axe_finds_nothing_serious() {
    if !Path::new(AXE).exists() {
        eprintln!("skipped: no axe-core in target/axe (make tools)");
        return;
    }
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    for (scheme, hash) in [("light", ""), ("dark", ""), ("light", "#sack")] {
        browser.scheme(scheme);
        browser.open(&page, hash);
        browser.wait("Number(document.body.dataset.repetitions) >= 5");
        browser
            .value("document.getElementById('own').open = document.getElementById('saves').open = true, 0");
        assert_eq!(serious(&mut browser), Some(Value::Array(Vec::new())), "{scheme} {hash}");
    }
}

/// Reports of `run`, `compare` and `reproduce` have no serious accessibility problems, no horizontal scrolling on a
/// telephone, no errors, and less than 1 MB.
#[test]
fn reports_are_for_everybody() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = browser.folder.path().to_owned();
    let file = |name: &str| folder.join(name);
    let line = "rate=10Mbit/s,rtt=40ms,queue=1bdp,loss=0.5%,duration=10s";
    let calls: [(&str, Vec<&str>); 3] = [
        ("run.html", vec!["run", line, "--runs", "2"]),
        ("compare.html", vec!["compare", line, "--vary", "congestion=cubic,reno", "--runs", "2"]),
        ("papers.html", vec!["reproduce", "huang", "--quick"]),
    ];
    for (name, call) in calls {
        let path = file(name);
        let told = lasthop(&[&call[..], &["--report", path.to_str().expect("text")]].concat());
        assert!(told.status.success(), "{name}: {}", String::from_utf8_lossy(&told.stderr));
        let length = std::fs::metadata(&path).expect("a report").len();
        assert!(length < 1_000_000, "{name}: {length} bytes");
        for scheme in ["light", "dark"] {
            browser.scheme(scheme);
            browser.size(1400, 900);
            browser.show(&path, "");
            if let Some(found) = serious(&mut browser) {
                assert_eq!(found, Value::Array(Vec::new()), "{name}, {scheme}");
            }
            browser.size(360, 740);
            let beside = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
            assert_eq!(browser.value(beside), json!(0), "{name}: wider than a telephone");
        }
        let outside: Vec<&String> =
            browser.requests.iter().filter(|address| !address.starts_with("file:")).collect();
        assert!(outside.iter().all(|address| *address == "about:blank"), "{outside:?}");
        assert!(browser.complaints.is_empty(), "{name}: {:?}", browser.complaints);
        if name == "papers.html" {
            continue;
        }
        // The graph is drawn. The key `n` selects a loss, and Enter shows the history of the lost segment.
        let ink = "(() => { const one = document.querySelector('canvas.sequence');
            const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
            let inked = 0;
            for (let at = 3; at < data.length; at += 4) inked += data[at] > 0;
            return inked; })()";
        assert!(browser.value(ink).as_u64().is_some_and(|points| points > 2000), "{name}: blank");
        browser.value("document.querySelector('canvas.sequence').focus()");
        browser.press("n");
        let said = browser.text("document.querySelector('.said').textContent");
        assert!(said.contains(" is lost at "), "{said}");
        browser.press("Enter");
        let story = browser.text("document.querySelector('.story').innerText");
        assert!(story.contains("It is lost on link path: ") && story.contains("retransmits it"), "{story}");
        let command = browser.text("document.getElementById('made').textContent");
        assert!(command.contains("lasthop ") && command.contains(line), "{command}");
    }
}

/// A graph of 100,000 events is drawn in less than 330 ms, even on a busy machine.
#[test]
fn a_hundred_thousand_events_are_drawn_quickly() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
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
    assert!(drawn.parse::<f64>().is_ok_and(|ms| ms < 330.0), "too slow even for a busy machine: {drawn} ms");
}

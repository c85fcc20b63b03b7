//! Settings of the page: sliders, error messages, links.

use crate::{OpenedPage, lasthop, opened};
use serde_json::{Value, json};

/// JavaScript expression for the page's settings as text.
const STATE: &str = "JSON.stringify(lab.state())";
/// JavaScript expression for the text of the page's table of numbers.
const TABLE: &str = "document.getElementById('numbers').innerText";

#[test]
fn a_slider_makes_a_picture() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.wait("document.body.dataset.repetitions === '10'");
    let before = browser.text(TABLE);
    // The test moves the slider to thirty positions, and waits for the picture after each move.
    let moved = "(async () => {
        lab.latencies.length = 0;
        const bar = document.getElementById('slide-rate');
        for (let place = 100; place < 130; place += 1) {
            const drawn = lab.latencies.length;
            bar.value = place;
            bar.dispatchEvent(new Event('input'));
            while (lab.latencies.length === drawn) await new Promise(done => setTimeout(done, 5));
        }
        return [...lab.latencies].sort((one, other) => one - other);
    })()";
    let latencies = browser.value(moved);
    let latencies: Vec<f64> = latencies.as_array().expect("times").iter().filter_map(Value::as_f64).collect();
    println!("slider to picture: p50 {:.0} ms, p95 {:.0} ms", latencies[15], latencies[28]);
    assert!(latencies[15] < 2000.0, "too slow even for a busy machine: {latencies:?}");
    // The graph shows the last position and is not blank.
    assert_eq!(browser.value("lab.line(0).includes(lab.state().keys.rate)"), json!(true));
    assert_ne!(browser.text(TABLE), before);
    let inked = "[...document.querySelectorAll('canvas')].map(one => {
        const { data } = one.getContext('2d').getImageData(0, 0, one.width, one.height);
        let inked = 0;
        for (let at = 3; at < data.length; at += 4) inked += data[at] > 0;
        return inked;
    })";
    let inked = browser.value(inked);
    let inked: Vec<u64> = inked.as_array().expect("counts").iter().filter_map(Value::as_u64).collect();
    assert!(inked.len() == 1 && inked[0] > 2000, "{inked:?}");
    // Each of the five charts has a curve for each variant, from 200 samples over 20 s.
    let curves = "[...document.querySelectorAll('#charts .plot')].map(plot => [...plot.querySelectorAll('.c1, .c2')]
        .filter(one => one.tagName === 'path' && one.getAttribute('d').length > 150 && one.getBoundingClientRect().width > 200).length)";
    let curves = browser.value(curves);
    let curves: Vec<u64> = curves.as_array().expect("counts").iter().filter_map(Value::as_u64).collect();
    assert!(curves.len() == 5 && curves.iter().all(|count| *count >= 2), "{curves:?}");
}

/// While the user drags a slider, only the newest position counts: outdated runs are dropped.
#[test]
fn dragging_never_queues_runs() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    let dragged = "(async () => {
        const drawn = () => Number(document.body.dataset.pictures);
        const before = drawn(), bar = document.getElementById('slide-rtt');
        for (let place = 50; place < 250; place += 1) {
            bar.value = place;
            bar.dispatchEvent(new Event('input'));
            if (place % 4 === 0) await new Promise(done => setTimeout(done, 4));
        }
        return [before, lab.state().keys.rtt];
    })()";
    let result = browser.value(dragged);
    let before = result[0].as_u64().expect("a count");
    browser.wait("document.body.dataset.repetitions === '10'");
    browser.wait(&format!("Number(document.body.dataset.pictures) > {before}"));
    let drawn = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count") - before;
    assert!(drawn < 100, "{drawn} pictures for 200 positions of the slider");
    assert_eq!(browser.value("lab.line(0).includes('rtt=' + lab.state().keys.rtt)"), json!(true));
}

/// The page shows the error message of the command line beside the setting with the error.
#[test]
fn an_error_stands_in_its_place() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    let write = |id: &str, text: &str| {
        format!(
            "(() => {{ const input = document.getElementById('{id}'); input.value = {}; \
             input.dispatchEvent(new Event('change')); }})()",
            json!(text)
        )
    };
    for (id, text, place) in
        [("text-loss", "q%", "loss"), ("text-rtt", "40 parsecs", "rtt"), ("text-queue", "-3packets", "queue")]
    {
        let before = browser.text(&format!("document.getElementById('{id}').value"));
        browser.value(&write(id, text));
        browser.wait("document.body.dataset.error");
        let told = browser.text(&format!("document.querySelector('[data-place={place}] .error').innerText"));
        let message = browser.text("document.body.dataset.error");
        assert!(told.contains(&message), "{told}");
        let line = browser.text("lab.line(0)");
        let program = lasthop(&["check", &line]);
        let program = String::from_utf8_lossy(&program.stderr).replace(['\n', '│'], " ");
        let words = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(words(&program).contains(&words(&message)), "{message}: {program}");
        assert_eq!(browser.value("document.querySelector('[aria-invalid=true]').dataset.key"), json!(place));
        browser.value(&write(id, &before));
        browser
            .wait("!document.body.dataset.error && !document.querySelector('.controls .error:not(#error)')");
    }
    // The error message about a mechanism's parameter names the key of the mechanism.
    browser.value("lab.state().variants[1].keys.congestion = '{kind=\"cubic\",beta=7}'");
    browser.value(&write("more", "headers=none"));
    browser.wait("document.body.dataset.error");
    let told = browser.text("document.body.dataset.error");
    assert!(told.contains("congestion"), "{told}");
    // The error message about a TOML file appears in the box of the file, with line and column.
    browser.value("lab.take('mine.toml', 'duration = \"5 s\"\\nsped = 3\\n')");
    browser.wait("document.querySelector('#own .error')");
    let told = browser.text("document.querySelector('#own .error').innerText");
    assert!(told.starts_with("line 2, column 1: "), "{told}");
    assert_eq!(browser.value("document.getElementById('toml').selectionStart"), json!(17));
}

#[test]
fn a_link_brings_every_setting_back() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    let settings = "Object.assign(lab.state(), { base: 'lte', seed: '9223372036854775807', runs: 3, more: 'headers=none', shown: 1,
        keys: { loss: '1%', duration: '4s', rate: '12Mbit/s' },
        variants: [{ keys: {} }, { keys: { queue: '{kind=\"codel\",target=\"10 ms\"}', congestion: 'bbr' } }, { keys: { recovery: 'tahoe' } }] })";
    browser.value(settings);
    let pictures = browser.value("Number(document.body.dataset.pictures)").as_u64().expect("a count");
    browser.value("document.getElementById('more').dispatchEvent(new Event('change'))");
    browser.value("(() => { lab.state().more = 'headers=none'; document.getElementById('more').value = 'headers=none'; document.getElementById('more').dispatchEvent(new Event('change')); })()");
    browser.wait(&format!(
        "Number(document.body.dataset.pictures) > {pictures} && document.body.dataset.repetitions === '3'"
    ));
    let (state, table) = (browser.text(STATE), browser.text(TABLE));
    browser.value("document.getElementById('share').click()");
    browser.wait("document.getElementById('said').textContent.includes('every setting')");
    let address = browser.text("location.href");
    assert!(address.len() <= 2000, "{}", address.len());
    let (_, hash) = address.split_once('#').expect("settings");
    let hash = format!("#{hash}");
    browser.open(&page, &hash);
    browser.wait("document.body.dataset.repetitions === '3'");
    assert_eq!((browser.text(STATE), browser.text(TABLE)), (state, table));
}

/// A damaged URL of the page either gives settings or is ignored. A damaged URL never blocks the page.
#[test]
fn damaged_links_do_no_harm() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    browser.value("document.getElementById('share').click()");
    browser.wait("location.hash.length > 40");
    let damaged = "(async () => {
        const whole = location.hash.slice(1), letters = 'ABCxyz019-_.%\\u00e9{}#';
        let state = 12345, right = 0;
        const draw = most => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return Math.floor(state / 4294967296 * most); };
        for (let number = 0; number < 1000; number += 1) {
            let text = [...whole];
            for (let times = 1 + draw(4); times > 0; times -= 1) {
                const at = draw(text.length), letter = letters[draw(letters.length)];
                const kind = draw(4);
                if (kind === 0) text[at] = letter;
                else if (kind === 1) text = text.slice(0, at);
                else if (kind === 2) text.splice(at, 0, letter);
                else text.splice(at, 3);
            }
            const found = await lab.settings(text.join(''));
            if (found) right += 1;
            if (found && !(found.variants.length > 0 && typeof found.base === 'string')) throw new Error(text.join(''));
        }
        const whoever = JSON.stringify(await lab.settings(whole));
        return [right, whoever === JSON.stringify(lab.state())];
    })()";
    let result = browser.value(damaged);
    assert!(
        result[0].as_u64().is_some_and(|right| right < 500),
        "most damaged links must be ignored: {result}"
    );
    assert_eq!(result[1], json!(true), "the undamaged link must give all settings");
    for hash in ["#1.AAAA", "#nonsense", "#1.", "#%00%ff", "#2.abc"] {
        browser.open(&page, hash);
        let said = browser.text("document.getElementById('said').textContent");
        assert_eq!(said, "This link is damaged; the default settings are shown.", "{hash}");
    }
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
}

/// The link of each lesson opens this lesson, with a valid scenario.
#[test]
fn lessons_open_and_run() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    let docs = include_str!("../../../../docs/tutorials/lab-lessons.md");
    let ids = browser
        .value("[...document.getElementById('lessons').options].map(one => one.value).filter(Boolean)");
    let ids: Vec<&str> = ids.as_array().expect("lessons").iter().filter_map(Value::as_str).collect();
    assert_eq!(ids.len(), 9);
    for id in ids {
        assert!(docs.contains(&format!("lab.html#{id}")), "docs/tutorials/lab-lessons.md has no {id}");
        browser.open(&page, &format!("#{id}"));
        assert_eq!(browser.text("document.body.dataset.error || ''"), "", "{id}");
        assert_eq!(browser.text("lab.state().lesson"), id);
        assert!(browser.text("document.getElementById('lesson').innerText").contains("Question: "));
    }
}

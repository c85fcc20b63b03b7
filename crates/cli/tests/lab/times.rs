//! Drawing times of the page, measured on an idle machine with a release build (`make page-times`).

use crate::{OpenedPage, opened};
use serde_json::Value;

/// The page shows its initial two variants, 20 s at 10 Mbit/s. The test moves a slider a hundred times, and waits for
/// the picture after each move.
#[test]
#[ignore = "needs an idle machine and a release build: make page-times"]
fn pictures_come_at_once() {
    let Some(OpenedPage { mut browser, page, .. }) = opened("") else { return };
    let mut firsts = Vec::new();
    for _ in 0..9 {
        browser.open(&page, "");
        firsts.push(browser.value("lab.first").as_f64().expect("a time"));
    }
    firsts.sort_by(f64::total_cmp);
    let [median, worst] = [firsts[4], firsts[8]];
    println!("first picture, of nine: median {median:.0} ms, worst {worst:.0} ms (at most 1000)");
    let moved = "(async () => {
        while (document.body.dataset.repetitions !== '10') await new Promise(done => setTimeout(done, 20));
        lab.latencies.length = 0;
        const bar = document.getElementById('slide-rate');
        for (let place = 120; place < 220; place += 1) {
            const drawn = lab.latencies.length;
            bar.value = place;
            bar.dispatchEvent(new Event('input'));
            while (lab.latencies.length === drawn) await new Promise(done => setTimeout(done, 2));
        }
        return [...lab.latencies].sort((one, other) => one - other);
    })()";
    let latencies = browser.value(moved);
    let latencies: Vec<f64> = latencies.as_array().expect("times").iter().filter_map(Value::as_f64).collect();
    let [p50, p95] = [latencies[50], latencies[95]];
    println!("slider to picture, of a hundred: p50 {p50:.0} ms (at most 100), p95 {p95:.0} ms (at most 250)");
    assert!(p50 < 100.0 && p95 < 250.0 && median < 1000.0, "{latencies:?}");
}

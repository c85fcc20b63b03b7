//! Files that the page saves, and pages that the command line opens.

use crate::browser::Browser;
use crate::{OpenedPage, lasthop, opened};
use serde_json::{Value, json};
use std::path::Path;

const PRESS: &str = "window.made = []; URL.createObjectURL = blob => { made.push(blob); return 'data:,'; };
    HTMLAnchorElement.prototype.click = () => {}; document.getElementById('svg').click();
    document.getElementById('csv').click(); 0";

#[test]
fn a_picture_is_saved_as_svg_that_is_whole() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.wait("document.body.dataset.repetitions === '10'");
    browser.value(PRESS);
    let svg = browser.text("made[0].text()");
    // The picture needs no style sheet, and all its numbers are finite.
    for word in ["var(", "class=", "NaN", "undefined", "Infinity", "null"] {
        assert!(!svg.contains(word), "{word}: {svg}");
    }
    let read = "made[0].text().then(text => {
        const svg = new DOMParser().parseFromString(text, 'image/svg+xml');
        if (svg.querySelector('parsererror')) return null;
        const words = [...svg.querySelectorAll('text')].map(one => one.textContent);
        const inner = [...svg.documentElement.querySelectorAll('svg')];
        const box = one => ['x', 'y', 'width', 'height'].map(name => Number(one.getAttribute(name)));
        return { words, boxes: inner.map(box), whole: box(svg.documentElement).slice(2), lost: svg.querySelectorAll('clipPath ~ g path').length,
            curves: inner.slice(1).map(one => [...one.querySelectorAll('path')].filter(path => path.getAttribute('d').length > 150).length),
            rects: inner[0].querySelectorAll('rect').length };
    })";
    let read = browser.value(read);
    let words: Vec<&str> = read["words"]
        .as_array()
        .expect("the picture must be valid SVG")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // The picture has axes with units, curves, the variants' names, and the numbers with their intervals.
    for wanted in ["kbit/s", "kB", "ms", "packets", "time, s", "A, ssthresh", "B, RTO", "Goodput", "A", "B"] {
        assert!(words.contains(&wanted), "{wanted}: {words:?}");
    }
    assert!(words.iter().any(|word| word.starts_with("A: rate=10Mbit/s")), "{words:?}");
    let interval = browser.text("document.querySelector('#numbers td small').textContent");
    assert!(words.iter().any(|word| word.contains(&format!("({interval})"))), "{interval}: {words:?}");
    // The time-sequence graph and the five charts are inside the picture, one below another.
    let number = |value: &Value| value.as_f64().expect("a number");
    let (width, height) = (number(&read["whole"][0]), number(&read["whole"][1]));
    let boxes = read["boxes"].as_array().expect("boxes");
    assert_eq!(boxes.len(), 6);
    let mut below = 0.0;
    for one in boxes {
        let [x, y, wide, high] = [0, 1, 2, 3].map(|at| number(&one[at]));
        assert!(x >= 0.0 && x + wide <= width && y >= below && y + high <= height, "{one}");
        below = y + high;
    }
    assert!(number(&read["rects"]) > 100.0, "segments: {}", read["rects"]);
    assert!(
        read["curves"].as_array().is_some_and(|it| it.iter().all(|count| number(count) >= 2.0)),
        "{read}"
    );
    let csv = browser.text("made[1].text()");
    assert!(csv.starts_with("variant,time_s,cwnd_bytes,") && csv.contains("\nB,"), "{}", &csv[..200]);
}

/// The menu opens by keyboard. The menu closes after a choice, a click outside the menu, or Escape; Escape also returns
/// the focus.
#[test]
fn files_are_saved_from_one_menu() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    let shown =
        "['scenario', 'csv', 'svg', 'png'].filter(id => document.getElementById(id).checkVisibility())";
    let offered = |browser: &mut Browser| browser.value(shown).as_array().expect("a list").len();
    let open = |browser: &mut Browser| {
        browser.value("document.querySelector('#saves summary').focus()");
        browser.press("Enter");
        browser.wait("document.getElementById('saves').open");
        assert_eq!(offered(browser), 4);
    };
    assert_eq!(offered(&mut browser), 0);
    open(&mut browser);
    browser.press("Tab");
    assert_eq!(browser.text("document.activeElement.id"), "scenario");
    browser.press("Escape");
    assert_eq!(offered(&mut browser), 0);
    assert_eq!(browser.text("document.activeElement.textContent"), "Save");
    open(&mut browser);
    browser.value("document.querySelector('h1').click()");
    assert_eq!(offered(&mut browser), 0);
    // On the screen of a telephone, the whole menu is visible.
    browser.size(360, 740);
    open(&mut browser);
    let ends = browser.value(
        "(({ left, right }) => [left, right])(document.querySelector('#saves div').getBoundingClientRect())",
    );
    let [left, right] = [0, 1].map(|at| ends[at].as_f64().expect("a number"));
    assert!(left >= 0.0 && right <= 360.0, "{ends}");
    browser.value(PRESS);
    assert_eq!((browser.value("made.length"), offered(&mut browser)), (json!(2), 0));
}

/// The browser converts the picture to pixels.
#[test]
fn a_picture_is_saved_as_png() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.value("window.saved = []; HTMLCanvasElement.prototype.toBlob = function (done) {
        const { data } = this.getContext('2d').getImageData(0, 0, this.width, this.height);
        const shades = new Set();
        for (let at = 0; at < data.length; at += 4) shades.add(data[at] << 16 | data[at + 1] << 8 | data[at + 2]);
        saved.push([this.width, this.height, shades.size]); done(new Blob(['x'])); };
        HTMLAnchorElement.prototype.click = () => {}; document.getElementById('png').click(); 0");
    browser.wait("saved.length > 0");
    let saved = browser.value("saved[0]");
    let [width, height, shades] = [0, 1, 2].map(|at| saved[at].as_u64().expect("a number"));
    assert!(width >= 1800 && height > width && shades > 50, "{saved}");
}

fn begun(path: &Path, browser: &mut Browser, what: &str) {
    let told = lasthop(&["lab", what, "--export", path.to_str().expect("text")]);
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    browser.open(path, "");
}

/// The page starts with the given scenario: a ready path, one line, or a file with a trace. The numbers of the page's
/// first repetition equal the numbers of `lasthop run`.
#[test]
fn it_begins_with_what_the_command_line_names() {
    let Some(mut browser) = Browser::start() else { return };
    let folder = browser.folder.path().to_owned();
    let page = folder.join("begun.html");
    std::fs::write(folder.join("slow.trace"), "2\n4\n6\n8\n10\n").expect("the file can be written");
    let file = folder.join("mine <script>.toml");
    let text = "title = \"<b>mine</b> </script>\"\nseed = 5\nduration = \"4 s\"\n\
                [link.path]\nfrom = \"server\"\nto = \"client\"\n\
                [link.path.down]\ntrace = \"slow.trace\"\none_way_delay = \"20 ms\"\n\
                [link.path.up]\nrate = \"1 Mbit/s\"\none_way_delay = \"20 ms\"\n\
                [flow.bulk]\nfrom = \"server\"\nto = \"client\"\nkind = \"tcp\"\n";
    std::fs::write(&file, text).expect("the file can be written");
    let file = file.to_str().expect("text");
    let changed = format!("{file},congestion=reno");
    for what in ["rate=5Mbit/s,rtt=30ms,loss=1%,duration=4s,seed=3", "wifi,duration=2s", file, &changed] {
        let told = lasthop(&["run", what, "--runs", "1", "--format", "json"]);
        assert!(told.status.success(), "{what}: {}", String::from_utf8_lossy(&told.stderr));
        let objects = String::from_utf8(told.stdout).expect("text");
        let flow: Value = serde_json::from_str(objects.lines().next().expect("an object")).expect("JSON");
        begun(&page, &mut browser, what);
        let goodput = browser.value("lab.runs()[0].header.flows[0].goodput_kbps");
        let ours = &flow["goodput_kbps"];
        let ours = if ours.is_object() { &ours["mean"] } else { ours };
        assert_eq!(goodput.as_f64(), ours.as_f64(), "{what}");
        assert_eq!(browser.value("lab.state().variants.length"), json!(1));
        assert!(browser.complaints.is_empty(), "{what}: {:?}", browser.complaints);
    }
    // Errors in the scenario are reported before a page is written.
    let told = lasthop(&["lab", "rate=5Parsecs", "--export", page.to_str().expect("text")]);
    assert_eq!(told.status.code(), lasthop(&["run", "rate=5Parsecs"]).status.code());
    assert!(String::from_utf8_lossy(&told.stderr).contains("Parsecs"));
}

//! Tests of the report page in a browser. The page is a local file, and the browser has no network. If Chromium is not
//! installed, the tests are skipped.

mod report_sample;

use lasthop_lab::document::{Block, Cell, Chapter, Document, Table, TableSetting};
use lasthop_lab::item::Verdict;
use lasthop_lab::report::html;
use report_sample::{FIGURES, document};
use std::fs;
use std::process::Command;

/// Returns the DOM of the page after the page's script has run. Returns `None` if no browser is installed.
fn drawn(page: &str) -> Option<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("report.html");
    fs::write(&file, page).expect("a file");
    for browser in ["chromium", "chromium-browser", "google-chrome"] {
        let output = Command::new(browser)
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", "--window-size=1280,900"])
            .arg("--virtual-time-budget=30000")
            .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
            .arg(format!("file://{}", file.display()))
            .output();
        if let Ok(output) = output {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            return Some(String::from_utf8_lossy(&output.stdout).into_owned());
        }
    }
    None
}

/// Script that clicks the save button of each figure. The script inserts the first saved picture into the page and
/// records the number of valid pictures.
const SAVED: &str = "<script>
const made = [];
URL.createObjectURL = (blob) => { made.push(blob); return \"data:,\"; };
HTMLAnchorElement.prototype.click = () => {};
document.querySelectorAll(\".save\").forEach((button) => button.click());
Promise.all(made.map((blob) => blob.text())).then((pictures) => {
  const parser = new DOMParser();
  const whole = pictures.filter((one) => !parser.parseFromString(one, \"image/svg+xml\").querySelector(\"parsererror\"));
  document.documentElement.dataset.saved = whole.length;
  document.body.append(Object.assign(document.createElement(\"pre\"), { id: \"saved\", textContent: whole[0] }));
  const area = document.querySelector(\".area\"), marker = area.querySelector(\"use\"), box = marker.getBoundingClientRect();
  const at = { clientX: box.left + 4, clientY: box.top + 4, bubbles: true };
  area.dispatchEvent(new PointerEvent(\"pointermove\", at));
});
</script></body>";

#[test]
fn the_script_names_points_and_saves_pictures() {
    let Some(page) = drawn(&html(&document()).replace("</body>", SAVED)) else {
        eprintln!("skipped: no Chromium to draw the page with");
        return;
    };
    assert!(page.contains(&format!("data-saved=\"{}\"", FIGURES.len())), "each figure must give one picture");
    let (_, saved) = page.split_once("id=\"saved\">").expect("a picture");
    let (saved, _) = saved.split_once("</pre>").expect("its end");
    for part in ["Reno (published)", "goodput (kbit/s)", "bit error rate", "stroke-dasharray=", "fill=\"rgb("]
    {
        assert!(saved.contains(part), "{part}: {saved}");
    }
    assert!(
        !saved.contains("var(") && !saved.contains("class="),
        "the picture must need no style sheet: {saved}"
    );
    let (_, tip) = page.split_once("class=\"tip\"").expect("a tip");
    let (tip, _) = tip.split_once("</div>").expect("its end");
    // The tooltip shows the first point of the first curve, with the interval of this point in the sample report.
    assert!(
        tip.contains("Reno\nbit error rate: 1e-6\ngoodput (kbit/s): 1727.3\n95 % interval: 1623.6 to 1813.6"),
        "{tip}"
    );
}

/// At the width of a phone and without scripts, the page has all its content and does not scroll sideways.
#[test]
fn a_narrow_page_without_scripts_has_all() {
    let measure = "<script>document.documentElement.dataset.sideways = document.documentElement.scrollWidth - \
                   document.documentElement.clientWidth;</script></body>";
    let page = html(&document());
    let (before, after) = page.split_once("<script>").expect("a script");
    let (_, after) = after.split_once("</script>").expect("its end");
    // The page is drawn in a frame because a frame may be narrower than 500 pixels. Windows of Chromium are at least
    // 500 pixels wide.
    let bare = format!("{before}{after}").replace("</body>", measure);
    let frame = format!(
        "<!DOCTYPE html><iframe style=\"width:420px;height:900px\" srcdoc=\"{}\"></iframe><script>onload = () => {{ \
         const inner = document.querySelector(\"iframe\").contentDocument; \
         document.documentElement.dataset.seen = inner.documentElement.dataset.sideways + \" \" + \
         [...inner.querySelectorAll(\".area\")].filter((one) => one.getBoundingClientRect().width > 250).length; }};</script>",
        bare.replace('&', "&amp;").replace('"', "&quot;")
    );
    let Some(page) = drawn(&frame) else {
        eprintln!("skipped: no Chromium to draw the page with");
        return;
    };
    let seen = format!("data-seen=\"0 {}\"", FIGURES.len() + 1);
    assert!(page.contains(&seen), "{seen}: {}", &page[..page.len().min(200)]);
}

#[test]
fn another_answer_can_be_chosen_above_a_table_and_the_default_again() {
    let cells = |verdict| vec![Cell::Text("gain".into()), Cell::Verdict(Some(verdict))];
    let table = Table {
        columns: vec!["row".into(), "verdict".into()],
        rows: vec![cells(Verdict::Differs), cells(Verdict::Shape)],
        ..Table::default()
    };
    let setting = |label: &str, row, verdict| TableSetting {
        label: label.into(),
        cells: vec![(row, 1, Cell::Verdict(Some(verdict)))],
    };
    let settings =
        vec![setting("first", 0, Verdict::Agrees), setting("delayed ACKs: \"on\"", 1, Verdict::Inconclusive)];
    let chapter = Chapter { blocks: vec![Block::Switched { table, settings }], ..Chapter::default() };
    let document = Document { chapters: vec![chapter], ..Document::default() };
    let chosen = |choices: &str| {
        let script = format!(
            "<script>const choice = document.querySelector(\"select\");
            for (const one of {choices}) {{ choice.selectedIndex = one; choice.dispatchEvent(new Event(\"change\")); }}
            document.body.dataset.seen = [...document.querySelectorAll(\"tbody td\")].map((cell) => cell.className).join();
            </script></body>"
        );
        drawn(&html(&document).replace("</body>", &script))
    };
    let Some(second) = chosen("[1, 2]") else {
        eprintln!("skipped: no Chromium to draw the page with");
        return;
    };
    assert!(second.contains("data-seen=\",differs,,inconclusive switched\""), "{second}");
    assert!(second.contains("delayed ACKs: \"on\"</option>"), "{second}");
    let again = chosen("[2, 0]").expect("the same browser");
    assert!(again.contains("data-seen=\",differs,,shape\""), "{again}");
}

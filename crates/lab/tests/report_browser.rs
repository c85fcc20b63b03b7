//! The page in a browser, from a file and without a network; skipped where there is no Chromium.

mod report_sample;

use lasthop_lab::report::html;
use report_sample::{FIGURES, document};
use std::fs;
use std::process::Command;

/// The page's elements after its script has run; `None` without a browser.
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

#[test]
fn every_figure_is_drawn_with_labelled_axes() {
    let Some(page) = drawn(&html(&document())) else {
        eprintln!("skipped: no Chromium to draw the page with");
        return;
    };
    assert!(page.contains("data-plots=\"drawn\""), "the script has not come to its end");
    assert_eq!(page.matches("<figure id=").count(), FIGURES.len());
    for (id, x, y) in FIGURES {
        let (_, rest) = page.split_once(&format!("<figure id=\"{id}\">")).expect(id);
        let (figure, _) = rest.split_once("</figure>").expect(id);
        assert!(figure.contains("<svg class=\"main-svg\""), "{id}: no plot");
        for (class, title) in [("xtitle", x), ("ytitle", y)] {
            let (_, rest) = figure.split_once(&format!("class=\"{class}\"")).expect(id);
            let (element, _) = rest.split_once("</text>").expect(id);
            // A long title takes lines, each in an element of its own.
            for word in title.split(' ') {
                let word = word.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                assert!(element.contains(&word), "{id}: {class} without {word}: {element}");
            }
        }
        assert!(figure.contains("class=\"legend\""), "{id}: no legend");
    }
}

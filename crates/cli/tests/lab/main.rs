//! `lasthop lab`: tests of the page in a browser. The tests are skipped without Chromium.
//!
//! The tests compare the page's results with the results of this program, to detect a page built from older simulator
//! sources. `make page` rebuilds the page.

mod access;
mod browser;
mod export;
mod same_numbers;
mod settings;
mod times;
mod together;

use browser::Browser;
use std::path::PathBuf;
use std::process::{Command, Output};

fn lasthop(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lasthop")).args(arguments).output().expect("lasthop must run")
}

struct OpenedPage {
    browser: Browser,
    page: PathBuf,
}

fn opened(hash: &str) -> Option<OpenedPage> {
    let mut browser = Browser::start()?;
    let page = browser.folder.path().join("lab.html");
    let written = lasthop(&["lab", "--export", page.to_str().expect("text")]);
    assert!(written.status.success() && written.stdout.is_empty());
    browser.open(&page, hash);
    Some(OpenedPage { browser, page })
}

#[test]
fn without_a_screen_it_prints_where_the_page_is() {
    let told = Command::new(env!("CARGO_BIN_EXE_lasthop"))
        .arg("lab")
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .expect("lasthop must run");
    let path = String::from_utf8(told.stdout).expect("text");
    assert!(told.status.success() && path.ends_with("lab.html\n"), "{path}");
    let page = std::fs::read_to_string(path.trim()).expect("a page");
    assert!(page.starts_with("<!doctype html>"));
    std::fs::remove_dir_all(PathBuf::from(path.trim()).parent().expect("a folder"))
        .expect("the folder can be removed");
}

#[test]
fn it_asks_the_network_for_nothing_and_nothing_goes_wrong() {
    let Some(OpenedPage { mut browser, .. }) = opened("") else { return };
    browser.wait("document.body.dataset.repetitions === '10'");
    let outside: Vec<&String> = browser
        .requests
        .iter()
        .filter(|address| !["file:", "blob:", "data:", "about:"].iter().any(|kind| address.starts_with(kind)))
        .collect();
    assert!(outside.is_empty(), "{outside:?}");
    assert!(browser.complaints.is_empty(), "{:?}", browser.complaints);
    let first = browser.value("lab.first");
    println!("first picture after {first} ms");
}

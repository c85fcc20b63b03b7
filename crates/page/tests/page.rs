//! Tests that the page in the repository matches its parts. Tests of the crate `lasthop` run the page in a browser.

#[path = "../examples/page/assemble.rs"]
mod assemble;

const PAGE: &str = include_str!("../../cli/lab.html");

/// Largest accepted size of the page, bytes. Users send the page by mail and open it on telephones.
const MAX_BYTES: usize = 800_000;

/// The test keeps the engine of the page and rebuilds everything else. The engine is not rebuilt, because different
/// compilers produce different bytes.
#[test]
fn the_page_is_what_its_parts_make() {
    assert!(
        assemble::page(assemble::packed_in(PAGE).expect("an engine")) == PAGE,
        "the page does not match its parts: run `make page`"
    );
    assert!(PAGE.len() <= MAX_BYTES, "the page has {} bytes", PAGE.len());
}

#[test]
fn an_engine_is_packed_so_that_a_page_can_hold_it() {
    // 4294967295 has the digits 82, 23, 54, 12, 0 in base 85. Digit 25 would be `<`, which `!` replaces.
    assert_eq!(assemble::letters(&[255; 4]), "4:u:Y/#");
    assert_eq!(assemble::letters(&[0, 0, 0, 25, 1]), format!("5:####!{}", letter_of(0x0100_0000)));
    let packed = assemble::packed(&[7; 3000]).expect("writing to memory cannot fail");
    assert!(packed.len() < 200 && !packed.contains(['<', ' ', '\n']), "{packed}");
}

fn letter_of(value: u32) -> String {
    [52_200_625, 614_125, 7225, 85, 1]
        .map(|power| char::from(35 + (value / power % 85) as u8))
        .iter()
        .collect()
}

#[test]
fn the_policy_lets_nothing_in() {
    let (_, rest) = PAGE.split_once(r#"http-equiv="Content-Security-Policy" content=""#).expect("a policy");
    let (policy, _) = rest.split_once('"').expect("its end");
    let allowed: Vec<&str> = policy.split("; ").filter(|rule| !rule.ends_with("'none'")).collect();
    let [script, style, worker, images] = &allowed[..] else { panic!("{policy}") };
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(
        script.starts_with("script-src 'sha256-") && script.ends_with("' 'wasm-unsafe-eval'"),
        "{script}"
    );
    assert!(style.starts_with("style-src 'sha256-") && style.matches(' ').count() == 1, "{style}");
    assert_eq!([*worker, *images], ["worker-src blob:", "img-src data: blob:"]);
    let outside =
        ["src=\"http", "href=\"http", "fetch(", "XMLHttpRequest", "WebSocket", "@import", "import("];
    for word in outside {
        assert!(!PAGE.contains(word), "{word}");
    }
}

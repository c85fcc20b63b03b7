//! The reference: output of `help` and `explain`.

mod common;

use common::{call, stderr_of, stdout};

/// The documentation site contains this output. No section is empty, and each mechanism of `list` has a section with
/// its source.
#[test]
fn every_section_says_something() {
    let page = stdout(&["help", "reference"]);
    let sections: Vec<(&str, &str)> = page
        .split("\n## ")
        .skip(1)
        .map(|section| section.split_once('\n').unwrap_or((section, "")))
        .map(|(title, body)| (title, body.split("\n# ").next().unwrap().trim()))
        .collect();
    for (title, body) in &sections {
        assert!(!body.is_empty(), "{title}");
    }
    for line in stdout(&["list", "--format", "json"]).lines() {
        let entry: serde_json::Value = serde_json::from_str(line).unwrap();
        let [kind, name, source] = ["kind", "name", "source"].map(|key| entry[key].as_str().unwrap());
        if kind == "path" || kind == "profile" {
            continue;
        }
        let title = format!("{} = \"{name}\"", kind.rsplit('.').next().unwrap());
        let found = sections.iter().any(|(other, body)| *other == title && body.contains(source));
        assert!(found, "{title}: {source}");
    }
}

/// The page has every key and field of the text for terminals, and the table rows are complete.
#[test]
fn the_page_has_everything() {
    let page = stdout(&["help", "reference"]);
    for section in lasthop_scenario::Catalogue::default().reference() {
        assert!(page.contains(&format!("\n## {}\n", section.title)), "{}", section.title);
        for key in section.keys {
            assert!(page.contains(&format!("\n| `{}` | ", key.name)), "{}", key.path);
        }
    }
    for row in page.lines().filter(|line| line.starts_with('|')) {
        let bars = row.replace("\\|", "").matches('|').count();
        assert!((3..=4).contains(&bars), "{row}");
    }
}

#[test]
fn help_has_topics_and_commands() {
    let keys = stdout(&["help", "keys"]);
    for key in ["one_way_delay", "initial_ssthresh", "min_threshold", "burst", "up_queue"] {
        assert!(keys.contains(&format!("\n  {key} ")), "{key}");
    }
    assert!(stdout(&["help", "fields"]).contains("goodput_kbps"));
    assert!(stdout(&["help", "fields"]).contains("recovery_entered"));
    assert!(stdout(&["help", "units"]).contains("mbit"));
    assert!(stdout(&["help", "topologies"]).contains("[flow.call]"));
    assert!(stdout(&["help", "compare"]).contains("--vary"));
    assert!(stdout(&["help"]).contains("reproduce"));
    for topic in ["keys", "fields", "units"] {
        let text = stdout(&["help", topic]);
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{topic}: {widest:?}");
    }
    let wrong = call(&["help", "kyes"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr_of(&wrong).contains("did you mean `keys`?"), "{}", stderr_of(&wrong));
}

#[test]
fn a_path_a_mechanism_and_a_column_are_explained() {
    let queue = stdout(&["explain", "link.down.queue"]);
    let words = queue.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["default 1 bdp", "\"unlimited\"", "queue = \"red\"", "min_threshold"] {
        assert!(words.contains(part), "{part}: {queue}");
    }
    assert_eq!(stdout(&["explain", "link.wireless.down.queue"]), queue);
    let sack = stdout(&["explain", "sack"]);
    assert!(sack.contains("recovery = \"sack\"") && sack.contains("limited_transmit"), "{sack}");
    assert!(stdout(&["explain", "goodput_kbps"]).contains("payload delivered"));
    assert!(stdout(&["explain", "timed_out"]).contains("rto_ms"));
    let wrong = call(&["explain", "link.down.queu"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr_of(&wrong).contains("did you mean `queue`?"), "{}", stderr_of(&wrong));
}

/// The speed in the README is the measured speed in docs/development/performance/figures.md.
#[test]
fn the_readme_has_the_measured_speed() {
    let measured = include_str!("../../../docs/development/performance/figures.md");
    let speeds: Vec<(&str, f64)> = measured
        .split("<!-- measured: end -->")
        .next()
        .unwrap()
        .lines()
        .filter_map(|row| {
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            Some((*cells.get(1)?, cells.get(4)?.strip_suffix(" M")?.parse().ok()?))
        })
        .collect();
    let of = |case: &str| speeds.iter().find(|(name, _)| *name == case).unwrap().1;
    let least = speeds.iter().map(|(_, speed)| *speed).fold(f64::INFINITY, f64::min);
    let most = speeds.iter().map(|(_, speed)| *speed).fold(0.0, f64::max);
    let readme = include_str!("../../../README.md");
    for said in [
        format!("{:.0} million data packets", of("hasegawa")),
        format!("{least} to {most:.0} million in the other cases"),
    ] {
        assert!(readme.contains(&said), "README does not say: {said}");
    }
}

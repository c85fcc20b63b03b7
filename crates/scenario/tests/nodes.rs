//! Syntax of middleboxes at nodes, and errors about them.

use lasthop_scenario::{Catalogue, Draft, Problem, Scenario};
use miette::{GraphicalReportHandler, GraphicalTheme};

fn drawn(problem: &Problem) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    match handler.render_report(&mut text, problem) {
        Ok(()) => text,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the scenario `hasegawa` (path: server - bs - client) with these tables inserted before its first link.
fn with(tables: &str) -> Result<Scenario, Problem> {
    let text = include_str!("../../../scenarios/hasegawa.toml");
    Scenario::parse(&text.replacen("[link.wired]", &format!("{tables}\n[link.wired]"), 1), "mine.toml")
}

fn boxes(scenario: &Scenario) -> Vec<&str> {
    scenario.middleboxes.iter().map(|choice| choice.info.name).collect()
}

fn set(path: &str, key: &str, value: &str) -> Result<Scenario, Problem> {
    let mut draft = Draft::load(path).expect("a path");
    draft.set(key, value)?;
    draft.check()
}

#[test]
fn a_box_is_a_word_or_a_table() {
    assert_eq!(boxes(&with("").expect("valid")), ["none", "none", "none"]);
    assert_eq!(boxes(&with("[node.bs]\nmiddlebox = \"snoop\"\n").expect("valid")), ["none", "snoop", "none"]);
    let scenario =
        with("[node.bs]\nmiddlebox = { kind = \"snoop\", cache = 7, floor = \"100 ms\" }\n").expect("valid");
    assert_eq!(scenario.middleboxes[1].values.count("cache"), 7);
    // At a host, the middlebox "none" is allowed.
    assert!(with("[node.client]\nmiddlebox = \"none\"\n").is_ok());
}

#[test]
fn a_box_is_set_with_and_without_the_nodes_name() {
    for key in ["node.bs.middlebox", "bs.middlebox", "node.middlebox", "middlebox"] {
        assert_eq!(boxes(&set("hasegawa", key, "snoop").expect(key)), ["none", "snoop", "none"], "{key}");
    }
    let inline = Scenario::load("hasegawa,middlebox=snoop,duration=5s").expect("valid");
    assert_eq!(boxes(&inline), ["none", "snoop", "none"]);
    let scenario = set("hasegawa,middlebox=snoop", "node.bs.middlebox.cache", "7").expect("a parameter");
    assert_eq!(scenario.middleboxes[1].values.count("cache"), 7);
    assert_eq!(boxes(&set("hasegawa,middlebox=snoop", "middlebox", "").expect("the key is set"))[1], "none");
}

#[test]
fn what_is_shown_reads_back() {
    let shown = |path: &str| Draft::load(path).expect("a path").show().expect("valid");
    let text = shown("hasegawa,middlebox=snoop");
    assert!(text.contains("[node.bs.middlebox]\n") && text.contains("kind = \"snoop\""), "{text}");
    let again = Draft::parse(&text, "shown.toml").expect("TOML").show().expect("valid");
    assert_eq!(again.lines().skip(2).collect::<Vec<_>>(), text.lines().skip(2).collect::<Vec<_>>());
    // `show` prints nodes that could have a middlebox, but not hosts.
    let text = shown("hasegawa");
    assert!(text.contains("[node.bs]\n") && text.contains("\nmiddlebox = \"none\""), "{text}");
    assert!(!text.contains("[node.client]"));
}

#[test]
fn it_is_listed_and_explained() {
    let catalogue = Catalogue::default();
    let entries = catalogue.list_of("middlebox").expect("a kind");
    let found: Vec<&str> = entries.iter().map(|entry| entry.name).collect();
    assert!(found.starts_with(&["none", "snoop"]), "{found:?}");
    for path in ["middlebox", "node.bs.middlebox", "bs.middlebox"] {
        let titles: Vec<String> = catalogue.explain(path).into_iter().map(|section| section.title).collect();
        assert_eq!(titles[..3], ["[node.NAME]", "middlebox = \"none\"", "middlebox = \"snoop\""], "{path}");
    }
    let schema = catalogue.schema();
    let node = &schema["properties"]["node"]["additionalProperties"];
    assert_eq!(node["properties"]["middlebox"]["$ref"], "#/$defs/node.middlebox");
}

fn refused(result: Result<Scenario, Problem>) -> String {
    drawn(&result.expect_err("an error"))
}

#[test]
fn a_node_that_no_link_names() {
    insta::assert_snapshot!(refused(with("[node.base]\nmiddlebox = \"snoop\"\n")));
}

#[test]
fn a_box_at_a_host() {
    insta::assert_snapshot!(refused(with("[node.client]\nmiddlebox = \"snoop\"\n")));
}

#[test]
fn no_such_box() {
    let told = refused(with("[node.bs]\nmiddlebox = \"snop\"\n"));
    assert!(told.contains("node.bs.middlebox: no middlebox is called `snop`"), "{told}");
    assert!(told.contains("did you mean `snoop`?"), "{told}");
}

#[test]
fn a_parameter_that_it_has_not() {
    insta::assert_snapshot!(refused(with("[node.bs]\nmiddlebox = { kind = \"snoop\", cach = 7 }\n")));
}

#[test]
fn a_box_that_sees_one_direction() {
    let text = r#"
        [link.one]
        from = "server"
        to = "bs"
        rate = "1 Mbit/s"
        [link.two]
        from = "bs"
        to = "client"
        rate = "1 Mbit/s"
        [link.other]
        from = "server"
        to = "satellite"
        rate = "1 Mbit/s"
        [link.back]
        from = "satellite"
        to = "client"
        rate = "1 Mbit/s"
        [route]
        client.server = "satellite"
        [node.bs]
        middlebox = "snoop"
        [flow.bulk]
        from = "server"
        to = "client"
    "#;
    insta::assert_snapshot!(refused(Scenario::parse(text, "mine.toml")));
}

#[test]
fn no_place_for_a_box() {
    insta::assert_snapshot!(refused(Scenario::load("rate=1Mbit/s,rtt=20ms,middlebox=snoop")));
}

#[test]
fn a_misspelt_node_in_a_setting() {
    insta::assert_snapshot!(refused(set("hasegawa", "node.bss.middlebox", "snoop")));
}

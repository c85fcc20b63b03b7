//! Whole messages as they are drawn.

use lasthop_scenario::{Draft, Problem, Scenario};
use miette::{GraphicalReportHandler, GraphicalTheme};

fn drawn(problem: &Problem) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    match handler.render_report(&mut text, problem) {
        Ok(()) => text,
        Err(error) => panic!("{error}"),
    }
}

fn refused(from: &str, to: &str) -> String {
    let text = include_str!("../../../scenarios/hasegawa.toml");
    assert!(text.contains(from), "nothing to replace: {from}");
    let problem = Scenario::parse(&text.replacen(from, to, 1), "hasegawa.toml").expect_err(to);
    drawn(&problem)
}

#[test]
fn an_unknown_key() {
    insta::assert_snapshot!(refused("one_way_delay = \"45 ms\"", "one_way_dealy = \"45 ms\""));
}

#[test]
fn a_number_without_a_unit() {
    insta::assert_snapshot!(refused("one_way_delay = \"45 ms\"", "one_way_delay = 45"));
}

#[test]
fn an_unknown_mechanism() {
    insta::assert_snapshot!(refused("recovery = \"sack\"", "recovery = \"newreno\""));
}

#[test]
fn an_unknown_node() {
    insta::assert_snapshot!(refused("to = \"client\"\nsegment", "to = \"clint\"\nsegment"));
}

#[test]
fn a_loop_of_routes() {
    insta::assert_snapshot!(refused("[flow.bulk]", "[route]\nbs.client = \"server\"\n\n[flow.bulk]"));
}

#[test]
fn a_missing_key() {
    insta::assert_snapshot!(refused("rate = \"384 kbit/s\"", ""));
}

#[test]
fn a_text_without_quotes() {
    insta::assert_snapshot!(refused("rate = \"384 kbit/s\"", "rate = 384 kbit/s"));
}

#[test]
fn an_option() {
    let mut draft = Draft::load("hasegawa").expect("a ready path");
    draft.set("link.wireless.down.channel.rate", "2").expect("a key");
    insta::assert_snapshot!(drawn(&draft.check().expect_err("too large")));
}

#[test]
fn an_inline_scenario() {
    insta::assert_snapshot!(drawn(
        &Scenario::load("rate=10Mbit/s,rtt=20,queue=100packets").expect_err("no unit")
    ));
}

#[test]
fn a_line_without_end_is_cut() {
    let text = format!("title = \"{}\"\nsed = 1\n", "x".repeat(100_000));
    insta::assert_snapshot!(drawn(&Scenario::parse(&text, "long.toml").expect_err("no such key")));
}

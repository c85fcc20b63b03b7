//! Snapshots of whole error messages, as the command prints them.

mod fixed;

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
    let draft = fixed::catalogue().parse(&text.replacen(from, to, 1), "hasegawa.toml");
    drawn(&draft.and_then(|draft| draft.check()).expect_err(to))
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
    insta::assert_snapshot!(refused("recovery = \"sack\"", "recovery = \"newrenoo\""));
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
fn a_channel_without_a_rate() {
    insta::assert_snapshot!(refused(
        "channel = { kind = \"bit_error\", rate = 2e-5 }",
        "channel = \"two_state\""
    ));
}

#[test]
fn a_rate_that_tc_means_differently() {
    insta::assert_snapshot!(drawn(
        &Scenario::load("rate=10mbps,rtt=20ms").expect_err("megabytes or megabits")
    ));
}

#[test]
fn a_misspelt_rate() {
    insta::assert_snapshot!(drawn(&Scenario::load("rat=10Mbit/s").expect_err("no rate")));
}

#[test]
fn a_number_beyond_all_numbers() {
    insta::assert_snapshot!(drawn(&Scenario::load("rate=1e400Mbit/s").expect_err("too large")));
}

#[test]
fn no_such_sender() {
    let mut draft = fixed::catalogue().load("hasegawa").expect("a ready path");
    insta::assert_snapshot!(drawn(&draft.set("sender", "newrenoo").expect_err("unknown")));
}

#[test]
fn nothing_to_take_away() {
    let mut draft = Draft::load("hasegawa").expect("a ready path");
    insta::assert_snapshot!(drawn(&draft.set("link.wireless.down.trace", "").expect_err("not set")));
}

#[test]
fn a_ready_path_that_does_not_stand_first() {
    insta::assert_snapshot!(drawn(
        &Draft::load("loss=1%,lte").expect_err("the ready path is not at the start")
    ));
}

#[test]
fn a_round_trip_shorter_than_the_links_behind_the_first() {
    insta::assert_snapshot!(drawn(&Draft::load("lte,rtt=5ms").expect_err("10 ms behind the first link")));
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

#[test]
fn a_key_of_the_other_clock() {
    let channel = "channel = { kind = \"two_state\", clock = \"time\", mean_loss = 0.5, mean_burst = 5 }";
    insta::assert_snapshot!(refused("channel = { kind = \"bit_error\", rate = 2e-5 }", channel));
}

//! Syntax of links that share a medium, and errors about them.

use lasthop_scenario::{Problem, Scenario};
use miette::{GraphicalReportHandler, GraphicalTheme};

fn drawn(problem: &Problem) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor()).with_width(100);
    match handler.render_report(&mut text, problem) {
        Ok(()) => text,
        Err(error) => panic!("{error}"),
    }
}

/// Returns a scenario of two stations at an access point. `second` is the rest of the table of the second link.
fn with(second: &str) -> Result<Scenario, Problem> {
    let text = format!(
        r#"[link]
one = {{ from = "ap", to = "c1", cell = "home", rate = "54 Mbit/s", queue = "50 packets", arq = "wifi" }}
two = {{ from = "ap", to = "c2", rate = "6 Mbit/s", queue = "50 packets", {second} }}
[flow.f]
from = "c1"
to = "c2"
"#
    );
    Scenario::parse(&text, "mine.toml")
}

fn refused(second: &str) -> String {
    drawn(&with(second).expect_err(second))
}

#[test]
fn links_name_their_cell() {
    let scenario = with(
        "cell = \"home\", arq = { kind = \"wifi\", frames = 1 }, up = { arq = { kind = \"wifi\", cw_min = 7 } }",
    );
    let cells: Vec<_> = scenario.expect("valid").links.iter().map(|link| link.cell.clone()).collect();
    assert_eq!(cells, [Some("home".to_owned()), Some("home".to_owned())]);
}

#[test]
fn one_link_speaks_of_other_stations() {
    assert!(with("cell = \"home\", arq = { kind = \"wifi\", stations = 3, load = 0.3 }").is_ok());
}

#[test]
fn a_cell_of_one_link() {
    insta::assert_snapshot!(refused("cell = \"hoem\", arq = \"wifi\""));
}

#[test]
fn a_cell_that_nobody_else_is_in() {
    insta::assert_snapshot!(refused("arq = \"wifi\""));
}

#[test]
fn a_link_layer_without_a_shared_medium() {
    insta::assert_snapshot!(refused("cell = \"home\", arq = \"repeat\""));
}

#[test]
fn media_that_differ() {
    insta::assert_snapshot!(refused("cell = \"home\", arq = { kind = \"wifi\", slot = \"20 us\" }"));
}

#[test]
fn stations_that_differ_up_and_down() {
    let stations =
        "arq = { kind = \"wifi\", stations = 3 }, up = { arq = { kind = \"wifi\", stations = 4 } }";
    insta::assert_snapshot!(refused(&format!("cell = \"home\", {stations}")));
}

#[test]
fn a_name_that_is_none() {
    insta::assert_snapshot!(refused("cell = \"at home\", arq = \"wifi\""));
}

#[test]
fn an_access_point_with_two_back_offs() {
    insta::assert_snapshot!(refused("cell = \"home\", arq = { kind = \"wifi\", cw_min = 7 }"));
}

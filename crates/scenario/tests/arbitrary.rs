//! No text may make the reader panic: neither arbitrary text, nor mutations of a valid scenario, nor arbitrary `--set`
//! values.

use lasthop_scenario::{Draft, Problem, Scenario};
use miette::{GraphicalReportHandler, GraphicalTheme};
use proptest::prelude::*;

const VALID: &str = include_str!("../../../scenarios/hasegawa.toml");

/// Checks that a valid draft can be printed and read back, and that a problem can be printed with its position.
fn whatever_comes(result: Result<Draft, Problem>) {
    match result.and_then(|draft| draft.show()) {
        Ok(shown) => {
            let again = Scenario::parse(&shown, "shown");
            assert!(again.is_ok(), "{again:?}\n{shown}");
        }
        Err(problem) => {
            assert!(problem.line() >= 1 && problem.column() >= 1 && !problem.message().is_empty());
            let mut drawn = String::new();
            let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
            assert!(handler.render_report(&mut drawn, &problem).is_ok());
            assert!(!drawn.contains("Failed to read contents"), "{drawn}");
            let _ = problem.underlined();
        }
    }
}

fn piece() -> impl Strategy<Value = String> {
    const WORDS: &[&str] = &[
        "link",
        "flow",
        "route",
        "down",
        "up",
        "sender",
        "receiver",
        "ack_splitting",
        "split",
        "kind",
        "rate",
        "queue",
        "channel",
        "\"50 packets\"",
        "\"2 Mbit/s\"",
        "'server'",
        "=",
        ".",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\"",
        "1e-5",
        "nan",
        "-1",
        "true",
        "99999999999999999999",
        "0x10",
        "1979-05-27",
        "\u{0}",
        "\u{feff}",
        "é",
        "#",
        "\"\"\"",
    ];
    prop_oneof![
        proptest::sample::select(WORDS).prop_map(str::to_owned),
        "\\PC{0,8}",
        "[a-z0-9 =.\"%/-]{0,12}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text(text in "\\PC{0,200}") {
        whatever_comes(Draft::parse(&text, "arbitrary"));
    }

    #[test]
    fn arbitrary_pieces(pieces in prop::collection::vec(piece(), 0..40)) {
        whatever_comes(Draft::parse(&pieces.concat(), "pieces"));
    }

    #[test]
    fn a_valid_scenario_with_some_of_it_replaced(
        changes in prop::collection::vec((0usize..VALID.len(), 0usize..30, piece()), 1..4),
    ) {
        let mut text: Vec<char> = VALID.chars().collect();
        for (at, length, piece) in changes {
            let start = at.min(text.len());
            let end = (start + length).min(text.len());
            text.splice(start..end, piece.chars());
        }
        whatever_comes(Draft::parse(&text.into_iter().collect::<String>(), "replaced"));
    }

    #[test]
    fn a_valid_scenario_with_a_value_replaced(line in 0usize..60, value in piece()) {
        let text: Vec<String> = VALID
            .lines()
            .enumerate()
            .map(|(number, text)| match text.split_once(" = ") {
                Some((key, _)) if number == line => format!("{key} = {value}"),
                _ => text.to_owned(),
            })
            .collect();
        whatever_comes(Draft::parse(&text.join("\n"), "value"));
    }

    #[test]
    fn arbitrary_options(path in prop::collection::vec(piece(), 1..6), value in piece()) {
        if let Ok(mut draft) = Draft::load("hasegawa") {
            let done = draft.set(&path.concat(), &value);
            whatever_comes(done.map(|()| draft));
        }
    }

    #[test]
    fn arbitrary_inline_scenarios(pieces in prop::collection::vec(piece(), 0..12)) {
        whatever_comes(Draft::load(&format!("rate=1Mbit/s,{}", pieces.concat())));
    }
}

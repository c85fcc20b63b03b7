//! Fuzzes the scenario parser. For any text, the parser returns one problem that can be rendered, or a scenario whose
//! output of `show` parses again. A first line that begins with `--set ` is a setting for the scenario in the other
//! lines.
#![no_main]

use lasthop_scenario::{Draft, Problem, Scenario};
use libfuzzer_sys::fuzz_target;
use miette::{GraphicalReportHandler, GraphicalTheme};

fuzz_target!(|text: &str| {
    let (option, document) = match text.strip_prefix("--set ").and_then(|rest| rest.split_once('\n')) {
        Some((option, document)) => (option.split_once('='), document),
        None => (None, text),
    };
    let draft = Draft::parse(document, "fuzz.toml").and_then(|mut draft| {
        if let Some((path, value)) = option {
            draft.set(path, value)?;
        }
        Ok(draft)
    });
    // Skips scenarios with a trace, because the parser would open a file. The fuzz target `trace` covers traces.
    if text.contains("trace") {
        return;
    }
    match draft.and_then(|draft| draft.show()) {
        Ok(shown) => {
            if let Err(problem) = Scenario::parse(&shown, "shown.toml") {
                panic!("shown, but not parsed again: {problem}\n{shown}");
            }
        }
        Err(problem) => render(&problem),
    }
});

fn render(problem: &Problem) {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor());
    assert!(handler.render_report(&mut text, problem).is_ok());
    assert!(problem.line() >= 1 && problem.column() >= 1);
    let _ = problem.underlined();
}

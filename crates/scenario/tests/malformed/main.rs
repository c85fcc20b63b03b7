//! Malformed scenarios, traces, one-line scenarios and `--set` values. Each malformed input must give one message with
//! the line, the offending text and a remedy.

mod scenarios;
mod typed;

use lasthop_scenario::{Draft, Problem, Scenario};
use scenarios::{INCOMPLETE, SCENARIOS};
use typed::{INLINE, SETS, TRACES};

/// A valid scenario. Every case breaks one thing in it.
const VALID: &str = r#"title = "a test"
duration = "10 s"
seed = 1
runs = 3
headers = "40 bytes"
sample = "100 ms"

[link.wired]
from = "server"
to = "bs"
rate = "10 Mbit/s"
one_way_delay = "45 ms"

[link.wireless]
from = "bs"
to = "client"

[link.wireless.down]
rate = "2 Mbit/s"
queue = "50 packets"
channel = { kind = "bit_error", rate = 2e-5 }
arq = "repeat"

[link.wireless.up]
rate = "384 kbit/s"

[flow.bulk]
from = "server"
to = "client"
segment = "1000 bytes"

[flow.bulk.sender]
recovery = "sack"
min_rto = "200 ms"

[flow.bulk.receiver]
ack_policy = { kind = "delayed", after = "40 ms" }

[flow.voice]
kind = "on_off"
from = "client"
to = "server"
rate = "64 kbit/s"
packet = "200 bytes"
on = "1 s"
off = "2 s"

[route]
server.client = "bs"
"#;

/// A malformed input and its expected message:
/// * two input texts, whose meaning depends on the list;
/// * the line that the message names;
/// * the underlined text;
/// * a part of the message;
/// * a part of the help.
type MalformedCase = (&'static str, &'static str, usize, &'static str, &'static str, &'static str);

#[test]
fn the_scenario_that_is_spoiled_is_valid() {
    let scenario = Scenario::parse(VALID, "test.toml").unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(scenario.flows.len(), 2);
}

#[test]
fn malformed_scenarios_are_refused_with_the_place_and_what_would_be_right() {
    assert!(SCENARIOS.len() + INCOMPLETE.len() + TRACES.len() + INLINE.len() + SETS.len() >= 60);
    let spoiled = |(from, to, ..): &MalformedCase| {
        assert!(VALID.contains(from), "nothing to replace: {from}");
        Scenario::parse(&VALID.replacen(from, to, 1), "test.toml")
    };
    refuse_all(SCENARIOS, "test.toml", spoiled);
}

#[test]
fn incomplete_scenarios_are_refused() {
    refuse_all(INCOMPLETE, "test.toml", |(_, text, ..)| Scenario::parse(text, "test.toml"));
}

#[test]
fn malformed_inline_scenarios_are_refused() {
    refuse_all(INLINE, "command line", |(_, spec, ..)| Scenario::load(spec));
}

#[test]
fn malformed_options_are_refused_with_their_own_text() {
    refuse_all(SETS, "command line", |(path, value, ..)| {
        let mut draft = Draft::parse(VALID, "test.toml")?;
        draft.set(path, value)?;
        draft.check()
    });
}

#[test]
fn malformed_traces_are_refused_with_their_line() {
    let directory = tempfile::tempdir().expect("a directory");
    let scenario = directory.path().join("test.toml");
    let text = VALID.replacen("rate = \"2 Mbit/s\"", "trace = \"bad.down\"", 1);
    std::fs::write(&scenario, &text).expect("written");
    let scenario = scenario.to_string_lossy().into_owned();
    let trace = directory.path().join("bad.down");
    for (contents, _, line, underlined, message, help) in TRACES {
        std::fs::write(&trace, contents).expect("written");
        let problem = Scenario::load(&scenario).expect_err(contents);
        // An error about the whole trace (line 0) is reported at line 19 of the scenario, which names the trace.
        let (file, line) = match line {
            0 => (scenario.clone(), 19),
            _ => (trace.to_string_lossy().into_owned(), *line),
        };
        assert_eq!(mistakes(&problem, &(contents, "", line, underlined, message, help), &file), None);
    }
}

#[test]
fn traces_that_cannot_be_read_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("binary"), [0xff, 0xfe, 0x00]).expect("written");
    let name = directory.path().join("test.toml").to_string_lossy().into_owned();
    let cases: &[MalformedCase] = &[
        ("gone.down", "", 19, "\"gone.down\"", "there is no such file", "Mahimahi"),
        (".", "", 19, "\".\"", "it is a directory", "Mahimahi"),
        ("binary", "", 19, "\"binary\"", "not a text file", "Mahimahi"),
        #[cfg(unix)]
        ("/dev/null", "", 19, "\"/dev/null\"", "it is not a file", "Mahimahi"),
    ];
    refuse_all(cases, &name, |(trace, ..)| {
        let text = VALID.replacen("rate = \"2 Mbit/s\"", &format!("trace = \"{trace}\""), 1);
        Scenario::parse(&text, &name)
    });
}

#[test]
fn scenarios_that_cannot_be_read_are_named() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join("binary"), [0xff, 0xfe, 0x00]).expect("written");
    let path = |name: &str| directory.path().join(name).to_string_lossy().into_owned();
    for (spec, message, help) in [
        ("umst".to_owned(), "neither a scenario file nor a ready path", "did you mean `umts`"),
        (String::new(), "neither a scenario file nor a ready path", "ready paths"),
        ("gone.toml".to_owned(), "there is no such file", "ready paths: hasegawa, umts"),
        (path("gone/x.toml"), "there is no such file", "ready paths"),
        (path("binary"), "not a text file", "lasthop show"),
        (path(""), "it is a directory", "ready paths"),
    ] {
        let problem = Scenario::load(&spec).expect_err(&spec);
        assert!(problem.message().contains(message), "{spec}: {}", problem.message());
        assert!(problem.advice().is_some_and(|advice| advice.contains(help)), "{:?}", problem.advice());
        assert_eq!((problem.file(), problem.underlined()), ("command line", spec.as_str()));
    }
}

/// Checks all cases, and reports all failures at the end.
fn refuse_all(
    cases: &[MalformedCase],
    file: &str,
    read: impl Fn(&MalformedCase) -> Result<Scenario, Problem>,
) {
    let mut found = Vec::new();
    for case in cases {
        match read(case) {
            Ok(_) => found.push(format!("accepted: {} {}", case.0, case.1)),
            Err(problem) => found.extend(mistakes(&problem, case, file)),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

/// Returns the differences between the reported problem and the expected message, as text; `None` if they agree.
fn mistakes(problem: &Problem, case: &MalformedCase, file: &str) -> Option<String> {
    let (first, second, line, underlined, message, help) = case;
    let is_right = problem.file() == file
        && problem.line() == *line
        && problem.underlined() == *underlined
        && !message.is_empty()
        && problem.message().contains(message)
        && !help.is_empty()
        && problem.advice().is_some_and(|advice| advice.contains(help));
    let said = || {
        format!(
            "{first} | {second}\n  {}:{}: {}\n  underlined: {}\n  help: {}",
            problem.file(),
            problem.line(),
            problem.message(),
            problem.underlined(),
            problem.advice().unwrap_or("none")
        )
    };
    (!is_right).then(said)
}

//! Parameters that have no effect because of another parameter's value. A scenario that sets such a parameter is
//! refused, and `show` omits the parameter.

use lasthop_base::{Info, Is, OnlyIf, Rate, Unit, Value};
use lasthop_scenario::{Catalogue, Draft, Problem};

const PATH: &str = "rate=2Mbit/s,rtt=40ms";

fn checked(settings: &[(&str, &str)]) -> Result<String, Problem> {
    let mut draft = Draft::load(PATH)?;
    for (key, value) in settings {
        draft.set(key, value)?;
    }
    draft.check()?;
    draft.show()
}

const CHANNEL: &str = "link.path.down.channel";

#[test]
fn keys_of_the_other_clock_are_refused_by_name() {
    for (value, key, there) in [
        (
            "{ kind = \"two_state\", clock = \"time\", mean_loss = 0.5, bad = \"5 ms\" }",
            "mean_loss",
            "good, bad, meets",
        ),
        ("{ kind = \"two_state\", mean_loss = 0.5, bad = \"5 ms\" }", "bad", "mean_loss, mean_burst"),
        ("{ kind = \"two_state\", mean_loss = 0.5, step = \"5 ms\" }", "step", "clock = \"time\""),
        ("{ kind = \"two_state\", mean_loss = 0.5, p = 0.1 }", "p", "mean_loss = 0"),
    ] {
        let problem = checked(&[(CHANNEL, value)]).expect_err(value);
        assert!(problem.message().starts_with(&format!("{CHANNEL}.{key}: has no effect with ")), "{problem}");
        let help = problem.advice().expect("a remedy");
        assert!(help.contains(there), "{help}");
    }
}

#[test]
fn a_key_at_its_default_asks_for_nothing() {
    let value = "{ kind = \"two_state\", clock = \"time\", mean_burst = 1, r = 1, good = \"1 s\" }";
    let shown = checked(&[(CHANNEL, value)]).expect("every parameter has an effect");
    assert!(shown.contains("good = \"1 s\"") && !shown.contains("mean_burst"), "{shown}");
    checked(&[(CHANNEL, "{ kind = \"two_state\", mean_loss = 0, mean_burst = 5 }")])
        .expect("a sweep may end at 0");
}

/// Returns a valid value that differs from the default.
fn other_value(unit: &Unit, default: Option<&str>) -> Option<Value> {
    let default = default.and_then(|text| unit.parse(text).ok());
    let some = match unit {
        Unit::Duration(low, high) => vec![Value::Duration(*low), Value::Duration(*high)],
        Unit::Rate => vec![Value::Rate(Rate::from_bps(1_000)), Value::Rate(Rate::from_bps(2_000))],
        Unit::Bytes(low, high) | Unit::Room(low, high) => vec![Value::Bytes(*low), Value::Bytes(*high)],
        Unit::Number(low, high) | Unit::Probability(low, high) => {
            vec![Value::Number(*low), Value::Number(*high)]
        }
        Unit::Count(low, high) => vec![Value::Count(*low), Value::Count(*high)],
        Unit::Counts => vec![Value::Counts(vec![1])],
        Unit::Flag => vec![Value::Flag(true), Value::Flag(false)],
        Unit::Word(words) => words.iter().map(|word| Value::Word(word)).collect(),
    };
    some.into_iter().find(|value| Some(value) != default.as_ref())
}

fn written(value: &Value) -> String {
    match value {
        Value::Duration(span) => format!("{span}"),
        Value::Rate(rate) => format!("{rate}"),
        Value::Bytes(bytes) => format!("{bytes} bytes"),
        Value::Number(number) => format!("{number}"),
        Value::Count(count) => format!("{count}"),
        Value::Flag(flag) => format!("{flag}"),
        Value::Word(word) => (*word).to_owned(),
        Value::Bdp(_) | Value::Counts(_) => String::new(),
    }
}

/// Returns a value, as text, of the parameter `rule.other`. With this value, the rule is not satisfied.
fn failing(info: &Info, rule: &OnlyIf) -> String {
    let other = info.parameters.iter().find(|parameter| parameter.name == rule.other).expect(rule.other);
    let (text, wanted) = match rule.is {
        Is::This(text) => (text, false),
        Is::Not(text) => (text, true),
    };
    let value = other.unit.parse(text).unwrap_or_else(|why| panic!("{}.{}: {why}", info.name, rule.other));
    if wanted {
        written(&value)
    } else {
        written(&other_value(&other.unit, Some(text)).expect("another value"))
    }
}

/// Each rule (`only_if`) of a mechanism must name parameters that exist. A scenario must be refused if it sets a
/// parameter whose rule is not satisfied.
#[test]
fn every_rule_of_the_catalogues_is_heeded() {
    let catalogue = Catalogue::default();
    let mut tried = 0;
    for seam in catalogue.seams() {
        let table = match seam.side {
            "link" => "link.path.down".to_owned(),
            "node" => "node.server".to_owned(),
            side => format!("flow.bulk.{side}"),
        };
        for info in &seam.mechanisms {
            for rule in info.only_if {
                for name in rule.parameters {
                    let parameter = info.parameters.iter().find(|parameter| parameter.name == *name);
                    let parameter = parameter.unwrap_or_else(|| panic!("{}: no `{name}`", info.name));
                    let value = other_value(&parameter.unit, parameter.default).expect("another value");
                    let (key, failing) = (format!("{table}.{}", seam.name), failing(info, rule));
                    let mut draft = Draft::load(PATH).expect("a path");
                    draft.set(&key, info.name).expect("a known name");
                    draft.set(&format!("{key}.{}", rule.other), &failing).expect("a known key");
                    draft.set(&format!("{key}.{name}"), &written(&value)).expect("a known key");
                    let what = format!("{}.{name} with {} = {failing}", info.name, rule.other);
                    let problem = draft.check().expect_err(&what);
                    assert!(problem.message().contains(": has no effect with "), "{what}: {problem}");
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 30, "{tried}");
}

//! `lasthop compare`: metrics, flows and output files.

mod common;

use common::{LOSSY, call_in, objects, stderr_of, stdout};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::Path;

const SHORT: [&str; 7] = ["compare", LOSSY, "--runs", "3", "--set", "duration=5s", "--vary"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&SHORT[..], &["recovery=sack,reno"], more].concat()
}

/// Returns the words of each row of a table, without the heading.
fn rows(table: &str) -> Vec<Vec<&str>> {
    let lines = table.lines().skip_while(|line| !line.starts_with('─')).skip(1);
    lines.take_while(|line| !line.is_empty()).map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn chosen_metrics_are_shown_and_no_others() {
    let chosen = ["--metric", "goodput_kbps", "--metric", "retransmissions"];
    let table = stdout(&with(&chosen));
    let names: Vec<[&str; 2]> = rows(&table).iter().map(|row| [row[0], row[1]]).collect();
    let each = |name| [[name, "sack"], [name, "reno"]];
    assert_eq!(names, [each("goodput_kbps"), each("retransmissions")].concat(), "{table}");
    assert_eq!(stdout(&with(&["--metric", "goodput_kbps,retransmissions"])), table);

    let lines = objects(&stdout(&with(&[&chosen[..], &["--format", "json"]].concat())));
    let keys: Vec<&str> = lines[0].keys().map(String::as_str).collect();
    assert_eq!(keys, ["x", "against", "flow", "goodput_kbps", "retransmissions"]);
    let csv = stdout(&with(&[&chosen[..], &["--format", "csv"]].concat()));
    assert!(csv.starts_with("recovery,flow,run,seed,goodput_kbps,retransmissions\n"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + 2 * 3);
}

#[test]
fn several_flows_are_compared_one_by_one_and_together() {
    let two = ["--set", "flow.bulk.count=2"];
    let table = stdout(&with(&two));
    let rows = rows(&table);
    let of = |metric: &str, flow: &str, value: &str| {
        let row = rows.iter().find(|row| row[..3] == [metric, flow, value]);
        row.unwrap_or_else(|| panic!("{metric} {flow} {value}: {table}"))[3].parse::<f64>().unwrap()
    };
    for value in ["sack", "reno"] {
        let sum = of("goodput_kbps", "bulk.1", value) + of("goodput_kbps", "bulk.2", value);
        let total = of("total_goodput_kbps", "all", value);
        assert!((sum / total - 1.0).abs() < 0.02, "{sum} and {total}: {table}");
        // Jain's index of two flows is between 0.5 and 1.
        let fairness = of("fairness", "all", value);
        assert!((0.5..=1.0).contains(&fairness), "{table}");
    }
    let lines = objects(&stdout(&with(&[&two[..], &["--format", "json"]].concat())));
    assert_eq!(lines.len(), 2 * 4, "two flows, their class, and all flows");
    assert_eq!((&lines[2]["class"], &lines[3]["flow"]), (&Value::from("bulk"), &Value::Null));
    assert!(lines[3]["fairness"]["mean"].is_number() && lines[7]["fairness"]["difference"].is_object());
    assert_eq!(lines[6]["fairness"], lines[7]["fairness"], "the class has all flows");
    assert!(!lines[0].contains_key("fairness"));

    let table = stdout(&with(&[&two[..], &["--metric", "timeouts"]].concat()));
    let whose: Vec<&str> = self::rows(&table).iter().map(|row| row[1]).collect();
    assert_eq!(whose, ["bulk.1", "bulk.1", "bulk.2", "bulk.2", "mean", "mean"], "{table}");
}

/// The samples have one row per value, flow, run and metric, equal to the output of `--format csv`. Rows of totals have
/// no flow.
#[test]
fn every_run_is_in_the_samples() {
    let folder = tempfile::tempdir().unwrap();
    let more = ["--set", "flow.bulk.count=2", "--samples", "a.csv", "--format", "csv"];
    let output = call_in(folder.path(), &with(&more));
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    let text = std::fs::read_to_string(folder.path().join("a.csv")).unwrap();
    assert!(text.starts_with("recovery,flow,run,seed,metric,value\n"), "{text}");
    let fields = text.lines().skip(1).map(|line| line.rsplit_once(',').unwrap());
    let samples: BTreeMap<&str, f64> = fields.map(|(key, value)| (key, value.parse().unwrap())).collect();
    let wide = String::from_utf8(output.stdout).unwrap();
    let mut lines = wide.lines();
    assert!(lines.next().unwrap().starts_with("recovery,flow,run,seed,goodput_kbps,"));
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let key = format!("{},goodput_kbps", fields[..4].join(","));
        assert_eq!(samples[key.as_str()], fields[4].parse::<f64>().unwrap(), "{key}");
    }
    assert!(
        samples.contains_key("reno,,3,3,fairness") && samples.contains_key("sack,,1,1,total_goodput_kbps")
    );
}

/// Each chart has one curve per value. If a value has a second curve, the second curve is dotted.
#[test]
fn values_are_drawn_over_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let output = call_in(folder.path(), &with(&["--report", "a.html"]));
    assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
    assert!(stderr_of(&output).contains("a.html: written"));
    let page = std::fs::read_to_string(folder.path().join("a.html")).unwrap();
    // The first screen of the report, which precedes the first section, has figures over the varied key.
    let (_, behind) = page.split_once("<section ").expect("a chapter");
    for title in ["Goodput", "bulk: congestion window", "bulk: round-trip time", "path down: queue length"] {
        let (_, figure) = behind.split_once(&format!("<div class=\"title\">{title} ")).expect(title);
        let (figure, _) = figure.split_once("</figure>").expect(title);
        let legend = figure.split("</svg>").filter_map(|entry| Some(entry.split_once("</li>")?.0));
        let (dotted, curves): (Vec<&str>, Vec<&str>) = legend.partition(|name| name.contains(", "));
        assert_eq!(curves, ["sack", "reno"], "{title}");
        let second = match title {
            "bulk: congestion window" => vec!["sack, ssthresh", "reno, ssthresh"],
            "bulk: round-trip time" => vec!["sack, RTO", "reno, RTO"],
            _ => Vec::new(),
        };
        assert_eq!(dotted, second, "{title}");
        assert!(figure.lines().filter(|row| row.starts_with("reno,")).count() > 20, "{title}");
    }
    assert!(page.contains("--vary recovery=sack,reno --report a.html</pre>"), "the command line");
    // Writing a report does not change the results.
    assert_eq!(String::from_utf8(output.stdout).unwrap(), stdout(&with(&[])));
}

/// Returns the mean goodput of each case, its baseline, and its difference, in the order of the cases.
fn goodputs(arguments: &[&str]) -> Vec<(Value, f64, Option<f64>)> {
    let two_keys = ["channel.loss=0.5%,3%", "--vary", "recovery=sack,reno", "--format", "json"];
    let lines = objects(&stdout(&[&SHORT[..], &two_keys, arguments].concat()));
    let number = |value: &Value| value.as_f64();
    let of = |line: &serde_json::Map<String, Value>| {
        let goodput = &line["goodput_kbps"];
        let mean = number(&goodput["mean"]).unwrap();
        (line["against"].clone(), mean, number(&goodput["difference"]["mean"]))
    };
    lines.iter().map(of).collect()
}

/// If two keys are varied, a case is compared with the baseline at the same value of the second key. Cases: 0.5 % sack,
/// 0.5 % reno, 3 % sack, 3 % reno.
#[test]
fn the_baseline_has_the_same_values_of_the_other_key() {
    let check = |arguments: &[&str], bases: [usize; 4]| {
        let cases = goodputs(arguments);
        assert_eq!(cases.len(), 4);
        for (case, base) in bases.into_iter().enumerate() {
            let (against, mean, difference) = &cases[case];
            if case == base {
                assert_eq!((against, difference), (&Value::Null, &None), "{case}");
            } else {
                let expected = mean - cases[base].1;
                assert!((difference.unwrap() - expected).abs() < 1e-6 * mean, "{case} to {base}: {cases:?}");
                assert!(against.is_object(), "{against}");
            }
        }
    };
    check(&[], [0, 0, 2, 2]);
    check(&["--against", "recovery=reno"], [1, 1, 3, 3]);
    check(&["--against", "channel.loss=3%"], [2, 3, 2, 3]);
    check(&["--against", "channel.loss=0.5%", "--against", "recovery=sack"], [0, 0, 0, 0]);
    let two_keys = ["channel.loss=0.5%,3%", "--vary", "recovery=sack,reno"];
    let table = stdout(&[&SHORT[..], &two_keys].concat());
    assert!(table.contains("differences to recovery=sack at the same channel.loss"), "{table}");
    let output = call_in(Path::new("."), &[&SHORT[..], &two_keys, &["--against", "recovery=rono"]].concat());
    let error = stderr_of(&output);
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("--against: `recovery` has no value rono") && error.contains("`reno`"), "{error}");
}

/// With `--flow`, the tables, JSON objects and figures have only the given class. The objects of this class are the
/// same with and without `--flow`.
#[test]
fn one_class_is_compared() {
    let directory = tempfile::tempdir().expect("a directory");
    let text = "title = \"two classes\"\nduration = \"5 s\"\n[link.l]\nfrom = \"a\"\nto = \"b\"\nrate = \"10 Mbit/s\"\n\
                one_way_delay = \"10 ms\"\n[flow.many]\nfrom = \"a\"\nto = \"b\"\ncount = 2\nstart_spread = \"1 s\"\n\
                [flow.one]\nfrom = \"a\"\nto = \"b\"\n";
    std::fs::write(directory.path().join("two.toml"), text).expect("the file can be written");
    let vary = ["compare", "two.toml", "--vary", "l.down.queue=20packets,40packets", "--runs", "3"];
    let with = |more: &[&str]| call_in(directory.path(), &[&vary[..], more].concat());
    let all = objects(&String::from_utf8_lossy(&with(&["--format", "json"]).stdout));
    let one = objects(&String::from_utf8_lossy(&with(&["--format", "json", "--flow", "many"]).stdout));
    let name = |it: &serde_json::Map<String, Value>| {
        let name = it.get("class").or_else(|| it.get("flow")).and_then(Value::as_str);
        name.unwrap_or_default().to_owned()
    };
    let names: Vec<String> = one.iter().map(name).collect();
    assert_eq!(names, ["many.1", "many.2", "many", "many.1", "many.2", "many"]);
    let wanted: Vec<_> = all.iter().filter(|it| name(it).starts_with("many")).cloned().collect();
    assert_eq!(one, wanted);
    let output = with(&["--flow", "many", "--metric", "goodput", "--figure", "f.svg"]);
    let text = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<&str> = text.lines().filter(|line| line.starts_with("goodput_kbps")).collect();
    assert_eq!(rows.len(), 2, "{text}");
    assert!(rows.iter().all(|row| row.contains(" many ")), "{text}");
    let figure = std::fs::read_to_string(directory.path().join("f.svg")).expect("the figure is written");
    assert!(figure.contains("many: goodput, kbit/s"), "{figure}");
    let unknown = with(&["--flow", "web"]);
    let message = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(message.contains("there is no flow `web`") && message.contains("many, one"), "{message}");
}

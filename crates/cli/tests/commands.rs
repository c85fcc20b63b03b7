//! Every command with valid input: output in every format.

mod common;

use common::{LOSSY, call_in, objects, stderr_of, stdout};
use lasthop_sim::{FLOW_METRICS, LINK_METRICS, RLC_METRICS};
use serde_json::Value;

#[test]
fn every_ready_path_is_checked_in_one_line() {
    for name in lasthop_scenario::ready_paths() {
        let line = stdout(&["check", name]);
        assert_eq!(line.lines().count(), 1, "{line}");
        assert!(line.starts_with(&format!("{name}: ")) && line.contains("flow"), "{line}");
    }
}

#[test]
fn check_tells_the_mean_rate_of_traces() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.down"), "1\n2\n3\n4\n").unwrap();
    let output = call_in(folder.path(), &["check", "down_trace=a.down,up=1Mbit/s,rtt=20ms"]);
    let line = String::from_utf8(output.stdout).unwrap();
    // The trace has 4 delivery opportunities of 1504 bytes in 4 ms.
    assert!(line.contains("trace of 4 delivery opportunities in 0.004 s, mean 12.032 Mbit/s"), "{line}");
}

#[test]
fn what_show_prints_is_the_same_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let shown = stdout(&["show", "hasegawa", "--set", "ack_splitting=split", "--set", "duration=20s"]);
    std::fs::write(folder.path().join("mine.toml"), &shown).unwrap();
    let again = call_in(folder.path(), &["run", "mine.toml", "--runs", "2", "--format", "csv"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr_of(&again));
    let direct = stdout(&[
        "run",
        "hasegawa",
        "--runs",
        "2",
        "--format",
        "csv",
        "--set",
        "ack_splitting=split",
        "--set",
        "duration=20s",
    ]);
    assert_eq!(String::from_utf8(again.stdout).unwrap(), direct);
}

#[test]
fn list_has_every_mechanism_and_path_with_its_source() {
    let entries = objects(&stdout(&["list", "--format", "json"]));
    let names: Vec<(&str, &str)> = entries
        .iter()
        .map(|entry| (entry["kind"].as_str().unwrap(), entry["name"].as_str().unwrap()))
        .collect();
    for expected in
        [("recovery", "sack"), ("ack_splitting", "split"), ("channel", "two_state"), ("path", "umts")]
    {
        assert!(names.contains(&expected), "{expected:?}");
    }
    for entry in &entries {
        assert!(!entry["source"].as_str().unwrap().is_empty(), "{entry:?}");
        assert!(!entry["summary"].as_str().unwrap().is_empty(), "{entry:?}");
    }
    assert_eq!(stdout(&["list", "--format", "csv"]).lines().count(), entries.len() + 1);
}

#[test]
fn the_schema_is_json() {
    let schema: Value = serde_json::from_str(&stdout(&["schema"])).unwrap();
    assert_eq!(schema["type"], "object");
}

#[test]
fn run_prints_an_object_a_flow_with_every_metric() {
    let flows = objects(&stdout(&["run", LOSSY, "--runs", "3", "--format", "json"]));
    assert_eq!(flows.len(), 3, "one object for the flow, and one for each direction of the link");
    assert_eq!(flows[0]["flow"], "bulk");
    for (object, link) in flows[1..].iter().zip(["path.down", "path.up"]) {
        assert_eq!(object["link"], link);
        for metric in LINK_METRICS {
            assert!(object[metric.name]["mean"].as_f64().unwrap() >= 0.0, "{}", metric.name);
        }
    }
    assert_eq!(flows[1]["payload_kbps"]["mean"], flows[0]["goodput_kbps"]["mean"]);
    for metric in FLOW_METRICS {
        assert!(flows[0].contains_key(metric.name), "{}", metric.name);
    }
    let goodput = &flows[0]["goodput_kbps"];
    let ends = [goodput["ci95"][0].as_f64().unwrap(), goodput["ci95"][1].as_f64().unwrap()];
    let mean = goodput["mean"].as_f64().unwrap();
    assert!(ends[0] < mean && mean < ends[1] && mean < 2000.0 && mean > 500.0, "{goodput}");
    assert_eq!(goodput["runs"], 3);
    assert_eq!(flows[0]["completed_s"], Value::Null, "a bulk flow has no end");
}

#[test]
fn run_prints_what_rlc_counted() {
    let path = common::root().join("papers/koga4/ordered.toml");
    let path = path.to_str().unwrap();
    let lines = objects(&stdout(&["run", path, "--runs", "2", "--format", "json"]));
    assert_eq!(lines[0]["flow"], "bulk");
    let down = lines.iter().find(|line| line.get("link") == Some(&Value::from("wireless.down"))).unwrap();
    for metric in RLC_METRICS {
        assert!(down.contains_key(metric.name), "{}", metric.name);
    }
    let mean = |name: &str| down[name]["mean"].as_f64().unwrap();
    // In the scenario, RLC loses 5.9 % of the blocks, so some PDUs are retransmitted. Later SDUs wait at most 300 ms
    // for these retransmissions (key `wait`).
    assert!(
        mean("pdu_retransmissions") > 0.02 * mean("pdus") && mean("pdu_retransmissions") < 0.2 * mean("pdus")
    );
    assert!(mean("reordering_wait_mean_ms") > 0.0 && mean("reordering_wait_max_ms") <= 300.0);
    assert!(mean("largest_sending_buffer") >= 1.0);
    assert_eq!(down["polls"], Value::Null, "status is not polled");
    let table = stdout(&["run", path, "--runs", "1", "--all"]);
    assert!(table.contains("wireless.down") && table.contains("sdus_discarded"), "{table}");
    assert!(!lines[1].contains_key("pdus"), "no RLC on {}", lines[1]["link"]);
    assert!(!stdout(&["run", LOSSY, "--runs", "1"]).contains("RLC"));
    let polled = ["--set", "link.wireless.up.arq=rlc", "--set", "link.wireless.down.arq.status=polled"];
    let both = objects(&stdout(&[&["run", path, "--runs", "1", "--format", "json"][..], &polled].concat()));
    let of = |link: &str| both.iter().find(|line| line.get("link") == Some(&Value::from(link))).unwrap();
    let (down, up) = (of("wireless.down"), of("wireless.up"));
    assert!(down["statuses"]["mean"].as_f64().unwrap() > 100.0, "{both:?}");
    assert!(up["status_pdus"]["mean"].as_f64() <= down["statuses"]["mean"].as_f64());
}

#[test]
fn one_repetition_has_no_interval() {
    let flows = objects(&stdout(&["run", LOSSY, "--runs", "1", "--format", "json"]));
    assert_eq!(flows[0]["goodput_kbps"]["ci95"], Value::Null);
    let table = stdout(&["run", LOSSY, "--runs", "1"]);
    assert!(!table.contains("± ") && table.contains("intervals need two"), "{table}");
}

#[test]
fn several_flows_have_a_total_and_jains_index() {
    let arguments = ["run", LOSSY, "--runs", "2", "--set", "flow.bulk.count=3", "--set", "duration=5s"];
    let table = stdout(&arguments);
    for expected in ["bulk (mean of 3)", "total_goodput_kbps", "fairness", " ± "] {
        assert!(table.contains(expected), "{table}");
    }
    let lines = objects(&stdout(&[&arguments[..], &["--format", "json"]].concat()));
    assert_eq!(lines.len(), 7, "three flows, their class, their total, both directions of a link");
    assert_eq!((&lines[3]["class"], &lines[3]["flows"]), (&Value::from("bulk"), &Value::from(3)));
    assert_eq!((&lines[4]["flow"], &lines[4]["flows"]), (&Value::Null, &Value::from(3)));
    let mean = |line: usize, name: &str| lines[line][name]["mean"].as_f64().unwrap();
    let sum: f64 = (0..3).map(|flow| mean(flow, "goodput_kbps")).sum();
    assert!((mean(4, "total_goodput_kbps") - sum).abs() < 1e-6);
    assert!(mean(4, "fairness") > 0.3 && mean(4, "fairness") <= 1.0);
    assert!((mean(3, "total_goodput_kbps") - sum).abs() < 1e-6);
    assert!((3.0 * mean(3, "goodput_kbps") - sum).abs() < 1e-6);
}

#[test]
fn transfers_that_are_cut_off_are_counted() {
    let path = |loss: &str| format!("rate=2Mbit/s,rtt=40ms,queue=20packets,duration=5s,loss={loss}");
    let run = |loss: &str, format: &str| {
        let transfer = "flow.bulk.transfer=1 MB";
        stdout(&["run", &path(loss), "--set", transfer, "--runs", "10", "--all", "--format", format])
    };
    // 1 MB in 5 s needs 1.6 Mbit/s, which is impossible if 30 % of the packets are lost.
    let never = &objects(&run("30%", "json"))[0]["completed_s"];
    assert_eq!((&never["completed"], &never["transfers"]), (&Value::from(0), &Value::from(10)));
    assert_eq!(
        (&never["mean"], &never["p50"], &never["max_follow_up_s"]),
        (&Value::Null, &Value::Null, &Value::from(5.0))
    );
    let table = run("30%", "table");
    for expected in ["0 of 10", "> 5", "completed_p99_s", "restricted_completed_s"] {
        assert!(table.contains(expected), "{expected}: {table}");
    }
    let some = objects(&run("1%", "json"))[0]["completed_s"].clone();
    let completed = some["completed"].as_u64().unwrap();
    assert!(completed > 0 && completed < 10 && some["mean"].is_null(), "{some}");
    // The median of ten transfers is the fifth shortest, so the median is defined if five transfers are complete.
    assert_eq!(some["p50"].is_number(), completed >= 5, "{some}");
    assert!(some["p99"].is_null());
    // Rows of complete transfers have a completion time. Every row has the time for which the transfer was observed.
    let rows = run("1%", "csv");
    let rows: Vec<Vec<&str>> = rows.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| rows[0].iter().position(|head| *head == name).unwrap();
    let (time, watched) = (column("completed_s"), column("restricted_completed_s"));
    assert_eq!(rows[1..].iter().filter(|row| !row[time].is_empty()).count() as u64, completed);
    assert!(
        rows[1..]
            .iter()
            .all(|row| row[time] == row[watched] || (row[time].is_empty() && row[watched] == "5"))
    );
}

#[test]
fn many_flows_are_summed_up() {
    let table = stdout(&["run", LOSSY, "--runs", "2", "--set", "flow.bulk.count=30", "--set", "duration=2s"]);
    assert!(table.contains("bulk (mean of 30)") && !table.contains("bulk.17"), "{table}");
    let rows = stdout(&[
        "run",
        LOSSY,
        "--runs",
        "2",
        "--set",
        "flow.bulk.count=30",
        "--set",
        "duration=2s",
        "--format",
        "csv",
    ]);
    assert_eq!(rows.lines().count(), 1 + 2 * 30);
}

#[test]
fn csv_has_a_row_per_flow_and_repetition_and_units_in_its_names() {
    let text = stdout(&["run", LOSSY, "--runs", "3", "--seed", "7", "--format", "csv"]);
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(&lines[0][..4], ["flow", "run", "seed", "goodput_kbps"]);
    assert_eq!(lines[0].len(), 3 + FLOW_METRICS.len());
    assert!(lines.iter().all(|line| line.len() == lines[0].len()));
    let heads: Vec<String> = lines[1..].iter().map(|line| line[..3].join(" ")).collect();
    assert_eq!(heads, ["bulk 1 7", "bulk 2 8", "bulk 3 9"]);
}

#[test]
fn compare_is_paired_and_equal_values_differ_by_nothing() {
    let lines = objects(&stdout(&[
        "compare",
        LOSSY,
        "--runs",
        "3",
        "--vary",
        "recovery=new_reno,newreno,reno",
        "--format",
        "json",
    ]));
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0]["x"]["recovery"], "new_reno");
    assert_eq!(lines[0]["goodput_kbps"]["difference"], Value::Null);
    for metric in FLOW_METRICS {
        let same = &lines[1][metric.name];
        if !same.is_null() {
            assert_eq!(same["difference"]["mean"], 0.0, "{}", metric.name);
            assert_eq!(same["difference"]["ci95"], serde_json::json!([0.0, 0.0]), "{}", metric.name);
        }
    }
    let reno = &lines[2]["goodput_kbps"];
    let [mean, first, difference] =
        [&reno["mean"], &lines[0]["goodput_kbps"]["mean"], &reno["difference"]["mean"]]
            .map(|v| v.as_f64().unwrap());
    assert!((mean - first - difference).abs() < 1e-6);
}

#[test]
fn compare_takes_every_combination() {
    let arguments = [
        "compare",
        LOSSY,
        "--runs",
        "2",
        "--set",
        "duration=5s",
        "--vary",
        "recovery=sack,reno",
        "--vary",
        "ack_counting=bytes,packets",
    ];
    let table = stdout(&arguments);
    let rows: Vec<&str> = table.lines().filter(|line| line.starts_with("goodput_kbps")).collect();
    assert_eq!(rows.len(), 4, "{table}");
    assert!(rows[1].contains("sack") && rows[1].contains("packets") && rows[2].contains("reno"), "{table}");
    let rows = stdout(&[&arguments[..], &["--format", "csv"]].concat());
    assert_eq!(rows.lines().count(), 1 + 4 * 2);
    assert!(rows.starts_with("recovery,ack_counting,flow,run,seed,goodput_kbps"), "{rows}");
}

#[test]
fn bench_prints_packets_time_and_memory_of_a_case() {
    let cases = objects(&stdout(&["bench", "hasegawa", "--format", "json"]));
    assert_eq!(cases.len(), 1);
    assert_eq!(cases[0]["case"], "hasegawa");
    let number = |name: &str| cases[0][name].as_f64().unwrap();
    // At 2 Mbit/s, 1000 s suffice for at most 240,384 packets of 1040 bytes on the wire.
    assert!(number("data_packets") > 200_000.0 && number("data_packets") < 241_000.0, "{cases:?}");
    assert!(number("cpu_s") > 0.0);
    assert!((number("packets_per_cpu_s") * number("cpu_s") / number("data_packets") - 1.0).abs() < 0.01);
    assert!(number("peak_rss_mb") > 1.0 && number("peak_rss_mb") < 200.0, "{cases:?}");
}

#[test]
fn help_and_version_are_no_mistakes() {
    assert!(stdout(&["--help"]).contains("reproduce"));
    assert!(stdout(&["--version"]).starts_with("lasthop "));
    for command in
        ["run", "compare", "reproduce", "check", "show", "list", "schema", "bench", "completion", "man"]
    {
        assert!(stdout(&[command, "--help"]).contains("Usage"), "{command}");
    }
}

#[test]
fn assertions_decide_the_exit_status() {
    let here = std::path::Path::new(".");
    let path = "rate=10Mbit/s,rtt=20ms,queue=50packets,duration=5s,loss=0.1%";
    let run = |more: &[&str]| {
        let output = call_in(here, &[&["run", path], more].concat());
        let text = String::from_utf8(output.stdout.clone()).unwrap();
        (output.status.code(), text, stderr_of(&output))
    };
    let (status, text, _) = run(&["--runs", "4", "--assert", "goodput > 1 Mbit/s, mean_rtt < 1 s"]);
    assert_eq!((status, text.matches(": holds;").count()), (Some(0), 2), "{text}");
    let (status, text, _) = run(&["--runs", "4", "--format", "json", "--assert", "goodput > 20 Mbit/s"]);
    assert_eq!(status, Some(1));
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!((&last["holds"], &last["metric"]), (&false.into(), &"goodput_kbps".into()), "{last}");
    let (status, text, _) = run(&["--runs", "1", "--assert", "goodput > 1 Mbit/s"]);
    assert!(status == Some(1) && text.contains("open: needs more --runs"), "{text}");
    let (status, _, said) = run(&["--assert", "goodput > 5 ms"]);
    assert!(status == Some(2) && said.contains("Mbit/s"), "{said}");
    let (status, _, said) = run(&["--assert", "goodput@other > 5 Mbit/s"]);
    assert!(status == Some(2) && said.contains("unknown flow `other`"), "{said}");
}

//! Completion times of transfers and requests: table, JSON, rows and charts.

mod common;

use common::{call_in, objects, stdout};

const WEB: &str =
    "profile=plain,rate=4Mbit/s,rtt=60ms,loss=1%,duration=20s,request=300bytes,response=30KB,think=500ms";

/// CSV rows, JSON and the table report the same requests.
#[test]
fn rows_json_and_table_agree() {
    let directory = tempfile::tempdir().expect("a directory");
    let arguments = ["run", WEB, "--runs", "3", "--format", "json", "--completions", "c.csv"];
    let output = call_in(directory.path(), &arguments);
    assert!(output.status.success(), "{output:?}");
    let json = objects(&String::from_utf8_lossy(&output.stdout));
    let rows = std::fs::read_to_string(directory.path().join("c.csv")).expect("the file is written");
    let mut lines = rows.lines();
    assert_eq!(lines.next(), Some("flow,run,seed,transfer,began_s,took_s,complete,class,bytes,slowdown"));
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let complete: Vec<f64> =
        rows.iter().filter(|row| row[6] == "1").map(|row| row[5].parse().expect("a number")).collect();
    let it = &json[0]["completed_s"];
    assert_eq!(it["completed"].as_u64(), Some(complete.len() as u64));
    assert_eq!(it["transfers"].as_u64(), Some(rows.len() as u64));
    assert!(complete.len() > 60 && rows.len() - complete.len() <= 3, "{} of {}", complete.len(), rows.len());
    // Each time in the distribution is also in a row, and the shares agree with the rows. The tolerance covers requests
    // that the end of the run cuts off.
    let distribution = it["distribution"].as_array().expect("a list");
    assert!(distribution.len() > 10);
    for pair in distribution {
        let (seconds, share) = (pair[0].as_f64().unwrap(), pair[1].as_f64().unwrap());
        let by_then = complete.iter().filter(|took| **took <= seconds + 1e-9).count() as f64;
        assert!(complete.iter().any(|took| (took - seconds).abs() < 1e-9), "{seconds}");
        assert!((by_then / rows.len() as f64 - share).abs() < 0.05, "{seconds}: {share}");
    }
    // Within a repetition, each request starts 0.5 s after the end of the previous response.
    let first: Vec<&Vec<&str>> = rows.iter().filter(|row| row[1] == "1").collect();
    for pair in first.windows(2) {
        let number = |row: &Vec<&str>, at: usize| row[at].parse::<f64>().unwrap();
        let pause = number(pair[1], 4) - number(pair[0], 4) - number(pair[0], 5);
        assert!((pause - 0.5).abs() < 1e-6, "{pause}");
        assert_eq!(number(pair[1], 3), number(pair[0], 3) + 1.0);
    }
}

/// Tables, JSON and CSV rows have completion times and slowdowns by size.
#[test]
fn times_by_size() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,duration=20s,request=300bytes,response=50KB,sizes=web";
    let text = stdout(&["run", path, "--runs", "2"]);
    let heading = text.lines().find(|line| line.starts_with("size ")).expect("a table by size");
    assert!(heading.ends_with("slowdown: p50  slowdown: p95"), "{heading}");
    let arguments = ["run", path, "--runs", "2", "--format", "json", "--completions", "c.csv"];
    let output = call_in(directory.path(), &arguments);
    let json = objects(&String::from_utf8_lossy(&output.stdout));
    let classes = json[0]["completed_s"]["by_size"].as_array().expect("a list");
    let rows = std::fs::read_to_string(directory.path().join("c.csv")).expect("the file is written");
    let rows: Vec<Vec<&str>> = rows.lines().skip(1).map(|line| line.split(',').collect()).collect();
    for class in classes {
        let from = class["from_bytes"].as_u64().expect("a bound");
        let below = class["below_bytes"].as_u64().unwrap_or(u64::MAX);
        let members = rows.iter().filter(|row| (from..below).contains(&row[8].parse().expect("bytes")));
        let (mut slowdowns, mut complete) = (Vec::<f64>::new(), Vec::<f64>::new());
        for row in members {
            let slowdown = row[9].parse().expect("a number");
            slowdowns.push(slowdown);
            complete.extend((row[6] == "1").then_some(slowdown));
        }
        assert_eq!(class["transfers"].as_u64(), Some(slowdowns.len() as u64));
        slowdowns.sort_by(f64::total_cmp);
        assert!(complete.iter().all(|slowdown| *slowdown >= 1.0), "no transfer is faster than the idle path");
        if class["completed"] == class["transfers"] {
            let median = slowdowns[slowdowns.len().div_ceil(2) - 1];
            let reported = class["slowdown"]["p50"].as_f64().expect("a number");
            assert!((reported - median).abs() < 1e-9, "{reported} {median}");
        }
    }
    assert!(classes.len() > 1 && rows.iter().all(|row| row[7] == "bulk" || row[7] == "web"), "{rows:?}");
    let page = call_in(directory.path(), &["run", path, "--runs", "2", "--report", "r.html"]);
    assert!(page.status.success(), "{page:?}");
    let page = std::fs::read_to_string(directory.path().join("r.html")).expect("the file is written");
    assert!(page.contains("run-slowdown-by-size"), "the report has a figure");
}

/// The chart of completion times has one curve per value, and its axes have units.
#[test]
fn reports_draw_how_times_are_distributed() {
    let directory = tempfile::tempdir().expect("a directory");
    let page = |arguments: &[&str]| {
        let output = call_in(directory.path(), arguments);
        assert!(output.status.success(), "{output:?}");
        std::fs::read_to_string(directory.path().join("r.html")).expect("the file is written")
    };
    let figure = |page: &str, id: &str| {
        let start = page.find(&format!("<figure id=\"{id}\"")).expect("the figure");
        page[start..].split("</figure>").next().unwrap_or_default().to_owned()
    };
    let run = page(&["run", WEB, "--runs", "2", "--report", "r.html"]);
    let drawn = figure(&run, "run-completions");
    assert!(drawn.contains("time to complete, s") && drawn.contains("complete, %"), "{drawn}");
    let compare = ["compare", WEB, "--runs", "2", "--vary", "congestion=reno,cubic", "--report", "r.html"];
    let drawn = figure(&page(&compare), "compared-completions");
    assert!(drawn.contains("reno") && drawn.contains("cubic"), "{drawn}");
    let bulk = page(&[
        "run",
        "profile=plain,rate=4Mbit/s,rtt=60ms,duration=2s",
        "--runs",
        "1",
        "--report",
        "r.html",
    ]);
    assert!(!bulk.contains("run-completions"), "a transfer without an end has no completion");
}

/// Both directions carry payload. The segments of the video are requested at fixed times.
#[test]
fn a_video_on_one_connection() {
    let path = "profile=plain,rate=10Mbit/s,rtt=40ms,duration=60s,request=1KB,response=1.5MB,every=4s";
    let json = objects(&stdout(&["run", path, "--runs", "1", "--format", "json"]));
    assert_eq!(json[0]["exchanges"]["mean"].as_f64(), Some(15.0));
    assert_eq!(json[0]["delivered_bytes"]["mean"].as_f64(), Some(22.5e6));
    // 15 requests of 1,000 bytes in 60 s are 2 kbit/s.
    let up = json[2]["payload_kbps"]["mean"].as_f64().unwrap();
    assert!((up - 2.0).abs() < 1e-9, "{up}");
}

//! QUIC flows in commands.

mod common;

use common::{call, call_in, objects, stderr_of, stdout};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;

const PATH: &str = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=20s";

/// TCP and QUIC run over the same path with the same losses. Numbers that only TCP's endpoints have are undefined for QUIC.
#[test]
fn tcp_and_quic_are_compared() {
    let arguments = ["compare", PATH, "--vary", "flow.bulk.kind=tcp,quic", "--runs", "3", "--format", "json"];
    let output = stdout(&arguments);
    let rows = objects(&output);
    let of = |kind: &str, metric: &str| {
        let row = rows.iter().find(|row| row["x"]["flow.bulk.kind"] == kind && row["flow"] == "bulk");
        row.unwrap_or_else(|| panic!("{kind}: {output}"))[metric]["mean"].clone()
    };
    for kind in ["tcp", "quic"] {
        let kbps = of(kind, "goodput_kbps").as_f64().expect("a number");
        assert!((1000.0..9500.0).contains(&kbps), "{kind}: {kbps}");
        assert!(of(kind, "lost_channel").as_f64().is_some_and(|lost| lost > 0.0), "{kind}");
    }
    assert!(of("tcp", "retransmissions").as_f64().is_some_and(|number| number > 0.0));
    assert!(of("quic", "retransmissions").is_null());
}

/// Equal seeds give equal bytes, in new processes and on any number of threads.
#[test]
fn quic_runs_repeat() {
    let run = |jobs| {
        stdout(&[
            "run",
            PATH,
            "--set",
            "flow.bulk.kind=quic",
            "--runs",
            "4",
            "--jobs",
            jobs,
            "--format",
            "json",
        ])
    };
    let one = run("1");
    assert_eq!(one, run("1"));
    assert_eq!(one, run("2"));
}

/// Transfers complete, with completion times and slowdowns.
#[test]
fn quic_transfers_complete() {
    // Transfers begin in the first 10 of 20 s, so that all of them complete.
    let settings = ["flow.bulk.kind=quic", "transfer=100KB", "arrivals=poisson 500 ms", "start_spread=10s"];
    let mut arguments = vec!["run", PATH, "--runs", "2", "--classes", "--format", "json"];
    arguments.extend(settings.iter().flat_map(|setting| ["--set", setting]));
    let output = stdout(&arguments);
    let row = &objects(&output)[0];
    assert_eq!(row["flows"], 20, "{output}");
    // The transmission of 100 KB takes 80 ms on the link, after a handshake of 60 ms and a one-way propagation delay of
    // 30 ms.
    let of = |metric: &str| row[metric]["mean"].as_f64().unwrap_or_else(|| panic!("{metric}: {output}"));
    assert!(of("slowdown") >= 1.0 && of("completed_s") > 0.17, "{output}");
}

/// A congestion control that the QUIC stack lacks is refused. The default stack (noq) runs BBR.
#[test]
fn a_control_that_quinn_lacks_is_refused() {
    let quic = ["run", PATH, "--set", "flow.bulk.kind=quic", "--set", "congestion=bbr"];
    let message = stderr_of(&call(&[&quic[..], &["--set", "stack=quinn"]].concat()));
    assert!(message.contains("quinn has no congestion control `bbr` of its own"), "{message}");
    assert!(message.contains("reno, cubic") && message.contains("kind = \"noq\""), "{message}");
    let row = &objects(&stdout(&[&quic[..], &["--runs", "1", "--format", "json"]].concat()))[0];
    // BBR ignores random losses: its goodput is near the link's rate, above that of reno and cubic.
    assert!(row["goodput_kbps"]["mean"].as_f64().is_some_and(|kbps| kbps > 9000.0), "{row:?}");
}

/// Mechanisms of TCP have no effect in a QUIC flow, and a note reports this.
#[test]
fn unused_mechanisms_are_noted() {
    let note = |kind: &str| {
        let kind = format!("flow.bulk.kind={kind}");
        let split = ["--set", "ack_splitting=split", "--set", "receiver.loss_discrimination=rtt"];
        stderr_of(&call(&[&["run", PATH, "--runs", "1", "--set", &kind][..], &split].concat()))
    };
    let note_of_quic = note("quic");
    for name in [
        "receiver.ack_splitting = \"split\" changes nothing",
        "receiver.loss_discrimination = \"rtt\" changes",
    ] {
        assert!(note_of_quic.contains(name), "{note_of_quic}");
    }
    assert!(!note("tcp").contains("changes nothing, because the flow is not carried"), "{}", note("tcp"));
}

/// A scalable congestion control (Prague, DCTCP) is refused, because QUIC flows do not report the number of marked
/// bytes.
#[test]
fn a_scalable_control_is_refused() {
    for control in ["prague", "dctcp"] {
        let congestion = format!("congestion={control}");
        let message = stderr_of(&call(&["run", PATH, "--set", "flow.bulk.kind=quic", "--set", &congestion]));
        assert!(message.contains("needs the number of marked bytes"), "{control}: {message}");
    }
}

/// A QUIC flow shows its stack, and keeps the stack's parameters. A TCP flow shows no stack.
#[test]
fn only_quic_flows_show_a_stack() {
    let shown = |kind: &str| {
        stdout(&[
            "show",
            PATH,
            "--set",
            &format!("flow.bulk.kind={kind}"),
            "--set",
            "stack.packets_per_ack=10",
        ])
    };
    assert!(shown("quic").contains("packets_per_ack = 10"), "{}", shown("quic"));
    assert!(!shown("tcp").contains("packets_per_ack"), "{}", shown("tcp"));
}

/// A middlebox acts on TCP headers. A note says that a QUIC flow has none.
#[test]
fn a_middlebox_without_tcp_headers_is_noted() {
    let note = |kind: &str| {
        let kind = format!("flow.bulk.kind={kind}");
        let call = call(&[
            "run",
            "hasegawa",
            "--runs",
            "1",
            "--set",
            &kind,
            "--set",
            "segment=1448 bytes",
            "--set",
            "duration=1s",
            "--set",
            "node.bs.middlebox=snoop",
        ]);
        stderr_of(&call)
    };
    let expected = "node.bs.middlebox = \"snoop\" sees no TCP headers in flow.bulk";
    assert!(note("quic").contains(expected), "{}", note("quic"));
    assert!(!note("tcp").contains(expected), "{}", note("tcp"));
}

/// Requests and responses run over both transports.
#[test]
fn requests_run_over_both_transports() {
    let path = "rate=10Mbit/s,rtt=60ms,queue=1bdp,duration=20s,request=400bytes,response=30KB,think=100ms,exchanges=20";
    for kind in ["tcp", "quic"] {
        let kind = format!("flow.bulk.kind={kind}");
        let output = stdout(&["run", path, "--set", &kind, "--runs", "2", "--format", "json"]);
        let completed = &objects(&output)[0]["completed_s"];
        // A response needs one RTT and 25 ms of transmission. Nagle's algorithm delays TCP's last segment by one RTT, and
        // pacing delays QUIC's datagrams by less.
        let median = completed["p50"].as_f64();
        assert!(median.is_some_and(|time| (0.085..0.15).contains(&time)), "{output}");
        assert_eq!(completed["completed"], completed["transfers"], "{output}");
    }
}

/// `--qlog` writes the network's events of each flow as a JSON text sequence (RFC 7464). Equal runs write equal files.
#[test]
fn qlog_files_agree_with_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let record = |name: &str, kind: &str| {
        let path = "rate=10Mbit/s,rtt=60ms,queue=50packets,loss=0.5%,duration=5s";
        let kind = format!("flow.bulk.kind={kind}");
        let arguments = ["run", path, "--set", &kind, "--runs", "1", "--qlog", name, "--format", "json"];
        let output = call_in(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", stderr_of(&output));
        folder.path().join(name)
    };
    let records = |file: &Path| -> Vec<Value> {
        let text = std::fs::read_to_string(file).unwrap();
        let parsed = |line: &str| serde_json::from_str(line.strip_prefix('\u{1e}').expect(line)).expect(line);
        text.lines().map(parsed).collect()
    };
    let named = |records: &[Value], name: &str| records.iter().filter(|it| it["name"] == name).count();
    let (first, second, tcp) = (record("first", "quic"), record("second", "quic"), record("tcp", "tcp"));
    let network = records(&first.join("bulk.sqlog"));
    assert_eq!(network[0]["trace"]["vantage_point"]["type"], "network");
    assert_eq!(network[0]["file_schema"], "urn:ietf:params:qlog:file:sequential");
    // Each datagram is sent, or lost on the first link.
    let seen: BTreeSet<u64> = network.iter().filter_map(|it| it["data"]["packet"].as_u64()).collect();
    assert!(seen.len() > 1000 && named(&network, "lasthop:lost") > 0, "{}", seen.len());
    let bytes = |folder: &Path| std::fs::read(folder.join("bulk.sqlog")).unwrap();
    assert!(bytes(&first) == bytes(&second));
    // A TCP flow has the events of Lasthop's TCP, and no other file.
    let events = records(&tcp.join("bulk.sqlog"));
    assert!(named(&events, "lasthop:recovery_entered") > 0 && events[1]["data"]["seq"].is_number());
    assert_eq!(std::fs::read_dir(&tcp).unwrap().count(), 1);
}

/// A folder with a file for each of many flows is refused.
#[test]
fn qlog_of_many_flows_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = "rate=10Mbit/s,rtt=60ms,duration=1s,count=301";
    let output = call_in(folder.path(), &["run", path, "--qlog", "q"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("--trace") && !folder.path().join("q").exists());
}

/// A program without the feature `tls` refuses `crypto = "tls"` before the run.
#[cfg(not(feature = "tls"))]
#[test]
fn tls_is_refused_without_the_feature() {
    let output = call(&["run", PATH, "--set", "flow.bulk.kind=quic", "--set", "stack.crypto=tls"]);
    let message = stderr_of(&output);
    assert!(message.contains("this program has no TLS") && message.contains("--features tls"), "{message}");
    assert!(!output.status.success());
}

//! A run detects disturbances, for example a stop of the path's own process.

use crate::common::machine::Machine;
use crate::traffic::{client, printed, server};
use crate::{CLEAN, emulating, is_possible};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

/// The path's process is stopped for 45 ms at a time while the kernel hands over packets. A packet enters the path when
/// the kernel hands over the packet, even if the path reads the packet later. Packets that are due during a stop are
/// late; all other packets are on time.
#[test]
fn what_came_while_the_path_stood_still_is_late() {
    if !is_possible() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    // A full queue and the packet in transmission, 21 packets of 1500 bytes, take 25 ms at 10 Mbit/s.
    let path = "rate=10Mbit/s,rtt=20ms,queue=20packets";
    let client = client("{server}", 3.0);
    let mut running =
        emulating(&[path, "--out", out, "--server", &server("reno"), "--", "sh", "-c", &client])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
    // The path's process is stopped for more than 5 % of the time.
    sleep(Duration::from_millis(1000));
    for _ in 0..8 {
        signal(running.id(), "-STOP");
        sleep(Duration::from_millis(45));
        signal(running.id(), "-CONT");
        sleep(Duration::from_millis(100));
    }
    let status = running.wait().unwrap();
    let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(status.code(), Some(3), "{summary}");
    assert_eq!(summary["valid"], false);
    // The one-way delay of 10 ms and a full queue delay a packet by 35 ms, less than the 45 ms of a stop. Packets
    // handed over at the beginning of a stop are therefore due before the end of the stop.
    let latest = summary["lateness_us"]["max"].as_f64().unwrap();
    assert!((20e3..120e3).contains(&latest), "{summary}");
    let entry = summary["entry_us"]["p99"].as_f64().expect("entry times are known");
    assert!(entry < 1e3, "{summary}");
}

/// A SYN that is sent while the path's process is stopped for 60 ms arrives as early as without the stop.
#[test]
fn a_packet_joins_when_it_was_handed_over_however_late_it_is_read() {
    if !is_possible() {
        return;
    }
    let client = client("{server}", 0.5);
    // The shell's parent is the path's process. The sleep is needed because the kernel begins to stamp packets shortly
    // after the request for time stamps.
    let line = format!("sleep 0.5; kill -STOP $PPID; (sleep 0.06; kill -CONT $PPID) & {client}");
    let path = "rate=10Mbit/s,rtt=400ms,queue=200packets";
    let words = [path, "--server", &server("cubic"), "--format", "json", "--", "sh", "-c", &line];
    let mut machine = Machine::watch();
    let output = crate::emulate(&words);
    let (summary, took) = (crate::summary(&output), printed(&output, "connected_ms"));
    machine.heed(&summary);
    assert!(took >= 400.0, "connected after {took} ms; {summary}");
    // A program starts within 30 ms, so the SYN is sent at least 30 ms before the end of the stop. If the stop delayed
    // the SYN, `took` would be at least 430 ms. The bound has a tolerance, because the program must get a processor to
    // notice the connection.
    machine.judge(took < 425.0, format!("connected after {took} ms; {summary}"));
}

/// Packets enter an idle path without delay.
#[test]
fn packets_join_when_the_kernel_hands_them_over() {
    if !is_possible() {
        return;
    }
    let client = client("{server}", 2.0);
    let words = [CLEAN, "--server", &server("cubic"), "--format", "json", "--", "sh", "-c", &client];
    let mut machine = Machine::watch();
    let output = crate::emulate(&words);
    let summary = crate::summary(&output);
    machine.heed(&summary);
    // The process that emulates the path also waits for a processor, so only half of the packets must enter within 100
    // us.
    let median = summary["entry_us"]["p50"].as_f64().expect("entry times are known");
    machine.judge(median < 100.0, &summary);
}

/// If the programs rarely get a processor, the run is invalid.
#[test]
fn programs_that_wait_for_a_processor_make_a_run_invalid() {
    if !is_possible() {
        return;
    }
    let processors = std::thread::available_parallelism().unwrap().get();
    let busy: Vec<_> = (0..2 * processors)
        .map(|_| Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
        .collect();
    let client = format!("exec nice -n 19 sh -c \"{}\"", client("{server}", 3.0).replace('"', "\\\""));
    let server = server("cubic").replace("exec ", "exec nice -n 19 ");
    let path = "rate=200Mbit/s,rtt=20ms,queue=400packets";
    let output = crate::emulate(&[path, "--server", &server, "--format", "json", "--", "sh", "-c", &client]);
    for mut one in busy {
        one.kill().unwrap();
        one.wait().unwrap();
    }
    let summary = crate::summary(&output);
    let Some(waited) = summary["waited_pct"]["command"].as_f64() else {
        return eprintln!("skipped: no pressure stall information for groups here");
    };
    assert!(waited > 5.0, "{summary}");
    assert_eq!(output.status.code(), Some(3), "{summary}");
    let complaints = summary["complaints"].to_string();
    assert!(complaints.contains("the command waited for a processor"), "{summary}");
}

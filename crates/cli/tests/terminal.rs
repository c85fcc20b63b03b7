//! Output on terminals of several widths, through a pseudo-terminal. No line is wider than the terminal.

#![cfg(target_os = "linux")]

mod common;

use common::{lasthop, names_in};
use nix::pty::{OpenptyResult, Winsize, openpty};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use unicode_width::UnicodeWidthStr;

const WIDTHS: [u16; 4] = [60, 80, 120, 200];

const SHORT: &str = "rate=2Mbit/s,rtt=40ms,queue=20packets,loss=1%,duration=3s";

/// Returns the standard output of a call on a terminal with this number of columns.
fn on_terminal(columns: u16, folder: &Path, arguments: &[&str]) -> String {
    let size = Winsize { ws_row: 50, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    let OpenptyResult { master, slave } = openpty(&size, None).unwrap();
    let mut command = lasthop();
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null());
    let mut child = command.stdout(File::from(slave)).spawn().unwrap();
    // `command` holds the last copy of the terminal's file descriptor in this process. Reading ends only after this
    // copy is closed.
    drop(command);
    let (mut text, mut block, mut terminal) = (Vec::new(), [0; 4096], File::from(master));
    // Reading from the terminal fails with EIO after the command has ended.
    while let Ok(length) = terminal.read(&mut block) {
        if length == 0 {
            break;
        }
        text.extend_from_slice(&block[..length]);
    }
    let status = child.wait().unwrap();
    assert!(status.success() || arguments[0] == "doctor", "{arguments:?}: {status}");
    String::from_utf8(text).unwrap().replace("\r\n", "\n")
}

/// Returns whether a line is a shell command. Shell commands are not wrapped, so that users can copy the commands.
fn is_command(line: &str) -> bool {
    ["  lasthop ", "  sudo lasthop "].iter().any(|begin| line.starts_with(begin))
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let calls: [&[&str]; 17] = [
        &["run", "umts", "--runs", "2", "--set", "duration=3s"],
        &["run", "umts", "--runs", "2", "--set", "duration=3s", "--all"],
        &["run", SHORT, "--set", "flow.bulk.count=3", "--runs", "2", "--metric", "goodput,timeouts,fairness"],
        &["compare", SHORT, "--vary", "congestion=reno,cubic", "--vary", "recovery=sack,rack", "--runs", "3"],
        &["compare", SHORT, "--vary", "congestion=reno,cubic", "--runs", "3", "--all"],
        &["advise", "rate=2Mbit/s,rtt=40ms,queue=20packets,duration=1s"],
        &["sweep", SHORT, "--set", "congestion=reno,cubic", "--runs", "2", "--store", "sweep.sqlite"],
        &["results", "sweep.sqlite"],
        &["list"],
        &["list", "queue"],
        &["explain", "codel"],
        &["explain", "goodput"],
        &["help", "keys"],
        &["help", "fields"],
        &["help", "units"],
        &["reproduce", "--quick", "huang", "--fresh", "--report", "report.html"],
        &["doctor"],
    ];
    for columns in WIDTHS {
        for call in calls {
            let text = on_terminal(columns, folder.path(), call);
            assert!(text.lines().count() > 1, "{call:?}: {text}");
            let wide = text.lines().find(|line| line.width() > columns.into() && !is_command(line));
            assert_eq!(wide, None, "{call:?} on {columns} columns");
        }
        std::fs::remove_file(folder.path().join("sweep.sqlite")).unwrap();
    }
    assert!(names_in(folder.path()).contains(&"report.html".to_owned()));
}

/// The first screen of a run fits 80 columns and 25 lines. The screen has a sentence, at most ten metrics, and the
/// links.
#[test]
fn the_first_screen_of_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let text = on_terminal(80, folder.path(), &["run", "umts", "--runs", "3"]);
    assert!(text.lines().count() <= 25, "{text}");
    let sentence = text.split("\n\n").nth(1).unwrap();
    assert!(sentence.starts_with("bulk delivers 19") && sentence.contains("limited by cwnd"), "{sentence}");
    let metrics: Vec<&str> = text
        .split("\n\n")
        .nth(2)
        .unwrap()
        .lines()
        .skip(2)
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(
        metrics,
        [
            "goodput_kbps",
            "retransmissions",
            "smallest_rtt_ms",
            "mean_rtt_ms",
            "lost_queue_full",
            "lost_channel"
        ]
    );
    assert!(text.contains("are 0: --all"), "{text}");
}

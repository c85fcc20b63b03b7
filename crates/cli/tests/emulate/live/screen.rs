//! `--live`: the run is drawn on the terminal, and the terminal is restored whatever ends the run.

use crate::common::lasthop;
use crate::traffic::server;
use crate::{CLEAN, emulate, is_possible};
use std::process::{Command, Stdio};

/// Control sequence that switches to the alternate screen.
const ON: &str = "\u{1b}[?1049h";
/// Control sequence that switches back to the main screen.
const OFF: &str = "\u{1b}[?1049l";
/// Control sequence that shows the cursor.
const CURSOR: &str = "\u{1b}[?25h";

/// Emulates a path with `--live` on a terminal of 30 rows and 100 columns. `line` is the command behind the path.
/// Returns the output, followed by the modes of the terminal (stty(1)).
fn on_a_terminal(line: &str) -> Option<String> {
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    let server = server("cubic");
    let run = format!(
        "stty rows 30 cols 100; '{program}' emulate '{CLEAN}' --live --server '{server}' -- sh -c '{line}'; \
         echo status $?; sleep 1; stty -a"
    );
    let output = Command::new("script").args(["-qefc", &run, "/dev/null"]).stdin(Stdio::null()).output();
    match output {
        Ok(output) => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Err(error) => {
            eprintln!("skipped: script(1): {error}");
            None
        }
    }
}

/// Splits the output of a run into three parts: before, on and after the alternate screen.
fn parts(all: &str) -> [&str; 3] {
    let (before, rest) = all.split_once(ON).unwrap_or_else(|| panic!("no alternate screen: {all:?}"));
    let (on, after) = rest.split_once(OFF).unwrap_or_else(|| panic!("the alternate screen stays: {all:?}"));
    assert!(!after.contains(ON), "{all:?}");
    [before, on, after]
}

fn assert_terminal_restored(after: &str) {
    assert!(after.contains(CURSOR), "{after:?}");
    let modes: Vec<&str> = after.split_whitespace().collect();
    assert!(modes.contains(&"echo") && modes.contains(&"icanon") && modes.contains(&"isig"), "{after:?}");
}

#[test]
fn the_run_is_drawn_and_what_the_command_prints_follows() {
    if !is_possible() {
        return;
    }
    let Some(all) = on_a_terminal("sleep 1; echo hello; echo oops >&2; sleep 1; exit 7") else { return };
    let [_, on, after] = parts(&all);
    for drawn in ["lasthop emulate", "down", "queue", "late", "hello", "oops"] {
        assert!(on.contains(drawn), "{drawn}: {on:?}");
    }
    assert!(after.contains("hello\r\n") && after.contains("oops\r\n"), "{after:?}");
    assert!(after.contains("status 7\r\n") && after.contains("packets sent"), "{after:?}");
    assert_terminal_restored(after);
}

#[test]
fn the_terminal_is_given_back_after_an_interruption_and_a_kill() {
    if !is_possible() {
        return;
    }
    // The parent of the command is the run.
    let kill = |signal: &str| on_a_terminal(&format!("sleep 1; echo hello; kill -{signal} $PPID; sleep 3"));
    let Some(interrupted) = kill("INT") else { return };
    let [_, _, after] = parts(&interrupted);
    assert!(after.contains("hello\r\n") && after.contains("status 130"), "{after:?}");
    assert_terminal_restored(after);
    let Some(killed) = kill("KILL") else { return };
    // The guard has one second to restore the terminal.
    let [_, _, after] = parts(&killed);
    assert_terminal_restored(after);
}

#[test]
fn without_a_terminal_it_is_said_before_anything_is_made() {
    // setsid(1) starts a process without a controlling terminal.
    let program = lasthop().get_program().to_owned();
    let output = Command::new("setsid")
        .arg("-w")
        .arg(program)
        .args(["emulate", CLEAN, "--live", "--", "true"])
        .stdin(Stdio::null())
        .output();
    let Ok(output) = output else { return eprintln!("skipped: setsid(1)") };
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("--live needs a terminal"), "{said}");
    let shell = emulate(&[CLEAN, "--live"]);
    let said = String::from_utf8_lossy(&shell.stderr).into_owned();
    assert!(shell.status.code() == Some(2) && said.contains("--live needs the terminal"), "{said}");
    let short = emulate(&[CLEAN, "--every", "1 ms", "--", "true"]);
    assert_eq!(short.status.code(), Some(2));
}

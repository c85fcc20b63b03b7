//! Error messages and exit statuses of `lasthop emulate`.

use crate::common::{lasthop, stderr_of};
use crate::{CLEAN, emulate, emulating, is_possible};
use std::process::Command;

#[test]
fn mistakes_are_told_before_anything_is_made() {
    let cases: &[(&[&str], &str)] = &[
        (&["umst", "--", "true"], "did you mean `umts`"),
        (&[CLEAN, "--spin", "fast", "--", "true"], "--spin"),
        (&[CLEAN, "--delay", "5ms", "--", "true"], "the path is given twice"),
        (&["--down", "a.trace", "--up", "b.trace", "lte", "--", "true"], "`lte` and by --down"),
        (&["--down", "a.trace", "--", "true"], "--up <FILE>"),
        (&["--down", "a.trace", "--up", "b.trace", "--", "true"], "a.trace"),
        (&["--delay", "soon", "--", "true"], "`soon`"),
        (&["--", "true"], "PATH"),
        (&[CLEAN, "--", "echo", "{server6}"], "`{server6}` needs --server"),
        (&[CLEAN, "--mtu", "1000", "--server", "true", "--", "echo", "{server6}"], "--mtu 1280"),
        (&[CLEAN, "--format", "csv", "--", "true"], "csv"),
        (&[CLEAN, "--pcap", "missing/folder/x.pcapng", "--", "true"], "mkdir -p 'missing/folder'"),
    ];
    for (arguments, expected) in cases {
        let output = emulate(arguments);
        let said = stderr_of(&output);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn a_command_that_cannot_be_run_is_a_mistake() {
    if !is_possible() {
        return;
    }
    let output = emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "no-such-program"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr_of(&output).contains("cannot run `no-such-program`"), "{}", stderr_of(&output));
    let output = emulate(&[CLEAN, "--server", "exit 4", "--", "true"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr_of(&output).contains("ended with status 4"), "{}", stderr_of(&output));
}

#[test]
fn without_privileges_there_is_one_clear_message() {
    let program = lasthop().get_program().to_owned();
    let output = Command::new("setpriv")
        .args(["--reuid", "65534", "--clear-groups", "--"])
        .arg(program)
        .args(["crosscheck", CLEAN, "--runs", "2"])
        .output();
    match output {
        Ok(output) if !stderr_of(&output).contains("setpriv:") => {
            assert_eq!(output.status.code(), Some(1));
            assert!(stderr_of(&output).contains("run it as root"), "{}", stderr_of(&output));
        }
        _ => eprintln!("skipped: setpriv cannot drop privileges here"),
    }
}

/// Both commands run as the user who called sudo, without access to root's files.
#[test]
fn under_sudo_commands_run_as_the_caller() {
    if !is_possible() {
        return;
    }
    let run = |more: &[&str]| {
        let own = [CLEAN, "--server", "id -u >&2; exec sleep 1000"];
        let command = ["--", "sh", "-c", "id -u; touch /run/lasthop-test || echo no"];
        let arguments = [&own, more, &command].concat();
        emulating(&arguments).env("SUDO_UID", "65534").env("SUDO_GID", "65534").output().unwrap()
    };
    let output = run(&[]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "65534\nno\n");
    assert!(stderr_of(&output).starts_with("65534\n"), "{}", stderr_of(&output));
    // The server never listens, and a note reports this.
    assert!(stderr_of(&output).contains("does not listen after 5 s"), "{}", stderr_of(&output));
    let output = run(&["--as-root"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "0\n");
    std::fs::remove_file("/run/lasthop-test").unwrap();
}

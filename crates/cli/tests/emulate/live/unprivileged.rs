//! Emulation without root works in the user's own namespaces, and leaves nothing behind.

use crate::common::machine::Machine;
use crate::common::{lasthop, objects, stderr_of};
use crate::live::host::{REMOTE, World, has, only};
use crate::live::removal::{processes_with, wait_until};
use crate::traffic::{client, printed, server};
use crate::{CLEAN, summary};
use lasthop_os::namespace;
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Once;

/// Returns the command `lasthop emulate` for an unprivileged user.
pub fn emulating(arguments: &[&str]) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
    command.arg(lasthop().get_program()).arg("emulate").args(arguments);
    command.stdin(Stdio::null()).env_remove("XDG_RUNTIME_DIR");
    command
}

pub fn emulate(arguments: &[&str]) -> Output {
    emulating(arguments).output().unwrap()
}

/// Returns whether an unprivileged user can emulate paths on this machine. If not, prints the reason once.
pub fn is_possible() -> bool {
    static PRINTED: Once = Once::new();
    let why = match emulating(&[CLEAN, "--server", "exec sleep 1000", "--", "true"]).output() {
        Ok(output) if matches!(output.status.code(), Some(0 | 3)) => return true,
        Ok(output) => stderr_of(&output),
        Err(error) => error.to_string(),
    };
    PRINTED.call_once(|| eprintln!("skipped: {why}"));
    false
}

/// Returns the network namespaces that have processes.
fn namespaces() -> HashSet<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok()).collect()
}

/// Returns the network namespaces of the processes with an argument that equals `word`.
fn namespaces_with(word: &str) -> HashSet<PathBuf> {
    let entries = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let has = |path: &PathBuf| {
        let line = fs::read(path.join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())
    };
    entries.filter(has).filter_map(|path| fs::read_link(path.join("ns/net")).ok()).collect()
}

#[test]
fn traffic_passes_as_for_root() {
    if !is_possible() {
        return;
    }
    let path = "rate=5Mbit/s,rtt=40ms,queue=100packets";
    let mut machine = Machine::watch();
    let output = emulate(&[
        path,
        "--format",
        "json",
        "--server",
        &server("reno"),
        "--",
        "sh",
        "-c",
        &client("{server}", 5.0),
    ]);
    // On a busy machine, packets may be late, so that the run is invalid.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    let summary = summary(&output);
    assert_eq!(summary["valid"], output.status.success());
    machine.heed(&summary);
    assert_eq!(summary["sched_fifo"], false);
    assert!(summary["entry_us"].is_object(), "{summary}");
    let late_ms = summary["lateness_us"]["max"].as_f64().unwrap() / 1e3;
    let (connected, goodput) = (printed(&output, "connected_ms"), printed(&output, "goodput_kbps"));
    // A handshake takes one round trip of two packets, each of which may be late.
    assert!((40.0..42.0 + 2.0 * late_ms).contains(&connected), "{connected} ms, {late_ms} ms late");
    // 1448 of 1500 bytes are payload, which gives 4830 kbit/s. On a busy machine, data received before the measurement
    // may be read during the measurement and increase the rate.
    assert!(goodput < 5100.0, "{goodput}");
    machine.judge(goodput > 4500.0, goodput);
}

#[test]
fn the_command_is_the_users_and_so_is_its_status() {
    if !is_possible() {
        return;
    }
    let line = "id -u; grep CapEff /proc/self/status; echo [$LASTHOP_APART]; exit 7";
    let output = emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "sh", "-c", line]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "65534\nCapEff:\t0000000000000000\n[]\n");
    assert_eq!(output.status.code(), Some(7), "{}", stderr_of(&output));
    let said = stderr_of(&output);
    assert_eq!(said.matches("as root").count(), 1, "{said}");
    // An error message is the same as with root, and only one of the two processes prints this message.
    let output = emulate(&["umst", "--", "true"]);
    assert_eq!((output.status.code(), stderr_of(&output).matches("did you mean").count()), (Some(2), 1));
}

/// Starts a run whose programs sleep for `seconds`, and waits until all four programs run. The tests recognise the
/// programs by `seconds`, so this number must be unique among the tests.
fn begin(seconds: &str) -> Child {
    let line = format!("sleep {seconds} & exec sleep {seconds}");
    let mut command = emulating(&[CLEAN, "--server", &line, "--", "sh", "-c", &line]);
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the programs run", || processes_with(seconds) == 4);
    child
}

#[test]
fn whatever_ends_it_nothing_is_left() {
    if !is_possible() {
        return;
    }
    for (signal, seconds, status) in
        [("-TERM", "22360", Some(130)), ("-INT", "22361", Some(130)), ("-KILL", "22362", None)]
    {
        let mut child = begin(seconds);
        let made = namespaces_with(seconds);
        assert_eq!(made.len(), 2);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), status, "{signal}");
        wait_until("the programs end", || processes_with(seconds) == 0);
        wait_until("the namespaces are removed", || namespaces().is_disjoint(&made));
    }
    // A kill of the second process leaves nothing behind, either.
    let mut child = begin("22363");
    let second = fs::read_to_string(format!("/proc/{0}/task/{0}/children", child.id())).unwrap();
    assert!(Command::new("kill").args(["-KILL", second.trim()]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(137));
    assert_eq!(processes_with("22363"), 0);
}

/// Runs a command behind a path to the namespace `internet` of `world`. PATH contains only the programs in `folder`.
/// Returns the output.
fn outside(world: &World, folder: &Path, command: &[&str]) -> Output {
    let mut call = emulating(&[&["rate=5Mbit/s,rtt=60ms,queue=100packets", "--"], command].concat());
    let path: OsString = folder.into();
    call.env("PATH", path).stdout(Stdio::piped()).stderr(Stdio::piped());
    // `setpriv` must be found before PATH is changed.
    let setpriv = has("setpriv").unwrap();
    let mut again = Command::new(setpriv);
    again.args(call.get_args()).env("PATH", folder).env_remove("XDG_RUNTIME_DIR").stdin(Stdio::null());
    world.host.within(|| again.output().unwrap()).unwrap()
}

#[test]
fn the_way_outside_leads_through_a_program() {
    if !is_possible() || !crate::is_possible() {
        return;
    }
    let world = World::new();
    world.host.within(|| namespace::ip(&["route", "add", "default", "via", REMOTE])).unwrap().unwrap();
    let _far = world.serve();
    for name in ["pasta", "slirp4netns", ""] {
        let folder = tempfile::tempdir().unwrap();
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let wanted: Vec<&str> =
            ["nft", "ip", "sh", "cat", name].into_iter().filter(|name| !name.is_empty()).collect();
        if !only(folder.path(), &wanted) {
            continue;
        }
        if name.is_empty() {
            let output = outside(&world, folder.path(), &["sh", "-c", "exit 4"]);
            assert_eq!(output.status.code(), Some(4), "{}", stderr_of(&output));
            let said = stderr_of(&output);
            assert!(
                said.contains(
                    "only TCP and name resolution (DNS) reach the outside network: \
                     neither `pasta` (passt) nor `slirp4netns`"
                ),
                "{said}"
            );
        }
        let output = outside(&world, folder.path(), &["sh", "-c", &client(REMOTE, 3.0)]);
        let connected = printed(&output, "connected_ms");
        assert!(connected >= 60.0, "{name}: {connected} ms");
        let goodput = printed(&output, "goodput_kbps");
        assert!((500.0..5100.0).contains(&goodput), "{name}: {goodput} kbit/s; {}", stderr_of(&output));
    }
}

#[test]
fn a_machine_that_forbids_it_is_told_how_to_permit_it() {
    if !is_possible() {
        return;
    }
    // `line` runs in a user namespace that permits no nested user namespaces.
    let line = "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --ambient-caps -all --inh-caps -all \"$0\" \"$@\"";
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
    command
        .args(["unshare", "--map-current-user", "--keep-caps", "sh", "-c", line])
        .arg(lasthop().get_program());
    command.args(["emulate", CLEAN, "--server", "exec sleep 1000", "--", "true"]);
    let output = command.output().unwrap();
    let said = stderr_of(&output);
    if !said.contains("needs its own user namespace") {
        return eprintln!("skipped: {said}");
    }
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("sudo sysctl user.max_user_namespaces=10000"), "{said}");
}

#[test]
fn the_doctor_tries_it() {
    if !is_possible() {
        return;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
    let output = command.arg(lasthop().get_program()).args(["doctor", "--format", "json"]).output().unwrap();
    let findings = objects(&String::from_utf8_lossy(&output.stdout));
    let way = findings.iter().find(|finding| finding["name"] == "emulation mode").unwrap();
    assert_eq!(way["is_there"], true, "{way:?}");
    assert!(way["found"].as_str().unwrap().starts_with("in your own namespaces"), "{way:?}");
}

//! Nested emulations: the delays add up, and the smallest rate applies.

use crate::common::machine::Machine;
use crate::common::{lasthop, stderr_of};
use crate::live::removal::{KillOnDrop, namespaces_of, processes_with, wait_until};
use crate::live::unprivileged;
use crate::traffic::{client, connector, printed, server};
use crate::{emulating, is_possible, kill_with_guard, summary};
use std::fs;
use std::process::{Command, Output, Stdio};

/// Address of the server of the outer path.
const REMOTE: &str = "198.18.0.1";

/// Runs a shell line behind an inner path, with the inner path behind an outer path.
fn within(emulating: Caller, outer: &str, inner: &[&str], line: &str) -> Output {
    let program = lasthop().get_program().to_str().unwrap().to_owned();
    let server = server("reno");
    let outer = [outer, "--server", &server, "--", &program, "emulate"];
    let mut command = emulating(&[&outer, inner, &["--", "sh", "-c", line]].concat());
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr_of(&output));
    output
}

type Caller = fn(&[&str]) -> Command;

/// Returns the users who can emulate paths on this machine: root, and an unprivileged user.
fn callers() -> Vec<(&'static str, Caller)> {
    let mut callers: Vec<(&str, Caller)> = Vec::new();
    if is_possible() {
        callers.push(("root", emulating));
    }
    if unprivileged::is_possible() {
        callers.push(("user", unprivileged::emulating));
    }
    callers
}

const SLOW: &str = "rate=10Mbit/s,rtt=80ms,queue=200packets";
const SLOWER: &str = "rate=10Mbit/s,rtt=30ms,queue=200packets";

#[test]
fn delays_add_up() {
    for (who, emulating) in callers() {
        let machine = Machine::watch();
        let output = within(emulating, SLOW, &[SLOWER], &connector(REMOTE));
        let took = printed(&output, "shortest_ms");
        // Two packets of the handshake, each over two links of 10 Mbit/s, take a further 0.2 ms.
        assert!(took >= 110.0, "{who}: {took} ms; {}", stderr_of(&output));
        machine.judge(took < 113.0, format!("{who}: {took} ms; {}", stderr_of(&output)));
    }
}

#[test]
fn a_third_one_adds_as_much() {
    for (who, emulating) in callers() {
        let program = lasthop().get_program().to_str().unwrap().to_owned();
        let third = [SLOWER, "--", &program, "emulate", "rate=10Mbit/s,rtt=50ms,queue=200packets"];
        let machine = Machine::watch();
        let output = within(
            emulating,
            SLOW,
            &third,
            &format!("ip -4 addr show dev lasthop-path >&2; {}", connector(REMOTE)),
        );
        let took = printed(&output, "shortest_ms");
        // Without real-time priority, a busy machine may delay packets each time that a packet passes one of the three
        // emulations.
        let most = if who == "root" { 164.0 } else { 175.0 };
        assert!(took >= 160.0, "{who}: {took} ms; {}", stderr_of(&output));
        machine.judge(took < most, format!("{who}: {took} ms; {}", stderr_of(&output)));
        // Each emulation has a separate network. The network numbers increase from the outermost to the innermost
        // emulation.
        assert!(stderr_of(&output).contains("inet 198.18.2.2/24"), "{who}: {}", stderr_of(&output));
    }
}

#[test]
fn of_the_rates_the_smaller_one_holds() {
    let paths = ["rate=8Mbit/s,rtt=20ms,queue=100packets", "rate=3Mbit/s,rtt=20ms,queue=100packets"];
    for (who, emulating) in callers() {
        for [outer, inner] in [[0, 1], [1, 0]] {
            let inner = [paths[inner], "--format", "json"];
            let output = within(emulating, paths[outer], &inner, &client(REMOTE, 4.0));
            // Only the inner path's summary is JSON, so this rate is the rate of the inner path.
            let rate = summary(&output)["rate_kbps"]["down"].as_f64().unwrap();
            assert!(
                (2400.0..3030.0).contains(&rate),
                "{who}, {outer} outside: {rate}; {}",
                stderr_of(&output)
            );
        }
    }
}

#[test]
fn with_the_outer_one_the_inner_one_goes() {
    if !is_possible() {
        return;
    }
    let notes = || {
        let names =
            fs::read_dir("/run").unwrap().flatten().map(|entry| entry.file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("lasthop-nat-")).count()
    };
    // The first run is killed, and the guard of this run cleans up. The second run is killed with its guard, and the
    // next run cleans up.
    for seconds in ["19640", "19641"] {
        let before = notes();
        let program = lasthop().get_program().to_str().unwrap().to_owned();
        let inner = [SLOWER, "--", "sleep", seconds];
        let outer = [SLOW, "--server", "exec sleep 1000", "--", &program, "emulate"];
        let mut command = emulating(&[&outer[..], &inner].concat());
        let mut running = KillOnDrop(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().unwrap());
        let outer = &mut running.0;
        let children = format!("/proc/{0}/task/{0}/children", outer.id());
        let inner = || -> Vec<u32> {
            let children = fs::read_to_string(&children).unwrap();
            let children = children.split_whitespace().map(|pid| pid.parse().unwrap());
            children.filter(|pid| namespaces_of(*pid).len() == 1).collect()
        };
        // Three processes have the argument `seconds`: the inner command and both emulations. The count is already three
        // just before a forked process becomes the inner emulation, so the second condition is needed, too.
        wait_until("the inner emulation runs", || processes_with(seconds) == 3 && inner().len() == 1);
        let inner = inner();
        assert_eq!(namespaces_of(outer.id()).len(), 2);
        if seconds == "19640" {
            outer.kill().unwrap();
            outer.wait().unwrap();
        } else {
            kill_with_guard(outer);
            crate::emulate(&[crate::CLEAN, "--server", "exec sleep 1000", "--", "true"]);
        }
        wait_until("all namespaces are removed", || {
            namespaces_of(outer.id()).is_empty() && namespaces_of(inner[0]).is_empty()
        });
        wait_until("the processes end", || processes_with(seconds) == 0);
        wait_until("the file /run/lasthop-nat-* is removed", || notes() <= before);
    }
}

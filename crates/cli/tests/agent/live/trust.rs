//! The agent's capabilities, messages and counters, and the removal of the agent's rules.

use crate::path::Path;
use crate::stopped::watchdog_of;
use crate::transfer::Transfer;
use crate::{Agent, alone, common, deep_path};
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

pub const DYNAMIC: &[&str] = &["--window", "dynamic", "--path", "nfqueue"];

/// Counts the agent's rules. Returns two numbers:
/// * jumps to the agent's iptables chain, plus nft tables of the agent;
/// * iptables chains of the agent, plus nft tables of the agent.
pub fn rules(path: &Path) -> (usize, usize) {
    let says = |program: &str, arguments: &[&str]| {
        let output = path.at_client(|| Command::new(program).args(arguments).output());
        output.map_or_else(|_| String::new(), |output| String::from_utf8(output.stdout).unwrap())
    };
    let count = |text: &str, start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    let chains = says("iptables", &["-t", "mangle", "-S"]);
    let tables = count(&says("nft", &["list", "tables"]), "table inet lasthop-agent");
    let jumps = count(&chains, "-A OUTPUT ! -o lo -j lasthop-agent");
    (jumps + tables, count(&chains, "-N lasthop-agent") + tables)
}

#[test]
fn ctrl_c_ends_it_as_sigterm_does() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let mut agent = Agent::start(&path, DYNAMIC);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    assert!(transfer.goes_on(10));
    assert_eq!(rules(&path), (1, 1));
    agent.signal("INT");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(rules(&path), (0, 0), "the agent's rules remain");
    assert!(transfer.goes_on(20), "a connection ended with the agent");
    assert!(!agent.folder.path().join("agent.sock").exists());
}

#[test]
fn nft_does_where_there_is_no_iptables() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    // PATH contains the program nft but not iptables.
    let programs = tempfile::tempdir().unwrap();
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let nft = std::env::split_paths(&folders).map(|folder| folder.join("nft")).find(|file| file.exists());
    let Some(nft) = nft else { return println!("skipped: nft is not installed") };
    std::os::unix::fs::symlink(nft, programs.path().join("nft")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut command = common::lasthop();
    command
        .args(["agent", "run", "--window", "dynamic", "--path", "nfqueue", "--run-dir"])
        .arg(folder.path());
    command.env("PATH", programs.path());
    let (child, said) = match Agent::begin(&path, command) {
        Err(said) => {
            // The message names the failures of both tools, and no rules remain.
            assert!(said.contains("cannot run `iptables`") && said.contains("nft_queue"), "{said}");
            assert_eq!(rules(&path), (0, 0));
            return println!("skipped in part: the kernel has no nft_queue");
        }
        Ok(begun) => begun,
    };
    let mut agent = Agent { child, said, folder };
    assert_eq!(rules(&path), (1, 1));
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    assert!(transfer.goes_on(20));
    assert!(agent.status()["acks_rewritten"].as_u64() > Some(0));
    agent.signal("TERM");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(rules(&path), (0, 0), "the agent's rules remain");
    assert!(transfer.goes_on(20));
}

#[test]
fn it_runs_once_with_few_capabilities_and_tells_its_counters() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    path.at_client(|| {
        assert!(Command::new("ip").args(["link", "set", "lo", "up"]).status().unwrap().success())
    });
    let agent = Agent::start(&path, &["--acks", "copies=2", "--path", "nfqueue", "--metrics", "9469"]);
    let refused = Agent::start_in(&path, agent.folder.path(), DYNAMIC).unwrap_err();
    assert!(refused.contains("another agent is running"), "{refused}");
    let elsewhere = tempfile::tempdir().unwrap();
    let refused = Agent::start_in(&path, elsewhere.path(), DYNAMIC).unwrap_err();
    assert!(refused.contains("NFQUEUE 6868"), "{refused}");
    assert_eq!(rules(&path), (1, 1), "the refused agent removed the rules");

    // CAP_NET_ADMIN and CAP_NET_RAW have the numbers 12 and 13 (linux/capability.h), hence the mask 0x3000.
    for pid in [agent.child.id(), watchdog_of(&agent)] {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        for set in ["CapPrm", "CapEff", "CapBnd"] {
            assert!(status.contains(&format!("{set}:\t0000000000003000")), "{status}");
        }
    }

    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    assert!(transfer.goes_on(10));
    let text = path.at_client(|| {
        let silent =
            || TcpStream::connect_timeout(&"127.0.0.1:9469".parse().unwrap(), Duration::from_secs(5));
        let _silent: Vec<TcpStream> = (0..150).map(|_| silent().unwrap()).collect();
        let mut stream = TcpStream::connect("127.0.0.1:9469").unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    let count = |name: &str| -> u64 {
        let line = text.lines().find(|line| line.starts_with(&format!("lasthop_agent_{name} ")));
        line.unwrap_or_else(|| panic!("{text}")).rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert_eq!(count("flows_opened_total"), 1);
    // `copies=2` adds one ACK to each kernel ACK.
    let (queued, added) = (count("acks_queued_total"), count("acks_added_total"));
    assert!(queued > 100 && added.abs_diff(queued) <= 2, "{queued} {added}");
}

/// Checks only the syntax of the systemd unit's permissions. The effect of the permissions was tested manually.
#[test]
fn the_units_keys_are_systemds() {
    let text = fs::read_to_string(common::root().join("docs/how-to/agent.md")).unwrap();
    let (_, unit) = text.split_once("```ini\n").unwrap();
    let (unit, _) = unit.split_once("```").unwrap();
    let unit = unit.replace("/usr/local/bin/lasthop", common::lasthop().get_program().to_str().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("lasthop-agent.service");
    fs::write(&file, unit).unwrap();
    match Command::new("systemd-analyze").args(["verify", "--man=no"]).arg(&file).output() {
        Err(error) => println!("skipped: cannot run systemd-analyze: {error}"),
        Ok(output) => {
            let said = common::stderr_of(&output);
            assert!(output.status.success() && !said.contains("lasthop-agent.service"), "{said}");
        }
    }
}

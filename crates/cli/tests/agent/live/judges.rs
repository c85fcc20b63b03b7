//! ACK splitting only after wireless losses, and error messages before the agent starts.

use crate::common::machine::Machine;
use crate::path::Path;
use crate::transfer::Transfer;
use crate::{Agent, alone, common, deep_path};
use common::{lasthop, stderr_of};
use std::process::Command;

/// Returns the agent's status after a transfer of `bytes`. Asserts that no ACKs are added before a loss is classified
/// as wireless.
fn after(path: &Path, agent: &Agent, bytes: u64) -> serde_json::Map<String, serde_json::Value> {
    let transfer = Transfer::begin(path, "cubic", 5001).unwrap();
    let start = std::time::Instant::now();
    while transfer.received() < bytes {
        assert!(start.elapsed().as_secs() < 60, "{} bytes", transfer.received());
        let status = agent.status();
        assert!(status["acks_added"] == 0 || status["losses_wireless"] != 0, "{status:?}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    agent.status()
}

#[test]
fn with_a_judge_acks_are_added_after_losses_of_the_radio_only() {
    let Some(_alone) = alone() else { return };
    for judge in ["jtcp", "rtt"] {
        let arguments = ["--acks", "split=4", "--loss-discrimination", judge];
        let Some(path) = Path::open("rate=10Mbit/s,rtt=40ms,queue=5000packets") else { return };
        let agent = Agent::start(&path, &arguments);
        let status = after(&path, &agent, 2 << 20);
        let count =
            |status: &serde_json::Map<String, serde_json::Value>, name: &str| status[name].as_u64().unwrap();
        assert!(count(&status, "acks_queued") > 300, "{judge}: {status:?}");
        for name in ["acks_added", "losses_wireless", "losses_congestion", "errors"] {
            assert_eq!(count(&status, name), 0, "{judge}: {status:?}");
        }
        drop((agent, path));
        // The channel loses 1 % of the packets and the queue stays short, so some losses must be classified as
        // wireless.
        let path = Path::open("rate=10Mbit/s,rtt=40ms,queue=5000packets,loss=1%").unwrap();
        let agent = Agent::start(&path, &arguments);
        let status = after(&path, &agent, 3 << 20);
        println!("{judge}: {status:?}");
        assert!(count(&status, "losses_wireless") > 0, "{judge}: {status:?}");
        assert!(count(&status, "acks_added") > 0, "{judge}: {status:?}");
        assert_eq!(count(&status, "errors"), 0, "{judge}: {status:?}");
    }
}

#[test]
fn a_split_without_a_number_makes_two_of_one() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let agent = Agent::start(&path, &["--acks", "split"]);
    assert!(agent.said.contains("acks split"), "{}", agent.said);
    let status = after_all(&path, &agent);
    let (added, queued) = (status["acks_added"].as_u64().unwrap(), status["acks_queued"].as_u64().unwrap());
    // ACKs of the handshake and duplicate ACKs are not split, because these ACKs acknowledge no new data.
    assert!(queued > 300 && added <= queued && added * 10 > queued * 9, "{status:?}");
    assert_eq!(status["losses_wireless"], 0, "no loss discrimination");
}

fn after_all(path: &Path, agent: &Agent) -> serde_json::Map<String, serde_json::Value> {
    let transfer = Transfer::begin(path, "cubic", 5001).unwrap();
    assert!(transfer.goes_on(20));
    agent.status()
}

#[test]
fn connections_over_ipv6_are_looked_after() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    if !lasthop_os::ends::kernel_has_ipv6() {
        return println!("skipped: the kernel has no IPv6");
    }
    let machine = Machine::watch();
    let agent = Agent::start(&path, &["--window", "fixed=64KiB", "--acks", "copies=2"]);
    assert!(agent.said.contains("over IPv4 and IPv6"), "{}", agent.said);
    let transfer = Transfer::begin6(&path, "cubic", 5001).unwrap();
    assert!(transfer.goes_on(20));
    std::thread::sleep(std::time::Duration::from_secs(2));
    let srtt = transfer.mean_srtt(&path, 3);
    let status = agent.status();
    assert_eq!((&status["flows_opened"], &status["errors"]), (&1.into(), &0.into()), "{status:?}");
    let count = |name: &str| status[name].as_u64().unwrap();
    assert!(count("acks_rewritten") > 100 && count("acks_added") > 100, "{status:?}");
    assert!(status["flows"][0]["peer"].as_str().unwrap().starts_with("[2001:2::1]:"), "{status:?}");
    // The sender obeys the advertised window of 64 KiB, whose transmission takes 52 ms on the link. A full queue would
    // take 600 ms.
    machine.judge(srtt < 100.0, format!("{srtt} ms"));
}

#[test]
fn jtcp_warns_where_packets_are_joined() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let ethtool = |words: &[&str]| path.at_client(|| Command::new("ethtool").args(words).output());
    let arguments = ["--acks", "split", "--loss-discrimination", "jtcp"];
    let Ok(shown) = ethtool(&["-k", "lasthop-path"]) else {
        let agent = Agent::start(&path, &arguments);
        assert!(agent.said.contains("install ethtool to check whether GRO is on"), "{}", agent.said);
        return println!("skipped in part: ethtool is not installed");
    };
    if !String::from_utf8_lossy(&shown.stdout).contains("generic-receive-offload: on") {
        assert!(ethtool(&["-K", "lasthop-path", "gro", "on"]).unwrap().status.success());
    }
    let warning = "GRO is on (lasthop-path)";
    let agent = Agent::start(&path, &arguments);
    assert!(agent.said.contains(warning), "{}", agent.said);
    drop(agent);
    let agent = Agent::start(&path, &["--acks", "split", "--loss-discrimination", "rtt"]);
    assert!(!agent.said.contains("GRO"), "{}", agent.said);
    drop(agent);
    assert!(ethtool(&["-K", "lasthop-path", "gro", "off"]).unwrap().status.success());
    let agent = Agent::start(&path, &arguments);
    assert!(!agent.said.contains("GRO"), "{}", agent.said);
}

#[test]
fn what_cannot_be_is_refused_before_anything_is_made() {
    for (arguments, expected) in [
        (&["--acks", "split", "--loss-discrimination", "mac"][..], "link layer"),
        (&["--loss-discrimination", "jtcp"], "--acks"),
        (&["--acks", "split=0"], "depends on the uplink's queue"),
        (&[], "no mechanism is given"),
    ] {
        let output = lasthop().args(["agent", "run"]).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr_of(&output));
        assert!(stderr_of(&output).contains(expected), "{arguments:?}: {}", stderr_of(&output));
    }
}

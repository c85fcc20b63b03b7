//! Tests in which the agent or its watchdog is stopped or killed: connections continue, and no rules remain.

use crate::common::machine::Machine;
use crate::path::Path;
use crate::transfer::Transfer;
use crate::trust::{DYNAMIC, rules};
use crate::{Agent, alone, common, deep_path};
use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Arguments of the agent for a window of two segments. With this window, at most two ACKs wait in the agent's queue,
/// although the queue has room for more.
const FEW: &[&str] = &["--window", "fixed=2KiB", "--path", "nfqueue"];

/// Returns the parent and the session of a process that is not a zombie (proc(5), /proc/PID/stat).
fn parent_and_session(pid: u32) -> Option<[u32; 2]> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The fields after the program's name are state, parent, process group and session.
    let words: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let number = |at: usize| words[at].parse().ok();
    (words[0] != "Z").then_some([number(1)?, number(3)?])
}

pub fn watchdog_of(agent: &Agent) -> u32 {
    let pids = fs::read_dir("/proc").unwrap().flatten();
    let pids = pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_its = |pid: &u32| parent_and_session(*pid).is_some_and(|[parent, _]| parent == agent.child.id());
    let children: Vec<u32> = pids.filter(is_its).collect();
    assert_eq!(children.len(), 1, "{children:?}");
    children[0]
}

fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) -> Duration {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(20), "{what}: not within 20 s");
        sleep(Duration::from_millis(20));
    }
    start.elapsed()
}

/// Checks that the transfer continues: more data is received than can already be in flight.
fn assert_progress(transfer: &Transfer) {
    let before = transfer.received();
    wait_until("the transfer continues", || transfer.received() > before + (1 << 16));
}

fn send(signal: &str, pids: &[u32]) {
    let mut command = Command::new("kill");
    command.arg(signal).args(pids.iter().map(u32::to_string));
    assert!(command.status().unwrap().success());
}

fn waiting(path: &Path) -> u64 {
    path.at_client(|| {
        let text = fs::read_to_string("/proc/thread-self/net/netfilter/nfnetlink_queue").unwrap();
        text.split_whitespace().nth(2).unwrap().parse().unwrap()
    })
}

#[test]
fn a_connection_with_few_segments_goes_on_while_the_agent_is_stopped() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let machine = Machine::watch();
    let mut agent = Agent::start(&path, FEW);
    let watchdog = watchdog_of(&agent);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 17);
    agent.signal("STOP");
    sleep(Duration::from_millis(100));
    let held = transfer.received();
    let took = wait_until("the transfer continues", || transfer.received() > held + (1 << 16));
    // The watchdog waits for a third of a second, and the sender's retransmission timeouts take 0.2, 0.4 and 0.8 s. The
    // bound is about twice the sum, for a busy machine.
    println!("continued after {took:?}");
    machine.judge(took < Duration::from_secs(4), format!("{took:?}"));
    wait_until("the rules are removed", || rules(&path) == (0, 0));
    assert!((1..=4).contains(&waiting(&path)), "{}", waiting(&path));
    let second = Transfer::begin(&path, "reno", 5002).unwrap();
    assert_progress(&second);
    let folder = agent.folder.path().to_str().unwrap();
    let asked = common::call(&["agent", "status", "--run-dir", folder]);
    assert_eq!(asked.status.code(), Some(1));
    assert!(common::stderr_of(&asked).contains("the agent does not answer"));

    agent.signal("CONT");
    wait_until("the rules are restored", || rules(&path) == (1, 1));
    let third = Transfer::begin(&path, "cubic", 5003).unwrap();
    let rewritten = || agent.status()["acks_rewritten"].as_u64();
    let before = rewritten();
    wait_until("the agent works again", || third.received() > 1 << 17 && rewritten() > before);
    assert_eq!(agent.status()["lapses"], 1);
    assert_progress(&transfer);
    assert_progress(&second);

    agent.signal("TERM");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(rules(&path), (0, 0), "the agent's rules remain");
    assert_eq!(parent_and_session(watchdog), None, "the watchdog still runs");
}

#[test]
fn after_a_stop_the_window_is_the_paths_again() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let machine = Machine::watch();
    // If only one ACK can wait for the agent, further ACKs pass unchanged. The connection thus continues at once, and
    // many packets pass while the agent is stopped.
    let agent = Agent::start(&path, &["--window", "dynamic", "--path", "nfqueue", "--queue-length", "1"]);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 20);
    agent.signal("STOP");
    sleep(Duration::from_secs(2));
    agent.signal("CONT");
    wait_until("the rules are restored", || rules(&path) == (1, 1));
    // The packets that passed during the stop must not reduce the window to two segments, which would give 1 Mbit/s for
    // ten seconds.
    sleep(Duration::from_millis(500));
    let before = transfer.received();
    sleep(Duration::from_secs(2));
    let (got, status) = (transfer.received() - before, agent.status());
    machine.judge(got > 1 << 20, format!("{got} bytes in 2 s; {status:?}"));
    let min_rtt = status["flows"][0]["min_rtt_ms"].as_f64().unwrap();
    assert!(min_rtt >= 20.0, "the round-trip time is at least 20 ms: {status:?}");
    // The agent's window (two bandwidth-delay products, 50 kB) applies again after the peer has used the kernel's
    // window.
    let window = || agent.status()["flows"][0]["window_bytes"].as_u64().unwrap();
    wait_until("the window is small", || (30_000..100_000).contains(&window()));
}

#[test]
fn a_killed_agents_rules_go_and_its_watchdog_after_them() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let mut agent = Agent::start(&path, FEW);
    let watchdog = watchdog_of(&agent);
    let [_, session] = parent_and_session(watchdog).unwrap();
    assert_eq!(session, watchdog, "a signal to the agent's session would reach the watchdog");
    // The watchdog ignores the signals that terminals and service managers send.
    send("-TERM", &[watchdog]);
    send("-INT", &[watchdog]);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 17);
    assert_eq!(rules(&path), (1, 1));
    agent.signal("KILL");
    agent.child.wait().unwrap();
    wait_until("the rules are removed", || rules(&path) == (0, 0));
    wait_until("the watchdog ends", || parent_and_session(watchdog).is_none());
    assert_progress(&transfer);
    // A new agent may start while the watchdog of a killed agent is still removing the rules.
    for _ in 0..2 {
        (agent.child, agent.said) = Agent::start_in(&path, agent.folder.path(), FEW).unwrap();
        agent.signal("KILL");
        agent.child.wait().unwrap();
    }
    (agent.child, agent.said) = Agent::start_in(&path, agent.folder.path(), FEW).unwrap();
    assert_eq!(rules(&path), (1, 1));
}

#[test]
fn an_agent_without_its_watchdog_ends_and_clears_up() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let mut agent = Agent::start(&path, FEW);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    wait_until("the transfer begins", || transfer.received() > 1 << 17);
    send("-KILL", &[watchdog_of(&agent)]);
    assert_eq!(agent.child.wait().unwrap().code(), Some(1));
    assert_eq!(rules(&path), (0, 0), "the agent's rules remain");
    assert_progress(&transfer);
}

#[test]
fn where_both_are_killed_connections_go_on_and_the_next_start_clears_up() {
    let Some(_alone) = alone() else { return };
    let Some(path) = deep_path() else { return };
    let mut agent = Agent::start(&path, DYNAMIC);
    let transfer = Transfer::begin(&path, "cubic", 5001).unwrap();
    assert_progress(&transfer);
    send("-KILL", &[watchdog_of(&agent), agent.child.id()]);
    agent.child.wait().unwrap();
    assert_eq!(rules(&path), (1, 1), "no process is left to remove the rules");
    assert_progress(&transfer);

    // The next agent removes the old rules, ignores the old connection and handles a new connection.
    (agent.child, agent.said) = Agent::start_in(&path, agent.folder.path(), DYNAMIC).unwrap();
    assert_eq!(rules(&path), (1, 1));
    assert_progress(&transfer);
    let status = agent.status();
    assert!(status["acks_left_alone"].as_u64() > Some(0), "{status:?}");
    assert_eq!(status["acks_rewritten"], 0, "{status:?}");
    let second = Transfer::begin(&path, "cubic", 5002).unwrap();
    assert_progress(&second);
    assert!(agent.status()["acks_rewritten"].as_u64() > Some(0));

    agent.signal("TERM");
    assert_eq!(agent.child.wait().unwrap().code(), Some(0));
    assert_eq!(rules(&path), (0, 0), "the agent's rules remain");
    assert_progress(&transfer);
    assert_progress(&second);
    assert!(!agent.folder.path().join("agent.sock").exists());
}

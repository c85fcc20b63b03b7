//! A run leaves nothing behind: after its end, after a signal, and after a kill followed by the next start.

use crate::{CLEAN, emulate, emulating, is_possible, kill_with_guard};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Namespaces named after a process.
pub fn namespaces_of(pid: u32) -> Vec<String> {
    let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("lasthop-{pid}-"))).collect()
}

/// Number of processes with an argument that contains a word.
pub fn processes_with(word: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|argument| argument == word.as_bytes())).count()
}

pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}: not within 30 s");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts a run whose programs sleep for `seconds`, a number unique among the tests, and waits until they do.
fn begin(seconds: &str) -> KillOnDrop {
    let server = format!("sleep {seconds} & exec sleep {seconds}");
    let command = format!("sleep {seconds} & exec sleep {seconds}");
    let child = emulating(&[CLEAN, "--server", &server, "--", "sh", "-c", &command])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let running = KillOnDrop(child);
    wait_until("the programs run", || processes_with(seconds) == 4);
    assert_eq!(namespaces_of(running.0.id()).len(), 2);
    running
}

/// A run, which is asked to end on drop.
pub struct KillOnDrop(pub Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        send("-TERM", &self.0);
        let _ = self.0.wait();
    }
}

fn send(signal: &str, child: &Child) {
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).stderr(Stdio::null()).status();
}

#[test]
fn after_the_end_nothing_is_left() {
    if !is_possible() {
        return;
    }
    let command = "sleep 31415 & exit 0";
    let child = emulating(&[CLEAN, "--server", "exec sleep 31416", "--", "sh", "-c", command])
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let pid = child.id();
    child.wait_with_output().unwrap();
    assert_eq!(namespaces_of(pid), Vec::<String>::new());
    assert_eq!((processes_with("31415"), processes_with("31416")), (0, 0));
}

#[test]
fn after_a_signal_nothing_is_left() {
    if !is_possible() {
        return;
    }
    for (signal, seconds) in [("-TERM", "27182"), ("-INT", "27183")] {
        let mut running = begin(seconds);
        send(signal, &running.0);
        assert_eq!(running.0.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(namespaces_of(running.0.id()), Vec::<String>::new());
        assert_eq!(processes_with(seconds), 0);
    }
}

#[test]
fn after_a_kill_nothing_is_left() {
    if !is_possible() {
        return;
    }
    let mut killed = begin("17320");
    send("-KILL", &killed.0);
    killed.0.wait().unwrap();
    wait_until("the namespaces are removed", || namespaces_of(killed.0.id()).is_empty());
    assert_eq!(processes_with("17320"), 0);
}

#[test]
fn after_a_kill_the_next_start_removes_everything() {
    if !is_possible() {
        return;
    }
    let mut killed = begin("16180");
    let other = begin("16181");
    kill_with_guard(&mut killed.0);
    // A concurrent test may have started a run and removed the leftovers already.
    emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "true"]);
    assert_eq!(namespaces_of(killed.0.id()), Vec::<String>::new());
    assert_eq!(processes_with("16180"), 0);
    // A living run keeps its namespaces and processes.
    assert_eq!((namespaces_of(other.0.id()).len(), processes_with("16181")), (2, 4));
}

//! A run leaves nothing behind: after its end, after a signal, after a kill (the guard cleans up), and after a kill
//! with the guard (the next start cleans up).

use crate::{CLEAN, emulate, emulating, is_possible, kill_with_guard};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Returns the names of the network namespaces of the run with this PID.
pub fn namespaces_of(pid: u32) -> Vec<String> {
    let names = fs::read_dir("/run/netns").into_iter().flatten().flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with(&format!("lasthop-{pid}-"))).collect()
}

/// Returns the number of processes with an argument that equals `word`.
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

/// Starts a run whose programs sleep for `seconds`, and waits until all four programs run. The tests recognise the
/// programs by `seconds`, so this number must be unique among the tests.
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

/// A run, ended by SIGTERM on drop.
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
    // Another test that runs at the same time may have removed the leftovers already.
    emulate(&[CLEAN, "--server", "exec sleep 1000", "--", "true"]);
    assert_eq!(namespaces_of(killed.0.id()), Vec::<String>::new());
    assert_eq!(processes_with("16180"), 0);
    // A run in progress keeps its namespaces and processes.
    assert_eq!((namespaces_of(other.0.id()).len(), processes_with("16181")), (2, 4));
}

//! Control groups (cgroup v2), one for the programs at each end of a path. With pressure stall information (PSI), a
//! group measures the time in which its programs waited for a processor and none of its programs ran.

use crate::namespace::locked;
use crate::unprivileged;
use lasthop_base::Duration;
use nix::fcntl::Flock;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time;

/// A control group. Dropping this value removes the group, which requires that all processes of the group have ended.
#[derive(Debug)]
pub struct ControlGroup {
    folder: PathBuf,
    parent: PathBuf,
    /// Lock on the group. If the group is unlocked, its owner is dead.
    _lock: Flock<File>,
}

const REMOVE_TIMEOUT: time::Duration = time::Duration::from_millis(500);
/// Number of levels below the root group that are searched. The services of a user are 4 levels deep.
const MAX_DEPTH: u32 = 8;

impl ControlGroup {
    /// Creates a group below the current group. Returns `None` without a writable cgroup v2, or without PSI (kernel
    /// command line: `psi=1`).
    pub fn create(role: &str) -> Option<ControlGroup> {
        let parent = current_group()?;
        let folder = parent.join(name(unprivileged::first_process().unwrap_or_else(process::id), role));
        fs::create_dir(&folder).ok()?;
        let lock = locked(&folder).ok()?;
        let group = ControlGroup { folder, parent, _lock: lock };
        group.stalled().is_some().then_some(group)
    }

    /// Calls `start` while this process is a member of the group, so that processes started by `start` belong to the
    /// group.
    ///
    /// # Errors
    /// Fails if the kernel refuses. `start` is then not called.
    pub fn within<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        enter(&self.folder)?;
        let started = start();
        // If this process cannot leave the group, which is unlikely, it remains in the group.
        let _ = enter(&self.parent);
        Ok(started)
    }

    /// Total time in which processes of the group waited for a processor, while no process of the group ran.
    pub fn stalled(&self) -> Option<Duration> {
        stalled(&fs::read_to_string(self.folder.join("cpu.pressure")).ok()?)
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        let start = time::Instant::now();
        while fs::remove_dir(&self.folder).is_err() && start.elapsed() < REMOVE_TIMEOUT {
            thread::sleep(time::Duration::from_millis(5));
        }
    }
}

/// Removes empty groups of dead processes at any depth.
pub fn remove_stale() {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    if let Some(root) = cgroup2_mount(&mounts) {
        remove_below(Path::new(root), MAX_DEPTH);
    }
}

fn remove_below(folder: &Path, depth: u32) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        if entry.file_name().to_str().is_some_and(is_name) {
            // A group that its owner has just created and not yet locked is also removed. The owner then runs without a
            // control group.
            if locked(&entry.path()).is_ok() {
                drop(fs::remove_dir(entry.path()));
            }
        } else if depth > 0 {
            remove_below(&entry.path(), depth - 1);
        }
    }
}

fn name(pid: u32, role: &str) -> String {
    format!("lasthop-{pid}-{role}")
}

fn is_name(name: &str) -> bool {
    let parts = name.strip_prefix("lasthop-").and_then(|rest| rest.split_once('-'));
    parts.is_some_and(|(pid, role)| pid.parse::<u32>().is_ok() && matches!(role, "command" | "listener"))
}

fn enter(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), process::id().to_string())
}

fn current_group() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let ours = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = ours.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(Path::new(cgroup2_mount(&mounts)?).join(path.trim_start_matches('/')))
}

fn cgroup2_mount(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (mount_point, kind) = (words.next()?, words.next()?);
        (kind == "cgroup2").then_some(mount_point)
    })
}

/// Returns the total time in which all tasks were stalled, from the text of a PSI file. The file has this time in us.
fn stalled(text: &str) -> Option<Duration> {
    let line = text.lines().find_map(|line| line.strip_prefix("full "))?;
    let total = line.split(' ').find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_says_is_read() {
        let text = "some avg10=1.00 avg60=0.00 avg300=0.00 total=700\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=42\n";
        assert_eq!(stalled(text), Some(Duration::from_micros(42)));
        assert_eq!(stalled("some avg10=0.00 total=1\n"), None);
        let mounts =
            "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0\n";
        assert_eq!(cgroup2_mount(mounts), Some("/sys/fs/cgroup/unified"));
        assert_eq!(cgroup2_mount("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), None);
        assert!(is_name(&name(17, "command")) && is_name(&name(17, "listener")));
        assert!(!is_name("user.slice") && !is_name("lasthop-x-command") && !is_name("lasthop-17-other"));
    }

    #[test]
    fn groups_of_the_dead_are_found_wherever_they_are() {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        let Some(root) = cgroup2_mount(&mounts) else { return println!("skipped: no cgroup v2 here") };
        let outer = Path::new(root).join(format!("lasthop-test-{}", process::id()));
        let [dead, alive] = ["lasthop-4711-command", "lasthop-4712-command"].map(|name| outer.join(name));
        if [&outer, &dead, &alive].iter().any(|folder| fs::create_dir(folder).is_err()) {
            return println!("skipped: no control groups may be made here");
        }
        let lock = locked(&alive).unwrap();
        remove_stale();
        let found = [dead.exists(), alive.exists()];
        drop(lock);
        for folder in [dead, alive, outer] {
            let _ = fs::remove_dir(folder);
        }
        assert_eq!(found, [false, true]);
    }
}

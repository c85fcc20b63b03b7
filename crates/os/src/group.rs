//! Control groups of our own (cgroup v2), which tell how long all programs of one side waited for a processor at once:
//! the kernel's pressure stall information (PSI).

use crate::namespace::is_ours;
use lasthop_base::Duration;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;
use std::time;

/// A control group; removed with its owner, once its processes have ended.
#[derive(Debug)]
pub struct Group {
    /// Where it is, and where we are.
    folder: PathBuf,
    parent: PathBuf,
}

/// Processes that were killed are gone after so long.
const PATIENCE: time::Duration = time::Duration::from_millis(500);

impl Group {
    /// A group for what is called `role`, below our own. `None` where the system has no cgroup v2 that we may write, or
    /// no pressure stall information (`psi=1` on the kernel's command line).
    pub fn create(role: &str) -> Option<Group> {
        let parent = own()?;
        let folder = parent.join(name(process::id(), role));
        fs::create_dir(&folder).ok()?;
        let group = Group { folder, parent };
        group.stalled().is_some().then_some(group)
    }

    /// Starts processes in this group: this process is in it meanwhile.
    ///
    /// # Errors
    /// If the kernel does not let us in; then nothing was started.
    pub fn within<T>(&self, start: impl FnOnce() -> T) -> io::Result<T> {
        enter(&self.folder)?;
        let started = start();
        // If it refuses, which it has no reason to, we count as one of them.
        let _ = enter(&self.parent);
        Ok(started)
    }

    /// For how long so far processes of the group wanted a processor and none of them had one.
    pub fn stalled(&self) -> Option<Duration> {
        stalled(&fs::read_to_string(self.folder.join("cpu.pressure")).ok()?)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let start = time::Instant::now();
        while fs::remove_dir(&self.folder).is_err() && start.elapsed() < PATIENCE {
            thread::sleep(time::Duration::from_millis(5));
        }
    }
}

/// Removes the empty groups of processes that are no more.
pub fn remove_stale() {
    let Some(entries) = own().and_then(|parent| fs::read_dir(parent).ok()) else { return };
    for entry in entries.flatten() {
        let is_stale = entry.file_name().to_str().and_then(owner).is_some_and(|pid| !is_ours(pid));
        if is_stale {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

fn name(pid: u32, role: &str) -> String {
    format!("lasthop-{pid}-{role}")
}

/// The process after which a group is called.
fn owner(name: &str) -> Option<i32> {
    name.strip_prefix("lasthop-")?.split_once('-')?.0.parse().ok()
}

fn enter(folder: &Path) -> io::Result<()> {
    fs::write(folder.join("cgroup.procs"), process::id().to_string())
}

/// The folder of our own group (cgroups(7)).
fn own() -> Option<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let ours = fs::read_to_string("/proc/self/cgroup").ok()?;
    let path = ours.lines().find_map(|line| line.strip_prefix("0::"))?;
    Some(Path::new(mounted(&mounts)?).join(path.trim_start_matches('/')))
}

/// Where cgroup v2 is mounted.
fn mounted(mounts: &str) -> Option<&str> {
    mounts.lines().find_map(|line| {
        let mut words = line.split(' ').skip(1);
        let (place, kind) = (words.next()?, words.next()?);
        (kind == "cgroup2").then_some(place)
    })
}

/// The time in which all were stalled, of a file of pressure stall information, us.
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
        assert_eq!(mounted(mounts), Some("/sys/fs/cgroup/unified"));
        assert_eq!(mounted("tmpfs /sys/fs/cgroup tmpfs rw 0 0\n"), None);
        assert_eq!(owner(&name(17, "client")), Some(17));
        assert_eq!(owner("user.slice"), None);
    }
}

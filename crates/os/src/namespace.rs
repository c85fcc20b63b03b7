//! Network namespaces, with or without a name. The names allow a later run to remove the namespaces of a killed run.

use crate::error::SystemError;
use crate::owner::is_alive;
use nix::fcntl::{Flock, FlockArg};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, getegid};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Directory of named namespaces (ip-netns(8)).
const FOLDER: &str = "/run/netns";
const KILL_TIMEOUT: Duration = Duration::from_secs(5);

/// A network namespace. Dropping a named namespace kills its processes and removes the namespace. An unnamed namespace
/// lasts until its owner and its processes end.
#[derive(Debug)]
pub struct Namespace(Handle);

#[derive(Debug)]
enum Handle {
    /// Name, and lock on the namespace's file. If the file is unlocked, the owner is dead.
    Named(String, Flock<File>),
    Unnamed(File),
}

impl Namespace {
    /// Creates the namespace `lasthop-PID-ROLE` with only a loopback device and without IPv6 (see [`enable_ipv6`]).
    ///
    /// # Errors
    /// Fails if a system call fails: no permission, no `ip`.
    pub fn create(role: &str) -> Result<Namespace, SystemError> {
        let name = format!("lasthop-{}-{role}", std::process::id());
        ip(&["netns", "add", &name])?;
        let file = locked(&Path::new(FOLDER).join(&name)).map_err(|error| {
            let _ = ip(&["netns", "del", &name]);
            SystemError::of_system(&format!("cannot open the namespace `{name}`"), &error, "see `ip netns`")
        })?;
        Namespace(Handle::Named(name, file)).configured()
    }

    /// Creates a namespace as [`Namespace::create`] does, but without a name.
    ///
    /// # Errors
    /// Fails if a system call fails: no permission, no `ip`.
    pub fn unnamed() -> Result<Namespace, SystemError> {
        Namespace::unconfigured()?.configured()
    }

    fn configured(self) -> Result<Namespace, SystemError> {
        self.within(|| {
            // Fails harmlessly if the kernel has no IPv6.
            let _ = set_ipv6("disable_ipv6", "1");
            // Programs may listen at any port, and use `ping`, without root (ip-sysctl).
            let set =
                |name: &str, value: &str| fs::write(format!("/proc/sys/net/ipv4/{name}"), value).is_ok();
            let _ = set("ip_unprivileged_port_start", "0");
            let group = getegid();
            // In a user namespace only the user's own group exists, so the kernel refuses the wide range.
            let _ = set("ping_group_range", "0 2147483647")
                || set("ping_group_range", &format!("{group} {group}"));
            ip(&["link", "set", "lo", "up"])
        })??;
        Ok(self)
    }

    /// Creates an unnamed namespace without settings.
    ///
    /// # Errors
    /// Fails if the permission is missing, or the kernel has no namespaces.
    pub fn unconfigured() -> Result<Namespace, SystemError> {
        let make = || -> io::Result<File> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        let file = on_new_thread(make).map_err(|error| {
            SystemError::of_system("cannot create a network namespace", &error, "run it as root")
        })?;
        Ok(Namespace(Handle::Unnamed(file)))
    }

    /// Path for `ip link … netns PATH`, valid until this value is dropped.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file().as_raw_fd()))
    }

    /// Runs `work` in the namespace. Devices, sockets and processes that `work` creates stay in the namespace.
    ///
    /// # Errors
    /// Fails if the thread cannot enter the namespace.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, SystemError> {
        on_new_thread(|| {
            setns(self.file(), CloneFlags::CLONE_NEWNET).map_err(|error| {
                let which = match &self.0 {
                    Handle::Named(name, _) => format!("`{name}`"),
                    Handle::Unnamed(_) => "(unnamed)".to_owned(),
                };
                let what = format!("cannot enter the namespace {which}");
                SystemError::of_system(&what, &error.into(), "check that the namespace still exists")
            })?;
            Ok(work())
        })
    }

    fn file(&self) -> &File {
        match &self.0 {
            Handle::Named(_, file) => file,
            Handle::Unnamed(file) => file,
        }
    }
}

fn on_new_thread<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Handle::Named(name, _) = &self.0 {
            remove(name);
        }
    }
}

/// Settings that stop the kernel from sending its own IPv6 packets, so that a path carries only packets of programs.
/// Neighbour solicitations and MLD do not occur, because a TUN device is NOARP.
const QUIET_IPV6: [(&str, &str); 6] = [
    ("accept_ra", "0"),
    ("autoconf", "0"),
    ("router_solicitations", "0"),
    ("accept_dad", "0"),
    ("dad_transmits", "0"),
    // 1 means that the device gets no link-local address.
    ("addr_gen_mode", "1"),
];

/// Enables IPv6 in this thread's namespace for devices that get an address later. Returns false if the kernel has no
/// IPv6.
pub fn enable_ipv6() -> bool {
    QUIET_IPV6.iter().chain(&[("disable_ipv6", "0")]).all(|(name, value)| set_ipv6(name, value).is_ok())
}

fn set_ipv6(name: &str, value: &str) -> io::Result<()> {
    ["all", "default"]
        .iter()
        .try_for_each(|which| fs::write(format!("/proc/sys/net/ipv6/conf/{which}/{name}"), value))
}

/// Removes the processes and namespaces of killed runs. Also removes runs that were started in such a namespace (nested
/// runs). Returns the names of the removed namespaces.
pub fn remove_stale() -> Vec<String> {
    let mut removed = Vec::new();
    // Removing a run also ends the runs nested in its namespaces, so the namespaces of nested runs also become stale.
    while let Some(name) = stale().find(|name| !removed.contains(name)) {
        remove(&name);
        removed.push(name);
    }
    removed
}

fn stale() -> impl Iterator<Item = String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| {
        let path = Path::new(FOLDER).join(name);
        let Some(pid) = owner(name) else { return false };
        // A namespace that is unlocked although its owner is alive is still being created.
        let is_begun =
            || fs::metadata(&path).and_then(|found| found.modified()).is_ok_and(|made| is_alive(pid, made));
        locked(&path).is_ok() && !is_begun()
    })
}

/// Path of the file that lists the firewall rules in the namespace with this inode number. A later run uses the file
/// for clean-up after a kill.
pub(crate) fn nat_note(number: u64) -> PathBuf {
    PathBuf::from(format!("/run/lasthop-nat-{number}"))
}

fn owner(name: &str) -> Option<i32> {
    let (pid, role) = name.strip_prefix("lasthop-")?.split_once('-')?;
    matches!(role, "server" | "client").then(|| pid.parse().ok()).flatten()
}

/// Opens and locks a file; fails if another process holds the lock.
pub(crate) fn locked(path: &Path) -> io::Result<Flock<File>> {
    Flock::lock(File::open(path)?, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

/// Kills every process in a namespace. Removes this namespace and the namespaces of nested runs.
fn remove(name: &str) {
    let start = Instant::now();
    let path = Path::new(FOLDER).join(name);
    let number = fs::metadata(&path).map(|found| found.st_ino());
    let mut is_first = true;
    loop {
        let processes = processes(&path);
        for pid in &processes {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        if processes.is_empty() || start.elapsed() > KILL_TIMEOUT {
            break;
        }
        is_first = false;
        thread::sleep(Duration::from_millis(5));
    }
    let _ = ip(&["netns", "del", name]);
    let _ = number.map(|number| fs::remove_file(nat_note(number)));
    if !is_first {
        // Some of the killed processes may have been runs with their own namespaces.
        remove_stale();
    }
}

fn processes(namespace: &Path) -> Vec<Pid> {
    let Ok(wanted) = fs::metadata(namespace) else { return Vec::new() };
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let ours = std::process::id() as i32;
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| *pid != ours)
        .filter(|pid| {
            fs::metadata(format!("/proc/{pid}/ns/net"))
                .is_ok_and(|found| (found.st_dev(), found.st_ino()) == (wanted.st_dev(), wanted.st_ino()))
        })
        .map(Pid::from_raw)
        .collect()
}

/// Runs `ip` of iproute2.
///
/// # Errors
/// Fails if `ip` is missing or fails. If `ip` fails, the message contains its output.
pub fn ip(arguments: &[&str]) -> Result<(), SystemError> {
    let said = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let what = || format!("cannot run `ip {}`", arguments.join(" "));
    let output = said.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SystemError::new(
            "the program `ip`, which creates network namespaces, is missing",
            "install iproute2 (Debian: apt-get install iproute2)",
        ),
        _ => SystemError::of_system(&what(), &error, "check the installation of iproute2"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    let is_denied = said.contains("not permitted") || said.contains("ermission denied");
    let help = if is_denied { "run it as root" } else { "see `ip netns` and `ip addr` for existing names" };
    Err(SystemError::new(format!("{}: {said}", what()), help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_namespaces_have_an_owner() {
        assert_eq!(owner("lasthop-123-client"), Some(123));
        assert_eq!(owner("lasthop-123-server"), Some(123));
        for name in ["lasthop", "lasthop-x-client", "lasthop-123-other", "vpn-123-client", "lasthop--client"]
        {
            assert_eq!(owner(name), None, "{name}");
        }
    }
}

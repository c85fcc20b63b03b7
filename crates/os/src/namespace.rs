//! Network namespaces of our own: with names, so that what a killed run leaves behind can be found, or without.

use crate::error::SystemError;
use crate::owner::lives;
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

/// Where named namespaces are (ip-netns(8)).
const FOLDER: &str = "/run/netns";
/// How long killed processes have to go.
const PATIENCE: Duration = Duration::from_secs(5);

/// A network namespace. With the owner of one that has a name go its processes and it; one without lives as long as
/// its owner or a process in it.
#[derive(Debug)]
pub struct Namespace(Held);

#[derive(Debug)]
enum Held {
    /// Locked: whoever finds it unlocked knows that its owner is dead.
    Named(String, Flock<File>),
    Nameless(File),
}

impl Namespace {
    /// Makes one that is called `lasthop-PID-ROLE`, after our process, with nothing but its loopback device, and without
    /// IPv6 (see [`enable_ipv6`]).
    ///
    /// # Errors
    /// If the system refuses: no permission, no `ip`.
    pub fn create(role: &str) -> Result<Namespace, SystemError> {
        let name = format!("lasthop-{}-{role}", std::process::id());
        ip(&["netns", "add", &name])?;
        let file = locked(&Path::new(FOLDER).join(&name)).map_err(|error| {
            let _ = ip(&["netns", "del", &name]);
            SystemError::of_system(&format!("cannot open the namespace `{name}`"), &error, "see `ip netns`")
        })?;
        Namespace(Held::Named(name, file)).prepared()
    }

    /// The same without a name.
    ///
    /// # Errors
    /// If the system refuses: no permission, no `ip`.
    pub fn unnamed() -> Result<Namespace, SystemError> {
        Namespace::nameless()?.prepared()
    }

    fn prepared(self) -> Result<Namespace, SystemError> {
        self.within(|| {
            // Where the kernel has none, there is nothing to turn off.
            let _ = set_ipv6("disable_ipv6", "1");
            // Programs in it may listen at any port, and `ping`, without being root (ip-sysctl).
            let set =
                |name: &str, value: &str| fs::write(format!("/proc/sys/net/ipv4/{name}"), value).is_ok();
            let _ = set("ip_unprivileged_port_start", "0");
            let group = getegid();
            // In a user namespace no other group is known.
            let _ = set("ping_group_range", "0 2147483647")
                || set("ping_group_range", &format!("{group} {group}"));
            ip(&["link", "set", "lo", "up"])
        })??;
        Ok(self)
    }

    /// Makes one without a name, as the kernel makes it.
    ///
    /// # Errors
    /// Without permission, or if the kernel has none.
    pub fn nameless() -> Result<Namespace, SystemError> {
        let make = || -> io::Result<File> {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        };
        let file = apart(make).map_err(|error| {
            SystemError::of_system("cannot make a network namespace", &error, "run it as root")
        })?;
        Ok(Namespace(Held::Nameless(file)))
    }

    /// A path to it for `ip link … netns PATH`, as long as this lives.
    pub fn path(&self) -> PathBuf {
        PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.file().as_raw_fd()))
    }

    /// Does something in it. Devices, sockets and processes that `work` makes are in there, and stay there.
    ///
    /// # Errors
    /// If it cannot be entered.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, SystemError> {
        apart(|| {
            setns(self.file(), CloneFlags::CLONE_NEWNET).map_err(|error| {
                let which = match &self.0 {
                    Held::Named(name, _) => format!("`{name}`"),
                    Held::Nameless(_) => "without a name".to_owned(),
                };
                let what = format!("cannot enter the namespace {which}");
                SystemError::of_system(&what, &error.into(), "was it deleted?")
            })?;
            Ok(work())
        })
    }

    fn file(&self) -> &File {
        match &self.0 {
            Held::Named(_, file) => file,
            Held::Nameless(file) => file,
        }
    }
}

/// Does something in a thread of its own, whose namespace it may change.
fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if let Held::Named(name, _) = &self.0 {
            end(name);
        }
    }
}

/// What the kernel does by itself over IPv6, and how it is told not to: nothing but the programs' own packets is to be
/// on a path. Neighbours are not asked for and groups not joined (MLD) because a TUN device has no neighbours (NOARP).
const QUIET: [(&str, &str); 6] = [
    ("accept_ra", "0"),
    ("autoconf", "0"),
    ("router_solicitations", "0"),
    ("accept_dad", "0"),
    ("dad_transmits", "0"),
    // None: no address of the link's own, from which it would speak.
    ("addr_gen_mode", "1"),
];

/// Turns IPv6 on in this thread's namespace, for devices that are made from now on and have an address given. False if
/// the kernel has no IPv6.
pub fn enable_ipv6() -> bool {
    QUIET.iter().chain(&[("disable_ipv6", "0")]).all(|(name, value)| set_ipv6(name, value).is_ok())
}

/// Sets what all devices have, and new ones begin with, in this thread's namespace.
fn set_ipv6(name: &str, value: &str) -> io::Result<()> {
    ["all", "default"]
        .iter()
        .try_for_each(|which| fs::write(format!("/proc/sys/net/ipv6/conf/{which}/{name}"), value))
}

/// Removes what runs that were killed have left: their processes and their namespaces, and those of runs that were in
/// them. Returns their names.
pub fn remove_stale() -> Vec<String> {
    let mut removed = Vec::new();
    // With one run those end that are in its namespaces.
    while let Some(name) = stale().find(|name| !removed.contains(name)) {
        end(&name);
        removed.push(name);
    }
    removed
}

/// Those whose owner is dead.
fn stale() -> impl Iterator<Item = String> {
    let entries = fs::read_dir(FOLDER).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| {
        let path = Path::new(FOLDER).join(name);
        let Some(pid) = owner(name) else { return false };
        // One that is not locked yet has an owner that begins right now.
        let is_begun =
            || fs::metadata(&path).and_then(|found| found.modified()).is_ok_and(|made| lives(pid, made));
        locked(&path).is_ok() && !is_begun()
    })
}

/// Where it is noted which rules were made in the namespace of this number, for whoever comes after a kill.
pub(crate) fn note(number: u64) -> PathBuf {
    PathBuf::from(format!("/run/lasthop-nat-{number}"))
}

/// The process after which a namespace is called, if it is one of ours.
fn owner(name: &str) -> Option<i32> {
    let (pid, role) = name.strip_prefix("lasthop-")?.split_once('-')?;
    matches!(role, "server" | "client").then(|| pid.parse().ok()).flatten()
}

/// The file, opened and locked against everybody else.
///
/// # Errors
/// If it cannot be opened, or somebody else has locked it.
pub(crate) fn locked(path: &Path) -> io::Result<Flock<File>> {
    Flock::lock(File::open(path)?, FlockArg::LockExclusiveNonblock).map_err(|(_, error)| error.into())
}

/// Ends every process in a namespace, and removes it, with the namespaces of runs that were in it.
fn end(name: &str) {
    let start = Instant::now();
    let path = Path::new(FOLDER).join(name);
    let number = fs::metadata(&path).map(|found| found.st_ino());
    let mut is_first = true;
    loop {
        let processes = processes(&path);
        for pid in &processes {
            let _ = kill(*pid, Signal::SIGKILL);
        }
        if processes.is_empty() || start.elapsed() > PATIENCE {
            break;
        }
        is_first = false;
        thread::sleep(Duration::from_millis(5));
    }
    let _ = ip(&["netns", "del", name]);
    // Its rules are gone with it.
    let _ = number.map(|number| fs::remove_file(note(number)));
    if !is_first {
        // Runs may have been among them.
        remove_stale();
    }
}

/// The processes in a namespace; those that have ended and wait for their parents are not counted.
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

/// Runs iproute2's `ip`.
///
/// # Errors
/// What it says, or that there is none.
pub fn ip(arguments: &[&str]) -> Result<(), SystemError> {
    let said = Command::new("ip").args(arguments).stdin(Stdio::null()).output();
    let what = || format!("cannot run `ip {}`", arguments.join(" "));
    let output = said.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => SystemError::new(
            "there is no program `ip`, which makes network namespaces",
            "install iproute2 (Debian: apt-get install iproute2)",
        ),
        _ => SystemError::of_system(&what(), &error, "is iproute2 whole?"),
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = said.trim();
    let is_denied = said.contains("not permitted") || said.contains("ermission denied");
    let help =
        if is_denied { "run it as root" } else { "see `ip netns` and `ip addr` for what is there already" };
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

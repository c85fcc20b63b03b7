//! What an ordinary user may make without anybody's leave: namespaces in a user namespace of the user's own
//! (user_namespaces(7)), which nobody else sees and which end with us.
//!
//! Two processes do it. The first one enters the user namespace, in which the user keeps number and files, with
//! [`own_rights`] and [`own_processes`]. It starts the second, which calls [`arrive`] and makes everything else. That one
//! is the first process of a namespace of processes: however it ends, the kernel ends all others there. It ends with the
//! first one, however that ends.

use crate::error::SystemError;
use caps::{CapSet, Capability};
use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;
use nix::unistd::{AccessFlags, access, getegid, geteuid};
use std::fs::{self, OpenOptions};
use std::io;
use std::path::Path;

/// The variable by which the second process knows which run it is: the number of the first.
pub const RUN: &str = "LASTHOP_APART";

/// Whether this process may make namespaces that have names and change this host's network, as root does.
pub fn is_root() -> bool {
    let writable = |folder: &str| access(folder, AccessFlags::W_OK).is_ok();
    let folder = if Path::new("/run/netns").exists() { "/run/netns" } else { "/run" };
    geteuid().is_root()
        && has(Capability::CAP_SYS_ADMIN)
        && has(Capability::CAP_NET_ADMIN)
        && writable(folder)
}

fn has(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, capability).unwrap_or(false)
}

/// Whether the network of this thread's namespace may be changed.
pub fn may_change_network() -> bool {
    // Opened, not written.
    OpenOptions::new().write(true).open("/proc/sys/net/ipv4/conf/all/forwarding").is_ok()
}

/// Gives this process all rights in a user namespace of its own, and to the programs that it starts; nothing if it has
/// them already where it is. It must have a single thread.
///
/// # Errors
/// If the machine forbids it: why, and who may permit it.
pub fn own_rights() -> Result<(), SystemError> {
    let (user, group) = (geteuid(), getegid());
    let enter = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        // Without that nobody but root may map a group.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))
    };
    if !has(Capability::CAP_SYS_ADMIN) {
        enter().map_err(|error| forbidden("cannot make a user namespace", &error))?;
    }
    let keep = || {
        let all = caps::read(None, CapSet::Permitted)?;
        caps::set(None, CapSet::Inheritable, &all)?;
        caps::set(None, CapSet::Ambient, &all)
    };
    keep().map_err(|error| forbidden("cannot keep rights in a user namespace", &io::Error::other(error)))
}

/// Has the next process that this thread starts be the first of a namespace of processes, with mounts of its own. This
/// thread can start no other thread from then on.
///
/// # Errors
/// If the machine forbids it.
pub fn own_processes() -> Result<(), SystemError> {
    let enter = || -> nix::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
        // What is mounted on the machine later is seen here, and not the other way round.
        mount::<str, str, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_SLAVE, None)
    };
    enter().map_err(|error| forbidden("cannot make a namespace of processes", &error.into()))
}

/// The number of the run whose second process we are.
pub fn run() -> Option<u32> {
    // Nobody else is the first process of a namespace, except in a container.
    if std::process::id() == 1 { std::env::var(RUN).ok()?.parse().ok() } else { None }
}

/// The second process, at its start: it ends with the first one, and `/proc` shows its namespace.
///
/// # Errors
/// If the machine forbids it.
pub fn arrive() -> Result<(), SystemError> {
    let _ = set_pdeathsig(Signal::SIGKILL);
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount::<str, str, str, str>(Some("proc"), "/proc", Some("proc"), flags, None).map_err(|error| {
        SystemError::of_system(
            "cannot mount /proc for a namespace of processes",
            &error.into(),
            "run it as root: sudo lasthop …; a container has to show all of /proc (podman: --security-opt unmask=ALL)",
        )
    })
}

/// Takes all rights from this thread, and from the programs that it starts.
pub(crate) fn give_up_rights() {
    for set in [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        // One that it does not have it cannot lose.
        let _ = caps::clear(None, set);
    }
}

/// Settings by which a machine forbids user namespaces: the value that does, and how to mend it.
const FORBIDDING: [(&str, &str, &str); 3] = [
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or a profile for lasthop with the rule `userns,` in \
         /etc/apparmor.d",
    ),
];

fn forbidden(what: &str, error: &io::Error) -> SystemError {
    let message = format!("without root's rights it needs a user namespace of its own: {what}: {error}");
    let is = |(file, value, _): &&(&str, &str, &str)| {
        fs::read_to_string(format!("/proc/sys/{file}")).is_ok_and(|text| text.trim() == *value)
    };
    let help = match FORBIDDING.iter().find(is) {
        Some((file, value, mend)) => {
            let name = file.replace('/', ".");
            format!("run it as root: sudo lasthop …; or permit it, for {name} is {value} here: {mend}")
        }
        None if error.raw_os_error() == Some(Errno::ENOSPC as i32) => {
            "run it as root: sudo lasthop …; there are too many of them already: see user.max_user_namespaces"
                .to_owned()
        }
        None => "run it as root: sudo lasthop …; a container has to permit it (its seccomp profile: unshare, mount)"
            .to_owned(),
    };
    SystemError::new(message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_forbids_is_named_only_if_it_is_so() {
        let error = forbidden("cannot", &io::Error::from_raw_os_error(Errno::EPERM as i32));
        assert!(error.message.contains("user namespace"), "{error}");
        assert!(error.help.starts_with("run it as root"), "{error}");
        for (file, value, mend) in FORBIDDING {
            let is_so =
                fs::read_to_string(format!("/proc/sys/{file}")).is_ok_and(|text| text.trim() == value);
            assert!(is_so || !error.help.contains(mend), "{error}");
        }
    }
}

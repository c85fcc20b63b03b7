//! Namespaces for unprivileged users, inside a separate user namespace (user_namespaces(7)). Other users cannot see
//! these namespaces, which end with the run.
//!
//! The first process enters the user namespace with [`enter_user_namespace`] and [`enter_pid_namespace`]. The UID and
//! the access to files do not change. The first process then starts the second process, which calls
//! [`prepare_second_process`] and creates everything else. The second process has PID 1 in a new PID namespace. When
//! the second process ends, the kernel kills all processes in the PID namespace. The second process ends with the
//! first.

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

/// Environment variable that passes the PID of the first process to the second process.
pub const FIRST_PROCESS: &str = "LASTHOP_APART";

/// Whether this process may create named namespaces and change the host's network, like root.
pub fn is_root() -> bool {
    let writable = |folder: &str| access(folder, AccessFlags::W_OK).is_ok();
    let folder = if Path::new("/run/netns").exists() { "/run/netns" } else { "/run" };
    geteuid().is_root()
        && has_capability(Capability::CAP_SYS_ADMIN)
        && has_capability(Capability::CAP_NET_ADMIN)
        && writable(folder)
}

fn has_capability(capability: Capability) -> bool {
    caps::has_cap(None, CapSet::Effective, capability).unwrap_or(false)
}

/// Whether this thread may change the network of its namespace.
pub fn may_change_network() -> bool {
    // The file is opened, but nothing is written.
    OpenOptions::new().write(true).open("/proc/sys/net/ipv4/conf/all/forwarding").is_ok()
}

/// Moves this process into a new user namespace, in which this process and its children have all rights. Omits the move
/// if this process already has CAP_SYS_ADMIN. The process must have a single thread.
///
/// # Errors
/// Fails if the system forbids user namespaces; the help names the setting.
pub fn enter_user_namespace() -> Result<(), SystemError> {
    let (user, group) = (geteuid(), getegid());
    let enter = || -> io::Result<()> {
        unshare(CloneFlags::CLONE_NEWUSER)?;
        // The kernel requires this setting before an unprivileged user may map a group.
        fs::write("/proc/self/setgroups", "deny")?;
        fs::write("/proc/self/uid_map", format!("{user} {user} 1\n"))?;
        fs::write("/proc/self/gid_map", format!("{group} {group} 1\n"))
    };
    if !has_capability(Capability::CAP_SYS_ADMIN) {
        enter().map_err(|error| forbidden("cannot create a user namespace", &error))?;
    }
    let keep = || {
        let all = caps::read(None, CapSet::Permitted)?;
        caps::set(None, CapSet::Inheritable, &all)?;
        caps::set(None, CapSet::Ambient, &all)
    };
    keep().map_err(|error| forbidden("cannot keep rights in a user namespace", &io::Error::other(error)))
}

/// Makes the next child of this thread the first process of a new PID and mount namespace. Afterwards this thread
/// cannot start threads.
///
/// # Errors
/// Fails if the system forbids the namespaces.
pub fn enter_pid_namespace() -> Result<(), SystemError> {
    let enter = || -> nix::Result<()> {
        unshare(CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID)?;
        // Later mounts on the machine appear in the new namespace, but mounts made there do not appear on the machine.
        mount::<str, str, str, str>(None, "/", None, MsFlags::MS_REC | MsFlags::MS_SLAVE, None)
    };
    enter().map_err(|error| forbidden("cannot create a PID namespace", &error.into()))
}

/// Returns the PID of the run's first process if this process is the run's second process; otherwise `None`.
pub fn first_process() -> Option<u32> {
    // The second process has PID 1. In a container the first process may also have PID 1, but lacks the variable.
    if std::process::id() == 1 { std::env::var(FIRST_PROCESS).ok()?.parse().ok() } else { None }
}

/// Prepares the second process: makes it end with the first process, and mounts its own `/proc`.
///
/// # Errors
/// Fails if the system forbids the mount.
pub fn prepare_second_process() -> Result<(), SystemError> {
    let _ = set_pdeathsig(Signal::SIGKILL);
    let flags = MsFlags::MS_NOSUID | MsFlags::MS_NODEV | MsFlags::MS_NOEXEC;
    mount::<str, str, str, str>(Some("proc"), "/proc", Some("proc"), flags, None).map_err(|error| {
        SystemError::of_system(
            "cannot mount /proc for a PID namespace",
            &error.into(),
            "run it as root: sudo lasthop …; a container must expose all of /proc (podman: --security-opt unmask=ALL)",
        )
    })
}

pub(crate) fn drop_capabilities() {
    for set in [CapSet::Ambient, CapSet::Inheritable, CapSet::Effective, CapSet::Permitted] {
        let _ = caps::clear(None, set);
    }
}

/// Settings that forbid user namespaces: file, forbidding value, remedy.
const RESTRICTIONS: [(&str, &str, &str); 3] = [
    ("kernel/unprivileged_userns_clone", "0", "sudo sysctl kernel.unprivileged_userns_clone=1"),
    ("user/max_user_namespaces", "0", "sudo sysctl user.max_user_namespaces=10000"),
    (
        "kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0, or add a profile for lasthop with the rule \
         `userns,` in \
         /etc/apparmor.d",
    ),
];

fn forbidden(what: &str, error: &io::Error) -> SystemError {
    let message = format!("without root, the run needs its own user namespace: {what}: {error}");
    let is_set = |(file, value, _): &&(&str, &str, &str)| {
        fs::read_to_string(format!("/proc/sys/{file}")).is_ok_and(|text| text.trim() == *value)
    };
    let help = match RESTRICTIONS.iter().find(is_set) {
        Some((file, value, remedy)) => {
            let name = file.replace('/', ".");
            format!("run it as root: sudo lasthop …; or permit user namespaces ({name} is {value}): {remedy}")
        }
        None if error.raw_os_error() == Some(Errno::ENOSPC as i32) => {
            "run it as root: sudo lasthop …; or raise the limit user.max_user_namespaces".to_owned()
        }
        None => "run it as root: sudo lasthop …; a container must permit this call (seccomp profile: unshare, mount)"
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
        for (file, value, remedy) in RESTRICTIONS {
            let is_so =
                fs::read_to_string(format!("/proc/sys/{file}")).is_ok_and(|text| text.trim() == value);
            assert!(is_so || !error.help.contains(remedy), "{error}");
        }
    }
}

//! Users and rights of the programs that are started for a user. The programs get no rights that the user lacks.

use nix::unistd::{Gid, Uid, User, geteuid};
use std::env;
use std::fs;
use std::os::linux::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Whether a command calls `emulate` of this program. The program is found by its name in `PATH`, as in a shell.
pub fn is_emulation(words: &[String]) -> bool {
    let Some((name, rest)) = words.split_first() else { return false };
    let file = |path: &Path| fs::metadata(path).ok().map(|found| (found.st_dev(), found.st_ino()));
    let found = if name.contains('/') {
        file(Path::new(name))
    } else {
        let folders = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&folders).find_map(|folder| file(&folder.join(name)))
    };
    rest.first().is_some_and(|word| word == "emulate")
        && found.is_some()
        && found == file(Path::new("/proc/self/exe"))
}

/// Identity and rights of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Runner {
    /// This process's user and rights.
    Own,
    /// This process's user, without rights from a user namespace.
    Unprivileged,
    /// The user who called `sudo`.
    Caller(Caller),
}

/// The user who called `sudo`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caller {
    user: Uid,
    group: Gid,
    account: Option<(String, PathBuf)>,
}

impl Caller {
    /// Returns the calling user from `SUDO_UID` and `SUDO_GID` (sudo(8)). `None` if the variables are absent or this
    /// process is not root.
    pub fn of_sudo() -> Option<Caller> {
        let number = |name: &str| env::var(name).ok()?.parse::<u32>().ok();
        let (user, group) = (Uid::from_raw(number("SUDO_UID")?), Gid::from_raw(number("SUDO_GID")?));
        if !geteuid().is_root() || user.is_root() {
            return None;
        }
        let account = User::from_uid(user).ok().flatten().map(|account| (account.name, account.dir));
        Some(Caller { user, group, account })
    }

    /// Makes `command` run as this user with this user's home directory. Only the primary group is kept.
    pub(crate) fn apply_to(&self, command: &mut Command) {
        command.uid(self.user.as_raw()).gid(self.group.as_raw());
        if let Some((name, home)) = &self.account {
            command.env("HOME", home).env("USER", name).env("LOGNAME", name);
        }
    }
}

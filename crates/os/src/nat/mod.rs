//! Makes the host's network the remote end of a path: adds rules named `lasthop` and enables forwarding. The rules are
//! removed and forwarding is restored at the end.
//!
//! * `forwarding`: enables forwarding for each interface. `filter`: rules that limit forwarding to the path.
//! * This file: makes the changes in a safe order, and lists them in a file (the note) for clean-up after a kill.

mod filter;
mod forwarding;

use crate::error::SystemError;
use crate::namespace::{self, locked};
use crate::owner::is_alive;
use filter::{RuleParameters, Tool};
use nix::fcntl::Flock;
use nix::net::if_::if_nametoindex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::linux::fs::MetadataExt;
use std::path::PathBuf;

/// Firewall rules and forwarding settings of a path. Dropping this value undoes the rules and the settings.
#[derive(Debug)]
pub struct Nat {
    device: String,
    changed: Changes,
    /// Path and lock of the note, a file that lists the changes; `None` if no clean-up after a kill is necessary. If
    /// the file is unlocked, its writer is dead.
    note: Option<(PathBuf, Flock<File>)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Changes {
    tool: Tool,
    host_forwarded: bool,
    opened: Vec<String>,
}

impl Nat {
    /// Forwards and masquerades packets from `network` that enter through `device`, and forwards the replies to these
    /// packets. This call does not make the host forward any other packets.
    ///
    /// # Errors
    /// Fails if another process already uses the host's network in this way, a system call fails, or neither `nft` nor
    /// `iptables` exists.
    pub fn begin(device: &str, network: &str) -> Result<Nat, SystemError> {
        remove_stale()?;
        let changed = Changes::begin()?;
        let note = note().map_err(|error| forwarding_refused(&error))?;
        let lock = File::create_new(&note)
            .and_then(|mut file| file.write_all(changed.text().as_bytes()))
            .and_then(|()| locked(&note))
            .map_err(|error| {
                let what = format!("cannot write `{}`", note.display());
                SystemError::of_system(&what, &error, "another run may be starting; try again")
            })?;
        Nat { device: device.to_owned(), changed, note: Some((note, lock)) }.with_rules(network, None)
    }

    /// Like [`Nat::begin`], but writes no file for clean-up after a kill. Used if the network namespace ends with the
    /// run, or if the namespace's owner cannot write the file. If `redirected` is given, TCP is redirected to that
    /// local port; this requires a namespace that ends with the run.
    ///
    /// # Errors
    /// Fails if another process already uses the host's network in this way, a system call fails, or neither `nft` nor
    /// `iptables` exists.
    pub fn begin_unprivileged(
        device: &str,
        network: &str,
        redirected: Option<u16>,
    ) -> Result<Nat, SystemError> {
        if if_nametoindex(device).is_ok() {
            return Err(only_one("another process"));
        }
        let changed = Changes::begin()?;
        changed.tool.remove();
        Nat { device: device.to_owned(), changed, note: None }.with_rules(network, redirected)
    }

    /// Adds the rules first and then enables forwarding, so that no interface forwards without the rules.
    fn with_rules(self, network: &str, redirected: Option<u16>) -> Result<Nat, SystemError> {
        let nat = self;
        let device = &nat.device;
        nat.changed.tool.add(&RuleParameters { device, network, opened: &nat.changed.opened, redirected })?;
        for interface in &nat.changed.opened {
            forwarding::set(interface, true).map_err(|error| forwarding_refused(&error))?;
        }
        Ok(nat)
    }

    /// Enables forwarding on the path's device, which must exist.
    ///
    /// # Errors
    /// Fails if a system call fails.
    pub fn open(&self) -> Result<(), SystemError> {
        forwarding::set(&self.device, true).map_err(|error| forwarding_refused(&error))
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.changed.undo();
        if let Some((note, _)) = &self.note {
            let _ = fs::remove_file(note);
        }
    }
}

/// Tests the tool: adds the rules in this thread's network namespace and removes the rules. Returns a message with the
/// tool's name. No other process may use the namespace.
///
/// # Errors
/// Fails if no tool exists, or the tool fails.
pub fn test_rules() -> Result<String, SystemError> {
    let tool = Tool::find().ok_or_else(no_tool)?;
    let added =
        tool.add(&RuleParameters { device: "lo", network: "198.18.0.0/24", opened: &[], redirected: None });
    tool.remove();
    added.map(|()| format!("{} accepts the rules", tool.name()))
}

/// Undoes the changes of a killed run in this network namespace; returns whether changes were found.
///
/// # Errors
/// Fails if the changes belong to a living process.
pub fn remove_stale() -> Result<bool, SystemError> {
    let Ok(note) = note() else { return Ok(false) };
    let Ok(text) = fs::read_to_string(&note) else { return Ok(false) };
    let Some((pid, changed)) = Changes::read(&text) else {
        // The run was killed while it wrote the note, before it changed anything else.
        let _ = fs::remove_file(&note);
        return Ok(true);
    };
    let is_begun =
        || fs::metadata(&note).and_then(|found| found.modified()).is_ok_and(|made| is_alive(pid, made));
    if locked(&note).is_err() || is_begun() {
        return Err(only_one(&format!("process {pid}")));
    }
    // Without rules nothing has to be undone. Either forwarding was not yet enabled, or the note belongs to an earlier
    // namespace with the same inode number.
    let had_rules = changed.tool.has_rules();
    if had_rules {
        changed.undo();
    }
    let _ = fs::remove_file(&note);
    Ok(had_rules)
}

fn only_one(which: &str) -> SystemError {
    SystemError::new(
        format!("{which} already connects a path to this host's network"),
        "wait until the other run ends, or set the path's other end: --server 'COMMAND'",
    )
}

fn note() -> io::Result<PathBuf> {
    fs::metadata("/proc/thread-self/ns/net").map(|found| namespace::nat_note(found.st_ino()))
}

impl Changes {
    fn begin() -> Result<Changes, SystemError> {
        let tool = Tool::find().ok_or_else(no_tool)?;
        let query = || Ok((forwarding::is_host_forwarding()?, forwarding::non_forwarding()?));
        let (host_forwarded, opened) = query().map_err(|error| forwarding_refused(&error))?;
        Ok(Changes { tool, host_forwarded, opened })
    }

    /// Text of the note: PID, tool, whether the host forwarded by default, and the interfaces that did not forward.
    fn text(&self) -> String {
        let forwarded = u8::from(self.host_forwarded);
        let interfaces: String = self.opened.iter().map(|name| format!(" {name}")).collect();
        format!("{} {} {forwarded}{interfaces}\n", std::process::id(), self.tool.name())
    }

    fn read(text: &str) -> Option<(i32, Changes)> {
        let mut words = text.strip_suffix('\n')?.split(' ');
        let (pid, tool) = (words.next()?.parse().ok()?, Tool::named(words.next()?)?);
        let host_forwarded = match words.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        Some((pid, Changes { tool, host_forwarded, opened: words.map(str::to_owned).collect() }))
    }

    /// Undoes the changes in reverse order: first disables forwarding, then removes the rules.
    fn undo(&self) {
        // If the host was set to forward by default during the run, its interfaces keep forwarding.
        let is_router = !self.host_forwarded && forwarding::is_host_forwarding().unwrap_or(false);
        for interface in self.opened.iter().filter(|_| !is_router) {
            let _ = forwarding::set(interface, false);
        }
        self.tool.remove();
    }
}

fn no_tool() -> SystemError {
    SystemError::new(
        "neither `nft` nor `iptables` is installed; one of them must connect the path to this host's network",
        "install nftables (Debian: apt-get install nftables), or give the path's other end: --server 'COMMAND'",
    )
}

fn forwarding_refused(error: &io::Error) -> SystemError {
    SystemError::of_system(
        "cannot enable forwarding of the path's packets",
        error,
        "check that /proc/sys is writable, or give the path's other end: --server 'COMMAND'",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_notes_is_read() {
        let opened = ["eth0", "wlan0.7"].map(str::to_owned).to_vec();
        let changed = Changes { tool: Tool::Nft, host_forwarded: false, opened };
        let text = changed.text();
        assert!(text.ends_with(" nft 0 eth0 wlan0.7\n"), "{text}");
        assert_eq!(Changes::read(&text), Some((std::process::id() as i32, changed)));
        let none = Changes { tool: Tool::Iptables, host_forwarded: true, opened: Vec::new() };
        assert_eq!(Changes::read("4711 iptables 1\n"), Some((4711, none)));
        for half in
            ["", "4711", "4711 nft 0 eth", "4711 nft 0", "x nft 0\n", "4711 pf 0\n", "4711 nft eth0\n"]
        {
            assert_eq!(Changes::read(half), None, "{half}");
        }
    }
}

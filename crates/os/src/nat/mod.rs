//! The host's network as the far end of a path: rules called `lasthop`, and forwarding, both taken back.
//!
//! * `forwarding`: which interfaces forward.
//! * `filter`: the rules, by which they forward for the path alone.
//! * here: their order, and a note of what is changed, for whoever comes after a kill.

mod filter;
mod forwarding;

use crate::error::SystemError;
use crate::namespace::{self, locked};
use crate::owner::lives;
use filter::{Let, Tool};
use nix::fcntl::Flock;
use nix::net::if_::if_nametoindex;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::linux::fs::MetadataExt;
use std::path::PathBuf;

/// Rules and forwarding while it lives.
#[derive(Debug)]
pub struct Nat {
    device: String,
    changed: Changed,
    /// The note, where somebody may have to take back what is changed, and locked: whoever finds it unlocked knows that
    /// its writer is dead.
    note: Option<(PathBuf, Flock<File>)>,
}

/// What has to be taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Changed {
    tool: Tool,
    /// Whether the host forwarded before.
    host_forwarded: bool,
    /// Interfaces that did not.
    opened: Vec<String>,
}

impl Nat {
    /// Lets packets from `network` that will enter by `device` go wherever the host can send them, in the host's name,
    /// and their answers come back. Nobody else's packets are forwarded that were not before.
    ///
    /// # Errors
    /// If another process does so already, if the system refuses, or if there is neither `nft` nor `iptables`.
    pub fn begin(device: &str, network: &str) -> Result<Nat, SystemError> {
        remove_stale()?;
        let changed = Changed::begin()?;
        let note = note().map_err(|error| forwarding_refused(&error))?;
        let lock = File::create_new(&note)
            .and_then(|mut file| file.write_all(changed.text().as_bytes()))
            .and_then(|()| locked(&note))
            .map_err(|error| {
                let what = format!("cannot write `{}`", note.display());
                SystemError::of_system(&what, &error, "does another run begin right now?")
            })?;
        // From here on everything is taken back whatever happens.
        Nat { device: device.to_owned(), changed, note: Some((note, lock)) }.entered(network, None)
    }

    /// The same in a network namespace that a killed run takes with it, or whose owner cannot leave a note. TCP may be
    /// redirected to a port of this host, if the namespace is gone with us.
    ///
    /// # Errors
    /// If another process does so already, if the system refuses, or if there is neither `nft` nor `iptables`.
    pub fn begin_apart(device: &str, network: &str, redirected: Option<u16>) -> Result<Nat, SystemError> {
        if if_nametoindex(device).is_ok() {
            return Err(only_one("another process"));
        }
        let changed = Changed::begin()?;
        // What a killed run has left.
        changed.tool.remove();
        Nat { device: device.to_owned(), changed, note: None }.entered(network, redirected)
    }

    /// With the rules, which come first: no interface is ever open without them.
    fn entered(self, network: &str, redirected: Option<u16>) -> Result<Nat, SystemError> {
        let nat = self;
        let device = &nat.device;
        nat.changed.tool.add(&Let { device, network, opened: &nat.changed.opened, redirected })?;
        for interface in &nat.changed.opened {
            forwarding::set(interface, true).map_err(|error| forwarding_refused(&error))?;
        }
        Ok(nat)
    }

    /// Has the device, which exists now, forward what the path brings.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn open(&self) -> Result<(), SystemError> {
        forwarding::set(&self.device, true).map_err(|error| forwarding_refused(&error))
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        self.changed.take_back();
        if let Some((note, _)) = &self.note {
            let _ = fs::remove_file(note);
        }
    }
}

/// Makes the rules in this thread's network namespace and removes them; says which tool did. For a namespace that
/// nobody else uses.
///
/// # Errors
/// If there is no tool, or it cannot.
pub fn trial() -> Result<String, SystemError> {
    let tool = Tool::find().ok_or_else(no_tool)?;
    let added = tool.add(&Let { device: "lo", network: "198.18.0.0/24", opened: &[], redirected: None });
    tool.remove();
    added.map(|()| format!("{} takes the rules", tool.name()))
}

/// Takes back what a killed run has left in this network namespace; whether there was something.
///
/// # Errors
/// If a process is alive that uses it.
pub fn remove_stale() -> Result<bool, SystemError> {
    let Ok(note) = note() else { return Ok(false) };
    let Ok(text) = fs::read_to_string(&note) else { return Ok(false) };
    let Some((pid, changed)) = Changed::read(&text) else {
        // The process was killed while it wrote this: nothing was changed yet.
        let _ = fs::remove_file(&note);
        return Ok(true);
    };
    let is_begun =
        || fs::metadata(&note).and_then(|found| found.modified()).is_ok_and(|made| lives(pid, made));
    if locked(&note).is_err() || is_begun() {
        return Err(only_one(&format!("process {pid}")));
    }
    // Without rules nothing was opened, or the note is of a namespace that is gone and whose number was given anew.
    let was_there = changed.tool.has_rules();
    if was_there {
        changed.take_back();
    }
    let _ = fs::remove_file(&note);
    Ok(was_there)
}

fn only_one(which: &str) -> SystemError {
    SystemError::new(
        format!("{which} leads a path to this host's network already"),
        "only one can: wait for its end, or give the other end: --server 'COMMAND'",
    )
}

/// Which process has changed what in this thread's network namespace, for the next one if that is killed.
fn note() -> io::Result<PathBuf> {
    fs::metadata("/proc/thread-self/ns/net").map(|found| namespace::note(found.st_ino()))
}

impl Changed {
    /// What will be.
    fn begin() -> Result<Changed, SystemError> {
        let tool = Tool::find().ok_or_else(no_tool)?;
        let look = || Ok((forwarding::is_hosts()?, forwarding::closed()?));
        let (host_forwarded, opened) = look().map_err(|error| forwarding_refused(&error))?;
        Ok(Changed { tool, host_forwarded, opened })
    }

    /// The process, the tool, whether the host forwarded, and the interfaces that did not.
    fn text(&self) -> String {
        let forwarded = u8::from(self.host_forwarded);
        let interfaces: String = self.opened.iter().map(|name| format!(" {name}")).collect();
        format!("{} {} {forwarded}{interfaces}\n", std::process::id(), self.tool.name())
    }

    fn read(text: &str) -> Option<(i32, Changed)> {
        let mut words = text.strip_suffix('\n')?.split(' ');
        let (pid, tool) = (words.next()?.parse().ok()?, Tool::named(words.next()?)?);
        let host_forwarded = match words.next()? {
            "0" => false,
            "1" => true,
            _ => return None,
        };
        Some((pid, Changed { tool, host_forwarded, opened: words.map(str::to_owned).collect() }))
    }

    /// In the other order: the rules go last.
    fn take_back(&self) {
        // If somebody has made the host a router meanwhile, its interfaces are.
        let is_router = !self.host_forwarded && forwarding::is_hosts().unwrap_or(false);
        for interface in self.opened.iter().filter(|_| !is_router) {
            // One that is gone needs nothing.
            let _ = forwarding::set(interface, false);
        }
        self.tool.remove();
    }
}

fn no_tool() -> SystemError {
    SystemError::new(
        "there is neither `nft` nor `iptables`, which lead from the path to this host's network",
        "install nftables (Debian: apt-get install nftables), or give the path's other end: --server 'COMMAND'",
    )
}

fn forwarding_refused(error: &io::Error) -> SystemError {
    SystemError::of_system(
        "cannot have this host forward the path's packets",
        error,
        "is /proc/sys writable? or give the path's other end: --server 'COMMAND'",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_notes_is_read() {
        let opened = ["eth0", "wlan0.7"].map(str::to_owned).to_vec();
        let changed = Changed { tool: Tool::Nft, host_forwarded: false, opened };
        let text = changed.text();
        assert!(text.ends_with(" nft 0 eth0 wlan0.7\n"), "{text}");
        assert_eq!(Changed::read(&text), Some((std::process::id() as i32, changed)));
        let none = Changed { tool: Tool::Iptables, host_forwarded: true, opened: Vec::new() };
        assert_eq!(Changed::read("4711 iptables 1\n"), Some((4711, none)));
        for half in
            ["", "4711", "4711 nft 0 eth", "4711 nft 0", "x nft 0\n", "4711 pf 0\n", "4711 nft eth0\n"]
        {
            assert_eq!(Changed::read(half), None, "{half}");
        }
    }
}

//! The host's network as the far end of a path: one table of rules called `lasthop`, and forwarding, both taken back.

use crate::namespace::{is_ours, locked};
use crate::trouble::Trouble;
use nix::fcntl::Flock;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// Which process has changed what, for the next one if this one is killed: its number, what forwarding was, the tool.
const NOTE: &str = "/run/lasthop-nat";
const FORWARDING: &str = "/proc/sys/net/ipv4/ip_forward";

/// Rules and forwarding while it lives.
#[derive(Debug)]
pub struct Nat {
    changed: Changed,
    /// The note, locked: whoever finds it unlocked knows that its writer is dead.
    _lock: Flock<File>,
}

/// What has to be taken back.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Changed {
    forwarding: String,
    tool: Tool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Tool {
    Nft,
    Iptables,
}

impl Nat {
    /// Lets packets from `network` that enter by `device` go wherever the host can send them, in the host's name.
    ///
    /// # Errors
    /// If another process does so already, if the system refuses, or if there is neither `nft` nor `iptables`.
    pub fn begin(device: &str, network: &str) -> Result<Nat, Trouble> {
        remove_stale()?;
        let tool = [Tool::Nft, Tool::Iptables].into_iter().find(|tool| tool.is_there()).ok_or_else(|| {
            Trouble::new(
                "there is neither `nft` nor `iptables`, which lead from the path to this host's network",
                "install nftables (Debian: apt-get install nftables), or give the path's other end: --server 'COMMAND'",
            )
        })?;
        let forwarding = fs::read_to_string(FORWARDING).map_err(|error| forwarding_refused(&error))?;
        let changed = Changed { forwarding: forwarding.trim().to_owned(), tool };
        let text = format!("{} {} {}\n", std::process::id(), changed.forwarding, tool.name());
        let lock = File::create_new(NOTE)
            .and_then(|mut note| note.write_all(text.as_bytes()))
            .and_then(|()| locked(Path::new(NOTE)))
            .map_err(|error| {
                Trouble::of_system(
                    &format!("cannot write `{NOTE}`"),
                    &error,
                    "does another run begin right now?",
                )
            })?;
        // From here on everything is taken back whatever happens.
        let nat = Nat { changed, _lock: lock };
        tool.add(device, network)?;
        if nat.changed.forwarding != "1" {
            fs::write(FORWARDING, "1").map_err(|error| forwarding_refused(&error))?;
        }
        Ok(nat)
    }
}

impl Drop for Nat {
    fn drop(&mut self) {
        take_back(&self.changed);
    }
}

/// Takes back what a killed run has left; whether there was something.
///
/// # Errors
/// If a process is alive that uses it.
pub fn remove_stale() -> Result<bool, Trouble> {
    let Ok(text) = fs::read_to_string(NOTE) else { return Ok(false) };
    let Some((pid, changed)) = Changed::read(&text) else {
        // The process was killed while it wrote this: nothing was changed yet.
        let _ = fs::remove_file(NOTE);
        return Ok(true);
    };
    if locked(Path::new(NOTE)).is_err() || is_ours(pid) {
        let message = format!("process {pid} leads a path to this host's network already");
        return Err(Trouble::new(
            message,
            "only one can: wait for its end, or give the other end: --server 'COMMAND'",
        ));
    }
    take_back(&changed);
    Ok(true)
}

fn take_back(changed: &Changed) {
    changed.tool.remove();
    if changed.forwarding != "1" {
        let _ = fs::write(FORWARDING, &changed.forwarding);
    }
    let _ = fs::remove_file(NOTE);
}

impl Changed {
    fn read(text: &str) -> Option<(i32, Changed)> {
        let words: Vec<&str> = text.strip_suffix('\n')?.split(' ').collect();
        let [pid, forwarding, tool] = words[..] else { return None };
        let tool = [Tool::Nft, Tool::Iptables].into_iter().find(|known| known.name() == tool)?;
        Some((pid.parse().ok()?, Changed { forwarding: forwarding.to_owned(), tool }))
    }
}

impl Tool {
    fn name(self) -> &'static str {
        match self {
            Tool::Nft => "nft",
            Tool::Iptables => "iptables",
        }
    }

    fn is_there(self) -> bool {
        self.run(&["--version"], "").is_ok_and(|output| output.status.success())
    }

    fn add(self, device: &str, network: &str) -> Result<(), Trouble> {
        match self {
            Tool::Nft => self.done(
                &["-f", "-"],
                &format!(
                    "table ip lasthop {{ chain postrouting {{ type nat hook postrouting priority 100; \
                     ip saddr {network} oifname != \"{device}\" masquerade; }}; }}\n"
                ),
            ),
            Tool::Iptables => {
                for line in [
                    "-t nat -N lasthop".to_owned(),
                    format!("-t nat -A lasthop -s {network} ! -o {device} -j MASQUERADE"),
                    "-t nat -I POSTROUTING -j lasthop".to_owned(),
                    "-N lasthop".to_owned(),
                    format!("-A lasthop -i {device} -j ACCEPT"),
                    format!("-A lasthop -o {device} -j ACCEPT"),
                    "-I FORWARD -j lasthop".to_owned(),
                ] {
                    self.done(&words(&line), "")?;
                }
                Ok(())
            }
        }
    }

    /// Removes what [`Tool::add`] has added, or a part of it.
    fn remove(self) {
        let lines: &[&str] = match self {
            Tool::Nft => &["delete table ip lasthop"],
            Tool::Iptables => &[
                "-t nat -D POSTROUTING -j lasthop",
                "-t nat -F lasthop",
                "-t nat -X lasthop",
                "-D FORWARD -j lasthop",
                "-F lasthop",
                "-X lasthop",
            ],
        };
        for line in lines {
            let _ = self.run(&words(line), "");
        }
    }

    fn done(self, arguments: &[&str], input: &str) -> Result<(), Trouble> {
        let what = || format!("cannot add a rule by `{} {}`", self.name(), arguments.join(" "));
        let output = self
            .run(arguments, input)
            .map_err(|error| Trouble::of_system(&what(), &error, "is it installed?"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(Trouble::new(
            format!("{}: {}", what(), said.trim()),
            "run it as root; does the kernel have NAT? or give the other end: --server 'COMMAND'",
        ))
    }

    fn run(self, arguments: &[&str], input: &str) -> io::Result<Output> {
        let mut command = Command::new(self.name());
        if self == Tool::Iptables && arguments.first() != Some(&"--version") {
            // Others may be changing rules right now.
            command.arg("-w");
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            // One that does not read its rules says why.
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

fn forwarding_refused(error: &io::Error) -> Trouble {
    Trouble::of_system("cannot have this host forward packets", error, "set net.ipv4.ip_forward=1 yourself")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_run_notes_is_read() {
        let read = Changed::read("4711 0 nft\n");
        assert_eq!(read, Some((4711, Changed { forwarding: "0".to_owned(), tool: Tool::Nft })));
        for half in ["", "4711", "4711 0 nf", "4711 0 nft", "x 0 nft\n", "4711 0 pf\n"] {
            assert_eq!(Changed::read(half), None, "{half}");
        }
    }
}

//! Firewall rules that queue this host's pure ACKs.
//!
//! `iptables` creates a chain in the `mangle` tables. If `iptables` fails and the kernel supports nft's `queue`, `nft`
//! creates a table instead.

mod iptables;
mod nft;

use lasthop_os::SystemError;

const NAME: &str = "lasthop-agent";
/// Mark of packets that the agent sends. The rules do not queue marked packets.
pub const MARK: u32 = 0x6c68_6167;

/// Minimum and maximum length of a pure ACK, bytes: its headers have at most 40 bytes of options.
const LENGTHS_V4: [u16; 2] = [40, 80];
const LENGTHS_V6: [u16; 2] = [60, 100];

/// Firewall rules for IPv4 and perhaps IPv6. Dropping this value removes the rules.
pub struct FirewallRules {
    tool: Tool,
    has_ipv6: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Tool {
    Iptables,
    Nft,
}

impl Tool {
    const ALL: [Tool; 2] = [Tool::Iptables, Tool::Nft];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Tool::Iptables => "iptables",
            Tool::Nft => "nft",
        }
    }

    /// Adds the rules; returns whether rules for IPv6 were also added. After a failure, no rules remain.
    fn add(self, queue: u16) -> Result<bool, String> {
        let added = match self {
            Tool::Iptables => iptables::add(queue),
            Tool::Nft => nft::add(queue),
        };
        added.inspect_err(|_| self.remove())
    }

    fn remove(self) {
        match self {
            Tool::Iptables => iptables::remove(),
            Tool::Nft => nft::remove(),
        }
    }
}

impl FirewallRules {
    /// Removes rules left by an earlier agent.
    pub fn remove_stale() {
        Tool::ALL.into_iter().for_each(Tool::remove);
    }

    /// Adds rules that queue pure ACKs. The ACKs pass if no process listens on the queue. Fails if no tool can add
    /// rules for IPv4; rules for IPv6 are optional.
    pub fn add(queue: u16) -> Result<FirewallRules, SystemError> {
        let (tool, has_ipv6) = first_working(|tool| tool.add(queue)).map_err(|why| SystemError {
            message: format!("cannot add the firewall rules: {why}"),
            help: "see `lasthop doctor`".to_owned(),
        })?;
        Ok(FirewallRules { tool, has_ipv6 })
    }

    /// Whether IPv6 has rules.
    pub fn has_ipv6(&self) -> bool {
        self.has_ipv6
    }
}

impl Drop for FirewallRules {
    fn drop(&mut self) {
        self.tool.remove();
    }
}

/// Returns the first tool that succeeds, with its result. If no tool succeeds, returns the errors of all tools.
fn first_working<T>(mut attempt: impl FnMut(Tool) -> Result<T, String>) -> Result<(Tool, T), String> {
    let mut reasons = Vec::new();
    for tool in Tool::ALL {
        match attempt(tool) {
            Ok(given) => return Ok((tool, given)),
            Err(why) => reasons.push(format!("{}: {why}", tool.name())),
        }
    }
    Err(reasons.join("; "))
}

/// Tries each tool in the caller's temporary namespace. Returns a text that describes the results; fails if all tools
/// fail.
pub(crate) fn trial() -> Result<String, String> {
    let results = Tool::ALL.map(|tool| (tool, tool.add(0).map(|_| ())));
    let words = describe(&results);
    if results.iter().any(|(_, outcome)| outcome.is_ok()) { Ok(words) } else { Err(words) }
}

fn describe(results: &[(Tool, Result<(), String>)]) -> String {
    let words = results.iter().map(|(tool, outcome)| match outcome {
        Ok(()) => format!("{} accepts the rules", tool.name()),
        Err(why) => format!("{} does not: {why}", tool.name()),
    });
    words.collect::<Vec<String>>().join("; ")
}

/// Returns an error with the first line that a failed program printed to standard error.
fn check_output(name: &str, output: std::io::Result<std::process::Output>) -> Result<(), String> {
    let output = output.map_err(|error| format!("cannot run `{name}`: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(text.lines().next().unwrap_or("it failed without a message").trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nft_is_asked_only_if_iptables_cannot() {
        let mut attempted = Vec::new();
        let able = first_working(|tool| {
            attempted.push(tool);
            Ok(true)
        });
        assert_eq!((able, attempted), (Ok((Tool::Iptables, true)), vec![Tool::Iptables]));
        let able = first_working(|tool| match tool {
            Tool::Iptables => Err("cannot run `iptables`: not found".to_owned()),
            Tool::Nft => Ok(false),
        });
        assert_eq!(able, Ok((Tool::Nft, false)));
        let unable = first_working(|tool| Err::<(), _>(format!("no {tool:?}")));
        assert_eq!(unable, Err("iptables: no Iptables; nft: no Nft".to_owned()));
    }

    #[test]
    fn both_verdicts_are_told() {
        let results = [(Tool::Iptables, Ok(())), (Tool::Nft, Err("no queue".to_owned()))];
        assert_eq!(describe(&results), "iptables accepts the rules; nft does not: no queue");
    }
}

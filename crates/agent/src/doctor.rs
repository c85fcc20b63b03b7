//! What this machine lacks for `emulate`, `endpoint` and `agent`, and how to get it.

use crate::privilege;
use crate::rules;
use caps::{CapSet, Capability};
use lasthop_os::Namespace;
use std::fs::OpenOptions;
use std::process::{Command, Stdio};

/// What was looked at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// What.
    pub name: &'static str,
    /// Which commands need it.
    pub needed_for: &'static str,
    /// Whether it is there; `None` if that could not be found out.
    pub is_there: Option<bool>,
    /// What was found, in words.
    pub found: String,
    /// How to get it, if it is not there.
    pub help: &'static str,
}

/// Looks at everything. Rules are tried in a network namespace of their own.
pub fn examine() -> Vec<Finding> {
    let privileges = privileges();
    let may = privileges.is_there == Some(true);
    vec![
        privileges,
        tun(),
        namespace(may),
        program("ip", "emulate", "install it: apt-get install iproute2"),
        firewall(),
        nfqueue(may),
    ]
}

fn privileges() -> Finding {
    let mut lacking = privilege::missing();
    if !caps::has_cap(None, CapSet::Effective, Capability::CAP_SYS_ADMIN).unwrap_or(false) {
        lacking.push(Capability::CAP_SYS_ADMIN.to_string());
    }
    Finding {
        name: "privileges",
        needed_for: "emulate, endpoint, agent",
        is_there: Some(lacking.is_empty()),
        found: match lacking.is_empty() {
            true => "CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN".to_owned(),
            false => format!("{} missing", lacking.join(", ")),
        },
        help: "run it as root: sudo lasthop …",
    }
}

fn tun() -> Finding {
    const DEVICE: &str = "/dev/net/tun";
    let opened = OpenOptions::new().read(true).write(true).open(DEVICE);
    Finding {
        name: "TUN devices",
        needed_for: "emulate, endpoint",
        is_there: Some(opened.is_ok()),
        found: opened.map_or_else(|error| format!("{DEVICE}: {error}"), |_| DEVICE.to_owned()),
        help: "load the module: modprobe tun; in a container, give it the device: --device /dev/net/tun",
    }
}

fn namespace(may: bool) -> Finding {
    tried(
        Finding {
            name: "network namespaces",
            needed_for: "emulate",
            is_there: None,
            found: String::new(),
            help: "the kernel needs CONFIG_NET_NS, a container the capability CAP_SYS_ADMIN",
        },
        may,
        || Ok("a new one can be made".to_owned()),
    )
}

fn nfqueue(may: bool) -> Finding {
    tried(
        Finding {
            name: "NFQUEUE",
            needed_for: "agent",
            is_there: None,
            found: String::new(),
            help: "load the modules: modprobe nfnetlink_queue xt_NFQUEUE xt_length (nft_queue without iptables); a container's host has to",
        },
        may,
        || {
            let words = rules::trial()?;
            let bound = nfq::Queue::open().and_then(|mut queue| queue.bind(0));
            bound.map_err(|error| format!("a queue cannot be opened: {error}"))?;
            Ok(format!("{words}; a queue can be opened"))
        },
    )
}

fn tried(finding: Finding, may: bool, trial: impl FnOnce() -> Result<String, String> + Send) -> Finding {
    if !may {
        return Finding { found: "cannot be tried without privileges".to_owned(), ..finding };
    }
    // In a network namespace that disappears with it.
    let tried = Namespace::nameless().and_then(|namespace| namespace.within(trial));
    match tried.unwrap_or_else(|error| Err(error.message)) {
        Ok(found) => Finding { is_there: Some(true), found, ..finding },
        Err(found) => Finding { is_there: Some(false), found, ..finding },
    }
}

fn program(name: &'static str, needed_for: &'static str, help: &'static str) -> Finding {
    let found = version(name);
    Finding { name, needed_for, is_there: Some(found.is_ok()), found: found.unwrap_or_else(|why| why), help }
}

/// One of both is enough.
fn firewall() -> Finding {
    let found = ["iptables", "nft"].map(|name| (name, version(name)));
    Finding {
        name: "iptables or nft",
        needed_for: "agent, emulate without --server",
        is_there: Some(found.iter().any(|(_, version)| version.is_ok())),
        found: found
            .map(|(name, version)| version.unwrap_or_else(|why| format!("no {name}: {why}")))
            .join("; "),
        help: "install one: apt-get install iptables",
    }
}

/// What a program says of itself.
fn version(name: &str) -> Result<String, String> {
    let option = if name == "ip" { "-V" } else { "--version" };
    let output = Command::new(name).arg(option).stdin(Stdio::null()).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .map_err(|error| error.to_string())
}

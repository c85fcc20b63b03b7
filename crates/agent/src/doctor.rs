//! Checks this machine for the requirements of `emulate`, `endpoint` and `agent`.

use crate::privilege;
use crate::program as kernels;
use crate::rules;
use caps::{CapSet, Capability};
use lasthop_os::ends::PathEnds;
use lasthop_os::{Namespace, nat};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::process::{Command, Stdio};

/// Result of a check.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// Name of the requirement.
    pub name: &'static str,
    /// Commands that need the requirement.
    pub needed_for: &'static str,
    /// Whether the requirement is met; `None` if unknown.
    pub is_there: Option<bool>,
    /// Result of the check in words.
    pub found: String,
    /// Remedy if the requirement is not met.
    pub help: &'static str,
}

/// Runs all checks. Firewall rules are tried in a separate network namespace.
pub fn examine() -> Vec<Finding> {
    let privileges = privileges();
    let has_privileges = privileges.is_there == Some(true);
    let bpf = bpf(has_privileges);
    // If BPF works, the NFQUEUE path is not required.
    let is_needed = bpf.is_there != Some(true);
    let if_needed = |finding: Finding| Finding {
        is_there: finding.is_there.filter(|is_there| *is_there || is_needed),
        ..finding
    };
    vec![
        privileges,
        tun(),
        program("ip", "emulate", "install it: apt-get install iproute2"),
        path(has_privileges),
        if_needed(firewall()),
        host(has_privileges),
        if_needed(nfqueue(has_privileges)),
        bpf,
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
        found: if lacking.is_empty() {
            "CAP_NET_ADMIN, CAP_NET_RAW and CAP_SYS_ADMIN".to_owned()
        } else {
            format!("{} missing", lacking.join(", "))
        },
        help: "run it as root: sudo lasthop …",
    }
}

fn tun() -> Finding {
    const DEVICE: &str = "/dev/net/tun";
    let opened = OpenOptions::new().read(true).write(true).open(DEVICE);
    let help = match opened.as_ref().err().map(std::io::Error::kind) {
        Some(ErrorKind::PermissionDenied) => {
            "run it as root: sudo lasthop …; in a container, permit the device: --device /dev/net/tun"
        }
        _ => "load the module: modprobe tun; in a container, permit the device: --device /dev/net/tun",
    };
    Finding {
        name: "TUN devices",
        needed_for: "emulate, endpoint",
        is_there: Some(opened.is_ok()),
        found: opened.map_or_else(|error| format!("{DEVICE}: {error}"), |_| DEVICE.to_owned()),
        help,
    }
}

/// Creates the namespaces and devices with which `emulate` and `crosscheck` begin, then removes them.
fn path(has_privileges: bool) -> Finding {
    let made = || {
        PathEnds::build(1500)
            .map(|_| "created two namespaces, each with a device".to_owned())
            .map_err(|error| error.message)
    };
    attempt(
        Finding {
            name: "path namespaces",
            needed_for: "emulate, crosscheck",
            is_there: None,
            found: String::new(),
            help: "run it as root: sudo lasthop … (a user namespace of your own does not suffice); a container needs \
                   --privileged, or CAP_SYS_ADMIN, CAP_NET_ADMIN and --device /dev/net/tun",
        },
        has_privileges,
        made,
    )
}

/// Tries the address translation that `emulate` needs without `--server`, in a temporary namespace.
fn host(has_privileges: bool) -> Finding {
    let finding = Finding {
        name: "address translation",
        needed_for: "emulate without --server",
        is_there: None,
        found: String::new(),
        help: "install nftables or iptables (apt-get install nftables); the kernel needs NAT: modprobe nft_masq xt_MASQUERADE",
    };
    attempt_in_namespace(finding, has_privileges, || nat::test_rules().map_err(|error| error.message))
}

fn nfqueue(has_privileges: bool) -> Finding {
    let has_tool = ["iptables", "nft"].iter().any(|name| version(name).is_ok());
    attempt_in_namespace(
        Finding {
            name: "NFQUEUE",
            needed_for: "agent without BPF, or with --loss-discrimination",
            is_there: None,
            found: String::new(),
            help: if has_tool {
                "load the modules: modprobe nfnetlink_queue xt_NFQUEUE xt_length (without iptables: nft_queue); for \
                 a container, load the modules on its host"
            } else {
                "install a firewall tool first: apt-get install iptables"
            },
        },
        has_privileges,
        || {
            let words = rules::trial()?;
            let bound = nfq::Queue::open().and_then(|mut queue| queue.bind(0));
            bound.map_err(|error| format!("a queue cannot be opened: {error}"))?;
            Ok(format!("{words}; a queue can be opened"))
        },
    )
}

/// Checks BPF. BPF is optional, so a failed check returns `None` instead of false.
fn bpf(has_privileges: bool) -> Finding {
    let finding = Finding {
        name: "BPF",
        needed_for: "agent (optional)",
        is_there: None,
        found: String::new(),
        help: "Linux 5.8 or later with CONFIG_BPF_SYSCALL and CONFIG_NET_CLS_ACT, and CAP_BPF; without these the agent \
               rewrites ACKs outside the kernel (NFQUEUE)",
    };
    let finding = attempt(finding, has_privileges, kernels::trial);
    Finding { is_there: finding.is_there.filter(|is_there| *is_there), ..finding }
}

fn attempt_in_namespace(
    finding: Finding,
    has_privileges: bool,
    trial: impl FnOnce() -> Result<String, String> + Send,
) -> Finding {
    attempt(finding, has_privileges, || {
        let attempt_in_namespace = Namespace::unconfigured().and_then(|namespace| namespace.within(trial));
        attempt_in_namespace.unwrap_or_else(|error| Err(error.message))
    })
}

fn attempt(
    finding: Finding,
    has_privileges: bool,
    trial: impl FnOnce() -> Result<String, String>,
) -> Finding {
    if !has_privileges {
        return Finding { found: "not checked: needs privileges".to_owned(), ..finding };
    }
    match trial() {
        Ok(found) => Finding { is_there: Some(true), found, ..finding },
        Err(found) => Finding { is_there: Some(false), found, ..finding },
    }
}

fn program(name: &'static str, needed_for: &'static str, help: &'static str) -> Finding {
    let found = version(name);
    Finding { name, needed_for, is_there: Some(found.is_ok()), found: found.unwrap_or_else(|why| why), help }
}

fn firewall() -> Finding {
    let found = ["iptables", "nft"].map(|name| (name, version(name)));
    Finding {
        name: "iptables or nft",
        needed_for: "emulate without --server, agent without BPF",
        is_there: Some(found.iter().any(|(_, version)| version.is_ok())),
        found: found
            .map(|(name, version)| version.unwrap_or_else(|why| format!("no {name}: {why}")))
            .join("; "),
        help: "install one: apt-get install iptables",
    }
}

fn version(name: &str) -> Result<String, String> {
    let option = if name == "ip" { "-V" } else { "--version" };
    let output = Command::new(name).arg(option).stdin(Stdio::null()).output();
    output
        .map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
        .map_err(|error| error.to_string())
}

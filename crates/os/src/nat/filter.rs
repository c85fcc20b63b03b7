//! Packet filter rules that let the host forward the path's packets. The rules do not affect any other packets.

use crate::error::SystemError;
use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tool {
    Nft,
    Iptables,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct RuleParameters<'a> {
    pub(super) device: &'a str,
    pub(super) network: &'a str,
    /// Interfaces on which forwarding was enabled for the path. Packets that arrive on these interfaces but do not
    /// belong to the path are not forwarded.
    pub(super) opened: &'a [String],
    /// Local port to which outbound TCP is redirected.
    pub(super) redirected: Option<u16>,
}

impl Tool {
    pub(super) fn find() -> Option<Tool> {
        [Tool::Nft, Tool::Iptables].into_iter().find(|tool| tool.is_installed())
    }

    pub(super) fn named(name: &str) -> Option<Tool> {
        [Tool::Nft, Tool::Iptables].into_iter().find(|tool| tool.name() == name)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Tool::Nft => "nft",
            Tool::Iptables => "iptables",
        }
    }

    fn is_installed(self) -> bool {
        self.run(&["--version"], "").is_ok_and(|output| output.status.success())
    }

    pub(super) fn has_rules(self) -> bool {
        let questions: &[&str] = match self {
            Tool::Nft => &["list table ip lasthop"],
            Tool::Iptables => &["-t nat -S lasthop", "-S lasthop"],
        };
        let found = |line: &&str| self.run(&words(line), "").is_ok_and(|output| output.status.success());
        questions.iter().any(found)
    }

    pub(super) fn add(self, parameters: &RuleParameters<'_>) -> Result<(), SystemError> {
        match self {
            Tool::Nft => self.run_checked(&["-f", "-"], &nft_table(parameters)),
            Tool::Iptables => {
                iptables_lines(parameters).iter().try_for_each(|line| self.run_checked(&words(line), ""))
            }
        }
    }

    pub(super) fn remove(self) {
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

    fn run_checked(self, arguments: &[&str], input: &str) -> Result<(), SystemError> {
        let what = || format!("cannot add a rule with `{} {}`", self.name(), arguments.join(" "));
        let output = self
            .run(arguments, input)
            .map_err(|error| SystemError::of_system(&what(), &error, "install the tool"))?;
        if output.status.success() {
            return Ok(());
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(SystemError::new(
            format!("{}: {}", what(), stderr.trim()),
            "run it as root on a kernel with NAT, or give the other end: --server 'COMMAND'",
        ))
    }

    fn run(self, arguments: &[&str], input: &str) -> io::Result<Output> {
        let mut command = Command::new(self.name());
        if self == Tool::Iptables && arguments.first() != Some(&"--version") {
            command.arg("-w");
        }
        let mut child = command
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input.as_bytes());
        }
        child.wait_with_output()
    }
}

fn nft_table(RuleParameters { device, network, opened, redirected }: &RuleParameters<'_>) -> String {
    let redirected = redirected.map_or(String::new(), |port| {
        format!(
            "  chain prerouting {{\n    type nat hook prerouting priority -100;\n    \
             iifname \"{device}\" ip daddr != {network} ip protocol tcp redirect to :{port}\n  }}\n"
        )
    });
    let others: String = opened.iter().map(|name| format!("    iifname \"{name}\" drop\n")).collect();
    format!(
        "table ip lasthop {{\n  chain forward {{\n    type filter hook forward priority 0; policy accept;\n    \
         iifname \"{device}\" ip saddr {network} oifname != \"{device}\" accept\n    \
         oifname \"{device}\" ct state established,related accept\n    \
         iifname \"{device}\" drop\n    oifname \"{device}\" drop\n{others}  }}\n  \
         chain postrouting {{\n    type nat hook postrouting priority 100;\n    \
         ip saddr {network} oifname != \"{device}\" masquerade\n  }}\n{redirected}}}\n"
    )
}

fn iptables_lines(
    RuleParameters { device, network, opened, redirected }: &RuleParameters<'_>,
) -> Vec<String> {
    let mut lines = vec![
        "-t nat -N lasthop".to_owned(),
        format!("-t nat -A lasthop -s {network} ! -o {device} -j MASQUERADE"),
        "-t nat -I POSTROUTING -j lasthop".to_owned(),
        "-N lasthop".to_owned(),
        format!("-A lasthop -i {device} -s {network} ! -o {device} -j ACCEPT"),
        format!("-A lasthop -o {device} -m conntrack --ctstate ESTABLISHED,RELATED -j ACCEPT"),
        format!("-A lasthop -i {device} -j DROP"),
        format!("-A lasthop -o {device} -j DROP"),
    ];
    lines.extend(opened.iter().map(|name| format!("-A lasthop -i {name} -j DROP")));
    lines.push("-I FORWARD -j lasthop".to_owned());
    // The redirection is not removed at the end of a run, because the namespace ends with the run.
    lines.extend(redirected.map(|port| {
        format!("-t nat -I PREROUTING -i {device} ! -d {network} -p tcp -j REDIRECT --to-ports {port}")
    }));
    lines
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

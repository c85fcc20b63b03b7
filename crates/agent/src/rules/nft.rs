//! Rules of nft: a separate table for IPv4 and IPv6.

use super::{LENGTHS_V4, LENGTHS_V6, MARK, NAME, check_output};
use lasthop_os::ends;
use std::io::{self, Write};
use std::process::{Command, Output, Stdio};

const PROGRAM: &str = "nft";

/// Creates the table atomically; returns whether the kernel has IPv6.
pub(super) fn add(queue: u16) -> Result<bool, String> {
    check_output(PROGRAM, run_nft(&text(queue))).map_err(|why| {
        // The error's position refers to the text generated here, so the position is removed from the message.
        let why = why.split_once("Error: ").map_or(why.as_str(), |(_, why)| why);
        format!("{why} (the kernel may lack nft_queue)")
    })?;
    Ok(ends::kernel_has_ipv6())
}

pub(super) fn remove() {
    let arguments = ["delete", "table", "inet", NAME];
    let _ = Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output();
}

/// Text of the table, with the same rules as the iptables chain.
fn text(queue: u16) -> String {
    let pure = "tcp flags & (syn | fin | rst | psh | ack) == ack meta length";
    let rule = |family: &str, [least, most]: [u16; 2]| {
        format!(
            "    meta nfproto {family} meta l4proto tcp {pure} {least}-{most} queue flags bypass to {queue}\n"
        )
    };
    format!(
        "table inet {NAME} {{\n  chain output {{\n    type filter hook output priority mangle; policy accept;\n    \
         oifname \"lo\" return\n    meta mark {MARK:#x} return\n{}{}  }}\n}}\n",
        rule("ipv4", LENGTHS_V4),
        rule("ipv6", LENGTHS_V6),
    )
}

fn run_nft(text: &str) -> io::Result<Output> {
    let mut command = Command::new(PROGRAM);
    command.args(["-f", "-"]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // If nft does not read the text, its exit status reports the failure.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait_with_output()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_os::Namespace;

    #[test]
    fn the_table_queues_pure_acks_and_lets_them_by_without_a_listener() {
        let expected = "\
table inet lasthop-agent {
  chain output {
    type filter hook output priority mangle; policy accept;
    oifname \"lo\" return
    meta mark 0x6c686167 return
    meta nfproto ipv4 meta l4proto tcp tcp flags & (syn | fin | rst | psh | ack) == ack meta length 40-80 queue flags bypass to 6868
    meta nfproto ipv6 meta l4proto tcp tcp flags & (syn | fin | rst | psh | ack) == ack meta length 60-100 queue flags bypass to 6868
  }
}
";
        assert_eq!(text(6868), expected);
    }

    /// The kernel may lack `queue`, but it must accept all other parts of the table.
    #[test]
    fn nft_and_the_kernel_understand_the_table() {
        let Ok(namespace) = Namespace::unconfigured() else { return println!("skipped: no namespaces here") };
        let counting = text(6868).replace("queue flags bypass to 6868", "counter");
        assert_ne!(counting, text(6868));
        match namespace.within(|| run_nft(&counting)).unwrap() {
            Err(error) => println!("skipped: cannot run nft: {error}"),
            Ok(output) if String::from_utf8_lossy(&output.stderr).contains("not supported") => {
                println!("skipped: the kernel has no nftables");
            }
            output => assert_eq!(check_output(PROGRAM, output), Ok(())),
        }
    }
}

//! Rules of iptables and ip6tables, in a separate chain of the `mangle` tables.

use super::{LENGTHS_V4, LENGTHS_V6, MARK, NAME, check_output};
use std::process::{Command, Stdio};

const V4: &str = "iptables";
const V6: &str = "ip6tables";

/// Creates the chains; returns whether IPv6 also has a chain.
pub(super) fn add(queue: u16) -> Result<bool, String> {
    add_one(V4, queue, LENGTHS_V4)?;
    let has_ipv6 = add_one(V6, queue, LENGTHS_V6).is_ok();
    if !has_ipv6 {
        remove_one(V6);
    }
    Ok(has_ipv6)
}

pub(super) fn remove() {
    [V4, V6].into_iter().for_each(remove_one);
}

fn add_one(program: &str, queue: u16, [least, most]: [u16; 2]) -> Result<(), String> {
    let (mark, queue, lengths) = (format!("{MARK:#x}"), queue.to_string(), format!("{least}:{most}"));
    call(program, &["-N", NAME])?;
    call(program, &["-A", NAME, "-m", "mark", "--mark", &mark, "-j", "RETURN"])?;
    let pure =
        ["-p", "tcp", "--tcp-flags", "SYN,FIN,RST,PSH,ACK", "ACK", "-m", "length", "--length", &lengths];
    let target = ["-j", "NFQUEUE", "--queue-num", &queue, "--queue-bypass"];
    call(program, &[&["-A", NAME][..], &pure, &target].concat())?;
    call(program, &["-A", "OUTPUT", "!", "-o", "lo", "-j", NAME])
}

fn remove_one(program: &str) {
    // The deletion is repeated because an earlier failed run may have left a second rule.
    while call(program, &["-D", "OUTPUT", "!", "-o", "lo", "-j", NAME]).is_ok() {}
    let _ = call(program, &["-F", NAME]);
    let _ = call(program, &["-X", NAME]);
}

fn call(program: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(["-w", "10", "-t", "mangle"]).args(arguments).stdin(Stdio::null());
    check_output(program, command.output())
}

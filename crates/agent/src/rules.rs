//! What is queued: pure ACKs of this host's, by one chain of our own.

use lasthop_emu::Trouble;
use std::process::{Command, Stdio};

/// The chain's name, in the table `mangle`.
const CHAIN: &str = "lasthop-agent";
/// The mark of what we send ourselves: it is not queued again.
pub const MARK: u32 = 0x6c68_6167;

/// The rules of one or both families; they go with this.
pub struct Rules {
    programs: Vec<&'static str>,
}

/// The program of a family, and the lengths of a pure ACK: headers alone, with options of 40 bytes at most.
const FAMILIES: [(&str, &str); 2] = [("iptables", "40:80"), ("ip6tables", "60:100")];

impl Rules {
    /// Removes what an earlier agent may have left.
    pub fn remove_stale() {
        for (program, _) in FAMILIES {
            remove(program);
        }
    }

    /// Has pure ACKs queued; if nobody listens to the queue, they pass.
    ///
    /// # Errors
    /// If IPv4's rules cannot be made. Without IPv6 there are none for it.
    pub fn add(queue: u16) -> Result<Rules, Trouble> {
        let mut rules = Rules { programs: Vec::new() };
        for (program, lengths) in FAMILIES {
            let added = add(program, queue, lengths);
            match added {
                Ok(()) => rules.programs.push(program),
                Err(why) => {
                    remove(program);
                    if program == "iptables" {
                        return Err(Trouble {
                            message: format!("cannot make the firewall's rules: {why}"),
                            help: "see `lasthop doctor`".to_owned(),
                        });
                    }
                }
            }
        }
        Ok(rules)
    }

    /// Whether IPv6 has its rules.
    pub fn has_ipv6(&self) -> bool {
        self.programs.contains(&"ip6tables")
    }
}

impl Drop for Rules {
    fn drop(&mut self) {
        for program in &self.programs {
            remove(program);
        }
    }
}

fn add(program: &str, queue: u16, lengths: &str) -> Result<(), String> {
    let (mark, queue) = (format!("{MARK:#x}"), queue.to_string());
    call(program, &["-N", CHAIN])?;
    call(program, &["-A", CHAIN, "-m", "mark", "--mark", &mark, "-j", "RETURN"])?;
    let pure =
        ["-p", "tcp", "--tcp-flags", "SYN,FIN,RST,PSH,ACK", "ACK", "-m", "length", "--length", lengths];
    let target = ["-j", "NFQUEUE", "--queue-num", &queue, "--queue-bypass"];
    call(program, &[&["-A", CHAIN][..], &pure, &target].concat())?;
    call(program, &["-A", "OUTPUT", "!", "-o", "lo", "-j", CHAIN])
}

/// What is not there needs no removing.
fn remove(program: &str) {
    // Two, if something went very wrong.
    while call(program, &["-D", "OUTPUT", "!", "-o", "lo", "-j", CHAIN]).is_ok() {}
    let _ = call(program, &["-F", CHAIN]);
    let _ = call(program, &["-X", CHAIN]);
}

/// Makes IPv4's rules; whoever calls is in a namespace that will disappear.
pub(crate) fn add_for_trial() -> Result<(), String> {
    let (program, lengths) = FAMILIES[0];
    add(program, 0, lengths)
}

fn call(program: &str, arguments: &[&str]) -> Result<(), String> {
    let output = Command::new(program)
        .args(["-w", "10", "-t", "mangle"])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{program}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ")),
    }
}

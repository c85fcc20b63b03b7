//! Warns if this host merges received packets (GRO). Loss discrimination by arrival times fails on merged packets.

use crate::output;
use std::fs;
use std::process::{Command, Stdio};

/// Prints a note with the names of the interfaces on which GRO is on.
pub(super) fn warn() {
    // Lists the interfaces from /proc, because /sys may show the interfaces of another network namespace.
    let devices = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = devices.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let mut joining = Vec::new();
    for name in names.filter(|name| *name != "lo") {
        let output = Command::new("ethtool").args(["-k", name]).stdin(Stdio::null()).output();
        let Ok(output) = output else {
            output::note(
                "note: jtcp needs the arrival time of each packet; install ethtool to check whether GRO is on",
            );
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        if text.lines().any(|line| line.trim().starts_with("generic-receive-offload: on")) {
            joining.push(name);
        }
    }
    if !joining.is_empty() {
        let names = joining.join(", ");
        output::note(&format!(
            "note: GRO is on ({names}) and falsifies the arrival times that jtcp needs; to turn GRO off: \
             ethtool -K {} gro off",
            joining[0]
        ));
    }
}

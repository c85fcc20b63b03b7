//! Whether this host joins packets before anybody sees them (GRO): a judge that compares their times then misjudges.

use crate::output;
use std::fs;
use std::process::{Command, Stdio};

/// Says on which interfaces that is so.
pub(super) fn warn() {
    // Not those of /sys, which may be another network namespace's.
    let devices = fs::read_to_string("/proc/thread-self/net/dev").unwrap_or_default();
    let names = devices.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    let mut joining = Vec::new();
    for name in names.filter(|name| *name != "lo") {
        let output = Command::new("ethtool").args(["-k", name]).stdin(Stdio::null()).output();
        let Ok(output) = output else {
            output::note(
                "note: jtcp needs each packet's own time; whether GRO is on cannot be seen without ethtool",
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
            "note: GRO is on ({names}): packets are joined before jtcp sees them, and it misjudges; ethtool -K {} gro off",
            joining[0]
        ));
    }
}

//! Whose sender the path's flows have, in the place of the scenario's own.

use super::world::tcp_flows;
use lasthop_scenario::{Draft, Problem};

/// Names, and the congestion control of each: all are Linux's sender (`profile = "linux"`) with that control.
pub const SENDERS: [(&str, &str); 8] = [
    ("linux-cubic", "cubic"),
    ("linux-reno", "reno"),
    ("linux-bbr", "bbr"),
    ("linux-bbr3", "bbr3"),
    ("bbr", "bbr"),
    ("bbr3", "bbr3"),
    ("westwood_plus", "westwood_plus"),
    ("prague", "prague"),
];

/// Gives all TCP flows this sender: what the scenario says of theirs is taken away. The keys that were set, in order, as
/// `--set` takes them.
///
/// # Errors
/// The scenario's own mistakes.
pub fn give(draft: &mut Draft, control: &str) -> Result<Vec<(String, String)>, Problem> {
    let mut done = Vec::new();
    for flow in tcp_flows(draft)? {
        // Where there is none, there is nothing to take away.
        let own = format!("flow.{flow}.sender");
        if draft.set(&own, "").is_ok() {
            done.push((own, String::new()));
        }
        for (key, value) in [("profile", "linux"), ("sender.congestion", control)] {
            let key = format!("flow.{flow}.{key}");
            draft.set(&key, value)?;
            done.push((key, value.to_owned()));
        }
    }
    Ok(done)
}
